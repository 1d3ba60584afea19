"""Search for the smallest noise in few trials. Each is certified, so the last two give the answer and its proof."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.estimates.bounds import alternatives, likely_least, quick_upper_log_delta
from epsilond.accountants.estimates.noise import central_mu
from epsilond.accountants.estimates.trails import TrailPoint
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.search import DEEP, LEAST, MOST, Certified, nearest_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from epsilond.accountants.estimates.trails import Trail
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import Target
    from epsilond.calibrators.search import Family

SLACK = 1e-3
"""Relative decrease of the noise at which the answer's minimality is proved."""
STEP = 9.5e-4
"""Step of log noise, less than the slack. Answers are integer multiples, so they do not depend on the start."""
STEEPNESS, LEAST_STEEPNESS = 4.5, 0.5
"""Relative fall of log δ per e-fold of noise: typical, as shuffling hides noisier reports better; and least."""
MIDDLE = 4
"""Number of steps inside a bracket after which it is halved."""
MOST_COARSE = 8
"""Limit on the coarse trials that estimate the root."""
COARSE_EXCESS, ENOUGH = 3e-3, 6e-2
"""Distances in log noise: approximate excess of coarse trials, and distance within which a line finds the root."""
COARSE_ROOM = 0.03
"""Relative excess of log δ of a coarse bound over the finer bound, at most; about the excess times the steepness."""
MOST_TRIALS = 40
"""Limit on the certified trials of one bound. A search that reaches it takes the largest noise."""
FURTHEST = math.log(2.0)
"""Longest step of log noise by the slope."""


def smallest_noise_in_few_trials(
    family: Family, target: Target, *, guess: float, trail: Trail | None = None
) -> Certified:
    """Return a noise that meets the target, such that a noise smaller by a thousandth or less misses it.

    A finer search would not converge: the bound on δ is the least of several estimates, and its curve is irregular on a
    relative scale of 1e-4.

    If the guarantee is the least of several bounds, the search follows one of them at a time. It starts with the one
    that is probably the least, and continues with each bound that may need less noise than the result so far.

    Args:
        family: function from a noise to its guarantee.
        target: the target (ε, δ).
        guess: initial estimate of the noise.
        trail: results of earlier searches, from which a better estimate is made.

    Guarantees: the upper bound on δ at the target ε is at most the target δ, by evaluation. `slack` is 1e-3 if the
    lower bound on δ proves that a noise smaller by at most that misses the target.

    Raises:
        Infeasible: even the largest noise offered misses the target.
    """
    log_mu = math.log(central_mu(target))
    near = trail.likely(log_mu) if trail else None
    start = math.log(min(max(guess, LEAST), MOST))
    # Index of the bound to follow next; None once no further bound may need less noise.
    following: int | None = near.way if near else likely_least(family(math.exp(start), "coarse").curve, target.epsilon)
    trials_by_bound = dict[int, _Trials]()
    while following is not None:
        trials = _Trials(family, target, following)
        try:
            trials.settle(near or trials.likely(start))
        except Infeasible:
            if not trials_by_bound:
                raise
        trials_by_bound[following] = trials
        near = None
        best = min(
            (bound_trials for bound_trials in trials_by_bound.values() if bound_trials.passing),
            key=lambda bound_trials: bound_trials.answer.step,
        )
        start = best.answer.place
        following = best.rival(trials_by_bound)
    if trail:
        trail.add(TrailPoint(log_mu, best.answer.place, best.slope, best.followed))
    return best.certify()


def select_likely_least(guarantee: Guarantee, epsilon: float) -> Guarantee:
    """Return a guarantee with only one of its several bounds, the one that is probably the least at ε.

    The result is valid, and it is looser if the estimate is wrong.

    Args:
        guarantee: a guarantee whose curve is the minimum of several bounds.
        epsilon: ε at which the bounds are estimated.
    """
    chosen = alternatives(guarantee.curve)[likely_least(guarantee.curve, epsilon)]
    return replace(guarantee, curve=replace(guarantee.curve, upper=chosen.upper))


def _place(index: int) -> float:
    """Return the logarithm of the noise at a multiple of the step, limited to the noise on offer."""
    return min(max(index * STEP, math.log(LEAST)), math.log(MOST))


LOWEST, HIGHEST = math.floor(math.log(LEAST) / STEP), math.ceil(math.log(MOST) / STEP)
"""Smallest and largest log noise on offer, in steps."""


class _Trial(NamedTuple):
    """The result of a bound at a noise, with the guarantee that it is part of."""

    step: int
    """The logarithm of the noise, in steps."""
    miss: float
    """Excess of the upper bound on log δ over the target, relative to the target's size; at most 0 if it is met."""
    lower: float
    """Lower bound on log δ."""
    guarantee: Guarantee

    @property
    def place(self) -> float:
        """The logarithm of the noise."""
        return _place(self.step)


class _Trials:
    """The trials of a single composed bound, from both sides of the root."""

    def __init__(self, family: Family, target: Target, followed: int) -> None:
        """Start without trials.

        Args:
            family: function from a noise to its guarantee.
            target: the target (ε, δ).
            followed: index of the bound among the alternatives of the guarantee's curve.
        """
        self._family, self._target, self.followed = family, target, followed
        self._least, self._most = math.log(LEAST), math.log(MOST)
        self._failing: _Trial | None = None
        self.passing: _Trial | None = None
        self._last: _Trial | None = None
        self.slope = -STEEPNESS
        self._inside = 0

    def settle(self, start: TrailPoint) -> None:
        """Find the smallest noise that passes, and keep the trial that failed one step before, if any.

        Raises:
            Infeasible: even the largest noise offered misses the target.
        """
        self.slope = start.slope
        following = math.ceil(start.log_noise / STEP)
        for _ in range(MOST_TRIALS):
            self._note(self._trial(following))
            failing, passing = self._failing, self.passing
            if failing is not None and failing.step >= HIGHEST:
                raise self._infeasible(failing.guarantee)
            if passing is not None and (
                passing.step <= LOWEST or (failing is not None and passing.step - failing.step <= 1)
            ):
                return
            following = self._next_step()
        if self.passing is None:
            self.passing = self._trial(HIGHEST)

    @property
    def answer(self) -> _Trial:
        """The last trial that passed."""
        assert self.passing is not None
        return self.passing

    def rival(self, excluded: Container[int]) -> int | None:
        """Return the likeliest other bound that may meet the target at less noise than the answer, or None."""
        rivals = {place: ends.upper for place, ends in self._others.items() if ends.lower <= self._out_of_reach}
        return min((place for place in rivals if place not in excluded), key=rivals.__getitem__, default=None)

    @property
    def _out_of_reach(self) -> float:
        """log δ above which a coarse bound shows that the finer one misses the target as well."""
        return self._target.log_delta * (1.0 - COARSE_ROOM)

    @cached_property
    def _others(self) -> dict[int, Interval]:
        """Coarse enclosures of log δ at the answer, for the bounds that are not followed."""
        several = alternatives(self._family(math.exp(self.answer.place), "coarse").curve)
        return {
            place: bound.bound_log_delta(self._target.epsilon)
            for place, bound in enumerate(several)
            if place != min(self.followed, len(several) - 1)
        }

    def certify(self) -> Certified:
        """Return the noise, with a proof of minimality if the last failed trial is near enough.

        If all other bounds miss the target, they also miss it at less noise. Then only the followed bound is read at
        the target.
        """
        guarantee, failing, wanted = self.answer.guarantee, self._failing, self._target.log_delta
        noise = math.exp(self.answer.place)
        if self.answer.step <= LOWEST:
            return Certified(LEAST, guarantee, None)
        neighbour = failing if failing is not None and failing.step == self.answer.step - 1 else None
        if any(ends.lower <= self._out_of_reach for ends in self._others.values()):
            missed = neighbour.guarantee.curve.bound_log_delta(self._target.epsilon).lower if neighbour else -math.inf
            return Certified(noise, guarantee, SLACK if missed > wanted else None)
        slack = SLACK if neighbour and neighbour.lower > wanted else None
        several = alternatives(guarantee.curve)
        if len(several) == 1:
            return Certified(noise, guarantee, slack)
        followed_guarantee = replace(guarantee, curve=replace(guarantee.curve, upper=several[self.followed].upper))
        return Certified(noise, followed_guarantee, slack, full_guarantee=guarantee)

    def likely(self, start: float) -> TrailPoint:
        """Return an estimate of the root and the slope there, by coarse trials."""
        place, misses = start, list[tuple[float, float]]()
        for _ in range(MOST_COARSE):
            misses.append((place, self._coarse_miss(place)))
            if len(misses) > 1:
                self.slope = self._slope_to(*misses[-2:])
            root = self._next_root(misses[-3:])
            if abs(root - place) < ENOUGH:
                break
            place = root
        root = min(max(root - COARSE_EXCESS, self._least), self._most)
        return TrailPoint(math.log(central_mu(self._target)), root, self.slope, self.followed)

    def _coarse_miss(self, place: float) -> float:
        """Return `_Trial.miss` of a quick upper bound, which suffices for the search."""
        guarantee = self._family(math.exp(place), "coarse")
        wanted = self._target.log_delta
        upper = quick_upper_log_delta(alternatives(guarantee.curve)[self.followed], self._target.epsilon)
        return (max(upper, DEEP) - wanted) / -wanted

    def _next_root(self, misses: Sequence[tuple[float, float]]) -> float:
        """Return the root of the line through the last trials, or of the parabola if that is near it."""
        place, miss = misses[-1]
        root = place - min(max(miss / self.slope, -FURTHEST), FURTHEST)
        if len({other_miss for _, other_miss in misses}) == 3:
            parabola = sum(x * _lagrange_weight(y, [miss for _, miss in misses if miss != y]) for x, y in misses)
            if abs(parabola - root) < 0.5 * abs(root - place):
                root = parabola
        return min(max(root, self._least), self._most)

    def _root(self) -> float:
        """Return the root of the line through the last trial."""
        assert self._last is not None
        return self._last.place - min(max(self._last.miss / self.slope, -FURTHEST), FURTHEST)

    @staticmethod
    def _slope_to(first: tuple[float, float], second: tuple[float, float]) -> float:
        """Return the slope of the line through two places and misses, at least as steep as `LEAST_STEEPNESS`."""
        if first[0] == second[0]:
            return -STEEPNESS
        return min((second[1] - first[1]) / (second[0] - first[0]), -LEAST_STEEPNESS)

    def _trial(self, index: int) -> _Trial:
        """Certify the followed bound at a multiple of the step, limited to the noise on offer."""
        index = min(max(index, LOWEST), HIGHEST)
        guarantee, wanted = self._family(math.exp(_place(index)), "default"), self._target.log_delta
        several = alternatives(guarantee.curve)
        lower, upper = several[min(self.followed, len(several) - 1)].bound_log_delta(self._target.epsilon)
        return _Trial(index, (max(upper, DEEP) - wanted) / -wanted, lower, guarantee)

    def _note(self, trial: _Trial) -> None:
        """Store a trial as the last one, and as the last that failed or passed; update the slope."""
        # Between neighbouring places the slope is dominated by irregularities of the bound.
        if self._last is not None and abs(self._last.step - trial.step) > 1:
            self.slope = self._slope_to((self._last.place, self._last.miss), (trial.place, trial.miss))
        self._last = trial
        if trial.miss > 0.0:
            self._failing = trial
        else:
            self.passing = trial

    def _next_step(self) -> int:
        """Return the next index: the first beyond the estimated root, or the previous index once that has passed."""
        assert self._last is not None
        failing, passing, last = self._failing, self.passing, self._last
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
        if self._must_halve():
            following = (failing.step + passing.step) // 2
        return min(max(following, failing.step + 1), passing.step - 1)

    def _must_halve(self) -> bool:
        """Return whether to halve the bracket, which is done every fourth time because curves may jump."""
        self._inside += 1
        return self._inside % MIDDLE == 0

    def _infeasible(self, guarantee: Guarantee) -> Infeasible:
        """Return the error to raise if the largest noise misses the target, with the nearest target that it meets."""
        sides = ConditionResult(
            "noise-offered", "the noise multiplier that is needed is offered", Verdict.NO, math.inf, MOST
        )
        return Infeasible("no noise that is offered meets the target", sides, nearest_of(guarantee, self._target))


def _lagrange_weight(miss: float, further_misses: Sequence[float]) -> float:
    """Return the weight at 0 of the Lagrange polynomial that is 1 at a miss and 0 at the further misses."""
    return math.prod(-further / (miss - further) for further in further_misses)
