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
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_excess, log_normal_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_MOST_NODES = 4_000_000
_MOST_TERMS, _FEW_NODES = 100_000, 100
"""Largest number of terms of several orders that share nodes, and number of nodes that cost less than a call."""
_BLOCK = 16
"""Number of nodes that are left out together."""
_LOG_LEFT_OUT = -80.0
"""Logarithm of a term below which it is left out, relative to the largest one of r^a."""
_LARGEST_SUM = 1024
"""Largest integer order with a finite sum: its binomial coefficients are doubles."""
_BEYOND = 13.0
_LOG_QUADRATURE = -75.0
_LARGE_EXPONENT = 30.0
"""Exponent from which on a moment is computed by its logarithm."""
LEAST_LOG_INTEGRAL = -50.0
"""Logarithm x below which log(1 + e^x) counts as e^x; the error is at most 1e-21 of it."""


def divergence_of_atoms(order: float, log_second: FloatArray, log_ratio: FloatArray) -> Interval:
    """Enclose the Rényi divergence D_a(P‖Q) of two distributions on the same finitely many atoms.

    With r = P/Q it is log(1 + Σ Q (r^a − 1 − a (r − 1)))/(a − 1), a sum of terms that are not negative. The logarithm
    of each term errs by at most 64 units of roundoff, and by four units of |log Q|, of a |log r| and of itself. The
    second part covers the errors of the given numbers. The sum, the logarithm and the quotient add less than 64 units.

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
    finite_log_r = np.where(np.isfinite(log_r), np.abs(log_r), 0.0)
    size = np.abs(log_q) + np.abs(log_terms)
    size += order * finite_log_r
    rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * size)
    lower = divergence_of_log_excess(_log_sum(log_terms - rounding), order)
    upper = divergence_of_log_excess(_log_sum(log_terms + rounding), order)
    return Interval(lower, math.nextafter(upper, math.inf))


def sampled_gaussian_renyi(*, order: float, rate: float, noise_multiplier: float) -> Interval:
    """Enclose the Rényi divergence of one Poisson-subsampled Gaussian step, with against without the contribution.

    It is D_a((1 − q) N(0, z²) + q N(1, z²) ‖ N(0, z²)), which is at least that of the other direction.

    Accuracy: the bounds differ by less than 1e-12 relative if a² ≤ 10 z² and (a − 1) D_a ≥ 1e-18. For larger orders the
    difference grows by a²/z² units of roundoff. For a smaller (a − 1) D_a it is at most 1e-30/((a − 1) D_a).

    Args:
        order: order a > 1.
        rate: inclusion probability q in (0, 1].
        noise_multiplier: standard deviation z of the noise, in units of the sensitivity.

    Raises:
        BeyondBudget: the order is so large against the noise that it would take more than four million nodes.
    """
    return shifted_gaussian_renyi(order=order, rate=rate, shift=1.0 / noise_multiplier)


def shifted_gaussian_renyi(*, order: float, rate: float, shift: float) -> Interval:
    """Enclose the Rényi divergence of one Poisson-subsampled Gaussian step, with against without the contribution.

    Args:
        order: order a > 1.
        rate: inclusion probability q in (0, 1].
        shift: sensitivity s over the standard deviation of the noise, exactly this double.

    Raises:
        BeyondBudget: it would take more than four million nodes.
    """
    (bounds,) = shifted_gaussian_renyis(orders=(order,), rate=rate, shift=shift)
    if bounds is None:
        raise BeyondBudget(f"order {order:g} at noise multiplier {1.0 / shift:g} takes too many nodes")
    return bounds


def shifted_gaussian_renyis(*, orders: Sequence[float], rate: float, shift: float) -> list[Interval | None]:
    """Enclose the Rényi divergences of a Poisson-subsampled Gaussian step at several orders, which share nodes.

    An integer order up to `_LARGEST_SUM` is a finite sum instead.

    Args:
        orders: orders a > 1.
        rate: inclusion probability q in (0, 1].
        shift: sensitivity s over the standard deviation of the noise, exactly this double.

    Returns:
        The bounds at each order; None if they would take more than four million nodes.
    """
    bounds: dict[float, Interval] = {}
    integrals: list[float] = []
    step, _ = _step(1.0 / shift)
    for order in orders:
        if rate == 1.0:
            exact = 0.5 * order * shift * shift
            bounds[order] = Interval(exact * (1 - 8 * UNIT_ROUNDOFF), exact * (1 + 8 * UNIT_ROUNDOFF))
        elif order <= _LARGEST_SUM and order % 1.0 == 0.0:
            bounds[order] = _binomial_sum(int(order), rate, shift)
        elif _node_count(order, shift, step) <= _MOST_NODES:
            integrals.append(order)
    for group in _group_orders(sorted(integrals), shift, step):
        bounds.update(zip(group, _integrate(group, rate, shift), strict=True))
    return [bounds.get(order) for order in orders]


def _group_orders(orders: Sequence[float], shift: float, step: float) -> list[list[float]]:
    """Divide increasing orders into groups that share the nodes of one quadrature (`_share_nodes`)."""
    groups: list[list[float]] = []
    for order in orders:
        if groups and _share_nodes(order, groups[-1], shift, step):
            groups[-1].append(order)
        else:
            groups.append([order])
    return groups


def _node_count(order: float, shift: float, step: float) -> int:
    """Return the number of nodes of the quadrature for an order, at a sensitivity `shift` and a distance `step`."""
    return math.ceil((order * shift + 2.0 * _BEYOND) / step) + 1


def _share_nodes(order: float, group: Sequence[float], shift: float, step: float) -> bool:
    """Return whether the divergence of an order is integrated together with those of a group of smaller orders.

    It is if it needs few more quadrature nodes than the smallest one, and if all terms together fit into the memory.

    Args:
        order: the order.
        group: the smaller orders, increasing; at least one.
        shift: sensitivity in standard deviations.
        step: distance of the nodes.
    """
    count, least_count = _node_count(order, shift, step), _node_count(group[0], shift, step)
    is_near = count <= least_count + _BEYOND / step or count <= least_count + _FEW_NODES
    return is_near and count * (len(group) + 1) <= _MOST_TERMS


def _integrate(orders: Sequence[float], rate: float, shift: float) -> list[Interval]:
    """Enclose the divergences at some orders by the trapezoidal rule, with the nodes of the largest order for all.

    More nodes leave out less of the integral. The integrand is at most a max(1, r^a). Nodes are left out at which this
    is negligible for all orders.

    Args:
        orders: increasing orders a > 1.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.
    """
    step, log_quadrature_error = _step(1.0 / shift)
    count = _node_count(orders[-1], shift, step)
    column = np.asarray(orders, dtype=np.float64)[:, None]
    y = step * _places(column, rate, shift, step, count) - _BEYOND
    log_ratio = _log_ratio(np.asarray(shift * (y - 0.5 * shift)), rate)
    exponents = 0.5 * y * y
    log_powers = column * np.maximum(log_ratio, 0.0) - exponents
    log_tops = np.max(log_powers, axis=1)
    is_used = np.any(log_powers > log_tops[:, None] + _LOG_LEFT_OUT, axis=0)
    log_ratio, exponents = log_ratio[is_used], exponents[is_used]
    log_terms = log_excess(column, log_ratio) - exponents
    largest = np.max(log_terms, axis=1)
    sums = np.sum(np.exp(log_terms - largest[:, None]), axis=1)  # pairwise, of positive terms
    sizes = np.max(exponents + column * np.abs(log_ratio), axis=1)
    log_relative_error = float(np.logaddexp(log_quadrature_error, _log_ends(step)))
    log_left_out = np.log(column[:, 0]) + log_tops + _LOG_LEFT_OUT + math.log(count * step)
    log_step, log_normaliser = math.log(step), 0.5 * math.log(2.0 * math.pi)
    bounds = []
    columns = (largest.tolist(), sums.tolist(), sizes.tolist(), log_left_out.tolist())
    for order, log_largest, total, size, left_out in zip(orders, *columns, strict=True):
        log_integral = log_largest + math.log(total) + log_step - log_normaliser
        rounding = UNIT_ROUNDOFF * (128.0 + 4.0 * (size + abs(log_integral)) + 4.0 * math.log2(count))
        log_error = _log_error(log_integral, order, log_relative_error, left_out)
        bounds.append(_divergence_around(log_integral, order, rounding=rounding, log_error=log_error))
    return bounds


def _log_error(log_integral: float, order: float, log_relative_error: float, log_left_out: float) -> float:
    """Return the log of a bound on the quadrature error of E[r^a] − 1, with the likelihood ratio r.

    E[r^a] is 1 plus the integral. As it is at least 1, the factor 2 + 2a covers the errors of 1 + a (r − 1) too.

    Args:
        log_integral: log of the integral.
        order: order a.
        log_relative_error: log of the error of the rule, relative to E[r^a].
        log_left_out: log of a bound on the nodes that are left out.
    """
    log_error = _log_one_more(log_integral) + math.log(2.0 + 2.0 * order) + log_relative_error
    return log_error + _log_one_more(log_left_out - log_error)


def _divergence_around(log_integral: float, order: float, *, rounding: float, log_error: float) -> Interval:
    """Return bounds on D_a from a computed log(E[r^a] − 1), its rounding error, and the log of a quadrature error."""
    upper = log_error + _log_one_more(log_integral + rounding - log_error)
    share_left = -math.expm1(min(log_error - log_integral, 0.0))
    lower = log_integral - rounding + math.log(share_left) if share_left > 0.0 else -math.inf
    return Interval(divergence_of_log_excess(lower, order), divergence_of_log_excess(upper, order))


def _places(column: FloatArray, rate: float, shift: float, step: float, count: int) -> FloatArray:
    """Return the indices of quadrature nodes, in blocks, where the integrand r^a e^{−y²/2} may matter at some order a.

    The ratio r rises with the noise y. So the integrand on a block is at most r^a of its last node, or 1, times
    e^{−y²/2} at its node nearest to 0. A block is left out where this is negligible next to the first node of a block.

    Args:
        column: orders a > 1, in a column.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.
        step: distance of the nodes.
        count: number of nodes, of which the first one is at −`_BEYOND`.
    """
    places = np.arange(float(count))
    if count <= _BLOCK * _BLOCK:
        return places
    first = np.arange(0, count, _BLOCK)
    y = step * np.append(first, first[-1] + _BLOCK) - _BEYOND
    log_ratio = np.maximum(_log_ratio(np.asarray(shift * (y - 0.5 * shift)), rate), 0.0)
    nearest = np.maximum(np.maximum(y[:-1], -y[1:]), 0.0)
    least = np.max(column * log_ratio[:-1] - 0.5 * y[:-1] ** 2, axis=1)
    most = column * log_ratio[1:] * (1.0 + 1e-12) - 0.5 * nearest**2
    is_used = np.any(most > least[:, None] + _LOG_LEFT_OUT, axis=0)
    return np.asarray(places[np.repeat(is_used, _BLOCK)[:count]])


def _binomial_sum(order: int, rate: float, shift: float) -> Interval:
    """Enclose the divergence at an integer order by E[r^a] − 1 = Σ_{k ≥ 2} C(a, k) q^k (1 − q)^{a − k} (e^{x_k} − 1).

    Here x_k = k (k − 1) s²/2. It follows from the binomial theorem and E[e^{k (s y − s²/2)}] = e^{x_k}. All terms are
    positive. A logarithm of a term errs by at most 16 units of roundoff, and by four units of each of its summands. The
    logarithm of e^x − 1 errs by two units more, since an error of three units of x changes it by at most 3 (1 + x) u.

    Args:
        order: order a, at least 2 and at most `_LARGEST_SUM`.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.
    """
    k, log_binomials = _binomials(order)
    x = (0.5 * shift * shift) * k * (k - 1.0)
    log_rise = _log_expm1(x)
    log_in, log_out = k * math.log(rate), (order - k) * math.log1p(-rate)
    log_terms = log_binomials + log_in + log_out + log_rise
    largest = float(np.max(log_terms))
    if largest == -math.inf:
        return Interval(0.0, math.nextafter(0.0, 1.0))
    log_sum = largest + math.log(float(np.sum(np.exp(log_terms - largest))))
    sizes = log_binomials - log_in - log_out + np.abs(log_rise) + x
    size = float(np.max(sizes[np.isfinite(log_terms)]))
    rounding = UNIT_ROUNDOFF * (64.0 + 4.0 * (size + abs(log_sum)) + 4.0 * math.log2(order))
    lower = divergence_of_log_excess(log_sum - rounding, order)
    return Interval(lower, divergence_of_log_excess(log_sum + rounding, order))


def _log_expm1(x: FloatArray) -> FloatArray:
    """Return log(e^x − 1) for x ≥ 0, elementwise; −∞ at 0."""
    with np.errstate(divide="ignore"):
        for_small = np.log(np.expm1(np.minimum(x, _LARGE_EXPONENT)))
    for_large = x + np.log1p(-np.exp(-np.maximum(x, 1.0)))
    return np.where(x < _LARGE_EXPONENT, for_small, for_large)


@functools.lru_cache(maxsize=256)
def _binomials(order: int) -> tuple[FloatArray, FloatArray]:
    """Return k = 2, …, a for a = `order`, and log C(a, k), from exact integers."""
    binomials = [float(math.comb(order, k)) for k in range(2, order + 1)]
    return np.arange(2.0, order + 1.0), np.log(np.asarray(binomials))


def _log_one_more(exponent: float) -> float:
    """Return log(1 + e^x)."""
    return max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))


def pure_renyi(*, order: float, epsilon: float) -> float:
    """Return an upper bound on the Rényi divergence of any mechanism with pure privacy loss ε.

    Randomized response attains the largest divergence. At order a it is log(p^a r^(1−a) + r^a p^(1−a))/(a − 1), with
    p = 1/(1 + e^−ε) and r = 1 − p.

    Args:
        order: Rényi order a, above 1.
        epsilon: pure privacy loss, in nats.
    """
    log_p = -math.log1p(math.exp(-epsilon))
    log_r = -epsilon - math.log1p(math.exp(-epsilon))
    first = order * log_p + (1.0 - order) * log_r
    second = order * log_r + (1.0 - order) * log_p
    larger = max(first, second)
    log_moment = larger + math.log1p(math.exp(min(first, second) - larger))
    rounding = 64.0 * UNIT_ROUNDOFF * (1.0 + order * (abs(log_p) + abs(log_r)))
    divergence = (max(log_moment, 0.0) + rounding) / (order - 1.0)
    return min(divergence, epsilon * (1.0 + 16 * UNIT_ROUNDOFF))  # a Rényi divergence is at most ε


def laplace_renyi(*, order: float, shift: float) -> Interval:
    """Enclose the Rényi divergence of Laplace noise of scale 1 around two locations; it is equal in both directions.

    With s the distance, E[r^a] = (a e^{(a−1)s} + (a − 1) e^{−as})/(2a − 1) (Mironov 2017, Proposition 6). Below
    `_LARGE_EXPONENT` the excess over 1 is a difference of two positive terms. Their rounding is added outward.

    Args:
        order: order a > 1.
        shift: distance s of the locations over the scale, at least 0.
    """
    a = order
    exponent, other_exponent = (a - 1.0) * shift, a * shift
    weight, other_weight = a / (2.0 * a - 1.0), (a - 1.0) / (2.0 * a - 1.0)
    if exponent > _LARGE_EXPONENT:
        log_moment = math.log(weight) + exponent + math.log1p((a - 1.0) / a * math.exp(-exponent - other_exponent))
        error = 16 * UNIT_ROUNDOFF * (1.0 + exponent)
        return Interval((log_moment - error) / (a - 1.0), (log_moment + error) / (a - 1.0))
    gain, loss = weight * math.expm1(exponent), other_weight * -math.expm1(-other_exponent)
    error = 16 * UNIT_ROUNDOFF * (gain + loss)
    least_excess, largest_excess = max(gain - loss - error, 0.0), max(gain - loss + error, 0.0)
    lower = math.log1p(least_excess) / (a - 1.0) * (1.0 - 8 * UNIT_ROUNDOFF)
    upper = math.log1p(largest_excess) / (a - 1.0) * (1.0 + 8 * UNIT_ROUNDOFF)
    # The divergence is at most a s²/2, and at most the largest loss s.
    upper = min(upper, min(0.5 * a * shift * shift, shift) * (1.0 + 16 * UNIT_ROUNDOFF))
    return Interval(min(lower, upper), upper)


def divergence_of_log_excess(log_integral: float, order: float) -> float:
    """Return the Rényi divergence log(1 + x)/(a − 1) from log x; the quotient of a small x is taken in logarithms.

    Args:
        log_integral: log x, for x = E[r^a] − 1 with the likelihood ratio r.
        order: order a > 1.
    """
    if log_integral < LEAST_LOG_INTEGRAL:
        return math.exp(log_integral - math.log(order - 1.0))
    return _log_one_more(log_integral) / (order - 1.0)


def _log_sum(logs: FloatArray) -> float:
    """Return log Σ e^logs; the sum is exact up to the roundings of its terms."""
    largest = float(np.max(logs))
    return largest if math.isinf(largest) else largest + math.log(math.fsum(np.exp(logs - largest)))


def _step(noise_multiplier: float) -> tuple[float, float]:
    """Return the distance h of quadrature nodes for a Rényi divergence, and the log of the bound on the relative error.

    The bound is 2 e^{w²/2}/(e^{2πw/h} − 1) with w < πz, and is below e^−75.

    Args:
        noise_multiplier: standard deviation z of the noise, in units of the sensitivity.
    """
    height = min(3.0 * noise_multiplier, 12.0)
    step = 2.0 * math.pi * height / (0.5 * height * height - _LOG_QUADRATURE + 2.0)
    exponent = 2.0 * math.pi * height / step
    return step, math.log(2.0) + 0.5 * height * height - exponent + 1e-9


def _log_ends(step: float) -> float:
    """Return log of the bound 2 Φ(−c) on the part of the integral beyond the nodes, for c one step inside the last."""
    return math.log(2.0) + float(log_normal_tail(_BEYOND - step))


def _log_ratio(exponent: FloatArray, rate: float) -> FloatArray:
    """Return log(1 − q + q e^t) for each t = `exponent` and q = `rate`."""
    near = np.log1p(rate * np.expm1(np.minimum(exponent, 30.0)))
    far = exponent + np.log(rate + (1.0 - rate) * np.exp(-np.maximum(exponent, 30.0)))
    return np.asarray(np.where(exponent < 30.0, near, far))
