"""Search for the noise at which one of several bounds on δ meets a target, on a grid of log noise."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.estimates.bounds import alternatives, quick_upper_log_delta
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
    from epsilond.accountants.errors import Infeasible
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


class BoundSearch:
    """The search for the noise at which one of the bounds on δ meets the target.

    The guarantee is the least of several bounds, of which this search evaluates one. Log noise is tried in multiples of
    `STEP`. The miss of a trial is the excess of log δ over the target's log δ, relative to the size of the latter. The
    next trial is at the root of a line with the estimated slope of the miss, or inside the bracket of a trial that
    misses and one that meets the target.

    Attributes:
        bound_index: index of the evaluated bound among the alternatives of the guarantee's curve.
        slope: estimated derivative of the miss with respect to log noise, below 0.
    """

    def __init__(self, family: Family, target: Target, bound_index: int) -> None:
        """Prepare a search for the least noise at which one of several upper bounds on δ meets the target.

        Args:
            family: function that returns the guarantee at a noise.
            target: the target (ε, δ).
            bound_index: index of the bound among the alternative bounds of the guarantee's privacy curve.
        """
        self.bound_index = bound_index
        self.slope = -STEEPNESS
        self._family = family
        self._target = target
        # The last trial, the last one that missed the target, and the last one that met it.
        self._last: CertifiedTrial | None = None
        self._failing: CertifiedTrial | None = None
        self._passing: CertifiedTrial | None = None
        self._cut_steps = 0  # number of the latest consecutive steps that were cut to the longest step
        self._bracketed_steps = 0  # number of trials between a noise that missed and one that met the target

    def settle(self, start: TrailPoint) -> None:
        """Search the grid of log noises for the smallest at which the bound on δ meets the target.

        The property `answer` returns it. The largest noise that is found to miss the target is stored too; it is
        usually one step below. If `MOST_TRIALS` trials do not suffice, the
        answer is the last trial that met the target, or the largest noise.

        Args:
            start: estimate of the log noise, and of the slope of the bound there.

        Raises:
            Infeasible: even the largest noise of the grid misses the target.
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
        """Decide whether the search for the smallest noise is finished.

        It is finished if the last noise that met the target is the least of the grid, or one step above a noise that
        missed it.
        """
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
        """Return the index of another upper bound on δ that may meet the target at less noise than the answer.

        Args:
            excluded: indices of bounds that were searched already.

        Returns:
            The index of the bound that is smallest when it is computed roughly; None if no other bound may meet it.
        """
        coarse_log_deltas = {
            index: bounds.upper
            for index, bounds in self._others.items()
            if self._may_meet(bounds) and index not in excluded
        }
        return min(coarse_log_deltas, key=coarse_log_deltas.__getitem__, default=None)

    def _may_meet(self, coarse: Interval) -> bool:
        """Decide whether a bound may meet the target by finer computation.

        Args:
            coarse: coarse enclosure of its log δ, natural logarithm. The finer bound may be less by the share
                `COARSE_ROOM`.
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

        The guarantee is the least of several upper bounds on δ, of which this search has evaluated one. If no other
        bound can meet the target at this noise, none can at less noise. The evaluated bound is then the guarantee. To
        prove that less noise misses the target, it is enough that this bound provably does. Otherwise all bounds must.

        Returns:
            The noise with its guarantee. `slack` is `SLACK` if the noise one step below provably misses the target, and
            None otherwise.
        """
        answer = self.answer
        if answer.step <= LOWEST:
            return Certified(LEAST, answer.guarantee, None)
        noise = math.exp(answer.log_noise)

        trial_below = None
        if self._failing is not None and self._failing.step == answer.step - 1:
            trial_below = self._failing
        if any(map(self._may_meet, self._others.values())):
            is_proved = trial_below is not None and self._all_bounds_miss(trial_below)
            return Certified(noise, answer.guarantee, SLACK if is_proved else None)

        # No other bound matters at this noise. The guarantee is reduced to the evaluated bound.
        is_proved = trial_below is not None and self._provably_misses(trial_below)
        slack = SLACK if is_proved else None
        bounds = alternatives(answer.guarantee.curve)
        if len(bounds) == 1:
            return Certified(noise, answer.guarantee, slack)
        own_curve = replace(answer.guarantee.curve, upper=bounds[self.bound_index].upper)
        own_guarantee = replace(answer.guarantee, curve=own_curve)
        return Certified(noise, own_guarantee, slack, full_guarantee=answer.guarantee)

    def _all_bounds_miss(self, trial: CertifiedTrial) -> bool:
        """Decide whether the lower bound on log δ, of the least of all bounds, exceeds the target's."""
        lower_log_delta = trial.guarantee.curve.bound_log_delta(self._target.epsilon).lower
        return lower_log_delta > self._target.log_delta

    def likely(self, start: float) -> TrailPoint:
        """Estimate the noise at which the bound on δ meets the target, and how steeply the bound falls there.

        At most `MOST_COARSE` quick bounds are evaluated by the secant method, until the estimate moves by less than
        `ENOUGH`. Quick bounds need slightly more noise, so `COARSE_EXCESS` is subtracted.

        Args:
            start: initial estimate of the natural logarithm of the noise.

        Returns:
            The estimated log noise with the slope of the bound there, for `settle`.
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
        """Return the miss of a quick upper bound on δ, which suffices to estimate the root.

        Args:
            log_noise: natural logarithm of the noise.
        """
        guarantee = self._family(math.exp(log_noise), "coarse")
        upper = quick_upper_log_delta(alternatives(guarantee.curve)[self.bound_index], self._target.epsilon)
        return self._miss(upper)

    def _miss(self, log_delta: float) -> float:
        """Return the excess of a log δ over the target's log δ, relative to the absolute value of the latter.

        Args:
            log_delta: natural logarithm of a bound on δ. Values below `_LEAST_LOG_DELTA` are not distinguished.

        Returns:
            The miss, which is at most 0 if the target is met.
        """
        target_log_delta = self._target.log_delta
        excess = max(log_delta, _LEAST_LOG_DELTA) - target_log_delta
        return excess / -target_log_delta

    def _next_root(self, trials: Sequence[CoarseTrial]) -> float:
        """Return the next estimate of the log noise at which log δ is equal to the target.

        The `miss` of a trial is the excess of log δ over the target, divided by the target's |log δ|. The estimate is
        the root of the line through the last trial, with the estimated derivative of the miss as its slope. After three
        trials the root of the parabola through them is used instead, unless it differs from the line's root by more
        than half of the step.

        Args:
            trials: the last trials, at most three.

        Returns:
            The estimate, limited to the range of the grid.
        """
        log_noise = trials[-1].log_noise
        root = self._line_root(trials[-1])
        if len({trial.miss for trial in trials}) == 3:
            quadratic_root = parabola_root(trials)
            if abs(quadratic_root - root) < 0.5 * abs(root - log_noise):
                root = quadratic_root
        return _clamp_log_noise(root)

    def _line_root(self, trial: CertifiedTrial | CoarseTrial) -> float:
        """Estimate the log noise at which the target is just met, by the line through a trial with the slope `slope`.

        The line is that of the miss, the excess of log δ over the target. The step from the trial is cut to
        `LONGEST_STEP`, which doubles for each of the latest steps that were cut.

        Args:
            trial: a trial, usually the last one.

        Returns:
            The log noise, which may be outside the range of the grid.
        """
        change = -trial.miss / self.slope
        longest = LONGEST_STEP * 2.0**self._cut_steps
        is_cut = abs(change) > longest
        self._cut_steps = self._cut_steps + 1 if is_cut else 0
        return trial.log_noise + min(max(change, -longest), longest)

    def _trial(self, step: int) -> CertifiedTrial:
        """Evaluate the certified bound on δ at a noise of the grid.

        Args:
            step: log noise in multiples of `STEP`; it is limited to the range of the grid.

        Returns:
            The trial, with the guarantee of which the bound is a part.
        """
        grid_step = min(max(step, LOWEST), HIGHEST)
        guarantee = self._family(math.exp(log_noise_at(grid_step)), "default")
        log_delta = self._own_bound(guarantee).upper_log_delta(self._target.epsilon)
        return CertifiedTrial(grid_step, self._miss(log_delta), guarantee)

    def _provably_misses(self, trial: CertifiedTrial) -> bool:
        """Decide whether the lower bound on log δ, of the bound that this search evaluates, exceeds the target's."""
        own_bound = self._own_bound(trial.guarantee)
        lower_log_delta = own_bound.bound_log_delta(self._target.epsilon).lower
        return lower_log_delta > self._target.log_delta

    def _own_bound(self, guarantee: Guarantee) -> Curve:
        """Return the bound on δ that this search evaluates, of the several bounds of a guarantee."""
        bounds = alternatives(guarantee.curve)
        return bounds[min(self.bound_index, len(bounds) - 1)]

    def _store(self, trial: CertifiedTrial) -> None:
        """Store a trial as the last one, and as the last that met or missed the target; update the estimated slope.

        Args:
            trial: the trial. Its miss, the relative excess of log δ over the target's, is at most 0 if it meets the
                target.
        """
        # Between neighbouring steps, irregularities of the bound would dominate the slope.
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

        Returns:
            The multiple, limited to the range of the grid.
        """
        last = self._last
        assert last is not None  # a trial has been stored
        step = math.ceil(self._line_root(last) / STEP)
        step = max(step, last.step + 1) if last.miss > 0.0 else min(step, last.step - 1)
        if self._failing is None or self._passing is None:
            return min(max(step, LOWEST), HIGHEST)
        return self._step_inside(self._failing, self._passing, step)

    def _step_inside(self, failing: CertifiedTrial, passing: CertifiedTrial, step: int) -> int:
        """Choose a log noise between one that misses the target and one that meets it, in multiples of `STEP`.

        It is `step` if that is between them, and otherwise the root of the line through both trials. Every
        `HALVING_INTERVAL`-th time it is the middle.

        Args:
            failing: the trial that misses the target.
            passing: the trial that meets it.
            step: the first multiple that is estimated to meet the target.

        Returns:
            A multiple strictly between those of both trials.
        """
        if not failing.step < step < passing.step:
            width = passing.log_noise - failing.log_noise
            root = failing.log_noise + width * failing.miss / (failing.miss - passing.miss)
            step = math.ceil(root / STEP)
        # Where the bound jumps, estimates may stay near one side of the bracket. Halving it regularly ends the search.
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
