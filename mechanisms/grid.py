"""From real numbers to a grid and back: how a value is snapped, and what that adds to the norm of a contribution.

Towards zero no coordinate grows, so that a contribution of norm at most C has at most C/g steps, exactly; the price is
a bias of less than g a coordinate. To the nearest, each coordinate may grow by g/2, the ℓ2 norm of d of them by g√d/2.
At random and without bias, by g and g√d. Noise on the integers has to cover the larger norm.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import below
from epsilond.mechanisms.randomness import Floats, Integers, RandomSource

Rounding = Literal["towards-zero", "nearest", "stochastic"]
ROUNDINGS: tuple[Rounding, ...] = ("towards-zero", "nearest", "stochastic")
MOST_STEPS = 2.0**52
"""Integers up to there are doubles, and a thousand of them add up in 63 bits."""
BITS_OF_A_SHARE = 62


def demand_step(step: float) -> None:
    """Refuse a step that is no power of two: a value divided by one keeps all its digits.

    Raises:
        InvalidInput: it is none, or is outside 2^−200 to 2^200.
    """
    if not (2.0**-200 <= step <= 2.0**200 and math.frexp(step)[0] == 0.5):
        raise InvalidInput.at("/step", "is not a power of two", allowed="2^-200 to 2^200")


def snapped(values: Floats, step: float, rounding: Rounding, source: RandomSource) -> Integers:
    """Values as whole numbers of steps. Nothing but a stochastic rounding takes bits of the source.

    Raises:
        InvalidInput: the step is no power of two, or a value has more than 2^52 steps.
    """
    demand_step(step)
    with np.errstate(under="ignore", over="ignore"):
        scaled = values / step
    if not np.all(np.abs(scaled) <= MOST_STEPS):
        raise InvalidInput.at("/values", "has more than 2^52 steps, or is no number", allowed="a larger step")
    if rounding == "nearest":
        return np.rint(scaled).astype(np.int64)
    whole = np.trunc(scaled)
    if rounding == "towards-zero":
        return whole.astype(np.int64)
    # A share is a multiple of 2^−1074; cut off at 62 bits it is too low by less than 2^−62, away from zero never.
    shares = np.ldexp(np.abs(scaled - whole), BITS_OF_A_SHARE).astype(np.int64)
    further = below(1 << BITS_OF_A_SHARE, values.shape, source) < shares
    return (whole + np.where(further, np.sign(values), 0.0)).astype(np.int64)


def norm_in_steps(bound: float, step: float, rounding: Rounding, dimension: int) -> Fraction:
    """Upper bound on the ℓ2 norm of what a contribution of ℓ2 norm at most `bound` is snapped to.

    Raises:
        InvalidInput: the rounding is none that is known.
    """
    if rounding not in ROUNDINGS:
        raise InvalidInput.at("/rounding", "is not known", allowed=", ".join(ROUNDINGS))
    exact = Fraction(bound) / Fraction(step)
    if rounding == "towards-zero":
        return exact
    root = Fraction(math.isqrt(dimension << 64) + 1, 1 << 32)
    return exact + (root / 2 if rounding == "nearest" else root)
