"""Geometric sums; harmonic numbers and sums of roots by the Euler–Maclaurin formula, to 4 units of roundoff."""

from __future__ import annotations

import math

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

EULER = 0.5772156649015328606
"""Euler's constant γ."""
ZETA_OF_MINUS_HALF = -0.2078862249773545660
"""Value ζ(−1/2) of the Riemann zeta function, the constant in the expansion of a sum of roots."""
_DIRECT = 64
"""Number of terms below which they are added one by one."""
PAD = 16 * UNIT_ROUNDOFF
"""Upper bound on the relative rounding of a harmonic number, its root, and a few products with it."""


def harmonic(count: int) -> float:
    """Return the harmonic number 1 + 1/2 + … + 1/n, and 0 for n = 0.

    Short sums are added term by term. Long ones use the Euler–Maclaurin expansion:

        log n + γ + 1/(2n) − 1/(12n²) + 1/(120n⁴) − 1/(252n⁶) + 1/(240n⁸).

    Args:
        count: number n of terms, at least 0.

    Returns:
        The sum, within four units of roundoff.
    """
    if count < _DIRECT:
        return math.fsum(1.0 / k for k in range(1, count + 1))
    # Minus the terms after 1/(2n), by Horner's method in 1/n².
    inverse = 1.0 / count
    square = inverse * inverse
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)))
    return math.fsum((math.log(count), EULER, 0.5 * inverse, -tail))


def root_sum(count: int) -> float:
    """Return the sum of square roots √1 + √2 + … + √n.

    Short sums are added term by term. Long ones use the Euler–Maclaurin expansion:

        (2/3) n^{3/2} + √n/2 + ζ(−1/2) + n^{−1/2}/24 − n^{−5/2}/1920 + n^{−9/2}/9216.

    Args:
        count: number n of terms, at least 0.

    Returns:
        The sum, within four units of roundoff.
    """
    if count < _DIRECT:
        return math.fsum(math.sqrt(k) for k in range(1, count + 1))
    # The terms after the constant ζ(−1/2), by Horner's method in 1/n².
    n = float(count)
    root, square = math.sqrt(n), n * n
    tail = (1.0 / 24.0 - (1.0 / 1920.0 - 1.0 / (9216.0 * square)) / square) / root
    return math.fsum((2.0 / 3.0 * n * root, 0.5 * root, ZETA_OF_MINUS_HALF, tail))


def geometric_sum(rest: float, count: float) -> float:
    """Return the geometric sum Σ_{k<T} (1 − u)^k = (1 − (1 − u)^T)/u, within a relative 1e-15.

    The ratio 1 − u is given by u, so that no digits are lost if the ratio is near 1.

    Args:
        rest: u in [0, 1].
        count: number T ≥ 1 of terms; the formula is used for a T that is not an integer too.

    Returns:
        The sum, between 1 and T.
    """
    if rest * count < 1e-17:  # then T(1 − uT) ≤ sum ≤ T, so that the sum is T up to a rounding
        return count
    if rest >= 1.0:
        return 1.0
    return -math.expm1(count * math.log1p(-rest)) / rest


def triangular_sum(rest: float, count: float) -> float:
    """Return the sum H_T = Σ_{τ=1}^T G_τ of geometric sums G_τ = Σ_{k<τ} (1 − u)^k.

    The sum is (T − (1 − u) G_T)/u. For small u T, where this cancels, a series is used:

        Σ_{k ≥ 0} (−u)^k C(T + 1, k + 2).

    The result is within a relative 1e-14 up to T = 1e9.

    Args:
        rest: u in [0, 1].
        count: number T ≥ 0 of the sums that are added.

    Returns:
        The sum H_T, at least 0.
    """
    if count <= 0:
        return 0.0
    if rest * count >= 0.5:
        return (count - (1.0 - rest) * geometric_sum(rest, count)) / rest

    # The first term is C(T + 1, 2), and each further one follows from the previous one.
    term = total = 0.5 * count * (count + 1.0)
    for k in range(60):  # the terms decrease fast, as uT < 1/2, so that the loop ends early
        term *= -rest * (count - 1.0 - k) / (k + 3.0)
        total += term
        if abs(term) < 1e-18 * total:  # far below a rounding
            break
    return total
