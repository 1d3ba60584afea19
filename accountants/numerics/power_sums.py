"""Harmonic numbers and sums of roots, by the Euler–Maclaurin formula beyond the first terms, to 4 units of roundoff."""

from __future__ import annotations

import math

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

EULER = 0.5772156649015328606
ZETA_OF_MINUS_HALF = -0.2078862249773545660
_DIRECT = 64
PAD = 16 * UNIT_ROUNDOFF
"""Upper bound on the relative rounding of a harmonic number, its root, and a few products with it."""


def harmonic(count: int) -> float:
    """Return 1 + 1/2 + … + 1/count, and 0 for a count of 0."""
    if count < _DIRECT:
        return math.fsum(1.0 / k for k in range(1, count + 1))
    inverse = 1.0 / count
    square = inverse * inverse
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)))
    return math.fsum((math.log(count), EULER, 0.5 * inverse, -tail))


def root_sum(count: int) -> float:
    """Return √1 + √2 + … + √count."""
    if count < _DIRECT:
        return math.fsum(math.sqrt(k) for k in range(1, count + 1))
    n = float(count)
    root, square = math.sqrt(n), n * n
    tail = (1.0 / 24.0 - (1.0 / 1920.0 - 1.0 / (9216.0 * square)) / square) / root
    return math.fsum((2.0 / 3.0 * n * root, 0.5 * root, ZETA_OF_MINUS_HALF, tail))
