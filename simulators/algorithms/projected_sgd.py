"""Projected noisy gradient descent that releases one model: Algorithm 1 of Asoodeh et al. 2021.

W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})) (lines 5 and 7), W_0 the centre of the ball,
as in the spec `projected_sgd`. Each client holds one record. The mean of the m clients' independent noise vectors is
drawn directly, with standard deviation σ_t/√m per coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import NOISE_STD, ROUNDS, Participants, Quantity, request
from epsilond.accountants.quantities.algorithms import (
    BATCHES,
    NOISE_SCHEDULE,
    RELEASE,
    STEP_SCHEDULE,
    SUFFIX_FRACTION,
    Batches,
    Release,
)
from epsilond.accountants.specs.projected_sgd import Schedule, first_step_of_suffix
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem
from epsilond.training.steps.messages import with_noise
from epsilond.training.steps.one_release import projected_step, stopping_step, whole_batches

ALGORITHM_NAME = Quantity(description="name of the algorithm")
LEAST_NOISE_STD = replace(
    NOISE_STD,
    gt=None,
    ge=0,
    description="standard deviation per coordinate of the noise that one client adds, in the step where it is smallest",
)
NOISE_SHAPE = replace(
    NOISE_SCHEDULE,
    description="shape of the noise over the steps. It is scaled so that its smallest value is noise_std. "
    "Absent: the noise is constant",
)


@request
class ProjectedSgdRun:
    """A run of projected noisy gradient descent that releases one model (Algorithm 1 of Asoodeh et al.).

    If `noise_std` is absent, the noise is calibrated; 0 means no noise. `noise_schedule` varies it over the steps. If
    `rounds` is absent, the run is one pass over the n clients: ⌊n/m⌋ steps of m = `participants` clients. `batches`
    says how the clients of a step are chosen. `release` says which model is released.
    """

    algorithm: Annotated[Literal["projected-sgd"], ALGORITHM_NAME] = "projected-sgd"
    participants: Participants
    rounds: Annotated[int | None, ROUNDS] = None
    batches: Annotated[Batches, BATCHES] = "shuffled"
    step_schedule: Annotated[Schedule, STEP_SCHEDULE]
    noise_std: Annotated[float | None, LEAST_NOISE_STD] = None
    noise_schedule: Annotated[Schedule | None, NOISE_SHAPE] = None
    release: Annotated[Release, RELEASE] = "last"
    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None

    def check(self) -> None:
        """Check that `suffix_fraction` is given if a random one of the last models is released, and only then.

        Raises:
            InvalidInput: the fraction is missing, or is given for another release.
        """
        if (self.release == "suffix") != (self.suffix_fraction is not None):
            raise InvalidInput.at("/suffix_fraction", "belongs to the release suffix, and is needed there")

    def first_stop(self, steps: int) -> int:
        """Return the first step after which the model may be released.

        Args:
            steps: number of steps of the run.

        Returns:
            The last step if the last model is released. Otherwise the first step of the suffix, the last steps from
            which a random one is released.
        """
        if self.release == "last":
            return steps
        return first_step_of_suffix(self.suffix_fraction, steps)

    def noise_stds(self, steps: int) -> Floats:
        """Return the standard deviation of one client's noise in every step.

        Args:
            steps: number of steps of the run.

        Returns:
            The noise schedule, scaled so that its least value is `noise_std`, (steps,). Without a schedule all values
            are `noise_std`.

        Raises:
            InvalidInput: the noise is missing.
        """
        if self.noise_std is None:
            raise InvalidInput.at("/noise_std", "is needed: give it, or a target to calibrate it to")
        if self.noise_schedule is None:
            return np.full(steps, self.noise_std)
        shape = self.noise_schedule.at(1, steps)
        return np.asarray(self.noise_std * (shape / shape.min()))


def steps_of(problem: SimulatedProblem, run: ProjectedSgdRun) -> int:
    """Return the number of steps: `rounds`, or one pass over the clients if `rounds` is None.

    Args:
        problem: learning problem in which each client holds one record.
        run: parameters of the run; its noise may be unknown.

    Returns:
        The number of steps, at least 1.

    Raises:
        InvalidInput: clients hold more than one record, there are more participants than clients, or a schedule does
            not have one entry per step.
    """
    if problem.samples_per_client != 1:
        message = "each client of projected-sgd holds one record"
        raise InvalidInput.at("/participants", message, allowed="a problem with samples_per_client = 1")
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    steps = run.rounds or problem.clients // run.participants
    for name, schedule in (("step_schedule", run.step_schedule), ("noise_schedule", run.noise_schedule)):
        listed = getattr(schedule, "values", None)  # other schedules have a value for any number of steps
        if listed is not None and len(listed) != steps:
            message = "must have one entry for each step"
            raise InvalidInput.at(f"/{name}/values", message, allowed=f"{steps} entries")
    return steps


@dataclass(frozen=True)
class BatchOrder:
    """The order in which batches of m of n clients take part in the steps of projected SGD.

    Attributes:
        run: parameters of the run, with the way in which batches are chosen.
        partition: batches of clients, which are used cyclically, (repetitions, ⌊n/m⌋, m). The first axis has length 1
            if all repetitions have the same batches. None if each step draws its own batch.
        clients: number n of clients.
    """

    run: ProjectedSgdRun
    partition: Indices | None
    clients: int

    @classmethod
    def of(
        cls, problem: SimulatedProblem, run: ProjectedSgdRun, generators: Sequence[np.random.Generator]
    ) -> BatchOrder:
        """Partition the clients into batches, unless each step draws its own batch.

        Shuffled batches are a random partition in each repetition. Cyclic batches follow the order of the clients.

        Args:
            problem: learning problem.
            run: parameters of the run.
            generators: one per repetition; they are used only for shuffled batches.
        """
        clients, size = problem.clients, run.participants
        if run.batches == "without-replacement":
            return cls(run, None, clients)
        if run.batches == "cyclic":
            orders = [np.arange(clients)]
        else:
            orders = [generator.permutation(clients) for generator in generators]
        return cls(run, whole_batches(np.stack(orders), size), clients)

    def at(self, step: int, generators: Sequence[np.random.Generator]) -> Indices:
        """Return the clients of one step in every repetition.

        Args:
            step: number of the step, from 1 on.
            generators: one per repetition; they are used only if each step draws its own batch.

        Returns:
            Indices of the clients, (repetitions, m), for m clients of a batch.
        """
        if self.partition is None:
            size = self.run.participants
            return np.stack([subsets(generator, (), self.clients, size) for generator in generators])
        batch_index = (step - 1) % self.partition.shape[1]
        batch = self.partition[:, batch_index]
        return np.broadcast_to(batch, (len(generators), batch.shape[1]))


def stopping_steps(run: ProjectedSgdRun, rounds: tuple[int, ...], generators: Sequence[np.random.Generator]) -> Indices:
    """Choose the step after which the model is released, in each repetition and for several lengths of the run.

    It is the last step, or a random step of the suffix. A repetition uses the same random number for all lengths.

    Args:
        run: parameters with the kind of release.
        rounds: lengths of the run, in steps.
        generators: one per repetition; they are used only for a random step.

    Returns:
        The steps, from 1 on, (repetitions, len(rounds)).
    """
    last = np.asarray(rounds)
    if run.release == "last":
        return np.broadcast_to(last, (len(generators), len(rounds)))
    first = np.asarray([run.first_stop(length) for length in rounds])
    uniform = np.asarray([generator.random() for generator in generators])
    return stopping_step(first, last, uniform[:, None])


def simulate(
    problem: SimulatedProblem, run: ProjectedSgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run projected noisy gradient descent once per generator, and measure the excess risk of the released model.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: lengths of the run; for each length the released model is measured.

    Returns:
        The measured curves. Diagnostics are `largest_gradient_norm` and, unless the last model is released,
        `mean_excess`: the mean over all steps after which the model may be released.

    Raises:
        InvalidInput: the noise is missing, or the run does not fit the problem.
    """
    steps = steps_of(problem, run)
    step_sizes = run.step_schedule.at(1, steps)
    noise_stds = run.noise_stds(steps)

    # Every client has one record. The order of these draws is fixed, so that a seed always gives the same result.
    data = np.stack([problem.draw(generator)[:, 0] for generator in generators])
    order = BatchOrder.of(problem, run, generators)
    stops = stopping_steps(run, rounds, generators)
    first_stop = run.first_stop(steps)

    repetition_rows = np.arange(len(generators))[:, None]
    models = np.zeros((len(generators), problem.dimension))
    released_models = np.zeros((*stops.shape, problem.dimension))
    total_excess = np.zeros(len(generators))
    largest_norms = np.zeros(len(generators))
    for step in range(1, steps + 1):
        batch = order.at(step, generators)
        records = problem.records(batch, data[repetition_rows, batch])
        gradients = problem.gradients(models[:, None, :], records)
        largest_norms = np.maximum(largest_norms, np.linalg.norm(gradients, axis=-1).max(axis=1))

        # The mean over m clients divides the standard deviation of their noise by √m.
        mean_std = noise_stds[step - 1] / math.sqrt(run.participants)
        direction = _with_noise(gradients.mean(axis=1), mean_std, generators)
        models = projected_step(models, direction, step_sizes[step - 1], problem.project)

        stops_here = stops == step
        if stops_here.any():
            released_models[stops_here] = np.broadcast_to(models[:, None, :], released_models.shape)[stops_here]

        # The mean excess over all possible stops is the expected excess of the random stop.
        if run.release != "last" and step >= first_stop:
            total_excess += problem.excess(models)

    diagnostics = {"largest_gradient_norm": largest_norms}
    if run.release != "last":
        diagnostics["mean_excess"] = total_excess / (steps - first_stop + 1)
    output = released_models[:, -1]
    return Curves(rounds, problem.excess(released_models), diagnostics, problem.scores(output), output)


def _with_noise(direction: Floats, std: float, generators: Sequence[np.random.Generator]) -> Floats:
    """Add independent normal noise to the mean gradient of each repetition.

    Args:
        direction: mean gradients, (repetitions, d), for d coordinates.
        std: standard deviation of the noise per coordinate, at least 0. If it is 0, nothing is drawn.
        generators: one per repetition.

    Returns:
        The noisy gradients, (repetitions, d).
    """
    if std == 0.0:
        return direction
    normal = np.stack([generator.standard_normal(direction.shape[1]) for generator in generators])
    return with_noise(direction, std, normal)


def work(problem: SimulatedProblem, run: ProjectedSgdRun) -> Work:
    """Estimate the computing work of one repetition of a run; all factors in it are rough.

    A step computes one gradient per participant, may draw a batch, and computes the excess risk if a random model is
    released.

    Args:
        problem: learning problem.
        run: parameters of the run; its noise may be unknown.

    Returns:
        The number of array entries that are computed or drawn, of numpy calls, and of bytes of memory.
    """
    steps = float(steps_of(problem, run))
    batch_entries = run.participants * problem.dimension
    draw_operations = 2.0 * problem.clients if run.batches == "without-replacement" else 0.0
    excess_operations = 0.0 if run.release == "last" else 100.0 * problem.dimension
    step_operations = 8.0 * batch_entries + draw_operations + excess_operations

    doubles = 4.0 * batch_entries + 4.0 * problem.clients + 200.0 * problem.dimension
    return Work(
        operations=steps * step_operations + 4.0 * problem.clients,
        calls=steps * 60.0,
        bytes=8.0 * doubles,
    )


def alternatives(run: ProjectedSgdRun) -> Mapping[str, ProjectedSgdRun]:
    """Return the runs that a run is compared with: the same run without noise, under the name `non-private`."""
    return {"non-private": replace(run, noise_std=0.0)}


ALGORITHM = SimulatedAlgorithm(
    name="projected-sgd",
    title="Projected SGD of which only the last model is released",
    run=ProjectedSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=steps_of,
    work=work,
    alternatives=alternatives,
)
