"""A run that uses each record once in noisy descent, and its noise by Theorem 2.3 of Lowy and Razaviyayn."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import client_factor


def one_pass_noise_std(*, lipschitz: float, batch_size: int, epsilon: float, log_delta: float) -> float:
    """Return the standard deviation of the noise in Theorem 2.3 of Lowy and Razaviyayn.

    For a mean gradient over K records, it is in each coordinate:

        σ = √(32 L² ln(1.25/δ))/(εK).

    The paper takes it from the Gaussian mechanism of Bun and Steinke at sensitivity 2L/K. It is 1.05 to 3.3 times the
    least sufficient σ.

    Args:
        lipschitz: bound L on the norm of a record's gradient.
        batch_size: number K of records of a batch, at least 1.
        epsilon: privacy parameter ε of the target, in (0, 8 ln(1/δ)].
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The standard deviation σ, in the unit of a gradient.
    """
    logarithm = math.log(1.25) - log_delta  # ln(1.25/δ)
    return math.sqrt(32.0 * logarithm) * lipschitz / (epsilon * batch_size)


def one_pass_rounds(*, samples_per_client: int, batch_size: int) -> int:
    """Return the number ⌊n/K⌋ of rounds in one pass over a client's n records with disjoint batches of K."""
    return samples_per_client // batch_size


@dataclass(frozen=True, kw_only=True)
class OnePassFacts:
    """A federation of equal clients that uses each record once in noisy descent, and the loss on its domain.

    Attributes:
        epsilon: ε of the privacy target of every record, in nats.
        log_delta: natural logarithm of the target's δ.
        samples_per_client: records n of a client.
        clients: number N of clients.
        participants: M = 1/E[1/M_r] for the number M_r of participants in a round.
        dimension: number d of coordinates.
        lipschitz: Lipschitz constant L of the loss.
        diameter: diameter D of the domain.
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
        gradient_std: standard deviation φ of a record's gradient.
        heterogeneity: standard deviation v of the clients' expected gradients.
        gap: excess risk Δ of the first iterate. It is used for strongly convex losses only.
    """

    epsilon: float
    log_delta: float
    samples_per_client: int
    clients: int
    participants: float
    dimension: int
    lipschitz: float
    diameter: float
    smoothness: float
    strong_convexity: float
    gradient_std: float
    heterogeneity: float
    gap: float

    @property
    def condition_number(self) -> float:
        """The condition number κ = β/μ."""
        return self.smoothness / self.strong_convexity

    @property
    def privacy(self) -> float:
        """d ln(1/δ), the factor of privacy in every rate."""
        return self.dimension * -self.log_delta

    @property
    def records(self) -> float:
        """nM, the number of records of the clients that take part in a round."""
        return float(self.samples_per_client) * self.participants

    @property
    def left_out(self) -> float:
        """(N − M)/(N − 1), the factor that v²/M gets because clients are sampled without replacement; 0 for N = 1."""
        return self.participants * client_factor(clients=self.clients, participants=self.participants)

    @property
    def reach(self) -> float:
        """εn, the effective number of records of a client under privacy."""
        return self.epsilon * self.samples_per_client
