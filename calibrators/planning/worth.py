"""What an entry is worth in a currency that all entries share: what is left, at most, of what the start may lose.

Where a bound on the excess risk with explicit constants is known, that is the bound over the start's own (L·D and the
like). Where none is, the noise against the signal: with ν the norm of the noise in a round's mean over the bound on the
mean's norm, R rounds of steps leave √((1 + ν²)/R) of it, by `epsilond.averaged-noisy-steps` for one gradient step a
round; for anything else that is a measure of the noise and no bound. A share of 1 or more says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.json_types import JsonObject

if TYPE_CHECKING:
    from epsilond.calibrators.planning.adapter import PlanAdapter
    from epsilond.calibrators.planning.answer import PlannedRisk
    from epsilond.calibrators.planning.problem import PlanProblem

Basis = Literal["risk", "noise"]


@dataclass(frozen=True, kw_only=True)
class Signal:
    """The noise of a round's mean and what it drowns, both as ℓ2 norms."""

    noise_norm: float
    signal_norm: float

    @property
    def ratio(self) -> float:
        """ν."""
        return self.noise_norm / self.signal_norm


def signal_of(adapter: PlanAdapter, plan: PlanProblem, parameters: JsonObject) -> Signal | None:
    """The noise in a round's mean against the bound on the mean, where the noise is of a round; None elsewhere."""
    bound, dimension = plan.lipschitz, plan.dimension
    if adapter.noise_added_to in ("mean-of-updates", "shared-gradient"):
        bound = plan.clipping_norm or plan.lipschitz or 1.0
    if adapter.noise_added_to == "shared-gradient":
        dimension = plan.shared_dimension or plan.dimension
    std = adapter.mean_noise(plan, parameters)
    if std is None or dimension is None or bound is None:
        return None
    return Signal(noise_norm=std * math.sqrt(dimension), signal_norm=bound)


def remaining(risk: PlannedRisk | None, signal: Signal | None, rounds: int | None) -> tuple[float | None, Basis | None]:
    """The share that is left at most, and what tells it; None where nothing does."""
    if risk is not None and risk.constant == "explicit" and risk.baseline is not None:
        return float(risk.value) / risk.baseline.value, "risk"
    if signal is None or rounds is None:
        return None, None
    return math.sqrt((1.0 + signal.ratio**2) / rounds), "noise"
