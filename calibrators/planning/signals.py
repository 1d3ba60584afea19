"""The noise of a round in comparison with its signal, and the share of the initial excess risk that remains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.windows import for_whole_unit

if TYPE_CHECKING:
    from epsilond.calibrators.planning.adapter import PlanAdapter
    from epsilond.calibrators.planning.answer import PlannedRisk
    from epsilond.calibrators.planning.problem import PlanProblem

Basis = Literal["risk", "noise"]


@dataclass(frozen=True, kw_only=True)
class Signal:
    """The norms of the noise in a round's mean, and of the mean itself, which is the signal.

    Attributes:
        noise_norm: ℓ2 norm of the noise, root mean square.
        signal_norm: bound on the ℓ2 norm of the mean without noise, above 0.
    """

    noise_norm: float
    signal_norm: float

    @property
    def ratio(self) -> float:
        """Ratio ν of the norm of the noise to the largest norm of the mean."""
        return self.noise_norm / self.signal_norm


def signal_of(adapter: PlanAdapter, plan: PlanProblem, parameters: JsonObject) -> Signal | None:
    """Return the norm of the noise in a round's mean, and a bound on the norm of the mean itself.

    Updates and shared gradients are clipped. Their bound is the clipping norm; without it, the Lipschitz constant or
    1. The bound of other gradients is the Lipschitz constant. The noise has the root mean square norm σ√d, with the
    standard deviation σ per coordinate and d coordinates.

    Args:
        adapter: the adapter of the algorithm, which knows where the noise is added.
        plan: the plan, with the bounds and the number of coordinates.
        parameters: JSON form of the calibrated parameters.

    Returns:
        Both norms; None if σ, d, or the Lipschitz constant of gradients that are not clipped is unknown.
    """
    # The bound on the norm of the mean, and the number of coordinates that get noise.
    bound = plan.lipschitz
    dimension = plan.dimension
    if adapter.noise_added_to in ("mean-of-updates", "shared-gradient"):
        bound = plan.clipping_norm or plan.lipschitz or 1.0
    if adapter.noise_added_to == "shared-gradient":
        dimension = plan.shared_dimension or plan.dimension

    # A time window of the protected unit does not change the noise.
    std = adapter.mean_noise(for_whole_unit(plan), parameters)
    if std is None or dimension is None or bound is None:
        return None
    return Signal(noise_norm=std * math.sqrt(dimension), signal_norm=bound)


def share_and_basis(
    risk: PlannedRisk | None, signal: Signal | None, rounds: int | None
) -> tuple[float | None, Basis | None]:
    """Estimate which share of the initial excess risk remains after training.

    If the risk bound has explicit constants, and the bound for the initial model is known, the share is the quotient of
    both. Otherwise the share is √((1 + ν²)/R), for R rounds and the ratio ν of noise to signal in a round's mean.

    Args:
        risk: the bound on the excess risk, if any.
        signal: the noise and the signal of a round, if known.
        rounds: rounds of the run, if known.

    Returns:
        The share, and the word for its origin: `risk` for the quotient of bounds, `noise` for the other formula. Both
        are None if neither formula can be computed.
    """
    if risk is not None and risk.constant == "explicit" and risk.baseline is not None:
        return float(risk.value) / risk.baseline.value, "risk"
    if signal is None or rounds is None:
        return None, None
    return math.sqrt((1.0 + signal.ratio**2) / rounds), "noise"
