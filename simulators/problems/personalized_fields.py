"""Fields that the linear problems of personalised learning share."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import CLIENTS, DIMENSION, Quantity, request
from epsilond.accountants.quantities.algorithms import OPTIMUM_NORM, OPTIMUM_SPREAD
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import population_generator

FEATURE_DECAY = Quantity(
    symbol="a", ge=0, le=10, description="exponent a: coordinate k of the features has variance k^−a, for k = 1, 2, …"
)
TARGET_NOISE_STD = Quantity(
    symbol="τ", ge=0, le=1e6, unit="target", description="standard deviation of the noise in the targets"
)
PERSONAL_DIMENSION = Quantity(
    ge=1,
    le=10**5,
    description="number of coordinates, the last ones, in which the clients' optimal models differ; absent: "
    "all coordinates",
)
PROBLEM_SEED = Quantity(
    ge=0, le=2**53, description="seed of the random choice of the clients' optimal models and of the feature vectors"
)
MOST_CLIENTS = 10**5
"""Largest number of clients, for memory."""
MOST_DIMENSION = 10**5
"""Largest dimension, for memory."""


@request
class LinearFields:
    """Common fields of the linear problems."""

    clients: Annotated[int, CLIENTS]
    dimension: Annotated[int, DIMENSION]
    optimum_norm: Annotated[float, OPTIMUM_NORM] = 1.0
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0
    personal_dimension: Annotated[int | None, PERSONAL_DIMENSION] = None
    feature_decay: Annotated[float, FEATURE_DECAY] = 1.0
    target_noise_std: Annotated[float, TARGET_NOISE_STD] = 1.0
    seed: Annotated[int, PROBLEM_SEED] = 0

    def check(self) -> None:
        """Check the sizes, and that the spread of the clients' optimal models is 0 if there is a single client.

        Raises:
            InvalidInput: a size exceeds its limit, or there is a single client with a positive spread. The error names
                the field.
        """
        for name, limit in (("clients", MOST_CLIENTS), ("dimension", MOST_DIMENSION)):
            if getattr(self, name) > limit:
                raise InvalidInput.at(f"/{name}", "is more than a simulation holds", allowed=f"≤ {limit}")
        if (self.personal_dimension or 1) > self.dimension:
            raise InvalidInput.at("/personal_dimension", "cannot exceed dimension", allowed=f"≤ {self.dimension}")
        if self.clients == 1 and self.optimum_spread > 0.0:
            raise InvalidInput.at("/optimum_spread", "is 0 for one client", allowed="= 0")

    @property
    def variances(self) -> Floats:
        """Variance k^−a of coordinate k of the features, for k = 1, …, d and a = `feature_decay`; (d)."""
        return np.arange(1.0, self.dimension + 1.0) ** -self.feature_decay

    def draw_optima(self) -> Floats:
        """Draw the clients' optimal models in random directions, with the requested norm and spread.

        The mean of the optima has norm `optimum_norm`, and their root mean square distance from it is `optimum_spread`,
        both up to rounding. The optima differ only in the last `personal_dimension` coordinates.

        Returns:
            An optimum for each of N clients, (N, d), for d coordinates.
        """
        generator = population_generator(self.seed, 0)
        mean = generator.standard_normal(self.dimension)
        mean *= self.optimum_norm / np.linalg.norm(mean)

        deviations = np.zeros((self.clients, self.dimension))
        if self.optimum_spread > 0.0:
            own_dimension = self.personal_dimension or self.dimension
            directions = generator.standard_normal((self.clients, own_dimension))
            directions -= directions.mean(axis=0)
            root_mean_square = math.sqrt(np.mean(np.sum(directions * directions, axis=1)))
            deviations[:, -own_dimension:] = directions * (self.optimum_spread / root_mean_square)
        return mean + deviations
