"""The minimiser of least α-norm, and the bound of PPSGD from its quantities at one α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from epsilond.accountants.theorems.risk.bietti.step_bounds import (
    FullParticipationBound,
    parts_at_step,
    theorem_bound,
    theorem_step,
)


def minimal_norm(*, alpha: float, clients: int, mean_squared: float, spread_squared: float) -> float:
    """Return the least squared norm of a model that fits every client's optimum.

    Client i uses the sum w + θ_i of a shared part w and an own part θ_i, and its optimum is v_i. The squared norm is
    ‖w‖²/α + Σ‖θ_i‖². Its least value over all w and θ_i with w + θ_i = v_i is:

        N‖v̄‖²/(αN + 1) + S.

    Args:
        alpha: weight α of the shared part w, in [0, ∞].
        clients: number N of clients.
        mean_squared: squared norm ‖v̄‖² of the mean of the optima.
        spread_squared: sum S = Σ‖v_i − v̄‖² of the squared distances of the optima from their mean.

    Returns:
        The least squared norm; S at α = ∞.
    """
    if math.isinf(alpha):
        return spread_squared
    return clients * mean_squared / (alpha * clients + 1.0) + spread_squared


def shared_part(*, alpha: float, clients: int) -> float:
    """Return the ratio αN/(αN + 1) of the shared part of the least-norm minimiser to the mean v̄ of the optima.

    Client i of N uses the sum w + θ_i of a shared part w and an own part θ_i. Among all choices that give every client
    its optimum, that with the least ‖w‖²/α + Σ‖θ_i‖² has w = αN/(αN + 1) v̄.

    Args:
        alpha: weight α of the shared part, in [0, ∞].
        clients: number N of clients.

    Returns:
        The ratio, in [0, 1]. It is 1 at α = ∞.
    """
    if math.isinf(alpha):
        return 1.0
    return alpha * clients / (alpha * clients + 1.0)


class BoundFactors(NamedTuple):
    """Quantities that determine the bound of Theorem 4.5 of Bietti et al. on the excess risk, and its step size.

    Client i uses the sum w + θ_i of a shared part w and an own part θ_i. The squared α-norm is ‖w‖²/α + Σ‖θ_i‖².

    Attributes:
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser, in the α-norm.
        smoothness: smoothness L_α in the α-norm.
        variance: variance σ²_α of a step.
        sampled: part of σ²_α‖z*‖² that is due to sampling.
        private: part of σ²_α‖z*‖² that is due to noise.
    """

    squared_norm: float
    smoothness: float
    variance: float
    sampled: float
    private: float

    def step(self, rounds: int) -> float:
        """Return the step size of Theorem 4.5, min{1/(4L_α), ‖z*‖/(√n σ_α)} for n rounds."""
        norm = math.sqrt(self.squared_norm)
        return theorem_step(smoothness=self.smoothness, norm=norm, variance=self.variance, rounds=rounds)

    def bound(self, rounds: int) -> FullParticipationBound:
        """Return the bound of Theorem 4.5, 4L_α‖z*‖²/n + 3σ_α‖z*‖/√n for n rounds, by its two summands."""
        smooth = self.smoothness * self.squared_norm
        return theorem_bound(smooth=smooth, variance=self.sampled + self.private, rounds=rounds)

    def proved_bound(self, rounds: int) -> FullParticipationBound:
        """Return the sharper bound in the proof of Theorem 4.5 of Bietti et al., at the step size of the theorem.

        It is inequality (22), which the proof simplifies to the bound of the theorem.

        Args:
            rounds: number n of rounds.

        Returns:
            The two summands of the bound, in units of the loss.
        """
        return parts_at_step(
            step=self.step(rounds),
            smoothness=self.smoothness,
            squared_norm=self.squared_norm,
            variance=self.variance,
            rounds=rounds,
        )


@dataclass(frozen=True, kw_only=True)
class PersonalizationBounds:
    """Three bounds of Bietti et al. on the excess risk of personalised SGD at one weight α, in units of the loss.

    α is the weight of the part of a model that all clients share. The bound `total` of the theorem is the largest. The
    proof has smaller bounds at the same step sizes, the inequalities (22) and (23): `proved` ≤ `bound_23` ≤ `total`.

    Attributes:
        alpha: weight α of the shared part, in [0, ∞].
        optimisation: summand of `total` from the distance between the start and the minimiser.
        variance: summand of `total` from sampling and noise.
        statistical: the value of `variance` without noise.
        privacy: the value of `variance` without sampling.
        bound_23: the bound of inequality (23).
        proved: the bound of inequality (22), by its two summands.
        step_size: step size of the clients' own parts.
        shared_step_size: step size of the shared part.
    """

    alpha: float
    optimisation: float
    variance: float
    statistical: float
    privacy: float
    bound_23: float
    proved: FullParticipationBound
    step_size: float
    shared_step_size: float

    @property
    def total(self) -> float:
        """Bound of Theorem 4.5 for full participation, and of Theorem 5.2 or B.4 for sampled clients."""
        return self.optimisation + self.variance
