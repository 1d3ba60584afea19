"""Local SGD with noise on every local step, a baseline in the experiments of Lowy and Razaviyayn.

From w_0 = 0, in each round M of N clients start at the server's model and take E steps w ← Π(w − η(g + N(0, σ²))). Here
g is the mean of K gradients of records drawn afresh in every step, uniformly without replacement. Each client sends its
final model. The server moves to the mean of these models, and the output is the mean of its models after each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import PARTICIPANTS, BatchSize, Quantity, Rounds, request
from epsilond.accountants.quantities.algorithms import LocalSteps
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.algorithms.mb_sgd import STEP
from epsilond.simulators.algorithms.report_chunks import Reporting
from epsilond.simulators.algorithms.reports import RoundDraws, largest_norm, reporting_for
from epsilond.simulators.federations.groups import NOISE
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem
from epsilond.training.steps.averaged_descent import AveragedDescent
from epsilond.training.steps.messages import with_noise

NUMPY_CALLS = 30
"""Calls of numpy in one local step of all clients, approximate."""


@request
class LocalSgdRun:
    """A run of noisy local SGD: participants take several noisy steps before the server averages their models.

    In each of `rounds` rounds a participant takes `local_steps` steps, with `batch_size` fresh records in each. If
    `participants` is absent, all clients participate. If `noise_std` is absent, the noise is calibrated.
    """

    algorithm: Annotated[Literal["local-sgd"], Quantity(description="name of the algorithm")] = "local-sgd"
    rounds: Rounds
    local_steps: LocalSteps
    batch_size: BatchSize
    participants: Annotated[int | None, PARTICIPANTS] = None
    step_size: Annotated[float, replace(STEP, description="step size of a client's gradient step")] = 1.0
    noise_std: Annotated[
        float | None,
        replace(NOISE, description="standard deviation per coordinate of the noise in each gradient step of a client"),
    ] = None


def simulate(
    problem: SimulatedProblem, run: LocalSgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run noisy local SGD once per generator, and measure the excess risk of the server's averaged model.

    In every round, each participant starts at the server's model and takes several noisy gradient steps. The server
    moves to the mean of their models.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risks after the given rounds. The diagnostic `largest_gradient_norm` of a repetition is the largest
        norm of the mean gradient of a client's batch.

    Raises:
        InvalidInput: the noise is missing, or the run does not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    rounds_of(problem, run)  # checks the run against the problem

    # A step of size 1 along the mean of start − local moves the server to the mean of the clients' models.
    zeros = np.zeros((len(generators), problem.dimension))
    server = AveragedDescent(zeros, step_size=1.0, fading=1.0, project=problem.project)
    largest = np.zeros(len(generators))
    excess = ExcessCurve(problem, rounds)
    data = [problem.draw(generator) for generator in generators]
    participants = _participants(problem, run)
    for number in range(1, run.rounds + 1):
        start = server.model[:, None, :]
        local = np.broadcast_to(start, (len(generators), participants, problem.dimension))
        for draws in _steps(problem, run, generators, data):
            gradients = problem.mean_gradient(local, draws.records)
            noisy_gradients = with_noise(gradients, run.noise_std, draws.normal)
            local = problem.project(local - run.step_size * noisy_gradients)
            largest = np.maximum(largest, largest_norm(gradients, draws, _reporting(problem, run)))
        server.receive(start - local)
        excess.measure(number, server.average)
    return excess.curves(server.average, {"largest_gradient_norm": largest})


def _participants(problem: SimulatedProblem, run: LocalSgdRun) -> int:
    """Return the number of participants in a round, by default all clients."""
    return run.participants or problem.clients


def _reporting(problem: SimulatedProblem, run: LocalSgdRun) -> Reporting:
    """Return the participation and the batches of a run, where every local step counts as a round.

    Args:
        problem: learning problem.
        run: parameters of the run.

    Raises:
        InvalidInput: there are more participants than clients, or a batch exceeds a client's records.
    """
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
    """Yield the random variables of each local step of one round, for all repetitions together.

    The participants are the same in every step. Each step has fresh batches and noise.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        data: for each repetition, indices of the clients' records in their populations, (N, n), for N clients and n
            records of a client.

    Yields:
        The participants, their records, and standard normal variables for the noise of one local step.
    """
    draws = [_draw_round(problem, run, generator, rows) for generator, rows in zip(generators, data, strict=True)]
    participants = np.stack([draw.participants for draw in draws])
    for step in range(run.local_steps):
        batch = np.stack([draw.batches[step] for draw in draws])
        normal = np.stack([draw.normal[step] for draw in draws])
        records = problem.records(participants[..., None], batch)
        yield RoundDraws(participants, records, None, normal)


class _LocalDraws(NamedTuple):
    """Random variables of one round of one repetition, with m participants and E local steps.

    Attributes:
        participants: indices of the participants, (m,).
        batches: indices of the records of each batch in the participant's population, (E, m, batch size).
        normal: standard normal variables for the noise, (E, m, d), for d coordinates.
    """

    participants: Indices
    batches: Indices
    normal: Floats


def _draw_round(
    problem: SimulatedProblem, run: LocalSgdRun, generator: np.random.Generator, data: Indices
) -> _LocalDraws:
    """Draw the participants of a round, and the batches and the noise of their local steps.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generator: generator of the repetition.
        data: indices of the clients' records in their populations, (N, n), for N clients and n records of a client.
    """
    count = _participants(problem, run)
    participants = subsets(generator, (), problem.clients, count)
    positions = subsets(generator, (run.local_steps, count), problem.samples_per_client, run.batch_size)
    batches = data[participants[:, None], positions]
    normal = generator.standard_normal((run.local_steps, count, problem.dimension))
    return _LocalDraws(participants, batches, normal)


def rounds_of(problem: SimulatedProblem, run: LocalSgdRun) -> int:
    """Return the number of rounds of a run, after a check that the run fits the problem.

    Args:
        problem: learning problem, with its clients and their records.
        run: parameters of the run.

    Raises:
        InvalidInput: there are more participants than clients, or a batch exceeds a client's records.
    """
    _reporting(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: LocalSgdRun) -> Work:
    """Estimate the work of one repetition of noisy local SGD: random numbers, reading records, and gradients.

    The factors are rough estimates. `operations` counts array entries, and `calls` counts numpy calls.

    Args:
        problem: learning problem.
        run: parameters of the run; its noise may be unknown.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    records = problem.samples_per_client
    participants = _participants(problem, run)
    dimension = problem.dimension
    # Array entries for the batches of one step: the features and about four further values of each record.
    batch_entries = float(participants) * run.batch_size * (dimension + 4.0)
    # Array entries that one local step reads or writes: the batch, about two numbers per record to draw it, and about
    # ten vectors of the size of a model.
    steps = float(run.rounds * run.local_steps)
    step_operations = batch_entries + participants * (2.0 * records + 10.0 * dimension)
    # About two numbers per record and two per coordinate of a model, for all local steps of a round.
    random_numbers = run.local_steps * participants * (2.0 * records + 2.0 * dimension)
    all_records = problem.clients * records
    doubles = all_records + 2.0 * batch_entries + random_numbers  # about two copies of the batch
    return Work(
        operations=all_records + steps * step_operations,
        calls=NUMPY_CALLS * steps,
        bytes=8.0 * doubles,
    )


def alternatives(run: LocalSgdRun) -> Mapping[str, LocalSgdRun]:
    """Return the run without noise, on the same batches, by the name `non-private`."""
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
