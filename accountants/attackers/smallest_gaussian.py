"""The smallest Gaussian above a privacy curve: the least μ of Gaussian differential privacy, with bounds on both sides.

A curve is below that of N(μ, 1) against N(0, 1) if δ(ε) ≤ δ_μ(ε) at every ε ≥ 0. Write γ = e^ε, and G_μ for the
trade-off function of the Gaussian pair. docs/attackers.md proves the bounds.

*Lower bound*: at every single ε, μ is at least the μ with δ_μ(ε) equal to a lower bound on δ(ε).
*Upper bound of a bounded loss*: δ is convex in γ, so between two points it is below their chord. For any α in (0, 1),
δ_μ(γ) ≥ 1 − γ α − G_μ(α), which is a line in γ. The chord is below the line if it is at both points. From the largest
loss on, δ is zero. Intervals with a large bound are divided.
*Upper bound of Gaussian noise*: a subsampled Gaussian is below the Gaussian without sampling.
*Upper bound by ρ*: beyond an ε, ρ-zero-concentrated privacy is below the Gaussian (`concentrated_tails`).
*Composition*: bounds μ_i on the parts give √(Σ μ_i²).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.concentrated_tails import TAIL_LOG_DELTA, least_mu_from
from epsilond.accountants.attackers.gaussian_chords import (
    DIVISIONS,
    LEAST_LOG_DELTA,
    DeltaPoint,
    divide_intervals,
    enclose_bounded_loss,
    gaussian_mu_at,
    point_of,
)
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.declared.concentration import ROUNDED, concentration_of_part

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair

_TAIL_DIVISIONS = 1500
"""The limit for a pair with a far last point, where δ falls fast; a point of a table takes a tenth of a millisecond."""
_MULTIPLES = (4.0, 2.0)
"""Multiples of ρ up to which chords are tried if the usual end gives no μ."""
_FIRST_EPSILON = 2.0**-6
"""First positive ε, in nats, at which a lower bound is evaluated."""
_LAST_EPSILON = 2.0**20
"""Largest such ε, in nats."""
_RATIO = 4.0
"""Ratio of two such ε. More ε gain below 1 %."""


def smallest_gaussian(curve: Curve) -> Interval:
    """Return bounds on the least μ for which a mechanism is μ-Gaussian differentially private.

    This means that its δ is at most that of N(μ, 1) against N(0, 1) at every ε.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        The bounds. `upper` is math.inf if no finite μ is proved. `lower` is math.inf if it is proved that none exists,
        because an output with the contribution may be impossible without it.
    """
    if curve.tight and curve.upper.gaussian_dp_mu is not None:
        mu = curve.upper.gaussian_dp_mu
        return Interval(mu / ROUNDED, mu * ROUNDED)
    if any(_has_infinite_loss(witness) for witness in curve.witnesses):
        return Interval(math.inf, math.inf)

    bounded = enclose_bounded_loss(curve.upper)
    upper = gaussian_above(curve.upper)
    if bounded is not None:
        upper = min(bounded.upper, upper)
        if curve.tight:  # the intervals give a closer lower bound than a few ε
            return Interval(min(bounded.lower, upper), upper)
    return Interval(min(_lower_mu(curve), upper), upper)


def upper_gaussian_mu(curve: Curve) -> float:
    """Return the upper bound of `smallest_gaussian` on the least μ of a mechanism, without the work for the lower one.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        The bound; math.inf if no finite μ is proved.
    """
    if curve.upper.gaussian_dp_mu is not None:
        return curve.upper.gaussian_dp_mu * ROUNDED
    bounded = enclose_bounded_loss(curve.upper)
    return min(bounded.upper if bounded else math.inf, gaussian_above(curve.upper))


def gaussian_above(pair: Pair) -> float:
    """Return a μ for which δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    Args:
        pair: a pair that dominates a mechanism, or the least of several such pairs.

    Returns:
        The least μ that is proved; math.inf if none is.
    """
    bounds = [_gaussian_above_parts(alternative) for alternative in pair.alternatives or (pair,)]
    if pair.alternatives:
        bounds.append(_gaussian_above_tail(pair))
    return min(bounds)


def _gaussian_above_parts(pair: Pair) -> float:
    """Return √(Σ μ_i²) over all runs of the parts of a composition, rounded up; math.inf if a part has no μ."""
    roots = [math.sqrt(times) * _gaussian_above_part(part) for part, times in unfold(((pair, 1),))]
    return math.hypot(*roots) * ROUNDED  # hypot does not underflow


def _gaussian_above_part(part: Pair) -> float:
    """Return a μ such that δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    It follows from a closed form, from another pair with a larger δ, or from ρ of zero-concentrated privacy.

    Args:
        part: the pair, two distributions of outputs for neighbouring data sets. It is not a composition.

    Returns:
        The least μ that is proved; math.inf if none is.
    """
    bounds = [simple_gaussian_above(part)]
    if part.below is not None:
        bounds.append(gaussian_above(part.below))
    # The bound by ρ takes longer, and is tried only if there is no other one.
    if min(bounds) == math.inf:
        bounds.append(_gaussian_above_tail(part))
    return min(bounds)


def simple_gaussian_above(part: Pair) -> float:
    """Return a μ for a pair with Gaussian noise or a bounded privacy loss.

    δ of the pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    Args:
        part: the pair, which is not a composition.

    Returns:
        The μ; math.inf for other pairs.
    """
    if part.gaussian_dp_mu is not None:
        return part.gaussian_dp_mu
    # Subsampling only lowers δ, so the Gaussian without it dominates.
    if part.law is not None and getattr(part.law, "log_rest", -math.inf) == -math.inf:
        return part.law.distance
    bounded = enclose_bounded_loss(part)
    return bounded.upper if bounded else math.inf


def _gaussian_above_tail(pair: Pair) -> float:
    """Return a μ for a pair with a finite ρ of zero-concentrated privacy.

    δ of the pair is at most that of N(μ, 1) against N(0, 1) at every ε. This is proved by chords of δ up to some ε, and
    beyond it by ρ.

    Args:
        pair: a pair that is not a composition, or the least of several pairs.

    Returns:
        The μ; math.inf if no ρ is known, or if δ is not known to be below 1.
    """
    rho = concentration_of_part(pair)
    if rho == 0.0 or not math.isfinite(rho):
        return rho
    end, first = pair.upper_epsilon(TAIL_LOG_DELTA), point_of(pair, 0.0)
    if not first.upper < 0.0:
        return math.inf
    # Every last ε above ρ gives a valid bound. The first one, where δ is negligible, may be too small if ρ is large.
    for last_epsilon in (end, *(multiple * rho for multiple in _MULTIPLES)):
        if not rho < last_epsilon < math.inf:
            continue
        mu = _gaussian_above_from(pair, last_epsilon, rho, first)
        if mu < math.inf:
            return mu
    return math.inf


def _gaussian_above_from(pair: Pair, end: float, rho: float, first: DeltaPoint) -> float:
    """Return a μ such that δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    Up to a given ε this is proved by chords, that is, straight lines in e^ε above δ. Beyond it, it follows from ρ of
    zero-concentrated privacy.

    Args:
        pair: a pair that is not a composition, or the least of several pairs.
        end: the given ε in nats, above ρ.
        rho: ρ of zero-concentrated privacy.
        first: the bounds on δ at ε = 0.

    Returns:
        The μ; math.inf if ρ gives no μ.
    """
    mu_beyond = least_mu_from(end, rho)
    if math.isinf(mu_beyond):
        return mu_beyond
    divisions = DIVISIONS if pair.alternatives else _TAIL_DIVISIONS
    up_to_end = divide_intervals(pair, first, point_of(pair, end), enough=mu_beyond, divisions=divisions)
    return max(mu_beyond, up_to_end.upper)


def _has_infinite_loss(pair: Pair) -> bool:
    """Return whether a pair is proved to have an infinite privacy loss, that is, an output that only one side can have.

    Such a pair is μ-Gaussian private for no finite μ.

    Args:
        pair: a pair that neighbours attain.
    """
    for part, _ in unfold(((pair, 1),)):
        law = part.atoms
        if law is not None and max(law.log_infinite, law.log_missing) > -math.inf:
            return True
        # All finite losses are below the largest ε, so that only an infinite loss leaves δ above 0 there.
        for profile in part.directions():
            is_finite_law = isinstance(profile, AtomicProfile) and max(profile.losses, default=0.0) < LARGEST_EPSILON
            if is_finite_law and profile.log_delta_bounds(LARGEST_EPSILON).lower > -math.inf:
                return True
    return False


def _lower_mu(curve: Curve) -> float:
    """Return a lower bound on the least μ for which a mechanism is μ-Gaussian differentially private.

    At each of many ε, the pair N(μ, 1) against N(0, 1) must have at least the lower bound on δ.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        The bound; 0 if no lower bound on δ is known.
    """
    epsilon, least = 0.0, 0.0
    while epsilon <= _LAST_EPSILON:
        log_delta = curve.log_delta(epsilon).lower
        if log_delta <= LEAST_LOG_DELTA:
            break
        least = max(least, gaussian_mu_at(epsilon, log_delta))
        epsilon = max(_RATIO * epsilon, _FIRST_EPSILON)
    return least
