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

    The mechanism is if its δ is at most that of N(μ, 1) against N(0, 1) at every ε.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        The bounds. `upper` is math.inf if no finite μ is proved. `lower` is math.inf if it is proved that none exists,
        because an output with the contribution may be impossible without it.
    """
    # An exact Gaussian mechanism, and a mechanism that no Gaussian one dominates.
    if curve.tight and curve.upper.gaussian_dp_mu is not None:
        mu = curve.upper.gaussian_dp_mu
        return Interval(mu / ROUNDED, mu * ROUNDED)
    if any(_reveals(witness) for witness in curve.witnesses):
        return Interval(math.inf, math.inf)

    # Upper bounds by the largest loss and by known facts; lower bounds by δ at many ε.
    bounded = enclose_bounded_loss(curve.upper)
    upper = gaussian_above(curve.upper)
    if bounded is not None:
        upper = min(bounded.upper, upper)
        if curve.tight:  # the intervals give a closer lower bound than a few ε
            return Interval(min(bounded.lower, upper), upper)
    return Interval(min(_lower_mu(curve), upper), upper)


def upper_gaussian_mu(curve: Curve) -> float:
    """Return an upper bound on the least μ for which a mechanism is μ-Gaussian differentially private.

    It is that of `smallest_gaussian`, without the work for the lower bound.

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
        The least such μ that is found; math.inf if none is.
    """
    bounds = [_gaussian_above_parts(alternative) for alternative in pair.alternatives or (pair,)]
    if pair.alternatives:
        bounds.append(_gaussian_above_tail(pair))
    return min(bounds)


def _gaussian_above_parts(pair: Pair) -> float:
    """Return √(Σ μ_i²) over the parts of a pair, rounded up; math.inf if a part has no μ."""
    roots = [math.sqrt(times) * _gaussian_above_part(part) for part, times in unfold(((pair, 1),))]
    return math.hypot(*roots) * ROUNDED  # hypot does not underflow


def _gaussian_above_part(part: Pair) -> float:
    """Return a μ such that δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    It follows from a closed form, from another pair with a larger δ, or from ρ of zero-concentrated privacy.

    Args:
        part: the pair, two distributions of outputs for neighbouring data sets. It is not a composition.

    Returns:
        The least such μ that is known; math.inf if none is.
    """
    bounds = [simple_gaussian_above(part)]
    if part.below is not None:
        bounds.append(gaussian_above(part.below))
    # The bound by ρ takes longer, and is only tried without another one.
    if min(bounds) == math.inf:
        bounds.append(_gaussian_above_tail(part))
    return min(bounds)


def simple_gaussian_above(part: Pair) -> float:
    """Return a μ such that δ of a pair is at most that of N(μ, 1) against N(0, 1), if a closed form is known.

    This is so at every ε. Such pairs have Gaussian noise or a bounded privacy loss, and are not a composition.

    Args:
        part: the pair.

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
    """Return a μ for which a Gaussian pair dominates a zero-concentrated pair.

    δ is then at most δ_μ, that of N(μ, 1) against N(0, 1). This is proved by chords of δ up to an ε, and beyond it by ρ
    of zero-concentrated privacy.

    Args:
        pair: a pair without parts, or the least of several pairs.

    Returns:
        The μ; math.inf if no ρ is known, or if δ is not known to be below 1.
    """
    rho = concentration_of_part(pair)
    if rho == 0.0 or not math.isfinite(rho):
        return rho
    # From the first end on, where δ is negligible, the bound by ρ is used.
    end, first = pair.upper_epsilon(TAIL_LOG_DELTA), point_of(pair, 0.0)
    if not first.upper < 0.0:
        return math.inf
    # Any last ε above ρ gives a valid bound. The first one may be too small if ρ is large.
    for last_epsilon in (end, *(multiple * rho for multiple in _MULTIPLES)):
        if not rho < last_epsilon < math.inf:
            continue
        mu = _gaussian_above_from(pair, last_epsilon, rho, first)
        if mu < math.inf:
            return mu
    return math.inf


def _gaussian_above_from(pair: Pair, end: float, rho: float, first: DeltaPoint) -> float:
    """Return a μ such that δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    Up to a given ε this is proved by chords, that is, straight lines in e^ε above δ. Beyond it, ρ of zero-concentrated
    privacy proves it.

    Args:
        pair: a pair without parts, or the least of several pairs.
        end: the ε in nats, above ρ.
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


def _reveals(pair: Pair) -> bool:
    """Return whether a pair is proved to have an infinite privacy loss: an output that only one distribution has.

    Such a pair is μ-Gaussian private for no finite μ.

    Args:
        pair: a pair that neighbours attain.

    Returns:
        True if an infinite loss is proved.
    """
    for part, _ in unfold(((pair, 1),)):
        law = part.atoms
        if law is not None and max(law.log_infinite, law.log_missing) > -math.inf:
            return True
        # At the largest ε, only an infinite loss leaves δ above 0.
        for profile in part.directions():
            is_finite_law = isinstance(profile, AtomicProfile) and max(profile.losses, default=0.0) < LARGEST_EPSILON
            if is_finite_law and profile.log_delta_bounds(LARGEST_EPSILON).lower > -math.inf:
                return True
    return False


def _lower_mu(curve: Curve) -> float:
    """Return a lower bound on the least μ for which a mechanism is μ-Gaussian differentially private.

    It comes from lower bounds on δ at many ε, each a multiple of the previous one.

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
        # The pair N(μ, 1) against N(0, 1) must have at least this δ at ε.
        least = max(least, gaussian_mu_at(epsilon, log_delta))
        epsilon = max(_RATIO * epsilon, _FIRST_EPSILON)
    return least
