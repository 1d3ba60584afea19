"""Terms of binomial probabilities in Loader's form, and of the integral for their tails, with relative accuracy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_STIRLING_TABLE = np.asarray(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, 16)]
)
"""Error of Stirling's formula at 0, …, 15; the value at 0 is not used."""


def stirling_remainder(n: FloatArray) -> FloatArray:
    """Return the error of Stirling's formula, s(n) = log n! − (n + 1/2) log n + n − log √(2π).

    Values below 16 are looked up. The others are Stirling's series:

        s(n) = 1/(12n) − 1/(360n³) + 1/(1260n⁵) − ….

    Args:
        n: whole numbers, at least 0.

    Returns:
        s(n) > 0 for each number n ≥ 1; 0 for n = 0, where the formula is not defined.
    """
    is_small = n < 16.0
    x = 1.0 / np.where(is_small, 16.0, n)
    y = x * x
    series = x * (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188)))))
    from_table = _STIRLING_TABLE[np.minimum(n, 15.0).astype(np.int64)]
    return np.asarray(np.where(is_small, from_table, series))


def deviance(x: FloatArray, mean: FloatArray) -> FloatArray:
    """Compute the deviance x log(x/m) + m − x of a binomial count x with the mean m, without cancellation near m.

    Loader's form of binomial probabilities uses it. Near the mean, with v = (x − m)/(x + m), it is computed as:

        (x − m) v + 2xv Σ_{j≥1} v^{2j}/(2j + 1).

    Args:
        x: number of successes or failures, above 0.
        mean: its mean m, above 0.

    Returns:
        The deviance, at least 0, for each element.
    """
    v = (x - mean) / (x + mean)
    is_near = np.abs(v) < 0.1
    # The series by Horner's method. For |v| < 0.1, ten terms reach the accuracy of doubles.
    near_v = np.where(is_near, v, 0.0)
    square = near_v * near_v
    tail = np.zeros_like(square)
    for j in range(10, 0, -1):
        tail = square * (1.0 / (2 * j + 1) + tail)
    series = (x - mean) * near_v + 2.0 * x * near_v * tail
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = x * np.log(x / mean) + mean - x
    return np.asarray(np.where(is_near, series, direct))


def _log1p_gap(x: FloatArray) -> FloatArray:
    """Return x − log(1 + x) ≥ 0 for each x ≥ 0, with relative accuracy also for small x."""
    # Horner's method for Σ_{j≥2} (−1)^j x^j/j, without one factor x. For x < 1/8, terms up to j = 20 are enough.
    small_x = np.where(x < 0.125, x, 0.0)
    series = np.zeros_like(small_x)
    for j in range(20, 1, -1):
        series = small_x * ((-1.0 if j % 2 else 1.0) / j + series)
    return np.asarray(np.where(x < 0.125, small_x * series, x - np.log1p(x)))


def _exp_gap(v: FloatArray) -> FloatArray:
    """Return e^{−v} − 1 + v ≥ 0 for each v ≥ 0, with relative accuracy also for small v."""
    # Horner's method for Σ_{j≥2} (−1)^j v^j/j!, without one factor v. For v < 1/8, terms up to j = 12 are enough.
    small_v = np.where(v < 0.125, v, 0.0)
    series = np.zeros_like(small_v)
    for j in range(12, 1, -1):
        series = small_v * ((-1.0 if j % 2 else 1.0) / math.factorial(j) + series)
    return np.asarray(np.where(v < 0.125, small_v * series, v + np.expm1(-v)))


def exponent_gap(v: FloatArray, odds: float) -> FloatArray:
    """Return h(v) = o v − log(1 + o (1 − e^{−v})) for odds o, with relative accuracy.

    h is a part of the exponent in the integral for a binomial tail. It is computed as the sum of two positive terms, so
    that no digits cancel for small v:

        h(v) = o (e^{−v} − 1 + v) + y − log(1 + y),   y = o (1 − e^{−v}).

    Args:
        v: numbers, at least 0.
        odds: o = p/(1 − p) of the success probability p.

    Returns:
        The number h(v), at least 0, for each v.
    """
    return odds * _exp_gap(v) + _log1p_gap(-odds * np.expm1(-v))


def quick_exponent_gap(v: FloatArray, odds: float) -> FloatArray:
    """Return h(v) = o v − log(1 + o (1 − e^{−v})) for odds o, by this plain formula.

    h is a part of the exponent in the integral for a binomial tail. The error is a few units in the last place of o v,
    while `exponent_gap` has a small relative error also for small v.

    Args:
        v: numbers, at least 0.
        odds: o = p/(1 − p) of the success probability p.

    Returns:
        The number h(v) for each v.
    """
    return np.asarray(odds * v - np.log1p(-odds * np.expm1(-v)))
