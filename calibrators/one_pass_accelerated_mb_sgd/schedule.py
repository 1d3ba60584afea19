"""Division of one pass over the data into rounds and batches, by the bound on the risk."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.calibrators.accelerated_mb_sgd.answer import plan_at
from epsilond.calibrators.accelerated_mb_sgd.schedule import LikelyRisk, problem_of
from epsilond.calibrators.frontier import Choice, smallest_run
from epsilond.calibrators.mb_sgd.members import likely_mean_noise_std, mean_noise_std, members_of
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.run_predictions import RunFunctions
from epsilond.calibrators.run_lattice import runs_within

if TYPE_CHECKING:
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedPlan
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem


def risk_problem(problem: OnePassProblem, run: Run) -> AcceleratedProblem:
    """Return the inputs of the bound on the population excess risk of one pass over the records.

    The bound is on the population loss, because every record is used at most once.

    Args:
        problem: the request, with the constants of the losses and the clients.
        run: the run, of which only the batch size is used.
    """
    return problem_of(
        problem, run, objective="population", gradient_std=problem.gradient_std, heterogeneity=problem.spread
    )


def plan_of(problem: OnePassProblem, run: Run, noise_std: float) -> AcceleratedPlan:
    """Return the stages and the risk bound of a run at its certified noise.

    Args:
        problem: the request, with the constants of the losses and the clients.
        run: the batch size and the number of rounds.
        noise_std: σ per coordinate, root mean square over clients.

    Returns:
        The stages that nearly minimise the bound on the excess risk, with this bound.
    """
    return plan_at(risk_problem(problem, run), noise_std=noise_std, rounds=run.rounds)


def choose_run(problem: OnePassProblem, certificates: Certificates[OnePassProblem, Member]) -> Choice[Run]:
    """Choose the batch size and rounds: the smallest run with nearly the least bound on the excess risk.

    "Nearly" means within the factor 1 + `within` of the request. If records are protected, the certified noise depends
    only on the batch size, because every record is used once.

    Args:
        problem: the request. Its budgets limit the runs.
        certificates: the certified noise of each run.

    Returns:
        The chosen run, with alternatives that trade rounds, batch size and bound against each other.

    Raises:
        InvalidInput: the budgets leave no run.
    """
    runs = runs_within(
        lambda size: _most_rounds(problem, size),
        rounds=problem.rounds,
        batch_size=problem.batch_size,
        largest_batch=problem.samples_per_client,
    )

    @functools.cache
    def likely_risk(batch_size: int, noise_std: float) -> LikelyRisk:
        """Return the estimated bound as a function of the rounds; its other inputs do not depend on the rounds."""
        return LikelyRisk(risk_problem(problem, Run(batch_size=batch_size, rounds=1)), noise_std)

    @functools.cache
    def record_noise(batch_size: int) -> float:
        """Return the certified noise, which all runs of this batch size share."""
        return mean_noise_std(certificates, Run(batch_size=batch_size, rounds=1))

    def likely_noise(run: Run) -> float:
        """Return an estimate of the noise if clients are protected, and the certified noise of records otherwise."""
        if problem.unit == "client":
            return likely_mean_noise_std(certificates, run)
        return record_noise(run.batch_size)

    def risk(run: Run, noise_std: float) -> float:
        """Return the bound on the excess risk of a run with noise of a given standard deviation."""
        return plan_of(problem, run, noise_std).excess_risk

    outlook = RunFunctions(
        likely_noise=likely_noise,
        certified_noise=functools.partial(mean_noise_std, certificates),
        quick_risk=lambda run, noise_std: likely_risk(run.batch_size, noise_std).at(run.rounds),
        risk=risk,
        cheap=lambda _: True,
    )
    return smallest_run(runs, outlook, within=problem.within, traffic=problem.traffic)


def _most_rounds(problem: OnePassProblem, batch_size: int) -> int:
    """Return the largest number of rounds for which every client has records and the budgets suffice.

    Args:
        problem: the request, with the records of each client, and budgets of gradients and of bits.
        batch_size: batch size of a client with `samples_per_client` records.

    Returns:
        The number of rounds; 0 if not even one round is possible.
    """
    members = members_of(problem, Run(batch_size=batch_size, rounds=1))
    limits = [member.samples_per_client // member.batch_size for member in members]
    if problem.max_gradients is not None:
        largest_batch = max(member.batch_size for member in members)
        limits.append(problem.max_gradients // largest_batch)
    if problem.communication_budget is not None:
        limits.append(problem.communication_budget // problem.bits_per_round)
    return min(limits)
