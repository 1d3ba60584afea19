"""Gaussian and Laplace noise in floating point: fast, and not quite the mechanism that the guarantee is about.

A guarantee speaks of real numbers. Doubles are a grid whose steps depend on the value, so that some sums of value and
noise occur under one data set and not under its neighbour (Mironov 2012). `secure()` adds four normal numbers for
each that it gives, so that finding the bits behind a value takes far more work (Holohan and Braghin 2021); that is a
defence against one attack and proves no ε. What is proved to the last bit is the noise on integers of `two_sided`
and `discrete_laplace`, after `grid` has made integers of the values.
"""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Floats, RandomSource, secure


def gaussian(noise_std: float, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
    """Independent N(0, σ²), σ > 0; by the operating system's generator unless another source is given.

    Raises:
        InvalidInput: σ is not positive and finite.
    """
    _demand_scale(noise_std, "/noise_std")
    return noise_std * (source or secure()).normal(shape)


def laplace(scale: float, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
    """Independent numbers of density e^(−|y|/b)/(2b), b > 0; by the operating system's generator unless told otherwise.

    Raises:
        InvalidInput: b is not positive and finite.
    """
    _demand_scale(scale, "/scale")
    bits = (source or secure()).words(shape)
    # The sign is the last bit, the size the others: − log of a number in (0, 1).
    sizes = -np.log(np.ldexp((bits >> np.uint64(1)).astype(np.float64) + 0.5, -63))
    return np.asarray(np.where(bits & np.uint64(1), -scale * sizes, scale * sizes))


def _demand_scale(scale: float, pointer: str) -> None:
    if not 0.0 < scale < math.inf:
        raise InvalidInput.at(pointer, "is out of range", allowed="> 0, finite")
