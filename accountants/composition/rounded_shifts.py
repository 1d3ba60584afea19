"""The effect on log δ of a Gaussian shift that was rounded to a double."""

from __future__ import annotations

import math

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

ROUNDED_SHIFT = 64 * UNIT_ROUNDOFF
"""Error of log δ from a rounded Gaussian shift, per unit of 1 + |log δ|. A law belongs to exactly one double."""


def raise_by_rounding(bound: float) -> float:
    """Return an upper bound on log δ, increased by the possible effect of a rounded Gaussian shift.

    Args:
        bound: the upper bound for the rounded shift, natural logarithm.

    Returns:
        The larger bound. An infinite bound is returned as it is.
    """
    if not math.isfinite(bound):
        return bound
    return bound + ROUNDED_SHIFT * (1.0 + abs(bound))


def lower_by_rounding(bound: float) -> float:
    """Return a lower bound on log δ, decreased by the possible effect of a rounded Gaussian shift.

    Args:
        bound: the lower bound for the rounded shift, natural logarithm.

    Returns:
        The smaller bound. An infinite bound is returned as it is.
    """
    if not math.isfinite(bound):
        return bound
    return bound - ROUNDED_SHIFT * (1.0 + abs(bound))
