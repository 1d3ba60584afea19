"""The logarithm of r^a − 1 − a (r − 1) for likelihood ratios r, whose mean gives a Rényi divergence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_SERIES_TERMS = 12


def log_excess(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Compute log(r^a − 1 − a (r − 1)) within 64 units of roundoff, also for r near 1 and for a near 1.

    Let L = log r and b = a − 1. There are three forms:

    - for |aL| < 1/4 the series Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k!, with terms that fall by a factor of 8 at least;
    - for bL > 1 the form r^a (1 − e^(−bL) (1 + b (1 − e^(−L)))), with a bracket of at least 1/4;
    - between them r (e^(bL) − 1) − b (r − 1). Both terms are proportional to b as b approaches 0. Their difference is
      at least |aL|/2 > 1/8 of the larger, because r (e^(bL) − 1) is about bL (1 + bL/2 + L).

    Args:
        order: order a > 1, or a column of orders.
        log_ratio: L, elementwise.
    """
    b = order - 1.0
    power = b * log_ratio
    falling = np.exp(-np.maximum(power, 1.0))
    bracket = 1.0 - falling + b * np.expm1(-np.maximum(log_ratio, 0.0)) * falling
    with np.errstate(divide="ignore", invalid="ignore"):
        log_large = order * log_ratio + np.log(bracket)
    is_large = power > 1.0
    if is_large.all():
        return np.asarray(log_large)
    is_series = np.abs(order * log_ratio) < 0.25
    log_series = _log_excess_series(order, np.where(is_series, log_ratio, 0.0))
    positive, negative = np.maximum(log_ratio, 0.0), np.minimum(log_ratio, 0.0)
    middle_below_one = np.exp(negative) * np.expm1(b * negative) - b * np.expm1(negative)
    middle_above_one = np.expm1(np.minimum(b * positive, 1.0)) + b * np.expm1(-positive)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_middle = np.where(log_ratio > 0.0, log_ratio + np.log(middle_above_one), np.log(middle_below_one))
        return np.asarray(np.where(is_series, log_series, np.where(is_large, log_large, log_middle)))


def _log_excess_series(order: float | FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the logarithm of Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k! for |aL| < 1/4; no power of L underflows."""
    log_order = np.log(order)
    total = np.zeros_like(log_ratio)
    for k in range(_SERIES_TERMS, 1, -1):
        total = total * log_ratio + np.expm1((k - 1) * log_order) / math.factorial(k)
    with np.errstate(divide="ignore"):
        return np.asarray(log_order + 2.0 * np.log(np.abs(log_ratio)) + np.log(total))
