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


@dataclass(frozen=True)
class PiecewiseTails:
    """A privacy profile δ = D(α) that is linear in α = e^ε between the points of a table, and constant after the last.

    D is decreasing and convex. It determines the tails of the privacy loss L under both distributions of a pair. They
    are Q(L > ε) = −dD/dα and P(L > ε) = D + α Q(L > ε).

    Attributes:
        epsilon: ε of the points in nats, increasing from 0, a flat array.
        log_value: log D of the points, natural logarithms, decreasing.
    """

    epsilon: FloatArray
    log_value: FloatArray

    @property
    def log_infinite_mass(self) -> float:
        """Log probability of an infinite loss: the last log value, which is constant beyond the table."""
        return float(self.log_value[-1])

    @cached_property
    def log_slopes(self) -> FloatArray:
        """Logarithms of −dD/dα, one for each interval between neighbouring points.

        Every profile is below the line from (0, 1) to its value at α. A slope is therefore limited to that of this
        line.
        """
        log_falls = log_difference(self.log_value[:-1], self.log_value[1:])
        log_runs = log_difference(self.epsilon[1:], self.epsilon[:-1])
        log_slopes_from_one = log1m_exp(np.minimum(self.log_value[1:], 0.0)) - self.epsilon[1:]
        return np.minimum(log_falls - log_runs, log_slopes_from_one)

    def tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the privacy loss of two distributions with this table as their profile.

        The loss L has the tails P(L > ε) and Q(L > ε). The profile D is linear in α = e^ε between its points. Q(L > ε)
        is −dD/dα to the right of ε. P(L > ε) is D(α_right) + α_right Q(L > ε), where α_right is the next point.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            The log tails. Beyond the last point only the infinite loss remains.
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


NEAR_TIE = 0.01
"""Difference of log values below which rows are merged. A slope between such rows would have no digits."""


def tabulate(epsilon: FloatArray, log_value: FloatArray) -> PiecewiseTails:
    """Return the greatest convex non-increasing function below given points, as a table.

    It is convex in α = e^ε, and near-ties are left out. A near-tie is a point at which log D is less than `NEAR_TIE`
    below the previous one. All points after the first with D = 0 are left out too.

    Args:
        epsilon: ε of the points in nats, increasing, a flat array.
        log_value: log D of the points, natural logarithms.

    Returns:
        The vertices of the function: their ε and log D.
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
    last = math.inf
    for index, value in enumerate(log_values):
        if last == -math.inf:
            break
        # A value that is far enough below the last one, or the first −∞.
        if value <= last - NEAR_TIE:
            indices.append(index)
            last = value
    return indices


def lower_hull(epsilon: FloatArray, log_value: FloatArray) -> list[int]:
    """Return the vertices of the greatest convex function below given points, as indices.

    The function is convex in α = e^ε, and the points are (α, D). Points are added as vertices from left to right.
    Previous vertices are removed while the line to the new point decreases at least as steeply as the line before it.

    Args:
        epsilon: ε of the points in nats, increasing, a flat array.
        log_value: log D of the points, decreasing.

    Returns:
        Increasing indices of points, from the first to the last.
    """
    neighbour_slopes = _neighbour_slopes(epsilon, log_value).tolist()
    vertices: list[int] = [0]
    slopes: list[float] = []  # log −dD/dα between the vertices
    for index in range(1, epsilon.size):
        # Slopes between neighbours are computed at once before, the others here.
        if vertices[-1] == index - 1:
            slope = neighbour_slopes[index - 1]
        else:
            slope = _log_slope(epsilon, log_value, vertices[-1], index)
        while slopes and slopes[-1] <= slope:
            vertices.pop()
            slopes.pop()
            slope = _log_slope(epsilon, log_value, vertices[-1], index)
        vertices.append(index)
        slopes.append(slope)
    return vertices


def _neighbour_slopes(epsilon: FloatArray, log_value: FloatArray) -> FloatArray:
    """Return the log steepness of the line from each point of a table to the next.

    It is log −dD/dα with α = e^ε.

    Args:
        epsilon: ε of the points in nats, increasing.
        log_value: log D of the points, decreasing.

    Returns:
        One logarithm for each pair of neighbours; math.inf if their α are too close.
    """
    with np.errstate(invalid="ignore"):
        log_runs = log_difference(epsilon[1:], epsilon[:-1])
        log_falls = log_difference(log_value[:-1], log_value[1:])
        return np.where(np.isfinite(log_runs), log_falls - log_runs, np.inf)


def _log_slope(epsilon: FloatArray, log_value: FloatArray, first: int, second: int) -> float:
    """Return the log steepness of the line through two points of a table.

    It is log −dD/dα with α = e^ε.

    Args:
        epsilon: ε of all points in nats, increasing.
        log_value: log D of all points, decreasing.
        first: index of the left point.
        second: index of the right point.

    Returns:
        The logarithm; math.inf if the α of the points are too close.
    """
    log_fall = float(log_difference(log_value[[first]], log_value[[second]])[0])
    log_run = float(log_difference(epsilon[[second]], epsilon[[first]])[0])
    return log_fall - log_run if math.isfinite(log_run) else math.inf
