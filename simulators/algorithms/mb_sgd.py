"""Noisy distributed mini-batch SGD, Algorithm 1 of Lowy and Razaviyayn.

From w_0 = 0, in each round M of N clients send the mean of K gradients plus N(0, σ²) per coordinate, and the server
steps to Π(w − η · mean). After R rounds w_1, …, w_R are averaged, each with `averaging_ratio` times the weight of the
one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
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
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.random_participation import Law, ReportingCount, most, read_law, weights
from epsilond.simulators.algorithms.reports import (
    Reporting,
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
    loss_scales,
    read_groups,
    unlike_of,
    without_noise,
)
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.averaged_descent import AveragedDescent

STEP = replace(STEP_SIZE, gt=None, ge=1e-50, le=1e50)
RATIO = Quantity(
    ge=1,
    le=1e100,
    description="weight of an iterate over that of the one before; absent: 1/(1 − ημ), which the bound asks for",
)
NUMPY_CALLS = 45
"""Calls of numpy in one round, about."""


@request
class MbSgdShape:
    """What runs of Algorithm 1 have in common.

    Absent `noise_std` is calibrated, and an absent `step_size` with it; where the noise is given so must the step be.
    `participants` M absent: all clients.
    """

    rounds: Rounds
    batch_size: BatchSize
    participants: Annotated[int | None, PARTICIPANTS] = None
    step_size: Annotated[float | None, STEP] = None
    averaging_ratio: Annotated[float | None, RATIO] = None
    noise_std: Annotated[float | None, NOISE] = None

    def check(self) -> None:
        """A step where there is noise."""
        if self.noise_std is not None and self.step_size is None:
            raise InvalidInput.at("/step_size", "is needed beside noise_std", allowed=STEP.allowed)

    @property
    def batches(self) -> Sampling:
        """How batches are drawn."""
        return "without-replacement"

    @property
    def law(self) -> Law | None:
        """Of the number of participants, where it is random."""
        return None

    @property
    def groups(self) -> Groups | None:
        """Of clients that differ, where they do."""
        return None

    @property
    def levels(self) -> int | None:
        """To which messages are rounded after their noise, where they are."""
        return None

    @property
    def most_participants(self) -> int | None:
        """Those of a round, at most; None: all clients."""
        return self.participants if self.law is None else most(self.law)


@request
class MbSgdRun(MbSgdShape):
    """Algorithm 1, and how it draws batches."""

    algorithm: Annotated[Literal["mb-sgd"], Quantity(description="noisy mini-batch SGD")] = "mb-sgd"
    sampling: Annotated[Sampling, SAMPLING] = "without-replacement"
    participation: Annotated[tuple[ReportingCount, ...] | None, PARTICIPATION] = None
    client_groups: Annotated[Groups | None, GROUPS] = None
    quantization_levels: Annotated[int | None, LEVELS] = None

    def check(self) -> None:
        """And at most one of a fixed number of participants and a law of it."""
        super().check()
        read_law(self)
        read_groups(self)

    @property
    def batches(self) -> Sampling:
        """As asked."""
        return self.sampling

    @property
    def law(self) -> Law | None:
        """As asked."""
        return self.participation

    @property
    def groups(self) -> Groups | None:
        """As asked."""
        return self.client_groups

    @property
    def levels(self) -> int | None:
        """As asked."""
        return self.quantization_levels


def reporting_of(problem: SimulatedProblem, run: MbSgdShape) -> Reporting:
    """Who reports and what, on this problem.

    Raises:
        InvalidInput: more participants than clients, or a batch that the client's records do not fill.
    """
    return reporting_for(
        problem,
        participants=run.most_participants,
        batch_size=run.batch_size,
        rounds=run.rounds,
        sampling=run.batches,
        unlike=None if run.groups is None else unlike_of(problem, run, run.batches),
    )


def fading(problem: SimulatedProblem, run: MbSgdShape) -> float:
    """What the weight of a past iterate is multiplied by in each round: 1/`averaging_ratio`, by default 1 − ημ.

    μ is that of the least of the weighted losses.
    """
    if run.averaging_ratio is not None:
        return 1.0 / run.averaging_ratio
    least = 1.0 if run.groups is None else min(loss_scales(run.groups))
    return max(0.0, 1.0 - (run.step_size or 0.0) * least * problem.constants.strong_convexity)


def simulate(
    problem: SimulatedProblem, run: MbSgdShape, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """One repetition for each generator, side by side.

    Diagnostics: `largest_gradient_norm`, the largest norm of the mean gradient of a client's batch; `projected_share`
    of rounds in which the step left the domain.

    Raises:
        InvalidInput: noise is not decided, or the run does not fit the problem.
    """
    if run.noise_std is None or run.step_size is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    reporting, kept = reporting_of(problem, run), fading(problem, run)
    start = np.zeros((len(generators), problem.dimension))
    server = AveragedDescent(start, step_size=run.step_size, fading=kept, project=problem.project)
    largest, projected = np.zeros(len(generators)), np.zeros(len(generators))
    measured: list[Floats] = []
    compression = None if run.levels is None else Compression(run.levels, generators)
    reported = repeat(None) if run.law is None else weights(run.law, generators, run.rounds)
    for (number, drawn), shares in zip(
        enumerate(fresh_rounds(problem, reporting, generators), start=1), reported, strict=False
    ):
        gradients = client_gradients(problem, server.model, drawn, reporting)
        messages = messages_of(gradients, drawn, reporting, run.noise_std)
        if compression is not None:
            messages = compression.sent(messages)
        server.receive(messages if shares is None else shares[..., None] * messages)
        largest = np.maximum(largest, largest_norm(gradients, drawn, reporting))
        projected += np.any(server.moved != server.model, axis=1)
        if number in rounds:
            measured.append(problem.excess(server.average))
    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured, axis=1),
        diagnostics={"largest_gradient_norm": largest, "projected_share": projected / run.rounds},
        scores=problem.scores(server.average),
        models=server.average,
    )


def rounds_of(problem: SimulatedProblem, run: MbSgdShape) -> int:
    """R.

    Raises:
        InvalidInput: the run does not fit the problem.
    """
    reporting_of(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: MbSgdShape) -> Work:
    """Of one repetition."""
    work = work_of_reports(problem, reporting_of(problem, run))
    if run.levels is None:
        return work
    sent = float(run.most_participants or problem.clients) * problem.dimension
    return replace(work, operations=work.operations + 8.0 * run.rounds * sent, calls=work.calls + 15.0 * run.rounds)


def work_of_reports(problem: SimulatedProblem, reporting: Reporting) -> Work:
    """Of one repetition: drawing batches and noise, reading records, and their gradients."""
    n, m, d = reporting.samples_per_client, reporting.participants, problem.dimension
    read = records_read(reporting)
    keys = read if reporting.sampling in ("full", "with-replacement") else n
    entries = float(m) * read * (d + 4.0)
    copies = 3.0 if reporting.singly else 1.0
    # Gradients of single records, half as much again as their mean.
    slower = 1.5 if reporting.singly else 1.0
    chunk = chunk_rounds(problem, reporting)
    return Work(
        operations=problem.clients * n + reporting.rounds * (slower * entries + m * (2.0 * keys + 6.0 * d)),
        calls=float(NUMPY_CALLS) * reporting.rounds,
        bytes=8.0 * (problem.clients * n + (copies + 1.0) * entries + m * chunk * (2.0 * keys + read + 2.0 * d)),
    )


def alternatives(run: MbSgdRun) -> Mapping[str, MbSgdRun]:
    """The same steps on the same batches without noise."""
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
