"""The smallest noise where a trial is dear: each is certified, so that the last ones are the answer and its proof."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epsilond.accountants.curve import Interval
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.theorem import ConditionResult
from epsilond.accountants.theorems.composition.least_of import Composed, alternatives_of
from epsilond.calibrators.search import DEEP, LEAST, MOST, Certified, central_mu, nearest_of
from epsilond.calibrators.trails import Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Family
    from epsilond.calibrators.trails import Trail

SLACK = 1e-3
STEP = 9.5e-4
"""Of log noise, less than the slack. Answers are whole multiples: the same wherever a search starts."""
STEEPNESS, LEAST_STEEPNESS = 4.5, 0.5
"""Fall of log δ for each e-fold of noise over its size: usually, as a crowd hides noisier reports better; and least."""
LIKELY_SHARE = 1 / 16
"""Of ε, where single rounds are compared."""
MIDDLE = 4
MOST_COARSE = 8
COARSE_EXCESS, ENOUGH = 3e-3, 6e-2
"""Of log noise: what coarse trials ask for beyond what is needed, about; and from where a line leads near the root."""
MOST_TRIALS = 40
FURTHEST = math.log(2.0)


def smallest_noise_in_few_trials(
    family: Family, target: Target, *, guess: float, trail: Trail | None = None
) -> Certified:
    """A certified noise, next to one that misses the target and is at most a thousandth smaller.

    The bound is a least over choices made by estimates, so that its curve is not smooth below about 1e-4 and polishing
    would not settle. Guarantees: the upper end of δ at the target ε is at most the target δ, by evaluation; `slack` is
    1e-3 if the bound's own lower end misses the target at a noise lower by no more than that. A `trail` spares coarse
    trials.

    Raises:
        Infeasible: even the largest noise offered misses the target.
    """
    start = min(max(guess, LEAST), MOST)
    # Of several bounds that are composed one is followed, until another is seen to be less.
    followed, tried = likely_least(family(start, "coarse"), target.epsilon), set[int]()
    log_mu = math.log(central_mu(target))
    near = trail.likely(log_mu) if trail else None
    while True:
        tried.add(followed)
        trials = _Trials(family, target, followed)
        if near is None:
            answer = trials.settled(trials.likely(math.log(start)))
        else:
            answer, near = trials.settled(near.log_noise, near.slope), None
        least = trials.least_at(answer)
        if least in tried:
            if trail:
                trail.add(Point(log_mu, answer.place, trials.slope))
            return trials.certified(answer)
        followed, start = least, math.exp(answer.place)


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


def with_likely_least(guarantee: Guarantee, epsilon: float) -> Guarantee:
    """The guarantee with one of its composed bounds, the likely least at ε: what it proves is true, and may be less."""
    upper = alternatives_of(guarantee.curve.upper)[likely_least(guarantee, epsilon)]
    return replace(guarantee, curve=replace(guarantee.curve, upper=upper))


def _place(index: int) -> float:
    """The logarithm of the noise at a multiple of the step; the least and the most that are offered at either end."""
    return min(max(index * STEP, math.log(LEAST)), math.log(MOST))


LOWEST, HIGHEST = math.floor(math.log(LEAST) / STEP), math.ceil(math.log(MOST) / STEP)


class _Trial(NamedTuple):
    """What one bound gives at a noise, with the guarantee that it is part of."""

    step: int
    """The logarithm of the noise, in steps."""
    miss: float
    """By how much the upper end of log δ misses the target, over the target's size; at most 0 where it meets it."""
    lower: float
    """Of log δ."""
    guarantee: Guarantee

    @property
    def place(self) -> float:
        """The logarithm of the noise."""
        return _place(self.step)


class _Trials:
    """Trials of one of the bounds that are composed, from both sides of the root."""

    def __init__(self, family: Family, target: Target, followed: int) -> None:
        self._family, self._target, self._followed = family, target, followed
        self._least, self._most = math.log(LEAST), math.log(MOST)
        self._failing: _Trial | None = None
        self._passing: _Trial | None = None
        self._last: _Trial | None = None
        self.slope = -STEEPNESS
        self._inside = 0
        self._known: dict[int, dict[int, Interval]] = {}

    def settled(self, start: float, slope: float | None = None) -> _Trial:
        """The smallest noise that passed; what failed one step before is kept, if anything did.

        Raises:
            Infeasible: even the largest noise offered misses the target.
        """
        self.slope = slope or self.slope
        index = math.ceil(start / STEP)
        for _ in range(MOST_TRIALS):
            self._note(self._trial(index))
            failing, passing = self._failing, self._passing
            if failing is not None and failing.step >= HIGHEST:
                raise self._infeasible(failing.guarantee)
            if passing is not None and passing.step <= LOWEST:
                return passing
            if failing is not None and passing is not None and passing.step - failing.step <= 1:
                break
            index = self._following()
        return self._passing or self._trial(HIGHEST)

    def least_at(self, answer: _Trial) -> int:
        """Which of several composed bounds is least at the answer: another one only if it is seen to be less."""
        upper = self._target.log_delta * (1.0 - answer.miss)
        less = {place: ends.upper for place, ends in self._others(answer).items() if ends.upper < upper}
        return min(less, key=less.__getitem__) if less else self._followed

    def _others(self, answer: _Trial) -> dict[int, Interval]:
        """Ends of log δ of the bounds that are not followed, coarsely; they decide nothing where they are too wide."""
        if answer.step not in self._known:
            several = alternatives_of(self._family(math.exp(answer.place), "coarse").curve.upper)
            self._known[answer.step] = {
                place: pair.ends(self._target.epsilon)
                for place, pair in enumerate(several)
                if place != min(self._followed, len(several) - 1)
            }
        return self._known[answer.step]

    def certified(self, answer: _Trial) -> Certified:
        """The noise with its proof, if the last to fail is near enough.

        Where all other bounds miss the target, which they do at less noise, too, the one that was followed is all that
        is read at the target.
        """
        guarantee, several = answer.guarantee, alternatives_of(answer.guarantee.curve.upper)
        noise = math.exp(answer.place)
        if answer.step <= LOWEST:
            return Certified(LEAST, guarantee, None)
        if any(ends.lower <= self._target.log_delta for ends in self._others(answer).values()):
            return Certified(noise, guarantee, SLACK if self._missed_by_all() else None)
        failing = self._failing
        proved = failing is not None and failing.step == answer.step - 1 and failing.lower > self._target.log_delta
        slack = SLACK if proved else None
        if len(several) == 1:
            return Certified(noise, guarantee, slack)
        read = replace(guarantee, curve=replace(guarantee.curve, upper=several[self._followed]))
        return Certified(noise, read, slack, whole=guarantee)

    def likely(self, start: float) -> float:
        """About where the root is, by coarse trials: from there it is passed on a known slope."""
        place, tried = start, list[tuple[float, float]]()
        for _ in range(MOST_COARSE):
            tried.append((place, self._coarse_miss(place)))
            if len(tried) > 1:
                self.slope = self._slope_to(*tried[-2:])
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
        root = place - min(max(miss / self.slope, -FURTHEST), FURTHEST)
        if len({each for _, each in tried}) == 3:
            parabola = sum(x * math.prod(-other / (y - other) for _, other in tried if other != y) for x, y in tried)
            if abs(parabola - root) < 0.5 * abs(root - place):
                root = parabola
        return min(max(root, self._least), self._most)

    def _root(self) -> float:
        """Where the line through the last trial meets the target."""
        assert self._last is not None
        return self._last.place - min(max(self._last.miss / self.slope, -FURTHEST), FURTHEST)

    @staticmethod
    def _slope_to(first: tuple[float, float], second: tuple[float, float]) -> float:
        """Of the line through two places and misses, as steep as it can be."""
        if first[0] == second[0]:
            return -STEEPNESS
        return min((second[1] - first[1]) / (second[0] - first[0]), -LEAST_STEEPNESS)

    def _trial(self, index: int) -> _Trial:
        index = min(max(index, LOWEST), HIGHEST)
        guarantee, wanted = self._family(math.exp(_place(index)), "default"), self._target.log_delta
        several = alternatives_of(guarantee.curve.upper)
        lower, upper = several[min(self._followed, len(several) - 1)].ends(self._target.epsilon)
        return _Trial(index, (max(upper, DEEP) - wanted) / -wanted, lower, guarantee)

    def _note(self, trial: _Trial) -> None:
        # On two neighbouring places a slope is that of what is not smooth.
        if self._last is not None and abs(self._last.step - trial.step) > 1:
            self.slope = self._slope_to((self._last.place, self._last.miss), (trial.place, trial.miss))
        self._last = trial
        if trial.miss > 0.0:
            self._failing = trial
        else:
            self._passing = trial

    def _following(self) -> int:
        """The next index: the first beyond the likely root, or the one before as soon as that has passed."""
        assert self._last is not None
        failing, passing, last = self._failing, self._passing, self._last
        following = math.ceil(self._root() / STEP)
        if last.miss > 0.0:
            following = max(following, last.step + 1)
        elif following >= last.step:
            following = last.step - 1
        if failing is None or passing is None:
            return min(max(following, LOWEST), HIGHEST)
        if not failing.step < following < passing.step:
            width = passing.place - failing.place
            following = math.ceil((failing.place + width * failing.miss / (failing.miss - passing.miss)) / STEP)
        if self._is_to_halve():
            following = (failing.step + passing.step) // 2
        return min(max(following, failing.step + 1), passing.step - 1)

    def _is_to_halve(self) -> bool:
        """Whether interpolation has had its steps: the middle is taken every fourth time, as curves may jump."""
        self._inside += 1
        return self._inside % MIDDLE == 0

    def _missed_by_all(self) -> bool:
        """Whether the whole bound, all that are composed, misses the target at the trial that failed."""
        failing, passing = self._failing, self._passing
        if failing is None or passing is None or passing.step - failing.step > 1:
            return False
        return failing.guarantee.curve.bound_log_delta(self._target.epsilon).lower > self._target.log_delta

    def _infeasible(self, guarantee: Guarantee) -> Infeasible:
        sides = ConditionResult(
            "noise-offered", "the noise multiplier that is needed is offered", False, math.inf, MOST
        )
        return Infeasible("no noise that is offered meets the target", sides, nearest_of(guarantee, self._target))
