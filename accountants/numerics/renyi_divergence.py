"""Rényi divergences at any order above one, enclosed: of finitely many outcomes, and of the sampled Gaussian mechanism.

For two distributions P and Q with r = dP/dQ, E_Q[r] = 1. Hence E_Q[r^a] − 1 = E_Q[r^a − 1 − a (r − 1)]. This integrand
is never negative. No cancellation occurs, for any distance of P and Q and any order a above one.

For the Poisson-subsampled Gaussian mechanism, with r = 1 − q + q e^{sy − s²/2}, s = 1/z and y standard normal,

    A − 1 = E[r^a] − 1 = E[r^a − 1 − a (r − 1)],   D_a = log(A)/(a − 1).

No cancellation occurs for any small q. The error of the trapezoid rule with step h is at most
2 e^{w²/2}/(e^{2πw/h} − 1) of E[r^a] for every w < π z. The error of truncation at c on either side is at most 2 Φ(−c)
of it (docs/engine-certificate.md A2, direction "remove").
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_normal_tail

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_MOST_NODES = 4_000_000
_BEYOND = 13.0
_LOG_QUADRATURE = -75.0
_SERIES_TERMS = 12
LEAST_LOG_INTEGRAL = -50.0
"""Logarithm x below which log(1 + e^x) counts as e^x; the error is at most 1e-21 of it."""


def divergence_of_atoms(order: float, log_second: FloatArray, log_ratio: FloatArray) -> Interval:
    """Enclose D_a(P‖Q) of two distributions on the same finitely many atoms.

    The logarithm of each term errs by at most 64 units of roundoff, and by four units of |log Q|, of a |log r| and of
    itself. The second part covers the errors of the given numbers. The sum, the logarithm and the quotient add less
    than 64 units.

    Args:
        order: order a > 1.
        log_second: log Q of each atom; −∞ for an atom that Q does not have.
        log_ratio: log r of each atom, known to two units of roundoff; ∞ for an atom that Q does not have, and −∞ for an
            atom that P does not have.

    Returns:
        Lower and upper bound, both at least 0. They are ∞ if Q does not have an atom of P.
    """
    if np.isposinf(log_ratio).any():
        return Interval(math.inf, math.inf)
    terms = log_second + log_excess(order, log_ratio)
    atoms = np.isfinite(terms)
    if not atoms.any():
        return Interval(0.0, 0.0)
    size = np.abs(log_second[atoms]) + np.abs(terms[atoms])
    size += order * np.where(np.isfinite(log_ratio[atoms]), np.abs(log_ratio[atoms]), 0.0)
    rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * size)
    lower, upper = (_divergence(_log_sum(terms[atoms] + sign * rounding), order) for sign in (-1.0, 1.0))
    return Interval(lower, math.nextafter(upper, math.inf))


def sampled_gaussian_renyi(*, order: float, rate: float, noise_multiplier: float) -> Interval:
    """Enclose D_a((1 − q) N(0, z²) + q N(1, z²) ‖ N(0, z²)), which is at least that of the other direction.

    Accuracy: the bounds differ by less than 1e-12 relative if a² ≤ 10 z² and (a − 1) D_a ≥ 1e-18. For larger orders
    the difference grows by a²/z² units of roundoff. For a smaller (a − 1) D_a it is at most 1e-30/((a − 1) D_a).

    Args:
        order: order a > 1.
        rate: inclusion probability q in (0, 1].
        noise_multiplier: standard deviation z of the noise, in units of the sensitivity.

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
    log_terms = log_excess(order, log_ratio) - 0.5 * y * y
    log_integral = _log_sum(log_terms) + math.log(step) - 0.5 * math.log(2.0 * math.pi)
    size = float(np.max(0.5 * y * y + order * np.abs(log_ratio))) + abs(log_integral)
    rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * size + 4.0 * math.log2(count))
    log_moment = float(np.logaddexp(0.0, log_integral))
    log_charge = log_moment + math.log(2.0 + 2.0 * order) + float(np.logaddexp(log_quadrature, _log_ends(step)))
    upper = float(np.logaddexp(log_integral + rounding, log_charge))
    rest = -math.expm1(min(log_charge - log_integral, 0.0))
    lower = log_integral - rounding + math.log(rest) if rest > 0.0 else -math.inf
    return Interval(_divergence(lower, order), _divergence(upper, order))


def _divergence(log_integral: float, order: float) -> float:
    """Return log(1 + e^log_integral)/(a − 1); the quotient of a small e^log_integral is taken in logarithms."""
    if log_integral < LEAST_LOG_INTEGRAL:
        return math.exp(log_integral - math.log(order - 1.0))
    return float(np.logaddexp(0.0, log_integral)) / (order - 1.0)


def _log_sum(logs: FloatArray) -> float:
    """Return log Σ e^logs; the sum is exact up to the roundings of its terms."""
    largest = float(np.max(logs))
    return largest if math.isinf(largest) else largest + math.log(math.fsum(np.exp(logs - largest)))


def _step(noise_multiplier: float) -> tuple[float, float]:
    """Return a step with a quadrature error below e^−75, and the log of the bound on this error."""
    height = min(3.0 * noise_multiplier, 12.0)
    step = 2.0 * math.pi * height / (0.5 * height * height - _LOG_QUADRATURE + 2.0)
    exponent = 2.0 * math.pi * height / step
    return step, math.log(2.0) + 0.5 * height * height - exponent + 1e-9


def _log_ends(step: float) -> float:
    """Return log 2 Φ(−c), one step inside."""
    return math.log(2.0) + float(log_normal_tail(_BEYOND - step))


def _log_ratio(exponent: FloatArray, rate: float) -> FloatArray:
    """Return log(1 − q + q e^t)."""
    near = np.log1p(rate * np.expm1(np.minimum(exponent, 30.0)))
    far = exponent + np.log(rate + (1.0 - rate) * np.exp(-np.maximum(exponent, 30.0)))
    return np.asarray(np.where(exponent < 30.0, near, far))


def log_excess(order: float, log_ratio: FloatArray) -> FloatArray:
    """Compute log(r^a − 1 − a (r − 1)) within 64 units of roundoff, also for r near 1 and for a near 1.

    Let L = log r and b = a − 1. There are three forms:

    - for |aL| < 1/4 the series Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k!, with terms that fall by a factor of 8 at least;
    - for bL > 1 the form r^a (1 − e^(−bL) (1 + b (1 − e^(−L)))), with a bracket of at least 1/4;
    - between them r (e^(bL) − 1) − b (r − 1). Both terms are proportional to b as b approaches 0. Their difference is
      at least |aL|/2 > 1/8 of the larger, because r (e^(bL) − 1) is about bL (1 + bL/2 + L).

    Args:
        order: order a > 1.
        log_ratio: L, elementwise.
    """
    excess = order - 1.0
    power = excess * log_ratio
    log_series = _log_excess_series(order, np.where(np.abs(order * log_ratio) < 0.25, log_ratio, 0.0))
    positive, negative = np.maximum(log_ratio, 0.0), np.minimum(log_ratio, 0.0)
    falling = np.exp(negative) * np.expm1(excess * negative) - excess * np.expm1(negative)
    rising = np.expm1(np.minimum(excess * positive, 1.0)) + excess * np.expm1(-positive)
    bracket = -np.expm1(-np.maximum(power, 1.0)) + excess * np.expm1(-positive) * np.exp(-np.maximum(power, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.where(log_ratio > 0.0, log_ratio + np.log(rising), np.log(falling))
        far = order * log_ratio + np.log(bracket)
        logs = np.where(power > 1.0, far, middle)
        return np.asarray(np.where(np.abs(order * log_ratio) < 0.25, log_series, logs))


def _log_excess_series(order: float, log_ratio: FloatArray) -> FloatArray:
    """Return the logarithm of Σ_{k ≥ 2} a (a^(k−1) − 1) L^k/k! for |aL| < 1/4; no power of L underflows."""
    total = np.zeros_like(log_ratio)
    for k in range(_SERIES_TERMS, 1, -1):
        total = total * log_ratio + math.expm1((k - 1) * math.log(order)) / math.factorial(k)
    with np.errstate(divide="ignore"):
        return np.asarray(math.log(order) + 2.0 * np.log(np.abs(log_ratio)) + np.log(total))
