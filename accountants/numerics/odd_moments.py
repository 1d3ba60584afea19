"""The integral of e^{−ct − t²/2} sinh(rt/2) over t > 0, by the moments M_n = ∫ tⁿ e^{−ct − t²/2} dt of odd order."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

_SERIES_TERMS = 14
"""Largest number of terms of the power series in the shift."""
_NEGLIGIBLE_TERM = 60.0 * math.log(2.0)
"""Nats by which a negligible term is below the first one: 2^−60 is below the rounding of doubles."""
_DAMPED, _LEAST_STEPS = 20.0, 16
"""Half of the nats by which the start of a backward recurrence is damped, and its least number of extra steps."""


def odd_moment_series(c: FloatArray, first: FloatArray, shift: FloatArray) -> FloatArray:
    """Return an integral of a damped hyperbolic sine by its power series in the shift r.

    The integral is (2/r) ∫ e^{−ct−t²/2} sinh(rt/2) dt over t > 0, for r < max(1, c)/2. With the moments
    M_n = ∫ tⁿ e^{−ct−t²/2} dt it is Σ_j (r/2)^{2j} M_{2j+1}/(2j + 1)!. The moments follow from a recurrence, which is
    stable forwards for c ≤ 1 and backwards for c > 1.

    Args:
        c: values of c ≥ 0.
        first: M_0, the Mills ratio at c.
        shift: shifts r ≥ 0, one for each c.

    Returns:
        The integral times 2/r, for each c.
    """
    moments = np.empty((2 * _SERIES_TERMS, *c.shape))
    is_small = c <= 1.0
    if is_small.any():
        moments[:, is_small] = _moments_forward(c[is_small], first[is_small])
    if not is_small.all():
        moments[:, ~is_small] = _moments_backward(c[~is_small], first[~is_small])

    half_shift = 0.5 * shift
    total, factor = np.zeros_like(c), np.ones_like(c)  # the factor of term j is (r/2)^{2j}/(2j + 1)!
    for j in range(_SERIES_TERMS):
        total = total + factor * moments[2 * j + 1]
        factor = factor * half_shift * half_shift / ((2 * j + 2) * (2 * j + 3))
    return total


def _moments_forward(c: FloatArray, first: FloatArray) -> FloatArray:
    """Return the moments of a damped half-normal density by a forward recurrence, stable for c ≤ 1.

    The moments are M_n = ∫ tⁿ e^{−ct−t²/2} dt over t > 0, n = 0, 1, …. The recurrence is M_{n+1} = n M_{n−1} − c M_n,
    from M_1 = 1 − c M_0.

    Args:
        c: values of c ≤ 1.
        first: M_0 for each c.

    Returns:
        A matrix with one row for each n and one column for each c.
    """
    moments = np.empty((2 * _SERIES_TERMS, c.size))
    moments[0] = first
    moments[1] = 1.0 - c * moments[0]
    for n in range(1, 2 * _SERIES_TERMS - 1):
        moments[n + 1] = n * moments[n - 1] - c * moments[n]
    return moments


def _moments_backward(c: FloatArray, first: FloatArray) -> FloatArray:
    """Return the moments of a damped half-normal density by a backward recurrence, stable for c > 1.

    The moments are M_n = ∫ tⁿ e^{−ct−t²/2} dt over t > 0, n = 0, 1, …. Their ratios h_n = M_n/M_{n−1} are computed
    backwards by h_n = n/(c + h_{n+1}). They start from (√(c² + 4n) − c)/2, which h_n approaches for large n.

    Args:
        c: values of c > 1.
        first: M_0 for each c.

    Returns:
        A matrix with one row for each n and one column for each c.
    """
    # Ratios down to h_1; those of higher orders than needed are not stored.
    orders = 2 * _SERIES_TERMS
    start = orders + _extra_orders(float(c.min()))
    ratio = 0.5 * (np.sqrt(c * c + 4.0 * start) - c)
    ratios = np.empty((orders, c.size))
    for n in range(start - 1, 0, -1):
        ratio = n / (c + ratio)
        if n < orders:
            ratios[n] = ratio

    moments = np.empty((orders, c.size))
    moments[0] = first
    for n in range(1, orders):
        moments[n] = moments[n - 1] * ratios[n]
    return moments


def _extra_orders(c: float) -> int:
    """Return the number of further orders from which the backward recurrence starts, so that its start is negligible.

    Args:
        c: c > 1 in the moments ∫ tⁿ e^{−ct−t²/2} dt.

    Returns:
        The number of orders. It is smaller for larger c, where the error of the start shrinks faster.
    """
    # Until order 28, the error of the start shrinks by the factors e^−22 at c = 1, e^−31 at c = 3 and e^−60 at c = 20.
    if c < 3:
        return 220
    return 80 if c < 20 else 24


def odd_moment_sum(c: float, first: float, shift: float) -> float:
    """Return an integral of a damped hyperbolic sine by its power series, for one number c.

    The integral is (2/r) ∫ e^{−ct−t²/2} sinh(rt/2) dt over t > 0. For few numbers this is quicker than
    `odd_moment_series`. Let M_n = ∫ tⁿ e^{−ct−t²/2} dt be the moments. Their ratios h_n = M_n/M_{n−1} are at most n/c,
    and at most √n. A term of the series is therefore at most q = (r/(2 max(1, c)))² times the previous one. J terms
    with q^J < 2^−60 are enough in double arithmetic; at most `_SERIES_TERMS` are used.

    Args:
        c: the number c ≥ 0.
        first: M_0, the Mills ratio at c.
        shift: the shift r ≥ 0.

    Returns:
        The value of the integral, times 2/r.
    """
    # The number of terms, from q = step².
    step = 0.5 * shift / max(1.0, c)
    terms = 1
    if step > 0.0:
        nats_per_term = max(-2.0 * math.log(step), 1e-9)  # q may be close to 1
        terms = min(math.ceil(_NEGLIGIBLE_TERM / nats_per_term), _SERIES_TERMS)

    odd_moments = _odd_moments_forward(c, first, terms) if c <= 1.0 else _odd_moments_backward(c, first, terms)
    square, total, factor = 0.25 * shift * shift, 0.0, 1.0
    for j, moment in enumerate(odd_moments):
        total += factor * moment
        factor *= square / ((2 * j + 2) * (2 * j + 3))
    return total


def _odd_moments_forward(c: float, first: float, terms: int) -> list[float]:
    """Return the odd moments of a damped half-normal density by a forward recurrence, for one c ≤ 1.

    The moments are M_n = ∫ tⁿ e^{−ct−t²/2} dt over t > 0, for n = 1, 3, …. They follow from the recurrence
    M_{n+1} = n M_{n−1} − c M_n, which is stable for such c.

    Args:
        c: real c ≤ 1.
        first: M_0, the Mills ratio at c.
        terms: number of moments that are returned, at least 1.

    Returns:
        M_1, M_3, …, in this order.
    """
    previous, current = first, 1.0 - c * first
    odd = [current]
    for n in range(1, 2 * terms - 2, 2):
        # Two steps of the recurrence: to the next even moment, and to the next odd one.
        previous = n * previous - c * current
        current = (n + 1) * current - c * previous
        odd.append(current)
    return odd


def _odd_moments_backward(c: float, first: float, terms: int) -> list[float]:
    """Return the odd moments of a damped half-normal density by their ratios, for one c > 1.

    The moments are M_n = ∫ tⁿ e^{−ct−t²/2} dt over t > 0, for n = 1, 3, …. The ratios h_n = M_n/M_{n−1} follow from
    h_n = n/(c + h_{n+1}), from n = N down to 1. At each n, an error of h_{n+1} is multiplied by h_n/(c + h_{n+1}),
    which is less than n/c². If √n is above c, the product of all such factors from N down to n is about:

        e^{−2c(√N − √n)}.

    With √N = √n + d/c for the highest order n and d = `_DAMPED`, this is e^{−2d} = e^−40, so that the error is
    negligible. N is at least n + `_LEAST_STEPS`, and at most the N of `_moments_backward`.

    Args:
        c: the number c > 1.
        first: M_0, the Mills ratio at c.
        terms: number of moments.

    Returns:
        M_1, M_3, …, in this order.
    """
    orders = 2 * terms

    most_orders = 2 * _SERIES_TERMS + _extra_orders(c)
    damped_orders = math.ceil((math.sqrt(orders) + _DAMPED / c) ** 2)
    start = min(most_orders, max(damped_orders, orders + _LEAST_STEPS))

    # Ratios down to h_1; those of higher orders than needed are not stored.
    ratio = 0.5 * (math.sqrt(c * c + 4.0 * start) - c)
    for n in range(start - 1, orders - 1, -1):
        ratio = n / (c + ratio)
    ratios = [0.0] * orders
    for n in range(orders - 1, 0, -1):
        ratios[n] = ratio = n / (c + ratio)

    # M_n = M_{n−2} h_{n−1} h_n.
    odd_moments = [first * ratios[1]]
    for n in range(3, orders, 2):
        odd_moments.append(odd_moments[-1] * ratios[n - 1] * ratios[n])
    return odd_moments
