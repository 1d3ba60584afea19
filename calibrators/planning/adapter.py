"""Adapters, which make the request of an algorithm from a plan, for each of its variants."""

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
    """Return no fields, for an algorithm that takes all its fields from the plan under the plan's names."""
    return {}


def noise_of_mean(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Return the standard deviation of the noise in a round's mean, if the noise is added to the mean itself."""
    del plan
    std: float | None = parameters.get("noise_std", parameters.get("noise_std_of_mean"))
    return std


def noise_of_messages(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Return the standard deviation of the noise in a round's mean, if each participant adds noise to its own message.

    It is σ/√M, for M participants and the standard deviation σ of each message's noise; None without σ.
    """
    std = parameters.get("noise_std")
    return None if std is None else std / math.sqrt(plan.reporting or 1)


def no_round_noise(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Return None, for an algorithm in which the mean of a round has no independent noise."""
    del plan, parameters
    return None


def no_reasons(_: PlanProblem) -> Iterable[Reason]:
    """Return no reasons, for an adapter that refuses no plan or makes no assumption."""
    return ()


@dataclass(frozen=True, kw_only=True)
class PlanAdapter:
    """The translation of plans into requests of one variant of an algorithm, with the kind of its guarantee."""

    variant: str | None = None
    definition: Trust
    observer: Observer
    units: tuple[Unit, ...]
    """Units that the variant can protect."""
    objective: Objective | None
    """Objective of the bound on the risk; None if there is no bound."""
    noise_added_to: NoiseAddedTo = "gradients"
    copied: tuple[str, ...]
    """Fields of the plan that are passed on under their own names, if the plan gives them."""
    read: tuple[str, ...] = ()
    """Further fields of the plan, which `computed` and `assumptions` use."""
    computed: Callable[[PlanProblem], JsonObject] = nothing
    """Fields of the algorithm that follow from the plan under other names; a field that is None counts as absent."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Names of computed fields ↦ the field of the plan that each comes from."""
    mean_noise: Callable[[PlanProblem, JsonObject], float | None] = no_round_noise
    """(plan, parameters of the answer) ↦ standard deviation per coordinate of the noise in a round's mean."""
    refusals: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """Conditions that the plan breaks."""
    assumptions: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """Assumptions that the adapter makes about the plan."""
