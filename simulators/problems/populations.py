"""Finite populations of records, one for each client: drawn once from a seed, and then known exactly.

Each client's population is `size` records of equal probability. The first of them are the same for all clients, the
last `own` are this client's alone: with none of its own, clients are identically distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import population_generator

Draw = Callable[[np.random.Generator, int, Floats], tuple[Floats, Floats]]
"""(generator, records, model that they follow) → features (records, d) and targets (records)."""


@dataclass(frozen=True)
class Population:
    """Features (N, P, d) of norm at most 1, targets (N, P), and how many of the last records are a client's own."""

    features: Floats
    targets: Floats
    own: int
    shares: Floats | None = None
    """(N, P): what each record weighs in its client's loss, times the client's weight p_i N; None: 1/P."""

    @property
    def shared(self) -> int:
        """How many of the first records are those of every client."""
        return int(self.features.shape[1]) - self.own

    def rows(self) -> tuple[Floats, Floats]:
        """Features and targets of all clients one after another; of the first alone where all have the same."""
        if self.own == 0:
            return self.features[0], self.targets[0]
        return self.features.reshape(-1, self.features.shape[-1]), self.targets.reshape(-1)

    def distinct(self) -> tuple[Floats, Floats, Floats]:
        """Every record once: features (Q, d), targets (Q), and its weight in the mean over clients and records (Q)."""
        clients, size, dimension = self.features.shape
        features = [self.features[0, : self.shared], self.features[:, self.shared :].reshape(-1, dimension)]
        targets = [self.targets[0, : self.shared], self.targets[:, self.shared :].reshape(-1)]
        weights = [np.full(self.shared, 1.0 / size), np.full(clients * self.own, 1.0 / (clients * size))]
        if self.shares is not None:
            weights = [np.mean(self.shares[:, : self.shared], axis=0), self.shares[:, self.shared :].ravel() / clients]
        return np.concatenate(features), np.concatenate(targets), np.concatenate(weights)


def made(draw: Draw, *, clients: int, size: int, own: int, dimension: int, model_norm: float, seed: int) -> Population:
    """Records that follow a common model, and `own` of each client that follow one of its own.

    Models are random directions times `model_norm`. A client's records do not depend on how many clients there are.
    """
    common = population_generator(seed, 0)
    shared = draw(common, size - own, _direction(common, dimension) * model_norm)
    if own == 0:
        features = np.broadcast_to(shared[0], (clients, size, dimension))
        return Population(features, np.broadcast_to(shared[1], (clients, size)), 0)
    features = np.empty((clients, size, dimension))
    targets = np.empty((clients, size))
    features[:, : size - own], targets[:, : size - own] = shared
    for client in range(clients):
        mine = population_generator(seed, 1, client)
        features[client, size - own :], targets[client, size - own :] = draw(
            mine, own, _direction(mine, dimension) * model_norm
        )
    return Population(features, targets, own)


def points(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
    """Points around `model`, in the unit ball; targets are ½‖x‖², which make y − ⟨x, w⟩ + ½‖w‖² = ½‖w − x‖²."""
    features = within_ball(model + generator.standard_normal((count, len(model))) / np.sqrt(2.0 * len(model)))
    return features, 0.5 * np.sum(np.square(features), axis=-1)


def regression(noise: float) -> Draw:
    """Targets ⟨x, model⟩ plus Gaussian noise, clipped to [−1, 1]."""

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        features = _features(generator, count, len(model))
        return features, np.clip(features @ model + noise * generator.standard_normal(count), -1.0, 1.0)

    return draw


def classification(sharpness: float) -> Draw:
    """Targets ±1, 1 with probability 1/(1 + e^(−sharpness ⟨x, model⟩))."""

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        features = _features(generator, count, len(model))
        chance = 1.0 / (1.0 + np.exp(-sharpness * (features @ model)))
        return features, np.where(generator.random(count) < chance, 1.0, -1.0)

    return draw


def within_ball(features: Floats) -> Floats:
    """Rows scaled down to norm 1 where they are longer; never longer than 1, whatever the rounding."""
    norms = np.linalg.norm(features, axis=-1, keepdims=True)
    inside: Floats = features * np.minimum(1.0, (1.0 - 2.0**-50) / np.maximum(norms, 1e-300))
    return inside


def _features(generator: np.random.Generator, count: int, dimension: int) -> Floats:
    """Gaussian, of norm about 1, and at most that."""
    return within_ball(generator.standard_normal((count, dimension)) / np.sqrt(dimension))


def _direction(generator: np.random.Generator, dimension: int) -> Floats:
    drawn = generator.standard_normal(dimension)
    return drawn / np.linalg.norm(drawn)
