"""Searches for the ε at a target δ without an initial estimate: a bracket that grows, and then narrows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, SMALL_EPSILON, Interval

if TYPE_CHECKING:
    from collections.abc import Callable


def bracketed_epsilon(read: Callable[[float], Interval], log_delta: float) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) at most a target, without an initial estimate.

    The upper bound on ε is searched for first, and the lower bound starts from it.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target log δ, natural logarithm.

    Returns:
        The bounds on ε in nats; the upper one is math.inf if no ε meets the target.
    """

    def read_upper(epsilon: float) -> float:
        """Return the upper bound on log δ(ε)."""
        return read(epsilon).upper

    def read_lower(epsilon: float) -> float:
        """Return the lower bound on log δ(ε)."""
        return read(epsilon).lower

    upper = upper_epsilon(read_upper, log_delta)
    lower = lower_epsilon(read_lower, log_delta, guess=upper)
    return Interval(min(lower, upper), upper)


def upper_epsilon(upper: Callable[[float], float], log_delta: float) -> float:
    """Search for the smallest ε ≥ 0 with a certified upper bound on log δ of at most a target.

    The search is inexact, but the returned ε has itself been evaluated and meets the target.

    Args:
        upper: function from an ε to a certified upper bound on log δ.
        log_delta: the target log δ, natural logarithm.

    Returns:
        An ε in nats that meets the target, within a relative 1e-9 of the smallest one; math.inf if none exists.
    """
    if upper(0.0) <= log_delta:
        return 0.0
    failing, passing = _bracket(lambda epsilon: upper(epsilon) > log_delta)
    if math.isinf(passing):
        return math.inf
    _, passing = _narrow(upper, log_delta, failing, passing)
    return passing


def lower_epsilon(lower: Callable[[float], float], log_delta: float, *, guess: float) -> float:
    """Search for the largest ε at which δ is proved to be above a target, a lower bound on the ε that meets the target.

    Args:
        lower: function from an ε to a certified lower bound on log δ.
        log_delta: the target log δ, natural logarithm.
        guess: an ε that is probably just above the answer; math.inf for none.

    Returns:
        The ε in nats, which has been evaluated; 0 if δ(0) is not proved to be above the target.
    """
    if lower(0.0) <= log_delta:
        return 0.0

    if math.isfinite(guess) and lower(guess) <= log_delta:
        slightly_below = guess * (1 - 1e-6)  # usually the answer is in between
        is_above_target = lower(slightly_below) > log_delta
        failing, passing = (slightly_below, guess) if is_above_target else (0.0, slightly_below)
    else:
        failing, passing = _bracket(lambda epsilon: lower(epsilon) > log_delta)
    if math.isinf(passing):
        return failing

    failing, _ = _narrow(lower, log_delta, failing, passing)
    return failing


def _bracket(above: Callable[[float], bool]) -> tuple[float, float]:
    """Find an ε at which δ exceeds the target, and a larger one at which it does not.

    The bracket grows from a small ε, because a composition needs more time where δ is far below the target.

    Args:
        above: function that returns whether δ exceeds the target at an ε > 0. At ε = 0 this is assumed.

    Returns:
        Both ε in nats; the larger one is math.inf if δ exceeds the target up to `LARGEST_EPSILON`.
    """
    growth = 3.0
    failing, passing = 0.0, SMALL_EPSILON
    while above(passing):
        if passing >= LARGEST_EPSILON:
            return passing, math.inf
        failing, passing = passing, min(growth * passing, LARGEST_EPSILON)
    return failing, passing


def _narrow(bound: Callable[[float], float], log_delta: float, failing: float, passing: float) -> tuple[float, float]:
    """Narrow a bracket of the ε at which a decreasing bound on log δ crosses a target.

    The method is the Illinois algorithm. The search bisects if the function is flat, jumps or is −∞.

    Args:
        bound: function from an ε to a bound on log δ.
        log_delta: the target log δ, natural logarithm.
        failing: an ε at which the bound is above the target.
        passing: a larger ε at which the bound is at most the target.

    Returns:
        Both ε, at most a relative 1e-10 apart unless 200 steps were too few.
    """
    value_failing, value_passing = bound(failing) - log_delta, bound(passing) - log_delta
    # The Illinois algorithm halves the weight of the point that did not move, so that it moves in the next step.
    weight_failing = weight_passing = 1.0
    for iteration in range(200):
        if passing - failing <= 1e-10 * passing + 1e-300:  # the absolute tolerance is for an answer of 0
            break

        # Try the root of the line through both weighted values, or the middle.
        middle = 0.5 * (failing + passing)
        rise, fall = weight_failing * value_failing, weight_passing * value_passing
        has_slope = math.isfinite(rise) and math.isfinite(fall) and rise > fall
        is_turn_to_bisect = iteration % 8 == 7
        if has_slope and not is_turn_to_bisect:
            secant_root = failing + (passing - failing) * rise / (rise - fall)
            margin = 2e-11 * passing  # less than the final width, so that each step moves a bound
            middle = min(max(secant_root, failing + margin), passing - margin)

        value = bound(middle) - log_delta
        if value > 0:
            failing, value_failing = middle, value
            weight_failing, weight_passing = 1.0, 0.5 * weight_passing
        else:
            passing, value_passing = middle, value
            weight_passing, weight_failing = 1.0, 0.5 * weight_failing
    return failing, passing
