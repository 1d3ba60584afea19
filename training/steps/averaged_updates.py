"""DP-FedAvg's server: the noisy mean of clipped updates, and a bound that follows how many were short enough."""

from __future__ import annotations

import math

import numpy as np

from epsilond.training.arrays import Bools, Floats

MOST_EXPONENT = 700.0
"""Of a change of the bound, so that none is beyond doubles."""


def noisy_mean(sent: Floats, participants: int, noise_std: float, normal: Floats) -> Floats:
    """(Σ of the updates + N(0, σ²))/M: (…, m, d) → (…, d). M is planned: m, where it is random, may not show."""
    mean: Floats = (np.sum(sent, axis=-2) + noise_std * normal) / participants
    return mean


def adapted_bound(bound: float, short: Bools, participants: int, noise: float, *, target: float, rate: float) -> float:
    """C e^(−rate (share − target)), share = ½ + (Σ of bits shifted to ±½, plus noise)/M (Andrew et al. 2021)."""
    share = 0.5 + (float(np.sum(short - 0.5)) + noise) / participants
    exponent = -rate * (share - target)
    return bound * math.exp(min(max(exponent, -MOST_EXPONENT), MOST_EXPONENT))  # noise may be large beside M
