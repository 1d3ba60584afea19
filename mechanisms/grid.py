"""Rounding of real numbers to a grid, and its effect on the norm of a contribution.

Let g be the step of the grid and d the number of coordinates. Rounding towards zero enlarges no coordinate: a
contribution of norm at most C has norm at most C/g in steps, exactly. Its price is a bias of less than g per
coordinate. Rounding to the nearest point adds up to g/2 to each coordinate, and up to g√d/2 to the ℓ2 norm. Stochastic
rounding has no bias, and adds up to g to each coordinate and g√d to the norm. Noise on the integers must cover the
enlarged norm.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import uniform_integers
from epsilond.mechanisms.randomness import Floats, Integers, RandomSource

Rounding = Literal["towards-zero", "nearest", "stochastic"]
ROUNDINGS: tuple[Rounding, ...] = ("towards-zero", "nearest", "stochastic")
MOST_STEPS = 2.0**52
"""Largest size of a rounded value in steps. Integers up to it are doubles, and a thousand of them add up in 63 bits."""
FRACTION_BITS = 62
"""Binary digits of the probability of rounding away from zero."""


def demand_step(step: float) -> None:
    """Reject a grid step that is not a power of two.

    Division by a power of two is exact. Only the rounding to the grid then changes a value.

    Args:
        step: distance of neighbouring grid points, in the unit of a contribution.

    Raises:
        InvalidInput: the step is not a power of two, or is outside 2^−200 to 2^200.
    """
    # `frexp` writes the step as m · 2^e with m in [0.5, 1). Only powers of two have m = 0.5.
    mantissa, _ = math.frexp(step)
    if not (2.0**-200 <= step <= 2.0**200 and mantissa == 0.5):
        raise InvalidInput.at("/step", "is not a power of two", allowed="2^-200 to 2^200")


def snap(values: Floats, step: float, rounding: Rounding, source: RandomSource) -> Integers:
    """Round values to integer numbers of grid steps.

    Stochastic rounding takes one of the two neighbouring grid points at random, such that the mean is the value up to
    2^−62 steps.

    Args:
        values: real numbers of at most 2^52 steps in absolute value.
        step: distance of grid points, a power of two.
        rounding: `towards-zero`, `nearest` or `stochastic`.
        source: source of the random bits; read by stochastic rounding only.

    Returns:
        The rounded values, in steps.

    Raises:
        InvalidInput: the step is not a power of two, or a value has more than 2^52 steps.
    """
    demand_step(step)
    with np.errstate(under="ignore", over="ignore"):
        scaled = values / step
    if not np.all(np.abs(scaled) <= MOST_STEPS):
        raise InvalidInput.at("/values", "has more than 2^52 steps, or is not a number", allowed="a larger step")
    if rounding == "nearest":
        return np.rint(scaled).astype(np.int64)
    truncated = np.trunc(scaled)
    if rounding == "towards-zero":
        return truncated.astype(np.int64)

    # The probability of one more step is the fractional part, truncated to 62 bits. It is too small by less than 2^−62,
    # and never too large.
    fractions = np.ldexp(np.abs(scaled - truncated), FRACTION_BITS).astype(np.int64)
    is_away_from_zero = uniform_integers(1 << FRACTION_BITS, values.shape, source) < fractions
    further_steps = np.where(is_away_from_zero, np.sign(values), 0.0)
    return (truncated + further_steps).astype(np.int64)


def norm_in_steps(bound: float, step: float, rounding: Rounding, dimension: int) -> Fraction:
    """Return an upper bound on the ℓ2 norm, in steps, of a rounded contribution.

    Args:
        bound: ℓ2 norm bound of the contribution before rounding.
        step: distance of grid points, in the unit of `bound`.
        rounding: the rounding that `snap` uses.
        dimension: number of coordinates d.

    Returns:
        bound/step, plus √d/2 for `nearest` and √d for `stochastic`, with √d rounded up.

    Raises:
        InvalidInput: `rounding` is unknown.
    """
    if rounding not in ROUNDINGS:
        raise InvalidInput.at("/rounding", "is not known", allowed=", ".join(ROUNDINGS))
    exact = Fraction(bound) / Fraction(step)
    if rounding == "towards-zero":
        return exact
    # `isqrt` of d · 2^64 is √d · 2^32, rounded down.
    upper_root = Fraction(math.isqrt(dimension << 64) + 1, 1 << 32)
    if rounding == "nearest":
        return exact + upper_root / 2
    return exact + upper_root
