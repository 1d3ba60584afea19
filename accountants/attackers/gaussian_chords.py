"""Bounds on the least μ with δ(ε) ≤ δ_μ(ε) between two ε, by chords of δ as a function of e^ε.

δ_μ is the privacy profile of N(μ, 1) against N(0, 1). Write γ = e^ε, and G_μ for the trade-off function of the Gaussian
pair. δ is convex in γ, so between two points it is below their chord. For any α in (0, 1), δ_μ(γ) ≥ 1 − γ α − G_μ(α),
which is a line in γ. The chord is below the line if it is at both points. Intervals with a large bound are divided
(docs/attackers.md).
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import ndtri_exp

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.best_test import pure_gaussian_mu
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp_at, log_sum
from epsilond.accountants.profiles.declared.concentration import ROUNDED, largest_loss
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import LARGEST_SHIFT, gaussian_noise_std_bounds

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair

_QUANTILE_ERROR = 1e-12
"""Bound on the error of a computed normal quantile, relative, and absolute near 0; a hundred times the measured one."""
DIVISIONS = 400
"""Limit on the points that divide the range of a bounded loss."""
_CLOSE = 1e-5
"""Relative width of the bounds on μ at which division ends."""
_MARGIN = 1e-3
"""Share of an interval next to its ends in which it is not divided, so that both parts become shorter."""
_NEARLY_ONE = -1e-300
"""Largest log δ that is inverted; a δ of 1 has no μ."""
LEAST_LOG_DELTA = -2e9
"""Least log δ that the closed inverse covers."""


class DeltaPoint(NamedTuple):
    """Lower and upper bounds on log δ at one ε, a point of a privacy profile.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        lower: lower bound on log δ(ε), natural logarithm, which may be −∞.
        upper: upper bound on log δ(ε).
    """

    epsilon: float
    lower: float
    upper: float


def enclose_bounded_loss(pair: Pair) -> Interval | None:
    """Return bounds on the least μ for which a Gaussian pair dominates a pair with a bounded loss.

    The Gaussian pair is N(μ, 1) against N(0, 1). From the largest loss on, δ is 0, so that only a bounded range of ε
    must be covered.

    Args:
        pair: the pair of distributions, which may be a composition.

    Returns:
        The bounds on μ; None if no bound of the privacy loss is known.
    """
    largest = largest_loss(pair)
    if not math.isfinite(largest):
        return None
    if largest == 0.0:
        return Interval(0.0, 0.0)
    # Randomized response has the largest μ of all pairs with this largest loss.
    most = pure_gaussian_mu(largest)
    return divide_intervals(pair, point_of(pair, 0.0), DeltaPoint(largest, -math.inf, -math.inf), most=most)


def divide_intervals(
    pair: Pair,
    first: DeltaPoint,
    last: DeltaPoint,
    *,
    most: float = math.inf,
    enough: float = 0.0,
    divisions: int = DIVISIONS,
) -> Interval:
    """Return bounds on the least μ for which δ is at most that of a Gaussian pair between two points.

    It is the least μ with δ(ε) ≤ δ_μ(ε) for every ε in between, where δ_μ is that of N(μ, 1) against N(0, 1). As δ is
    convex in e^ε, it is below its chord on every interval, and the chord gives a μ for the interval. The interval with
    the largest μ is divided repeatedly.

    Args:
        pair: the pair of distributions with δ.
        first: the point at ε = 0.
        last: the point at the largest ε.
        most: a μ for which δ ≤ δ_μ is known already.
        enough: a μ below which a smaller bound has no use.
        divisions: limit on the points that divide the range.

    Returns:
        The bounds on μ. The upper one is that of the interval with the largest μ.
    """
    least = gaussian_mu_at(0.0, first.lower)
    intervals = [_Interval.of(first, last, most)]
    for _ in range(divisions):
        if intervals[0].mu <= max(least, enough) * (1.0 + _CLOSE):
            break
        widest = heapq.heappop(intervals)
        middle = point_of(pair, widest.division_point)
        if middle.upper > widest.left.upper:  # δ decreases, so the bound at the left point holds here too
            middle = middle._replace(upper=widest.left.upper)
        least = max(least, gaussian_mu_at(middle.epsilon, middle.lower))
        heapq.heappush(intervals, _Interval.of(widest.left, middle, widest.mu))
        heapq.heappush(intervals, _Interval.of(middle, widest.right, widest.mu))
    return Interval(min(least, intervals[0].mu), intervals[0].mu)


def point_of(pair: Pair, epsilon: float) -> DeltaPoint:
    """Return bounds on log δ of a pair, the larger of both directions, at an ε."""
    return DeltaPoint(epsilon, *pair.log_delta_bounds(epsilon))


class _Interval(NamedTuple):
    """Two neighbouring ε with a μ for which δ is at most δ_μ between them, that of N(μ, 1) against N(0, 1).

    A heap of intervals has the one with the largest μ first.

    Attributes:
        negative_mu: −μ, by which the heap sorts.
        division_point: the ε inside at which δ is likely to be closest to δ_μ, in nats.
        left: the point with the smaller ε.
        right: the point with the larger ε.
    """

    negative_mu: float
    division_point: float
    left: DeltaPoint
    right: DeltaPoint

    @property
    def mu(self) -> float:
        """The μ."""
        return -self.negative_mu

    @classmethod
    def of(cls, left: DeltaPoint, right: DeltaPoint, most: float) -> _Interval:
        """Return the interval between two points, with the least μ for which they prove δ ≤ δ_μ between them.

        With γ = e^ε and the normal distribution function Φ:

            μ = Φ⁻¹(p) − Φ⁻¹(α),   where p is the larger γ α + δ of both points.

        Every α in (0, 1) is valid. Here −α is the slope of the chord of δ as a function of γ, for which both γ α + δ
        are equal.

        Args:
            left: the point with the smaller ε.
            right: the point with the larger ε.
            most: a μ that is known to be enough.

        Returns:
            The interval with its μ and the ε at which it should be divided.
        """
        middle = 0.5 * (left.epsilon + right.epsilon)
        # δ is 0 from the left point on, so that every μ is enough.
        if left.upper == -math.inf:
            return cls(0.0, middle, left, right)
        log_alpha = _log_chord_slope(left, right)
        quantile, upper_quantile = float(ndtri_exp(log_alpha)), _upper_quantile(left, right, log_alpha)
        # The last term covers quantiles near 0.
        error = _QUANTILE_ERROR * (abs(upper_quantile) + abs(quantile) + 1e-3)
        mu = min(max(upper_quantile - quantile + error, 0.0), most)

        # Divide where δ_μ has the slope −α, unless this is too close to an end.
        tangent = -mu * (quantile + 0.5 * mu)
        margin = _MARGIN * (right.epsilon - left.epsilon)
        is_inside = left.epsilon + margin < tangent < right.epsilon - margin
        return cls(-mu, tangent if is_inside else middle, left, right)


def _log_chord_slope(left: DeltaPoint, right: DeltaPoint) -> float:
    """Return log α for the slope −α of the chord of δ between two points, as a function of e^ε.

    The chord goes through the upper bounds on δ. If these do not decrease, α is δ at the left point divided by e^ε at
    the right one. Any α in (0, 1) gives a valid bound on μ.

    Args:
        left: the point with the smaller ε.
        right: the point with the larger ε.

    Returns:
        log α, natural logarithm, below 0.
    """
    log_alpha = left.upper - right.epsilon
    if right.upper < left.upper:
        log_fall = left.upper + log1m_exp_at(right.upper - left.upper)
        log_alpha = log_fall - right.epsilon - log1m_exp_at(left.epsilon - right.epsilon)
    return min(log_alpha, -UNIT_ROUNDOFF)


def _upper_quantile(left: DeltaPoint, right: DeltaPoint, log_alpha: float) -> float:
    """Return an upper bound on the normal quantile Φ⁻¹(p) of p = max(e^ε α + δ(ε)) over two points.

    Φ is the normal distribution function. Above p = 1/2, the quantile is computed as −Φ⁻¹(1 − p), because p would lose
    the digits of 1 − p. The computed p is rounded up, and 1 − p down.

    Args:
        left: the point with the smaller ε, with an upper bound on δ.
        right: the point with the larger ε.
        log_alpha: log α, natural logarithm, below 0.

    Returns:
        The quantile; math.inf if p is not proved to be below 1.
    """
    log_p = max(_log_sum_up(point, log_alpha) for point in (left, right))
    if log_p <= -math.log(2.0):
        return float(ndtri_exp(log_p))
    log_rest = min(_log_rest_down(point, log_alpha) for point in (left, right))
    return -float(ndtri_exp(log_rest)) if log_rest > -math.inf else math.inf


def _log_sum_up(point: DeltaPoint, log_alpha: float) -> float:
    """Return log(e^ε α + δ) at a point, rounded up.

    Args:
        point: the point, with an upper bound on δ.
        log_alpha: log α, natural logarithm.

    Returns:
        The natural logarithm.
    """
    value = log_sum(point.epsilon + log_alpha, point.upper)
    # The added term covers the errors of the exponents and of the logarithm of the sum.
    return value + 8 * UNIT_ROUNDOFF * (1.0 + point.epsilon + abs(log_alpha) + abs(value))


def _log_rest_down(point: DeltaPoint, log_alpha: float) -> float:
    """Return log(1 − δ − e^ε α) at a point, rounded down; −math.inf if the difference is not positive.

    Args:
        point: the point, with an upper bound on δ.
        log_alpha: log α, natural logarithm.

    Returns:
        The natural logarithm.
    """
    log_complement = log1m_exp_at(point.upper) if point.upper < 0.0 else -math.inf
    log_share = point.epsilon + log_alpha - log_complement
    if not log_share < 0.0:
        return -math.inf
    value = log_complement + log1m_exp_at(log_share)
    # The logarithm of 1 − share is the more sensitive to errors of the exponents, the closer the share is to 1.
    rounding = 8 * UNIT_ROUNDOFF * (1.0 + point.epsilon + abs(log_alpha) + abs(log_complement))
    return value - rounding / -math.expm1(log_share)


def gaussian_mu_at(epsilon: float, log_delta: float) -> float:
    """Return a lower bound on every μ for which N(μ, 1) against N(0, 1) has at least a given δ at ε.

    It is the reciprocal of an upper bound on the noise that has this δ at sensitivity 1.

    Args:
        epsilon: ε ≥ 0, in nats.
        log_delta: natural logarithm of the δ.

    Returns:
        The bound, in standard deviations; 0 if δ is too small for the inverse.
    """
    if not log_delta > LEAST_LOG_DELTA:
        return 0.0
    log_delta_below_zero = min(log_delta, _NEARLY_ONE)  # the noise is computed for δ below 1 only
    try:
        std = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=log_delta_below_zero, sensitivity=1.0).upper
    except InvalidInput as error:
        # Noise below 1e-5 of the sensitivity meets δ, so that μ is above the largest shift that is covered.
        return LARGEST_SHIFT if "below 1e-5" in str(error) else 0.0
    return 1.0 / (std * ROUNDED)
