"""Local SGD with noise on every local step: what Lowy and Razaviyayn's experiments set beside mini-batch SGD.

From w_0 = 0, in each round M of N clients start at the server's model and take E steps to Π(w − η(g + N(0, σ²))), g the
mean of K gradients of records drawn afresh, uniformly without replacement, in every step. They send where they arrive;
the server goes to the mean of these, and puts out the mean of its models after each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import PARTICIPANTS, BatchSize, Quantity, Rounds, request
from epsilond.accountants.quantities.algorithms import LocalSteps
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.algorithms.mb_sgd import STEP
from epsilond.simulators.algorithms.reports import Reporting, RoundDraws, largest_norm, reporting_for
from epsilond.simulators.federations.groups import NOISE
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem
from epsilond.training.steps.averaged_descent import AveragedDescent
from epsilond.training.steps.messages import with_noise

NUMPY_CALLS = 30
"""Calls of numpy in one local step of all clients, about."""


@request
class LocalSgdRun:
    """`batch_size` is of one local step. Absent `noise_std` is calibrated; `participants` M absent: all clients."""

    algorithm: Annotated[Literal["local-sgd"], Quantity(description="noisy local SGD")] = "local-sgd"
    rounds: Rounds
    local_steps: LocalSteps
    batch_size: BatchSize
    participants: Annotated[int | None, PARTICIPANTS] = None
    step_size: Annotated[float, replace(STEP, description="of a local step")] = 1.0
    noise_std: Annotated[float | None, replace(NOISE, description="σ per coordinate, in every local step")] = None


def simulate(
    problem: SimulatedProblem, run: LocalSgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """One repetition for each generator, side by side.

    Diagnostics: `largest_gradient_norm`, the largest norm of the mean gradient of a client's batch.

    Raises:
        InvalidInput: noise is not decided, or the run does not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    rounds_of(problem, run)
    start = np.zeros((len(generators), problem.dimension))
    server = AveragedDescent(start, step_size=1.0, fading=1.0, project=problem.project)
    largest = np.zeros(len(generators))
    measured: list[Floats] = []
    data = [problem.draw(generator) for generator in generators]
    for number in range(1, run.rounds + 1):
        begun = server.model[:, None, :]
        local = np.broadcast_to(begun, (*begun.shape[:1], _participants(problem, run), problem.dimension))
        for drawn in _steps(problem, run, generators, data):
            gradients = problem.mean_gradient(local, drawn.records)
            local = problem.project(local - run.step_size * with_noise(gradients, run.noise_std, drawn.normal))
            largest = np.maximum(largest, largest_norm(gradients, drawn, _reporting(problem, run)))
        server.receive(begun - local)
        if number in rounds:
            measured.append(problem.excess(server.average))
    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured, axis=1),
        diagnostics={"largest_gradient_norm": largest},
        scores=problem.scores(server.average),
        models=server.average,
    )


def _participants(problem: SimulatedProblem, run: LocalSgdRun) -> int:
    return run.participants or problem.clients


def _reporting(problem: SimulatedProblem, run: LocalSgdRun) -> Reporting:
    return reporting_for(
        problem,
        participants=run.participants,
        batch_size=run.batch_size,
        rounds=run.rounds * run.local_steps,
        sampling="without-replacement",
    )


def _steps(
    problem: SimulatedProblem, run: LocalSgdRun, generators: Sequence[np.random.Generator], data: Sequence[Indices]
) -> Iterator[RoundDraws]:
    """The local steps of one round: the same clients in all of them, and in each a batch drawn afresh."""
    n, m, k, d = problem.samples_per_client, _participants(problem, run), run.batch_size, problem.dimension
    drawn = []
    for generator, own in zip(generators, data, strict=True):
        clients = subsets(generator, (), problem.clients, m)
        places = own[clients[:, None], subsets(generator, (run.local_steps, m), n, k)]
        drawn.append((clients, places, generator.standard_normal((run.local_steps, m, d))))
    clients = np.stack([one[0] for one in drawn])
    for step in range(run.local_steps):
        places = np.stack([one[1][step] for one in drawn])
        normal = np.stack([one[2][step] for one in drawn])
        yield RoundDraws(clients, problem.records(clients[..., None], places), None, normal)


def rounds_of(problem: SimulatedProblem, run: LocalSgdRun) -> int:
    """R.

    Raises:
        InvalidInput: the run does not fit the problem.
    """
    _reporting(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: LocalSgdRun) -> Work:
    """Of one repetition: drawing batches and noise, reading records, and their gradients."""
    n, m, d = problem.samples_per_client, _participants(problem, run), problem.dimension
    entries = float(m) * run.batch_size * (d + 4.0)
    steps = float(run.rounds * run.local_steps)
    return Work(
        operations=problem.clients * n + steps * (entries + m * (2.0 * n + 10.0 * d)),
        calls=NUMPY_CALLS * steps,
        bytes=8.0 * (problem.clients * n + 2.0 * entries + run.local_steps * m * (2.0 * n + 2.0 * d)),
    )


def alternatives(run: LocalSgdRun) -> Mapping[str, LocalSgdRun]:
    """The same steps on the same batches without noise."""
    return {"non-private": replace(run, noise_std=0.0)}


ALGORITHM = SimulatedAlgorithm(
    name="local-sgd",
    title="Noisy local SGD",
    run=LocalSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
)
