"""The searches for δ(ε) and ε(δ) of a pair.

Root searches start without an estimate, evaluate many ε at once, or use few evaluations. Each root search is inexact.
The ε that it returns have themselves been evaluated and are on their sides of the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.bracketed_search import bracketed_epsilon, lower_epsilon
from epsilond.accountants.curve.enclosure import Enclosure, Interval
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
    """The computation of δ(ε) and ε(δ) of a pair from the privacy profiles of its two directions.

    δ of the unordered pair is the larger one of both directions. Every method has a default that is valid for all
    pairs. A subclass serves pairs with searches that can share work. Methods that it does not override may take longer.

    Attributes:
        profiles: the distinct directions, one or two profiles.
    """

    profiles: tuple[Profile, ...]

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose the larger log δ of both directions at one ε.

        The second direction is not evaluated if a cheap bound shows that it is at most the first.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ, at most 0.
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

        If one direction is evaluated at one ε after another (`pointwise`), so is the other.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds with the shape of `epsilon`.
        """
        if any(profile.pointwise for profile in self.profiles):
            points = np.asarray(epsilon, dtype=np.float64)
            bounds = [self.log_delta_bounds(point) for point in points.ravel().tolist()]
            lower_bounds = np.asarray([interval.lower for interval in bounds], dtype=np.float64)
            upper_bounds = np.asarray([interval.upper for interval in bounds], dtype=np.float64)
            return Enclosure(lower_bounds.reshape(points.shape), upper_bounds.reshape(points.shape))

        first_profile, *other_profiles = self.profiles
        lower, upper = first_profile.log_delta(epsilon)
        for profile in other_profiles:
            enclosure = profile.log_delta(epsilon)
            lower, upper = np.maximum(lower, enclosure.lower), np.maximum(upper, enclosure.upper)
        return Enclosure(lower, np.minimum(upper, 0.0))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of `log_delta_bounds`, without the work that only the lower bound needs.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound, at most 0.
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
        """Enclose the smallest ε ≥ 0 that meets a target δ.

        A closed form is used if the pair has one. Otherwise the profiles name the search that suits them. If it fails,
        a growing bracket is searched.

        Args:
            log_delta: the target log δ ≤ 0, natural logarithm.
            near: an ε at which δ may be close to the target; 0 if none is known.

        Returns:
            Lower and upper bounds on ε, in nats.
        """
        if len(self.profiles) == 1:
            exact = self.profiles[0].exact_epsilon(log_delta)
            if exact is not None:
                return exact
        bounds = self._preferred_search(log_delta, near)
        if bounds is None:
            return bracketed_epsilon(self.log_delta_bounds, log_delta)
        return bounds

    def _preferred_search(self, log_delta: float, near: float) -> Interval | None:
        """Enclose the smallest ε that meets a target δ by the search that both directions name in `root_search`.

        If they name different searches or none, a search with few evaluations starts from a line through the values at
        ε = 0 and at `near`.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which δ may be close to the target; 0 if none is known.

        Returns:
            The bounds on ε in nats; None if the search fails, or if it lacks an ε to start from.
        """
        kinds = {profile.root_search for profile in self.profiles}
        kind = kinds.pop() if len(kinds) == 1 else "bracket"
        if kind == "solve":
            return self._solve(log_delta)
        if kind == "sweep":
            return swept_epsilon(self.log_delta, log_delta)
        if kind == "spare":
            guess = self.profiles[0].guess(log_delta)
            has_guess = guess.epsilon > 0.0
            return sparing_epsilon(self.log_delta_bounds, log_delta, guess if has_guess else None)
        if near <= 0.0:
            return None
        line = line_guess(self.log_delta_bounds, log_delta, near)
        return None if line is None else sparing_epsilon(self.log_delta_bounds, log_delta, line)

    def _solve(self, log_delta: float) -> Interval | None:
        """Enclose the ε at a target δ around approximate solutions, which both directions have in closed form.

        The larger δ of both directions must meet the target, so the larger solution is used. Bounds are tried at the
        larger one of the distances (`pad`) that both solutions state.

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
        """Return a lower bound on the smallest ε that meets a target δ.

        The bound is about as close as that of `epsilon`.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which δ may be close to the target; 0 if none is known.

        Returns:
            The lower bound on ε, in nats.
        """
        return self.epsilon(log_delta, near).lower


def sparing_epsilon(read: Callable[[float], Interval], log_delta: float, guess: Guess | None = None) -> Interval:
    """Enclose the smallest ε with δ(ε) at most a target, with few evaluations, each of which is expensive.

    The upper bound on ε is where the upper bound on log δ crosses the target. The lower bound on log δ crosses it at a
    slightly smaller ε, which is searched next.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target log δ, natural logarithm.
        guess: initial estimate. By default it is interpolated between the values at the ε in `PROBES`.

    Returns:
        Bounds on ε in nats; the upper one is math.inf if no ε is known to meet the target.
    """

    def read_lower(epsilon: float) -> float:
        """Return the lower bound on log δ at an ε."""
        return read(epsilon).lower

    def read_upper(epsilon: float) -> float:
        """Return the upper bound on log δ at an ε."""
        return read(epsilon).upper

    at_zero = read(0.0)
    if at_zero.upper <= log_delta:
        return Interval(0.0, 0.0)

    # The upper bound on log δ is above the target at the first ε, and not above it at the second one.
    guess = guess or _interpolate(read, log_delta, at_zero.upper)
    above, below = crossing(read_upper, log_delta, guess)
    if at_zero.lower <= log_delta:
        return Interval(0.0, below)
    if math.isinf(below):
        return Interval(lower_epsilon(read_lower, log_delta, guess=math.inf), math.inf)
    if read_lower(above) > log_delta:
        return Interval(above, below)

    # The first trial is at the distance over which log δ falls by twice the width of its bounds, and a small margin.
    bounds = read(below)
    width = bounds.upper - bounds.lower if bounds.upper > -math.inf else 0.0
    distance = 2.0 * width / guess.steepness + 1e-10 * below
    near = Guess(above, guess.steepness)
    lower = closest(read_lower, log_delta, near, -distance)
    if lower is None:
        lower = crossing(read_lower, log_delta, near).above
    return Interval(min(lower, below), below)


def _interpolate(read: Callable[[float], Interval], log_delta: float, at_zero: float) -> Guess:
    """Estimate the ε at the target, and the slope of log δ there, by linear interpolation of √−log δ.

    √−log δ is nearly linear in ε: for a Gaussian mechanism, log δ is about −ε²/2 up to factors.

    Args:
        read: function from an ε to bounds on log δ. It is evaluated at the ε in `PROBES`, and at powers of 4 after
            them, until the target is met.
        log_delta: the target log δ, natural logarithm.
        at_zero: log δ at ε = 0.

    Returns:
        The estimate, with a steepness |d log δ/dε|. If no ε up to 4^14 is large enough, it is that largest ε.
    """
    # Find two neighbouring ε with the target between their log δ.
    low, at_low = 0.0, at_zero
    for high in (*PROBES[1:], *(4.0**k for k in range(2, 15))):
        at_high = read(high).upper
        if at_high <= log_delta:
            break
        low, at_low = high, at_high
    else:
        return Guess(low, 1.0)  # no ε is large enough

    target_root = math.sqrt(max(-log_delta, 0.0))
    root_low = math.sqrt(max(-at_low, 0.0))
    root_high = _root_of(at_high)
    if not root_high > root_low:
        return Guess(high, 1.0)
    share = (target_root - root_low) / (root_high - root_low)
    epsilon = low + (high - low) * min(share, 1.0)
    steepness = 2.0 * target_root * (root_high - root_low) / (high - low)
    # The smallest steepness keeps the steps of the search finite.
    return Guess(epsilon, max(steepness, 1e-9))


def _root_of(log_delta: float) -> float:
    """Return √−log δ, for a log δ limited to [−`_MOST_SQUARE`, 0]."""
    return math.sqrt(min(max(-log_delta, 0.0), _MOST_SQUARE))


def line_guess(read: Callable[[float], Interval], log_delta: float, near: float) -> Guess | None:
    """Estimate the ε at a target δ on a line through the values at ε = 0 and at a nearby ε.

    √−log δ is nearly linear in ε, so that two values give the line.

    Args:
        read: function from an ε to bounds on log δ.
        log_delta: the target log δ, natural logarithm.
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
    """Certify an approximate solution for the ε at a target δ, by bounds on δ slightly above and below it.

    If the bounds do not confirm that the target is met above and missed below, a longer search starts from the solution
    and its slope.

    Args:
        upper: function from an ε to an upper bound on log δ.
        lower: function from an ε to a lower bound on log δ.
        log_delta: the target log δ, natural logarithm.
        solution: an approximate ε at which log δ meets the target.

    Returns:
        Bounds on ε in nats; None if they are not confirmed and the slope is unknown.
    """
    # A steepness of 1 is only a placeholder: without a slope, no longer search follows.
    guess = Guess(solution.epsilon, 1.0 if solution.steepness is None else solution.steepness)
    above = closest(upper, log_delta, guess, solution.pad)
    below = closest(lower, log_delta, guess, -solution.pad)
    is_confirmed = above is not None and below is not None
    if not is_confirmed and solution.steepness is None:
        return None
    if above is None:
        above = crossing(upper, log_delta, guess).below
    if below is None:
        below = crossing(lower, log_delta, guess).above
    return Interval(min(below, above), above)
