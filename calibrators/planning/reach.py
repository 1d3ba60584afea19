"""Search for the smallest ε or number of records, clients or participants whose explicit risk bound meets a target.

Each trial is a complete, certified calibration. Trials follow the power law through the last two values, until a value
meets the target and the next smaller value does not. Work is counted in trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, ConditionViolated, EpsilondError, Infeasible
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reached, Tried
from epsilond.calibrators.planning.drafts import draft
from epsilond.calibrators.planning.problem import PlanProblem, Unknown
from epsilond.calibrators.planning.value_grid import ValueGrid

MOST_TRIALS = 60
"""Limit on the calibrations of one search. A search takes far fewer if the risk follows a power law."""
STRIDE = 16.0
"""Factor between successive trials until two trials bracket the target."""
LEAST_EPSILON_INDEX = 1000
"""Index (number in the grid) of the smallest ε that is tried: 1000 millionths, 0.001."""
MOST_INDEX = 10**9
"""Limit on the indices of a grid before it is cut to the largest value, which always has a smaller index."""
HIGHEST = {"epsilon": 1e3, "samples_per_client": 1e9, "participants": 1e9, "clients": 1e9}
"""Largest value of each unknown that is tried."""
STARTS: Mapping[Unknown, Callable[[PlanProblem], float]] = {
    "epsilon": lambda _: 1.0,
    "samples_per_client": lambda plan: max(1000, plan.batch_size or 1),
    "participants": lambda plan: plan.clients or 1,
    "clients": lambda plan: max(100, plan.participants or 1),
}
"""First trial value of each unknown, from the plan."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A calibration with its request and, if the plan solves for a field, the solved value.

    Attributes:
        request: JSON form of the algorithm's request.
        calibration: the answer, or its JSON form.
        reached: the solved value with the next smaller one; None if the plan solves for no field.
    """

    request: JsonObject
    calibration: Calibration | JsonObject
    reached: Reached | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial value of the unknown, and the bound on the excess risk there.

    Attributes:
        value: the trial value.
        risk: upper bound on the excess risk; infinite if the calibration failed.
        result: the calibration; None if it failed.
        error: the error of the calibration; None if it succeeded.
    """

    value: float
    risk: float = math.inf
    result: Found | None = None
    error: EpsilondError | None = None


def first_value(plan: PlanProblem) -> float:
    """Return the first trial value of the field that the plan solves for."""
    assert plan.unknown is not None  # only plans that solve for a field have trial values
    return STARTS[plan.unknown](plan)


def grid_of(plan: PlanProblem) -> ValueGrid:
    """Return the grid of trial values for the field that the plan solves for.

    Values of ε are from 0.001 to 1000. Other unknowns are integers from 1 to 10⁹. Values have at most four significant
    digits. If the number of clients or of participants is solved for, the other one limits it.

    Args:
        plan: a plan that solves for a field.
    """
    assert plan.unknown is not None  # only plans that solve for a field have trial values
    least = 1
    most = HIGHEST[plan.unknown]
    if plan.unknown == "epsilon":
        grid = ValueGrid(least=LEAST_EPSILON_INDEX, most=MOST_INDEX, micro=True)
        return replace(grid, most=grid.index_of(most))
    if plan.unknown == "clients" and plan.participants is not None:
        least = plan.participants
    if plan.unknown == "participants" and plan.clients is not None:
        most = plan.clients
    grid = ValueGrid(least=1, most=MOST_INDEX)
    return replace(grid, least=grid.index_of(least), most=_last_within(grid, most))


def _last_within(grid: ValueGrid, most: float) -> int:
    """Return the index of the largest grid value that is at most `most`."""
    index = grid.index_of(most)
    return index if grid.value(index) <= most else index - 1


def reach(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> Found:
    """Find the smallest value of one field, such as the number of clients, at which the risk bound meets its target.

    Args:
        calibrator: the algorithm.
        adapter: the adapter of one of its variants.
        plan: the plan; its member `reach` names the field and the largest permitted risk.

    Returns:
        The calibration at that value, with the next smaller value that was tried.

    Raises:
        Infeasible: even the largest value misses the target; the condition has the risk there and the target.
        ConditionViolated: no theorem gives an explicit bound on the algorithm's risk.
        BeyondBudget: the search takes more than `MOST_TRIALS` trials.
        EpsilondError: the calibration failed at the largest value.
    """
    return _Search(calibrator, adapter, plan).run()


class _Search:
    """The search of one adapter for the smallest value of the plan's unknown at which the risk meets the target.

    Values are addressed by their index on a grid. Each index is calibrated at most once.
    """

    def __init__(self, calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> None:
        """Prepare the search, without any trial.

        Args:
            calibrator: the algorithm.
            adapter: the adapter of one of its variants.
            plan: the plan, which names the unknown and the largest permitted risk.
        """
        assert plan.reach is not None
        self._calibrator = calibrator
        self._adapter = adapter
        self._plan = plan
        self._name = plan.reach.solve_for
        self._target = plan.reach.risk
        self._grid = grid_of(plan)
        self._first = first_value(plan)
        # By the index of the trial value on the grid.
        self._trials: dict[int, Trial] = {}

    def run(self) -> Found:
        """Find the smallest value of the unknown at which the bound on the risk is at most the target.

        A bracket consists of a grid index that misses the target and a larger one that meets it. It is narrowed until
        both are adjacent. Each step first tries the index at which a power law through the risks at both ends meets
        the target, and then the next index towards the solution. If the bracket has not halved, its middle is tried,
        too.

        Returns:
            The calibration at the smallest value that meets the target.

        Raises:
            Infeasible: even the largest value misses the target.
            ConditionViolated: no theorem gives an explicit bound on the algorithm's risk.
            BeyondBudget: the search takes more than `MOST_TRIALS` trials.
            EpsilondError: the calibration failed at the largest value.
        """
        failing, meeting = self._bracket()
        while meeting - failing > 1:
            width = meeting - failing
            estimate = self._interpolate(failing, meeting)
            neighbour = estimate - 1 if self._meets(estimate) else estimate + 1
            for index in (estimate, neighbour, (failing + meeting) // 2):
                failing, meeting = self._narrow(failing, meeting, index, width)
        return self._answer(failing, meeting)

    def _narrow(self, failing: int, meeting: int, index: int, width: int) -> tuple[int, int]:
        """Try one value inside a bracket of the solution, and return the narrower bracket.

        A trial takes long, so the middle is not tried once earlier trials of the step have halved the bracket.

        Args:
            failing: index of a grid value that misses the target.
            meeting: index of a larger value that meets it.
            index: index of the value to try.
            width: width of the bracket before the first of the up to three trials of this step.

        Returns:
            The indices of the new bracket, which is the same if `index` is outside the bracket or is not tried.
        """
        is_middle = index == (failing + meeting) // 2
        has_halved = 2 * (meeting - failing) <= width
        if not failing < index < meeting or (is_middle and has_halved):
            return failing, meeting
        if self._meets(index):
            return failing, index
        return index, meeting

    def _bracket(self) -> tuple[int, int]:
        """Find a grid value that misses the target and a larger one that meets it.

        Returns:
            The indices of both. The first one is `least` − 1, outside the grid, if even the smallest value meets the
            target.

        Raises:
            EpsilondError: the largest value misses the target.
        """
        start = self._grid.index_of(self._first)
        if self._meets(start):
            return self._bracket_below(start)
        return self._bracket_above(start)

    def _bracket_below(self, meeting: int) -> tuple[int, int]:
        """Divide a value by `STRIDE` until it misses the target or is the smallest one.

        Args:
            meeting: index of the value, which meets the target.

        Returns:
            The indices of a value that misses the target and of one that meets it. The first one is `least` − 1,
            outside the grid, if even the smallest value meets the target.
        """
        grid = self._grid
        while meeting > grid.least:
            lower = max(grid.index_of(grid.value(meeting) / STRIDE), grid.least)
            if not self._meets(lower):
                return lower, meeting
            meeting = lower
        return grid.least - 1, grid.least

    def _bracket_above(self, failing: int) -> tuple[int, int]:
        """Multiply a value by `STRIDE`, up to the largest value of the grid, until it meets the target.

        Args:
            failing: index of the value, which misses the target.

        Returns:
            The indices of the last value that misses the target, and of the first one that meets it.

        Raises:
            EpsilondError: the largest value misses the target.
            BeyondBudget: the search takes more than `MOST_TRIALS` trials.
            ConditionViolated: the algorithm has no explicit bound on its risk.
        """
        grid = self._grid
        while failing < grid.most:
            higher = min(max(grid.index_of(grid.value(failing) * STRIDE), failing + 1), grid.most)
            if self._meets(higher):
                return failing, higher
            failing = higher
        raise self._error_at_largest(self._trials[failing])

    def _error_at_largest(self, last: Trial) -> EpsilondError:
        """Build the error for a plan with a risk bound above the target even at the largest value of the unknown.

        Args:
            last: the trial of the largest value.

        Returns:
            The error of the calibration if it failed, and otherwise the error that the risk is too large.
        """
        if last.error is not None:
            return last.error
        statement = f"the bound on the risk is at most the target at the largest {self._name}, {last.value:g}"
        message = f"no {self._name} that is offered takes the bound on its risk to the target"
        condition = ConditionResult("risk-reached", statement, Verdict.NO, last.risk, self._target)
        return Infeasible(message, condition, {"risk": last.risk})

    def _interpolate(self, failing: int, meeting: int) -> int:
        """Estimate the index of the smallest value that meets the target, by a power law through two trials.

        Args:
            failing: index of a value that misses the target; one below the grid if even the smallest value meets it.
            meeting: index of a larger value that meets it.

        Returns:
            An index of the grid, strictly between both arguments. It is the middle if `failing` is outside the grid or
            the risk does not fall between them.
        """
        middle = (failing + meeting) // 2
        low = self._trials.get(failing)
        high = self._trials.get(meeting)
        if low is None or high is None:
            return middle
        has_power_law = math.isfinite(low.risk) and 0 < high.risk < low.risk
        if not has_power_law:
            return middle

        # On logarithmic scales the power law is a line, which reaches the target at this fraction of the bracket.
        fraction = math.log(low.risk / self._target) / math.log(low.risk / high.risk)
        value = low.value * (high.value / low.value) ** fraction
        return min(max(self._grid.index_of(value), failing + 1), meeting - 1)

    def _meets(self, index: int) -> bool:
        """Return whether the calibration at a grid value succeeds with a risk bound of at most the target.

        Each value is calibrated only once.

        Args:
            index: index of the value in the grid.

        Raises:
            BeyondBudget: the search takes more than `MOST_TRIALS` trials.
            ConditionViolated: the algorithm has no explicit bound on its risk.
        """
        if index not in self._trials:
            if len(self._trials) >= MOST_TRIALS:
                raise BeyondBudget(f"the risk does not fall with {self._name} as a search needs it to")
            self._trials[index] = self._trial(self._grid.value(index))
        return self._trials[index].risk <= self._target

    def _trial(self, value: float) -> Trial:
        """Calibrate the plan at a trial value of the unknown. A failed calibration counts as an infinite risk.

        Args:
            value: the trial value.

        Returns:
            The trial, with the calibration and its risk bound, or with the error of the calibration.

        Raises:
            ConditionViolated: the algorithm has no explicit bound on its risk, at any value.
        """
        changes: Fields = {self._name: value, "reach": None}
        drafted = draft(self._calibrator, self._adapter, replace(self._plan, **changes))
        if drafted.request is None:
            reason = drafted.why[0]
            condition = ConditionResult("asked", reason.message, Verdict.NO)
            return Trial(value=value, error=ConditionViolated(reason.message, condition))

        try:
            answer: Calibration = self._calibrator.solve(drafted.request)
        except EpsilondError as error:
            return Trial(value=value, error=error)
        upper = answer.risk.upper if answer.risk is not None else None
        if upper is None or upper.constant == "hidden":
            missing = "no theorem bounds its risk" if upper is None else "the constant of its risk bound is hidden"
            raise ConditionViolated(f"{missing}: there is nothing that reaches a target")
        return Trial(value=value, risk=upper.value, result=Found(request=as_json(drafted.request), calibration=answer))

    def _answer(self, failing: int, meeting: int) -> Found:
        """Return the calibration at the smallest value that meets the target, with the trial of the next smaller value.

        This trial, `below` in the answer, shows that the next smaller value misses the target. It has the risk there,
        or None if the calibration failed.

        Args:
            failing: index of the next smaller value, which misses the target; outside the grid if there is none.
            meeting: index of the smallest value that meets the target.
        """
        best = self._trials[meeting]
        assert best.result is not None  # its risk is finite
        below = self._trials.get(failing)
        below_answer = None
        if below is not None:
            below_answer = Tried(value=below.value, risk=None if below.error is not None else below.risk)
        reached = Reached(solve_for=self._name, value=best.value, risk=best.risk, below=below_answer)
        return replace(best.result, reached=reached)
