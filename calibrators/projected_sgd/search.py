"""Search for step sizes and batch sizes that meet a target, where δ is not monotone.

δ falls with the step size while the contraction of the ball dominates, and rises again where steps leave the ball. It
falls with the batch size m where one use of a record dominates, and rises where the kernels dominate. The whole range
is therefore searched, not only a bracket.
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
"""Largest factor of the grid of step sizes around the step that crosses the ball, and its points per decade."""
STEP_WIDTH = 1e-9
"""Relative width of the last bracket of a step size."""
TURN_MARGIN = 1e-12
"""Relative distance of a step size below a turning point, for rounding: η ≤ 2/β is checked in doubles."""
MOST_NODES = 128
"""Limit on the ranges of batch sizes m that are examined for constant schedules."""
MOST_LISTED = 256
"""Limit on the values of m that are tried for changing schedules."""
MOST_STEPS_TRIED = 20_000
"""Limit on the steps of a run that is tried for changing schedules."""
MARGIN = 1e-8
"""Margin in log δ by which a bound for a range of m decides it, for rounding."""
MOST_SCHEDULED, MOST_SCHEDULED_NOISES = 10**6, 2 * 10**5
"""Largest numbers of steps of changing size in a search; the second applies if the noise changes or the stop is random.
An account takes more steps."""

Accounted = Callable[..., "Guarantee"]
"""Function from a value of the unknown, by name, to the guarantee of the run with that value."""


class Accounts:
    """Accounts of the problem's runs, each computed once."""

    def __init__(self, problem: ProjectedSgdProblem) -> None:
        self.problem = problem
        self._of = functools.cache(self._account)

    def of(
        self, plan: RunSchedules, effort: Effort = "default", only_at: float | None = None, **changes: object
    ) -> Account:
        """Return the account of a plan.

        Args:
            plan: the run.
            effort: the work that compositions may take.
            only_at: as in `account`.
            changes: fields of the spec that are replaced.
        """
        return self._of(plan, effort, only_at, **changes)

    def _account(self, plan: RunSchedules, effort: Effort, only_at: float | None, **changes: Any) -> Account:
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

    def guarantee_at(self, *, effort: Effort = "default", **numbers: float) -> Guarantee:
        """Return the guarantee at values of the unknown; `clients` and `lipschitz` replace those of the request."""
        changes = {name: numbers.pop(name) for name in ("clients", "lipschitz") if name in numbers}
        return self.of(self.problem.plan(**numbers), effort, **changes).guarantee

    def truth(self, plan: RunSchedules) -> TrueFigures:
        """Return the certified figures of a plan under replace-one, the relation of the printed theorems."""
        spec = self.problem.spec(plan)
        return true_figures(
            account(spec, relation="replace-one", observer="final-model").guarantee, self.problem.target
        )


def demand_affordable(problem: ProjectedSgdProblem) -> None:
    """Reject a search whose runs have too many steps to be evaluated repeatedly.

    Raises:
        BeyondBudget: the run has more steps than the limit.
    """
    plan = problem.plan()
    constant = plan.step_schedule.constant is not None and plan.noise_schedule.constant is not None
    steps = problem.clients // plan.participants
    quick = problem.release == "last" and plan.noise_schedule.constant is not None
    most = MOST_SCHEDULED if quick else MOST_SCHEDULED_NOISES
    if problem.solve_for != "participants" and not constant and steps > most:
        raise BeyondBudget(f"{steps} steps of changing size or noise are more than the {most} that are solved for")


def solve_unknown(
    problem: ProjectedSgdProblem, accounts: Accounts
) -> tuple[Certified, RunSchedules, BatchRanges | None]:
    """Solve for the unknown of the request.

    Args:
        problem: the request.
        accounts: accounts of its runs.

    Returns:
        The certificate; the run with the solved value; and the feasible batch sizes, None unless they are the unknown.

    Raises:
        Infeasible: no value of the unknown meets the target.
    """
    if problem.solve_for == "noise_std":
        certified = _smallest_noise(problem, accounts)
        return certified, problem.plan(noise_std=certified.noise * problem.lipschitz), None
    if problem.solve_for == "step_size":
        certified = smallest_step(problem, accounts.guarantee_at)
        return certified, problem.plan(step_size=certified.noise), None
    batches = feasible_batches(problem, accounts.guarantee_at)
    certified = batches.certified
    return certified, problem.plan(participants=certified.noise), batches


def _smallest_noise(problem: ProjectedSgdProblem, accounts: Accounts) -> Certified:
    """Return the smallest certified noise, in units of the Lipschitz constant.

    The search uses only the bound that is least at the target ε, which takes less time. The result is certified by the
    bounds for all ε.
    """
    target = problem.target

    def guarantee_at_noise(noise: float, effort: Effort = "default") -> Guarantee:
        return accounts.guarantee_at(effort=effort, noise_std=noise * problem.lipschitz)

    @functools.cache
    def least_there(noise: float, effort: Effort) -> Guarantee:
        plan = problem.plan(noise_std=noise * problem.lipschitz)
        return accounts.of(plan, effort, only_at=target.epsilon).guarantee

    smallest = smallest_noise(least_there, target, guess=_likely_noise(problem))
    guarantee = guarantee_at_noise(smallest.noise)
    if guarantee.curve.upper_log_delta(target.epsilon) <= target.log_delta:
        return replace(smallest, guarantee=guarantee)
    return smallest_noise(guarantee_at_noise, target, guess=smallest.noise)


def _likely_noise(problem: ProjectedSgdProblem) -> float:
    """Return an initial estimate: the noise for one use of a record in a mean of m, without contraction."""
    mu = max(central_mu(problem.target), 1e-9)
    return max(sensitivity_factor(problem.relation) / (mu * math.sqrt(problem.participants or 1)), LEAST)


# The step size ------------------------------------------------------------------------------------------------------
def smallest_step(problem: ProjectedSgdProblem, account_at: Accounted) -> Certified:
    """Return the smallest step size that meets the target, by a grid and then bisection between grid values.

    The step size is the largest of its schedule.

    Guarantees: the answer meets the target by evaluation. If a slack is given, slightly smaller steps miss it.

    Raises:
        Infeasible: no step size on the grid meets the target.
    """
    target = problem.target
    guarantee_at = functools.cache(lambda step: account_at(step_size=step))

    def meets(step: float) -> bool:
        return guarantee_at(step).curve.upper_log_delta(target.epsilon) <= target.log_delta

    steps = _offered_steps(problem)
    passing = next((place for place, step in enumerate(steps) if meets(step)), None)
    if passing is None:
        best = min(steps, key=lambda step: guarantee_at(step).curve.upper_log_delta(target.epsilon))
        upper = guarantee_at(best).curve.upper_log_delta(target.epsilon) / LOG_10
        raise Infeasible(
            "no step size that is offered meets the target",
            ConditionResult("target", "log10 δ is at most the target", Verdict.NO, upper, target.log10_delta),
            nearest_of(guarantee_at(best), target),
        )
    if passing == 0:
        return Certified(steps[0], guarantee_at(steps[0]), None)
    low, high = steps[passing - 1], steps[passing]
    while high / low - 1.0 > STEP_WIDTH:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    missed = (
        slack
        for slack in SLACKS
        if guarantee_at(high * (1.0 - slack)).curve.bound_log_delta(target.epsilon).lower > target.log_delta
    )
    return Certified(high, guarantee_at(high), next(missed, None))


def _offered_steps(problem: ProjectedSgdProblem) -> list[float]:
    """Return the step sizes to try: a logarithmic grid, and two steps at which δ may turn from falling to rising.

    The grid is centred at ρ/L, with which a step of the largest gradient L moves by the radius ρ. At the step sizes
    2/β and 2/(β + λ) the Lipschitz constant of a gradient step changes its form, for smoothness β and strong convexity
    λ.
    """
    unit = problem.radius / problem.lipschitz
    steps = set(_log_grid(unit / STEP_RANGE, unit * STEP_RANGE, STEPS_PER_DECADE))
    if problem.smoothness is not None:
        turns = (2.0 / problem.smoothness, 2.0 / (problem.smoothness + problem.strong_convexity))
        steps |= {turn * (1.0 - TURN_MARGIN) for turn in turns}
    return sorted(steps)


def _log_grid(low: float, high: float, per_decade: int) -> tuple[float, ...]:
    """Return numbers from low to high that are evenly spaced by logarithm."""
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
    """The smallest feasible batch, all feasible ranges, and whether every m from 1 to n was decided.

    The certificate's slack is 0 if every smaller m is known to miss the target, and None if some were not tried.
    """

    certified: Certified
    ranges: tuple[Feasible, ...]
    exhaustive: bool


def feasible_batches(problem: ProjectedSgdProblem, account_at: Accounted) -> BatchRanges:
    """Return the ranges of batch sizes that meet the target, and certify the smallest one.

    For constant schedules, ranges of batch sizes are decided as a whole or halved. For changing schedules, batch sizes
    are tried one by one. Both are limited by a fixed budget, so that some batch sizes may remain undecided.

    Args:
        problem: the request.
        account_at: function from a batch size, by the name `participants`, to the guarantee of the run.

    Raises:
        Infeasible: no batch size that was tried meets the target.
    """
    constant = problem.plan().step_schedule.constant is not None and problem.plan().noise_schedule.constant is not None
    search = _RangeSearch(problem, account_at)
    ranges, exhaustive = search.bisect() if constant else search.scan()
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
    return BatchRanges(Certified(least, account_at(participants=least), slack), ranges, exhaustive)


class _RangeSearch:
    """A search over ranges of m, each of which is decided as a whole or halved."""

    def __init__(self, problem: ProjectedSgdProblem, account_at: Accounted) -> None:
        self.problem, self.account_at = problem, account_at
        self.best = 0.0

    def log_delta(self, participants: int) -> float:
        """Return the certified upper bound on log δ at the target ε."""
        guarantee = self.account_at(participants=participants)
        upper = guarantee.curve.upper_log_delta(self.problem.epsilon)
        self.best = min(self.best, upper / LOG_10)
        return upper

    def meets(self, participants: int) -> bool:
        """Return whether a batch size meets the target."""
        return self.log_delta(participants) <= self.problem.target.log_delta

    def bisect(self) -> tuple[tuple[Feasible, ...], bool]:
        """Return the feasible ranges in ascending order, and whether all ranges were decided within the budget."""
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
            verdict = self.meets(low) if low == high else self._decide(low, high)
            if verdict is None:
                middle = (low + high) // 2
                pending += [(middle + 1, high), (low, middle)]
            elif verdict:
                ranges = _join_range(ranges, Feasible(least=low, most=high))
        return tuple(ranges), not undecided

    def _decide(self, low: int, high: int) -> bool | None:
        """Decide whether all batch sizes m of a range, or none, meet the target.

        The bound on δ at m is (m/n) Σ_v g_v over the T = ⌊n/m⌋ steps v in which a record may be used. Here g_v rises
        with the sensitivity 2L/(√m σ) of a step and with the width 2ρ√m/(ησ) of the ball, and the sum rises with T. The
        largest values of all of these within the range give an upper bound on all its δ. It is that of a run with m =
        high, T = ⌊n/low⌋ and the Lipschitz constant L√(high/low), with another weight m/n. The least values give a
        lower bound.

        Returns:
            True if every m meets the target, False if no m does, and None if the bounds do not decide.
        """
        wanted = self.problem.target.log_delta
        if high * (self.problem.clients // low) > LARGEST_COUNT:
            return None
        # Both limits first: they cost the same, and often show at once that the range is mixed.
        meets_at_low, meets_at_high = self.meets(low), self.meets(high)
        if meets_at_low != meets_at_high:
            return None
        if meets_at_low:
            return True if self._corner(high, low).upper <= wanted - MARGIN else None
        return False if self._corner(low, high).lower > wanted + MARGIN else None

    def _corner(self, batch: int, use: int) -> Interval:
        """Return bounds on log δ that mix two batch sizes, for a bound on all batch sizes between them.

        Args:
            batch: batch size that determines the width of the ball and the weight m/n.
            use: batch size that determines the sensitivity of a step and the number of steps.
        """
        n = self.problem.clients
        places = n // use
        guarantee = self.account_at(
            participants=batch, clients=batch * places, lipschitz=self.problem.lipschitz * math.sqrt(batch / use)
        )
        ends = guarantee.curve.bound_log_delta(self.problem.epsilon)
        weight = math.log(batch * places / n)
        return Interval(ends.lower + weight, ends.upper + weight)

    def scan(self) -> tuple[tuple[Feasible, ...], bool]:
        """Try batch sizes one by one: all of them if they are few, and otherwise a logarithmic grid.

        Returns:
            The batch sizes that meet the target, as ranges; and whether every batch size was tried.
        """
        n = self.problem.clients
        least = max(1, n // MOST_STEPS_TRIED)
        count = n - least + 1
        if count <= MOST_LISTED:
            sizes = list(range(least, n + 1))
        else:
            sizes = sorted({round(least * (n / least) ** (k / (MOST_LISTED - 1))) for k in range(MOST_LISTED)})
        ranges: list[Feasible] = []
        below = least - 1
        for participants in sizes:
            if not self.meets(participants):
                below = participants
                continue
            first = participants if ranges else self._refine(below, participants)
            for size in sorted({first, participants}):
                ranges = _join_range(ranges, Feasible(least=size, most=size))
        return tuple(ranges), count <= MOST_LISTED and least == 1

    def _refine(self, failing: int, passing: int) -> int:
        """Return a batch size that meets the target such that the next smaller batch size misses it."""
        while passing - failing > 1:
            middle = (failing + passing) // 2
            failing, passing = (failing, middle) if self.meets(middle) else (middle, passing)
        return passing


def _join_range(ranges: list[Feasible], more: Feasible) -> list[Feasible]:
    """Return ascending ranges with one more at their end, joined to the last if it follows it directly."""
    if ranges and ranges[-1].most + 1 == more.least:
        return [*ranges[:-1], Feasible(least=ranges[-1].least, most=more.most)]
    return [*ranges, more]
