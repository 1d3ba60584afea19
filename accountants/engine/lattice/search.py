"""Search for ε(δ) in one direction of a composition, on few transforms and with certified evaluations.

Every grid and tilt gives valid bounds of δ at every ε. They are tight only near the ε that the tilt was chosen for. So
the search first solves for the target on the transform of an estimate of ε. If the solution calls for another
transform, it solves again on that one.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.search import PairSearch
from epsilond.accountants.numerics.root_search import Crossing, Guess, crossing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from epsilond.accountants.engine.lattice.laws import Chosen
    from epsilond.accountants.engine.lattice.product import ComposedProfile

_MOST_TURNS = 4
"""Largest number of transforms for one bound on ε before the longer search."""
_FARTHEST = 0.5
"""Largest relative distance of a solution from the ε that its transform was chosen for."""
_STEP_SHARE, _SPACING = 0.95, 1e-3
"""Largest first Newton step, as a share of `_FARTHEST`, and relative spacing in ε of the finite difference."""
_NEAR_ONE = -1e-6
"""log δ above which the curve is too flat for Newton's method."""
_MOST_EVALUATIONS = 32
"""Largest number of evaluations of δ per bound on ε: as many bisections reach neighbouring doubles."""
_STRIDE = 4.0
"""Ratio of successive ε that are tried when the search ended before the target was met."""


@dataclass(frozen=True)
class LatticeSearch(PairSearch):
    """Search of a product on the lattice: each direction from its own estimate, the larger estimate first.

    Attributes:
        profiles: the distinct directions.
    """

    profiles: tuple[ComposedProfile, ...]

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the larger ε of both directions.

        The second direction is skipped if it meets the target at the first one's ε.

        Args:
            log_delta: log of the target δ.
            near: not used.
        """
        del near
        larger = Interval(0.0, 0.0)
        for profile, guess in self._by_estimate(log_delta):
            if larger.upper > 0.0 and profile.upper_log_delta(larger.upper) <= log_delta:
                continue
            bounds = epsilon_of(profile, log_delta, guess)
            larger = Interval(max(larger.lower, bounds.lower), max(larger.upper, bounds.upper))
        return larger

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return the upper bound of ε, without the work for the lower bound."""
        del near
        larger = 0.0
        for profile, guess in self._by_estimate(log_delta):
            if larger == 0.0 or profile.upper_log_delta(larger) > log_delta:
                larger = max(larger, upper_epsilon_of(profile, log_delta, guess))
        return larger

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return the lower bound of ε; 0 without a search if the cheap bound `coupled_log_delta` meets the target.

        A direction is skipped if its δ is likely to meet the target at the ε of the other one.
        """
        if all(profile.coupled_meets(log_delta) for profile in self.profiles):
            return 0.0
        del near
        larger = 0.0
        for profile, guess in self._by_estimate(log_delta):
            if not (larger > 0.0 and profile.likely_meets(larger, log_delta)):
                larger = max(larger, lower_epsilon_of(profile, log_delta, guess))
        return larger

    def _by_estimate(self, log_delta: float) -> list[tuple[ComposedProfile, Guess]]:
        """Return the directions with their estimates of ε(δ), the largest first."""
        estimates = [(profile, profile.guess(log_delta)) for profile in self.profiles]
        return sorted(estimates, key=lambda estimate: -estimate[1].epsilon)


def epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) at most the target; math.inf if no ε meets it.

    Guarantees: the profile's upper bound at the upper ε meets the target. Its lower bound at a lower ε above 0 does
    not. If the infinite mass exceeds the target δ, no ε meets it and there is no search.

    Args:
        profile: one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε.
    """
    upper = upper_epsilon_of(profile, log_delta, guess)
    if profile.least_log_infinite_mass > log_delta:
        return Interval(LARGEST_EPSILON, upper)
    if upper < _STRIDE * guess.epsilon:
        guess = guess._replace(epsilon=upper)
    lower = lower_epsilon_of(profile, log_delta, guess) if upper > 0.0 else 0.0
    return Interval(min(lower, upper), upper)


def upper_epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """Return an upper bound on the smallest ε that meets the target, at most the largest loss; math.inf if none exists.

    Args:
        profile: one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε.
    """
    if profile.least_log_infinite_mass > log_delta:
        return math.inf
    if profile.coupled_meets(log_delta):
        return 0.0
    upper = _solve(profile, log_delta, guess, from_above=True)
    if upper is not None:
        return min(upper, profile.supremum)
    if profile.upper_log_delta(0.0) <= log_delta:
        return 0.0
    sides = _bounded_search(profile.upper_log_delta, log_delta, guess)
    if sides.below < math.inf:
        return min(sides.below, profile.supremum)
    return _expand_until_met(profile, log_delta, max(sides.above, guess.epsilon))


def lower_epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """Return a lower bound on the smallest ε that meets the target: an ε that misses the target, or 0.

    Args:
        profile: one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε.
    """
    if profile.least_log_infinite_mass > log_delta:
        return LARGEST_EPSILON
    lower = _solve(profile, log_delta, guess, from_above=False)
    if lower is not None:
        return lower
    if profile.log_delta_bounds(0.0).lower <= log_delta:
        return 0.0
    return _bounded_search(lambda epsilon: profile.log_delta_bounds(epsilon).lower, log_delta, guess).above


def _expand_until_met(profile: ComposedProfile, log_delta: float, epsilon: float) -> float:
    """Return a larger ε with an upper bound that meets the target; math.inf if no double has one."""
    while epsilon < LARGEST_EPSILON:
        epsilon = min(_STRIDE * max(epsilon, 1.0), LARGEST_EPSILON)
        if profile.upper_log_delta(epsilon) <= log_delta:
            return epsilon
    return math.inf


def _solve(profile: ComposedProfile, log_delta: float, guess: Guess, *, from_above: bool) -> float | None:
    """Search an ε on one side of the target by Newton steps, with few transforms.

    A transform is accurate near the ε that it was chosen for. The first one is that of the estimate, and each result
    may lead to a better one.

    Args:
        profile: one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε.
        from_above: whether the result meets the target, by the upper bound on δ. Otherwise it misses the target, by the
            lower bound.

    Returns:
        The closest ε found; None if a longer search is necessary.
    """
    best: float | None = None
    chosen = profile.evaluation(guess.epsilon).tilt if guess.epsilon > 0.0 else None
    for _ in range(_MOST_TURNS):
        if chosen is None:
            break
        next_guess = _newton_step(profile, chosen, log_delta, guess, from_above=from_above)
        if next_guess is None:
            break
        root = _solve_on(profile, chosen, log_delta, guess, next_guess, from_above=from_above)
        if root is None:  # the root is too far from the ε that the transform was chosen for
            chosen, guess = profile.evaluation(next_guess.epsilon).tilt, next_guess
            continue
        chosen_for_root, upper = profile.evaluation(root)
        is_certified = upper <= log_delta if from_above else profile.lower_on(chosen_for_root, root) > log_delta
        is_closer = best is None or (root < best) == from_above
        if is_certified and is_closer:
            best = root
        if chosen_for_root == chosen or chosen_for_root is None:  # no other transform is better at the root
            break
        chosen, guess = chosen_for_root, Guess(root, max(abs(chosen_for_root.place.tilt), 1e-9))
    return best


def _bound_on(profile: ComposedProfile, chosen: Chosen, *, from_above: bool) -> Callable[[float], float]:
    """Return the upper or the lower bound of log δ(ε) on a given transform, as a function of ε."""
    return functools.partial(profile.upper_on if from_above else profile.lower_on, chosen)


def _newton_step(
    profile: ComposedProfile, chosen: Chosen, log_delta: float, guess: Guess, *, from_above: bool
) -> Guess | None:
    """Take a Newton step from the estimate, within the range of ε in which one transform is accurate.

    Args:
        profile: one direction of the composition.
        chosen: the transform.
        log_delta: log of the target δ.
        guess: an estimate of ε.
        from_above: whether the upper bound on δ is used, and otherwise the lower one.

    Returns:
        The new estimate; the old one if δ is nearly 1, where the curve is too flat; None if the bound is not finite.
    """
    bound = _bound_on(profile, chosen, from_above=from_above)
    value = bound(guess.epsilon)
    if _NEAR_ONE < value <= 0.0:
        return guess
    if not (-math.inf < value < 0.0):
        return None
    # If few losses dominate, log δ falls far faster than by the slope at a positive tilt, but never more slowly.
    spacing, tilt = _SPACING * guess.epsilon, chosen.place.tilt
    decrease = value - bound(guess.epsilon + spacing)
    slope = decrease / spacing if 0.0 < decrease < math.inf else abs(tilt)
    steepness = max(slope, tilt, 1e-9)
    largest_step = _STEP_SHARE * _FARTHEST * guess.epsilon
    step = min(max((value - log_delta) / steepness, -largest_step), largest_step)
    return Guess(guess.epsilon + step, steepness)


def _solve_on(
    profile: ComposedProfile,
    chosen: Chosen,
    log_delta: float,
    guess: Guess,
    start: Guess,
    *,
    from_above: bool,
) -> float | None:
    """Solve for the target with one transform, and return the solution on the side where it is certified.

    Args:
        profile: one direction of the composition.
        chosen: the transform.
        log_delta: log of the target δ.
        guess: the estimate of ε that the transform was chosen for.
        start: the estimate of ε where the search starts.
        from_above: whether the upper bound on δ is used, and otherwise the lower one.

    Returns:
        The ε; None if it is not close to the estimate.
    """
    within = ((1.0 - _FARTHEST) * guess.epsilon, (1.0 + _FARTHEST) * guess.epsilon)
    try:
        sides = crossing(_bound_on(profile, chosen, from_above=from_above), log_delta, start, within=within)
    except (ArithmeticError, ValueError):  # the search left the range, or that of doubles
        return None
    root = sides.below if from_above else sides.above
    return root if 0.0 < root < math.inf else None


class _SearchEnded(Exception):
    """A search reached its limit on evaluations, or a jump of the bound to −∞."""


def _bounded_search(bound: Callable[[float], float], log_delta: float, guess: Guess) -> Crossing:
    """Search the ε at which a bound crosses the target, as `crossing` does, with a limit on the evaluations.

    The search ends after `_MOST_EVALUATIONS`, or next to a jump of the bound to −∞. The closest ε on both sides are
    then returned, which are further apart but equally valid.

    Args:
        bound: function from an ε to a bound on log δ.
        log_delta: log of the target δ.
        guess: an estimate of ε.
    """
    values: dict[float, float] = {}

    def sides() -> Crossing:
        above = max((epsilon for epsilon, value in values.items() if value > log_delta), default=0.0)
        below = min((epsilon for epsilon, value in values.items() if value <= log_delta), default=math.inf)
        return Crossing(above, below)

    def evaluate(epsilon: float) -> float:
        if len(values) >= _MOST_EVALUATIONS or _ends_at_jump(sides(), values, guess):
            raise _SearchEnded
        values[epsilon] = bound(epsilon)
        return values[epsilon]

    try:
        return crossing(evaluate, log_delta, guess)
    except _SearchEnded:
        return sides()


def _ends_at_jump(sides: Crossing, values: Mapping[float, float], guess: Guess) -> bool:
    """Return whether the target is crossed by a jump of the bound to −∞, so that further evaluations are useless.

    Args:
        sides: the closest known ε on both sides. They must be close compared with ε, and with their distance from the
            estimate.
        values: the evaluated bounds, by ε.
        guess: the estimate of ε.
    """
    if not (0.0 < sides.above < sides.below and values.get(sides.below) == -math.inf):
        return False
    return sides.below - sides.above <= _SPACING * min(abs(guess.epsilon - sides.below), sides.below)
