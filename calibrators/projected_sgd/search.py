"""Step sizes and batch sizes that meet a target, where more is not always safer.

δ falls with the step size as long as the contraction of the ball is what hides, and rises again where steps leave it;
it falls with m where one use of a record decides and rises where the kernels do. So the whole range is
looked through, never a bracket alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.account import Account, account
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import BeyondBudget, Infeasible
from epsilond.accountants.estimates.noise import central_mu
from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import true_figures
from epsilond.calibrators.search import LEAST, LOG_10, SLACKS, Certified, nearest_of, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules

STEP_RANGE, STEPS_PER_DECADE = 1e9, 2
STEP_WIDTH = 1e-9
MOST_NODES = 128
MOST_LISTED = 256
MOST_STEPS_TRIED = 20_000
"""Ranges of m looked at for constant schedules; for others, values of m tried, and steps of a run that is tried."""
MARGIN = 1e-8
MOST_SCHEDULED, MOST_SCHEDULED_NOISES = 10**6, 2 * 10**5
"""Most steps of changing size that are solved for; if the noise changes too, or the stop is random. An account takes
more."""

Accounted = Callable[..., "Guarantee"]
"""Guarantee of the run with these numbers solved."""


class Accounts:
    """Accounts of the problem's runs, each computed once."""

    def __init__(self, problem: ProjectedSgdProblem) -> None:
        self.problem = problem
        self._of = functools.cache(self._accounted)

    def of(
        self, plan: RunSchedules, effort: Effort = "default", only_at: float | None = None, **changes: object
    ) -> Account:
        """Of a plan, with fields of its spec changed; `only_at` is that of `account`."""
        return self._of(plan, effort, only_at, **changes)

    def _accounted(self, plan: RunSchedules, effort: Effort, only_at: float | None, **changes: Any) -> Account:
        problem = self.problem
        spec = replace(problem.spec(plan), **changes)
        return account(
            spec,
            relation=problem.relation,
            unit=problem.unit,
            observer=problem.observer,
            effort=effort,
            only_at=only_at,
        )

    def solved(self, *, effort: Effort = "default", **numbers: float) -> Guarantee:
        """The guarantee with these numbers solved; `clients` and `lipschitz` stand in for the request's."""
        changes = {name: numbers.pop(name) for name in ("clients", "lipschitz") if name in numbers}
        return self.of(self.problem.plan(**numbers), effort, **changes).guarantee

    def truth(self, plan: RunSchedules) -> TrueFigures:
        """What is known of a plan under replace-one, which the printed theorems speak of."""
        spec = self.problem.spec(plan)
        return true_figures(
            account(spec, relation="replace-one", observer="final-model").guarantee, self.problem.target
        )


def demand_affordable(problem: ProjectedSgdProblem) -> None:
    """Refuse a search over more steps than can be gone through again and again.

    Raises:
        BeyondBudget: there are more.
    """
    plan = problem.plan()
    constant = plan.step_schedule.constant is not None and plan.noise_schedule.constant is not None
    steps = problem.clients // plan.participants
    quick = problem.release == "last" and plan.noise_schedule.constant is not None
    most = MOST_SCHEDULED if quick else MOST_SCHEDULED_NOISES
    if problem.solve_for != "participants" and not constant and steps > most:
        raise BeyondBudget(f"{steps} steps of changing size or noise are more than the {most} that are solved for")


def solved(problem: ProjectedSgdProblem, accounts: Accounts) -> tuple[Certified, RunSchedules, BatchRanges | None]:
    """The certificate, the plan with the unknown in its place, and the batch sizes if they were searched."""
    if problem.solve_for == "noise_std":
        certified = _smallest_noise(problem, accounts)
        return certified, problem.plan(noise_std=certified.noise * problem.lipschitz), None
    if problem.solve_for == "step_size":
        certified = smallest_step(problem, accounts.solved)
        return certified, problem.plan(step_size=certified.noise), None
    batches = feasible_batches(problem, accounts.solved)
    certified = batches.certified
    return certified, problem.plan(participants=certified.noise), batches


def _smallest_noise(problem: ProjectedSgdProblem, accounts: Accounts) -> Certified:
    """Searched on the bound that is least at the target ε, and certified by those that are least anywhere."""
    target = problem.target

    def certified(noise: float, effort: Effort = "default") -> Guarantee:
        return accounts.solved(effort=effort, noise_std=noise * problem.lipschitz)

    @functools.cache
    def least_there(noise: float, effort: Effort) -> Guarantee:
        plan = problem.plan(noise_std=noise * problem.lipschitz)
        return accounts.of(plan, effort, only_at=target.epsilon).guarantee

    found = smallest_noise(least_there, target, guess=_likely_noise(problem))
    guarantee = certified(found.noise)
    if guarantee.curve.upper_log_delta(target.epsilon) <= target.log_delta:
        return replace(found, guarantee=guarantee)
    return smallest_noise(certified, target, guess=found.noise)


def _likely_noise(problem: ProjectedSgdProblem) -> float:
    """Of one use of a record in a mean of m, hidden by nothing but its own noise."""
    mu = max(central_mu(problem.target), 1e-9)
    return max(sensitivity_factor(problem.relation) / (mu * math.sqrt(problem.participants or 1)), LEAST)


# The step size ------------------------------------------------------------------------------------------------------
def smallest_step(problem: ProjectedSgdProblem, accounted: Accounted) -> Certified:
    """The smallest step size (the largest of its schedule) that meets the target, among all on a grid and then within.

    Guarantees: the answer meets the target by evaluation; with a slack, slightly smaller steps miss it.

    Raises:
        Infeasible: none does.
    """
    target = problem.target
    found = functools.cache(lambda step: accounted(step_size=step))

    def meets(step: float) -> bool:
        return found(step).curve.upper_log_delta(target.epsilon) <= target.log_delta

    steps = _offered_steps(problem)
    passing = next((place for place, step in enumerate(steps) if meets(step)), None)
    if passing is None:
        best = min(steps, key=lambda step: found(step).curve.upper_log_delta(target.epsilon))
        upper = found(best).curve.upper_log_delta(target.epsilon) / LOG_10
        raise Infeasible(
            "no step size that is offered meets the target",
            ConditionResult("target", "log10 δ is at most the target", Verdict.NO, upper, target.log10_delta),
            nearest_of(found(best), target),
        )
    if passing == 0:
        return Certified(steps[0], found(steps[0]), None)
    low, high = steps[passing - 1], steps[passing]
    while high / low - 1.0 > STEP_WIDTH:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    missed = (
        slack
        for slack in SLACKS
        if found(high * (1.0 - slack)).curve.bound_log_delta(target.epsilon).lower > target.log_delta
    )
    return Certified(high, found(high), next(missed, None))


def _offered_steps(problem: ProjectedSgdProblem) -> list[float]:
    """A grid around the steps that cross the ball, and where the map's Lipschitz constant turns."""
    unit = problem.radius / problem.lipschitz
    steps = set(_log_grid(unit / STEP_RANGE, unit * STEP_RANGE, STEPS_PER_DECADE))
    if problem.smoothness is not None:
        # A hair below, as the condition η ≤ 2/β is checked in doubles.
        turns = (2.0 / problem.smoothness, 2.0 / (problem.smoothness + problem.strong_convexity))
        steps |= {turn * (1.0 - 1e-12) for turn in turns}
    return sorted(steps)


def _log_grid(low: float, high: float, per_decade: int) -> tuple[float, ...]:
    """Numbers from low to high, evenly on a logarithmic scale."""
    count = max(1, round(per_decade * math.log10(high / low)))
    return tuple(low * (high / low) ** (k / count) for k in range(count + 1))


# The batch size -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Feasible:
    """Batch sizes least, …, most, which all meet the target."""

    least: int
    most: int


@dataclass(frozen=True)
class BatchRanges:
    """The smallest batch found, all ranges found, and whether every m from 1 to n was decided.

    The certificate's slack is 0 if every smaller m is known to miss the target, None if some were not tried.
    """

    certified: Certified
    ranges: tuple[Feasible, ...]
    exhaustive: bool


def feasible_batches(problem: ProjectedSgdProblem, accounted: Accounted) -> BatchRanges:
    """Every batch size that meets the target, as far as the fixed budget goes; the smallest is the answer.

    Raises:
        Infeasible: none of those that were tried does.
    """
    constant = problem.plan().step_schedule.constant is not None and problem.plan().noise_schedule.constant is not None
    search = _RangeSearch(problem, accounted)
    ranges, exhaustive = search.halved() if constant else search.listed()
    if not ranges:
        raise Infeasible(
            "no number of participants that was tried meets the target",
            ConditionResult(
                "target", "log10 δ is at most the target", Verdict.NO, search.best, problem.target.log10_delta
            ),
            {"log10_delta": math.nextafter(search.best, 0.0)} if search.best < 0.0 else {},
        )
    least = ranges[0].least
    # Ranges are decided in ascending order, so that none below the first one is left open.
    slack = 0.0 if constant or exhaustive else None
    return BatchRanges(Certified(least, accounted(participants=least), slack), ranges, exhaustive)


class _RangeSearch:
    """The search: ranges of m that are decided as a whole, or halved."""

    def __init__(self, problem: ProjectedSgdProblem, accounted: Accounted) -> None:
        self.problem, self.accounted = problem, accounted
        self.best = 0.0

    def log_delta(self, participants: int) -> float:
        """The certified upper end."""
        guarantee = self.accounted(participants=participants)
        upper = guarantee.curve.upper_log_delta(self.problem.epsilon)
        self.best = min(self.best, upper / LOG_10)
        return upper

    def meets(self, participants: int) -> bool:
        """Whether a batch size meets the target."""
        return self.log_delta(participants) <= self.problem.target.log_delta

    def halved(self) -> tuple[tuple[Feasible, ...], bool]:
        """Ranges in ascending order; those left undecided when the budget is spent are not counted."""
        n, nodes = self.problem.clients, 0
        pending = [(2**k, min(2 ** (k + 1) - 1, n)) for k in range(n.bit_length())][::-1]
        ranges: list[Feasible] = []
        undecided = False
        while pending:
            low, high = pending.pop()
            nodes += 1
            if nodes > MOST_NODES:
                undecided = True
                break
            verdict = self.meets(low) if low == high else self._decided(low, high)
            if verdict is None:
                middle = (low + high) // 2
                pending += [(middle + 1, high), (low, middle)]
            elif verdict:
                ranges = _joined(ranges, Feasible(least=low, most=high))
        return tuple(ranges), not undecided

    def _decided(self, low: int, high: int) -> bool | None:
        """True if every m of the range meets the target, False if none does, None if this does not tell.

        Each bound is (m/n) Σ_v g_v over the T = ⌊n/m⌋ places, where g rises with the shift 2L/(√m σ) of a use and with
        the width 2ρ√m/(ησ) of the ball, and the weights rise with T. The largest of each make an upper bound: that of
        a run of m T records with m = high, T = ⌊n/low⌋ and L √(high/low), weighed anew; the least of each a lower one.
        """
        wanted = self.problem.target.log_delta
        if high * (self.problem.clients // low) > LARGEST_COUNT:
            return None
        # The ends first: they cost the same and often tell at once that the range is mixed.
        ends = {self.meets(low), self.meets(high)}
        if len(ends) == 2:
            return None
        if ends == {True}:
            return True if self._corner(high, low).upper <= wanted - MARGIN else None
        return False if self._corner(low, high).lower > wanted + MARGIN else None

    def _corner(self, batch: int, use: int) -> Interval:
        """The bound with the ball and the share of `batch`, the shift of a use and the number of places of `use`."""
        n = self.problem.clients
        places = n // use
        guarantee = self.accounted(
            participants=batch, clients=batch * places, lipschitz=self.problem.lipschitz * math.sqrt(batch / use)
        )
        ends = guarantee.curve.bound_log_delta(self.problem.epsilon)
        weight = math.log(batch * places / n)
        return Interval(ends.lower + weight, ends.upper + weight)

    def listed(self) -> tuple[tuple[Feasible, ...], bool]:
        """One m at a time: all of them where they are few, otherwise evenly on a logarithmic scale."""
        n = self.problem.clients
        least = max(1, n // MOST_STEPS_TRIED)
        count = n - least + 1
        if count <= MOST_LISTED:
            tried = list(range(least, n + 1))
        else:
            tried = sorted({round(least * (n / least) ** (k / (MOST_LISTED - 1))) for k in range(MOST_LISTED)})
        ranges: list[Feasible] = []
        below = least - 1
        for participants in tried:
            if not self.meets(participants):
                below = participants
                continue
            first = participants if ranges else self._refined(below, participants)
            for found in sorted({first, participants}):
                ranges = _joined(ranges, Feasible(least=found, most=found))
        return tuple(ranges), count <= MOST_LISTED and least == 1

    def _refined(self, failing: int, passing: int) -> int:
        """A batch size that meets the target while the next smaller one does not."""
        while passing - failing > 1:
            middle = (failing + passing) // 2
            failing, passing = (failing, middle) if self.meets(middle) else (middle, passing)
        return passing


def _joined(ranges: list[Feasible], more: Feasible) -> list[Feasible]:
    if ranges and ranges[-1].most + 1 == more.least:
        return [*ranges[:-1], Feasible(least=ranges[-1].least, most=more.most)]
    return [*ranges, more]
