"""FedAvg without privacy: Algorithm 3 of Das et al. 2021, the baseline of their Theorem 4.

In each round r of n clients are drawn uniformly without replacement. Each takes E steps on its full gradient, and the
next model is the mean of their models (line 11). Models are not projected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import STEP_SIZE, Participants, Quantity, Rounds, request
from epsilond.accountants.quantities.algorithms import LocalSteps
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.federation import UNCONSTRAINED, ClientData, local_work
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.training.steps.normalised_updates import server_step

ALGORITHM_NAME = Quantity(description="name of the algorithm")


@request
class FedavgRun:
    """A run of FedAvg without noise and without privacy.

    If `local_step_size` is absent, it is the step size of Theorem 4 of Das et al. for convex losses.
    """

    algorithm: Annotated[Literal["fedavg"], ALGORITHM_NAME] = "fedavg"
    participants: Participants
    rounds: Rounds
    local_steps: LocalSteps
    local_step_size: Annotated[float | None, STEP_SIZE] = None


def local_step_size(problem: SimulatedProblem, run: FedavgRun) -> float:
    """Return the step size of the clients' local steps.

    It is the requested one or, if absent, that of Theorem 4 of Das et al. for convex losses: η = 1/(c̄LE). L is the
    smoothness and E the number of local steps. If all n clients participate, c̄ = 64. For r < n participants:

        c̄ = max{4, 2 + 23(n − r)/(r(n − 1)), 64n(r − 1)/(r(n − 1))}.

    Args:
        problem: learning problem, with its smoothness.
        run: parameters of the run.

    Returns:
        The step size η, above 0.
    """
    if run.local_step_size is not None:
        return run.local_step_size
    clients, participants = problem.clients, run.participants
    constant = 64.0  # c̄
    if participants < clients:
        denominator = participants * (clients - 1)  # r(n − 1)
        absence_term = 2.0 + 23.0 * (clients - participants) / denominator
        participation_term = 64.0 * clients * (participants - 1) / denominator
        constant = max(4.0, absence_term, participation_term)
    return 1.0 / (constant * problem.constants.smoothness * run.local_steps)


def simulate(
    problem: SimulatedProblem, run: FedavgRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run FedAvg once per generator and measure the excess risk of the server's models.

    In every round, each participant takes several gradient steps on its own records. The next model is the mean of
    their models. If the numbers of a repetition overflow, its excess is infinite.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The measured curves. The diagnostic `least_squared_gradient_norm` is the minimum of ‖∇f(w_k)‖² over the
        models w_0, …, w_{K−1} before each of the K rounds. Here f is the mean of all clients' losses on their data.

    Raises:
        InvalidInput: there are more participants than clients.
    """
    rounds_of(problem, run)  # checks the number of participants
    federation = ClientData.of(problem, generators)
    step_size = local_step_size(problem, run)
    models = np.zeros((len(generators), problem.dimension))
    excess = ExcessCurve(problem, rounds)
    least_squared_norm = np.full(len(generators), np.inf)
    # The numbers of a diverging repetition may overflow, which is not an error.
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(1, run.rounds + 1):
            squared_norm = np.square(federation.gradient_norms(models))
            least_squared_norm = np.minimum(least_squared_norm, squared_norm)
            records = federation.participants(run.participants)
            updates = federation.local_updates(models, records, steps=run.local_steps, step_size=step_size)
            models = server_step(models, updates, 1.0)
            excess.measure(number, models)
    return excess.curves(models, {"least_squared_gradient_norm": least_squared_norm})


def rounds_of(problem: SimulatedProblem, run: FedavgRun) -> int:
    """Return the number of rounds K of a run, after a check of the number of participants.

    Args:
        problem: learning problem with its clients.
        run: parameters of the run, with its rounds and its participants per round.

    Returns:
        The number of rounds K. In each round, participants send an update of the model to the server.

    Raises:
        InvalidInput: there are more participants than clients.
    """
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    return run.rounds


def work(problem: SimulatedProblem, run: FedavgRun) -> Work:
    """Estimate the computing work of one repetition of a run, by `local_work`.

    Args:
        problem: learning problem.
        run: parameters of the run.
    """
    return local_work(problem, participants=run.participants, rounds=run.rounds, local_steps=run.local_steps)


def alternatives(run: FedavgRun) -> Mapping[str, FedavgRun]:
    """Return no alternative, because the run itself has no noise."""
    del run
    return {}


ALGORITHM = SimulatedAlgorithm(
    name="fedavg",
    title="FedAvg, without privacy",
    run=FedavgRun,
    problems=UNCONSTRAINED,
    simulate=simulate,
    rounds=rounds_of,
    work=work,
    alternatives=alternatives,
    alternative_names=(),
    titles={},
)
