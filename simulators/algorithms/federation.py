"""Clients that take full gradient steps on their own data, for repetitions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.algorithms.algorithm import Work
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.problems.problem import Floats, Records, SimulatedProblem
from epsilond.training.steps.normalised_updates import local_update

UNCONSTRAINED: tuple[type, ...] = (
    MeanEstimationProblem,
    LeastSquaresProblem,
    HuberProblem,
    LogisticProblem,
    DataSetProblem,
)
"""Problems that make sense without their ball: losses are bounded from below, and smooth everywhere."""


@dataclass(frozen=True)
class ClientData:
    """The clients' data in some repetitions: (repetitions or 1, N, n, …); 1 if the data is the population itself."""

    problem: SimulatedProblem
    data: Records
    generators: Sequence[np.random.Generator]

    @classmethod
    def of(cls, problem: SimulatedProblem, generators: Sequence[np.random.Generator]) -> ClientData:
        """With each repetition's data drawn from its generator."""
        kept = generators if problem.objective == "population" else generators[:1]
        drawn = [problem.data(generator) for generator in kept]
        data = Records(np.stack([one.features for one in drawn]), np.stack([one.targets for one in drawn]))
        return cls(problem, data, generators)

    def participants(self, count: int) -> Records:
        """Records of `count` clients of each repetition, drawn uniformly without replacement."""
        clients = self.problem.clients
        if count == clients:
            return self.data
        drawn = np.stack([subsets(generator, (), clients, count) for generator in self.generators])
        rows = np.arange(len(self.generators))[:, None] if len(self.data.targets) > 1 else 0
        return Records(self.data.features[rows, drawn], self.data.targets[rows, drawn])

    def local_updates(self, models: Floats, records: Records, *, steps: int, step_size: float) -> Floats:
        """w − w_{k,E} of each participant: E steps on its own mean loss from its repetition's model."""
        return local_update(
            models[:, None, :],
            lambda local: self.problem.mean_gradient(local, records),
            steps=steps,
            step_size=step_size,
        )

    def gradient_norms(self, models: Floats) -> Floats:
        """‖∇f‖ of the mean of all clients' losses on the data at hand: (repetitions, d) → (repetitions)."""
        gradients = self.problem.mean_gradient(models[:, None, :], self.data)
        return overflowed(np.linalg.norm(gradients.mean(axis=1), axis=-1))


def overflowed(values: Floats) -> Floats:
    """What is no number any more, as infinite."""
    return np.where(np.isnan(values), np.inf, values)


def local_work(problem: SimulatedProblem, *, participants: int, rounds: int, local_steps: int) -> Work:
    """Of one repetition: full gradients of the participants, and of all clients once a round."""
    record = problem.samples_per_client * problem.dimension
    everything, local = problem.clients * record, participants * record
    kept = everything if problem.objective == "population" else 0
    return Work(
        # A gradient reads eight entries in the time that other work computes one.
        operations=float(rounds) * (0.12 * (local * (local_steps + 1) + everything) + 5.0 * problem.clients),
        calls=float(rounds) * (15.0 * local_steps + 40.0),
        bytes=8.0 * (kept + 2.0 * everything + 2.0 * local),
    )
