"""The threshold of the best test between two Gaussians, and the normal density there, in high precision."""

from __future__ import annotations

import math
from typing import TypeAlias, TypeVar

import numpy as np

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
Numbers = TypeVar("Numbers", float, "FloatArray")
"""A number or an array of numbers, for arithmetic that supports both."""

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_SPLITTER = 2.0**27 + 1
"""Factor that splits a double of 53 bits into two halves (Dekker)."""


def _two_product(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Return the exact product x·y as an unevaluated sum of two doubles, by Dekker's algorithm.

    The product is exact if nothing overflows or underflows. Each factor is split into two halves of 26 bits. Their
    products are exact.

    Args:
        x: a number or an array, of absolute value below 2^996.
        y: a number or an array, of absolute value below 2^996.

    Returns:
        The rounded product, and the exact product minus the rounded one.
    """
    product = x * y
    # Veltkamp's splitting gives the upper 26 bits of each factor.
    high_x = _SPLITTER * x - (_SPLITTER * x - x)
    high_y = _SPLITTER * y - (_SPLITTER * y - y)
    low_x, low_y = x - high_x, y - high_y
    # In this order of the sums, every step is exact.
    remainder = ((high_x * high_y - product) + high_x * low_y + low_x * high_y) + low_x * low_y
    return product, remainder


def precise_threshold(epsilon: Numbers, shift: Numbers) -> tuple[Numbers, Numbers]:
    """Return a = ε/r − r/2 = (ε − r²/2)/r with about twice the precision of a double, as a sum of two doubles.

    N(r, 1) has more than e^ε times the density of N(0, 1) beyond a + r. The log density at a needs a²/2, which
    amplifies errors of a: near ε = 1e9 and r = 5e4, plain doubles give a with an error up to 3e-12, and a²/2 with one
    up to 1.4e-8.

    Args:
        epsilon: ε ≥ 0, in nats.
        shift: r > 0, in standard deviations.

    Returns:
        The high part of a, and the low part.
    """
    square, square_low = _two_product(shift, shift)
    half_square, half_square_low = 0.5 * square, 0.5 * square_low
    # ε − half_square = numerator + rounding_error, exactly (Knuth's two-sum).
    numerator = epsilon - half_square
    subtracted = numerator - epsilon
    rounding_error = (epsilon - (numerator - subtracted)) - (half_square + subtracted)
    numerator_low = rounding_error - half_square_low
    # One Newton step corrects the quotient by the remainder of the division, from the exact product.
    quotient = numerator / shift
    product, product_low = _two_product(quotient, shift)
    correction = ((numerator - product) - product_low + numerator_low) / shift
    # The sum quotient + correction, again as a double and its rounding error.
    high = quotient + correction
    low = (quotient - high) + correction
    return high, low


def log_normal_density(high: Numbers, low: Numbers) -> Numbers:
    """Return the log of the standard normal density φ at a number that is given as a sum of two doubles.

    Args:
        high: the high part of the number.
        low: the low part.

    Returns:
        The log density, at most −log √(2π), for each number.
    """
    # (high + low)² without low², which is negligible.
    square, square_low = _two_product(high, high)
    return -0.5 * square - (0.5 * square_low + high * low) - _LOG_SQRT_2PI
