"""A learning problem whose clients have a shared part and a part of their own: losses of w + θ_i, constants known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from epsilond.simulators.problems.problem import Floats, Objective, Records

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class PersonalizedConstants:
    """What is true of the problem by construction, over all models and all possible records; inf if there is none."""

    lipschitz: float
    """Bound on the norm of one record's gradient in w, which is that in θ_i."""
    smoothness: float
    """One record's loss is that smooth jointly in (w, θ_i): twice what it is in w + θ_i."""
    shared_gradient_std: float
    """(E‖∇_w f − E ∇_w f‖²)^½ of one record at the optimum, the same for every client."""
    local_gradient_std: float
    """(E‖∇_θ f‖²)^½ of one record at the optimum."""
    shared_gradient_norm: float
    """Norm of a client's expected gradient in w at the optimum: 0, as every client's own part is at its optimum."""
    optimum_norm: float
    """‖v̄‖ of the mean of the clients' optima."""
    optimum_spread: float
    """Root mean square distance of the clients' optima from their mean."""
    optimum_gap: float = 0.0
    """The least loss is known exactly."""


class PersonalizedProblem(Protocol):
    """N clients; client i draws fresh records from its own law, and its loss is one of w + θ_i ∈ R^d.

    A *row* is one client in one round: models (rows, d), records (rows, m, d) and (rows, m).
    """

    @property
    def clients(self) -> int:
        """N."""

    @property
    def dimension(self) -> int:
        """d, of w and of each θ_i."""

    @property
    def objective(self) -> Objective:
        """`population`: every record is drawn anew."""

    @property
    def constants(self) -> PersonalizedConstants:
        """What bounds need."""

    @property
    def optima(self) -> Floats:
        """(N, d): the minimiser v_i of each client's expected loss."""

    def records(self, generator: np.random.Generator, clients: Numbers, batch_size: int) -> Records:
        """`batch_size` fresh records for each row, of the client named there."""

    def weighted_gradient(self, models: Floats, records: Records, weights: Floats) -> Floats:
        """Σ over a row's records of weight times gradient: weights (rows, m) → (rows, d)."""

    def excess(self, models: Floats, shares: Floats) -> Floats:
        """Σ_i share_i (expected loss of client i at its model − the least), exactly: (…, N, d), (N,) → (…)."""

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Of clients' models (…, N, d) on the records that they hold out, by name, (…); empty if they hold out none."""

    def facts(self) -> Mapping[str, float | int | str]:
        """What to tell people of it, beside the constants."""
