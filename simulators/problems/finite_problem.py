"""A problem of finite populations: its data, its domain, and its excess risk; what the loss is, others add."""

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
"""Predictions held at one time."""
SAFE = 1.0 + 2.0**-40
"""Charged on bounds that are sums of many roundings."""


class Mean(Protocol):
    """The objective F."""

    def values(self, models: Floats) -> Floats:
        """(…, d) → (…)."""


@dataclass(frozen=True, kw_only=True)
class FiniteProblem(ABC):
    """What every `Problem` of a population has whose records are features and a target, on a ball around 0."""

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
    """(N): records of each client in one data set, the first of its row; None: `samples_per_client` of each."""

    @abstractmethod
    def of_population(self, population: Population) -> Self:
        """The same loss of other records or weights."""

    def with_clients(self, sizes: Indices, scales: Floats) -> Self:
        """The problem whose client i has `sizes[i]` records, and whose objective is the mean of scales[i] · F_i.

        Of an empirical objective client i has the last records of its population, its own first. Constants stay those
        of a loss without its scale, but for the statistics, which bound those of the scaled losses: where losses are
        scaled or data is cut, what is true of any loss, max_i(s_i) L.
        """
        clients, size = self.population.targets.shape
        cut = self.objective == "empirical" and bool(np.any(sizes != size))
        if not cut and bool(np.all(scales == 1.0)):
            return replace(self, sizes=sizes)
        if cut:
            held = np.arange(size) >= size - sizes[:, None]
            shares = held * (scales / sizes)[:, None]
        else:
            shares = np.broadcast_to((scales / size)[:, None], (clients, size))
        made = self.of_population(replace(self.population, shares=shares))
        most = made.constants.lipschitz * max(1.0, float(np.max(scales))) * SAFE
        return replace(made, sizes=sizes, constants=replace(made.constants, gradient_std=most, heterogeneity=most))

    @property
    def clients(self) -> int:
        """N."""
        return int(self.population.features.shape[0])

    @property
    def dimension(self) -> int:
        """d."""
        return int(self.population.features.shape[-1])

    def draw(self, generator: np.random.Generator) -> Indices:
        """Which record of its client's population each record of a data set is."""
        clients, size = self.population.targets.shape
        if self.objective == "empirical":
            order = np.arange(size) if self.sizes is None else np.arange(size)[::-1]
            return np.broadcast_to(order, (clients, size))
        most = self.samples_per_client if self.sizes is None else int(np.max(self.sizes))
        return generator.integers(size, size=(clients, most))

    def draw_fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Indices:
        """The same for records drawn anew."""
        clients, size = self.population.targets.shape
        return generator.integers(size, size=(*shape, clients))

    def records(self, clients: Indices, drawn: Indices) -> Records:
        """Records by client and by place in the client's population."""
        features, targets = self.population.rows()
        rows = drawn + clients * (self.population.targets.shape[1] if self.population.own else 0)
        return Records(np.take(features, rows, axis=0), np.take(targets, rows))

    def data(self, generator: np.random.Generator) -> Records:
        """One data set: features (N, n, d), targets (N, n)."""
        return self.records(np.arange(self.clients)[:, None], self.draw(generator))

    def fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Records:
        """Records drawn anew: features (*shape, N, d), targets (*shape, N)."""
        return self.records(np.arange(self.clients), self.draw_fresh(generator, shape))

    def project(self, models: Floats) -> Floats:
        """To the ball."""
        return on_ball(models, self.radius)

    def excess(self, models: Floats) -> Floats:
        """F minus `optimum_value`, a lower bound of its minimum: never below 0."""
        return np.maximum(self.mean.values(models) - self.constants.optimum_value, 0.0)

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """On the records that were held out of the population."""
        return {} if self.held_out is None else self.held_out.scores(models)

    def facts(self) -> Mapping[str, float | int | str]:
        """What to tell people of it, beside the constants."""
        return self.described
