"""What a learning problem is to an algorithm: losses whose constants are known because the population is finite."""

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
    """What is true of the problem by construction, over all models in the domain and all possible records."""

    lipschitz: float
    """Bound on the norm of one record's gradient, of any record that there might be, in the population or not."""
    smoothness: float
    """Bound on the Lipschitz constant of one record's gradient; 0 for linear losses."""
    strong_convexity: float
    """Every record's loss is that strongly convex; 0 if it is convex."""
    diameter: float
    """Of the domain, a ball around 0: its radius is half of it."""
    gradient_std: float
    """Bound on (E‖∇f(w, x) − ∇F_i(w)‖²)^½ over clients i and models w."""
    heterogeneity: float
    """Bound on (mean over clients of ‖∇F_i(w) − ∇F(w)‖²)^½ over models w; 0 if the clients' populations are equal."""
    optimum_norm: float
    """Norm of the minimiser that is used."""
    optimum_value: float
    """Certified lower bound of the objective over the domain, below its minimum by at most `optimum_gap`."""
    optimum_gap: float
    """Certified bound on objective(minimiser) − minimum."""
    initial_gap: float
    """Bound on the excess risk of the centre of the ball, where runs start."""


@dataclass(frozen=True)
class Records:
    """Records of one or more repetitions: features (…, d) and targets (…), leading axes alike."""

    features: Floats
    targets: Floats


class SimulatedProblem(Protocol):
    """N clients, each with a finite population of records; the objective is the mean of their mean losses.

    Models are rows of the last axis. Leading axes of models and of records broadcast against each other.
    """

    @property
    def clients(self) -> int:
        """N."""

    @property
    def samples_per_client(self) -> int:
        """n, the records of each client in one data set."""

    @property
    def dimension(self) -> int:
        """d, of a model."""

    @property
    def constants(self) -> Constants:
        """What bounds need, for the objective that excess risk is measured against."""

    @property
    def objective(self) -> Objective:
        """`population`: data sets are drawn anew in each repetition; `empirical`: the data is the population itself."""

    def draw(self, generator: np.random.Generator) -> Indices:
        """One data set, as places in the clients' populations: (N, n), to be read by `records`. Takes little memory."""

    def draw_fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Indices:
        """Records drawn anew, as places: (*shape, N)."""

    def records(self, clients: Indices, drawn: Indices) -> Records:
        """Records of clients by their places; both arrays broadcast to the leading axes of what is returned."""

    def data(self, generator: np.random.Generator) -> Records:
        """One data set: features (N, n, d), targets (N, n)."""

    def fresh(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Records:
        """Records drawn anew, for algorithms that use each once: `shape` records from every client.

        Features (*shape, N, d), targets (*shape, N).
        """

    def mean_gradient(self, models: Floats, records: Records) -> Floats:
        """Mean over the records' last leading axis of the gradients: models (…, d), records (…, K, d) → (…, d)."""

    def gradients(self, models: Floats, records: Records) -> Floats:
        """Of each record at its own model: models (…, d), records (…, d) → (…, d)."""

    def project(self, models: Floats) -> Floats:
        """To the nearest models of the domain."""

    def excess(self, models: Floats) -> Floats:
        """Objective minus `optimum_value`: (…, d) → (…).

        Never below the excess risk, and above it by no more than `optimum_gap` and what rounding adds.
        """

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """How well models predict records that were held out, by name: (…, d) → (…). Empty where none were."""

    def facts(self) -> Mapping[str, float | int | str]:
        """What to tell people of it, beside the constants."""
