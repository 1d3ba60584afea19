"""The integrand r^a − 1 − a (r − 1) of a Rényi divergence with the likelihood ratio r, in logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_EXCESS_TERMS = 12
"""Last power in the series of `log_excess`. The terms that are left out are below 10 units of roundoff."""


def log_excess(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Compute log(r^a − 1 − a (r − 1)), the log of the integrand of a Rényi divergence.

    Here r is the likelihood ratio and a the order. The formula loses all digits to cancellation if r or a is near 1.
    Three forms of it are used, so that the result is within 64 units of roundoff everywhere. With L = log r, they are
    a power series for |aL| < 1/4, a form for (a − 1) L > 1, and one for all other L.

    Args:
        order: order a > 1, or a column of orders.
        log_ratio: L, elementwise.

    Returns:
        One logarithm for each order and ratio; −inf where r = 1.
    """
    # Often all ratios are large, so that the other forms are not needed.
    power = (order - 1.0) * log_ratio
    log_of_large = _log_excess_of_large(order, log_ratio)
    is_large = power > 1.0
    if is_large.all():
        return np.asarray(log_of_large)

    # The series has L = 0 where it is not used, so that its powers stay small.
    is_series = np.abs(order * log_ratio) < 0.25
    log_of_series = _log_excess_series(order, np.where(is_series, log_ratio, 0.0))
    log_between = _log_excess_between(order, log_ratio)
    without_series = np.where(is_large, log_of_large, log_between)
    return np.asarray(np.where(is_series, log_of_series, without_series))


def _log_excess_of_large(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of the integrand r^a − 1 − a (r − 1) of a Rényi divergence for a large likelihood ratio r.

    With r = e^L and b = a − 1, the integrand is:

        r^a (1 − e^{−bL} (1 + b (1 − e^{−L}))).

    If bL > 1, the bracket is at least 1 − 2/e, so that nothing cancels. For other L, where the caller uses another
    form, the result is arbitrary.

    Args:
        order: order a = 1 + b > 1, or a column of orders.
        log_ratio: L = log r, elementwise.

    Returns:
        One logarithm for each order and ratio.
    """
    b = order - 1.0
    # The limits change nothing if bL > 1. They prevent overflows for other L.
    decay = np.exp(-np.maximum(b * log_ratio, 1.0))  # e^{−bL}
    bracket = 1.0 - decay + b * np.expm1(-np.maximum(log_ratio, 0.0)) * decay
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(order * log_ratio + np.log(bracket))


def _log_excess_between(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of the integrand r^a − 1 − a (r − 1) of a Rényi divergence for a moderate likelihood ratio r.

    With r = e^L and b = a − 1, the integrand is:

        r (e^{bL} − 1) − b (r − 1).

    Few digits cancel if |aL| ≥ 1/4 and bL ≤ 1. For small L, the terms are about bL (1 + L + bL/2) and bL (1 + L/2), so
    the difference is about |aL|/2 ≥ 1/8 of them. For other L the result has no meaning.

    Args:
        order: order a = 1 + b > 1, or a column of orders.
        log_ratio: L = log r, elementwise.

    Returns:
        One logarithm for each order and ratio.
    """
    b = order - 1.0
    positive, negative = np.maximum(log_ratio, 0.0), np.minimum(log_ratio, 0.0)

    # For r > 1 the factor r is taken out of the logarithm, so that it cannot overflow.
    for_ratio_below_one = np.exp(negative) * np.expm1(b * negative) - b * np.expm1(negative)
    for_ratio_above_one = np.expm1(np.minimum(b * positive, 1.0)) + b * np.expm1(-positive)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_below_one = np.log(for_ratio_below_one)
        log_above_one = log_ratio + np.log(for_ratio_above_one)
        return np.asarray(np.where(log_ratio > 0.0, log_above_one, log_below_one))


def _log_excess_series(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of the integrand r^a − 1 − a (r − 1) of a Rényi divergence for a likelihood ratio r near 1.

    With r = e^L, the integrand is the power series:

        Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k!,

    which is used for |aL| < 1/4. L² is taken out of the logarithm, so that no power of L underflows.

    Args:
        order: order a > 1, or a column of orders.
        log_ratio: L = log r, elementwise.

    Returns:
        One logarithm for each order and ratio; −inf where L = 0.
    """
    log_order = np.log(order)
    # Horner's method for Σ (a^(k−1) − 1) L^(k−2)/k!, from the last term to k = 2.
    total = np.zeros_like(log_ratio)
    for k in range(_EXCESS_TERMS, 1, -1):
        coefficient = np.expm1((k - 1) * log_order) / math.factorial(k)
        total = total * log_ratio + coefficient
    with np.errstate(divide="ignore"):
        return np.asarray(log_order + 2.0 * np.log(np.abs(log_ratio)) + np.log(total))
