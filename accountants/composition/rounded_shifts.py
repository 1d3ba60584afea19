"""The effect on log δ of a Gaussian shift that was rounded to a double."""

from __future__ import annotations

import math

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

ROUNDED_SHIFT = 64 * UNIT_ROUNDOFF
"""Largest effect on log δ of the rounding of a Gaussian shift to a double, per unit of 1 + |log δ|."""


def raise_by_rounding(bound: float) -> float:
    """Return an upper bound on log δ for a Gaussian shift from the upper bound for the shift rounded to a double.

    Args:
        bound: upper bound on the natural logarithm of δ for the rounded shift. An infinite bound stays as it is.
    """
    if not math.isfinite(bound):
        return bound
    return bound + ROUNDED_SHIFT * (1.0 + abs(bound))


def lower_by_rounding(bound: float) -> float:
    """Return a lower bound on log δ for a Gaussian shift from the lower bound for the shift rounded to a double.

    Args:
        bound: lower bound on the natural logarithm of δ for the rounded shift. An infinite bound stays as it is.
    """
    if not math.isfinite(bound):
        return bound
    return bound - ROUNDED_SHIFT * (1.0 + abs(bound))
