"""How one pass over the data is cut: rounds and batch size compete for the records, and the bound decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accountants.errors import InvalidInput
from accountants.theorems.lowy_accelerated_bound import AcceleratedProblem
from calibrators.accelerated_answer import plan_at
from calibrators.accelerated_mb_sgd_schedule import likely_risk
from calibrators.mb_sgd_problem import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibrators.accelerated_answer import AcceleratedPlan
    from calibrators.one_pass_accelerated_mb_sgd_problem import OnePassProblem

GRID_RATIO = 1.1
REFINED = 32
SHORTLIST = 3


def risk_problem(problem: OnePassProblem, run: Run) -> AcceleratedProblem:
    """The problem as the risk bound sees it: records are fresh, so the objective is the population's."""
    return AcceleratedProblem(
        clients=problem.clients,
        participants=problem.reporting,
        samples_per_client=problem.samples_per_client,
        batch_size=run.batch_size,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        smoothness=problem.smoothness,
        strong_convexity=problem.strong_convexity,
        initial_distance=problem.initial_distance or problem.diameter,
        diameter=problem.diameter,
        initial_gap=problem.gap,
        gradient_std=problem.gradient_std,
        heterogeneity=problem.spread,
        objective="population",
    )


def plan_of(problem: OnePassProblem, run: Run, noise_std: float) -> AcceleratedPlan:
    """Stages and risk bound of a run at its certified noise."""
    return plan_at(risk_problem(problem, run), noise_std=noise_std, rounds=run.rounds)


def choose_run(
    problem: OnePassProblem, likely_noise_std: Callable[[Run], float], certified_noise_std: Callable[[Run], float]
) -> Run:
    """The run to calibrate: R rounds of K = ⌊n/R⌋ records, as the request says, the rest chosen by the bound.

    A grid of rounds, then a finer one about its best; the best few are ranked again at their certified noise.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    if problem.batch_size is not None or problem.rounds is not None:
        runs = [_given(problem)]
    else:
        most = _most_rounds(problem, 1)
        runs = [_dealt(problem, rounds) for rounds in _grid(1, most)] if most >= 1 else []
    runs = [run for run in runs if run.rounds >= 1 and run.rounds <= _most_rounds(problem, run.batch_size)]
    if not runs:
        raise InvalidInput.at("/communication_budget", "does not pay for the rounds")
    if len(runs) == 1:
        return runs[0]

    def likely(run: Run) -> float:
        return likely_risk(risk_problem(problem, run), noise_std=likely_noise_std(run), rounds=run.rounds)

    def certain(run: Run) -> float:
        upper = plan_of(problem, run, certified_noise_std(run)).risk.upper
        return upper.value if upper else float("inf")

    ranked = sorted(runs, key=likely)
    best = ranked[0].rounds
    near = [rounds for rounds in _between(int(best / GRID_RATIO), int(best * GRID_RATIO) + 1) if rounds >= 1]
    finer = {_dealt(problem, rounds) for rounds in near if rounds <= _most_rounds(problem, 1)}
    finer = {run for run in finer if run.rounds <= _most_rounds(problem, run.batch_size)}
    return min(sorted({*ranked[:SHORTLIST], *finer}, key=likely)[:SHORTLIST], key=certain)


def _given(problem: OnePassProblem) -> Run:
    """The request's own: what is absent is all that the records allow."""
    n = problem.samples_per_client
    if problem.batch_size is None:
        rounds = problem.rounds or 1
        return Run(batch_size=n // rounds, rounds=rounds)
    rounds = problem.rounds or min(n // problem.batch_size, _most_rounds(problem, problem.batch_size))
    return Run(batch_size=problem.batch_size, rounds=rounds)


def _dealt(problem: OnePassProblem, rounds: int) -> Run:
    """R rounds of as many records as there are for each."""
    return Run(batch_size=problem.samples_per_client // rounds, rounds=rounds)


def _most_rounds(problem: OnePassProblem, batch_size: int) -> int:
    """Rounds that the records and the budgets pay for."""
    most = problem.samples_per_client // batch_size
    if problem.max_gradients is not None:
        most = min(most, problem.max_gradients // batch_size)
    if problem.communication_budget is not None:
        most = min(most, problem.communication_budget // problem.bits_per_round)
    return most


def _grid(least: int, most: int) -> tuple[int, ...]:
    values = [least]
    while values[-1] < most:
        values.append(min(most, max(values[-1] + 1, int(values[-1] * GRID_RATIO))))
    return tuple(values)


def _between(low: int, high: int) -> range:
    return range(low, high + 1, max(1, (high - low) // REFINED))
