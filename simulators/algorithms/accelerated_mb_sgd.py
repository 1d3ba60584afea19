"""Accelerated noisy mini-batch SGD that reuses records: Algorithm 2 of Lowy and Razaviyayn.

Clients report as in `mb_sgd`, but at the point w^md of Algorithm 2 (line 4; see `training.steps.acceleration`). The
output after r rounds is w^ag (line 13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    PARTICIPANTS,
    PARTICIPATION,
    SAMPLING,
    STRONG_CONVEXITY,
    BatchSize,
    Quantity,
    Rounds,
    Sampling,
    request,
)
from epsilond.simulators.algorithms.acceleration import STAGES, StageRequest, check_stages
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.mb_sgd import work_of_reports
from epsilond.simulators.algorithms.random_participation import (
    ReportingCount,
    largest_count,
    read_participation,
    weights,
)
from epsilond.simulators.algorithms.report_chunks import Reporting
from epsilond.simulators.algorithms.reports import (
    RoundDraws,
    client_gradients,
    fresh_rounds,
    largest_norm,
    messages_of,
    reporting_for,
)
from epsilond.simulators.federations.groups import GROUPS, NOISE, Groups, client_arrays_of, read_groups, without_noise
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.training.steps.acceleration import Sequences, steps

CONVEXITY = replace(
    STRONG_CONVEXITY,
    description="strong convexity constant in the step sizes of Algorithm 2 of Lowy and Razaviyayn. Absent: "
    "that of the learning problem",
    le=1e100,
)
Rounder = Callable[[SimulatedProblem, Reporting, Sequence[np.random.Generator]], Iterator[RoundDraws]]


@request
class AcceleratedShape:
    """Fields that all runs of accelerated noisy SGD (Algorithm 2 of Lowy and Razaviyayn) share.

    If `noise_std` is None, the noise and the stages are calibrated. A run with given noise must have stages. A stage is
    a number of consecutive rounds with one prox weight. If `participants` and `participation` are None, all clients
    participate in every round. `participation` is a distribution of the number of participants.
    """

    rounds: Rounds
    batch_size: BatchSize
    participants: Annotated[int | None, PARTICIPANTS] = None
    stages: Annotated[tuple[StageRequest, ...] | None, STAGES] = None
    strong_convexity: Annotated[float | None, CONVEXITY] = None
    noise_std: Annotated[float | None, NOISE] = None
    participation: Annotated[tuple[ReportingCount, ...] | None, PARTICIPATION] = None
    client_groups: Annotated[Groups | None, GROUPS] = None

    def check(self) -> None:
        """Check the stages, the number of participants and the client groups.

        A stage is a number of consecutive rounds with one prox weight, a factor of the step sizes. Stages and groups
        may be mappings, as read from JSON; they are converted to their classes.

        Raises:
            InvalidInput: the rounds of the stages do not add up, noise is given without stages, participants are given
                twice, or the groups are invalid.
        """
        stages: Sequence[StageRequest | Mapping[str, Any]] | None = self.stages
        if stages is not None:
            requests = (StageRequest(**stage) if isinstance(stage, Mapping) else stage for stage in stages)
            object.__setattr__(self, "stages", tuple(requests))
        check_stages(self.stages, self.rounds)
        if self.noise_std is not None and self.stages is None:
            raise InvalidInput.at("/stages", "are needed with noise_std")
        read_participation(self)
        read_groups(self)

    @property
    def batches(self) -> Sampling:
        """Kind of sampling by which a client draws its batches: always without replacement here."""
        return "without-replacement"

    @property
    def most_participants(self) -> int | None:
        """Largest number of participants in a round; None if all clients participate."""
        return self.participants if self.participation is None else largest_count(self.participation)


@request
class AcceleratedMbSgdRun(AcceleratedShape):
    """A run of Algorithm 2 of Lowy and Razaviyayn in which clients draw fresh batches in every round.

    `sampling` says how a client draws the `batch_size` records of a batch.
    """

    algorithm: Annotated[Literal["accelerated-mb-sgd"], Quantity(description="name of the algorithm")] = (
        "accelerated-mb-sgd"
    )
    sampling: Annotated[Sampling, SAMPLING] = "without-replacement"

    @property
    def batches(self) -> Sampling:
        """Kind of sampling by which a client draws its batches, as requested."""
        return self.sampling


def reporting_of(problem: SimulatedProblem, run: AcceleratedShape) -> Reporting:
    """Return the participants and batches of a run on a problem, after checking that they fit.

    Args:
        problem: learning problem.
        run: parameters of the run.

    Returns:
        The numbers of participants and of records per batch, with the kind of sampling.

    Raises:
        InvalidInput: there are more participants than clients, a batch exceeds the client's records, or the steps
            assume more strong convexity than the problem has.
    """
    limit = problem.constants.strong_convexity
    if (run.strong_convexity or 0.0) > limit:
        raise InvalidInput.at("/strong_convexity", "exceeds the problem's", allowed=f"≤ {limit:g}")
    return reporting_for(
        problem,
        participants=run.most_participants,
        batch_size=run.batch_size,
        rounds=run.rounds,
        sampling=run.batches,
        client_arrays=None if run.client_groups is None else client_arrays_of(problem, run, run.batches),
    )


def convexity_of(problem: SimulatedProblem, run: AcceleratedShape) -> float:
    """Return the constant μ of strong convexity that the step sizes assume.

    Args:
        problem: learning problem, with the strong convexity of its objective.
        run: parameters of the run.

    Returns:
        The constant of the run or, if it states none, that of the problem's objective; at least 0.
    """
    if run.strong_convexity is not None:
        return run.strong_convexity
    return problem.constants.strong_convexity


def descend(
    problem: SimulatedProblem,
    run: AcceleratedShape,
    generators: Sequence[np.random.Generator],
    rounds: tuple[int, ...],
    *,
    reports: Rounder,
) -> Curves:
    """Simulate accelerated noisy SGD (Algorithm 2 of Lowy and Razaviyayn), once per generator.

    The algorithm keeps two sequences of models: the iterate w and its weighted average w^ag, which is the output. If
    the number of participants is random, weights of the messages make their mean that of the clients that report.

    Args:
        problem: learning problem.
        run: parameters of the algorithm. Its stages are consecutive rounds with one prox weight each.
        generators: one per repetition.
        rounds: rounds after which the excess risk of w^ag is measured.
        reports: source of the participants, batches and noise of every round.

    Returns:
        The measured curves. The diagnostic `largest_gradient_norm` is the largest norm of the mean gradient of a
        client's batch.

    Raises:
        InvalidInput: the noise or the stages are missing, or the run does not fit the problem.
    """
    if run.noise_std is None or run.stages is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    reporting = reporting_of(problem, run)
    start = np.zeros((len(generators), problem.dimension))
    state = Sequences(start, convexity_of(problem, run), problem.project)
    largest = np.zeros(len(generators))
    excess = ExcessCurve(problem, rounds)
    message_weights = None if run.participation is None else weights(run.participation, generators, run.rounds)
    numbered_draws = zip(steps(run.stages), reports(problem, reporting, generators), strict=True)
    for number, (step, draws) in enumerate(numbered_draws, start=1):
        middle = state.middle(step)
        # Clients evaluate gradients at the middle point between w and w^ag.
        gradients = client_gradients(problem, middle, draws, reporting)
        messages = messages_of(gradients, draws, reporting, run.noise_std)
        if message_weights is not None:
            messages = next(message_weights)[..., None] * messages
        state.move(step, middle, np.mean(messages, axis=1))
        # The largest gradient norm shows whether the gradients keep the Lipschitz constant.
        largest = np.maximum(largest, largest_norm(gradients, draws, reporting))
        excess.measure(number, state.output)
    return excess.curves(state.output, {"largest_gradient_norm": largest})


def simulate(
    problem: SimulatedProblem,
    run: AcceleratedMbSgdRun,
    generators: Sequence[np.random.Generator],
    rounds: tuple[int, ...],
) -> Curves:
    """Run Algorithm 2 of Lowy and Razaviyayn with fresh batches in every round.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risk after the measured rounds, with the diagnostics that `descend` lists.
    """
    return descend(problem, run, generators, rounds, reports=fresh_rounds)


def rounds_of(problem: SimulatedProblem, run: AcceleratedShape) -> int:
    """Return the number of rounds R of a run, and check that the run fits the problem.

    Args:
        problem: learning problem, with its clients and their records.
        run: parameters of the run, with the number of rounds.

    Returns:
        The number of rounds R, in which participants send a mean gradient to the server.

    Raises:
        InvalidInput: the participants, batches or strong convexity of the run exceed those of the problem.
    """
    reporting_of(problem, run)
    return run.rounds


def work_of(problem: SimulatedProblem, run: AcceleratedShape) -> Work:
    """Estimate the computing work of one repetition of a run of accelerated noisy SGD.

    The estimate is the work of noisy mini-batch SGD with the same participants, batches and rounds.

    Args:
        problem: learning problem.
        run: parameters of the run; its noise may be unknown.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    return work_of_reports(problem, reporting_of(problem, run))


def alternatives(run: AcceleratedMbSgdRun) -> Mapping[str, AcceleratedMbSgdRun]:
    """Return the run without noise, on the same batches and with the same stages, by the name `non-private`."""
    return {"non-private": without_noise(run)}


ALGORITHM = SimulatedAlgorithm(
    name="accelerated-mb-sgd",
    title="Accelerated noisy mini-batch SGD",
    run=AcceleratedMbSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
)
