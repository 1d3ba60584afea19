"""The search of a product of pairs with exactly known distributions of losses, and the product itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from epsilond.accountants.composition.exact_laws import ExactProfile, Laws
from epsilond.accountants.curve.curve import FLAT, SPARE
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import Law
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.search import PairSearch
from epsilond.accountants.numerics.root_search import Guess, closest, false_position

_MOST_STORED = 32
"""Largest number of stored enclosures of log δ."""
_CLOSE = 1e-10
"""Least distance of a trial from ε, relative to ε; about the rounding error of log δ over its slope."""
_SHARE = 0.02
"""Fraction of the width of a first enclosure of ε to which its lower bound is refined."""
_NARROW = 1e-5
"""Width, relative to ε, below which this refinement is not worth its time."""


@dataclass(frozen=True)
class ExactSearch(PairSearch):
    """Search for the ε at a target δ of a composition of exactly known privacy losses.

    The contour engine inverts the transform of the total loss numerically. If it has no certified answer, another
    composition of the same pairs, the fallback, is searched.

    Attributes:
        profiles: profiles of the distinct directions, one or two.
        fallback: function that returns the fallback, a pair.
        evaluated: stored enclosures of log δ, by ε.
    """

    profiles: tuple[ExactProfile, ...]
    fallback: Callable[[], Pair]
    evaluated: dict[float, Interval] = field(default_factory=dict, compare=False, repr=False)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose the larger log δ of both directions at an ε.

        The enclosure is stored for later calls. If `_MOST_STORED` enclosures are stored, they are dropped before.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The lower and the upper bound on log δ.
        """
        enclosed = self.evaluated.get(epsilon)
        if enclosed is None:
            enclosed = super().log_delta_bounds(epsilon)
            if len(self.evaluated) >= _MOST_STORED:
                self.evaluated.clear()
            self.evaluated[epsilon] = enclosed
        return enclosed

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of `log_delta_bounds`, which evaluates both bounds at once."""
        return self.log_delta_bounds(epsilon).upper

    def lower_log_delta(self, epsilon: float) -> float:
        """Return a lower bound on log δ at an ε.

        It is that of `log_delta_bounds`, or −∞ if δ is far below every positive double. The latter saves an evaluation
        of the fallback, which has no lower bound there.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            A lower bound on log δ in the direction with the larger δ.
        """
        if epsilon not in self.evaluated and all(profile.is_beyond_doubles(epsilon) for profile in self.profiles):
            return -math.inf
        return self.log_delta_bounds(epsilon).lower

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the smallest ε ≥ 0 with log δ(ε) at most a target in both directions.

        The bounds come from numerical inversion of the loss transform. If they are far apart, `near` is tried as the
        upper bound, which is valid if log δ is just below the target there. Otherwise the bounds are combined with
        those of the fallback.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which log δ may be about the target; 0 if none is known.

        Returns:
            Lower and upper bounds on ε, in nats.
        """
        solved, all_narrow = self._solve_directions(log_delta)
        if not all_narrow:
            next_to = self._enclose_next_to(near, log_delta) if near > 0.0 else None
            if next_to is not None:
                return next_to
            rough = self.fallback().epsilon(log_delta)
            upper = min(solved.upper, rough.upper, self._unsampled_epsilon(log_delta))
            lower = min(max(solved.lower, rough.lower), upper)
            solved = Interval(lower, upper)
        return Interval(self._move_down(solved, log_delta), self._move_up(solved, log_delta))

    def _enclose_next_to(self, near: float, log_delta: float) -> Interval | None:
        """Enclose the smallest ε that meets the target, with `near` as the upper bound.

        Args:
            near: an ε > 0, in nats.
            log_delta: the target log δ, natural logarithm.

        Returns:
            The enclosure; log δ was evaluated at both bounds. None if log δ at `near` is above the target, or below it
            by more than a relative `SPARE`; if (1 − `FLAT`) · `near` meets the target too; or if no lower bound is
            found.
        """

        def lower_bound(epsilon: float) -> float:
            """Return the lower bound on log δ."""
            return self.log_delta_bounds(epsilon).lower

        def excess(epsilon: float) -> float:
            """Return the lower bound on log δ minus the target."""
            return lower_bound(epsilon) - log_delta

        bounds = self.log_delta_bounds(near)
        before = self.log_delta_bounds((1.0 - FLAT) * near).upper
        is_just_below = log_delta * (1.0 + SPARE) <= bounds.upper <= log_delta
        # `before` is written as a sum with the difference that the slope below uses. If it is above the target, then
        # rounding has not made this difference 0, and the slope is positive.
        falls_through_target = log_delta < bounds.upper + (before - bounds.upper) < math.inf
        if not is_just_below or not falls_through_target:
            return None

        # The slope gives a first lower bound, which is refined if it is far away.
        guess = Guess(near, (before - bounds.upper) / (FLAT * near))
        pad = 2.0 * (log_delta - bounds.lower) / guess.steepness + _CLOSE * near
        lower = closest(lower_bound, log_delta, guess, -pad)
        if lower is None:
            return None
        width = _SHARE * (near - lower)
        if width >= _NARROW * near:
            lower, _ = false_position(excess, lower, near, width=width)
        return Interval(lower, near)

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return an upper bound on the smallest ε ≥ 0 with log δ(ε) at most a target.

        If the contour engine has no narrow enclosure of ε, the upper bound of the fallback is used too.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which δ may be about the target; 0 if none is known.

        Returns:
            The upper bound on ε, in nats.
        """
        solved, all_narrow = self._solve_directions(log_delta)
        if not all_narrow:
            rough = self.fallback().upper_epsilon(log_delta, near)
            solved = solved._replace(upper=min(solved.upper, rough, self._unsampled_epsilon(log_delta)))
        return self._move_up(solved, log_delta)

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return a lower bound on the smallest ε ≥ 0 with log δ(ε) at most a target.

        If the contour engine has no narrow enclosure of ε, the lower bound of the fallback is used too.

        Args:
            log_delta: the target log δ, natural logarithm.
            near: an ε at which δ may be about the target; 0 if none is known.

        Returns:
            The lower bound on ε, in nats.
        """
        solved, all_narrow = self._solve_directions(log_delta)
        if not all_narrow:
            lower = max(solved.lower, self.fallback().lower_epsilon(log_delta, near))
            solved = Interval(lower, max(lower, solved.upper))
        return self._move_down(solved, log_delta)

    def _solve_directions(self, log_delta: float) -> tuple[Interval, bool]:
        """Enclose the larger of the two ε at a target δ, of P against Q and of Q against P, by the contour engine.

        The second direction is skipped if it certainly meets the target at the lower bound of the first.

        Args:
            log_delta: the target log δ, natural logarithm.

        Returns:
            An interval that contains the larger ε, in nats. The second value says whether the intervals of both
            directions are so narrow that no other method is necessary.
        """
        larger, all_narrow = Interval(0.0, 0.0), True
        for index, profile in enumerate(self.profiles):
            if index > 0 and profile.surely_meets(larger.lower, log_delta):
                continue
            solved, is_narrow = profile.enclose_epsilon(log_delta)
            larger = Interval(max(larger.lower, solved.lower), max(larger.upper, solved.upper))
            all_narrow = all_narrow and is_narrow
        return larger, all_narrow

    def _unsampled_epsilon(self, log_delta: float) -> float:
        """Return an upper bound on ε from the same steps without subsampling; math.inf if there are Laplace losses."""
        profile = self.profiles[0]
        return math.inf if profile.laplace else profile.unsampled_pair.epsilon(log_delta).upper

    def _move_up(self, enclosed: Interval, log_delta: float) -> float:
        """Return the upper bound on ε, moved up until log δ is at most the target by `log_delta_bounds` too.

        The bound is certified already, but by a computation that may differ from `log_delta_bounds` in rounding. After
        the move, a later call at this ε returns at most the target. The move stops if the bounds on log δ are wider
        than numerical inversion accepts.

        Args:
            enclosed: enclosure of ε, in nats.
            log_delta: the target log δ, natural logarithm.

        Returns:
            The upper bound on ε, in nats.
        """
        # The first move is a few roundings, or a small part of the enclosure. Each further move is four times as long.
        upper = enclosed.upper
        part_of_enclosure = 0.05 * min(upper - enclosed.lower, 1e-3 * upper)
        move = max(1e-13 * (1.0 + upper), part_of_enclosure)
        while (bounds := self.log_delta_bounds(upper)).upper > log_delta:
            if not bounds.upper - bounds.lower <= self.profiles[0].widest:
                break
            upper, move = upper + move, 4.0 * move
        return upper

    def _move_down(self, enclosed: Interval, log_delta: float) -> float:
        """Return the lower bound on ε, moved down until log δ is above the target by `log_delta_bounds` too.

        The bound is certified already, but by a computation that may differ in rounding. After the move, a later call
        at this ε returns more than the target. The move stops at 0, or if the bounds on log δ are wider than numerical
        inversion accepts.

        Args:
            enclosed: enclosure of ε, in nats.
            log_delta: the target log δ, natural logarithm.

        Returns:
            The lower bound on ε, in nats, at least 0.
        """
        lower = enclosed.lower
        part_of_enclosure = 0.05 * min(enclosed.upper - lower, 1e-3 * enclosed.upper)
        # The first move is a few roundings, or a small part of the enclosure. Each further move is four times as long.
        move = max(1e-13 * (1.0 + lower), part_of_enclosure)
        while lower > 0.0 and (bounds := self.log_delta_bounds(lower)).lower <= log_delta:
            if not bounds.upper - bounds.lower <= self.profiles[0].widest:
                break
            lower, move = max(lower - move, 0.0), 4.0 * move
        return lower


def exact_pair(laws: Sequence[tuple[Law, int]], fallback: Callable[[], Pair]) -> Pair:
    """Return the pair of a composition of mechanisms with exactly known distributions of their privacy losses.

    Its δ is evaluated by numerical inversion of the transform E[e^{zL}] of the total privacy loss L.

    Args:
        laws: distribution of the loss of each mechanism, and its number of runs.
        fallback: function that returns a pair with other bounds on the same composition, for use where the inversion
            cannot bound its own error. A second call returns the same pair.
    """
    forward: Laws = tuple(laws)
    backward: Laws = tuple((law.reverse(), count) for law, count in forward)
    first = ExactProfile(forward, fallback)
    if backward == forward:
        return Pair(first, first, special_search=ExactSearch((first,), fallback))
    second = ExactProfile(backward, fallback, is_backward=True)
    return Pair(first, second, special_search=ExactSearch((first, second), fallback))
