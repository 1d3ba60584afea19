"""Choice of batch size and rounds of a mini-batch run within the budgets of its request."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from epsilond.calibrators.frontier import Choice, smallest_run
from epsilond.calibrators.mb_sgd.members import likely_mean_noise_std, mean_noise_std, members_of
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, PacedProblem, Run
from epsilond.calibrators.mb_sgd.run_predictions import RunFunctions
from epsilond.calibrators.run_lattice import runs_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.mb_sgd.members import Member

GRADIENTS_PER_RECORD = 1000
"""Default of `max_gradients`, per record of a client."""


def choose_among(
    problem: MiniBatchProblem,
    certificates: Certificates[MiniBatchProblem, Member],
    *,
    has_bound: Callable[[Run], bool],
    closeness: Callable[[Run], float],
    quick_risk: Callable[[Run, float], float],
    risk: Callable[[Run, float], float],
) -> Choice[Run]:
    """Choose the smallest run with a bound on the excess risk of at most 1 + `within` times the least bound.

    The candidates are batch sizes and rounds that grow geometrically, within the request's budgets. If no theorem
    bounds their risk, the run with the largest batch is chosen and, among these, the one with the largest `closeness`.

    Args:
        problem: the request, with the budgets and `within`.
        certificates: the certified noise of each kind of client.
        has_bound: run ↦ whether a theorem bounds its risk.
        closeness: run ↦ closeness of its rounds to the number that the paper prescribes; larger is closer.
        quick_risk: (run, σ) ↦ estimate of the bound on the excess risk.
        risk: (run, σ) ↦ the bound on the excess risk.

    Returns:
        The run, with its frontier: the runs that no other run equals or betters in rounds, batch size and bound at
        once. Without a bound on the risk there is no frontier.

    Raises:
        InvalidInput: no run is within the budgets.
        EpsilondError: no noise can be certified for a run that is tried.
    """
    runs = paid_runs(problem)  # within the budgets
    if not has_bound(runs[0]):
        return Choice(max(runs, key=lambda run: (run.batch_size, closeness(run))))
    functions = RunFunctions(
        likely_noise=partial(likely_mean_noise_std, certificates),
        certified_noise=partial(mean_noise_std, certificates),
        quick_risk=quick_risk,
        risk=risk,
        # The estimated noise has a larger error for a larger rarity, a distance from a Gaussian privacy loss.
        rarity=partial(rarity_of, problem),
        reference=Run(batch_size=problem.samples_per_client, rounds=1),
        # At rarity 0 the loss is exactly Gaussian. The noise then has a closed form.
        cheap=lambda run: rarity_of(problem, run) == 0.0,
    )
    return smallest_run(runs, functions, within=problem.within, traffic=problem.traffic)


def rarity_of(problem: MiniBatchProblem, run: Run) -> float:
    """Return the number n/(K√R), which is large if the privacy loss of a run is far from a normal distribution.

    n is the number of a client's records, K the batch size and R the number of rounds. The number is 0 if K = n or if
    whole clients are protected. The loss is then exactly normal, unless batches are drawn with replacement.

    Args:
        problem: the request, with n records per client.
        run: batch size K and number of rounds R.

    Returns:
        The number, at least 0 and without unit.
    """
    if problem.unit == "client" or run.batch_size == problem.samples_per_client:
        return 0.0
    return problem.samples_per_client / (run.batch_size * math.sqrt(run.rounds))


def most_rounds(problem: PacedProblem, batch_size: int) -> int:
    """Return the largest number of rounds within the gradient budget of every client and the communication budget.

    Args:
        problem: the request. Its `max_gradients` is by default `GRADIENTS_PER_RECORD` times the records of a client.
        batch_size: batch size of a client with `samples_per_client` records.

    Returns:
        The number of rounds; 0 if a budget does not pay for one round.
    """
    limits = []
    for member in members_of(problem, Run(batch_size=batch_size, rounds=1)):
        max_gradients = problem.max_gradients or GRADIENTS_PER_RECORD * member.samples_per_client
        limits.append(max_gradients // member.batch_size)
    if problem.communication_budget is not None:
        limits.append(problem.communication_budget // problem.bits_per_round)
    return min(limits)


def paid_runs(problem: PacedProblem) -> list[Run]:
    """Return the candidate runs: batch sizes and rounds that grow geometrically, within the request's budgets.

    Args:
        problem: the request. A batch size or number of rounds that it gives is kept.

    Returns:
        The runs by increasing rounds, and by increasing batch size among runs with equal rounds.

    Raises:
        InvalidInput: no run is within the budgets.
    """
    batch_size = problem.samples_per_client if problem.sampling == "full" else problem.batch_size
    return runs_within(
        lambda size: most_rounds(problem, size),
        rounds=problem.rounds,
        batch_size=batch_size,
        largest_batch=problem.samples_per_client,
    )
