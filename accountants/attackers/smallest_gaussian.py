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

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import ndtri_exp

from epsilond.accountants.attackers.concentrated_tails import TAIL_LOG_DELTA, least_mu_from
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.best_test import pure_gaussian_mu
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp_at, log_sum
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.declared.concentration import ROUNDED, concentration_of_part, largest_loss
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import LARGEST_SHIFT, gaussian_noise_std_bounds

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair

_QUANTILE_ERROR = 1e-12
"""Bound on the error of a computed normal quantile, relative, and absolute near 0; a hundred times the measured one."""
_DIVISIONS, _CLOSE = 400, 1e-5
"""Limit on the points that divide the range of a bounded loss, and the relative width at which division ends."""
_TAIL_DIVISIONS = 1500
"""The limit for a pair with a far last point, where δ falls fast; a point of a table takes a tenth of a millisecond."""
_MARGIN = 1e-3
"""Share of an interval next to its ends in which it is not divided, so that both parts become shorter."""
_MULTIPLES = (4.0, 2.0)
"""Multiples of ρ up to which chords are tried if the usual end gives no μ."""
_FIRST_EPSILON, _LAST_EPSILON, _RATIO = 2.0**-6, 2.0**20, 4.0
"""First and last positive ε, in nats, at which a lower bound is read, and the ratio of two; more ε gain below 1 %."""
_NEARLY_ONE = -1e-300
"""Largest log δ that is inverted; a δ of 1 has no μ."""
_LEAST_LOG_DELTA = -2e9
"""Least log δ that the closed inverse covers."""


def smallest_gaussian(curve: Curve) -> Interval:
    """Return bounds on the least μ for which a mechanism is μ-Gaussian differentially private.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        The bounds. `upper` is math.inf if no finite μ is proved. `lower` is math.inf if it is proved that none exists,
        because an output with the contribution may be impossible without it.
    """
    if curve.tight and curve.upper.gaussian_dp_mu is not None:
        mu = curve.upper.gaussian_dp_mu
        return Interval(mu / ROUNDED, mu * ROUNDED)
    if any(_reveals(witness) for witness in curve.witnesses):
        return Interval(math.inf, math.inf)
    bounded = _enclose_bounded_loss(curve.upper)
    upper = min(bounded.upper if bounded else math.inf, gaussian_above(curve.upper))
    if curve.tight and bounded is not None:  # the intervals give a closer lower bound than a few ε
        return Interval(min(bounded.lower, upper), upper)
    return Interval(min(_lower_mu(curve), upper), upper)


def upper_gaussian_mu(curve: Curve) -> float:
    """Return only the upper bound of `smallest_gaussian`.

    Args:
        curve: the privacy curve of the mechanism.
    """
    if curve.upper.gaussian_dp_mu is not None:
        return curve.upper.gaussian_dp_mu * ROUNDED
    bounded = _enclose_bounded_loss(curve.upper)
    return min(bounded.upper if bounded else math.inf, gaussian_above(curve.upper))


def gaussian_above(pair: Pair) -> float:
    """Return a μ for which δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε.

    The result is math.inf if none is known.

    Args:
        pair: a pair that dominates a mechanism, or the least of several such pairs.
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

    Args:
        part: the pair, two distributions of outputs for neighbouring datasets. It is not a product.

    Returns:
        The least such μ that is known; math.inf if none is.
    """
    bounds = [simple_gaussian_above(part)]
    if part.below is not None:
        bounds.append(gaussian_above(part.below))
    if min(bounds) == math.inf:
        bounds.append(_gaussian_above_tail(part))
    return min(bounds)


def simple_gaussian_above(part: Pair) -> float:
    """Return a μ for which δ of a pair is at most that of N(μ, 1) against N(0, 1) at every ε, for simple pairs.

    These have Gaussian noise or a bounded loss, and are no product. The result is math.inf for other pairs.

    Args:
        part: the pair.
    """
    if part.gaussian_dp_mu is not None:
        return part.gaussian_dp_mu
    if part.law is not None and getattr(part.law, "log_rest", -math.inf) == -math.inf:
        return part.law.distance
    bounded = _enclose_bounded_loss(part)
    return bounded.upper if bounded else math.inf


def _gaussian_above_tail(pair: Pair) -> float:
    """Return a μ for which δ of a zero-concentrated pair is at most δ_μ, that of N(μ, 1) against N(0, 1).

    This is proved by chords of δ up to an ε, and by ρ beyond.

    Args:
        pair: a pair without parts, or the least of several pairs.

    Returns:
        The μ; math.inf if no ρ is known, or if δ is not known to be below 1.
    """
    rho = concentration_of_part(pair)
    if rho == 0.0 or not math.isfinite(rho):
        return rho
    end, first = pair.upper_epsilon(TAIL_LOG_DELTA), _point(pair, 0.0)
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


def _gaussian_above_from(pair: Pair, end: float, rho: float, first: _Point) -> float:
    """Return a μ for which δ of a pair is at most δ_μ, that of N(μ, 1) against N(0, 1).

    This is proved by chords of δ up to an ε, and by ρ beyond. The result is math.inf if ρ gives no μ.

    Args:
        pair: a pair without parts, or the least of several pairs.
        end: the ε, above ρ.
        rho: ρ of zero-concentrated privacy.
        first: the point at ε = 0.
    """
    mu_beyond = least_mu_from(end, rho)
    if math.isinf(mu_beyond):
        return mu_beyond
    divisions = _DIVISIONS if pair.alternatives else _TAIL_DIVISIONS
    up_to_end = _divide_intervals(pair, first, _point(pair, end), enough=mu_beyond, divisions=divisions)
    return max(mu_beyond, up_to_end.upper)


def _reveals(pair: Pair) -> bool:
    """Return whether a pair is proved to have an infinite loss: an output that only one distribution has.

    Args:
        pair: a pair that neighbours attain.
    """
    for part, _ in unfold(((pair, 1),)):
        law = part.atoms
        if law is not None and max(law.log_infinite, law.log_missing) > -math.inf:
            return True
        for profile in part.directions():
            is_finite_law = isinstance(profile, AtomicProfile) and max(profile.losses, default=0.0) < LARGEST_EPSILON
            if is_finite_law and profile.log_delta_bounds(LARGEST_EPSILON).lower > -math.inf:
                return True
    return False


# A bounded loss -----------------------------------------------------------------------------------------------------
class _Point(NamedTuple):
    """Bounds on log δ at one ε.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        lower: lower bound on log δ(ε), which may be −inf.
        upper: upper bound on log δ(ε).
    """

    epsilon: float
    lower: float
    upper: float


def _enclose_bounded_loss(pair: Pair) -> Interval | None:
    """Return bounds on the least μ for which δ of a pair is at most that of N(μ, 1) against N(0, 1).

    The loss must be bounded. The result is None if no bound of the loss is known.
    """
    largest = largest_loss(pair)
    if not math.isfinite(largest):
        return None
    if largest == 0.0:
        return Interval(0.0, 0.0)
    # Randomized response has the largest μ of all pairs with this largest loss.
    most = pure_gaussian_mu(largest)
    return _divide_intervals(pair, _point(pair, 0.0), _Point(largest, -math.inf, -math.inf), most=most)


def _divide_intervals(
    pair: Pair,
    first: _Point,
    last: _Point,
    *,
    most: float = math.inf,
    enough: float = 0.0,
    divisions: int = _DIVISIONS,
) -> Interval:
    """Return bounds on the least μ with δ(ε) ≤ δ_μ(ε) between two ε, by chords of ever shorter intervals.

    δ_μ is that of N(μ, 1) against N(0, 1).

    Args:
        pair: the pair with δ.
        first: the point at ε = 0.
        last: the point at the largest ε.
        most: a μ for which δ ≤ δ_μ is known already.
        enough: a μ below which a smaller bound has no use.
        divisions: limit on the points that divide the range.
    """
    least = gaussian_mu_at(0.0, first.lower)
    intervals = [_Interval.of(first, last, most)]
    for _ in range(divisions):
        if intervals[0].mu <= max(least, enough) * (1.0 + _CLOSE):
            break
        widest = heapq.heappop(intervals)
        middle = _point(pair, widest.division_point)
        if middle.upper > widest.left.upper:  # δ decreases, so a bound that does not is only loose
            middle = middle._replace(upper=widest.left.upper)
        least = max(least, gaussian_mu_at(middle.epsilon, middle.lower))
        heapq.heappush(intervals, _Interval.of(widest.left, middle, widest.mu))
        heapq.heappush(intervals, _Interval.of(middle, widest.right, widest.mu))
    return Interval(min(least, intervals[0].mu), intervals[0].mu)


def _point(pair: Pair, epsilon: float) -> _Point:
    """Return bounds on log δ of a pair, the larger of both directions, at an ε."""
    return _Point(epsilon, *pair.log_delta_bounds(epsilon))


class _Interval(NamedTuple):
    """Two neighbouring ε with a μ for which δ ≤ δ_μ between them, where δ_μ is that of N(μ, 1) against N(0, 1).

    Attributes:
        negative_mu: −μ, so that a heap has the largest μ first.
        division_point: the ε inside at which δ is likely to be closest to δ_μ.
        left: the point with the smaller ε.
        right: the point with the larger ε.
    """

    negative_mu: float
    division_point: float
    left: _Point
    right: _Point

    @property
    def mu(self) -> float:
        """The μ."""
        return -self.negative_mu

    @classmethod
    def of(cls, left: _Point, right: _Point, most: float) -> _Interval:
        """Return the interval between two points, with the least μ for which they prove δ ≤ δ_μ between them.

        With γ = e^ε and p = max(γ α + δ) over both points, it is Φ⁻¹(p) − Φ⁻¹(α). Every α is valid. The slope −α of the
        chord of δ as a function of γ makes both sums equal.

        Args:
            left: the point with the smaller ε.
            right: the point with the larger ε.
            most: a μ that is known to be enough.
        """
        middle = 0.5 * (left.epsilon + right.epsilon)
        if left.upper == -math.inf:
            return cls(0.0, middle, left, right)
        log_alpha = _log_chord_slope(left, right)
        quantile, upper_quantile = float(ndtri_exp(log_alpha)), _upper_quantile(left, right, log_alpha)
        error = _QUANTILE_ERROR * (abs(upper_quantile) + abs(quantile) + 1e-3)
        mu = min(max(upper_quantile - quantile + error, 0.0), most)
        tangent = -mu * (quantile + 0.5 * mu)  # where δ_μ has the slope −α
        margin = _MARGIN * (right.epsilon - left.epsilon)
        is_inside = left.epsilon + margin < tangent < right.epsilon - margin
        return cls(-mu, tangent if is_inside else middle, left, right)


def _log_chord_slope(left: _Point, right: _Point) -> float:
    """Return log α for the slope −α in e^ε of the chord through the upper bounds on δ at two points; below 0.

    If δ does not decrease, α is δ at the left point over e^ε at the right one.

    Args:
        left: the point with the smaller ε.
        right: the point with the larger ε.
    """
    log_alpha = left.upper - right.epsilon
    if right.upper < left.upper:
        log_fall = left.upper + log1m_exp_at(right.upper - left.upper)
        log_alpha = log_fall - right.epsilon - log1m_exp_at(left.epsilon - right.epsilon)
    return min(log_alpha, -UNIT_ROUNDOFF)


def _upper_quantile(left: _Point, right: _Point, log_alpha: float) -> float:
    """Return Φ⁻¹(p) for p = max(e^ε α + δ(ε)) over two points, with p rounded up; math.inf if p is not below 1.

    From p = 1/2 on, it is −Φ⁻¹(1 − p), with 1 − p = (1 − δ) − e^ε α rounded down.

    Args:
        left: the point with the smaller ε, with an upper bound on δ.
        right: the point with the larger ε.
        log_alpha: log α.
    """
    log_p = max(_log_sum_up(point, log_alpha) for point in (left, right))
    if log_p <= -math.log(2.0):
        return float(ndtri_exp(log_p))
    log_rest = min(_log_rest_down(point, log_alpha) for point in (left, right))
    return -float(ndtri_exp(log_rest)) if log_rest > -math.inf else math.inf


def _log_sum_up(point: _Point, log_alpha: float) -> float:
    """Return log(γ α + δ) at a point, rounded up."""
    value = log_sum(point.epsilon + log_alpha, point.upper)
    return value + 8 * UNIT_ROUNDOFF * (1.0 + point.epsilon + abs(log_alpha) + abs(value))


def _log_rest_down(point: _Point, log_alpha: float) -> float:
    """Return log(1 − δ − e^ε α) at a point, rounded down; −math.inf if the difference is not positive."""
    log_complement = log1m_exp_at(point.upper) if point.upper < 0.0 else -math.inf
    log_share = point.epsilon + log_alpha - log_complement
    if not log_share < 0.0:
        return -math.inf
    value = log_complement + log1m_exp_at(log_share)
    rounding = 8 * UNIT_ROUNDOFF * (1.0 + point.epsilon + abs(log_alpha) + abs(log_complement))
    return value - rounding / -math.expm1(log_share)


# Lower bounds -------------------------------------------------------------------------------------------------------
def _lower_mu(curve: Curve) -> float:
    """Return a lower bound on the least μ for which a mechanism is μ-Gaussian differentially private.

    It comes from lower bounds on δ at many ε, each a multiple of the previous one.
    """
    epsilon, least = 0.0, 0.0
    while epsilon <= _LAST_EPSILON:
        log_delta = curve.log_delta(epsilon).lower
        if log_delta <= _LEAST_LOG_DELTA:
            break
        least = max(least, gaussian_mu_at(epsilon, log_delta))
        epsilon = max(_RATIO * epsilon, _FIRST_EPSILON)
    return least


def gaussian_mu_at(epsilon: float, log_delta: float) -> float:
    """Return a lower bound on every μ for which N(μ, 1) against N(0, 1) has at least a given δ at ε.

    Args:
        epsilon: ε, in nats.
        log_delta: natural logarithm of the δ.
    """
    if not log_delta > _LEAST_LOG_DELTA:
        return 0.0
    try:
        std = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=min(log_delta, _NEARLY_ONE), sensitivity=1.0).upper
    except InvalidInput as error:
        return LARGEST_SHIFT if "below 1e-5" in str(error) else 0.0
    return 1.0 / (std * ROUNDED)
