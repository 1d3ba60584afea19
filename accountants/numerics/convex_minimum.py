"""The least value of a convex function, enclosed by its values at a few points.

A chord of a convex function, extended beyond its ends, lies nowhere above the function. So between two neighbouring
points the chord on the left of them and the chord on the right of them, both extended, bound it from below, and they
meet close to its least value if the points lie close around that: within the order of the square of their distance,
and exactly where the function is made of straight pieces and bends only between the two points. Of values known as
enclosures a chord takes the ends that make its extension lower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence


class Known(NamedTuple):
    """A point, and the ends of the function's value there. The point itself may be off by a few units of roundoff."""

    place: float
    lower: float
    upper: float


class Slopes(NamedTuple):
    """Bounds of the function's slope, everywhere."""

    least: float
    most: float


class Least(NamedTuple):
    """A lower bound of the function between the first and the last point, and where it is as low as that."""

    value: float
    place: float


def least_value(known: Sequence[Known], slopes: Slopes) -> Least:
    """A lower bound of a convex function from two or more points in increasing order.

    Guarantees: the value is at most that of every convex function with such slopes that lies within the ends at all
    points, anywhere between the first and the last of them.
    """
    found = [_between(known, place, slopes) for place in range(len(known) - 1)]
    return min(found, key=lambda least: least.value)


def _between(known: Sequence[Known], place: int, slopes: Slopes) -> Least:
    """On one interval: where the falling extension from the left meets the rising one from the right."""
    left, right = known[place], known[place + 1]
    falling, rising = slopes
    if place > 0:
        falling = max(falling, _slope(known[place - 1].upper, left.lower, known[place - 1].place, left.place, -1.0))
    if place + 2 < len(known):
        rising = min(rising, _slope(right.lower, known[place + 2].upper, right.place, known[place + 2].place, 1.0))
    if falling >= 0.0:
        return Least(left.lower, left.place)
    if rising <= 0.0:
        return Least(right.lower, right.place)
    # At any place the lower of the two lines is below where they meet, if one falls and the other rises.
    meeting = (right.lower - left.lower + falling * left.place - rising * right.place) / (falling - rising)
    meeting = min(max(meeting, left.place), right.place)
    fallen, risen = falling * (meeting - left.place), rising * (meeting - right.place)
    slack = 8 * UNIT_ROUNDOFF * (left.lower + right.lower - fallen - risen)
    return Least(min(left.lower + fallen, right.lower + risen) - slack, meeting)


def _slope(first: float, second: float, start: float, end: float, side: float) -> float:
    """(second − first)/(end − start), moved to the side by what the rounding of the points does to it."""
    slope = (second - first) / (end - start)
    return slope + side * abs(slope) * 8 * UNIT_ROUNDOFF * (1.0 + (abs(start) + abs(end)) / (end - start))
