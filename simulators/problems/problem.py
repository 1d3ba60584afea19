"""Interface between a learning problem and an algorithm: losses with constants that follow from a finite population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Objective = Literal["population", "empirical"]


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Constants of a learning problem that calibrators and risk bounds depend on, such as its smoothness.

    They hold for all models in the domain and all possible records. The loss of a record x at the model w is f(w, x).
    Its mean over the records of client i is F_i, and the mean of all F_i is F.

    Attributes:
        lipschitz: bound on the norm of the gradient of any possible record, in the population or not.
        smoothness: bound on the Lipschitz constant of one record's gradient; 0 for linear losses.
        strong_convexity: strong convexity of every record's loss; 0 if it is only convex.
        diameter: diameter of the domain, a ball around 0.
        gradient_std: bound on the standard deviation of ∇f(w, x) over the records x of a client, for all clients and w.
        heterogeneity: bound on the root mean square of ‖∇F_i(w) − ∇F(w)‖ over the clients i, for all w; 0 if the
            clients' populations are equal.
        optimum_norm: norm of the computed minimiser.
        optimum_value: certified lower bound on the objective over the domain, below its minimum by at most
            `optimum_gap`.
        optimum_gap: certified bound on objective(minimiser) − minimum.
        initial_gap: bound on the excess risk at the centre of the ball, where runs start.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float
    diameter: float
    gradient_std: float
    heterogeneity: float
    optimum_norm: float
    optimum_value: float
    optimum_gap: float
    initial_gap: float


@dataclass(frozen=True)
class Records:
    """Records of one or more repetitions, with equal leading axes of features and targets.

    Attributes:
        features: features of each record, (…, d), for d features.
        targets: target of each record, (…).
    """

    features: Floats
    targets: Floats


class SimulatedProblem(Protocol):
    """N clients, each with a finite population of records; the objective is the mean of their mean losses.

    Models are rows of the last axis. Leading axes of models and of records broadcast against each other.
    """

    @property
    def clients(self) -> int:
        """Number of clients N."""

    @property
    def samples_per_client(self) -> int:
        """Number n of records of each client in one data set."""

    @property
    def dimension(self) -> int:
        """Dimension d of a model."""

    @property
    def constants(self) -> Constants:
        """Constants that risk bounds depend on, for the objective of the excess risk."""

    @property
    def objective(self) -> Objective:
        """`population`: every repetition draws its data set; `empirical`: the data set is the population itself."""

    def draw(self, generator: np.random.Generator) -> Indices:
        """Draw a data set from the clients' populations; `records` looks up its records.

        Args:
            generator: source of randomness.

        Returns:
            Index of each of the n records of N clients in its client's population, (N, n).
        """

    def draw_fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Indices:
        """Draw fresh records of every client from its population.

        Args:
            generator: source of randomness.
            shape: shape of the array of records of each client.

        Returns:
            Indices in the populations of the N clients, (*shape, N).
        """

    def records(self, clients: Indices, indices: Indices) -> Records:
        """Look up records by their clients and their indices in the clients' populations.

        Args:
            clients: index of the client of each record.
            indices: index of each record in its client's population.

        Returns:
            The records. The shape of the targets is that to which both arrays broadcast.
        """

    def data(self, generator: np.random.Generator) -> Records:
        """Draw a data set of all clients.

        Args:
            generator: source of randomness.

        Returns:
            Features (N, n, d) and targets (N, n).
        """

    def fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Records:
        """Draw fresh records of every client, for algorithms that use each record once.

        Args:
            generator: source of randomness.
            shape: shape of the array of records of each client.

        Returns:
            Features (*shape, N, d) and targets (*shape, N), for N clients and d features.
        """

    def mean_gradient(self, models: Floats, records: Records) -> Floats:
        """Return the mean gradient of K records at each model.

        Args:
            models: models, (…, d), for d coordinates.
            records: features (…, K, d) and targets (…, K).

        Returns:
            Gradients, (…, d).
        """

    def gradients(self, models: Floats, records: Records) -> Floats:
        """Return the gradient of each record at its own model.

        Args:
            models: models, (…, d), for d coordinates.
            records: features (…, d) and targets (…), one record for each model.

        Returns:
            Gradients, (…, d).
        """

    def project(self, models: Floats) -> Floats:
        """Project models onto the domain."""

    def excess(self, models: Floats) -> Floats:
        """Return an upper bound on the excess risk of each model: the objective minus `optimum_value`.

        Args:
            models: models, (…, d), for d coordinates.

        Returns:
            The bounds, (…).

        Guarantees:
            The result is at least the excess risk, and exceeds it by at most `optimum_gap` plus rounding.
        """

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Score the predictions of models on held-out records.

        Args:
            models: models, (…, d).

        Returns:
            Scores by name, (…); empty if no records are held out.
        """

    def facts(self) -> Mapping[str, float | int | str]:
        """Return a description of the problem, without the constants."""
