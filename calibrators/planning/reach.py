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

DECADE = 9000
"""Number of grid values from one power of ten to the next: those with four significant digits."""
MOST_TRIALS = 60
STRIDE = 16.0
"""Factor between successive trials until two trials bracket the target."""
HIGHEST = {"epsilon": 1e3, "samples_per_client": 1e9, "participants": 1e9, "clients": 1e9}
STARTS: Mapping[Unknown, Callable[[PlanProblem], float]] = {
    "epsilon": lambda _: 1.0,
    "samples_per_client": lambda plan: max(1000, plan.batch_size or 1),
    "participants": lambda plan: plan.clients or 1,
    "clients": lambda plan: max(100, plan.participants or 1),
}


@dataclass(frozen=True, kw_only=True)
class ValueGrid:
    """A grid of values: n at place n up to 10000, and above that in relative steps of 1e-3 to 1e-4."""

    least: int
    most: int
    micro: bool = False
    """True if values are millionths of those at a place; used for a quantity that is not a count."""

    def value(self, place: int) -> float | int:
        """Return the value at a place."""
        decades = max(0, (place - 1000) // DECADE)
        digits = place - decades * DECADE
        if self.micro:
            return float(f"{digits}e{decades - 6}")
        return int(str(digits) + "0" * decades)

    def place(self, value: float) -> int:
        """Return the place of the least grid value at or above `value`, limited to the grid."""
        units = max(math.ceil(value * 1e6 * (1 - 1e-12)) if self.micro else math.ceil(value), 1)
        decades = max(0, len(str(units)) - 4)
        step = int(10**decades)
        digits = -(-units // step)
        return min(max(digits + decades * DECADE, self.least), self.most)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A calibration with its request and, if a risk was to be reached, the solved value."""

    request: JsonObject
    calibration: Calibration | JsonObject
    reached: Reached | None = None


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial value, with the risk there or the error."""

    value: float
    risk: float = math.inf
    result: Found | None = None
    refusal: EpsilondError | None = None


def first_value(plan: PlanProblem) -> float:
    """Return the first trial value of the unknown."""
    assert plan.unknown is not None
    return STARTS[plan.unknown](plan)


def grid_of(plan: PlanProblem) -> ValueGrid:
    """Return the values that are searched, within the limits that the plan's other fields set."""
    assert plan.unknown is not None
    most = HIGHEST[plan.unknown]
    if plan.unknown == "epsilon":
        grid = ValueGrid(least=1000, most=10**9, micro=True)
        return replace(grid, most=grid.place(most))
    least = plan.participants or 1 if plan.unknown == "clients" else 1
    if plan.unknown == "participants" and plan.clients is not None:
        most = plan.clients
    grid = ValueGrid(least=1, most=10**9)
    return replace(grid, least=grid.place(least), most=_last_within(grid, most))


def _last_within(grid: ValueGrid, most: float) -> int:
    place = grid.place(most)
    return place if grid.value(place) <= most else place - 1


def reach(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> Found:
    """Return the calibration at the smallest value of the unknown that meets the target.

    Args:
        calibrator: the algorithm.
        adapter: the adapter of one of its variants.
        plan: the plan.

    Raises:
        Infeasible: even the largest value misses the target; the condition holds the risk there and the target.
        ConditionViolated: no theorem gives an explicit bound on the algorithm's risk.
        BeyondBudget: too many trials.
        EpsilondError: the error of the algorithm itself at the largest value.
    """
    return _Search(calibrator, adapter, plan).run()


class _Search:
    def __init__(self, calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> None:
        assert plan.reach is not None
        self._ask = (calibrator, adapter, plan)
        self._name = plan.reach.solve_for
        self._target = plan.reach.risk
        self._grid = grid_of(plan)
        self._first = first_value(plan)
        self._tried: dict[int, Trial] = {}

    def run(self) -> Found:
        """Find a bracket, and shrink it by the power law, a neighbour, and the middle if it shrinks slowly."""
        fails, meets = self._bracket()
        while meets - fails > 1:
            wide = meets - fails
            guess = self._guess(fails, meets)
            for place in (guess, guess - 1 if self._meets(guess) else guess + 1, (fails + meets) // 2):
                if fails < place < meets and (place != (fails + meets) // 2 or 2 * (meets - fails) > wide):
                    fails, meets = (fails, place) if self._meets(place) else (place, meets)
        return self._answer(fails, meets)

    def _bracket(self) -> tuple[int, int]:
        """Return two places of which only the larger meets the target; `least` − 1 if no smaller value exists."""
        grid = self._grid
        place = grid.place(self._first)
        if self._meets(place):
            while place > grid.least:
                lower = max(grid.place(grid.value(place) / STRIDE), grid.least)
                if not self._meets(lower):
                    return lower, place
                place = lower
            return grid.least - 1, grid.least
        while place < grid.most:
            higher = min(max(grid.place(grid.value(place) * STRIDE), place + 1), grid.most)
            if self._meets(higher):
                return place, higher
            place = higher
        raise self._never(self._tried[place])

    def _never(self, last: Trial) -> EpsilondError:
        if last.refusal is not None:
            return last.refusal
        statement = f"the bound on the risk is at most the target at the largest {self._name}, {last.value:g}"
        message = f"no {self._name} that is offered takes the bound on its risk to the target"
        condition = ConditionResult("risk-reached", statement, Verdict.NO, last.risk, self._target)
        return Infeasible(message, condition, {"risk": last.risk})

    def _guess(self, fails: int, meets: int) -> int:
        """Return the place where the power law through both ends meets the target; the middle if a risk is unknown."""
        low, high = (self._tried.get(place) for place in (fails, meets))
        middle = (fails + meets) // 2
        if low is None or high is None or not math.isfinite(low.risk) or not 0 < high.risk < low.risk:
            return middle
        share = math.log(low.risk / self._target) / math.log(low.risk / high.risk)
        value = low.value * (high.value / low.value) ** share
        return min(max(self._grid.place(value), fails + 1), meets - 1)

    def _meets(self, place: int) -> bool:
        if place not in self._tried:
            if len(self._tried) >= MOST_TRIALS:
                raise BeyondBudget(f"the risk does not fall with {self._name} as a search needs it to")
            self._tried[place] = self._trial(self._grid.value(place))
        return self._tried[place].risk <= self._target

    def _trial(self, value: float) -> Trial:
        calibrator, adapter, plan = self._ask
        changes: Fields = {self._name: value, "reach": None}
        drafted = draft(calibrator, adapter, replace(plan, **changes))
        if drafted.request is None:
            reason = drafted.why[0]
            condition = ConditionResult("asked", reason.message, Verdict.NO)
            return Trial(value=value, refusal=ConditionViolated(reason.message, condition))
        try:
            answer: Calibration = calibrator.solve(drafted.request)
        except EpsilondError as refusal:
            return Trial(value=value, refusal=refusal)
        upper = answer.risk.upper if answer.risk is not None else None
        if upper is None or upper.constant == "hidden":
            missing = "no theorem bounds its risk" if upper is None else "the constant of its risk bound is hidden"
            raise ConditionViolated(f"{missing}: there is nothing that reaches a target")
        return Trial(value=value, risk=upper.value, result=Found(request=as_json(drafted.request), calibration=answer))

    def _answer(self, fails: int, meets: int) -> Found:
        best, below = self._tried[meets], self._tried.get(fails)
        assert best.result is not None
        below_answer = (
            None if below is None else Tried(value=below.value, risk=None if below.refusal is not None else below.risk)
        )
        return replace(
            best.result, reached=Reached(solve_for=self._name, value=best.value, risk=best.risk, below=below_answer)
        )
