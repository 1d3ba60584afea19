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
    """Compute the log of the integrand of a Rényi divergence, accurately for every likelihood ratio.

    The integrand is r^a − 1 − a (r − 1) for the likelihood ratio r and the order a.

    The result is within 64 units of roundoff, also for r near 1 and for a near 1. Let L = log r and b = a − 1. There
    are three forms: a series for |aL| < 1/4 (`_log_excess_series`), one for bL > 1 (`_log_excess_of_large`), and one
    between them (`_log_excess_between`).

    Args:
        order: order a > 1, or a column of orders.
        log_ratio: L, elementwise.

    Returns:
        One logarithm for each order and ratio; −inf where r = 1.
    """
    # The form for large ratios suits bL > 1. Often it is the only one that is needed.
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
    """Return the log of the integrand of a Rényi divergence for a large likelihood ratio.

    The integrand is r^a − 1 − a (r − 1) for the likelihood ratio r = e^L, here with (a − 1) L > 1.

    With b = a − 1 it is log(r^a (1 − e^{−bL} (1 + b (1 − e^{−L})))), where the bracket is at least 1/4. For other L the
    result has no meaning.

    Args:
        order: order a = 1 + b > 1, or a column of orders.
        log_ratio: L = log r, elementwise.

    Returns:
        One logarithm for each order and ratio.
    """
    b = order - 1.0
    # e^{−bL}, limited to at most e^−1 where the form is not used, and the bracket of the formula.
    decay = np.exp(-np.maximum(b * log_ratio, 1.0))
    bracket = 1.0 - decay + b * np.expm1(-np.maximum(log_ratio, 0.0)) * decay
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(order * log_ratio + np.log(bracket))


def _log_excess_between(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of the integrand of a Rényi divergence for a moderate likelihood ratio.

    The integrand is r^a − 1 − a (r − 1) for the likelihood ratio r = e^L, here with |aL| ≥ 1/4 and (a − 1) L ≤ 1.

    With b = a − 1 it is log(r (e^{bL} − 1) − b (r − 1)), a difference of two terms. Both are proportional to b as b
    approaches 0. Their difference is at least |aL|/2 > 1/8 of the larger term. This holds because r (e^{bL} − 1) is
    about bL (1 + bL/2 + L). For other L the result has no meaning.

    Args:
        order: order a = 1 + b > 1, or a column of orders.
        log_ratio: L = log r, elementwise.

    Returns:
        One logarithm for each order and ratio.
    """
    b = order - 1.0
    positive, negative = np.maximum(log_ratio, 0.0), np.minimum(log_ratio, 0.0)

    # For r < 1 the bracket itself; for r > 1, r is taken out of the logarithm.
    for_ratio_below_one = np.exp(negative) * np.expm1(b * negative) - b * np.expm1(negative)
    for_ratio_above_one = np.expm1(np.minimum(b * positive, 1.0)) + b * np.expm1(-positive)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_below_one = np.log(for_ratio_below_one)
        log_above_one = log_ratio + np.log(for_ratio_above_one)
        return np.asarray(np.where(log_ratio > 0.0, log_above_one, log_below_one))


def _log_excess_series(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of the integrand of a Rényi divergence for a likelihood ratio near 1, by a power series.

    The integrand is r^a − 1 − a (r − 1) for the likelihood ratio r = e^L, here with |aL| < 1/4.

    The series is Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k!. It is evaluated by Horner's method with L² taken out of the
    logarithm, so that no power of L underflows.

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
