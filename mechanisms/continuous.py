"""Gaussian and Laplace noise in floating point: fast, but not exactly the mechanism of the guarantee.

A guarantee is about real numbers. Doubles are a grid with steps that depend on the value. So some sums of value and
noise occur under one data set and not under its neighbour (Mironov 2012). `secure()` adds four normal numbers for each
number that it returns, so that recovering the random bits of a value takes far more work (Holohan and Braghin 2021).
That defends against one attack and proves no ε. The integer noise of `two_sided` and `discrete_laplace` is exact to the
last bit, after `grid` has rounded the values to integers.
"""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Floats, RandomSource, secure


def gaussian(noise_std: float, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
    """Draw independent normal numbers of mean 0 and standard deviation σ, in floating point.

    Args:
        noise_std: standard deviation σ > 0.
        shape: shape of the array of draws.
        source: source of the random bits; None for that of the operating system.

    Returns:
        The numbers as doubles, of the given shape.

    Raises:
        InvalidInput: σ is not positive and finite.
    """
    _require_scale(noise_std, "/noise_std")
    return noise_std * (source or secure()).normal(shape)


def laplace(scale: float, shape: tuple[int, ...], source: RandomSource | None = None) -> Floats:
    """Draw independent Laplace numbers, with density e^(−|y|/b)/(2b) at y, in floating point.

    Args:
        scale: scale b > 0.
        shape: shape of the array of draws.
        source: source of the random bits; None for that of the operating system.

    Returns:
        The numbers as doubles, of the given shape.

    Raises:
        InvalidInput: b is not positive and finite.
    """
    _require_scale(scale, "/scale")
    bits = (source or secure()).words(shape)
    # 63 bits give a uniform number in (0, 1), whose negative logarithm is the magnitude. The last bit is the sign.
    uniform = np.ldexp((bits >> np.uint64(1)).astype(np.float64) + 0.5, -63)
    magnitudes = -np.log(uniform)
    is_negative = bits & np.uint64(1)
    return np.asarray(np.where(is_negative, -scale * magnitudes, scale * magnitudes))


def _require_scale(scale: float, pointer: str) -> None:
    """Reject a scale of noise that is not positive and finite.

    Args:
        scale: standard deviation, or scale of Laplace noise.
        pointer: JSON pointer of the scale in the caller's arguments, for the error.

    Raises:
        InvalidInput: the scale is 0, negative, infinite or NaN.
    """
    if not 0.0 < scale < math.inf:
        raise InvalidInput.at(pointer, "is out of range", allowed="> 0, finite")
