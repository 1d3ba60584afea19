"""Interface of problems with a shared part and own parts: losses of w + θ_i with known constants."""

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
    """Constants of personalised learning, over all models and all possible records; inf if no bound is known.

    The model of client i is w + θ_i, with shared part w and own part θ_i. The loss of one record is f, and E the mean
    over the records of a client. At the optimum the model of every client minimises its expected loss.

    Attributes:
        lipschitz: bound on the norm of one record's gradient in w, which equals its gradient in θ_i.
        smoothness: joint smoothness of one record's loss in (w, θ_i): twice its smoothness in w + θ_i.
        shared_gradient_std: standard deviation (E‖∇_w f − E ∇_w f‖²)^½ of the gradient in w at the optimum, the same
            for every client.
        local_gradient_std: root mean square (E‖∇_θ f‖²)^½ of the gradient in θ_i at the optimum.
        shared_gradient_norm: norm of a client's expected gradient in w at the optimum: 0, because every own part is at
            its optimum.
        optimum_norm: norm of the mean of the clients' optimal models.
        optimum_spread: root mean square distance of the clients' optima from their mean.
        optimum_gap: uncertainty of the least loss; 0 if it is known exactly.
    """

    lipschitz: float
    smoothness: float
    shared_gradient_std: float
    local_gradient_std: float
    shared_gradient_norm: float
    optimum_norm: float
    optimum_spread: float
    optimum_gap: float = 0.0


class PersonalizedProblem(Protocol):
    """Personalised learning of N clients, each with a distribution of records and a model of its own.

    The model of client i is w + θ_i ∈ R^d, with a shared part w and an own part θ_i. A *row* is one client in one
    round. Several rows have models (rows, d), features of m records (rows, m, d), and targets (rows, m).
    """

    @property
    def clients(self) -> int:
        """Number of clients N."""

    @property
    def dimension(self) -> int:
        """Dimension d of w and of each θ_i."""

    @property
    def objective(self) -> Objective:
        """Kind of the objective: `population`, because records are drawn from each client's distribution."""

    @property
    def constants(self) -> PersonalizedConstants:
        """Constants that risk bounds depend on."""

    @property
    def optima(self) -> Floats:
        """Minimiser v_i of each client's expected loss, (N, d)."""

    def records(self, generator: np.random.Generator, clients: Numbers, batch_size: int) -> Records:
        """Draw fresh records for several participating clients ("rows") at once.

        Args:
            generator: source of randomness.
            clients: index of the client of each row, (rows).
            batch_size: number m of records of each row.

        Returns:
            Features (rows, m, d), for d features, and targets (rows, m).
        """

    def weighted_gradient(self, models: Floats, records: Records, weights: Floats) -> Floats:
        """Return the weighted sum of the gradients over the records of each participating client ("row").

        Args:
            models: model of each row, (rows, d), for d coordinates.
            records: m records of each row, as features (rows, m, d) and targets (rows, m).
            weights: weight of each record, (rows, m).

        Returns:
            The sums, (rows, d).
        """

    def excess(self, models: Floats, shares: Floats) -> Floats:
        """Return the weighted sum of the clients' excess risks.

        The excess risk of a client is the expected loss of its model minus the least expected loss of any model.

        Args:
            models: models of the N clients, (…, N, d), for d coordinates.
            shares: weight of each client, (N).

        Returns:
            Weighted sums, (…).
        """

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Score the predictions of the clients' models on held-out records.

        Args:
            models: models of the N clients, (…, N, d).

        Returns:
            Scores by name, (…); empty if there are no held-out records.
        """

    def facts(self) -> Mapping[str, float | int | str]:
        """Return the entries of the problem's description by name, without the constants."""
