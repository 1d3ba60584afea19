"""ε(δ) of one order of a composition: searched on one transform, certified by evaluations that choose their own.

Any grid and tilt gives true bounds of δ at every ε, and close ones near the ε that it suits. So the target is first met
on the transform that suits a guess; where the ε found asks for another transform, it is met again on that.
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
"""Transforms that are tried for one bound on ε before the longer search."""
_FARTHEST = 0.5
"""What is met on one transform is searched within this factor of where it suits."""
_SHORT_OF, _ASIDE = 0.95, 1e-3
"""How much of that a first step may take, and of ε how far apart a slope is taken, or a jump is left."""
_ALL_BUT_ONE = -1e-6
"""log δ above which a slope leads nowhere."""
_MOST_EVALUATIONS = 32
"""Evaluations of δ in the search for one bound on ε: as many halvings find a double next to the crossing."""
_STRIDE = 4.0
"""How much larger each ε is that is tried where the search ended before one met the target."""


@dataclass(frozen=True)
class LatticeSearch(PairSearch):
    """The search of a product on the lattice: each direction from its own estimate, the larger estimate first.

    Attributes:
        profiles: the distinct directions.
    """

    profiles: tuple[ComposedProfile, ...]

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the larger of both directions. One whose δ meets the target at the other's ε is not searched."""
        del near
        larger = Interval(0.0, 0.0)
        for profile, guess in self._by_estimate(log_delta):
            if larger.upper > 0.0 and profile.upper_log_delta(larger.upper) <= log_delta:
                continue
            bounds = epsilon_of(profile, log_delta, guess)
            larger = Interval(max(larger.lower, bounds.lower), max(larger.upper, bounds.upper))
        return larger

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return the upper bound, searched in the same way."""
        del near
        larger = 0.0
        for profile, guess in self._by_estimate(log_delta):
            if larger == 0.0 or profile.upper_log_delta(larger) > log_delta:
                larger = max(larger, upper_epsilon_of(profile, log_delta, guess))
        return larger

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return the lower bound: 0 without a search where a bound that costs nothing meets the target at ε = 0.

        A direction whose δ is likely to meet the target at the ε of the other one is not searched.
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
        return sorted(estimates, key=lambda each: -each[1].epsilon)


def epsilon_of(order: ComposedProfile, log_delta: float, guess: Guess) -> Interval:
    """Enclosure of the smallest ε ≥ 0 with log δ(ε) at most the target; math.inf where there is none.

    Guarantees: the order's upper bound at the upper ε meets the target, its lower bound at a lower ε above 0 does not.
    Where losses are infinite more often than asked, no ε meets the target, whatever is searched.
    """
    upper = upper_epsilon_of(order, log_delta, guess)
    if order.least_log_infinite_mass > log_delta:
        return Interval(LARGEST_EPSILON, upper)
    if upper < _STRIDE * guess.epsilon:
        guess = guess._replace(epsilon=upper)
    lower = lower_epsilon_of(order, log_delta, guess) if upper > 0.0 else 0.0
    return Interval(min(lower, upper), upper)


def upper_epsilon_of(order: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """The upper bound alone, at most the largest loss."""
    if order.least_log_infinite_mass > log_delta:
        return math.inf
    if order.coupled_meets(log_delta):
        return 0.0
    upper = _met(order, log_delta, guess, from_above=True)
    if upper is not None:
        return min(upper, order.supremum)
    if order.upper_log_delta(0.0) <= log_delta:
        return 0.0
    found = _searched(order.upper_log_delta, log_delta, guess)
    if found.below < math.inf:
        return min(found.below, order.supremum)
    return _any_that_meets(order, log_delta, max(found.above, guess.epsilon))


def lower_epsilon_of(order: ComposedProfile, log_delta: float, guess: Guess) -> float:
    """Return the lower bound only."""
    if order.least_log_infinite_mass > log_delta:
        return LARGEST_EPSILON
    lower = _met(order, log_delta, guess, from_above=False)
    if lower is not None:
        return lower
    if order.log_delta_bounds(0.0).lower <= log_delta:
        return 0.0
    return _searched(lambda epsilon: order.log_delta_bounds(epsilon).lower, log_delta, guess).above


def _any_that_meets(order: ComposedProfile, log_delta: float, epsilon: float) -> float:
    """A larger ε whose upper bound meets the target: wide, but finite. math.inf where no double does."""
    while epsilon < LARGEST_EPSILON:
        epsilon = min(_STRIDE * max(epsilon, 1.0), LARGEST_EPSILON)
        if order.upper_log_delta(epsilon) <= log_delta:
            return epsilon
    return math.inf


def _met(order: ComposedProfile, log_delta: float, guess: Guess, *, from_above: bool) -> float | None:
    """Return the closest ε on its side of the target, on the transform that suits it.

    The first transform is that of the guess. None if the target needs a longer search.
    """
    best: float | None = None
    chosen = order.evaluation(guess.epsilon).tilt if guess.epsilon > 0.0 else None
    for _ in range(_MOST_TURNS):
        near = _nearer(order, chosen, log_delta, guess, from_above=from_above) if chosen is not None else None
        if chosen is None or near is None:
            break
        found = _crossing_on(order, chosen, log_delta, guess, near, from_above=from_above)
        if found is None:  # too far from where the transform was laid
            chosen, guess = order.evaluation(near.epsilon).tilt, near
            continue
        suited, high = order.evaluation(found)
        met = high <= log_delta if from_above else order.lower_on(suited, found) > log_delta
        if met and (best is None or (found < best) == from_above):
            best = found
        if suited == chosen or suited is None:
            break
        chosen, guess = suited, Guess(found, max(abs(suited.place.tilt), 1e-9))
    return best


def _bound_on(order: ComposedProfile, chosen: Chosen, *, from_above: bool) -> Callable[[float], float]:
    """Return the upper or the lower bound of log δ(ε) on a given transform, as a function of ε."""
    return functools.partial(order.upper_on if from_above else order.lower_on, chosen)


def _nearer(
    order: ComposedProfile, chosen: Chosen, log_delta: float, guess: Guess, *, from_above: bool
) -> Guess | None:
    """A Newton step from the guess, no further than what is met on one transform; None where its end tells nothing.

    Where δ is all but 1 there is no slope to follow.
    """
    bound = _bound_on(order, chosen, from_above=from_above)
    value = bound(guess.epsilon)
    if _ALL_BUT_ONE < value <= 0.0:
        return guess
    if not (-math.inf < value < 0.0):
        return None
    # Where few losses rule, log δ falls far faster than a positive tilt says, but never more slowly.
    aside, tilt = _ASIDE * guess.epsilon, chosen.place.tilt
    fall = value - bound(guess.epsilon + aside)
    steepness = max(fall / aside if 0.0 < fall < math.inf else abs(tilt), tilt, 1e-9)
    reach = _SHORT_OF * _FARTHEST * guess.epsilon
    step = min(max((value - log_delta) / steepness, -reach), reach)
    return Guess(guess.epsilon + step, steepness)


def _crossing_on(
    order: ComposedProfile,
    chosen: Chosen,
    log_delta: float,
    guess: Guess,
    near: Guess,
    *,
    from_above: bool,
) -> float | None:
    """Where one end on a given transform crosses the target, on its certified side; None if not near the guess."""
    within = ((1.0 - _FARTHEST) * guess.epsilon, (1.0 + _FARTHEST) * guess.epsilon)
    try:
        found = crossing(_bound_on(order, chosen, from_above=from_above), log_delta, near, within=within)
    except (ArithmeticError, ValueError):
        return None
    met = found.below if from_above else found.above
    return met if 0.0 < met < math.inf else None


class _Spent(Exception):
    """A search took as many evaluations as it may, or reached a jump of the bound to −∞."""


def _searched(end: Callable[[float], float], log_delta: float, guess: Guess) -> Crossing:
    """Return what `crossing` does, or wider but as valid: the closest ε on both sides when the search ends early.

    It ends after `_MOST_EVALUATIONS`, or next to a jump of the bound to −∞.
    """
    values: dict[float, float] = {}

    def sides() -> Crossing:
        above = max((epsilon for epsilon, value in values.items() if value > log_delta), default=0.0)
        return Crossing(
            above, min((epsilon for epsilon, value in values.items() if value <= log_delta), default=math.inf)
        )

    def counted(epsilon: float) -> float:
        if len(values) >= _MOST_EVALUATIONS or _ends_at_jump(sides(), values, guess):
            raise _Spent
        values[epsilon] = end(epsilon)
        return values[epsilon]

    try:
        return crossing(counted, log_delta, guess)
    except _Spent:
        return sides()


def _ends_at_jump(sides: Crossing, values: Mapping[float, float], guess: Guess) -> bool:
    """Return whether both sides of the target are close to each other, and the bound is −∞ on the one below it.

    They are close for ε, and for the way from there to the estimate of ε. Beyond the jump there is no bound.
    """
    if not (0.0 < sides.above < sides.below and values.get(sides.below) == -math.inf):
        return False
    return sides.below - sides.above <= _ASIDE * min(abs(guess.epsilon - sides.below), sides.below)
