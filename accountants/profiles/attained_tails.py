"""Tails of a pair that a product of pairs dominates, from bounds on its profile at some ε.

H is the profile of the product, convex in α = e^ε, with L_j ≤ H(α_j) ≤ U_j. A chord of H is below H where it is
extended beyond its points. So on the cell [α_i, α_{i+1}] H is above the lines:

    A(α) = L_i − (U_{i−1} − L_i)/(α_i − α_{i−1}) · (α − α_i),
    B(α) = L_{i+1} + (L_{i+1} − U_{i+2})/(α_{i+2} − α_{i+1}) · (α_{i+1} − α).

Let h_i ≤ L_i and h_{i+1} ≤ L_{i+1}. If their chord is below A and B where these meet, it is below H on the cell. The
hull of such values, constant beyond the last one, is a convex function below H. Its slopes are the tails. H(0) = 1
serves as the point before α_0 = 1. The first line is below H for α < 1, too, where H is above its extended first chord.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Tails
from epsilond.accountants.numerics.special import log_difference
from epsilond.accountants.profiles.piecewise import NEAR_TIE, PiecewiseTails, lower_hull

if TYPE_CHECKING:
    from epsilond.accountants.curve.enclosure import Enclosure
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_LEAST_FALL = 0.015
"""Least difference of log δ of neighbouring points. Closer points are left out."""
_FALL_OF_WIDTH = 0.6
"""Ratio of the least difference to the cube root of the width of the bounds.

The loss between points is about the square of their difference. The loss from the width is about their quotient.
"""
_ROUNDING = 1e-9
"""Relative amount by which values are lowered: far above the roundings of a cell."""
_FARTHEST = 600.0
"""Largest distance of neighbouring ε, and largest −log δ at ε = 0, for which exponentials are doubles."""


def attained_or_own_tails(profile: Profile, epsilon: FloatArray) -> Tails:
    """Return log tails of the privacy loss for lower bounds on δ.

    They are those of two output distributions of the mechanism. A profile without such tails attains its own ones.

    Args:
        profile: the privacy profile.
        epsilon: array of ε ≥ 0, in nats.

    Returns:
        Log probabilities of a loss above each ε under both distributions.
    """
    tails = profile.attained_log_tails(epsilon)
    return profile.log_tails(epsilon) if tails is None else tails


def infinite_loss_only(epsilon: FloatArray, log_infinite: float) -> Tails:
    """Return the log tails of two distributions with an infinite privacy loss, and no other positive loss.

    Args:
        epsilon: array of ε ≥ 0, in nats.
        log_infinite: log of the probability of the infinite loss; −∞ for none.

    Returns:
        The constant log probability under the first distribution, and −∞ under the second one.
    """
    points = np.asarray(epsilon, dtype=np.float64)
    return Tails(np.full(points.shape, log_infinite), np.full(points.shape, -np.inf))


def table_below(rows: PiecewiseTails, lower: FloatArray) -> PiecewiseTails:
    """Return a convex function h(α) below a privacy profile, from lower bounds on its values in a table.

    The profile is δ(ε) as a function of α = e^ε, and linear between the ε of the table. h is the convex hull of smaller
    values, so it is below the profile. The lower bounds are changed in two ways:

    - Each value is lowered until its log is at least `NEAR_TIE` below the previous one, so that slopes are accurate.
    - The first value is lowered until −h′ ≤ (1 − h)/2 at α = 1. The first line, extended to α < 1, is then below
      1 − α + α h(1/α), which is the profile there if both directions of the pair have the profile h.

    Args:
        rows: table with upper bounds on the values.
        lower: lower bounds on the logs of the values, one for each ε of the table.

    Returns:
        The vertices of the convex function: their ε, and the logarithms of its values.
    """
    values = np.minimum(lower, rows.log_value)

    # The condition at α = 1 is h_0 ≤ (h_1 + w)/(1 + w), where w is half of the distance of the first two α.
    if values.size > 1:
        log_half = float(log_difference(rows.epsilon[1:2], rows.epsilon[:1])[0]) - math.log(2.0)
        log_most = float(np.logaddexp(values[1], log_half)) - float(np.logaddexp(0.0, log_half))
        values[0] = min(values[0], log_most - _ROUNDING * (1.0 + abs(log_most)))

    # Value i plus i · `NEAR_TIE` is made non-increasing in i, so that neighbouring values differ by at least
    # `NEAR_TIE`.
    offsets = NEAR_TIE * np.arange(values.size)
    values = np.minimum.accumulate(values + offsets) - offsets
    return _hull_of(rows.epsilon, values)


def _hull_of(epsilon: FloatArray, log_values: FloatArray) -> PiecewiseTails:
    """Return the greatest convex function of e^ε below decreasing values, as a table.

    Of several values of 0 (logarithm −∞) at the end, only the first one is used.

    Args:
        epsilon: ε of the points in nats, increasing.
        log_values: logarithms of the values, decreasing.

    Returns:
        The vertices of the hull.
    """
    count = min(int(np.isfinite(log_values).sum()) + 1, log_values.size)
    vertices = lower_hull(epsilon[:count], log_values[:count])
    return PiecewiseTails(epsilon[vertices], log_values[vertices])


def attained_table(epsilon: FloatArray, bounds: Enclosure, log_infinite: float) -> PiecewiseTails | None:
    """Return a table of a convex function below a profile δ(ε), for lower bounds on δ of compositions.

    The values at the points are lowered by factors, so that the lines between neighbours are below the profile.

    Args:
        epsilon: increasing ε from 0 on, in nats.
        bounds: bounds on log δ there.
        log_infinite: lower bound on the log of the probability of an infinite loss.

    Returns:
        The function as a table; None if fewer than three usable points remain, ε = 0 is not one of them, numbers are
        outside the range of exponentials, or the bounds are too wide.
    """
    chosen = _distinct_points(bounds)
    points, lower, upper = epsilon[chosen], bounds.lower[chosen], bounds.upper[chosen]
    if points.size < 3 or points[0] != 0.0:
        return None
    if upper[0] < -_FARTHEST or np.diff(points).max() > _FARTHEST:
        return None

    # A point belongs to the intervals on both sides, and needs the smaller one of their factors.
    factors_of_intervals = _lowering_factors(points, lower, upper)
    factors = np.minimum(np.append(1.0, factors_of_intervals), np.append(factors_of_intervals, 1.0))
    with np.errstate(divide="ignore"):
        values = np.minimum.accumulate(lower + np.log(factors * (1.0 - _ROUNDING)))

    # The outer values must also be valid for α < 1 and for large α.
    values[0] = min(values[0], _largest_first_value(points, lower, upper, values[1]))
    values[-1] = min(values[-1], log_infinite)
    table = _hull_of(points, values)
    return table if _is_valid(table, points, lower, upper) else None


def _distinct_points(bounds: Enclosure) -> list[int]:
    """Select points with values of δ that differ enough for accurate slopes between them.

    The upper bound at a selected point is well below the lower bound at the previous selected point. The selection ends
    before the first point without a finite lower bound.

    Args:
        bounds: bounds on log δ at increasing ε.

    Returns:
        The indices of the selected points, increasing.
    """
    chosen: list[int] = []
    previous_lower = math.inf
    for index, (lower, upper) in enumerate(zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)):
        if lower == -math.inf:
            break
        least_fall = max(_LEAST_FALL, _FALL_OF_WIDTH * math.cbrt(upper - lower))
        if upper <= previous_lower - least_fall:
            chosen.append(index)
            previous_lower = lower
    return chosen


def _lowering_factors(points: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return factors that lower lines between lower bounds on a convex function H, until they are below H.

    At the points, L_i ≤ H ≤ U_i. The line from L_i to L_{i+1} may be above H in between, so it is multiplied by a
    factor. Chords of H over the two neighbouring intervals, extended into this one, are below H. The line is lowered
    to the point where they meet: the factor is the larger extended chord there, divided by the line.

    Args:
        points: ε of the points in nats, increasing. H is convex in e^ε.
        lower: log L, natural logarithms.
        upper: log U, natural logarithms.

    Returns:
        One factor in [0, 1] for each interval.
    """
    # All numbers of an interval are relative to U_i and α_i = e^ε_i.
    log_start, log_end = lower[:-1] - upper[:-1], lower[1:] - upper[:-1]
    start, end = np.exp(log_start), np.exp(log_end)
    steps = np.diff(points)
    width = np.expm1(steps)

    # The steepness of the chord before the interval. The point before the first one is H(0) = 1.
    log_before = np.append(0.0, upper[:-2])
    distance_before = np.append(1.0, -np.expm1(-steps[:-1]))
    slope_before = (np.exp(log_before - upper[:-1]) - start) / distance_before

    # The steepness of the chord after the interval, which is 0 after the last point.
    slope_after = np.zeros(width.size)
    log_after = upper[2:] - upper[:-2]
    distance_after = np.exp(steps[:-1]) * np.expm1(steps[1:])
    slope_after[:-1] = (end[:-1] - np.exp(log_after)) / distance_after

    with np.errstate(divide="ignore", invalid="ignore"):
        # The distance from point i at which the extended chords meet, within the interval.
        meeting = (start - end - slope_after * width) / (slope_before - slope_after)
        meeting = np.clip(np.where(np.isnan(meeting), 0.0, meeting), 0.0, width)
        from_before = start - slope_before * meeting
        from_after = end + slope_after * (width - meeting)
        line = start + (end - start) * (meeting / width)
        return np.asarray(np.clip(np.maximum(from_before, from_after) / line, 0.0, 1.0))


def _largest_first_value(points: FloatArray, lower: FloatArray, upper: FloatArray, second: float) -> float:
    """Return the largest valid first value of a table of lower bounds on a privacy profile H(α) with α = e^ε.

    The table is a convex function h with the values h_i at the points, of which the first is α = 1. It must be below H
    for α < 1 too. So the line through h_0 and h_1, extended to α = 0, must not exceed the first chord of H there. This
    chord is from L_0 to U_1, the bounds on H that make it smallest at α = 0.

    Args:
        points: ε of the points in nats, increasing.
        lower: log L, lower bounds on H.
        upper: log U, upper bounds on H.
        second: log h_1, natural logarithm of the second value.

    Returns:
        The natural logarithm of h_0; −∞ if no positive value is valid.
    """
    # Lengths in α, relative to α = 1 at the first point.
    width = math.expm1(points[1])
    first = math.exp(lower[0])
    chord_at_zero = first + (first - math.exp(upper[1])) / width
    # h_0 + (h_0 − h_1)/width = chord_at_zero, solved for h_0 and rounded down by far more than the errors.
    value = (chord_at_zero * width + math.exp(second)) / (1.0 + width) * (1.0 - _ROUNDING)
    return math.log(value) if value > 0.0 else -math.inf


def _is_valid(table: PiecewiseTails, points: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
    """Return whether a table of lower bounds on a privacy profile H(α) is accurate, and valid also for α = e^ε < 1.

    Args:
        table: a convex function of α that is below H for α ≥ 1, with the logarithms of its values.
        points: ε of the points at which H is known, in nats, increasing.
        lower: log L, lower bounds on H at the points.
        upper: log U, upper bounds on H at the points.
    """
    values = table.log_value
    if values.size < 2 or not math.isfinite(values[0]):
        return False
    # Between nearly equal values, slopes are inaccurate.
    least_fall = (-np.diff(values)).min()
    if least_fall < NEAR_TIE:
        return False

    # At α = 0, the first line of the table must be at most the extended first chord of H.
    steepness = math.exp(float(log_difference(values[:1], values[1:2])[0])) / math.expm1(table.epsilon[1])
    first = math.exp(lower[0])
    steepness_of_chord = (first - math.exp(upper[1])) / math.expm1(points[1])
    return math.exp(values[0]) + steepness <= first + steepness_of_chord
