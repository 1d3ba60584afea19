"""A run with cancelled noise, and the constants of its losses."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.quantities import SQUARES, Dimension, ParticipantFields, Quantity, Rounds, request
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import LossConstants, value_or_bound
from epsilond.accountants.theorems.risk.reshef_levy.variance import client_share

OPTIMUM_GRADIENT_NORM = Quantity(
    symbol="‖∇f(x*)‖",
    ge=0,
    scale=SQUARES,
    unit="loss/length",
    description="norm of the expected loss's gradient at the minimiser in the domain; 0 if the minimiser is an "
    "interior point. Absent: the value of lipschitz",
)


@request
class CancellationRun(ParticipantFields, LossConstants):
    """A run in which m of M clients report in each of T rounds with cancelled noise, and the constants of the losses.

    Absent standard deviations of gradients, and an absent norm of the gradient at the minimiser, have the largest value
    that the other constants allow.
    """

    rounds: Rounds
    dimension: Dimension
    optimum_gradient_norm: Annotated[float | None, OPTIMUM_GRADIENT_NORM] = None

    @property
    def gradient_at_optimum(self) -> float:
        """The norm G* of the gradient at the minimiser; G if it is absent."""
        return value_or_bound(self.optimum_gradient_norm, self.lipschitz)

    @property
    def rate(self) -> float:
        """The share p = m/M of the clients that report in a round."""
        return self.participants / self.clients

    @property
    def printed_variance(self) -> float:
        """The variance σ̃² + ξ̃² of Theorems 5.2 and F.2: that of records, plus that of clients."""
        return self.total_gradient_std**2 + self.total_heterogeneity**2

    @property
    def variance(self) -> float:
        """The variance σ̃² + (M − m)/(M − 1) ξ̃² of Lemma 4.2: that of records, plus that of sampled clients."""
        share = client_share(clients=self.clients, participants=self.participants)
        return self.total_gradient_std**2 + share * self.total_heterogeneity**2

    @property
    def steps(self) -> float:
        """The sum A = T(T + 1)/2 of the weights 1, …, T of the rounds."""
        return 0.5 * self.rounds * (self.rounds + 1.0)
