"""Skellam noise of variance μ against its shift by k.

The loss at y is F(|y − k|) − F(|y|) with F(n) = −Σ_{m < n} log r_m, which has positive terms (`skellam_table`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.integers.shifted_noise import ShiftedPairs, ShiftedTable, shifted_pairs
from epsilond.accountants.profiles.integers.skellam_renyi import SkellamRenyi
from epsilond.accountants.profiles.integers.skellam_table import log_tail, skellam_table

_KEPT = 16
"""Number of stored pairs, of some megabytes each."""


@lru_cache(maxsize=_KEPT)
def skellam_pairs(variance: float, shift: int) -> ShiftedPairs:
    """Return pairs of distributions for upper and lower bounds on δ of Skellam noise of variance μ, shifted by k ≥ 0.

    A table has the probabilities of the noise from −R to R. Outcomes y with |y| or |y − k| above R count as an infinite
    privacy loss for upper bounds, and are left out for lower bounds. If k exceeds R/2, the lower bound is for a shift
    by ⌊R/2⌋, which is also within the sensitivity.

    Args:
        variance: variance μ of the noise, from 2^−20 to 2^22.
        shift: shift k, the sensitivity of the released integer, at most 1e15.

    Returns:
        `upper`, with a δ of at least that of the noise and its shift at every ε, and `attained`, with a δ of at most
        it.
    """
    if shift == 0:
        return shifted_pairs(None)
    table, formula = skellam_table(variance), SkellamRenyi(variance, shift)
    # A shift beyond the table leaves no listed outcome, so all outcomes count as an infinite loss.
    if shift > table.reach:
        no_losses = ShiftedTable(np.empty(0), np.empty(0), 0.0, UNIT_ROUNDOFF)
        infinite = shifted_pairs(no_losses, formula).upper
        return ShiftedPairs(infinite, skellam_pairs(variance, table.reach // 2).attained)

    # Losses are positive for y < k/2. The exact losses increase along this list, but rounded ones may not.
    listed = np.arange(float((shift - 1) // 2), float(shift - table.reach - 1), -1.0)
    losses = np.maximum.accumulate(table.losses(listed, shift))
    log_masses = table.log_at_zero - table.falls[np.abs(listed).astype(np.int64)]
    # Only losses that are certainly positive are listed.
    is_above = losses > 2.0 * table.error

    # The probability of the rest: noise below k − R, noise beyond R, and losses within their error of zero.
    log_near = np.logaddexp.reduce(log_masses[~is_above], initial=-np.inf)
    log_below = log_tail(table, table.reach - shift + 1)
    log_rest = np.logaddexp.reduce([log_below, table.log_beyond, float(log_near)])
    rest = min(float(log_rest) + 4.0 * table.error, 0.0)

    # Errors of two logarithms of the table, and a few roundings.
    accuracy = 2.0 * table.error + 8 * UNIT_ROUNDOFF
    positive = ShiftedTable(losses[is_above], log_masses[is_above], rest, accuracy, loss_error=table.error)
    pairs = shifted_pairs(positive, formula)
    if 2 * shift > table.reach:
        return ShiftedPairs(pairs.upper, skellam_pairs(variance, table.reach // 2).attained)
    return pairs
