"""Distributions on cells of the line, moved down in the usual stochastic order by their numerical error.

One distribution is below another in this order if every half-line (−∞, x] is at least as probable under it. The mass of
a cell is a difference of probabilities of half-lines. In the lower half they are the probabilities below its edges, in
the upper half those above them, so that a small mass keeps its digits. Each probability is moved by its error in one
direction. The masses are then those of a distribution that is certainly below the exact one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.binned import finite_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

ACCURACY = 1e-9
"""Relative error of sums of up to two million products, and of binomial weights."""
_TAIL_ACCURACY = 1e-12
"""Relative error of the normal tail at up to 38 standard deviations; 2.3e-13 is measured."""
_LEAST_MASS = 1e-290
"""Least mass of a cell. A smaller cell is merged with the next one, because its digits may be lost by underflow."""


def symmetric_points(end: float, count: int) -> FloatArray:
    """Return equally spaced points from −x to x, in increasing order and exactly symmetric about 0.

    The points of `linspace` are symmetric only up to rounding.

    Args:
        end: the last point x > 0.
        count: number of points, at least 2.

    Returns:
        An increasing array of the points.
    """
    points = np.linspace(-end, end, count)
    # The mean of each point and the negative of its mirror image is exactly antisymmetric.
    return np.asarray(0.5 * (points - points[::-1]))


def half_line_error(reach: float, deviation: float, roundings: int = 8) -> float:
    """Return a bound on the relative error of a computed Gaussian probability of a half-line, if it is above 1e-290.

    The argument of the normal tail function is a rounded difference, divided by the standard deviation. Above 1e-290
    the argument is at most 37. There the log of the tail function has a slope of less than 40.

    Args:
        reach: bound on the absolute values of both terms, the edge of the half-line and the mean.
        deviation: least standard deviation.
        roundings: number of roundings of the two terms and of the standard deviation.

    Returns:
        The bound, a number without unit.
    """
    # The error of the tail function, and the error of its argument times the slope.
    return _TAIL_ACCURACY + 40 * roundings * UNIT_ROUNDOFF * reach / deviation


def move_cells_down(below: FloatArray, above: FloatArray, error: float, moved: float = 0.0) -> FloatArray:
    """Compute the probabilities of intervals of a line, rounded so that the distribution is below the true one.

    "Below" is meant stochastically: every half-line (−∞, x] is at least as probable. The edges divide the line into
    intervals, the cells. Mass is moved to lower cells by more than the rounding error of the given probabilities. In
    the lower half of the line, the mass of a cell is a difference of probabilities below its edges, in the upper half
    of probabilities above them. So small masses keep their digits.

    Args:
        below: probability of a value below each edge, along the last axis.
        above: probability of a value above each edge.
        error: relative error of these probabilities.
        moved: further probability that is moved to the lowest cell.

    Returns:
        The masses along the last axis, with one cell more than there are edges.
    """
    # Move both probabilities by their error, and keep them monotone along the line.
    below = np.maximum.accumulate(np.minimum(below * (1.0 + error) + moved, 1.0), axis=-1)
    above = np.minimum.accumulate(np.maximum(above * (1.0 - error) - moved, 0.0), axis=-1)

    # Add the two ends of the line as edges.
    one_on_each_side = [(0, 0)] * (below.ndim - 1) + [(1, 1)]
    below = np.pad(below, one_on_each_side, constant_values=(0.0, 1.0))
    above = np.pad(above, one_on_each_side, constant_values=(1.0, 0.0))

    # The mass of a cell is a difference of the smaller ones of both probabilities.
    is_lower = below <= above
    ends_in_lower_half, begins_in_lower_half = is_lower[..., 1:], is_lower[..., :-1]
    mass_in_lower_half = np.diff(below, axis=-1)
    mass_across_middle = np.maximum(1.0 - below[..., :-1] - above[..., 1:], 0.0)
    mass_in_upper_half = -np.diff(above, axis=-1)
    upper_or_middle = np.where(begins_in_lower_half, mass_across_middle, mass_in_upper_half)
    return np.asarray(np.where(ends_in_lower_half, mass_in_lower_half, upper_or_middle))


class _CellMasses(NamedTuple):
    """The probabilities of one interval of the line (a cell) under two distributions.

    Attributes:
        first: probability of the cell under the first distribution.
        second: probability of the cell under the second distribution.
    """

    first: float
    second: float


def monotone_pair(first: FloatArray, second: FloatArray) -> Pair:
    """Merge intervals of a line until the likelihood ratio of two distributions on them never decreases.

    The ratio is that of the mass of an interval (a cell) under the first distribution to that under the second one.
    Merging is post-processing, so the δ of the merged distributions is still a lower bound. Cells of tiny mass are
    merged too, because their digits may be lost by underflow.

    Args:
        first: masses of the cells under the first distribution, in the order of the line.
        second: masses of the same cells under the second distribution.

    Returns:
        The two distributions on the merged cells, as a pair from which bounds on δ are computed.
    """
    cells: list[_CellMasses] = []
    for first_mass, second_mass in zip(first.tolist(), second.tolist(), strict=True):
        # Add the next cell, and merge backwards as long as the ratio decreases.
        cells.append(_CellMasses(max(first_mass, 0.0), max(second_mass, 0.0)))
        while len(cells) > 1 and _must_merge(cells[-2], cells[-1]):
            cells[-2:] = [_merge_cells(cells[-2], cells[-1])]
    # A tiny cell is merged with the next one, which the last cell lacks.
    if len(cells) > 1 and min(cells[-1]) < _LEAST_MASS:
        cells[-2:] = [_merge_cells(cells[-2], cells[-1])]
    log_first, log_second = np.log(np.asarray(cells)).T
    return finite_pair(log_first, log_second, ACCURACY)


def _merge_cells(left: _CellMasses, right: _CellMasses) -> _CellMasses:
    """Return the masses of the union of two cells under both distributions."""
    return _CellMasses(left.first + right.first, left.second + right.second)


def _must_merge(left: _CellMasses, right: _CellMasses) -> bool:
    """Return whether the left cell is too small, or the likelihood ratio decreases to the right cell."""
    decreases = left.first * right.second > right.first * left.second
    return min(left) < _LEAST_MASS or decreases
