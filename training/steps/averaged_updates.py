"""The server of DP-FedAvg: the noisy mean of clipped updates, and an adaptive clipping bound."""

from __future__ import annotations

import math

import numpy as np

from epsilond.training.arrays import Bools, Floats

MOST_EXPONENT = 700.0
"""Largest exponent of a change of the bound, so that the bound does not overflow."""


def noisy_mean(sent: Floats, participants: int, noise_std: float, normal: Floats) -> Floats:
    """Return (Σ of the updates + N(0, σ²))/M.

    Args:
        sent: clipped updates, (…, m, d).
        participants: planned number M, which does not depend on the random number m of updates.
        noise_std: σ of the sum.
        normal: standard normal variables, (…, d).
    """
    mean: Floats = (np.sum(sent, axis=-2) + noise_std * normal) / participants
    return mean


def adapted_bound(
    bound: float, is_unclipped: Bools, participants: int, noise: float, *, target: float, rate: float
) -> float:
    """Return the next clipping bound C e^(−rate (share − target)) (Andrew et al. 2021).

    The share is ½ + (Σ of bits shifted to ±½ + noise)/M.

    Args:
        bound: clipping bound C.
        is_unclipped: whether each update was within the bound, (m,).
        participants: planned number M of participants.
        noise: noise of the sum of bits.
        target: share of updates to leave unclipped.
        rate: learning rate of log C.
    """
    share = 0.5 + (float(np.sum(is_unclipped - 0.5)) + noise) / participants
    exponent = -rate * (share - target)
    # The noise may be large compared with M.
    return bound * math.exp(min(max(exponent, -MOST_EXPONENT), MOST_EXPONENT))
