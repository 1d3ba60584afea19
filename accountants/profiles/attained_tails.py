"""Tails of a pair that a product of pairs dominates, from bounds on its profile at some ε.

H is the profile of the product, convex in α = e^ε, with L_j ≤ H(α_j) ≤ U_j. A chord of H is below H where it is
extended beyond its points. So on the cell [α_i, α_{i+1}] H is above the lines

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

_LEAST_FALL, _FALL_OF_WIDTH = 0.015, 0.6
"""Least difference of log δ of neighbouring points, and its ratio to the cube root of the width of the bounds.

Closer points are left out. The loss between points is about the square of their difference. The loss from the width is
about their quotient.
"""
_ROUNDING = 1e-9
"""Relative amount by which values are lowered: far above the roundings of a cell."""
_FARTHEST = 600.0
"""Largest distance of neighbouring ε, and largest −log δ at ε = 0, for which exponentials are doubles."""


def attained_or_own_tails(profile: Profile, epsilon: FloatArray) -> Tails:
    """Return the attained log tails of a profile, which are its own log tails if it states no others.

    Args:
        profile: the profile.
        epsilon: ε ≥ 0, in nats.
    """
    tails = profile.attained_log_tails(epsilon)
    return profile.log_tails(epsilon) if tails is None else tails


def infinite_loss_only(epsilon: FloatArray, log_infinite: float) -> Tails:
    """Return the log tails of a pair with an infinite loss, and no other positive one.

    Args:
        epsilon: ε ≥ 0, in nats.
        log_infinite: log of the mass of the infinite loss; −∞ for none.
    """
    points = np.asarray(epsilon, dtype=np.float64)
    return Tails(np.full(points.shape, log_infinite), np.full(points.shape, -np.inf))


def table_below(rows: PiecewiseTails, lower: FloatArray) -> PiecewiseTails:
    """Return a convex function below a profile, from lower bounds on the values at the rows of a table.

    The profile joins the exact values at the rows. Any values h below those will do, as their hull is below that of the
    exact ones. They are lowered until they fall by a near-tie at least. The first one is lowered until −h′ ≤ (1 − h)/2
    at α = e^ε = 1. The line there is then below 1 − α + α h(1/α), and so below a symmetric profile, for α < 1.

    Args:
        rows: table with upper bounds on the values.
        lower: lower bounds on the logs of the values.
    """
    values = np.minimum(lower, rows.log_value)
    if values.size > 1:
        log_half = float(log_difference(rows.epsilon[1:2], rows.epsilon[:1])[0]) - math.log(2.0)
        log_most = float(np.logaddexp(values[1], log_half)) - float(np.logaddexp(0.0, log_half))
        values[0] = min(values[0], log_most - _ROUNDING * (1.0 + abs(log_most)))
    falls = NEAR_TIE * np.arange(values.size)
    values = np.minimum.accumulate(values + falls) - falls
    count = min(int(np.isfinite(values).sum()) + 1, values.size)  # values fall: one −∞ at the end is enough
    vertices = lower_hull(rows.epsilon[:count], values[:count])
    return PiecewiseTails(rows.epsilon[vertices], values[vertices])


def attained_table(epsilon: FloatArray, bounds: Enclosure, log_infinite: float) -> PiecewiseTails | None:
    """Return a convex function below a profile δ(ε), with tails for compositions that bound δ from below.

    Args:
        epsilon: increasing ε from 0 on, in nats.
        bounds: bounds on log δ there.
        log_infinite: lower bound on the log of the mass of an infinite loss.

    Returns:
        The function as a table; None if the bounds are too wide for one.
    """
    chosen = _distinct_points(bounds)
    points, lower, upper = epsilon[chosen], bounds.lower[chosen], bounds.upper[chosen]
    if points.size < 3 or points[0] != 0.0 or upper[0] < -_FARTHEST or np.diff(points).max() > _FARTHEST:
        return None
    shares = np.minimum(*(np.append(1.0, _shares(points, lower, upper)), np.append(_shares(points, lower, upper), 1.0)))
    with np.errstate(divide="ignore"):
        values = np.minimum.accumulate(lower + np.log(shares * (1.0 - _ROUNDING)))
    values[0] = min(values[0], _largest_first_value(points, lower, upper, values[1]))
    values[-1] = min(values[-1], log_infinite)
    count = min(int(np.isfinite(values).sum()) + 1, values.size)  # values fall: one −∞ at the end is enough
    vertices = lower_hull(points[:count], values[:count])
    table = PiecewiseTails(points[vertices], values[vertices])
    return table if _is_valid(table, points, lower, upper) else None


def _distinct_points(bounds: Enclosure) -> list[int]:
    """Return the indices of points with values well below the previous chosen one, so that slopes are meaningful.

    The points end at the first one without a finite lower bound.

    Args:
        bounds: bounds on log δ at increasing ε.

    Returns:
        The indices, increasing.
    """
    chosen: list[int] = []
    last = math.inf
    for index, (lower, upper) in enumerate(zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)):
        if lower == -math.inf:
            break
        if upper <= last - max(_LEAST_FALL, _FALL_OF_WIDTH * math.cbrt(upper - lower)):
            chosen.append(index)
            last = lower
    return chosen


def _shares(points: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a factor for each cell that puts the chord of the lower bounds at its ends below the profile H.

    The cell is between neighbouring points i and i + 1, with L_i ≤ H ≤ U_i there. All numbers of a cell are relative to
    U_i and α_i = e^ε. x is α/α_i − 1.

    Args:
        points: ε of the points.
        lower: log L.
        upper: log U.

    Returns:
        One factor in [0, 1] for each cell.
    """
    start, end = lower[:-1] - upper[:-1], lower[1:] - upper[:-1]
    width = np.expm1(np.diff(points))
    log_before, distance_before = np.append(0.0, upper[:-2]), np.append(1.0, -np.expm1(-np.diff(points)[:-1]))
    first_slope = (np.exp(log_before - upper[:-1]) - np.exp(start)) / distance_before
    last_slope = np.zeros(width.size)
    log_after = upper[2:] - upper[:-2]
    distance_after = np.exp(np.diff(points)[:-1]) * np.expm1(np.diff(points)[1:])
    last_slope[:-1] = (np.exp(end[:-1]) - np.exp(log_after)) / distance_after
    low, high = np.exp(start), np.exp(end)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = (low - high - last_slope * width) / (first_slope - last_slope)
        place = np.clip(np.where(np.isnan(place), 0.0, place), 0.0, width)
        value = np.maximum(low - first_slope * place, high + last_slope * (width - place))
        chord = low + (high - low) * (place / width)
    return np.asarray(np.clip(value / chord, 0.0, 1.0))


def _largest_first_value(points: FloatArray, lower: FloatArray, upper: FloatArray, second: float) -> float:
    """Return the largest first value log h_0 of a convex function below the profile H that is valid for α < 1 too.

    The line through h_0 and h_1 must be at α = e^ε = 0 at most the extended first chord of H.

    Args:
        points: ε of the points.
        lower: log L, lower bounds on H.
        upper: log U, upper bounds on H.
        second: log h_1.
    """
    width = math.expm1(points[1])
    chord_at_zero = math.exp(lower[0]) + (math.exp(lower[0]) - math.exp(upper[1])) / width
    value = (chord_at_zero * width + math.exp(second)) / (1.0 + width) * (1.0 - _ROUNDING)
    return math.log(value) if value > 0.0 else -math.inf


def _is_valid(table: PiecewiseTails, points: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
    """Return whether a convex table is below the profile H for α = e^ε < 1 too, and falls enough for accurate slopes.

    Args:
        table: the table, a convex hull.
        points: ε of the points.
        lower: log L, lower bounds on H.
        upper: log U, upper bounds on H.
    """
    values = table.log_value
    if values.size < 2 or not math.isfinite(values[0]) or (-np.diff(values)).min() < NEAR_TIE:
        return False
    slope = math.exp(float(log_difference(values[:1], values[1:2])[0])) / math.expm1(table.epsilon[1])
    chord = (math.exp(lower[0]) - math.exp(upper[1])) / math.expm1(points[1])
    return math.exp(values[0]) + slope <= math.exp(lower[0]) + chord
