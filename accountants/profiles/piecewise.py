"""A dominating pair from a table: tails of the convex curve, linear in e^ε, below certified upper bounds.

Let D_i ≥ H(α_i) for a convex H. The greatest convex minorant of the points (α_i, D_i) is at least H between the first
and the last point, since H itself is a convex minorant of their interpolation. With a constant beyond the last point it
is a privacy profile that dominates, and its tails are its slopes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Tails
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log_difference

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

TABLE_ACCURACY = 2.0**12 * UNIT_ROUNDOFF
"""Bound on the error of a tail per unit of 1 + |log tail|. A slope is a difference of values at least 1 % apart."""
NEAR_TIE = 0.01
"""Difference of log values below which points are left out. The slope between such points would be inaccurate."""


@dataclass(frozen=True)
class PiecewiseTails:
    """A privacy profile δ = D(α) that is linear in α = e^ε between the points of a table, and constant after the last.

    D is decreasing and convex. Such a profile belongs to a pair of distributions P and Q with the privacy loss L, where

        Q(L > ε) = −dD/dα,   P(L > ε) = D + α Q(L > ε).

    Attributes:
        epsilon: ε of the points in nats, increasing from 0, a flat array.
        log_value: log D of the points, natural logarithms, decreasing.
    """

    epsilon: FloatArray
    log_value: FloatArray

    @property
    def log_infinite_mass(self) -> float:
        """Log probability of an infinite loss: the last value of log D, because D is constant beyond the table."""
        return float(self.log_value[-1])

    @cached_property
    def log_slopes(self) -> FloatArray:
        """Logarithms of the slopes −dD/dα of the profile δ = D(α), α = e^ε, one for each interval between points.

        D(0) = 1 and D is convex. So −dD/dα is at most the slope of the line from (0, 1) to the right end of the
        interval. A slope that is larger because of rounding is replaced by that one.
        """
        log_falls = log_difference(self.log_value[:-1], self.log_value[1:])
        log_runs = log_difference(self.epsilon[1:], self.epsilon[:-1])
        log_slopes_from_one = log1m_exp(np.minimum(self.log_value[1:], 0.0)) - self.epsilon[1:]
        return np.minimum(log_falls - log_runs, log_slopes_from_one)

    def tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss L above ε, under P and Q with this table as their profile D.

        Q(L > ε) is the steepness −dD/dα, with α = e^ε, to the right of ε. If α₁ is the next point of the table:

            P(L > ε) = D(α₁) + α₁ Q(L > ε).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε. From the last point on, only the infinite loss remains, and Q(L > ε) = 0.
        """
        if self.epsilon.size == 1:
            shape = np.shape(epsilon)
            return Tails(np.full(shape, self.log_infinite_mass), np.full(shape, -np.inf))

        # The interval of the table that contains each ε.
        piece = np.searchsorted(self.epsilon, epsilon, side="right") - 1
        is_inside = piece < self.epsilon.size - 1
        piece = np.minimum(piece, self.epsilon.size - 2)

        log_q = self.log_slopes[piece]
        log_p = np.logaddexp(self.log_value[piece + 1], self.epsilon[piece + 1] + log_q)
        log_p = np.minimum(log_p, 0.0)
        return Tails(np.where(is_inside, log_p, self.log_infinite_mass), np.where(is_inside, log_q, -np.inf))


def tabulate(epsilon: FloatArray, log_value: FloatArray) -> PiecewiseTails:
    """Build a convex non-increasing table of upper bounds on δ = D(α) from bounds at single points α = e^ε.

    The result is the greatest convex minorant of the points that are kept. A point is left out if log D is less than
    `NEAR_TIE` below that of the previous kept point, or after the first point with D = 0.

    Args:
        epsilon: ε of the points in nats, increasing, a flat array.
        log_value: log D of the points, natural logarithms. A value above an earlier one is lowered to it.

    Returns:
        The vertices of the minorant, with their ε and log D.
    """
    log_value = np.minimum.accumulate(log_value)
    distinct = _drop_near_ties(log_value.tolist())
    epsilon, log_value = epsilon[distinct], log_value[distinct]
    vertices = lower_hull(epsilon, log_value)
    return PiecewiseTails(epsilon[vertices], log_value[vertices])


def _drop_near_ties(log_values: list[float]) -> list[int]:
    """Select the values that are at least `NEAR_TIE` below the previous selected value, up to the first −∞.

    The slope between nearly equal values of a decreasing function would be inaccurate, so such values are left out.

    Args:
        log_values: logarithms of the values, in the order of increasing ε.

    Returns:
        The indices of the selected values, increasing.
    """
    indices: list[int] = []
    last_selected = math.inf
    for index, value in enumerate(log_values):
        if last_selected == -math.inf:
            break
        # A value that is far enough below the last one, or the first −∞.
        if value <= last_selected - NEAR_TIE:
            indices.append(index)
            last_selected = value
    return indices


def lower_hull(epsilon: FloatArray, log_value: FloatArray) -> list[int]:
    """Find the vertices of the greatest function below given points (α, D) that is convex in α = e^ε.

    Points are added as vertices from left to right. Previous vertices are removed while the line to the new point
    decreases at least as steeply as the line before it.

    Args:
        epsilon: ε of the points in nats, increasing, a flat array.
        log_value: log D of the points, decreasing.

    Returns:
        Increasing indices of points, from the first to the last.
    """
    vertices: list[int] = [0]
    slopes: list[float] = []  # log −dD/dα between the vertices
    # The point before each new point is a vertex. It may be removed later.
    for index, neighbour_slope in enumerate(_neighbour_slopes(epsilon, log_value).tolist(), start=1):
        slope = neighbour_slope
        while slopes and slopes[-1] <= slope:
            vertices.pop()
            slopes.pop()
            slope = _log_steepness(epsilon, log_value, vertices[-1], index)
        vertices.append(index)
        slopes.append(slope)
    return vertices


def _neighbour_slopes(epsilon: FloatArray, log_value: FloatArray) -> FloatArray:
    """Compute the log steepness log −dD/dα, with α = e^ε, of the line from each point (α, D) of a table to the next.

    The steepness decides which points are vertices of a convex function below all points.

    Args:
        epsilon: ε of the points in nats, increasing.
        log_value: log D of the points, decreasing.

    Returns:
        One natural logarithm for each pair of neighbours; ∞ if their ε are equal.
    """
    with np.errstate(invalid="ignore"):
        log_runs = log_difference(epsilon[1:], epsilon[:-1])
        log_falls = log_difference(log_value[:-1], log_value[1:])
        return np.where(np.isfinite(log_runs), log_falls - log_runs, np.inf)


def _log_steepness(epsilon: FloatArray, log_value: FloatArray, left: int, right: int) -> float:
    """Compute log −dD/dα, with α = e^ε, of the line through two points (α, D) of a table.

    Args:
        epsilon: ε of all points in nats, increasing.
        log_value: log D of all points, decreasing.
        left: index of the left point.
        right: index of the right point.

    Returns:
        The natural logarithm; ∞ if the ε of both points are equal.
    """
    log_fall = float(log_difference(log_value[[left]], log_value[[right]])[0])
    log_run = float(log_difference(epsilon[[right]], epsilon[[left]])[0])
    return log_fall - log_run if math.isfinite(log_run) else math.inf
