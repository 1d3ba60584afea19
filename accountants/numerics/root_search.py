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
"""Numbers of steps after which the search bisects, so that a curved function cannot stall false position."""
LEAST_RELATIVE = 4 * sys.float_info.epsilon
"""The smallest relative tolerance that the method of Brent accepts."""
_CROSSING_RELATIVE, _CROSSING_ABSOLUTE = 1e-10, 1e-15
"""Tolerances of an ε at which a bound crosses a target."""
_FIRST_STEP, _GROWTH = 1e-6, 3.0
"""First step to the other side of a target, relative to ε, and the factor from each step to the next."""
_PADS = 6
"""Limit on the distances from an estimate at which a side is tried."""
_FAR = 50.0
"""Limit on the distance of a value from the target, in nats. Only the side of a value further away is used."""


def bisect_reals(
    holds: Callable[[float], bool], low: float, high: float, *, width: float = 0.0, steps: int = MOST_STEPS
) -> tuple[float, float]:
    """Bisect an interval until it is at most `width` long, at most `steps` times.

    Args:
        holds: a condition that holds at `low` and not at `high`. It is not evaluated at these two points.
        low: the point at which the condition holds; smaller than `high`.
        high: the point at which the condition does not hold.
        width: the distance at which the search ends; 0 for neighbouring doubles.
        steps: limit on the evaluations.

    Returns:
        The last point at which the condition holds, and the first at which it does not.
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
    # The condition holds at `low` and not at `high` all the time.
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
        high: the point at which the function is at most zero.
        width: the distance of the two returned points.

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

    # Narrow the bracket to two neighbouring integers. The upper one is the result.
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

    The next point is the root of the chord between the two ends of the bracket. If one end stays in two successive
    steps, the stored value at that end is halved, so that the next chord moves it.

    Args:
        excess: a decreasing function.
        points: a point at which the function is positive, and one at which it is at most zero.
        values: values of the function at these two points.
        width: the distance at which the search ends.
        point_between: function that returns the point at a given share of the way between two points.
        every: the number of steps after which the search bisects.

    Returns:
        The last two points, with the same signs. They are at most `width` apart, or no point between them was
        available.
    """
    (low, high), (low_value, high_value) = points, values
    last_moved = ""
    for iteration in itertools.count(1):
        if high - low <= width:
            break
        is_turn_to_bisect = iteration % every == 0
        share = 0.5 if is_turn_to_bisect else _chord_root(low_value, high_value)
        # A quarter of the width is kept from both ends, so that an end cannot be chosen again.
        margin = 0.25 * width / (high - low)
        middle = point_between(low, high, min(max(share, margin), 1.0 - margin))
        if middle in (low, high):  # neighbouring doubles
            break
        value = excess(middle)
        # Replace the end with the same sign. If that end moved before too, halve the value at the opposite end.
        if value > 0.0:
            high_value *= 0.5 if last_moved == "low" else 1.0
            low, low_value, last_moved = middle, value, "low"
        else:
            low_value *= 0.5 if last_moved == "high" else 1.0
            high, high_value, last_moved = middle, value, "high"
    return low, high


def _chord_root(low_value: float, high_value: float) -> float:
    """Return the root of the line through (0, `low_value`) and (1, `high_value`); 1/2 if it does not fall.

    An infinite fall has no root either.

    Args:
        low_value: value of a function at the lower end of a bracket.
        high_value: value at the higher end.

    Returns:
        The root as a share of the bracket.
    """
    fall = low_value - high_value
    has_root = math.isfinite(fall) and low_value > high_value
    return low_value / fall if has_root else 0.5


def brent_root(
    excess: Callable[[float], float], low: float, high: float, *, absolute: float, relative: float = LEAST_RELATIVE
) -> float:
    """Return a root of a function with different signs at `low` and `high`, by the method of Brent.

    The sign of the function at the returned point is unknown. A caller that needs one side moves the point, and
    evaluates the function there.

    Args:
        excess: a continuous function.
        low: lower end of the bracket.
        high: upper end of the bracket.
        absolute: tolerance of the root, to which `relative` times its size is added.
        relative: relative tolerance, at least `LEAST_RELATIVE`.

    Returns:
        The root, within the tolerance and on an unknown side.
    """
    from scipy.optimize import brentq  # noqa: PLC0415  half a second of imports, for callers that search

    # brentq leaves its function in a reference cycle. `_value` refers to no other object.
    return float(brentq(_value, low, high, args=(excess,), xtol=absolute, rtol=relative, maxiter=MOST_STEPS))


def _value(point: float, function: Callable[[float], float]) -> float:
    """Return the value of a function at a point, with the arguments in the order that scipy requires.

    Args:
        point: the point.
        function: the function.

    Returns:
        The value of `function` at `point`.
    """
    return function(point)


class Guess(NamedTuple):
    """An initial estimate of the ε at which log δ is the target.

    Attributes:
        epsilon: the estimate, in nats.
        steepness: estimate of |d log δ/dε| there.
    """

    epsilon: float
    steepness: float


class Crossing(NamedTuple):
    """Two values of ε between which a bound on log δ falls to a target.

    Attributes:
        above: the largest known ε at which the bound is above the target; 0 if there is none.
        below: the smallest known ε at which the bound is at most the target; math.inf if there is none.
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
        The closest evaluated ε on both sides of the crossing.

    Guarantees: the bound has been evaluated at both returned ε, and is above the target at one and not above it at the
    other. The exceptions are 0 and math.inf, which are returned if no such ε was evaluated. The two differ by a
    relative 1e-10 if the bound decreases.

    Raises:
        ValueError: the search leaves `within`.
    """
    least, most = within
    values: dict[float, float] = {}

    def excess(epsilon: float) -> float:
        """Return the bound minus the target, within ±`_FAR`, and store it."""
        if not least <= epsilon <= most:
            raise ValueError(f"the search leaves [{least:g}, {most:g}]")
        if epsilon not in values:
            values[epsilon] = min(max(bound(epsilon) - log_delta, -_FAR), _FAR)
        return values[epsilon]

    def excess_or_negative(epsilon: float) -> float:
        """Return the excess, or −1 for 0, so that the root is the left end of a plateau at the target."""
        return excess(epsilon) or -1.0

    # Find a bracket near the estimate, and the root in it.
    bracket = _bracket_crossing(excess, guess)
    if bracket is not None:
        low, high = bracket
        root = brent_root(excess_or_negative, low, high, absolute=_CROSSING_ABSOLUTE, relative=_CROSSING_RELATIVE)
        # The root may have been approached from one side only, so that both sides are evaluated.
        pad = _CROSSING_RELATIVE * root + _CROSSING_ABSOLUTE
        excess(max(root - pad, 0.0))
        excess(max(root + pad, 0.0))
    # The closest evaluated points on both sides are the result, whichever search evaluated them.
    above = [epsilon for epsilon, value in values.items() if value > 0.0]
    below = [epsilon for epsilon, value in values.items() if value <= 0.0]
    return Crossing(max(above, default=0.0), min(below, default=math.inf))


def _bracket_crossing(excess: Callable[[float], float], guess: Guess) -> tuple[float, float] | None:
    """Step away from the estimate with growing steps until the sign changes, and return the last two ε.

    The first step is one and a half times the distance that the estimated slope suggests.

    Args:
        excess: function from ε to log δ minus the target.
        guess: initial estimate of ε, and of the slope there.

    Returns:
        The smaller and the larger ε; None if the sign does not change between 0 and `LARGEST_EPSILON`.
    """
    epsilon = min(max(guess.epsilon, 0.0), LARGEST_EPSILON)
    value = excess(epsilon)
    # Above the target, the crossing is at a larger ε; otherwise at a smaller one.
    is_forward = value > 0.0
    # The slope may be 0, and ε too.
    newton_step = 1.5 * abs(value) / max(guess.steepness, 1e-9)
    step = newton_step + _FIRST_STEP * max(epsilon, 1e-6)
    # Step until the sign changes, with steps that grow by a constant factor.
    farthest = LARGEST_EPSILON if is_forward else 0.0
    while abs(farthest - epsilon) > 0.0:
        next_epsilon = min(epsilon + step, LARGEST_EPSILON) if is_forward else max(epsilon - step, 0.0)
        has_crossed = (excess(next_epsilon) > 0.0) != is_forward
        if has_crossed:
            return min(epsilon, next_epsilon), max(epsilon, next_epsilon)
        epsilon, step = next_epsilon, _GROWTH * step
    return None


def closest(bound: Callable[[float], float], log_delta: float, guess: Guess, pad: float) -> float | None:
    """Return the first of several ε, ever farther from an estimate, at which a bound on log δ is certified.

    The ε are at the distances pad, 4 pad, 16 pad, … from the estimate. A positive pad searches an ε at which the bound
    is at most the target, a negative one an ε at which it is above the target.

    Args:
        bound: function from an ε ≥ 0 to a bound on log δ.
        log_delta: the target, log δ.
        guess: estimate of ε.
        pad: first distance in nats, with its sign.

    Returns:
        The ε; None if the bound is on the opposite side at all `_PADS` of them, or if one of them is negative.
    """
    for _ in range(_PADS):
        epsilon = guess.epsilon + pad
        if epsilon < 0.0:
            return None
        # A positive pad needs a bound at most the target, and a negative one the reverse.
        is_met = bound(epsilon) <= log_delta
        if is_met == (pad > 0.0):
            return epsilon
        pad *= 4.0
    return None
