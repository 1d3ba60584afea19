"""The searches for δ(ε) and ε(δ) of a pair.

Root searches start without an estimate, evaluate many ε at once, or use few evaluations. Each root search is inexact.
The ε that it returns have themselves been evaluated and are on their sides of the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, SMALL_EPSILON, Enclosure, Interval
from epsilond.accountants.curve.swept_search import swept_epsilon
from epsilond.accountants.numerics.root_search import Guess, closest, crossing

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.profile import EpsilonEstimate, Profile
    from epsilond.accountants.numerics.special import FloatArray

PROBES = (0.0, 1 / 16, 1.0, 8.0)
"""The ε, in nats, at which bounds are compared. Values there are stored, so that a search may start from them."""
_MOST_SQUARE = 1e6
"""Limit on −log δ in an initial estimate, in nats. A smaller δ is treated as 0."""


@dataclass(frozen=True)
class PairSearch:
    """The computation of δ(ε) and ε(δ) of a pair from the profiles of its two directions.

    Every method has a default that is valid for all pairs. A subclass serves pairs whose searches can share work.
    Methods that it does not override may take longer.

    Attributes:
        profiles: the distinct directions. δ of the unordered pair is the larger of theirs.
    """

    profiles: tuple[Profile, ...]

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose the larger log δ of both directions at one ε.

        The second direction is not evaluated if a cheap bound shows that it is at most the first.

        Args:
            epsilon: ε ≥ 0, in nats.
        """
        lower, upper = -math.inf, -math.inf
        for profile in self.profiles:
            if lower > -math.inf and profile.is_at_most(epsilon, lower):
                continue
            bounds = profile.log_delta_bounds(epsilon)
            lower, upper = max(lower, bounds.lower), max(upper, bounds.upper)
        return Interval(lower, min(upper, 0.0))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the larger log δ of both directions at each ε of an array.

        If a profile is evaluated at one ε at a time (`pointwise`), so are both.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Arrays of bounds with the shape of `epsilon`.
        """
        profiles = self.profiles
        if any(profile.pointwise for profile in profiles):
            points = np.asarray(epsilon, dtype=np.float64)
            bounds = np.asarray([self.log_delta_bounds(point) for point in points.ravel().tolist()])
            bounds = bounds.reshape(*points.shape, 2)
            return Enclosure(bounds[..., 0], bounds[..., 1])
        lower, upper = profiles[0].log_delta(epsilon)
        for profile in profiles[1:]:
            enclosure = profile.log_delta(epsilon)
            lower, upper = np.maximum(lower, enclosure.lower), np.maximum(upper, enclosure.upper)
        return Enclosure(lower, np.minimum(upper, 0.0))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of `log_delta_bounds`, without the work that only the lower bound needs.

        Args:
            epsilon: ε ≥ 0, in nats.
        """
        profiles = self.profiles
        if len(profiles) == 1 or any(profile.one_sided for profile in profiles):
            return min(max(profile.upper_log_delta(epsilon) for profile in profiles), 0.0)
        return self.log_delta_bounds(epsilon).upper

    def lower_log_delta(self, epsilon: float) -> float:
        """Return the lower bound on log δ at an ε, without the work that only the upper bound needs."""
        if len(self.profiles) == 1:
            return self.profiles[0].lower_log_delta(epsilon)
        return self.log_delta_bounds(epsilon).lower

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, by the search that the profiles prefer.

        Args:
            log_delta: the target, log δ ≤ 0.
            near: an ε at which δ may be close to the target; 0 if none is known.
        """
        exact = self.profiles[0].exact_epsilon(log_delta) if len(self.profiles) == 1 else None
        if exact is not None:
            return exact
        enclosed = self._preferred_search(log_delta, near)
        return bracketed_epsilon(self.log_delta_bounds, log_delta) if enclosed is None else enclosed

    def _preferred_search(self, log_delta: float, near: float) -> Interval | None:
        """Enclose the smallest ε that meets a target δ by the search in both directions' `Profile.root_search`.

        If they differ, or name no special search, a line through values at 0 and at `near` is tried.

        Args:
            log_delta: the target, log δ.
            near: an ε at which δ may be close to the target; 0 if none is known.

        Returns:
            The bounds on ε; None if the search fails.
        """
        kinds = {profile.root_search for profile in self.profiles}
        kind = kinds.pop() if len(kinds) == 1 else "bracket"
        if kind == "solve":
            return self._solve(log_delta)
        if kind == "sweep":
            return swept_epsilon(self.log_delta, log_delta)
        if kind == "spare":
            guess = self.profiles[0].guess(log_delta)
            return sparing_epsilon(self.log_delta_bounds, log_delta, guess if guess.epsilon > 0.0 else None)
        if near <= 0.0:
            return None
        line = line_guess(self.log_delta_bounds, log_delta, near)
        return None if line is None else sparing_epsilon(self.log_delta_bounds, log_delta, line)

    def _solve(self, log_delta: float) -> Interval | None:
        """Enclose the ε at a target δ around approximate solutions, which both directions have in closed form.

        The target concerns the larger δ of both directions. So the larger solution is used, with the larger `pad`.

        Args:
            log_delta: the target, log δ.

        Returns:
            The bounds on ε; None if a solution is missing or cannot be certified.
        """
        solutions = [profile.solve(log_delta) for profile in self.profiles]
        usable = [solution for solution in solutions if solution is not None]
        if len(usable) < len(solutions):
            return None
        largest = max(usable, key=lambda solution: solution.epsilon)
        if not 0.0 < largest.epsilon < math.inf:
            return None
        largest = largest._replace(pad=max(solution.pad for solution in usable))
        return solved_epsilon(self.upper_log_delta, self.lower_log_delta, log_delta, largest)

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return only the upper bound of `epsilon`, without the work for the lower bound."""
        return self.epsilon(log_delta, near).upper

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return only a lower bound on ε(δ), about as close as that of `epsilon`, with the same arguments."""
        return self.epsilon(log_delta, near).lower


def bracketed_epsilon(read: Callable[[float], Interval], log_delta: float) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta` without an initial estimate.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target, log δ.

    Returns:
        The bounds on ε; the upper one is math.inf if no ε meets the target.
    """
    upper = upper_epsilon(lambda epsilon: read(epsilon).upper, log_delta)
    lower = lower_epsilon(lambda epsilon: read(epsilon).lower, log_delta, guess=upper)
    return Interval(min(lower, upper), upper)


def upper_epsilon(upper: Callable[[float], float], log_delta: float) -> float:
    """Return an ε ≥ 0 with a certified upper bound on log δ of at most `log_delta`; math.inf if none exists.

    The ε is within a relative 1e-9 of the smallest such ε. The search is inexact, but the returned ε has itself been
    evaluated and meets the target.

    Args:
        upper: function from an ε to a certified upper bound on log δ.
        log_delta: the target, log δ.
    """
    if upper(0.0) <= log_delta:
        return 0.0
    failing, passing = _bracket(lambda epsilon: upper(epsilon) > log_delta)
    if math.isinf(passing):
        return math.inf
    return _narrow(upper, log_delta, failing, passing)[1]


def lower_epsilon(lower: Callable[[float], float], log_delta: float, *, guess: float) -> float:
    """Return an ε ≥ 0 with a certified lower bound on log δ above `log_delta`, so that the true ε(δ) is larger.

    The result is 0 if δ(0) may be at most the target.

    Args:
        lower: function from an ε to a certified lower bound on log δ.
        log_delta: the target, log δ.
        guess: an ε at or above the answer; math.inf if unknown.
    """
    if lower(0.0) <= log_delta:
        return 0.0
    if math.isfinite(guess) and lower(guess) <= log_delta:
        slightly_below = guess * (1 - 1e-6)
        is_above_target = lower(slightly_below) > log_delta
        failing, passing = (slightly_below, guess) if is_above_target else (0.0, slightly_below)
    else:
        failing, passing = _bracket(lambda epsilon: lower(epsilon) > log_delta)
    if math.isinf(passing):
        return failing
    return _narrow(lower, log_delta, failing, passing)[0]


def _bracket(above: Callable[[float], bool]) -> tuple[float, float]:
    """Return an ε at which δ exceeds the target, and a larger one at which it does not.

    The bracket grows from a small ε, because an engine needs more time where δ is far below the target.

    Args:
        above: function that returns whether δ exceeds the target at an ε > 0. At ε = 0 this is assumed.

    Returns:
        Both ε; the larger one is math.inf if δ exceeds the target up to `LARGEST_EPSILON`.
    """
    failing, passing = 0.0, SMALL_EPSILON
    while above(passing):
        if passing >= LARGEST_EPSILON:
            return passing, math.inf
        failing, passing = passing, min(3.0 * passing, LARGEST_EPSILON)
    return failing, passing


def _narrow(bound: Callable[[float], float], log_delta: float, failing: float, passing: float) -> tuple[float, float]:
    """Narrow a bracket of the ε at which a decreasing bound crosses a target, by the Illinois algorithm.

    The search bisects if the function is flat, jumps or is −inf.

    Args:
        bound: function from an ε to a bound on log δ.
        log_delta: the target, log δ.
        failing: an ε at which the bound is above the target.
        passing: a larger ε at which the bound is at most the target.

    Returns:
        Both ε, at most a relative 1e-10 apart unless 200 steps were too few.
    """
    value_failing, value_passing = bound(failing) - log_delta, bound(passing) - log_delta
    # The Illinois algorithm halves the weight of a point that does not move, so that the other one moves too.
    weight_failing = weight_passing = 1.0
    for iteration in range(200):
        if passing - failing <= 1e-10 * passing + 1e-300:
            break
        middle = 0.5 * (failing + passing)
        rise, fall = weight_failing * value_failing, weight_passing * value_passing
        has_slope = math.isfinite(rise) and math.isfinite(fall) and rise > fall
        is_turn_to_bisect = iteration % 8 == 7
        if has_slope and not is_turn_to_bisect:
            secant_root = failing + (passing - failing) * rise / (rise - fall)
            margin = 2e-11 * passing
            middle = min(max(secant_root, failing + margin), passing - margin)
        value = bound(middle) - log_delta
        if value > 0:
            failing, value_failing = middle, value
            weight_failing, weight_passing = 1.0, 0.5 * weight_passing
        else:
            passing, value_passing = middle, value
            weight_passing, weight_failing = 1.0, 0.5 * weight_failing
    return failing, passing


def sparing_epsilon(read: Callable[[float], Interval], log_delta: float, guess: Guess | None = None) -> Interval:
    """Enclose the smallest ε with δ(ε) at most a target, with few evaluations, each of which is expensive.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target, log δ.
        guess: initial estimate. By default it is interpolated from the ε in `PROBES`, as √−log δ is nearly linear in ε.

    Returns:
        Bounds on ε in nats; the upper one is math.inf if no ε meets the target.
    """

    def read_lower(epsilon: float) -> float:
        """Return the lower bound on log δ at an ε."""
        return read(epsilon).lower

    at_zero = read(0.0)
    if at_zero.upper <= log_delta:
        return Interval(0.0, 0.0)
    guess = guess or _interpolate(read, log_delta, at_zero.upper)
    above, below = crossing(lambda epsilon: read(epsilon).upper, log_delta, guess)
    if at_zero.lower <= log_delta:
        return Interval(0.0, below)
    if math.isinf(below):
        return Interval(lower_epsilon(read_lower, log_delta, guess=math.inf), math.inf)
    if read_lower(above) > log_delta:
        return Interval(above, below)
    # The lower bound on log δ crosses the target at a slightly smaller ε than the upper one.
    bounds = read(below)
    width = bounds.upper - bounds.lower if bounds.upper > -math.inf else 0.0
    pad = 2.0 * width / guess.steepness + 1e-10 * below
    near = Guess(above, guess.steepness)
    lower = closest(read_lower, log_delta, near, -pad)
    if lower is None:
        lower = crossing(read_lower, log_delta, near).above
    return Interval(min(lower, below), below)


def _interpolate(read: Callable[[float], Interval], log_delta: float, at_zero: float) -> Guess:
    """Estimate the ε at the target, and the slope of log δ there, by linear interpolation of √−log δ.

    Args:
        read: function from an ε to bounds on log δ. It is evaluated at each ε in `PROBES` up to the target.
        log_delta: the target, log δ.
        at_zero: log δ at ε = 0.

    Returns:
        The estimate, with a steepness |d log δ/dε|. If no ε up to 4^14 is large enough, it is that largest ε.
    """
    low, at_low = 0.0, at_zero
    for high in (*PROBES[1:], *(4.0**k for k in range(2, 15))):
        at_high = read(high).upper
        if at_high <= log_delta:
            break
        low, at_low = high, at_high
    else:
        return Guess(low, 1.0)  # no ε is large enough
    target_root, root_low = math.sqrt(max(-log_delta, 0.0)), math.sqrt(max(-at_low, 0.0))
    root_high = _root_of(at_high)
    if not root_high > root_low:
        return Guess(high, 1.0)
    share = (target_root - root_low) / (root_high - root_low)
    epsilon = low + (high - low) * min(share, 1.0)
    steepness = 2.0 * target_root * (root_high - root_low) / (high - low)
    return Guess(epsilon, max(steepness, 1e-9))


def _root_of(log_delta: float) -> float:
    """Return √−log δ, for a log δ limited to [−`_MOST_SQUARE`, 0]."""
    return math.sqrt(min(max(-log_delta, 0.0), _MOST_SQUARE))


def line_guess(read: Callable[[float], Interval], log_delta: float, near: float) -> Guess | None:
    """Estimate the ε at the target on the line of √−log δ through ε = 0 and `near`.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target, log δ.
        near: an ε > 0 at which log δ is about the target.

    Returns:
        The estimate, with the steepness |d log δ/dε| there; None if the line does not rise.
    """
    target_root = _root_of(log_delta)
    root_at_zero, root_near = _root_of(read(0.0).upper), _root_of(read(near).upper)
    slope = (root_near - root_at_zero) / near
    if not slope > 0.0:
        return None
    epsilon = (target_root - root_at_zero) / slope
    steepness = 2.0 * target_root * slope  # |d log δ/dε|
    return Guess(max(epsilon, 0.0), max(steepness, 1e-9))


def solved_epsilon(
    upper: Callable[[float], float], lower: Callable[[float], float], log_delta: float, solution: EpsilonEstimate
) -> Interval | None:
    """Certify an approximate solution ε of log δ(ε) = `log_delta`, by bounds slightly above and slightly below it.

    If the bounds do not confirm these ε, a longer search starts from the solution and its slope.

    Args:
        upper: function from an ε to an upper bound on log δ.
        lower: function from an ε to a lower bound on log δ.
        log_delta: the target, log δ.
        solution: an approximate ε at which log δ meets the target.

    Returns:
        Bounds on ε; None if they are not confirmed and the slope is unknown.
    """
    guess = Guess(solution.epsilon, 1.0 if solution.steepness is None else solution.steepness)
    above = closest(upper, log_delta, guess, solution.pad)
    below = closest(lower, log_delta, guess, -solution.pad)
    if (above is None or below is None) and solution.steepness is None:
        return None
    if above is None:
        above = crossing(upper, log_delta, guess).below
    if below is None:
        below = crossing(lower, log_delta, guess).above
    return Interval(min(below, above), above)
