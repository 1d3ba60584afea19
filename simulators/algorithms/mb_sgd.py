"""Noisy distributed mini-batch SGD: Algorithm 1 of Lowy and Razaviyayn.

The start is w_0 = 0. In each round M of N clients send the mean of K gradients plus N(0, σ²) per coordinate (line 7).
The server moves to Π(w − η · mean) (lines 9 and 10). After R rounds the output is a weighted average of w_1, …, w_R:
each weight is `averaging_ratio` times the previous one. The printed line 12 averages w_0, …, w_{R−1} instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    PARTICIPANTS,
    PARTICIPATION,
    SAMPLING,
    STEP_SIZE,
    BatchSize,
    Quantity,
    Rounds,
    Sampling,
    request,
)
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.random_participation import (
    CountDistribution,
    ReportingCount,
    largest_count,
    read_participation,
    weights,
)
from epsilond.simulators.algorithms.report_chunks import Reporting
from epsilond.simulators.algorithms.reports import (
    chunk_rounds,
    client_gradients,
    fresh_rounds,
    largest_norm,
    messages_of,
    records_read,
    reporting_for,
)
from epsilond.simulators.federations.compression import LEVELS, Compression
from epsilond.simulators.federations.groups import (
    GROUPS,
    NOISE,
    Groups,
    client_arrays_of,
    loss_scales,
    read_groups,
    without_noise,
)
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.training.steps.averaged_descent import AveragedDescent

STEP = replace(STEP_SIZE, gt=None, ge=1e-50, le=1e50)
RATIO = Quantity(
    ge=1,
    le=1e100,
    description="weight of a model in the average, divided by the weight of the model before it. Absent: 1/(1 "
    "− ημ) as in the risk bound, for step size η and strong convexity μ",
)
NUMPY_CALLS = 45
"""Calls of numpy in one round, approximate."""


@request
class MbSgdShape:
    """Fields that all runs of noisy mini-batch SGD (Algorithm 1 of Lowy and Razaviyayn) share.

    If `noise_std` is None, the noise is calibrated, and a missing `step_size` with it. A run with given noise must have
    a step size. If `participants` is None, all clients participate in every round.
    """

    rounds: Rounds
    batch_size: BatchSize
    participants: Annotated[int | None, PARTICIPANTS] = None
    step_size: Annotated[float | None, STEP] = None
    averaging_ratio: Annotated[float | None, RATIO] = None
    noise_std: Annotated[float | None, NOISE] = None

    def check(self) -> None:
        """Require a step size if `noise_std` is given, because only a calibration chooses one."""
        if self.noise_std is not None and self.step_size is None:
            raise InvalidInput.at("/step_size", "is needed with noise_std", allowed=STEP.allowed)

    @property
    def batches(self) -> Sampling:
        """Sampling of a client's batches."""
        return "without-replacement"

    @property
    def count_distribution(self) -> CountDistribution | None:
        """Distribution of the number of participants; None if the number is fixed."""
        return None

    @property
    def groups(self) -> Groups | None:
        """Groups of clients; None if all clients are equal."""
        return None

    @property
    def levels(self) -> int | None:
        """Quantisation levels of a message after its noise; None if messages are not rounded."""
        return None

    @property
    def most_participants(self) -> int | None:
        """Largest number of participants in a round; None if all clients participate."""
        return self.participants if self.count_distribution is None else largest_count(self.count_distribution)


@request
class MbSgdRun(MbSgdShape):
    """A run of Algorithm 1 of Lowy and Razaviyayn in which clients draw fresh batches in every round.

    `sampling` says how a client draws a batch. `participation` is a distribution of the number of participants.
    `client_groups` describes clients that differ. `quantization_levels` rounds messages. The last three may be absent.
    """

    algorithm: Annotated[Literal["mb-sgd"], Quantity(description="name of the algorithm")] = "mb-sgd"
    sampling: Annotated[Sampling, SAMPLING] = "without-replacement"
    participation: Annotated[tuple[ReportingCount, ...] | None, PARTICIPATION] = None
    client_groups: Annotated[Groups | None, GROUPS] = None
    quantization_levels: Annotated[int | None, LEVELS] = None

    def check(self) -> None:
        """Check the step size, the number of participants and the client groups."""
        super().check()
        read_participation(self)
        read_groups(self)

    @property
    def batches(self) -> Sampling:
        """Sampling of a client's batches, as requested."""
        return self.sampling

    @property
    def count_distribution(self) -> CountDistribution | None:
        """Requested distribution of the number of participants; None if the number is fixed."""
        return self.participation

    @property
    def groups(self) -> Groups | None:
        """Requested groups of clients; None if all clients are equal."""
        return self.client_groups

    @property
    def levels(self) -> int | None:
        """Requested quantisation levels; None if messages are not rounded."""
        return self.quantization_levels


def reporting_of(problem: SimulatedProblem, run: MbSgdShape) -> Reporting:
    """Return the participation and the batches of a run on a problem, after a check that they fit.

    Args:
        problem: learning problem.
        run: parameters of the run.

    Returns:
        The (largest) number of participants, the records in a batch, the kind of sampling, and the clients' groups.

    Raises:
        InvalidInput: there are more participants than clients, or a batch exceeds the client's records.
    """
    return reporting_for(
        problem,
        participants=run.most_participants,
        batch_size=run.batch_size,
        rounds=run.rounds,
        sampling=run.batches,
        client_arrays=None if run.groups is None else client_arrays_of(problem, run, run.batches),
    )


def fading(problem: SimulatedProblem, run: MbSgdShape) -> float:
    """Return the weight of an iterate in the averaged output, divided by the weight of the next iterate.

    It is 1/`averaging_ratio`. By default it is max(1 − ημ, 0), for the step size η and the strong convexity μ of the
    objective. If clients have weights, μ is the strong convexity of the loss with the smallest weight.

    Args:
        problem: learning problem.
        run: parameters of the run.

    Returns:
        The quotient, in [0, 1]. With 1 all iterates have equal weight; with 0 only the last one has weight.
    """
    if run.averaging_ratio is not None:
        return 1.0 / run.averaging_ratio
    least_scale = 1.0 if run.groups is None else min(loss_scales(run.groups))
    strong_convexity = least_scale * problem.constants.strong_convexity
    return max(0.0, 1.0 - (run.step_size or 0.0) * strong_convexity)


def simulate(
    problem: SimulatedProblem, run: MbSgdShape, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run noisy mini-batch SGD once per generator, and measure the excess risk of the averaged iterates.

    In every round of this Algorithm 1 of Lowy and Razaviyayn, participants send the noisy mean gradient of a batch, and
    the server takes a projected step.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risks after the given rounds, with two diagnostics of each repetition. `largest_gradient_norm` is the
        largest norm of a client's mean gradient over a batch. `projected_share` is the share of rounds with a step that
        left the domain.

    Raises:
        InvalidInput: the noise or the step size is missing, or the run does not fit the problem.
    """
    if run.noise_std is None or run.step_size is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    reporting = reporting_of(problem, run)
    start = np.zeros((len(generators), problem.dimension))
    server = AveragedDescent(start, step_size=run.step_size, fading=fading(problem, run), project=problem.project)
    largest = np.zeros(len(generators))
    projected_rounds = np.zeros(len(generators))
    excess = ExcessCurve(problem, rounds)

    compression = None if run.levels is None else Compression(run.levels, generators)
    message_weights = None
    if run.count_distribution is not None:
        message_weights = weights(run.count_distribution, generators, run.rounds)
    for number, draws in enumerate(fresh_rounds(problem, reporting, generators), start=1):
        gradients = client_gradients(problem, server.model, draws, reporting)
        messages = messages_of(gradients, draws, reporting, run.noise_std)
        if compression is not None:
            messages = compression.round_messages(messages)
        if message_weights is not None:
            messages = next(message_weights)[..., None] * messages
        server.receive(messages)

        # Projection changes the model if and only if the step left the domain.
        left_domain = np.any(server.moved != server.model, axis=1)
        projected_rounds += left_domain
        largest = np.maximum(largest, largest_norm(gradients, draws, reporting))
        excess.measure(number, server.average)
    diagnostics = {"largest_gradient_norm": largest, "projected_share": projected_rounds / run.rounds}
    return excess.curves(server.average, diagnostics)


def rounds_of(problem: SimulatedProblem, run: MbSgdShape) -> int:
    """Return the number of rounds of a run, after a check that the run fits the problem.

    Args:
        problem: learning problem, with its clients and their records.
        run: parameters of the run.

    Raises:
        InvalidInput: the participants, batches or client groups are not possible with the problem's clients and
            records.
    """
    reporting_of(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: MbSgdShape) -> Work:
    """Estimate the work of one repetition of a run.

    The factors are rough estimates. `operations` counts array entries, and `calls` counts numpy calls.

    Args:
        problem: learning problem.
        run: parameters of the run. Messages are rounded if it has `levels`.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    work = work_of_reports(problem, reporting_of(problem, run))
    if run.levels is None:
        return work
    # Rounding takes about 8 array entries for each coordinate of a message, and 15 numpy calls for each round.
    participants = float(run.most_participants or problem.clients)
    coordinates = participants * problem.dimension
    rounding_operations = 8.0 * run.rounds * coordinates
    rounding_calls = 15.0 * run.rounds
    return replace(work, operations=work.operations + rounding_operations, calls=work.calls + rounding_calls)


def work_of_reports(problem: SimulatedProblem, reporting: Reporting) -> Work:
    """Estimate the work of one repetition of noisy mini-batch SGD: random numbers, reading records, and gradients.

    The factors are rough estimates. `operations` counts array entries, and `calls` counts numpy calls.

    Args:
        problem: learning problem.
        reporting: participation and batches of the run.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    records, participants, dimension = reporting.samples_per_client, reporting.participants, problem.dimension
    all_records = problem.clients * records
    batch_records = records_read(reporting)
    # Random numbers for one batch: one for each record read, or one for each of the client's records.
    needs_few_numbers = reporting.sampling in ("full", "with-replacement")
    random_numbers = batch_records if needs_few_numbers else records

    # Gradients of single records cost 1.5 times as much as their mean, and are stored.
    gradient_factor, copies = 1.0, 1.0
    if reporting.needs_record_gradients:
        gradient_factor, copies = 1.5, 3.0

    # Array entries of the batches of one round: the features and about four further values of each record.
    batch_entries = float(participants) * batch_records * (dimension + 4.0)
    # Array entries for draws and noise: about two per random number, and six vectors of the size of a model.
    draw_operations = participants * (2.0 * random_numbers + 6.0 * dimension)
    doubles_per_round = participants * (2.0 * random_numbers + batch_records + 2.0 * dimension)
    doubles = all_records + (copies + 1.0) * batch_entries + chunk_rounds(problem, reporting) * doubles_per_round
    return Work(
        operations=all_records + reporting.rounds * (gradient_factor * batch_entries + draw_operations),
        calls=float(NUMPY_CALLS) * reporting.rounds,
        bytes=8.0 * doubles,
    )


def alternatives(run: MbSgdRun) -> Mapping[str, MbSgdRun]:
    """Return the run without noise, on the same batches, by the name `non-private`."""
    return {"non-private": without_noise(run)}


ALGORITHM = SimulatedAlgorithm(
    name="mb-sgd",
    title="Noisy mini-batch SGD",
    run=MbSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
)
