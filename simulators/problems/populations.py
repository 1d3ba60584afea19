"""Finite populations of records, one per client, drawn once from a seed and known exactly.

Each client's population has `size` records of equal probability. The first records are the same for all clients; the
last `own` belong to this client only. Without own records, clients are identically distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import population_generator

Draw = Callable[[np.random.Generator, int, Floats], tuple[Floats, Floats]]
"""Function (generator, number of records, model to follow) → features (records, d) and targets (records)."""


@dataclass(frozen=True)
class Population:
    """Features (N, P, d) of norm at most 1, targets (N, P), and the number of last records that are a client's own."""

    features: Floats
    targets: Floats
    own: int
    shares: Floats | None = None
    """(N, P): weight of each record in its client's loss, times the client's weight p_i N; None for 1/P."""

    @property
    def shared(self) -> int:
        """Number of first records that all clients have in common."""
        return int(self.features.shape[1]) - self.own

    def rows(self) -> tuple[Floats, Floats]:
        """Return features and targets of all clients one after another, or of the first client if all are equal."""
        if self.own == 0:
            return self.features[0], self.targets[0]
        return self.features.reshape(-1, self.features.shape[-1]), self.targets.reshape(-1)

    def distinct(self) -> tuple[Floats, Floats, Floats]:
        """Return every record once: features (Q, d), targets (Q), and its weight in the objective (Q)."""
        clients, size, dimension = self.features.shape
        features = [self.features[0, : self.shared], self.features[:, self.shared :].reshape(-1, dimension)]
        targets = [self.targets[0, : self.shared], self.targets[:, self.shared :].reshape(-1)]
        weights = [np.full(self.shared, 1.0 / size), np.full(clients * self.own, 1.0 / (clients * size))]
        if self.shares is not None:
            weights = [np.mean(self.shares[:, : self.shared], axis=0), self.shares[:, self.shared :].ravel() / clients]
        return np.concatenate(features), np.concatenate(targets), np.concatenate(weights)


def make_population(
    draw: Draw, *, clients: int, size: int, own: int, dimension: int, model_norm: float, seed: int
) -> Population:
    """Draw a population: common records that follow one model, and own records that follow a model per client.

    Models are random directions times `model_norm`. A client's records do not depend on the number of clients.

    Args:
        draw: draws records that follow a model.
        clients: number of clients N.
        size: records P of each client.
        own: records of each client that follow its own model.
        dimension: dimension d.
        model_norm: norm of the models.
        seed: seed of the population.
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
        generator = population_generator(seed, 1, client)
        model = _direction(generator, dimension) * model_norm
        features[client, size - own :], targets[client, size - own :] = draw(generator, own, model)
    return Population(features, targets, own)


def points(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
    """Draw records for mean estimation: Gaussian points x around a centre, scaled down into the unit ball.

    The target of a point is y = ½‖x‖². The linear loss y − ⟨x, w⟩ with the ridge term ½‖w‖² is then ½‖w − x‖², whose
    mean is minimal at the mean of the points.

    Args:
        generator: source of randomness.
        count: number of points.
        model: centre of the points, (d,).

    Returns:
        Points (count, d) and targets (count,).
    """
    features = within_ball(model + generator.standard_normal((count, len(model))) / np.sqrt(2.0 * len(model)))
    return features, 0.5 * np.sum(np.square(features), axis=-1)


def regression(noise: float) -> Draw:
    """Return a draw of targets ⟨x, model⟩ plus Gaussian noise, clipped to [−1, 1]."""

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        features = _features(generator, count, len(model))
        return features, np.clip(features @ model + noise * generator.standard_normal(count), -1.0, 1.0)

    return draw


def classification(sharpness: float) -> Draw:
    """Return a draw of targets ±1 that are 1 with probability 1/(1 + e^(−sharpness ⟨x, model⟩))."""

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        features = _features(generator, count, len(model))
        probability = 1.0 / (1.0 + np.exp(-sharpness * (features @ model)))
        return features, np.where(generator.random(count) < probability, 1.0, -1.0)

    return draw


def within_ball(features: Floats) -> Floats:
    """Scale rows longer than 1 down to norm 1; no result is longer than 1, even after rounding."""
    norms = np.linalg.norm(features, axis=-1, keepdims=True)
    inside: Floats = features * np.minimum(1.0, (1.0 - 2.0**-50) / np.maximum(norms, 1e-300))
    return inside


def _features(generator: np.random.Generator, count: int, dimension: int) -> Floats:
    """Draw Gaussian features of norm about 1, scaled down to at most 1."""
    return within_ball(generator.standard_normal((count, dimension)) / np.sqrt(dimension))


def _direction(generator: np.random.Generator, dimension: int) -> Floats:
    """Draw a uniform unit vector."""
    normal = generator.standard_normal(dimension)
    return normal / np.linalg.norm(normal)
