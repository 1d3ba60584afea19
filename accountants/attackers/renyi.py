"""Rényi divergences of a privacy curve at given orders, with bounds on both sides.

Divergences of independent parts add up. Each part gives bounds for both directions; the larger direction is answered.
A part without a formula is bounded above by a Gaussian pair, a pure guarantee or a zero-concentrated guarantee that
dominates it. Known bounds on its divergences at this or a larger order count, too. At every ε, δ = E_γ is at most
e^{(a − 1)(D_a − ε)} (1 − 1/a)^{a − 1}/a. A lower bound on δ therefore gives a lower bound on D_a (Canonne, Kamath and
Steinke 2020, Proposition 12).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from epsilond.accountants.attackers.renyi_integral import (
    FarLosses,
    far_losses_by_orders,
    far_losses_of_bounded,
    far_losses_of_gaussian,
    integrated_renyi,
)
from epsilond.accountants.attackers.smallest_gaussian import simple_gaussian_above
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.numerics.renyi_divergence import (
    divergence_of_atoms,
    laplace_renyi,
    pure_renyi,
    shifted_gaussian_renyis,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.concentration import (
    ROUNDED,
    concentration_of_part,
    formulas_of,
    largest_loss,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.pair import Pair

BothWays: TypeAlias = tuple[Interval, Interval]
"""Bounds on D_a(P‖Q) and on D_a(Q‖P)."""
_LEAST = 1e-290
"""Divergence below which squares may underflow; bounds are then widened by it."""
_EPSILONS = (0.0, *(2.0**power for power in range(-6, 13, 2)))
"""ε at which δ bounds a divergence from below, in nats."""


def renyi_divergence(curve: Curve, order: float) -> Interval:
    """Return bounds on the largest Rényi divergence of neighbours at an order, in the worse direction.

    Args:
        curve: the privacy curve of the mechanism.
        order: order a > 1.

    Returns:
        The bounds in nats. `upper` is math.inf if no bound is known or if the divergence is infinite.

    Raises:
        ContradictoryBounds: the bounds exclude each other, which is a fault of this library.
    """
    return renyi_divergences(curve, (order,))[0]


def renyi_divergences(curve: Curve, orders: Sequence[float]) -> list[Interval]:
    """Return the bounds of `renyi_divergence` at several orders, which share the work for a subsampled Gaussian.

    Args:
        curve: the privacy curve of the mechanism.
        orders: orders a > 1.
    """
    dominating = curve.upper.alternatives or (curve.upper,)
    pairs = {id(pair): pair for pair in (*dominating, *curve.witnesses)}
    bounds = {name: _of_pair(pair, orders) for name, pair in pairs.items()}
    if len(pairs) == 1 and curve.single_witnesses:
        (bounds_of_pair,) = bounds.values()
        return _combine_if_wide(curve, orders, bounds_of_pair)
    uppers = [bounds[id(pair)] for pair in dominating]
    lowers = [bounds[id(witness)] for witness in curve.single_witnesses]
    divergences = []
    for index, order in enumerate(orders):
        upper = min(bounds_of_pair[index].upper for bounds_of_pair in uppers)
        lower = max((bounds_of_pair[index].lower for bounds_of_pair in lowers), default=0.0)
        divergences.append(_combine(curve, order, lower, upper))
    return divergences


def _combine_if_wide(curve: Curve, orders: Sequence[float], bounds: Sequence[Interval]) -> list[Interval]:
    """Return bounds at each order, of which the wide ones are combined with those from δ."""
    combined = []
    for order, bound in zip(orders, bounds, strict=True):
        is_final = _is_close(bound)
        combined.append(bound if is_final else _combine(curve, order, bound.lower, bound.upper))
    return combined


def _is_close(bounds: Interval) -> bool:
    """Return whether bounds are positive, and so close that δ gives no better ones."""
    return bounds.upper >= _LEAST and bounds.upper * (1.0 - 1e-6) <= bounds.lower <= bounds.upper


def _combine(curve: Curve, order: float, lower: float, upper: float) -> Interval:
    """Return bounds on a mechanism's Rényi divergence from those of its pairs.

    If they are not close, a lower bound from δ is used too.

    Args:
        curve: the privacy curve of the mechanism.
        order: order a > 1.
        lower: largest lower bound of the pairs that neighbours attain.
        upper: least upper bound of the dominating pairs.
    """
    if upper < _LEAST:
        return Interval(0.0, upper + _LEAST)
    if lower < upper * (1.0 - 1e-6):
        lower = max(lower, _lower_from_delta(curve, order))
    return Interval.of(lower=lower, upper=upper, name=f"the Rényi divergence of order {order:g}")


def concentration(pair: Pair) -> float:
    """Return a ρ for which a pair is ρ-zero-concentrated: its Rényi divergences are at most ρ a at every order a > 1.

    It is a sum over the parts of the pair, the least one of several pairs, and math.inf if none is known.

    Args:
        pair: a pair that dominates a mechanism, or the least of several such pairs.
    """
    rho = min(
        math.fsum(times * _concentration_of_part(part) for part, times in unfold(((alternative, 1),))) * ROUNDED
        for alternative in pair.alternatives or (pair,)
    )
    return rho if rho >= _LEAST else rho + _LEAST


def _concentration_of_part(part: Pair) -> float:
    """Return a ρ for which a pair that is not a product is ρ-zero-concentrated; math.inf if none is known."""
    return min(0.5 * simple_gaussian_above(part) ** 2, concentration_of_part(part))


def _of_pair(pair: Pair, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergences of a pair in the worse direction: sums over its parts, rounded outward.

    Args:
        pair: the pair.
        orders: orders a > 1; the result has one interval for each.
    """
    unfolded = list(unfold(((pair, 1),)))
    if len(unfolded) == 1:
        part, times = unfolded[0]
        if part.gaussian_dp_mu is not None:
            return _of_gaussian_steps(part.gaussian_dp_mu, times, orders)
    parts = [(times, _of_part(part, orders)) for part, times in unfolded]
    bounds = []
    for index in range(len(orders)):
        lower = max(math.fsum(times * both[index][side].lower for times, both in parts) for side in (0, 1))
        upper = max(math.fsum(times * both[index][side].upper for times, both in parts) for side in (0, 1))
        bounds.append(Interval(lower / ROUNDED, upper * ROUNDED))
    return bounds


def _of_gaussian_steps(mu: float, times: int, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergence T a μ²/2 of T Gaussian steps at each order a, rounded outward.

    Args:
        mu: μ, the distance of the means in standard deviations.
        times: number T of steps.
        orders: orders a > 1.
    """
    exact = times * (0.5 * np.asarray(orders, dtype=np.float64) * mu**2)
    lowers, uppers = exact / ROUNDED / ROUNDED, exact * ROUNDED * ROUNDED
    return list(map(Interval, lowers.tolist(), uppers.tolist()))


def _of_part(part: Pair, orders: Sequence[float]) -> list[BothWays]:
    """Return bounds on the Rényi divergences at given orders of a pair that is not a product, for both directions.

    Orders of a subsampled Gaussian step share the nodes of one quadrature. Other pairs are bounded order by order.

    Args:
        part: the pair, two distributions of outputs for neighbouring datasets.
        orders: orders a > 1.

    Returns:
        One result for each order: the bounds on D_a(P‖Q) and on D_a(Q‖P).
    """
    law = part.law
    is_known_otherwise = part.gaussian_dp_mu is not None or part.atoms is not None
    if is_known_otherwise or not isinstance(law, SampledGaussianLaw):
        return [_of_part_at(part, order) for order in orders]
    if law.direction == "replace" or law.is_silent:
        return [_of_part_at(part, order) for order in orders]
    return [_in_both_ways(law, removed) for removed in _of_sampled_gaussian(law, orders)]


def _in_both_ways(law: SampledGaussianLaw, removed: Interval) -> BothWays:
    """Return bounds for both directions from those of removing a contribution, which are at least the other ones."""
    both = removed, Interval(0.0, removed.upper)
    return both if law.direction == "remove" else (both[1], both[0])


def _of_part_at(part: Pair, order: float) -> BothWays:
    """Return bounds on the Rényi divergence of a pair in both directions.

    Args:
        part: a pair that is neither a product nor a subsampled Gaussian.
        order: order a > 1.

    Returns:
        The bounds for (P, Q), and for (Q, P).
    """
    if part.gaussian_dp_mu is not None:
        exact = 0.5 * order * part.gaussian_dp_mu**2
        return _same(Interval(exact / ROUNDED, exact * ROUNDED))
    if part.atoms is not None:
        return _of_atoms(part.atoms, order), _of_atoms(part.atoms.reverse(), order)
    if part.laplace_shift is not None:
        return _same(laplace_renyi(order=order, shift=part.laplace_shift))
    upper = _bound_by_dominating_pairs(part, order)
    far = far_losses_of_bounded(largest_loss(part), upper, _far_losses(part, order))
    both = _same(Interval(0.0, upper)) if far is None else _integrate(part, far._replace(most=upper), order)
    if part.formula is None:
        return both
    lower = part.formula.divergence(order).lower
    # The profile of an attained pair may list less than the formula knows.
    forward = Interval(max(both[0].lower, lower), max(both[0].upper, lower))
    return _same(forward) if part.symmetric else (forward, both[1])


def _far_losses(part: Pair, order: float) -> FarLosses | None:
    """Return bounds on the losses of a pair beyond the ε at which the integral for its Rényi divergence ends.

    They come from a Gaussian pair that dominates, or from divergences at larger orders.

    Args:
        part: a pair that is not a product.
        order: order a > 1.

    Returns:
        The bounds; None if none are known.
    """
    law, below = part.law, part.below
    if law is not None and not law.is_silent and getattr(law, "log_rest", -math.inf) == -math.inf:
        return far_losses_of_gaussian(law.distance, order)
    if below is None:
        return None
    if below.gaussian_dp_mu is not None and below.gaussian_dp_mu > 0.0:
        return far_losses_of_gaussian(below.gaussian_dp_mu * ROUNDED, order)
    return far_losses_by_orders(lambda larger: _bound_of_pair(below, larger), order)


def _integrate(part: Pair, far: FarLosses, order: float) -> BothWays:
    """Return bounds on the Rényi divergence of a pair in both directions, by the integral of its profiles.

    Args:
        part: the pair.
        far: bounds on its losses beyond the end of the integral.
        order: order a > 1.
    """
    forward = integrated_renyi(part.forward, part.backward, far=far, order=order)
    if part.symmetric:
        return _same(forward)
    return forward, integrated_renyi(part.backward, part.forward, far=far, order=order)


def _bound_of_pair(pair: Pair, order: float) -> float:
    """Return an upper bound on the Rényi divergences of both directions of a pair, without integrals.

    The result is math.inf if nothing is known.

    Args:
        pair: the pair, or the least of several pairs.
        order: order a > 1.
    """
    alternatives = pair.alternatives or (pair,)
    totals = [
        math.fsum(times * _bound_by_dominating_pairs(part, order) for part, times in unfold(((alternative, 1),)))
        for alternative in alternatives
    ]
    return min(totals) * ROUNDED


def _same(bounds: Interval) -> BothWays:
    """Return bounds that hold for both directions."""
    return bounds, bounds


def _of_atoms(law: FiniteLaw, order: float) -> Interval:
    """Return bounds on the Rényi divergence of order a for distributions with finitely many outcomes.

    It is ∞ if an outcome is impossible under the second distribution. The errors of the given losses and masses change
    each term by a factor of at most e^η, and so the divergence by at most e^η.

    Args:
        law: the outcomes, with their losses and masses.
        order: order a > 1.
    """
    if law.log_infinite > -math.inf:
        return Interval(math.inf, math.inf)
    log_second = np.asarray([*law.log_second, law.log_missing])
    log_ratio = np.asarray([*law.losses, -math.inf])
    is_possible = log_second > -math.inf
    bounds = divergence_of_atoms(order, log_second[is_possible], log_ratio[is_possible])
    largest_loss_of_law = max(map(abs, law.losses), default=0.0)
    largest_log = max((abs(value) for value in log_second[is_possible].tolist()), default=0.0)
    eta = math.expm1(min(law.accuracy * (4.0 + 2.0 * order * largest_loss_of_law + largest_log), 1.0))
    return Interval(bounds.lower / (1.0 + eta), bounds.upper * (1.0 + eta))


def _of_sampled_gaussian(law: SampledGaussianLaw, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergences of a Poisson-subsampled Gaussian, with against without the contribution.

    No bound exceeds a d²/2 at the order a, the divergence of the Gaussian without sampling at the distance d.

    Args:
        law: the subsampled Gaussian.
        orders: orders a > 1.
    """
    bounds = shifted_gaussian_renyis(orders=orders, rate=law.rate, shift=law.shift)
    divergences = []
    for order, bound in zip(orders, bounds, strict=True):
        unsampled = 0.5 * order * law.distance**2 * ROUNDED
        lower, upper = bound or (0.0, unsampled)
        divergences.append(Interval(min(lower, unsampled), min(upper, unsampled)))
    return divergences


def _bound_by_dominating_pairs(part: Pair, order: float) -> float:
    """Return an upper bound on the Rényi divergences of both directions of a pair from known facts.

    It is the least of all bounds that apply; math.inf if nothing is known.

    Args:
        part: a pair that is not a product.
        order: order a > 1.
    """
    bounds = [math.inf]
    law = part.law
    if part.gaussian_dp_mu is not None:
        bounds.append(0.5 * order * part.gaussian_dp_mu**2 * ROUNDED)
    if law is not None and getattr(law, "log_rest", -math.inf) == -math.inf:
        bounds.append(0.5 * order * law.distance**2 * ROUNDED)
        bounds.append(_replaced_by_removed(law, order))
    if part.atoms is not None:
        bounds.append(max(_of_atoms(direction, order).upper for direction in (part.atoms, part.atoms.reverse())))
    if part.laplace_shift is not None:
        bounds.append(laplace_renyi(order=order, shift=part.laplace_shift).upper)
    if part.renyi is not None:
        bounds.append(part.renyi.at(order))
    bounds.extend(formula.divergence(order).upper for formula in formulas_of(part))
    if part.below is not None:
        bounds.append(_bound_of_pair(part.below, order))
    largest = largest_loss(part)
    if math.isfinite(largest):
        bounds.append(pure_renyi(order=order, epsilon=largest))
    return min(bounds)


def _replaced_by_removed(law: NormalLaw, order: float) -> float:
    """Return an upper bound on the Rényi divergence of a Poisson-subsampled Gaussian under replace-one.

    It is that of (1 − q) N(0) + q N(s) against (1 − q) N(0) + q N(−s). The second distribution is at least (1 − q)
    N(0). So the divergence is at most −log(1 − q) plus that against N(0). The result is math.inf for other
    distributions.
    """
    if not isinstance(law, SampledGaussianLaw) or law.direction != "replace" or not 0.0 < law.rate < 1.0:
        return math.inf
    removed = _of_sampled_gaussian(SampledGaussianLaw(law.rate, law.shift, "remove"), (order,))[0].upper
    return (removed - math.log1p(-law.rate)) * ROUNDED


def _lower_from_delta(curve: Curve, order: float) -> float:
    """Return a lower bound on the Rényi divergence D_a of a mechanism, from lower bounds on its δ at several ε.

    As δ(ε) ≤ e^{(a − 1)(D_a − ε)} (1 − 1/a)^{a − 1}/a, D_a is at least ε + (log δ + log a − (a − 1)
    log(1 − 1/a))/(a − 1).

    Args:
        curve: the privacy curve.
        order: order a > 1.
    """
    offset = math.log(order) - (order - 1.0) * math.log1p(-1.0 / order)
    largest = 0.0
    for epsilon in _EPSILONS:
        log_delta = curve.log_delta(epsilon).lower
        if log_delta == -math.inf:
            continue
        size = epsilon + (abs(log_delta) + abs(offset) + 1.0) / (order - 1.0)
        rounding = 16 * UNIT_ROUNDOFF * size
        largest = max(largest, epsilon + (log_delta + offset) / (order - 1.0) - rounding)
    return largest
