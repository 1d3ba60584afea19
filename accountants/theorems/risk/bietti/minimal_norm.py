"""The minimiser of least α-norm, and the bound of PPSGD from its quantities at one α."""

from __future__ import annotations

import math
from typing import NamedTuple

from epsilond.accountants.theorems.risk.bietti.full_participation import (
    FullParticipationBound,
    parts_at_step,
    theorem_bound,
    theorem_step,
)


def minimal_norm(*, alpha: float, clients: int, mean_squared: float, spread_squared: float) -> float:
    """Return the least value of ‖w‖²/α + Σ‖θ_i‖² over all w and θ_i with w + θ_i = v_i, the optimum of client i.

    It is N‖v̄‖²/(αN + 1) + S, with the mean v̄ of the optima.

    Args:
        alpha: weight α of the shared part w, in [0, ∞].
        clients: number N of clients.
        mean_squared: squared norm ‖v̄‖² of the mean of the optima.
        spread_squared: sum S = Σ‖v_i − v̄‖² of the squared distances of the optima from their mean.
    """
    if math.isinf(alpha):
        return spread_squared
    return clients * mean_squared / (alpha * clients + 1.0) + spread_squared


def shared_part(*, alpha: float, clients: int) -> float:
    """Return the ratio w/v̄ = αN/(αN + 1); 1 at α = ∞."""
    return 1.0 if math.isinf(alpha) else alpha * clients / (alpha * clients + 1.0)


class BoundFactors(NamedTuple):
    """The quantities at one α from which the bound and its step size are computed.

    `squared_norm` is ‖z*‖², `smoothness` L_α, and `variance` σ²_α. `sampled` and `private` are the parts of σ²_α‖z*‖²
    that are due to sampling and to noise.
    """

    squared_norm: float
    smoothness: float
    variance: float
    sampled: float
    private: float

    def step(self, rounds: int) -> float:
        """Return the step size of the theorem."""
        norm = math.sqrt(self.squared_norm)
        return theorem_step(smoothness=self.smoothness, norm=norm, variance=self.variance, rounds=rounds)

    def bound(self, rounds: int) -> FullParticipationBound:
        """Return the bound of the theorem."""
        smooth = self.smoothness * self.squared_norm
        return theorem_bound(smooth=smooth, variance=self.sampled + self.private, rounds=rounds)

    def proved_bound(self, rounds: int) -> FullParticipationBound:
        """Return the smaller bound of `parts_at_step` at the step size of the theorem."""
        return parts_at_step(
            step=self.step(rounds),
            smoothness=self.smoothness,
            squared_norm=self.squared_norm,
            variance=self.variance,
            rounds=rounds,
        )
