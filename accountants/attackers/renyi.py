"""Rényi divergences of a privacy curve at given orders, with bounds on both sides.

Divergences of independent parts add up. Each part gives bounds for both directions; the larger direction is answered.
A part without a formula is bounded above by a Gaussian pair, a pure guarantee or a zero-concentrated guarantee that
dominates it. Known bounds on its divergences at this or a larger order count, too. At every ε, δ = E_γ is at most
e^{(a − 1)(D_a − ε)} (1 − 1/a)^{a − 1}/a. A lower bound on δ therefore gives a lower bound on D_a (Canonne, Kamath and
Steinke 2020, Proposition 12).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.attackers.renyi_of_parts import renyi_of_part
from epsilond.accountants.attackers.smallest_gaussian import simple_gaussian_above
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.concentration import ROUNDED, concentration_of_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair

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
    (bounds,) = renyi_divergences(curve, (order,))
    return bounds


def renyi_divergences(curve: Curve, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the largest Rényi divergence of neighbours at several orders, in the worse direction.

    For a subsampled Gaussian mechanism, this takes less time than one call for each order.

    Args:
        curve: the privacy curve of the mechanism.
        orders: orders a > 1.

    Returns:
        Lower and upper bounds in nats, one for each order. An upper bound is math.inf if none is known.

    Raises:
        ContradictoryBounds: the bounds exclude each other, which is a fault of this library.
    """
    # Each pair is bounded once, although it may both dominate and be attained.
    dominating = curve.upper.alternatives or (curve.upper,)
    pairs = {id(pair): pair for pair in (*dominating, *curve.witnesses)}
    bounds = {identity: _bounds_of_pair(pair, orders) for identity, pair in pairs.items()}
    if len(pairs) == 1 and curve.single_witnesses:
        (bounds_of_pair,) = bounds.values()
        return _combine_if_wide(curve, orders, bounds_of_pair)

    # The least upper bound of the dominating pairs, and the largest lower bound of those that neighbours attain.
    uppers = [bounds[id(pair)] for pair in dominating]
    lowers = [bounds[id(witness)] for witness in curve.single_witnesses]
    divergences = []
    for index, order in enumerate(orders):
        upper = min(bounds_of_pair[index].upper for bounds_of_pair in uppers)
        lower = max((bounds_of_pair[index].lower for bounds_of_pair in lowers), default=0.0)
        divergences.append(_combine(curve, order, lower, upper))
    return divergences


def _combine_if_wide(curve: Curve, orders: Sequence[float], bounds: Sequence[Interval]) -> list[Interval]:
    """Return bounds on the Rényi divergence at each order, with better lower bounds where they are not yet close.

    Bounds are close if they differ by at most a millionth (`_is_close`). Otherwise the privacy curve δ(ε) gives another
    lower bound on the divergence, and the larger one is used.

    Args:
        curve: the privacy curve δ(ε) of the mechanism.
        orders: orders a > 1.
        bounds: bounds on the Rényi divergence at each order, in nats.

    Returns:
        One pair of bounds for each order, in nats.
    """
    combined = []
    for order, bound in zip(orders, bounds, strict=True):
        combined.append(bound if _is_close(bound) else _combine(curve, order, bound.lower, bound.upper))
    return combined


def _is_close(bounds: Interval) -> bool:
    """Return whether bounds are positive, and so close that δ gives no better ones."""
    return bounds.upper >= _LEAST and bounds.upper * (1.0 - 1e-6) <= bounds.lower <= bounds.upper


def _combine(curve: Curve, order: float, lower: float, upper: float) -> Interval:
    """Return bounds on a mechanism's Rényi divergence from those of its pairs of distributions.

    If they are not close, a lower bound from δ is used too.

    Args:
        curve: the privacy curve of the mechanism.
        order: order a > 1.
        lower: largest lower bound of the pairs that neighbours attain, in nats.
        upper: least upper bound of the dominating pairs, in nats.

    Returns:
        Lower and upper bound in nats.

    Raises:
        ContradictoryBounds: the lower bound exceeds the upper one, which is a fault of this library.
    """
    if upper < _LEAST:
        return Interval(0.0, upper + _LEAST)
    # Within a millionth, no further bound is needed.
    if lower < upper * (1.0 - 1e-6):
        lower = max(lower, _lower_from_delta(curve, order))
    return Interval.of(lower=lower, upper=upper, name=f"the Rényi divergence of order {order:g}")


def concentration(pair: Pair) -> float:
    """Return a ρ for which a pair of distributions is ρ-zero-concentrated private.

    Its Rényi divergence is then at most ρ a at every order a > 1. The ρ of a composition is the sum over its parts. If
    several pairs dominate the same mechanism, the least ρ is returned.

    Args:
        pair: a pair that dominates a mechanism, or the least of several such pairs.

    Returns:
        ρ, rounded up; math.inf if none is known.
    """
    totals = []
    for alternative in pair.alternatives or (pair,):
        parts = unfold(((alternative, 1),))
        totals.append(math.fsum(times * _concentration_of_part(part) for part, times in parts) * ROUNDED)
    rho = min(totals)
    return rho if rho >= _LEAST else rho + _LEAST


def _concentration_of_part(part: Pair) -> float:
    """Return a ρ for which a pair that is not a product is ρ-zero-concentrated; math.inf if none is known."""
    return min(0.5 * simple_gaussian_above(part) ** 2, concentration_of_part(part))


def _bounds_of_pair(pair: Pair, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergences of a pair of distributions in the worse direction, rounded outward.

    The divergences of the parts of a composition add up.

    Args:
        pair: the pair of distributions, which may be a composition.
        orders: orders a > 1.

    Returns:
        Lower and upper bounds in nats, one for each order.
    """
    unfolded = list(unfold(((pair, 1),)))
    if len(unfolded) == 1:
        part, times = unfolded[0]
        if part.gaussian_dp_mu is not None:
            return _bounds_of_gaussian_steps(part.gaussian_dp_mu, times, orders)

    parts = [(times, renyi_of_part(part, orders)) for part, times in unfolded]
    bounds = []
    for index in range(len(orders)):
        forward = [(times, both_ways[index][0]) for times, both_ways in parts]
        backward = [(times, both_ways[index][1]) for times, both_ways in parts]
        lower = max(math.fsum(times * bound.lower for times, bound in side) for side in (forward, backward))
        upper = max(math.fsum(times * bound.upper for times, bound in side) for side in (forward, backward))
        bounds.append(Interval(lower / ROUNDED, upper * ROUNDED))
    return bounds


def _bounds_of_gaussian_steps(mu: float, times: int, orders: Sequence[float]) -> list[Interval]:
    """Return bounds on the Rényi divergence T a μ²/2 of T Gaussian steps at each order a, rounded outward.

    Args:
        mu: μ, the distance of the means in standard deviations.
        times: number T of steps.
        orders: orders a > 1.

    Returns:
        Lower and upper bounds in nats, one for each order.
    """
    exact = times * (0.5 * np.asarray(orders, dtype=np.float64) * mu**2)
    lowers, uppers = exact / ROUNDED / ROUNDED, exact * ROUNDED * ROUNDED
    return list(map(Interval, lowers.tolist(), uppers.tolist()))


def _lower_from_delta(curve: Curve, order: float) -> float:
    """Return a lower bound on the Rényi divergence of a mechanism, from its δ at several ε.

    By Proposition 12 of Canonne, Kamath and Steinke (2020), δ(ε) ≤ e^{(a − 1)(D_a − ε)} (1 − 1/a)^{a − 1}/a. Hence:

        D_a ≥ ε + (log δ + log a − (a − 1) log(1 − 1/a))/(a − 1).

    Args:
        curve: the privacy curve of the mechanism.
        order: order a > 1.

    Returns:
        The bound in nats, at least 0.
    """
    offset = math.log(order) - (order - 1.0) * math.log1p(-1.0 / order)
    largest = 0.0
    for epsilon in _EPSILONS:
        log_delta = curve.log_delta(epsilon).lower
        if log_delta == -math.inf:
            continue
        size = epsilon + (abs(log_delta) + abs(offset) + 1.0) / (order - 1.0)
        rounding = 16 * UNIT_ROUNDOFF * size  # of the terms of the bound
        bound = epsilon + (log_delta + offset) / (order - 1.0) - rounding
        largest = max(largest, bound)
    return largest
