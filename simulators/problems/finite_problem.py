"""Base class of problems with finite populations: data, domain and excess risk. Subclasses add the loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from epsilond.simulators.problems.held_out import HeldOut
from epsilond.simulators.problems.populations import Population
from epsilond.simulators.problems.problem import Constants, Floats, Indices, Objective, Records
from epsilond.training.steps.ball import on_ball

AT_ONCE = 1_000_000
"""Largest number of predictions in memory at one time."""
SAFE = 1.0 + 2.0**-40
"""Factor on bounds that are sums, to cover accumulated rounding."""


class Mean(Protocol):
    """Objective of a learning problem, as a function of the model."""

    def values(self, models: Floats) -> Floats:
        """Return the objective at each model of an array: (…, d) → (…)."""


@dataclass(frozen=True, kw_only=True)
class FiniteProblem(ABC):
    """Learning problem on a ball around 0 with finitely many records, each with features and a target.

    Attributes:
        population: records of all clients.
        mean: objective as a function of the model.
        samples_per_client: number n of records of a client in one data set.
        radius: radius of the ball.
        strong_convexity: weight μ of the ridge term ½‖w‖² in each loss.
        objective: `population` for the mean loss in the whole population, or `empirical` for that on a data set.
        constants: constants of the losses that risk bounds depend on.
        minimiser: minimiser of the objective on the ball.
        described: entries of the problem's description, by name.
        held_out: records for tests; None if there are none.
        sizes: number of records of each of N clients in one data set, (N); None if every client has
            `samples_per_client`. A client's records are the first ones in its row of the data set.
    """

    population: Population
    mean: Mean
    samples_per_client: int
    radius: float
    strong_convexity: float
    objective: Objective
    constants: Constants
    minimiser: Floats
    described: Mapping[str, float | int | str]
    held_out: HeldOut | None = None
    sizes: Indices | None = None

    @abstractmethod
    def of_population(self, population: Population) -> Self:
        """Return the problem with the same loss on other records or weights."""

    def with_clients(self, sizes: Indices, scales: Floats) -> Self:
        """Return the problem for clients that differ in their number of records and in the weight of their loss.

        The objective is the mean of s_i F_i, where F_i is the mean loss of client i. For an empirical objective, a
        client keeps the last records of its population, because those that it shares with others come first. The
        constants are for the loss before scaling. Two of them, `gradient_std` and `heterogeneity`, change if
        losses are scaled or data is cut. They become L max(1, max_i s_i), a bound for any loss with the Lipschitz
        constant L.

        Args:
            sizes: number of records of each client, (N,), for N clients.
            scales: factor s_i of each client's loss, (N,).

        Returns:
            The problem with the same loss and records, other weights of the clients, and the changed constants.
        """
        clients, size = self.population.targets.shape
        is_truncated = self.objective == "empirical" and bool(np.any(sizes != size))
        if not is_truncated and bool(np.all(scales == 1.0)):
            return replace(self, sizes=sizes)

        # Weight of each record's loss in the objective.
        if is_truncated:
            is_present = np.arange(size) >= size - sizes[:, None]
            shares = is_present * (scales / sizes)[:, None]
        else:
            shares = np.broadcast_to((scales / size)[:, None], (clients, size))

        problem = self.of_population(replace(self.population, shares=shares))
        # The norm of a scaled gradient is at most this bound, and so are both standard deviations.
        bound = problem.constants.lipschitz * max(1.0, float(np.max(scales))) * SAFE
        constants = replace(problem.constants, gradient_std=bound, heterogeneity=bound)
        return replace(problem, sizes=sizes, constants=constants)

    @property
    def clients(self) -> int:
        """Number of clients N."""
        return int(self.population.features.shape[0])

    @property
    def dimension(self) -> int:
        """Dimension d of a model."""
        return int(self.population.features.shape[-1])

    def draw(self, generator: np.random.Generator) -> Indices:
        """Draw a data set from the clients' populations, uniformly with replacement.

        An empirical objective has the whole population as its data, and nothing is drawn.

        Args:
            generator: source of randomness.

        Returns:
            Indices of n records of each of N clients in its population, (N, n). n is the size of the population for an
            empirical objective, otherwise the largest number of records of a client.
        """
        clients, size = self.population.targets.shape
        if self.objective == "empirical":
            # Clients with fewer records keep the last ones (see `with_clients`), so these come first in a row.
            order = np.arange(size)
            if self.sizes is not None:
                order = order[::-1]
            return np.broadcast_to(order, (clients, size))
        most = self.samples_per_client
        if self.sizes is not None:
            most = int(np.max(self.sizes))
        return generator.integers(size, size=(clients, most))

    def draw_fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Indices:
        """Draw one fresh record per client, as indices of records in the populations, (*shape, N)."""
        clients, size = self.population.targets.shape
        return generator.integers(size, size=(*shape, clients))

    def records(self, clients: Indices, indices: Indices) -> Records:
        """Return records by their clients and their indices in the clients' populations.

        A client's population is the finite set of records from which its data is drawn.

        Args:
            clients: clients of the records, numbered from 0.
            indices: indices in the populations, of a shape that broadcasts with `clients`.

        Returns:
            Features and targets of the records, with the broadcast shape; features have a further axis.
        """
        features, targets = self.population.rows()
        # If clients have own records, the table has the rows of one client after another. Otherwise all share its rows.
        rows_per_client = 0
        if self.population.own:
            rows_per_client = self.population.targets.shape[1]
        rows = indices + clients * rows_per_client
        return Records(np.take(features, rows, axis=0), np.take(targets, rows))

    def data(self, generator: np.random.Generator) -> Records:
        """Draw one data set and return its records: features (N, n, d) and targets (N, n)."""
        return self.records(np.arange(self.clients)[:, None], self.draw(generator))

    def fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Records:
        """Draw fresh records of all clients and return them: features (*shape, N, d) and targets (*shape, N)."""
        return self.records(np.arange(self.clients), self.draw_fresh(generator, shape))

    def project(self, models: Floats) -> Floats:
        """Project models onto the domain, a ball around 0."""
        return on_ball(models, self.radius)

    def excess(self, models: Floats) -> Floats:
        """Return the objective at models, minus a lower bound on its minimum; never negative."""
        return np.maximum(self.mean.values(models) - self.constants.optimum_value, 0.0)

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Return scores of models on the held-out records, by name; empty if no records are held out."""
        if self.held_out is None:
            return {}
        return self.held_out.scores(models)

    def facts(self) -> Mapping[str, float | int | str]:
        """Return the entries of the problem's description by name, without the constants."""
        return self.described
