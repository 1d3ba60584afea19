"""How an algorithm reads a plan: the adapter of one of its variants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, Unit
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem, Trust

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Objective

NoiseAddedTo = Literal["gradients", "unit-updates", "shared-gradient", "mean-of-updates"]


def nothing(_: PlanProblem) -> JsonObject:
    """No field but those that go by the plan's own names."""
    return {}


def on_the_mean(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """The noise is added to the mean itself."""
    del plan
    std: float | None = parameters.get("noise_std", parameters.get("noise_std_of_mean"))
    return std


def on_each_message(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Every participant adds the noise to its own message."""
    std = parameters.get("noise_std")
    return None if std is None else std / math.sqrt(plan.reporting or 1)


def not_of_one_round(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Noise that is of several rounds, or of no mean."""
    del plan, parameters
    return None


def no_reasons(_: PlanProblem) -> Iterable[Reason]:
    """Nothing to say."""
    return ()


@dataclass(frozen=True, kw_only=True)
class PlanAdapter:
    """One variant of an algorithm: what it guarantees to whom, and which of its fields come from the plan."""

    variant: str | None = None
    definition: Trust
    observer: Observer
    units: tuple[Unit, ...]
    """Whose data it can protect."""
    objective: Objective | None
    """What its risk is of; None where it has none."""
    noise_added_to: NoiseAddedTo = "gradients"
    copied: tuple[str, ...]
    """Fields of the plan that are passed on under their own names, where they are given."""
    read: tuple[str, ...] = ()
    """Further fields of the plan, which `computed` and `assumptions` make use of."""
    computed: Callable[[PlanProblem], JsonObject] = nothing
    """Fields of the algorithm that follow from the plan under other names; None is as good as absent."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Of those, the plan's field that stands behind each."""
    mean_noise: Callable[[PlanProblem, JsonObject], float | None] = not_of_one_round
    """(plan, parameters of the answer) ↦ standard deviation per coordinate of the noise in a round's mean."""
    refusals: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """Conditions that the plan breaks."""
    assumptions: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """What was taken for granted."""
