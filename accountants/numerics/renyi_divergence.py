"""Rényi divergences at any order above one, enclosed: of finitely many outcomes, and of the sampled Gaussian mechanism.

For two distributions P and Q with r = dP/dQ, E_Q[r] = 1. Hence E_Q[r^a] − 1 = E_Q[r^a − 1 − a (r − 1)]. This integrand
is never negative. No cancellation occurs, for any distance of P and Q and any order a above one.

For the Poisson-subsampled Gaussian mechanism, r = 1 − q + q e^{sy − s²/2} with s = 1/z and y standard normal, and
D_a = log(E[r^a])/(a − 1). The error of the trapezoid rule with step h is at most
2 e^{w²/2}/(e^{2πw/h} − 1) of E[r^a] for every w < π z. The error of truncation at c on either side is at most 2 Φ(−c)
of it (docs/engine-certificate.md A2, direction "remove").
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.renyi.log_excess import log_excess
from epsilond.accountants.numerics.renyi.nodes import (
    BEYOND,
    LOG_LEFT_OUT,
    group_orders,
    log_error_at_ends,
    node_count,
    node_distance,
    relevant_nodes,
    sampled_log_ratio,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_MOST_NODES = 4_000_000  # largest number of quadrature nodes for one order: an array of them takes 32 MB
_LARGEST_SUM = 1024  # largest integer order with a finite sum: its binomial coefficients are doubles
_LARGE_EXPONENT = 30.0  # exponent from which on a moment is computed by its logarithm
LEAST_LOG_INTEGRAL = -50.0
"""Logarithm x below which log(1 + e^x) counts as e^x; the error is at most 1e-21 of it."""


def divergence_of_atoms(order: float, log_second: FloatArray, log_ratio: FloatArray) -> Interval:
    """Enclose the Rényi divergence D_a(P‖Q) of two distributions on the same finitely many outcomes (atoms).

    With the likelihood ratio r = P/Q, the divergence is:

        log(1 + Σ Q (r^a − 1 − a (r − 1)))/(a − 1),

    a sum of terms that are not negative, so that nothing cancels.

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
    log_terms = log_second + log_excess(order, log_ratio)
    is_positive = np.isfinite(log_terms)
    if not is_positive.any():
        return Interval(0.0, 0.0)
    log_terms, log_q, log_r = log_terms[is_positive], log_second[is_positive], log_ratio[is_positive]

    # The logarithm of each term errs by at most 64 units of roundoff, and by four units of |log Q|, of a |log r| and of
    # itself, which covers the errors of the given numbers. The sum, the logarithm and the quotient add at most 64.
    size_of_log_r = np.where(np.isfinite(log_r), np.abs(log_r), 0.0)
    size = np.abs(log_q) + np.abs(log_terms)
    size += order * size_of_log_r
    rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * size)

    lower = divergence_of_log_excess(_log_sum(log_terms - rounding), order)
    upper = divergence_of_log_excess(_log_sum(log_terms + rounding), order)
    return Interval(lower, math.nextafter(upper, math.inf))


def sampled_gaussian_renyi(*, order: float, rate: float, noise_multiplier: float) -> Interval:
    """Enclose the Rényi divergence of one Poisson-subsampled Gaussian step, with against without the contribution.

    The divergence is D_a((1 − q) N(0, z²) + q N(1, z²) ‖ N(0, z²)), which is at least that of the other direction.

    The bounds differ by less than 1e-12 relative if a² ≤ 10 z² and (a − 1) D_a ≥ 1e-18. For larger orders the
    difference grows by a²/z² units of roundoff. For a smaller (a − 1) D_a it is at most 1e-30/((a − 1) D_a).

    Args:
        order: order a > 1.
        rate: inclusion probability q in (0, 1].
        noise_multiplier: standard deviation z of the noise, in units of the sensitivity.

    Returns:
        The lower and the upper bound on D_a, in nats.

    Raises:
        BeyondBudget: the integral needs more than `_MOST_NODES` nodes, because the order is large and the noise small.
    """
    return shifted_gaussian_renyi(order=order, rate=rate, shift=1.0 / noise_multiplier)


def shifted_gaussian_renyi(*, order: float, rate: float, shift: float) -> Interval:
    """Enclose the Rényi divergence of one Poisson-subsampled Gaussian step, with against without the contribution.

    Args:
        order: order a > 1.
        rate: inclusion probability q in (0, 1].
        shift: sensitivity s over the standard deviation of the noise, exactly this double.

    Returns:
        The lower and the upper bound on D_a, in nats.

    Raises:
        BeyondBudget: the integral needs more than `_MOST_NODES` nodes.
    """
    (bounds,) = shifted_gaussian_renyis(orders=(order,), rate=rate, shift=shift)
    if bounds is None:
        raise BeyondBudget(f"order {order:g} at noise multiplier {1.0 / shift:g} takes too many nodes")
    return bounds


def shifted_gaussian_renyis(*, orders: Sequence[float], rate: float, shift: float) -> list[Interval | None]:
    """Enclose the Rényi divergences of a Poisson-subsampled Gaussian step at several orders.

    Without subsampling, the divergence is a s²/2. With it, the divergence of an integer order up to `_LARGEST_SUM` is a
    finite sum. Those of other orders are integrals over the noise, and similar orders share the nodes.

    Args:
        orders: orders a > 1.
        rate: inclusion probability q in (0, 1].
        shift: sensitivity s over the standard deviation of the noise, exactly this double.

    Returns:
        The bounds at each order, in nats; None if an integral needs more than `_MOST_NODES` nodes.
    """
    bounds: dict[float, Interval] = {}
    orders_to_integrate: list[float] = []
    step, _ = node_distance(1.0 / shift)
    for order in orders:
        is_integer = order % 1.0 == 0.0
        if rate == 1.0:
            exact = 0.5 * order * shift * shift
            bounds[order] = Interval(exact * (1 - 8 * UNIT_ROUNDOFF), exact * (1 + 8 * UNIT_ROUNDOFF))  # outward
        elif is_integer and order <= _LARGEST_SUM:
            bounds[order] = _binomial_sum(int(order), rate, shift)
        elif node_count(order, shift, step) <= _MOST_NODES:
            orders_to_integrate.append(order)
    for group in group_orders(sorted(orders_to_integrate), shift, step):
        bounds.update(zip(group, _integrate(group, rate, shift), strict=True))
    return [bounds.get(order) for order in orders]


def _integrate(orders: Sequence[float], rate: float, shift: float) -> list[Interval]:
    """Enclose the divergences at some orders by the trapezoidal rule.

    All orders use the nodes of the largest order, which leave out even less of the other integrals. The integrand of
    order a is at most a max(1, r^a) with the likelihood ratio r. Nodes at which this is negligible for all orders are
    left out.

    Args:
        orders: increasing orders a > 1.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.

    Returns:
        The bounds on the divergence at each order, in nats.
    """
    step, log_quadrature_error = node_distance(1.0 / shift)
    count = node_count(orders[-1], shift, step)
    column = np.asarray(orders, dtype=np.float64)[:, None]

    # The noise y at the nodes that matter, with the log likelihood ratio; arrays have a row for each order.
    y = step * relevant_nodes(column, rate, shift, step, count) - BEYOND
    log_ratio = sampled_log_ratio(np.asarray(shift * (y - 0.5 * shift)), rate)
    exponents = 0.5 * y * y
    log_powers = column * np.maximum(log_ratio, 0.0) - exponents
    log_largest_powers = np.max(log_powers, axis=1)
    is_used = np.any(log_powers > log_largest_powers[:, None] + LOG_LEFT_OUT, axis=0)
    log_ratio, exponents = log_ratio[is_used], exponents[is_used]

    # Sums of the integrand, in units of its largest value. Numpy adds pairwise, which gives the term log2(count) below.
    log_terms = log_excess(column, log_ratio) - exponents
    log_units = np.max(log_terms, axis=1)
    sums = np.sum(np.exp(log_terms - log_units[:, None]), axis=1)

    # Errors of the rule, of the nodes that are left out, and of rounding.
    log_relative_error = float(np.logaddexp(log_quadrature_error, log_error_at_ends(step)))
    log_left_out = np.log(column[:, 0]) + log_largest_powers + LOG_LEFT_OUT + math.log(count * step)
    exponent_sizes = np.max(exponents + column * np.abs(log_ratio), axis=1)

    log_step, log_normaliser = math.log(step), 0.5 * math.log(2.0 * math.pi)
    bounds = []
    columns = (log_units.tolist(), sums.tolist(), exponent_sizes.tolist(), log_left_out.tolist())
    for order, log_unit, total, size, left_out in zip(orders, *columns, strict=True):
        log_integral = log_unit + math.log(total) + log_step - log_normaliser
        rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * (size + abs(log_integral)) + 4.0 * math.log2(count))
        log_error = _log_error(log_integral, order, log_relative_error, left_out)
        bounds.append(_divergence_around(log_integral, order, rounding=rounding, log_error=log_error))
    return bounds


def _log_error(log_integral: float, order: float, log_relative_error: float, log_left_out: float) -> float:
    """Return the log of a bound on the quadrature error of E[r^a] − 1, with the likelihood ratio r.

    The integrand is r^a − 1 − a (r − 1). The errors of the rule for r^a, 1 and r are at most the same relative error
    times their means E[r^a], 1 and 1. As E[r^a] ≥ 1, the four terms err by at most (2 + 2a) E[r^a] times it.

    Args:
        log_integral: log of the integral E[r^a] − 1.
        order: Rényi order a > 1.
        log_relative_error: log of the error of the rule, relative to the mean.
        log_left_out: log of a bound on the sum of the nodes that are left out.

    Returns:
        The log of the bound on the absolute error.
    """
    log_moment = _log_one_more(log_integral)  # of E[r^a]
    log_error = log_moment + math.log(2.0 + 2.0 * order) + log_relative_error
    return log_error + _log_one_more(log_left_out - log_error)  # the log of the sum of both errors


def _divergence_around(log_integral: float, order: float, *, rounding: float, log_error: float) -> Interval:
    """Return bounds on a Rényi divergence D_a from a computed integral and the bounds on its errors.

    D_a is log(1 + I)/(a − 1) for the integral I = E[r^a] − 1, with the likelihood ratio r.

    Args:
        log_integral: the computed log I.
        order: order a > 1.
        rounding: bound on the rounding error of log I.
        log_error: log of a bound on the quadrature error of I.

    Returns:
        The lower and the upper bound, both at least 0.
    """
    log_upper_integral = log_error + _log_one_more(log_integral + rounding - log_error)
    upper = divergence_of_log_excess(log_upper_integral, order)
    remaining_share = -math.expm1(min(log_error - log_integral, 0.0))  # 1 − error/I
    if not remaining_share > 0.0:
        return Interval(0.0, upper)
    log_lower_integral = log_integral - rounding + math.log(remaining_share)
    return Interval(divergence_of_log_excess(log_lower_integral, order), upper)


def _binomial_sum(order: int, rate: float, shift: float) -> Interval:
    """Enclose the divergence of a subsampled Gaussian step at an integer order by a finite sum of positive terms.

    With the likelihood ratio r, the divergence is log(E[r^a])/(a − 1). By the binomial theorem:

        E[r^a] − 1 = Σ_{k ≥ 2} C(a, k) q^k (1 − q)^{a − k} (e^{x_k} − 1),   x_k = k (k − 1) s²/2.

    Args:
        order: order a, at least 2 and at most `_LARGEST_SUM`.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.

    Returns:
        The lower and the upper bound, in nats.
    """
    k, log_binomials = _binomials(order)
    x = (0.5 * shift * shift) * k * (k - 1.0)
    log_rise = _log_expm1(x)
    log_included, log_excluded = k * math.log(rate), (order - k) * math.log1p(-rate)
    log_terms = log_binomials + log_included + log_excluded + log_rise

    largest = float(np.max(log_terms))
    if largest == -math.inf:
        return Interval(0.0, math.nextafter(0.0, 1.0))
    log_sum = largest + math.log(float(np.sum(np.exp(log_terms - largest))))

    # The logarithm of a term errs by at most 16 units of roundoff u, and by four units of each of its summands. That of
    # e^x − 1 errs by two units more, since an error of three units of x changes it by at most 3 (1 + x) u.
    sizes = log_binomials - log_included - log_excluded + np.abs(log_rise) + x
    size = float(np.max(sizes[np.isfinite(log_terms)]))
    rounding = UNIT_ROUNDOFF * (64.0 + 4.0 * (size + abs(log_sum)) + 4.0 * math.log2(order))
    lower = divergence_of_log_excess(log_sum - rounding, order)
    return Interval(lower, divergence_of_log_excess(log_sum + rounding, order))


def _log_expm1(x: FloatArray) -> FloatArray:
    """Return log(e^x − 1) for x ≥ 0, elementwise and without overflow; −∞ at 0."""
    with np.errstate(divide="ignore"):
        for_small = np.log(np.expm1(np.minimum(x, _LARGE_EXPONENT)))
    for_large = x + np.log1p(-np.exp(-np.maximum(x, 1.0)))
    return np.where(x < _LARGE_EXPONENT, for_small, for_large)


@functools.lru_cache(maxsize=256)
def _binomials(order: int) -> tuple[FloatArray, FloatArray]:
    """Return k = 2, …, a and the logarithms of the binomial coefficients C(a, k), from exact integers.

    Args:
        order: a, at least 2; small enough that the coefficients are doubles.
    """
    binomials = [float(math.comb(order, k)) for k in range(2, order + 1)]
    return np.arange(2.0, order + 1.0), np.log(np.asarray(binomials))


def _log_one_more(exponent: float) -> float:
    """Return log(1 + e^x) for the exponent x, without overflow."""
    return max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))


def pure_renyi(*, order: float, epsilon: float) -> float:
    """Return an upper bound on the Rényi divergence of any mechanism with pure privacy loss ε.

    Randomized response attains the largest divergence. At order a it is:

        log(p^a r^(1−a) + r^a p^(1−a))/(a − 1),   p = 1/(1 + e^−ε),   r = 1 − p.

    Args:
        order: Rényi order a, above 1.
        epsilon: pure privacy loss, in nats.

    Returns:
        The upper bound in nats, rounded up; at most ε up to this rounding.
    """
    log_p = -math.log1p(math.exp(-epsilon))
    log_r = -epsilon - math.log1p(math.exp(-epsilon))

    # The larger term is taken out of the sum, so that nothing overflows.
    first_log_term = order * log_p + (1.0 - order) * log_r
    second_log_term = order * log_r + (1.0 - order) * log_p
    larger, smaller = max(first_log_term, second_log_term), min(first_log_term, second_log_term)
    log_moment = larger + math.log1p(math.exp(smaller - larger))

    rounding = 64.0 * UNIT_ROUNDOFF * (1.0 + order * (abs(log_p) + abs(log_r)))  # of both terms and their sum
    divergence = (max(log_moment, 0.0) + rounding) / (order - 1.0)
    return min(divergence, epsilon * (1.0 + 16 * UNIT_ROUNDOFF))  # rounded up


def laplace_renyi(*, order: float, shift: float) -> Interval:
    """Enclose the Rényi divergence of Laplace noise of scale 1 around two locations; it is equal in both directions.

    At order a it is log(E[r^a])/(a − 1). For the likelihood ratio r and the distance s of the locations:

        E[r^a] = (a e^{(a−1)s} + (a − 1) e^{−as})/(2a − 1)

    (Mironov 2017, Proposition 6).

    Args:
        order: order a > 1.
        shift: distance s of the locations over the scale, at least 0.

    Returns:
        The lower and the upper bound, in nats.
    """
    a = order
    growth_exponent, decay_exponent = (a - 1.0) * shift, a * shift
    growth_weight, decay_weight = a / (2.0 * a - 1.0), (a - 1.0) / (2.0 * a - 1.0)
    if growth_exponent > _LARGE_EXPONENT:
        decaying_share = (a - 1.0) / a * math.exp(-growth_exponent - decay_exponent)
        log_moment = math.log(growth_weight) + growth_exponent + math.log1p(decaying_share)
        error = 16 * UNIT_ROUNDOFF * (1.0 + growth_exponent)  # more than the roundings of the three summands
        return Interval((log_moment - error) / (a - 1.0), (log_moment + error) / (a - 1.0))

    # E[r^a] − 1, as the increase of the first term from s = 0 minus the decrease of the second one.
    gain = growth_weight * math.expm1(growth_exponent)
    loss = decay_weight * -math.expm1(-decay_exponent)
    error = 16 * UNIT_ROUNDOFF * (gain + loss)  # of both terms and of their difference
    least_excess, largest_excess = max(gain - loss - error, 0.0), max(gain - loss + error, 0.0)
    lower = math.log1p(least_excess) / (a - 1.0) * (1.0 - 8 * UNIT_ROUNDOFF)  # rounded down
    upper = math.log1p(largest_excess) / (a - 1.0) * (1.0 + 8 * UNIT_ROUNDOFF)  # rounded up

    # The divergence is at most a s²/2, and at most the largest loss s.
    simple_bound = min(0.5 * a * shift * shift, shift)
    upper = min(upper, simple_bound * (1.0 + 16 * UNIT_ROUNDOFF))
    return Interval(min(lower, upper), upper)


def divergence_of_log_excess(log_integral: float, order: float) -> float:
    """Return the Rényi divergence log(1 + x)/(a − 1) from log x, where x may be too small for a double.

    Args:
        log_integral: log x, for x = E[r^a] − 1 with the likelihood ratio r.
        order: order a > 1.
    """
    if log_integral < LEAST_LOG_INTEGRAL:
        return math.exp(log_integral - math.log(order - 1.0))
    return _log_one_more(log_integral) / (order - 1.0)


def _log_sum(logs: FloatArray) -> float:
    """Return log Σ e^x over the elements x of an array, of which there is at least one and the largest may be infinite.

    The sum itself is exact, so that only the roundings of its terms remain.
    """
    largest = float(np.max(logs))
    if math.isinf(largest):
        return largest
    return largest + math.log(math.fsum(np.exp(logs - largest)))
