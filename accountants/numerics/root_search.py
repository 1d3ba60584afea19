"""Bracketing searches for the point where a condition ceases to hold, or where a function changes sign.

A search keeps two points: one at which the condition holds, and one at which it does not. Both are returned, so that
the caller takes the point that is safe. Except for `brent_root`, each returned point was given or evaluated.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON

Point = TypeVar("Point", int, float)

MOST_STEPS = 200
"""Limit on the steps of one search. A bisection of doubles takes fewer to end at two neighbouring doubles."""
HALVE_EVERY, HALVE_INTEGERS_EVERY = 6, 3
"""Every sixth (for integers, third) step of false position bisects, so that a curved function cannot stall it."""
LEAST_RELATIVE = 4 * sys.float_info.epsilon
"""The smallest relative tolerance that the method of Brent accepts."""
_CROSSING_RELATIVE, _CROSSING_ABSOLUTE = 1e-10, 1e-15
"""Tolerances of an ε at which a bound crosses a target."""
_FIRST_STEP, _GROWTH = 1e-6, 3.0
"""Least first step from an estimate towards the crossing, relative to ε, and the factor from each step to the next."""
_PADS = 6
"""Limit on the distances from an estimate at which a side is tried."""
_FAR = 50.0
"""Limit on the distance of a value from the target, in nats. Only the side of a value further away is used."""


def bisect_reals(
    holds: Callable[[float], bool], low: float, high: float, *, width: float = 0.0, steps: int = MOST_STEPS
) -> tuple[float, float]:
    """Bisect an interval around the point at which a condition ceases to hold, until it is at most `width` long.

    Args:
        holds: a condition that holds at `low` and not at `high`. It is not evaluated at these two points.
        low: the point at which the condition holds; smaller than `high`.
        high: the point at which the condition does not hold.
        width: the distance at which the search ends; 0 for neighbouring doubles.
        steps: limit on the evaluations. The interval is longer than `width` if the limit is reached.

    Returns:
        Bounds of the final interval: a point at which the condition holds, and a larger one at which it does not.
    """
    for _ in range(steps):
        if high - low <= width:
            break
        middle = 0.5 * (low + high)
        if middle in (low, high):  # neighbouring doubles
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def bisect_integers(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest integer in [low, high) at which a condition holds; exact at any size.

    Args:
        holds: a condition that holds at `low` and not at `high`. It is not evaluated at these two integers.
        low: the integer at which the condition holds.
        high: a larger integer, at which the condition does not hold.

    Returns:
        The integer, at least `low` and below `high`.
    """
    # Invariant: the condition holds at `low` and not at `high`.
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def false_position(excess: Callable[[float], float], low: float, high: float, *, width: float) -> tuple[float, float]:
    """Search the root of a decreasing function by the Illinois algorithm, a variant of false position.

    Args:
        excess: a function that is positive at `low`, and at most zero at `high`.
        low: the point at which the function is positive.
        high: a larger point, at which the function is at most zero.
        width: distance of the two points at which the search ends.

    Returns:
        A point at which the function is positive, and one at which it is at most zero.
    """

    def _point_between(low: float, high: float, share: float) -> float:
        """Return the number at a given share of the way from the lower to the higher one."""
        return low + (high - low) * share

    values = excess(low), excess(high)
    return _narrow(excess, (low, high), values, width=width, point_between=_point_between, every=HALVE_EVERY)


def least_integer(excess: Callable[[int], float], low: int, high: int, *, at_low: float) -> int:
    """Return the least integer above `low` at which a decreasing function is at most zero; exact at any size.

    Args:
        excess: a function that is at most zero at `high`.
        low: an integer at which the function is positive.
        high: a larger integer.
        at_low: the value at `low`, where `excess` is not evaluated; math.inf if it is not defined there.

    Returns:
        The integer, above `low` and at most `high`.
    """

    def _point_between(low: int, high: int, share: float) -> int:
        """Return the integer near a given share of the way, strictly between the two numbers."""
        nearest = low + round(share * (high - low))
        return min(max(nearest, low + 1), high - 1)

    # With a width of 1, the search ends at two successive integers, of which the larger is the result.
    values = at_low, excess(high)
    _, least = _narrow(excess, (low, high), values, width=1, point_between=_point_between, every=HALVE_INTEGERS_EVERY)
    return least


def _narrow(
    excess: Callable[[Point], float],
    points: tuple[Point, Point],
    values: tuple[float, float],
    *,
    width: float,
    point_between: Callable[[Point, Point, float], Point],
    every: int,
) -> tuple[Point, Point]:
    """Run the Illinois algorithm, a variant of false position that cannot stall.

    The next point is the root of the chord through the two ends of the bracket. If the same end stays in two successive
    steps, the stored value at that end is halved, so that the next chord has its root closer to that end.

    Args:
        excess: a decreasing function.
        points: a point at which the function is positive, and one at which it is at most zero.
        values: values of the function at these two points.
        width: distance of the two points at which the search ends.
        point_between: function that returns the point at a given share of the way between two points.
        every: the search bisects in every step with a number that is a multiple of `every`.

    Returns:
        A point at which the function is positive, and one at which it is at most zero. They are at most `width` apart,
        or successive numbers.
    """
    (low, high), (low_value, high_value) = points, values
    last_moved = ""
    for iteration in itertools.count(1):
        if high - low <= width:
            break
        is_turn_to_bisect = iteration % every == 0
        share = 0.5 if is_turn_to_bisect else _chord_root(low_value, high_value)
        # A distance of a quarter of `width` from both ends makes each step shorten the bracket.
        margin = 0.25 * width / (high - low)
        middle = point_between(low, high, min(max(share, margin), 1.0 - margin))
        if middle in (low, high):  # neighbouring doubles
            break
        value = excess(middle)
        # The new point replaces the end with the same sign. The opposite end has stayed twice if this end also moved in
        # the last step.
        if value > 0.0:
            high_value *= 0.5 if last_moved == "low" else 1.0
            low, low_value, last_moved = middle, value, "low"
        else:
            low_value *= 0.5 if last_moved == "high" else 1.0
            high, high_value, last_moved = middle, value, "high"
    return low, high


def _chord_root(low_value: float, high_value: float) -> float:
    """Return the root of the line through (0, `low_value`) and (1, `high_value`).

    Args:
        low_value: value of a decreasing function at the lower end of a bracket.
        high_value: value at the upper end.

    Returns:
        The root as a share of the bracket; 1/2 if the line does not descend, or if its descent is infinite or NaN.
    """
    fall = low_value - high_value
    has_root = math.isfinite(fall) and low_value > high_value
    return low_value / fall if has_root else 0.5


def brent_root(
    excess: Callable[[float], float], low: float, high: float, *, absolute: float, relative: float = LEAST_RELATIVE
) -> float:
    """Return a root of a function with different signs at `low` and `high`, by the method of Brent.

    The sign of the function at the returned point is unknown. A caller that needs a certain sign moves the point and
    evaluates the function there.

    Args:
        excess: a continuous function.
        low: lower end of the bracket.
        high: upper end of the bracket.
        absolute: tolerance of the root, to which `relative` times its size is added.
        relative: relative tolerance, at least `LEAST_RELATIVE`.

    Returns:
        The root, within the tolerance.
    """
    from scipy.optimize import brentq  # noqa: PLC0415  half a second of imports, for callers that search

    # brentq leaves its function in a reference cycle. `_value` refers to no other object.
    return float(brentq(_value, low, high, args=(excess,), xtol=absolute, rtol=relative, maxiter=MOST_STEPS))


def _value(point: float, function: Callable[[float], float]) -> float:
    """Return the value of a function at a point. Scipy requires this order of the arguments."""
    return function(point)


class Guess(NamedTuple):
    """Initial estimate of the ε at which log δ is the target.

    Attributes:
        epsilon: the estimate, in nats.
        steepness: estimate of |d log δ/dε| there.
    """

    epsilon: float
    steepness: float


class Crossing(NamedTuple):
    """Two values of ε, in nats, between which a bound on log δ falls to a target.

    Attributes:
        above: largest evaluated ε at which the bound is above the target; 0 if there is none.
        below: smallest evaluated ε at which the bound is at most the target; math.inf if there is none.
    """

    above: float
    below: float


def crossing(
    bound: Callable[[float], float],
    log_delta: float,
    guess: Guess,
    *,
    within: tuple[float, float] = (0.0, math.inf),
) -> Crossing:
    """Find two close ε around the point at which a bound on log δ(ε) falls to a target.

    Args:
        bound: function from an ε ≥ 0 to the bound on log δ.
        log_delta: the target, log δ.
        guess: initial estimate of ε, and of the slope there.
        within: the least and the largest ε at which the bound may be evaluated.

    Returns:
        The closest evaluated ε on both sides of the crossing; 0 or math.inf for a side without one.

    Raises:
        ValueError: the search leaves `within`.

    Guarantees:
        Except for 0 and math.inf, the bound was evaluated at both returned ε: it is above the target at `above`, and
        not above it at `below`. If the bound decreases and crosses the target, the two differ by at most 2e-10 ε plus
        2e-15.
    """
    least, most = within
    values: dict[float, float] = {}

    def excess(epsilon: float) -> float:
        """Return the bound minus the target, limited to ±`_FAR`, and store it."""
        if not least <= epsilon <= most:
            raise ValueError(f"the search leaves [{least:g}, {most:g}]")
        if epsilon not in values:
            values[epsilon] = min(max(bound(epsilon) - log_delta, -_FAR), _FAR)
        return values[epsilon]

    def excess_or_negative(epsilon: float) -> float:
        """Return the excess, or −1 if it is 0, so that the root is the smallest ε of a plateau at the target."""
        return excess(epsilon) or -1.0

    bracket = _bracket_crossing(excess, guess)
    if bracket is not None:
        low, high = bracket
        root = brent_root(excess_or_negative, low, high, absolute=_CROSSING_ABSOLUTE, relative=_CROSSING_RELATIVE)
        # The search may have evaluated the bound on one side of the root only, or far from it on the other side.
        pad = _CROSSING_RELATIVE * root + _CROSSING_ABSOLUTE
        excess(max(root - pad, 0.0))
        excess(max(root + pad, 0.0))
    above = [epsilon for epsilon, value in values.items() if value > 0.0]
    below = [epsilon for epsilon, value in values.items() if value <= 0.0]
    return Crossing(max(above, default=0.0), min(below, default=math.inf))


def _bracket_crossing(excess: Callable[[float], float], guess: Guess) -> tuple[float, float] | None:
    """Step from the estimate towards the crossing, with growing steps, until the sign changes.

    The first step is a little more than 1.5 times the Newton step, which ends at the crossing if the slope is right.

    Args:
        excess: decreasing function from ε to the bound on log δ minus the target.
        guess: initial estimate of ε, and of the slope there.

    Returns:
        The last two ε, the smaller one first; None if the sign does not change between 0 and `LARGEST_EPSILON`.
    """
    epsilon = min(max(guess.epsilon, 0.0), LARGEST_EPSILON)
    value = excess(epsilon)
    is_forward = value > 0.0  # a bound above the target reaches it at a larger ε
    # The lower limits prevent a division by 0 and a step of length 0.
    long_newton_step = 1.5 * abs(value) / max(guess.steepness, 1e-9)
    step = long_newton_step + _FIRST_STEP * max(epsilon, 1e-6)
    farthest = LARGEST_EPSILON if is_forward else 0.0
    while epsilon != farthest:
        next_epsilon = min(epsilon + step, LARGEST_EPSILON) if is_forward else max(epsilon - step, 0.0)
        has_crossed = (excess(next_epsilon) > 0.0) != is_forward
        if has_crossed:
            return min(epsilon, next_epsilon), max(epsilon, next_epsilon)
        epsilon, step = next_epsilon, _GROWTH * step
    return None


def closest(bound: Callable[[float], float], log_delta: float, guess: Guess, pad: float) -> float | None:
    """Find an ε near an estimate at which a bound on log δ is on the required side of the target.

    The function tries the estimate plus pad, 4 pad, 16 pad, …. If pad is positive, the bound must be at most the
    target; if pad is negative, it must be above the target.

    Args:
        bound: function from an ε ≥ 0 to a bound on log δ.
        log_delta: the target, log δ.
        guess: estimate of ε; its slope is not used.
        pad: first distance from the estimate in nats, with its sign.

    Returns:
        The first ε that meets the requirement; None if none of `_PADS` trials does, or if a trial would be negative.
    """
    for _ in range(_PADS):
        epsilon = guess.epsilon + pad
        if epsilon < 0.0:
            return None
        is_at_most_target = bound(epsilon) <= log_delta
        must_be_at_most_target = pad > 0.0
        if is_at_most_target == must_be_at_most_target:
            return epsilon
        pad *= 4.0
    return None
