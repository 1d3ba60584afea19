"""Rényi divergence of the Poisson-subsampled Gaussian mechanism at any order above one, enclosed.

With r = 1 − q + q e^{sy − s²/2}, s = 1/z, and y standard normal, E[r] = 1 and

    A − 1 = E[r^a] − 1 = E[r^a − 1 − a (r − 1)],   D_a = log(A)/(a − 1),

whose integrand is never negative: nothing cancels, however small q is. The trapezoid rule with step h errs by at most
2 e^{w²/2}/(e^{2πw/h} − 1) of E[r^a] for every w < π z, as does its end beyond c on either side by 2 Φ(−c)
(docs/engine-certificate.md A2, direction "remove").
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Interval
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_normal_tail

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_MOST_NODES = 4_000_000
_BEYOND = 13.0
_LOG_QUADRATURE = -75.0
_SERIES_TERMS = 12


def sampled_gaussian_renyi(*, order: float, rate: float, noise_multiplier: float) -> Interval:
    """Both ends of D_a((1 − q) N(0, z²) + q N(1, z²) ‖ N(0, z²)), which is at least that of the other order.

    Accuracy: the two differ by less than 1e-12 relative for a² ≤ 10 z², and by a²/z² units of roundoff beyond.

    Raises:
        BeyondBudget: the order is so large against the noise that it would take more than four million nodes.
    """
    shift = 1.0 / noise_multiplier
    if rate == 1.0:
        exact = 0.5 * order * shift * shift
        return Interval(exact * (1 - 8 * UNIT_ROUNDOFF), exact * (1 + 8 * UNIT_ROUNDOFF))
    step, log_quadrature = _step(noise_multiplier)
    low, high = -_BEYOND, order * shift + _BEYOND
    count = math.ceil((high - low) / step) + 1
    if count > _MOST_NODES:
        raise BeyondBudget(f"order {order:g} at noise multiplier {noise_multiplier:g} takes too many nodes")
    y = low + step * np.arange(count)
    log_ratio = _log_ratio(np.asarray(shift * (y - 0.5 * shift)), rate)
    log_terms = _log_excess(order, log_ratio) - 0.5 * y * y
    log_excess = float(np.logaddexp.reduce(log_terms)) + math.log(step) - 0.5 * math.log(2.0 * math.pi)
    size = float(np.max(0.5 * y * y + order * np.abs(log_ratio)))
    rounding = UNIT_ROUNDOFF * (64.0 + 4.0 * size + 4.0 * math.log2(count))
    log_moment = float(np.logaddexp(0.0, log_excess))
    log_charge = log_moment + math.log(2.0 + 2.0 * order) + float(np.logaddexp(log_quadrature, _log_ends(step)))
    upper = float(np.logaddexp(log_excess + rounding, log_charge))
    lower = log_excess - rounding + math.log(max(-math.expm1(min(log_charge - log_excess, 0.0)), 1e-300))
    return Interval(*(_divergence(end, order) for end in (lower, upper)))


def _divergence(log_excess: float, order: float) -> float:
    return (math.log1p(math.exp(log_excess)) if log_excess < 30.0 else log_excess) / (order - 1.0)


def _step(noise_multiplier: float) -> tuple[float, float]:
    """A step with a quadrature error below e^−75, and the log of its bound."""
    height = min(3.0 * noise_multiplier, 12.0)
    step = 2.0 * math.pi * height / (0.5 * height * height - _LOG_QUADRATURE + 2.0)
    exponent = 2.0 * math.pi * height / step
    return step, math.log(2.0) + 0.5 * height * height - exponent + 1e-9


def _log_ends(step: float) -> float:
    """log 2 Φ(−c), one step inside."""
    return math.log(2.0) + float(log_normal_tail(_BEYOND - step))


def _log_ratio(exponent: FloatArray, rate: float) -> FloatArray:
    """log(1 − q + q e^t)."""
    near = np.log1p(rate * np.expm1(np.minimum(exponent, 30.0)))
    far = exponent + np.log(rate + (1.0 - rate) * np.exp(-np.maximum(exponent, 30.0)))
    return np.asarray(np.where(exponent < 30.0, near, far))


def _log_excess(order: float, log_ratio: FloatArray) -> FloatArray:
    """log(r^a − 1 − a (r − 1)) ≥ −∞, with relative accuracy for r near 1 too."""
    power = order * log_ratio
    large, small = power > 1.0, np.abs(power) < 0.25
    tail = np.exp(-np.maximum(power, 1.0))
    rest = tail + order * (np.exp(np.where(large, log_ratio - power, -1.0)) - tail)
    near = np.where(small, log_ratio, 0.0)
    series = np.zeros_like(near)
    for k in range(_SERIES_TERMS, 1, -1):
        series = series * near + math.expm1((k - 1) * math.log(order)) / math.factorial(k)
    direct = np.expm1(np.minimum(power, 1.0)) - order * np.expm1(np.minimum(log_ratio, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(small, order * near * near * series, direct))
        return np.asarray(np.where(large, power + np.log1p(-np.where(large, rest, 0.0)), logs))
