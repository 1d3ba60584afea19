"""Search for the least parameter at which a decreasing function is at most 0.

The parameter is the logarithm of a noise multiplier, or another number that lowers δ when it increases. The function is
the shortfall: by how much a guarantee misses its target. It is positive if the target is missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from epsilond.accountants.estimates.charts import Chart
from epsilond.accountants.numerics.root_evaluations import RootEvaluations
from epsilond.accountants.numerics.root_search import false_position

AIM = 1e-7
"""Tolerance of the parameter, in units of its logarithmic scale. Interpolation aims at twice this distance from the
root, on the side that meets the target, and ends within four times this distance."""
SETTLED = 1e-5
"""Width of the last bracket, if interpolation does not converge."""
JUMPING = 2e-4
"""Width of the last bracket, if the function jumps. A narrower bracket around a jump needs evaluations and gains
little."""
MOST_STEPS = 12
"""Limit on the steps of interpolation. More are not needed unless the function is irregular."""
SHORTEST_FIRST_STEP = 4e-3
"""Shortest first step of a search for a bracket, so that an accurate start does not cause many tiny steps."""
FIRST_STEP_PER_SHORTFALL = 0.7
"""First step of a search for a bracket, per unit of the shortfall at the start."""
LONGEST_STEP = math.log(2.0)
"""Longest step towards smaller parameters. It is short because the guarantee of a smaller noise can cost more time."""
LONGEST_STEP_UP = 4.0 * LONGEST_STEP
"""Longest step towards larger parameters."""
LIKELY_FALL = 1.0
"""Assumed derivative of the shortfall in the parameter, with the opposite sign: that of log μ for Gaussian noise."""


class Limits(NamedTuple):
    """The smallest and the largest parameter that a search may return."""

    least: float
    most: float

    def clamp(self, parameter: float) -> float:
        """Return the parameter within the limits that is closest to a given number."""
        return min(max(parameter, self.least), self.most)


class _Bracket(NamedTuple):
    """A parameter that misses the target, and a larger one that meets it.

    Both are the least permitted parameter if that one meets the target.
    """

    failing: float
    passing: float


def least_parameter(
    shortfall: Callable[[float], float], guess: float, limits: Limits, fall: float = LIKELY_FALL
) -> float | None:
    """Find nearly the least parameter, such as log noise, that meets a privacy target.

    The search interpolates the shortfall, that is, the amount by which a parameter misses the target. If that does not
    converge, it encloses the root between two parameters and narrows this bracket by false position.

    Args:
        shortfall: decreasing function of the parameter, at most 0 where the target is met.
        guess: initial estimate of the parameter.
        limits: the smallest and the largest permitted parameter.
        fall: assumed negative derivative of the shortfall at the guess; above 0.

    Returns:
        A parameter at which the shortfall was evaluated as at most 0. None if it is positive at the largest permitted
        parameter.
    """
    evaluations = RootEvaluations()

    def recorded_shortfall(parameter: float) -> float:
        """Return the shortfall, and record it in `evaluations`."""
        value = shortfall(parameter)
        evaluations.add(parameter, value)
        return value

    start = limits.clamp(guess)
    interpolated = _interpolate_root(recorded_shortfall, start, limits, fall)
    if interpolated is not None:
        return interpolated

    # The evaluations of the failed interpolation may already enclose the root.
    bracket = _evaluated_bracket(evaluations)
    if bracket is None:
        bracket = _find_bracket(recorded_shortfall, evaluations.nearest, limits)
    # A narrow bracket around a jump of the function costs many evaluations and gains little.
    width = JUMPING if evaluations.jumps else SETTLED
    return _passing_side(recorded_shortfall, bracket, width)


def crossing(
    shortfall: Callable[[float], float], start: float, interval: tuple[float, float], width: float
) -> float | None:
    """Return the approximate root of a decreasing function, on the side where the function is at most 0.

    Args:
        shortfall: the decreasing function.
        start: initial estimate of the root.
        interval: the smallest and the largest argument that may be returned.
        width: largest distance of the answer from the root.

    Returns:
        An argument at which the function is at most 0, or None if it is positive on the whole interval.
    """
    limits = Limits(*interval)
    bracket = _find_bracket(shortfall, limits.clamp(start), limits)
    return _passing_side(shortfall, bracket, width)


def _interpolate_root(shortfall: Callable[[float], float], start: float, limits: Limits, fall: float) -> float | None:
    """Find nearly the least parameter that meets a target, by inverse quadratic interpolation.

    The interpolated function is the shortfall, that is, the amount by which a parameter misses the target. A
    transformation of the parameter, the chart, makes it nearly linear. Each step aims at a distance of twice `AIM`
    beyond the root, where the target is met.

    Args:
        shortfall: decreasing function of the parameter, at most 0 where the target is met.
        start: initial estimate of the root, within the limits.
        limits: the smallest and the largest permitted parameter.
        fall: assumed negative derivative of the function at the start; above 0.

    Returns:
        A parameter that meets the target. By the last slope, its distance from the root is at most four times `AIM`,
        unless it is the least permitted one. None if `MOST_STEPS` steps do not suffice, if the function rises between
        two parameters, or if the largest permitted parameter misses the target.
    """
    chart = Chart.of_fall(start, fall)
    evaluations = RootEvaluations()
    parameter = start
    slope = -fall / chart.fall(start)  # derivative of the shortfall in the coordinate of the chart, negative
    for _ in range(MOST_STEPS):
        value = shortfall(parameter)
        coordinate = chart.of(parameter)
        # After two evaluations, the slope between the last two replaces the assumed one.
        slope = evaluations.add(coordinate, value) or slope
        # The shortfall at the distance `AIM` beyond the root, which is negative.
        value_beyond = AIM * slope * chart.fall(parameter)

        # If the target is met, `value` is also negative or 0. The root is then at most four times `AIM` away.
        is_close = value >= 4 * value_beyond
        if value <= 0 and (is_close or parameter <= limits.least):
            return parameter
        if evaluations.jumps or (value > 0 and parameter >= limits.most):
            return None
        # Several steps to smaller parameters have hardly raised the shortfall: try the least parameter at once.
        if evaluations.slow and shortfall(limits.least) <= 0:
            return limits.least

        # Aim at twice that distance beyond the root. The step has a largest length in both directions.
        aim = 2 * value_beyond
        newton = coordinate - (value - aim) / slope
        estimate = chart.back(evaluations.at(aim, newton))
        estimate = min(max(estimate, parameter - LONGEST_STEP), parameter + LONGEST_STEP_UP)
        parameter = limits.clamp(estimate)
    return None


def _evaluated_bracket(evaluations: RootEvaluations) -> _Bracket | None:
    """Return the two closest evaluated parameters of which one misses the target and a larger one meets it.

    Args:
        evaluations: the evaluated parameters, with the amounts by which they miss the target.

    Returns:
        The bracket; None if all evaluated parameters miss the target, or if all meet it.
    """
    if evaluations.bracket is None:
        return None
    failing, passing = evaluations.bracket
    return _Bracket(failing, passing)


def _passing_side(shortfall: Callable[[float], float], bracket: _Bracket | None, width: float) -> float | None:
    """Narrow a bracket of the root by false position, and return its side that meets the target.

    Args:
        shortfall: decreasing function of the parameter, at most 0 where the target is met.
        bracket: the bracket; None if no parameter meets the target.
        width: largest width of the narrowed bracket.

    Returns:
        The parameter that meets the target, or None without a bracket.
    """
    if bracket is None:
        return None
    if bracket.failing == bracket.passing:
        return bracket.passing
    _, passing = false_position(shortfall, bracket.failing, bracket.passing, width=width)
    return passing


def _find_bracket(shortfall: Callable[[float], float], start: float, limits: Limits) -> _Bracket | None:
    """Enclose the root of a decreasing function between two parameters.

    The search moves from the start towards the root. Each step is twice as long as the previous one, up to a limit.

    Args:
        shortfall: decreasing function of the parameter.
        start: initial estimate of the root, within the limits.
        limits: the smallest and the largest permitted parameter.

    Returns:
        The bracket, or None if the largest permitted parameter misses the target.
    """
    value = shortfall(start)
    first_step = max(FIRST_STEP_PER_SHORTFALL * abs(value), SHORTEST_FIRST_STEP)
    step = min(first_step, LONGEST_STEP)
    if value > 0:
        return _bracket_above(shortfall, start, step, limits.most)
    return _bracket_below(shortfall, start, step, limits.least)


def _bracket_above(shortfall: Callable[[float], float], failing: float, step: float, most: float) -> _Bracket | None:
    """Increase a parameter that misses the target, in growing steps, until it meets the target.

    Args:
        shortfall: decreasing function of the parameter; at most 0 where the target is met.
        failing: parameter that misses the target.
        step: length of the first step.
        most: the largest permitted parameter.

    Returns:
        The last parameter that misses the target and the first that meets it; None if `most` misses it.
    """
    while failing < most:
        larger = min(failing + step, most)
        if shortfall(larger) <= 0:
            return _Bracket(failing, larger)
        failing = larger
        step = min(2.0 * step, LONGEST_STEP_UP)
    return None


def _bracket_below(shortfall: Callable[[float], float], passing: float, step: float, least: float) -> _Bracket:
    """Decrease a parameter that meets the target, in growing steps, until it misses the target or is the least.

    Args:
        shortfall: decreasing function of the parameter; at most 0 where the target is met.
        passing: parameter that meets the target.
        step: length of the first step.
        least: the smallest permitted parameter.

    Returns:
        The bracket. Both of its sides are `least` if even the least parameter meets the target.
    """
    while passing > least:
        smaller = max(passing - step, least)
        if shortfall(smaller) > 0:
            return _Bracket(smaller, passing)
        passing = smaller
        step = min(2.0 * step, LONGEST_STEP)
    return _Bracket(least, least)
