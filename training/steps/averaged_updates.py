"""The server of DP-FedAvg: the noisy mean of clipped updates, and an adaptive clipping bound."""

from __future__ import annotations

import math

import numpy as np

from epsilond.training.arrays import Bools, Floats

MOST_EXPONENT = 700.0
"""Largest exponent of a change of the bound, so that the bound does not overflow."""


def noisy_mean(updates: Floats, participants: int, noise_std: float, normal: Floats) -> Floats:
    """Return the noisy mean of clipped updates: (sum of the updates + σ · normal)/M.

    Args:
        updates: clipped updates, (…, m, d), for d coordinates.
        participants: planned number M, which does not depend on the random number m of updates.
        noise_std: standard deviation σ of the noise in the sum.
        normal: standard normal variables, (…, d).

    Returns:
        The noisy mean, shape (…, d).
    """
    mean: Floats = (np.sum(updates, axis=-2) + noise_std * normal) / participants
    return mean


def adapted_bound(
    bound: float, is_unclipped: Bools, participants: int, noise: float, *, target: float, rate: float
) -> float:
    """Return the clipping bound of the next round, so that a target share of updates stays unclipped.

    By the rule of Andrew et al. (2021), a bound C becomes C e^(−rate (share − target)). The share is a noisy estimate
    of the fraction of updates that were not clipped. It is ½ + (Σ_i b_i + noise)/M, where b_i is ½ if update i was not
    clipped, and −½ otherwise.

    Args:
        bound: clipping bound C.
        is_unclipped: whether each update was within the bound, (m,), for m updates.
        participants: planned number M of participants.
        noise: noise that is added to the sum of the b_i.
        target: share of updates to leave unclipped.
        rate: learning rate of log C.

    Returns:
        The new clipping bound, in the unit of C.
    """
    # Without noise this is the share of unclipped updates, if as many clients as planned take part.
    share = 0.5 + (float(np.sum(is_unclipped - 0.5)) + noise) / participants
    exponent = -rate * (share - target)
    # The noise may be large compared with M, so that the exponent is limited.
    return bound * math.exp(min(max(exponent, -MOST_EXPONENT), MOST_EXPONENT))
