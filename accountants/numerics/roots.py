"""Square roots of rational numbers, rounded up: what a noise or a bound is when its square is known exactly."""

from __future__ import annotations

import math
from fractions import Fraction


def root_up(square: Fraction) -> float:
    """The square root of a rational number, rounded up by at most two units in the last place."""
    scale = 2 ** (max(square.denominator.bit_length() - square.numerator.bit_length(), 0) // 2 + 80)
    whole = math.isqrt(math.ceil(square * scale * scale)) + 1
    found = Fraction(whole, scale)
    try:
        near = float(found)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= found else math.nextafter(near, math.inf)
