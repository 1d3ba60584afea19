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

    from epsilond.accountants.engine.lattice.laws import GridAndTilt
    from epsilond.accountants.engine.lattice.product import ComposedProfile

_MOST_TRANSFORMS = 4  # largest number of transforms for one bound on ε before the longer search
_FARTHEST = 0.5  # largest relative distance of a solution from the ε that its transform was chosen for
_STEP_SHARE, _SPACING = 0.95, 1e-3  # largest Newton step over `_FARTHEST`; relative ε-spacing of the finite difference
_NEAR_ONE = -1e-6  # log δ above which the curve is too flat for Newton's method
_MOST_EVALUATIONS = 32  # largest number of evaluations of δ per bound on ε; 32 bisections give a relative 2e-10
_STRIDE = 4.0  # ratio of successive ε that are tried if a search ended before δ was at most the target


@dataclass(frozen=True)
class LatticeSearch(PairSearch):
    """The search for ε(δ) of a product of pairs that is composed on a lattice of losses.

    A pair has a profile ε ↦ δ(ε) in each direction. The direction with the larger estimate of ε comes first, because
    the other one then often needs one evaluation only.

    Attributes:
        profiles: the profiles of the distinct directions, one if the product is symmetric.
    """

    profiles: tuple[ComposedProfile, ...]

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the smallest ε ≥ 0 at which δ is at most the target in both directions.

        Args:
            log_delta: log of the target δ.
            near: not used; the argument belongs to the interface of searches.

        Returns:
            The larger lower bound and the larger upper bound of the two directions, in nats.
        """
        del near
        largest = Interval(0.0, 0.0)  # largest bounds of the directions so far
        for profile, guess in self._by_estimate(log_delta):
            needs_no_search = largest.upper > 0.0 and profile.upper_log_delta(largest.upper) <= log_delta
            if needs_no_search:
                continue
            lower, upper = epsilon_of(profile, log_delta, guess)
            largest = Interval(max(largest.lower, lower), max(largest.upper, upper))
        return largest

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return an upper bound on the smallest ε at which δ is at most the target in both directions.

        Args:
            log_delta: log of the target δ.
            near: not used; the argument belongs to the interface of searches.

        Returns:
            The upper bound in nats; math.inf if no ε is known that meets the target.
        """
        del near
        largest = 0.0  # largest bound of the directions so far
        for profile, guess in self._by_estimate(log_delta):
            needs_no_search = largest > 0.0 and profile.upper_log_delta(largest) <= log_delta
            if needs_no_search:
                continue
            largest = max(largest, upper_epsilon_of(profile, log_delta, guess))
        return largest

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return a lower bound on the smallest ε ≥ 0 at which δ is at most the target, for P against Q and Q against P.

        It is 0 without a search if the total variation distances of the rounds show that δ(0) meets the target.

        Args:
            log_delta: log of the target δ.
            near: not used; the argument belongs to the interface of searches.

        Returns:
            The lower bound in nats, at least 0.
        """
        del near
        if all(profile.coupled_meets(log_delta) for profile in self.profiles):
            return 0.0
        largest = 0.0  # largest bound of the directions so far
        for profile, guess in self._by_estimate(log_delta):
            needs_no_search = largest > 0.0 and profile.likely_meets(largest, log_delta)
            if needs_no_search:
                continue
            largest = max(largest, lower_epsilon_of(profile, log_delta, guess))
        return largest

    def _by_estimate(self, log_delta: float) -> list[tuple[ComposedProfile, Guess]]:
        """Return the profiles of the directions, with their estimates of ε at a log δ, the largest estimate first."""
        estimates = [(profile, profile.guess(log_delta)) for profile in self.profiles]
        return sorted(estimates, key=lambda estimate: -estimate[1].epsilon)


def epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> Interval:
    """Enclose the smallest ε ≥ 0 with log δ(ε) at most the target.

    If the probability of an infinite loss exceeds the target δ, no ε meets it, and the lower bound is not searched.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.

    Returns:
        The bounds; the upper one is math.inf if no ε is known that meets the target.

    Guarantees: at the upper ε, the upper bound on log δ is at most the target. At the lower ε, if it is above 0, the
    lower bound on log δ is above the target.
    """
    upper = upper_epsilon_of(profile, log_delta, guess)
    if profile.least_log_infinite_mass > log_delta:
        return Interval(LARGEST_EPSILON, upper)
    if upper < _STRIDE * guess.epsilon:  # start the second search from a better estimate
        guess = guess._replace(epsilon=upper)
    lower = lower_epsilon_of(profile, log_delta, guess) if upper > 0.0 else 0.0
    return Interval(min(lower, upper), upper)


def upper_epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """Return an upper bound on the smallest ε at which δ of a composition is at most the target.

    A search on few transforms comes first, then a longer one with a limit on the evaluations, then ever larger ε.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.

    Returns:
        An ε in nats at which δ is at most the target; math.inf if none is known.
    """
    if profile.least_log_infinite_mass > log_delta:
        return math.inf
    if profile.coupled_meets(log_delta):
        return 0.0
    upper = _solve(profile, log_delta, guess, from_above=True)
    if upper is not None:
        return min(upper, profile.supremum)  # δ is zero from `supremum` on
    if profile.upper_log_delta(0.0) <= log_delta:
        return 0.0
    closest = _bounded_search(profile.upper_log_delta, log_delta, guess)
    if closest.below < math.inf:
        return min(closest.below, profile.supremum)
    return _increase_until_met(profile, log_delta, max(closest.above, guess.epsilon))


def lower_epsilon_of(profile: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """Return a lower bound on the smallest ε at which δ of a composition is at most the target.

    A search on few Fourier transforms comes first, then a longer one: its largest ε with δ above the target.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.

    Returns:
        An ε in nats at which δ exceeds the target, or 0. It is `LARGEST_EPSILON` if no finite ε meets the target.
    """
    if profile.least_log_infinite_mass > log_delta:
        return LARGEST_EPSILON
    lower = _solve(profile, log_delta, guess, from_above=False)
    if lower is not None:
        return lower
    if profile.log_delta_bounds(0.0).lower <= log_delta:  # no ε is proved to miss the target
        return 0.0
    return _bounded_search(lambda epsilon: profile.log_delta_bounds(epsilon).lower, log_delta, guess).above


def _increase_until_met(profile: ComposedProfile, log_delta: float, epsilon: float) -> float:
    """Return the first of growing ε above the given one at which δ is at most the target.

    Args:
        profile: profile ε ↦ δ(ε) of a composition.
        log_delta: log of the target δ.
        epsilon: ε in nats, from which the search starts.

    Returns:
        The ε; math.inf if there is none up to `LARGEST_EPSILON`.
    """
    while epsilon < LARGEST_EPSILON:
        epsilon = min(_STRIDE * max(epsilon, 1.0), LARGEST_EPSILON)
        if profile.upper_log_delta(epsilon) <= log_delta:
            return epsilon
    return math.inf


def _solve(profile: ComposedProfile, log_delta: float, guess: Guess, *, from_above: bool) -> float | None:
    """Search for an ε just above or just below ε(δ) by Newton steps, with few transforms.

    A transform is that of the distribution of the total loss L, weighted by e^{λL} with a tilt λ. It is accurate near
    the ε that λ was chosen for. The first `choice` of a lattice and tilt is for the estimate, later ones for results.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.
        from_above: True for an ε with an upper bound on log δ of at most the target. False for an ε with a lower bound
            above the target.

    Returns:
        The certified ε that is closest to ε(δ); None if a longer search is necessary.
    """
    best: float | None = None
    choice = profile.evaluation(guess.epsilon).tilt if guess.epsilon > 0.0 else None
    for _ in range(_MOST_TRANSFORMS):
        if choice is None:
            break
        next_guess = _newton_step(profile, choice, log_delta, guess, from_above=from_above)
        if next_guess is None:
            break

        root = _solve_on(profile, choice, log_delta, guess, next_guess, from_above=from_above)
        if root is None:  # the root is too far from the ε that the transform was chosen for
            choice, guess = profile.evaluation(next_guess.epsilon).tilt, next_guess
            continue

        is_closer = best is None or (root < best) == from_above
        if _is_certified(profile, root, log_delta, from_above=from_above) and is_closer:
            best = root

        # Go on with the transform for the root, unless it is the same one or there is none.
        choice_at_root = profile.evaluation(root).tilt
        if choice_at_root == choice or choice_at_root is None:
            break
        steepness = max(abs(choice_at_root.coordinate.tilt), 1e-9)  # not 0
        choice, guess = choice_at_root, Guess(root, steepness)
    return best


def _is_certified(profile: ComposedProfile, epsilon: float, log_delta: float, *, from_above: bool) -> bool:
    """Return whether a bound proves on which side of the target log δ(ε) is, the side that `from_above` selects.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        epsilon: ε, in nats.
        log_delta: log of the target δ.
        from_above: True to prove log δ(ε) ≤ target by the upper bound; False to prove the opposite by the lower one.
    """
    lattice_and_tilt, upper = profile.evaluation(epsilon)
    if from_above:
        return upper <= log_delta
    return profile.lower_on(lattice_and_tilt, epsilon) > log_delta


def _bound_on(profile: ComposedProfile, choice: GridAndTilt, *, from_above: bool) -> Callable[[float], float]:
    """Return the upper or the lower bound on log δ(ε) as a function of ε, from one Fourier transform of the losses.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        choice: the lattice, and the tilt λ of the weights e^{λL} in the transform.
        from_above: True for the upper bound, False for the lower one.
    """
    bound_on_transform = profile.upper_on if from_above else profile.lower_on
    return functools.partial(bound_on_transform, choice)


def _newton_step(
    profile: ComposedProfile, choice: GridAndTilt, log_delta: float, guess: Guess, *, from_above: bool
) -> Guess | None:
    """Take a Newton step in ε towards the target log δ, short enough for one Fourier transform to stay accurate.

    The slope of log δ is about −λ for the tilt λ of the transform. If few losses dominate, it is far steeper, which a
    finite difference shows. The steeper of both estimates is used, so that the step is not too long.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        choice: the lattice, and the tilt λ of the weights e^{λL} in the transform.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.
        from_above: True to use the upper bound on δ, False to use the lower one.

    Returns:
        The new estimate; the old one if δ is nearly 1, where the curve is too flat; None if the bound is 0 or above 1.
    """
    bound = _bound_on(profile, choice, from_above=from_above)
    value = bound(guess.epsilon)
    if _NEAR_ONE < value <= 0.0:
        return guess
    if not (-math.inf < value < 0.0):
        return None
    tilt = choice.coordinate.tilt
    spacing = _SPACING * guess.epsilon
    decrease = value - bound(guess.epsilon + spacing)
    finite_difference = decrease / spacing if 0.0 < decrease < math.inf else abs(tilt)
    steepness = max(finite_difference, tilt, 1e-9)  # not 0
    largest_step = _STEP_SHARE * _FARTHEST * guess.epsilon
    step = min(max((value - log_delta) / steepness, -largest_step), largest_step)
    return Guess(guess.epsilon + step, steepness)


def _solve_on(
    profile: ComposedProfile,
    choice: GridAndTilt,
    log_delta: float,
    guess: Guess,
    start: Guess,
    *,
    from_above: bool,
) -> float | None:
    """Find the ε at which a bound on log δ by one transform crosses the target.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of the composition.
        choice: the lattice, and the tilt λ of the weights e^{λL} in the transform.
        log_delta: log of the target δ.
        guess: the estimate of ε that the transform was chosen for.
        start: the estimate of ε where the search starts.
        from_above: True to use the upper bound on δ, and return an ε where it is at most the target. False to use the
            lower bound, and return an ε where it is above the target.

    Returns:
        The ε; None if it is not close to `guess`.
    """
    close_range = (1.0 - _FARTHEST) * guess.epsilon, (1.0 + _FARTHEST) * guess.epsilon
    bound = _bound_on(profile, choice, from_above=from_above)
    try:
        closest = crossing(bound, log_delta, start, within=close_range)
    except (ArithmeticError, ValueError):  # the search left the close range, or a number that of doubles
        return None
    root = closest.below if from_above else closest.above
    return root if 0.0 < root < math.inf else None


class _SearchEnded(Exception):
    """A search reached its limit on evaluations, or a jump of the bound to −∞."""


def _bounded_search(bound: Callable[[float], float], log_delta: float, guess: Guess) -> Crossing:
    """Search for the ε at which a bound on log δ crosses the target, with a limit on the evaluations.

    The search ends early after `_MOST_EVALUATIONS`, or next to a jump of the bound to −∞. The closest ε on both sides
    are then further apart than those of a full search, but equally valid.

    Args:
        bound: function from an ε to a bound on log δ.
        log_delta: log of the target δ.
        guess: an estimate of ε, with the slope of log δ there.

    Returns:
        The largest evaluated ε with a bound above the target, or 0, and the smallest evaluated ε with a bound of at
        most the target, or inf.
    """
    values: dict[float, float] = {}  # bound on log δ at each evaluated ε

    def closest_sides() -> Crossing:
        """Return the closest evaluated ε on both sides of the crossing."""
        above = max((epsilon for epsilon, value in values.items() if value > log_delta), default=0.0)
        below = min((epsilon for epsilon, value in values.items() if value <= log_delta), default=math.inf)
        return Crossing(above, below)

    def evaluate(epsilon: float) -> float:
        """Evaluate and store the bound, unless the search is to end."""
        if len(values) >= _MOST_EVALUATIONS or _ends_at_jump(closest_sides(), values, guess):
            raise _SearchEnded
        values[epsilon] = bound(epsilon)
        return values[epsilon]

    try:
        return crossing(evaluate, log_delta, guess)
    except _SearchEnded:
        return closest_sides()


def _ends_at_jump(closest: Crossing, values: Mapping[float, float], guess: Guess) -> bool:
    """Return whether the bound on log δ falls below the target by a jump to −∞, so that the search may end.

    This is assumed if the bound is −∞ at the right end of the bracket of the crossing, and the bracket is short. Its
    length is then at most a thousandth of ε, and of the distance from ε to its estimate.

    Args:
        closest: the bracket: the largest ε with a bound `above` the target, and the smallest ε with one `below`.
        values: the evaluated bounds on log δ, by ε.
        guess: the estimate of ε.
    """
    has_both_sides = 0.0 < closest.above < closest.below
    if not has_both_sides or values.get(closest.below) != -math.inf:
        return False
    distance_from_estimate = abs(guess.epsilon - closest.below)
    return closest.below - closest.above <= _SPACING * min(distance_from_estimate, closest.below)
