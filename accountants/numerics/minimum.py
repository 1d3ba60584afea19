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

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

RATIO = 0.5 * (math.sqrt(5.0) - 1.0)


def golden_section(cost: Callable[[float], float], low: float, high: float, *, width: float, most: int = 200) -> float:
    """Search the minimiser of a unimodal function on an interval by the golden section.

    Each step shortens the interval by a factor of 0.62. The search is deterministic, so a parameter that it chooses is
    reproducible.

    Args:
        cost: the function.
        low: lower end of the interval.
        high: upper end of the interval.
        width: length of the interval at which the search ends.
        most: limit on the steps.
    """
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(most):
        if high - low <= width:
            break
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
    """A point with bounds on the function's value there. The point itself may be off by a few units of roundoff."""

    place: float
    lower: float
    upper: float


class Slopes(NamedTuple):
    """Bounds on the function's slope, everywhere."""

    least: float
    most: float


class Least(NamedTuple):
    """A lower bound on the function between the first and the last point, and the place at which it is this low."""

    value: float
    place: float


def least_value(known: Sequence[Known], slopes: Slopes) -> Least:
    """Return a lower bound on a convex function from bounds on its values at several points.

    Args:
        known: two or more points in increasing order, with bounds on the function there.
        slopes: bounds on the slope of the function.

    Guarantees: the returned value is at most the minimum, between the first and the last point, of every convex
    function with such slopes and with values within the bounds.
    """
    bounds = {place: _between(known, place, slopes, 1) for place in _intervals_of_minimum(known)}
    seen: set[int] = set()
    while True:  # chords to all other points on the least interval: close neighbours have rough slopes
        place = min(bounds, key=lambda interval: bounds[interval].value)
        if place in seen:
            return bounds[place]
        seen.add(place)
        bounds[place] = max(bounds[place], _between(known, place, slopes, len(known)), key=lambda least: least.value)


def _intervals_of_minimum(known: Sequence[Known]) -> range:
    """Return the intervals between neighbouring points that may contain the minimum, by the index of the first point.

    If a point is certainly above its neighbour on the side of the lowest point, a convex function increases from there
    outwards. Intervals beyond such a point are left out.
    """
    lowest = min(range(len(known)), key=lambda place: known[place].upper)
    first, last = 0, len(known) - 1
    for place in range(lowest - 1, -1, -1):
        if known[place].lower > known[place + 1].upper:
            first = place
            break
    for place in range(lowest + 1, len(known)):
        if known[place].lower > known[place - 1].upper:
            last = place
            break
    return range(first, last)


def _between(known: Sequence[Known], place: int, slopes: Slopes, most: int) -> Least:
    """Return the lower bound on one interval: the intersection of the extended chords from the left and from the right.

    Args:
        known: points in increasing order, with bounds on the function there.
        place: index of the interval's first point.
        slopes: bounds on the slope of the function.
        most: number of points on either side of the interval from which chords are extended into it.
    """
    left, right = known[place], known[place + 1]
    falling, rising = slopes
    for far in known[max(place - most, 0) : place]:
        falling = max(falling, _slope(far.upper, left.lower, far.place, left.place, -1.0))
    for far in known[place + 2 : place + 2 + most]:
        rising = min(rising, _slope(right.lower, far.upper, right.place, far.place, 1.0))
    if falling >= 0.0:
        return Least(left.lower, left.place)
    if rising <= 0.0:
        return Least(right.lower, right.place)
    # The function is above both lines, and so above their intersection if one line falls and the other rises.
    intersection = (right.lower - left.lower + falling * left.place - rising * right.place) / (falling - rising)
    intersection = min(max(intersection, left.place), right.place)
    from_left, from_right = falling * (intersection - left.place), rising * (intersection - right.place)
    slack = 8 * UNIT_ROUNDOFF * (left.lower + right.lower - from_left - from_right)
    return Least(min(left.lower + from_left, right.lower + from_right) - slack, intersection)


def _slope(first: float, second: float, start: float, end: float, side: float) -> float:
    """Return (second − first)/(end − start), moved to the side by the possible effect of the points' rounding."""
    slope = (second - first) / (end - start)
    return slope + side * abs(slope) * 8 * UNIT_ROUNDOFF * (1.0 + (abs(start) + abs(end)) / (end - start))
