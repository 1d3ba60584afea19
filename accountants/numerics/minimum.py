"""Minima of functions of one variable: searched by golden sections, and enclosed if the function is convex.

A chord of a convex function, extended beyond its endpoints, is nowhere above the function. Between two neighbouring
points, the extended chords on the left and on the right of them therefore bound the function from below. They meet
close to its least value if the points are close to the minimum. The gap is of the order of the square of their
distance. It is zero if the function is piecewise linear and bends only between the two points. If values are known as
enclosures, a chord takes the bounds that make its extension lower. Chords to further points may then be better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray

RATIO = 0.5 * (math.sqrt(5.0) - 1.0)
"""The golden ratio's reciprocal, about 0.62, by which a golden section shortens an interval."""


def golden_section(cost: Callable[[float], float], low: float, high: float, *, width: float, most: int = 200) -> float:
    """Search the minimiser of a unimodal function on an interval by the golden section.

    A unimodal function decreases up to its minimiser and increases after it. Each step shortens the interval by a
    factor of 0.62.

    Args:
        cost: the function.
        low: lower end of the interval.
        high: upper end of the interval.
        width: length of the interval at which the search ends.
        most: largest number of steps.

    Returns:
        The better one of the two points that divide the last interval by the golden section.
    """
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(most):
        if high - low <= width:
            break
        # The part of the interval that contains the minimum is kept. One of its two dividing points is known already.
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - RATIO * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + RATIO * (high - low)
            at_right = cost(right)
    return left if at_left <= at_right else right


class Known(NamedTuple):
    """A point at which a function was evaluated, with bounds on its value there.

    Attributes:
        x: the argument, known to a few units of roundoff.
        lower: lower bound on the value of the function.
        upper: upper bound on the value of the function.
    """

    x: float
    lower: float
    upper: float


class Slopes(NamedTuple):
    """Bounds on the slope of a function, valid at every argument.

    Attributes:
        least: lower bound on the slope.
        most: upper bound on the slope.
    """

    least: float
    most: float


class Least(NamedTuple):
    """A lower bound on a convex function between its first and its last known point.

    Attributes:
        value: the bound.
        x: a point at which the lower bound on the function has this value.
    """

    value: float
    x: float


def least_value(known: Sequence[Known], slopes: Slopes) -> Least:
    """Return a lower bound on a convex function from bounds on its values at several points.

    Chords outside an interval, extended into it, bound the function from below. Each interval between neighbouring
    points first has a bound by one chord on either side. The least bound is then improved by chords to all other
    points, because the slope of a short chord is inaccurate. This is repeated until the least bound is an improved one.

    Args:
        known: two or more points in increasing order, with bounds on the function there.
        slopes: bounds on the slope of the function.

    Returns:
        The lower bound, and a point at which the bounding lines have this value.

    Guarantees: consider any convex function with such slopes, and with values within the bounds. The returned value is
    at most its minimum between the first and the last point.
    """
    bounds = {index: _between(known, index, slopes, 1) for index in _intervals_of_minimum(known)}
    improved_intervals: set[int] = set()
    while True:
        least_interval = min(bounds, key=lambda interval: bounds[interval].value)
        if least_interval in improved_intervals:
            return bounds[least_interval]
        improved_intervals.add(least_interval)
        bound_from_all_chords = _between(known, least_interval, slopes, len(known))
        if bound_from_all_chords.value > bounds[least_interval].value:
            bounds[least_interval] = bound_from_all_chords


def _intervals_of_minimum(known: Sequence[Known]) -> range:
    """Return the intervals between neighbouring points that may contain the minimum of a convex function.

    If a point is certainly above its neighbour on the side of the lowest point, a convex function increases from there
    outwards. Intervals beyond such a point are left out.

    Args:
        known: points in increasing order, with bounds on the function at each.

    Returns:
        The index of the first point of each such interval.
    """
    lowest = min(range(len(known)), key=lambda index: known[index].upper)
    first, last = 0, len(known) - 1
    for index in range(lowest - 1, -1, -1):
        is_above_inner_neighbour = known[index].lower > known[index + 1].upper
        if is_above_inner_neighbour:
            first = index
            break
    for index in range(lowest + 1, len(known)):
        is_above_inner_neighbour = known[index].lower > known[index - 1].upper
        if is_above_inner_neighbour:
            last = index
            break
    return range(first, last)


def _between(known: Sequence[Known], index: int, slopes: Slopes, most: int) -> Least:
    """Return a lower bound on a convex function on one interval between neighbouring points.

    The function is above each chord on the left of the interval, extended into it, and above each one on the right. So
    it is above the intersection of two such lines, if one falls and the other one rises.

    Args:
        known: points in increasing order, with bounds on the function there.
        index: index of the interval's first point.
        slopes: bounds on the slope of the function.
        most: largest number of points on either side of the interval from which chords are extended into it.

    Returns:
        The bound on this interval, and the point at which the bounding lines have this value.
    """
    # The largest slope on the left and the smallest one on the right give the best bound.
    left, right = known[index], known[index + 1]
    left_slope, right_slope = slopes.least, slopes.most
    for outer in known[max(index - most, 0) : index]:
        left_slope = max(left_slope, _slope(outer.upper, left.lower, outer.x, left.x, -1.0))
    for outer in known[index + 2 : index + 2 + most]:
        right_slope = min(right_slope, _slope(right.lower, outer.upper, right.x, outer.x, 1.0))

    if left_slope >= 0.0:  # the function rises on the interval
        return Least(left.lower, left.x)
    if right_slope <= 0.0:  # the function falls on the interval
        return Least(right.lower, right.x)

    rise = right.lower - left.lower + left_slope * left.x - right_slope * right.x
    intersection = min(max(rise / (left_slope - right_slope), left.x), right.x)
    change_from_left = left_slope * (intersection - left.x)
    change_from_right = right_slope * (intersection - right.x)
    # More than the errors of the intersection and of both lines, which are relative to their terms.
    rounding = 8 * UNIT_ROUNDOFF * (left.lower + right.lower - change_from_left - change_from_right)
    value = min(left.lower + change_from_left, right.lower + change_from_right)
    return Least(value - rounding, intersection)


def _slope(first: float, second: float, start: float, end: float, side: float) -> float:
    """Return the slope of a chord, rounded up or down by more than the effect of rounding errors.

    Args:
        first: value at the first point.
        second: value at the second point.
        start: the first point.
        end: the second point, above the first one.
        side: −1 to round the slope down, 1 to round it up.
    """
    slope = (second - first) / (end - start)
    relative_size = (abs(start) + abs(end)) / (end - start)
    # The slope errs by a few units of roundoff, and by the errors of the points relative to their distance.
    return slope + side * abs(slope) * 8 * UNIT_ROUNDOFF * (1.0 + relative_size)


def golden_sections(
    cost: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, *, steps: int
) -> FloatArray:
    """Search the minimisers of several unimodal functions by the golden section, all of them together.

    A unimodal function decreases up to its minimiser and increases after it. It may be infinite up to some argument.

    Args:
        cost: function from one argument of each function to their values.
        low: lower end of each interval.
        high: upper end of each interval.
        steps: number of steps, of which each shortens the intervals by a factor of 0.62.

    Returns:
        For each function, the better one of the two points that divide its last interval by the golden section.
    """
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(steps):
        # Of two infinite values, the minimum is on the right. Hence `<` here, not `<=`.
        keeps_left_part = at_left < at_right
        low, high = np.where(keeps_left_part, low, left), np.where(keeps_left_part, right, high)

        # One dividing point of the new interval is known, and the other one is evaluated.
        new_left, new_right = high - RATIO * (high - low), low + RATIO * (high - low)
        new_point = np.where(keeps_left_part, new_left, new_right)
        at_new_point = cost(new_point)
        left, right = np.where(keeps_left_part, new_point, right), np.where(keeps_left_part, left, new_point)
        next_at_left = np.where(keeps_left_part, at_new_point, at_right)
        next_at_right = np.where(keeps_left_part, at_left, at_new_point)
        at_left, at_right = next_at_left, next_at_right
    return np.asarray(np.where(at_left <= at_right, left, right))
