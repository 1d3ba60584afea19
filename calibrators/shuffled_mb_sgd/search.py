"""The smallest noise where a trial is dear: each is certified, so that the last ones are the answer and its proof."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epsilond.accountants.curve import Curve
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.theorem import ConditionResult
from epsilond.accountants.theorems.composition.least_of import Composed, alternatives_of
from epsilond.calibrators.search import DEEP, LEAST, MOST, Certified, nearest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Family

SLACK = 1e-3
WIDTH = 9.5e-4
"""Of log noise, between the last two trials: less than the slack allows."""
NARROW = 0.999 * WIDTH
NEAR = 1.2 * WIDTH
"""Of log noise: a root that is likely to be so near the last trial is passed in one step."""
AIM = 0.35 * WIDTH
"""Of log noise, beyond the likely root."""
STEEPNESS, LEAST_STEEPNESS = 4.5, 0.5
"""Fall of log δ for each e-fold of noise over its size: usually, as a crowd hides noisier reports better; and least."""
LIKELY_SHARE = 1 / 16
"""Of ε, where single rounds are compared."""
MIDDLE = 4
MOST_COARSE = 8
COARSE_EXCESS, ENOUGH = 3e-3, 5e-3
"""Of log noise: what coarse trials ask for beyond what is needed, about; and where they are near enough."""
MOST_TRIALS = 40
FURTHEST = math.log(2.0)


def smallest_noise_in_few_trials(family: Family, target: Target, *, guess: float) -> Certified:
    """A certified noise, next to one that misses the target and is at most a thousandth smaller.

    The bound is a least over choices made by estimates, so that its curve is not smooth below about 1e-4 and polishing
    would not settle. Guarantees: the upper end of δ at the target ε is at most the target δ, by evaluation; `slack` is
    1e-3 if the bound's own lower end misses the target at a noise lower by no more than that.

    Raises:
        Infeasible: even the largest noise offered misses the target.
    """
    start = min(max(guess, LEAST), MOST)
    # Of several bounds that are composed one is followed, until another is seen to be less.
    followed, tried = likely_least(family(start, "coarse"), target.epsilon), set[int]()
    while True:
        tried.add(followed)
        trials = _Trials(family, target, followed)
        answer = trials.settled(trials.likely(math.log(start)))
        least = _least_at(answer.guarantee, target.epsilon)
        if least in tried:
            return answer
        followed, start = least, answer.noise


def likely_least(guarantee: Guarantee, epsilon: float) -> int:
    """Which of several composed bounds is likely to be least at ε: the one whose single rounds are, at a share of it.

    An estimate, as to compose one is dear: it decides where a search starts and nothing else.
    """
    rounds: list[Sequence[Any]] = [
        getattr(pair.forward, "parts", ()) for pair in alternatives_of(guarantee.curve.upper)
    ]
    if any(len(parts) != 1 for parts in rounds):
        return 0
    share = np.asarray([epsilon * LIKELY_SHARE])
    values = [float(parts[0].first.log_delta(share).upper[0]) for parts in rounds]
    return values.index(min(values))


def _least_at(guarantee: Guarantee, epsilon: float) -> int:
    """Which of several composed bounds is least at ε: each is composed."""
    uppers = [pair.ends(epsilon).upper for pair in alternatives_of(guarantee.curve.upper)]
    return uppers.index(min(uppers))


def with_likely_least(guarantee: Guarantee, epsilon: float) -> Guarantee:
    """The guarantee with one of its composed bounds, the likely least at ε: what it proves is true, and may be less."""
    upper = alternatives_of(guarantee.curve.upper)[likely_least(guarantee, epsilon)]
    return replace(guarantee, curve=Curve(upper, guarantee.curve.witnesses))


class _Trial(NamedTuple):
    """What one bound gives at a noise, with the guarantee that it is part of."""

    place: float
    """The logarithm of the noise."""
    miss: float
    """By how much the upper end of log δ misses the target, over the target's size; at most 0 where it meets it."""
    lower: float
    """Of log δ."""
    guarantee: Guarantee


class _Trials:
    """Trials of one of the bounds that are composed, from both sides of the root."""

    def __init__(self, family: Family, target: Target, followed: int) -> None:
        self._family, self._target, self._followed = family, target, followed
        self._least, self._most = math.log(LEAST), math.log(MOST)
        self._failing: _Trial | None = None
        self._passing: _Trial | None = None
        self._last: _Trial | None = None
        self._slope = -STEEPNESS
        self._inside = 0

    def settled(self, start: float) -> Certified:
        """The smallest noise that passed, with its proof if the last to fail is near enough."""
        place = start
        for _ in range(MOST_TRIALS):
            self._note(self._trial(place))
            failing, passing = self._failing, self._passing
            if failing is not None and failing.place >= self._most:
                raise self._infeasible(failing.guarantee)
            if passing is not None and passing.place <= self._least:
                return Certified(LEAST, passing.guarantee, None)
            if failing is not None and passing is not None and passing.place - failing.place <= WIDTH:
                break
            place = self._following()
        if self._passing is None:
            return Certified(MOST, self._family(MOST, "default"), None)
        slack = SLACK if self._proved(self._passing, self._failing) else None
        return Certified(math.exp(self._passing.place), self._passing.guarantee, slack)

    def likely(self, start: float) -> float:
        """About where the root is, by coarse trials: from there it is passed on a known slope."""
        place, tried = start, list[tuple[float, float]]()
        for _ in range(MOST_COARSE):
            tried.append((place, self._coarse_miss(place)))
            if len(tried) > 1:
                self._slope = self._slope_to(*tried[-2:])
            root = self._curved(tried[-3:])
            if abs(root - place) < ENOUGH:
                break
            place = root
        return min(max(root - COARSE_EXCESS, self._least), self._most)

    def _coarse_miss(self, place: float) -> float:
        """`_Trial.miss` by quick upper ends, of which a search needs no more."""
        guarantee = self._family(math.exp(place), "coarse")
        pair = alternatives_of(guarantee.curve.upper)[self._followed]
        epsilon, wanted = self._target.epsilon, self._target.log_delta
        quick = max(
            order.quick_upper_end(epsilon) if isinstance(order, Composed) else pair.ends(epsilon).upper
            for order in pair.orders()
        )
        upper = quick if math.isfinite(quick) else pair.ends(epsilon).upper
        return (max(upper, DEEP) - wanted) / -wanted

    def _curved(self, tried: Sequence[tuple[float, float]]) -> float:
        """Where the curve through the last trials meets the target: a line, or a parabola where that is near it."""
        place, miss = tried[-1]
        root = place - min(max(miss / self._slope, -FURTHEST), FURTHEST)
        if len({each for _, each in tried}) == 3:
            parabola = sum(x * math.prod(-other / (y - other) for _, other in tried if other != y) for x, y in tried)
            if abs(parabola - root) < 0.5 * abs(root - place):
                root = parabola
        return min(max(root, self._least), self._most)

    def _root(self) -> float:
        """Where the line through the last trial meets the target."""
        assert self._last is not None
        return self._last.place - min(max(self._last.miss / self._slope, -FURTHEST), FURTHEST)

    @staticmethod
    def _slope_to(first: tuple[float, float], second: tuple[float, float]) -> float:
        """Of the line through two places and misses, as steep as it can be."""
        if first[0] == second[0]:
            return -STEEPNESS
        return min((second[1] - first[1]) / (second[0] - first[0]), -LEAST_STEEPNESS)

    def _trial(self, place: float) -> _Trial:
        guarantee, wanted = self._family(math.exp(place), "default"), self._target.log_delta
        several = alternatives_of(guarantee.curve.upper)
        lower, upper = several[min(self._followed, len(several) - 1)].ends(self._target.epsilon)
        return _Trial(place, (max(upper, DEEP) - wanted) / -wanted, lower, guarantee)

    def _note(self, trial: _Trial) -> None:
        # On two places as near as this a slope is that of what is not smooth.
        if self._last is not None and abs(self._last.place - trial.place) > NEAR:
            self._slope = self._slope_to(self._last[:2], trial[:2])
        self._last = trial
        if trial.miss > 0.0:
            self._failing = trial
        else:
            self._passing = trial

    def _following(self) -> float:
        """The next place: beyond the likely root, or at its other side as soon as the last trial is next to it."""
        assert self._last is not None
        failing, passing, (place, miss, _, _) = self._failing, self._passing, self._last
        root = self._root()
        beside = place + (NARROW if miss > 0.0 else -NARROW)
        following = beside if abs(root - place) < NEAR else root + AIM
        if failing is None or passing is None:
            return min(max(following, self._least), self._most)
        width = passing.place - failing.place
        if not failing.place < following < passing.place:
            following = failing.place + width * failing.miss / (failing.miss - passing.miss) + AIM
        # At most twice as wide as wanted: a place from which either side is narrow enough. Else one that takes away
        # what is wanted at least.
        margin = width - NARROW if width <= 2.0 * NARROW else NARROW
        if self._is_to_halve():
            following = 0.5 * (failing.place + passing.place)
        return min(max(following, failing.place + margin), passing.place - margin)

    def _is_to_halve(self) -> bool:
        """Whether interpolation has had its steps: the middle is taken every fourth time, as curves may jump."""
        self._inside += 1
        return self._inside % MIDDLE == 0

    def _proved(self, passing: _Trial, failing: _Trial | None) -> bool:
        """Whether the whole bound, all that are composed, misses the target at the trial that failed.

        Bounds that miss it at the answer do so at less noise.
        """
        if failing is None or passing.place - failing.place > WIDTH:
            return False
        wanted, epsilon = self._target.log_delta, self._target.epsilon
        several = alternatives_of(passing.guarantee.curve.upper)
        others = [pair for place, pair in enumerate(several) if place != min(self._followed, len(several) - 1)]
        if all(pair.ends(epsilon).lower > wanted for pair in others):
            return failing.lower > wanted
        return failing.guarantee.curve.bound_log_delta(epsilon).lower > wanted

    def _infeasible(self, guarantee: Guarantee) -> Infeasible:
        sides = ConditionResult(
            "noise-offered", "the noise multiplier that is needed is offered", False, math.inf, MOST
        )
        return Infeasible("no noise that is offered meets the target", sides, nearest_of(guarantee, self._target))
