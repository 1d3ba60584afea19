"""Search for the smallest noise in few trials. Each is certified, so the last two give the answer and its proof."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.estimates.bounds import alternatives, likely_least, quick_upper_log_delta
from epsilond.accountants.estimates.noise import central_mu
from epsilond.accountants.estimates.trails import TrailPoint
from epsilond.calibrators.search import LEAST, MOST, Certified, no_noise_suffices
from epsilond.calibrators.shuffled_mb_sgd.trials import (
    HIGHEST,
    LOWEST,
    STEEPNESS,
    STEP,
    CertifiedTrial,
    CoarseTrial,
    log_noise_at,
    parabola_root,
    slope_between,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.estimates.trails import Trail
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import Target
    from epsilond.calibrators.search import Family

_LEAST_LOG_DELTA = -1e5
"""Value of log δ below which the search does not distinguish bounds."""
SLACK = 1e-3
"""Relative decrease of the noise at which the answer's minimality is proved."""
HALVING_INTERVAL = 4
"""Number of steps inside a bracket after which it is halved."""
MOST_COARSE = 8
"""Limit on the coarse trials that estimate the root."""
COARSE_EXCESS, ENOUGH = 3e-3, 6e-2
"""Distances in log noise: approximate excess of coarse trials, and distance within which a line finds the root."""
COARSE_ROOM = 0.03
"""Relative excess of log δ of a coarse bound over the finer bound, at most; about the excess times the steepness."""
MOST_TRIALS = 40
"""Limit on the certified trials of one bound. A search that reaches it takes the largest noise."""
LONGEST_STEP = math.log(2.0)
"""Longest step of log noise by the slope. The limit doubles after each step that it cuts, until a shorter step."""


def smallest_noise_in_few_trials(
    family: Family, target: Target, *, guess: float, trail: Trail | None = None
) -> Certified:
    """Find a noise that meets the target, such that a noise smaller by a thousandth or less misses it.

    A finer search would not converge: the bound on δ is the least of several estimates, and its curve is irregular on a
    relative scale of 1e-4.

    If the guarantee is the least of several bounds, the search uses one of them at a time. It starts with the one that
    is probably the least, and continues with each bound that may need less noise than the result so far.

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
    recent = trail.likely(log_mu) if trail else None
    start = math.log(min(max(guess, LEAST), MOST))
    if recent:
        first = _BoundSearch(family, target, recent.way)
        first.settle(recent)
    else:
        first = _BoundSearch(family, target, likely_least(family(math.exp(start), "coarse").curve, target.epsilon))
        first.settle(first.likely(start))
    best = _search_by_other_bounds(first, family, target)
    if trail:
        trail.add(TrailPoint(log_mu, best.answer.log_noise, best.slope, best.bound_index))
    return best.certify()


def _search_by_other_bounds(first: _BoundSearch, family: Family, target: Target) -> _BoundSearch:
    """Search the noise by each other bound on δ that may need less, and return the search with the least noise.

    The guarantee is the least of several bounds, and a search evaluates only one of them. A rival is another bound that
    may meet the target at less noise than the best search so far.

    Args:
        first: the finished search by the first bound.
        family: function from a noise to its guarantee.
        target: the target (ε, δ).
    """
    best = first
    searched = {first.bound_index}
    rival = best.rival(searched)
    while rival is not None:
        searched.add(rival)
        search = _BoundSearch(family, target, rival)
        with contextlib.suppress(Infeasible):  # this bound by itself may miss the target at every noise
            search.settle(search.likely(best.answer.log_noise))
            if search.answer.step < best.answer.step:
                best = search
        rival = best.rival(searched)
    return best


def select_likely_least(guarantee: Guarantee, epsilon: float) -> Guarantee:
    """Keep only one of several bounds of a guarantee: the one that is probably the least at ε.

    The result is valid, and it is looser if the estimate is wrong.

    Args:
        guarantee: a guarantee with a curve that is the minimum of several bounds.
        epsilon: ε at which the bounds are estimated.
    """
    chosen = alternatives(guarantee.curve)[likely_least(guarantee.curve, epsilon)]
    return replace(guarantee, curve=replace(guarantee.curve, upper=chosen.upper))


class _BoundSearch:
    """The search for the noise at which one of the bounds on δ meets the target.

    The guarantee is the least of several bounds, of which this search evaluates the one with the index `bound_index`.
    """

    def __init__(self, family: Family, target: Target, bound_index: int) -> None:
        """Prepare a search for the least noise at which one of several bounds on δ meets the target.

        Args:
            family: function from a noise to its guarantee.
            target: the target (ε, δ).
            bound_index: index of the bound among the alternatives of the guarantee's curve.
        """
        self._family = family
        self._target = target
        self.bound_index = bound_index
        self._failing: CertifiedTrial | None = None
        """The last trial that missed the target."""
        self._passing: CertifiedTrial | None = None
        """The last trial that met the target."""
        self._last: CertifiedTrial | None = None
        self.slope = -STEEPNESS
        """Estimated derivative of the miss with respect to log noise."""
        self._cut_steps = 0
        """Number of the latest steps that were cut to the longest step."""
        self._bracketed_steps = 0
        """Number of trials inside a bracket."""

    def settle(self, start: TrailPoint) -> None:
        """Find the smallest noise at which the bound meets the target, and store it as `answer`.

        The trial one step below it, which misses the target, is stored too. If `MOST_TRIALS` trials do not suffice, the
        answer is the last trial that met the target, or the largest noise.

        Args:
            start: estimate of the log noise, and of the slope there.

        Raises:
            Infeasible: even the largest noise offered misses the target.
        """
        self.slope = start.slope
        step = math.ceil(start.log_noise / STEP)
        for _ in range(MOST_TRIALS):
            self._store(self._trial(step))
            if self._failing is not None and self._failing.step >= HIGHEST:
                raise self._infeasible(self._failing.guarantee)
            if self._is_settled():
                return
            step = self._next_step()
        if self._passing is None:
            self._passing = self._trial(HIGHEST)

    def _is_settled(self) -> bool:
        """Decide whether the last noise that passed is the least on offer, or one step above a noise that failed."""
        if self._passing is None:
            return False
        if self._passing.step <= LOWEST:
            return True
        return self._failing is not None and self._passing.step - self._failing.step <= 1

    @property
    def answer(self) -> CertifiedTrial:
        """Last trial that met the target; there is one after `settle`."""
        assert self._passing is not None
        return self._passing

    def rival(self, excluded: Container[int]) -> int | None:
        """Find another bound on δ that may meet the target at less noise than the answer, and return its index.

        Args:
            excluded: indices of bounds that were searched already.

        Returns:
            The index of the likeliest bound; None if there is none.
        """
        likely_log_deltas = {
            index: bounds.upper
            for index, bounds in self._others.items()
            if self._may_meet(bounds) and index not in excluded
        }
        return min(likely_log_deltas, key=likely_log_deltas.__getitem__, default=None)

    def _may_meet(self, coarse: Interval) -> bool:
        """Decide whether a bound may meet the target by finer computation.

        Args:
            coarse: coarse enclosure of its log δ.
        """
        return coarse.lower <= self._target.log_delta * (1.0 - COARSE_ROOM)

    @cached_property
    def _others(self) -> dict[int, Interval]:
        """Coarse enclosures of log δ at the answer, by index, for the bounds that this search does not evaluate."""
        bounds = alternatives(self._family(math.exp(self.answer.log_noise), "coarse").curve)
        own_index = min(self.bound_index, len(bounds) - 1)
        return {
            index: bound.bound_log_delta(self._target.epsilon)
            for index, bound in enumerate(bounds)
            if index != own_index
        }

    def certify(self) -> Certified:
        """Return the smallest noise of the search, with its guarantee.

        The guarantee is the least of several bounds on δ, and this search has evaluated one of them. If no other bound
        can meet the target at this noise, none can at less noise. Then this bound by itself is the guarantee, and its
        lower bound suffices to prove that less noise misses. Otherwise the proof needs the lower bound on the least of
        all bounds.

        Returns:
            The noise. Its `slack` is `SLACK` if the noise one `STEP` below provably misses the target, and else None.
        """
        answer = self.answer
        target = self._target
        if answer.step <= LOWEST:
            return Certified(LEAST, answer.guarantee, None)
        noise = math.exp(answer.log_noise)
        neighbour = self._failing if self._failing and self._failing.step == answer.step - 1 else None
        if any(map(self._may_meet, self._others.values())):
            lower = neighbour.guarantee.curve.bound_log_delta(target.epsilon).lower if neighbour else -math.inf
            return Certified(noise, answer.guarantee, SLACK if lower > target.log_delta else None)
        slack = SLACK if neighbour and self._provably_misses(neighbour) else None
        bounds = alternatives(answer.guarantee.curve)
        if len(bounds) == 1:
            return Certified(noise, answer.guarantee, slack)
        own_curve = replace(answer.guarantee.curve, upper=bounds[self.bound_index].upper)
        own_guarantee = replace(answer.guarantee, curve=own_curve)
        return Certified(noise, own_guarantee, slack, full_guarantee=answer.guarantee)

    def likely(self, start: float) -> TrailPoint:
        """Estimate the noise at which the bound on δ meets the target, and how steeply the bound falls there.

        At most `MOST_COARSE` quick bounds are evaluated, until the estimate moves by less than `ENOUGH`. Quick bounds
        need slightly more noise, so `COARSE_EXCESS` is subtracted. Noise is given by its logarithm.

        Args:
            start: initial estimate of the log noise.
        """
        log_noise = start
        trials: list[CoarseTrial] = []
        for _ in range(MOST_COARSE):
            trials.append(CoarseTrial(log_noise, self._coarse_miss(log_noise)))
            if len(trials) > 1:
                self.slope = slope_between(trials[-2], trials[-1])
            root = self._next_root(trials[-3:])
            if abs(root - log_noise) < ENOUGH:
                break
            log_noise = root
        likely_log_noise = _clamp_log_noise(root - COARSE_EXCESS)
        return TrailPoint(math.log(central_mu(self._target)), likely_log_noise, self.slope, self.bound_index)

    def _coarse_miss(self, log_noise: float) -> float:
        """Return the miss of a quick upper bound on δ, which suffices to estimate the root."""
        guarantee = self._family(math.exp(log_noise), "coarse")
        upper = quick_upper_log_delta(alternatives(guarantee.curve)[self.bound_index], self._target.epsilon)
        return self._miss(upper)

    def _miss(self, log_delta: float) -> float:
        """Return the miss of a log δ: its excess over the target's log δ, relative to the size of the latter."""
        target = self._target.log_delta
        return (max(log_delta, _LEAST_LOG_DELTA) - target) / -target

    def _next_root(self, trials: Sequence[CoarseTrial]) -> float:
        """Return the next estimate of the log noise at which the miss, the excess of log δ over the target, is 0.

        It is the root of the line through the last trial with `slope`. With three trials it may be the root of a
        parabola. That root must be nearer to the line's root than half of the step to the latter.

        Args:
            trials: the last trials, at most three.
        """
        log_noise = trials[-1].log_noise
        root = self._line_root(trials[-1])
        if len({trial.miss for trial in trials}) == 3:
            quadratic_root = parabola_root(trials)
            if abs(quadratic_root - root) < 0.5 * abs(root - log_noise):
                root = quadratic_root
        return _clamp_log_noise(root)

    def _line_root(self, trial: CertifiedTrial | CoarseTrial) -> float:
        """Return the log noise of miss 0 on the line through a trial with `slope`, or a nearer one.

        The step from the trial is cut to `LONGEST_STEP`, which doubles for each of the latest steps that were cut.
        """
        change = -trial.miss / self.slope
        longest = LONGEST_STEP * 2.0**self._cut_steps
        self._cut_steps = self._cut_steps + 1 if abs(change) > longest else 0
        return trial.log_noise + min(max(change, -longest), longest)

    def _trial(self, step: int) -> CertifiedTrial:
        """Certify the bound at a log noise, given in multiples of `STEP` and limited to the noise that is offered."""
        offered_step = min(max(step, LOWEST), HIGHEST)
        guarantee = self._family(math.exp(log_noise_at(offered_step)), "default")
        own_bound = self._own_bound(guarantee)
        return CertifiedTrial(offered_step, self._miss(own_bound.upper_log_delta(self._target.epsilon)), guarantee)

    def _provably_misses(self, trial: CertifiedTrial) -> bool:
        """Return whether the lower bound on log δ, of the bound that this search evaluates, exceeds the target's."""
        own_bound = self._own_bound(trial.guarantee)
        return own_bound.bound_log_delta(self._target.epsilon).lower > self._target.log_delta

    def _own_bound(self, guarantee: Guarantee) -> Curve:
        """Return the bound on δ that this search evaluates, of the several bounds of a guarantee."""
        bounds = alternatives(guarantee.curve)
        return bounds[min(self.bound_index, len(bounds) - 1)]

    def _store(self, trial: CertifiedTrial) -> None:
        """Store a trial as the last one, and as the last that met or missed the target; update the estimated slope."""
        # Between neighbouring steps the slope is dominated by irregularities of the bound.
        if self._last is not None and abs(self._last.step - trial.step) > 1:
            self.slope = slope_between(self._last, trial)
        self._last = trial
        if trial.miss > 0.0:
            self._failing = trial
        else:
            self._passing = trial

    def _next_step(self) -> int:
        """Return the next log noise to try, in multiples of `STEP`: usually the least that is estimated to suffice.

        It is above the last trial if that missed the target, and below it otherwise. Once a trial has missed and one
        has met the target, it is between the two; every `HALVING_INTERVAL`-th time it is then the middle.
        """
        last = self._last
        assert last is not None  # a trial has been stored
        step = math.ceil(self._line_root(last) / STEP)
        step = max(step, last.step + 1) if last.miss > 0.0 else min(step, last.step - 1)
        if self._failing is None or self._passing is None:
            return min(max(step, LOWEST), HIGHEST)
        return self._step_inside(self._failing, self._passing, step)

    def _step_inside(self, failing: CertifiedTrial, passing: CertifiedTrial, step: int) -> int:
        """Return a log noise to try between one that misses the target and one that meets it, in multiples of `STEP`.

        Every `HALVING_INTERVAL`-th time it is the middle, as linear estimates fail where the bound jumps. Otherwise it
        is `step` if that is between them, and the root of the line through both trials if not.

        Args:
            failing: the trial that misses the target.
            passing: the trial that meets it.
            step: the first multiple that is estimated to meet the target.
        """
        if not failing.step < step < passing.step:
            width = passing.log_noise - failing.log_noise
            root = failing.log_noise + width * failing.miss / (failing.miss - passing.miss)
            step = math.ceil(root / STEP)
        self._bracketed_steps += 1
        if self._bracketed_steps % HALVING_INTERVAL == 0:
            step = (failing.step + passing.step) // 2
        return min(max(step, failing.step + 1), passing.step - 1)

    def _infeasible(self, guarantee: Guarantee) -> Infeasible:
        """Return the error to raise if the largest noise misses the target, with the nearest target that it meets."""
        return no_noise_suffices(guarantee, self._target)


def _clamp_log_noise(log_noise: float) -> float:
    """Return the log noise that is offered and nearest to a number."""
    return min(max(log_noise, math.log(LEAST)), math.log(MOST))
