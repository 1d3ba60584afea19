"""Clients that take full gradient steps on their own data, over several repetitions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.algorithms.algorithm import Work, nan_to_infinity
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
"""Problems that are well posed without their ball: losses are bounded from below and smooth everywhere."""


@dataclass(frozen=True)
class ClientData:
    """Records of N simulated clients with n records each, for all repetitions, with full gradient steps on them.

    Attributes:
        problem: learning problem, which draws the records.
        data: the records, (repetitions, N, n, …). If the data is the population itself, all repetitions share it:
            (1, N, n, …).
        generators: sources of randomness, one per repetition; they draw the participants.
    """

    problem: SimulatedProblem
    data: Records
    generators: Sequence[np.random.Generator]

    @classmethod
    def of(cls, problem: SimulatedProblem, generators: Sequence[np.random.Generator]) -> ClientData:
        """Draw the data of each repetition from its generator.

        A repetition is one independent simulation of the same run. If the objective is the population risk, every
        repetition draws its own data. If it is the mean loss on the data, the data is the whole population, which all
        repetitions share.

        Args:
            problem: learning problem, which draws the records of its clients.
            generators: sources of randomness, one per repetition.

        Returns:
            The clients' records, stacked over the repetitions.
        """
        sources = generators if problem.objective == "population" else generators[:1]
        data_sets = [problem.data(generator) for generator in sources]
        features = np.stack([data_set.features for data_set in data_sets])
        targets = np.stack([data_set.targets for data_set in data_sets])
        return cls(problem, Records(features, targets), generators)

    def participants(self, count: int) -> Records:
        """Draw the participants of a round in every repetition, without replacement, and return their records.

        Args:
            count: number m of participants, at most the number N of clients. If m = N, nothing is drawn.

        Returns:
            Records of the participants, (repetitions, m, n, …), for n records of a client. If all clients take part,
            the stored records as they are.
        """
        clients = self.problem.clients
        if count == clients:
            return self.data
        members = np.stack([subsets(generator, (), clients, count) for generator in self.generators])
        # Data that all repetitions share has a single row, with the index 0.
        rows = np.arange(len(self.generators))[:, None] if len(self.data.targets) > 1 else 0
        return Records(self.data.features[rows, members], self.data.targets[rows, members])

    def local_updates(self, models: Floats, records: Records, *, steps: int, step_size: float) -> Floats:
        """Return each participant's update: the server's model minus its own after E gradient steps.

        A participant starts at the server's model and descends on the mean loss of its own records.

        Args:
            models: the server's models, (repetitions, d), for d coordinates.
            records: participants' records.
            steps: local steps E.
            step_size: local step size η.

        Returns:
            Updates, (repetitions, participants, d).
        """
        return local_update(
            models[:, None, :],
            lambda local: self.problem.mean_gradient(local, records),
            steps=steps,
            step_size=step_size,
        )

    def gradient_norms(self, models: Floats) -> Floats:
        """Return the norm ‖∇f‖ of each repetition, where f is the mean of all clients' losses on their data.

        Args:
            models: models of the repetitions, (repetitions, d), for d coordinates.

        Returns:
            The norms, (repetitions); infinite if a gradient overflowed to NaN.
        """
        gradients = self.problem.mean_gradient(models[:, None, :], self.data)
        return nan_to_infinity(np.linalg.norm(gradients.mean(axis=1), axis=-1))


def local_work(problem: SimulatedProblem, *, participants: int, rounds: int, local_steps: int) -> Work:
    """Estimate the computing work of one repetition of federated averaging with full gradients.

    A round takes `local_steps` gradients of each participant, and one gradient of all clients for the diagnostics.

    Args:
        problem: learning problem.
        participants: clients in a round.
        rounds: number of rounds.
        local_steps: gradient steps of a participant in a round.

    Returns:
        A rough estimate: computed array entries, numpy calls (15 per local step and 40 per round) and bytes.
    """
    entries_of_client = problem.samples_per_client * problem.dimension
    data_set = problem.clients * entries_of_client
    local = participants * entries_of_client
    stored = data_set if problem.objective == "population" else 0  # otherwise all repetitions share the data
    return Work(
        # Eight entries of a gradient take as long as one entry of other work, hence the factor 0.12. The rest of a
        # round takes about five entries per client.
        operations=float(rounds) * (0.12 * (local * (local_steps + 1) + data_set) + 5.0 * problem.clients),
        calls=float(rounds) * (15.0 * local_steps + 40.0),
        bytes=8.0 * (stored + 2.0 * data_set + 2.0 * local),
    )
