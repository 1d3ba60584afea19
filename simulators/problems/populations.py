"""Finite populations of records, one per client, drawn once from a seed and known exactly.

Each client's population has the same number of records, of equal probability. The first of them are the same for all
clients; the last `own` belong to one client only. Without own records, clients are identically distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import population_generator

Draw = Callable[[np.random.Generator, int, Floats], tuple[Floats, Floats]]
"""Function (generator, number K of records, model that targets follow) → features (K, d) and targets (K)."""


@dataclass(frozen=True)
class Population:
    """Records of N clients, P for each client.

    The first records of each client are the same for all clients. The last ones belong to a single client.

    Attributes:
        features: features of norm at most 1, (N, P, d), for d features.
        targets: targets of the records, (N, P).
        own: number of last records of each client that no other client has.
        shares: weights of the records in the objective, times N, (N, P). For a client of weight p_i they are p_i N
            times the weights of its records in its own loss. None if all are 1/P.
    """

    features: Floats
    targets: Floats
    own: int
    shares: Floats | None = None

    @property
    def shared(self) -> int:
        """Number of first records that all clients have in common."""
        return int(self.features.shape[1]) - self.own

    def rows(self) -> tuple[Floats, Floats]:
        """Return the distinct records of all clients in one table, one client after another.

        If all clients have the same records, the table has the records of the first client only.

        Returns:
            Features (Q, d), for d features, and targets (Q). Q is P for equal records and N P otherwise, for N clients
            with P records each.
        """
        if self.own == 0:
            return self.features[0], self.targets[0]
        dimension = self.features.shape[-1]
        return self.features.reshape(-1, dimension), self.targets.reshape(-1)

    def distinct(self) -> tuple[Floats, Floats, Floats]:
        """Return every record once, with its weight in the objective.

        A record that all clients share is listed once, with the sum of its weights over all clients.

        Returns:
            Features (Q, d), for d features, targets (Q) and weights (Q) of the Q distinct records. Shared records come
            first.
        """
        clients, size, dimension = self.features.shape
        shared = self.shared
        features = [self.features[0, :shared], self.features[:, shared:].reshape(-1, dimension)]
        targets = [self.targets[0, :shared], self.targets[:, shared:].reshape(-1)]

        # A shared record counts for each of the N clients, so that its weight is N times larger.
        if self.shares is None:
            weights = [np.full(shared, 1.0 / size), np.full(clients * self.own, 1.0 / (clients * size))]
        else:
            weights = [np.mean(self.shares[:, :shared], axis=0), self.shares[:, shared:].ravel() / clients]
        return np.concatenate(features), np.concatenate(targets), np.concatenate(weights)


def make_population(
    draw: Draw, *, clients: int, size: int, own: int, dimension: int, model_norm: float, seed: int
) -> Population:
    """Draw the records of all clients: records that all share, and own records of each client.

    The shared records follow one model, and the own records of each client another model. Models are random directions
    times `model_norm`. A client's records do not depend on the number of clients.

    Args:
        draw: function that draws records that follow a model.
        clients: number N of clients.
        size: number P of records of each client.
        own: number of own records of each client, from 0 to P.
        dimension: number d of features.
        model_norm: norm of the models.
        seed: seed of the population.

    Returns:
        The records of all clients, with equal weights.
    """
    common_generator = population_generator(seed, 0)
    shared = size - own
    common_model = _direction(common_generator, dimension) * model_norm
    shared_features, shared_targets = draw(common_generator, shared, common_model)

    # A broadcast array is stored only once.
    if own == 0:
        features = np.broadcast_to(shared_features, (clients, size, dimension))
        return Population(features, np.broadcast_to(shared_targets, (clients, size)), 0)

    features = np.empty((clients, size, dimension))
    targets = np.empty((clients, size))
    features[:, :shared] = shared_features
    targets[:, :shared] = shared_targets
    for client in range(clients):
        generator = population_generator(seed, 1, client)
        model = _direction(generator, dimension) * model_norm
        features[client, shared:], targets[client, shared:] = draw(generator, own, model)
    return Population(features, targets, own)


def points(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
    """Draw records for mean estimation: Gaussian points x around a centre, scaled down into the unit ball.

    The target of a point is y = ½‖x‖². The linear loss y − ⟨x, w⟩ with the ridge term ½‖w‖² is then ½‖w − x‖². Its mean
    is minimal at the mean of the points.

    Args:
        generator: source of randomness.
        count: number of points.
        model: centre of the points, (d,), for d coordinates.

    Returns:
        Points (count, d) and targets (count,).
    """
    deviations = generator.standard_normal((count, len(model))) / np.sqrt(2.0 * len(model))  # mean squared norm 1/2
    features = within_ball(model + deviations)
    return features, 0.5 * np.sum(np.square(features), axis=-1)


def regression(noise: float) -> Draw:
    """Return a function that draws records for regression, with targets that follow a linear model.

    A target is ⟨x, model⟩ plus Gaussian noise, clipped to [−1, 1]; x is the feature vector.

    Args:
        noise: standard deviation of the noise in a target, at least 0.

    Returns:
        A function of a random generator, a number of records and a model. It returns features and targets.
    """

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        """Draw records with targets near the predictions of a model.

        Args:
            generator: source of randomness.
            count: number of records.
            model: model that the targets follow, (d), for d coordinates.

        Returns:
            The features, (count, d), and the targets in [−1, 1], (count).
        """
        features = _features(generator, count, len(model))
        return features, np.clip(features @ model + noise * generator.standard_normal(count), -1.0, 1.0)

    return draw


def classification(sharpness: float) -> Draw:
    """Return a function that draws records with labels ±1, which follow a logistic model.

    A label is 1 with probability 1/(1 + e^(−sharpness ⟨x, model⟩)).

    Args:
        sharpness: factor on the model's prediction; for 0 the labels are independent of the features.

    Returns:
        A function of a random generator, a number of records and a model. It returns features and labels.
    """

    def draw(generator: np.random.Generator, count: int, model: Floats) -> tuple[Floats, Floats]:
        """Draw records with labels that tend to be the signs of the predictions of a model.

        Args:
            generator: source of randomness.
            count: number of records.
            model: model that the labels follow, (d), for d coordinates.

        Returns:
            The features, (count, d), and the labels −1 or 1, (count).
        """
        features = _features(generator, count, len(model))
        probability = 1.0 / (1.0 + np.exp(-sharpness * (features @ model)))
        return features, np.where(generator.random(count) < probability, 1.0, -1.0)

    return draw


def within_ball(features: Floats) -> Floats:
    """Scale vectors down to an ℓ2 norm of at most 1, also after rounding.

    Vectors of norm at most 1 − 2^−50 are not changed.

    Args:
        features: vectors, (…, d), for d coordinates.

    Returns:
        The vectors, (…, d), with norms of at most 1.
    """
    largest_norm = 1.0 - 2.0**-50  # leaves room for the rounding of the product
    smallest_divisor = 1e-300  # avoids a division by 0
    norms = np.linalg.norm(features, axis=-1, keepdims=True)
    factors = np.minimum(1.0, largest_norm / np.maximum(norms, smallest_divisor))
    inside: Floats = features * factors
    return inside


def _features(generator: np.random.Generator, count: int, dimension: int) -> Floats:
    """Draw Gaussian feature vectors, (count, d), of norm about 1; those of a larger norm are scaled down to norm 1."""
    return within_ball(generator.standard_normal((count, dimension)) / np.sqrt(dimension))


def _direction(generator: np.random.Generator, dimension: int) -> Floats:
    """Draw a uniformly random vector of norm 1."""
    normal = generator.standard_normal(dimension)
    return normal / np.linalg.norm(normal)
