"""Bounds on the Rényi divergences of one part of a composition, in both directions.

A part without a formula is bounded above by a Gaussian pair, a pure guarantee or a zero-concentrated guarantee that
dominates it. Known bounds on its divergences at this or a larger order count, too. Other bounds come from an integral
of its privacy profiles (`renyi_integral`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from epsilond.accountants.attackers.far_losses import (
    FarLosses,
    far_losses_by_orders,
    far_losses_of_bounded,
    far_losses_of_gaussian,
)
from epsilond.accountants.attackers.renyi_integral import integrated_renyi
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.numerics.renyi_divergence import (
    divergence_of_atoms,
    laplace_renyi,
    pure_renyi,
    shifted_gaussian_renyis,
)
from epsilond.accountants.profiles.declared.concentration import ROUNDED, formulas_of, largest_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.pair import Pair

BothWays: TypeAlias = tuple[Interval, Interval]
"""Bounds on D_a(P‖Q) and on D_a(Q‖P)."""


def renyi_of_part(part: Pair, orders: Sequence[float]) -> list[BothWays]:
    """Return bounds on the Rényi divergences of a pair that is not a composition, for both directions.

    Orders of a subsampled Gaussian step share the nodes of one quadrature. Other pairs are bounded order by order.

    Args:
        part: the pair (P, Q), two distributions of outputs for neighbouring data sets.
        orders: orders a > 1.

    Returns:
        One result for each order: the bounds on D_a(P‖Q) and on D_a(Q‖P), in nats.
    """
    law = part.law
    has_closed_form = part.gaussian_dp_mu is not None or part.atoms is not None
    if has_closed_form or not isinstance(law, SampledGaussianLaw):
        return [_of_part_at(part, order) for order in orders]
    # The shared quadrature is only for the removal or addition of a contribution.
    if law.direction == "replace" or law.is_silent:
        return [_of_part_at(part, order) for order in orders]
    return [_in_both_ways(law, removed) for removed in _of_sampled_gaussian(law, orders)]


def _in_both_ways(law: SampledGaussianLaw, removed: Interval) -> BothWays:
    """Derive bounds for both directions of a subsampled Gaussian step from those for removing a contribution.

    The Rényi divergence for adding a contribution is at most that for removing it.

    Args:
        law: the subsampled Gaussian step, in direction "remove" or "add".
        removed: bounds on the divergence of the outputs with the contribution against those without it, in nats.

    Returns:
        The bounds for the direction of `law`, and for the opposite one.
    """
    added = Interval(0.0, removed.upper)
    return (removed, added) if law.direction == "remove" else (added, removed)


def _of_part_at(part: Pair, order: float) -> BothWays:
    """Return bounds on the Rényi divergence of order a of a pair in both directions.

    A Gaussian, a Laplace or a finite pair has a closed form, with bounds that differ only by rounding. For any other
    pair, the upper bound is that of the pairs that dominate it, or an integral of its privacy profile if that is less.

    Args:
        part: a pair (P, Q) that is neither a composition nor a subsampled Gaussian.
        order: order a > 1.

    Returns:
        The bounds for (P, Q), and for (Q, P), in nats.
    """
    if part.gaussian_dp_mu is not None:
        exact = 0.5 * order * part.gaussian_dp_mu**2
        return _same(Interval(exact / ROUNDED, exact * ROUNDED))
    if part.atoms is not None:
        return _of_atoms(part.atoms, order), _of_atoms(part.atoms.reverse(), order)
    if part.laplace_shift is not None:
        return _same(laplace_renyi(order=order, shift=part.laplace_shift))

    # The integral needs bounds on the large losses that it leaves out.
    upper = _bound_by_dominating_pairs(part, order)
    far = far_losses_of_bounded(largest_loss(part), upper, _far_losses(part, order))
    both = _same(Interval(0.0, upper))
    if far is not None:
        both = _integrate(part, far._replace(most=upper), order)
    if part.formula is None:
        return both

    # The profile of an attained pair may leave out outcomes, so the formula may give a larger lower bound.
    first, second = both
    lower = part.formula.divergence(order).lower
    forward = Interval(max(first.lower, lower), max(first.upper, lower))
    return _same(forward) if part.symmetric else (forward, second)


def _far_losses(part: Pair, order: float) -> FarLosses | None:
    """Return bounds on the large privacy losses of a pair, which an integral for its Rényi divergence leaves out.

    They come from a Gaussian pair that dominates it, or from upper bounds on divergences at larger orders.

    Args:
        part: a pair of distributions that is not a composition.
        order: order a > 1.

    Returns:
        The bounds; None if none are known.
    """
    law, below = part.law, part.below
    # Gaussian noise, perhaps subsampled: the Gaussian without subsampling dominates.
    if law is not None and not law.is_silent and getattr(law, "log_rest", -math.inf) == -math.inf:
        return far_losses_of_gaussian(law.distance, order)
    if below is None:
        return None
    if below.gaussian_dp_mu is not None and below.gaussian_dp_mu > 0.0:
        return far_losses_of_gaussian(below.gaussian_dp_mu * ROUNDED, order)
    return far_losses_by_orders(lambda larger: _bound_of_pair(below, larger), order)


def _integrate(part: Pair, far: FarLosses, order: float) -> BothWays:
    """Return bounds on the Rényi divergence of a pair in both directions, by the integral of its privacy profiles.

    Args:
        part: the pair (P, Q).
        far: bounds on its privacy losses beyond the end of the integral.
        order: order a > 1.

    Returns:
        The bounds for (P, Q), and for (Q, P), in nats.
    """
    forward = integrated_renyi(part.forward, part.backward, far=far, order=order)
    if part.symmetric:
        return _same(forward)
    return forward, integrated_renyi(part.backward, part.forward, far=far, order=order)


def _bound_of_pair(pair: Pair, order: float) -> float:
    """Return an upper bound on the Rényi divergences of both directions of a pair, without integrals.

    The divergences of the parts of a composition add up.

    Args:
        pair: the pair of distributions, or the least of several pairs, of which the least bound is returned.
        order: order a > 1.

    Returns:
        The bound in nats; math.inf if nothing is known.
    """
    totals = []
    for alternative in pair.alternatives or (pair,):
        parts = unfold(((alternative, 1),))
        totals.append(math.fsum(times * _bound_by_dominating_pairs(part, order) for part, times in parts))
    return min(totals) * ROUNDED


def _same(bounds: Interval) -> BothWays:
    """Return bounds that hold for both directions."""
    return bounds, bounds


def _of_atoms(law: FiniteLaw, order: float) -> Interval:
    """Return bounds on the Rényi divergence of order a for distributions with finitely many outcomes.

    Args:
        law: the outcomes, with their privacy losses and probabilities.
        order: order a > 1.

    Returns:
        Lower and upper bounds, in nats; both infinite if an outcome is possible only under the first distribution.
    """
    if law.log_infinite > -math.inf:
        return Interval(math.inf, math.inf)
    log_second = np.asarray([*law.log_second, law.log_missing])
    log_ratio = np.asarray([*law.losses, -math.inf])
    is_possible = log_second > -math.inf
    log_second, log_ratio = log_second[is_possible], log_ratio[is_possible]
    bounds = divergence_of_atoms(order, log_second, log_ratio)

    # The errors of the given losses and probabilities change the divergence by a factor of at most e^η.
    largest_loss_of_law = max(map(abs, law.losses), default=0.0)
    largest_log = max((abs(value) for value in log_second.tolist()), default=0.0)
    eta = law.accuracy * (4.0 + 2.0 * order * largest_loss_of_law + largest_log)
    relative_error = math.expm1(min(eta, 1.0))
    return Interval(bounds.lower / (1.0 + relative_error), bounds.upper * (1.0 + relative_error))


def _of_sampled_gaussian(law: SampledGaussianLaw, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergences of a Poisson-subsampled Gaussian step, for removing a contribution.

    At the order a no bound exceeds a d²/2, the divergence of the Gaussian without sampling, with the distance d of its
    means.

    Args:
        law: the subsampled Gaussian step.
        orders: orders a > 1.

    Returns:
        Lower and upper bounds in nats, one for each order.
    """
    bounds = shifted_gaussian_renyis(orders=orders, rate=law.rate, shift=law.shift)
    divergences = []
    for order, bound in zip(orders, bounds, strict=True):
        unsampled = 0.5 * order * law.distance**2 * ROUNDED
        lower, upper = bound or (0.0, unsampled)
        divergences.append(Interval(min(lower, unsampled), min(upper, unsampled)))
    return divergences


def _bound_by_dominating_pairs(part: Pair, order: float) -> float:
    """Return the least known upper bound on the Rényi divergences of both directions of a pair.

    Bounds follow from Gaussian or Laplace noise, finitely many outcomes, declared divergences, formulas, a dominating
    pair, and a largest privacy loss.

    Args:
        part: a pair that is not a composition.
        order: order a > 1.

    Returns:
        The bound in nats; math.inf if nothing is known.
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

    With the inclusion probability q and the shift s, the two distributions are:

        (1 − q) N(0, 1) + q N(s, 1)  and  (1 − q) N(0, 1) + q N(−s, 1).

    The second one is at least (1 − q) N(0, 1). So the divergence is at most −log(1 − q) plus that from N(0, 1).

    Args:
        law: distribution of the privacy loss of a step.
        order: order a > 1.

    Returns:
        The bound in nats; math.inf for other distributions.
    """
    if not isinstance(law, SampledGaussianLaw) or law.direction != "replace" or not 0.0 < law.rate < 1.0:
        return math.inf
    without_opposite = SampledGaussianLaw(law.rate, law.shift, "remove")
    (removed,) = _of_sampled_gaussian(without_opposite, (order,))
    return (removed.upper - math.log1p(-law.rate)) * ROUNDED
