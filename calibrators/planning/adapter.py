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
    """Return the standard deviation of the noise in a round's mean, if participants add noise to their own messages.

    It is σ/√M, for M participants and the standard deviation σ of each message's noise.

    Args:
        plan: the plan, with the number of participants.
        parameters: JSON form of the calibrated parameters, with σ as `noise_std`.

    Returns:
        The standard deviation per coordinate; None without σ.
    """
    message_std: float | None = parameters.get("noise_std")
    if message_std is None:
        return None
    return message_std / math.sqrt(plan.reporting or 1)


def no_round_noise(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Return None, for an algorithm in which the mean of a round has no independent noise."""
    del plan, parameters
    return None


def no_reasons(_: PlanProblem) -> Iterable[Reason]:
    """Return no reasons, for an adapter that rejects no plan or makes no assumption."""
    return ()


@dataclass(frozen=True, kw_only=True)
class PlanAdapter:
    """The translation of plans into requests of one variant of an algorithm, with the kind of its guarantee.

    A plan describes a learning problem without an algorithm.

    Attributes:
        variant: name of the variant; None if the algorithm has only one.
        definition: trust model of the guarantee.
        observer: the adversary of the guarantee.
        units: units that the variant can protect.
        objective: objective of the bound on the risk; None if there is no bound.
        noise_added_to: the quantity that gets the noise.
        copied: fields of the plan that are passed on under their own names, if the plan gives them.
        read: further fields of the plan, which `computed` and `assumptions` use.
        computed: function from a plan to fields of the algorithm that the plan has under other names. A field that is
            None counts as absent.
        renamed: for a computed field, the name of the plan's field that it comes from.
        mean_noise: function from a plan and calibrated parameters to the noise in a round's mean: its standard
            deviation per coordinate, or None if it is unknown.
        refusals: function from a plan to the conditions of the algorithm that the plan violates.
        assumptions: function from a plan to the assumptions that the adapter makes about it.
    """

    variant: str | None = None
    definition: Trust
    observer: Observer
    units: tuple[Unit, ...]
    objective: Objective | None
    noise_added_to: NoiseAddedTo = "gradients"
    copied: tuple[str, ...]
    read: tuple[str, ...] = ()
    computed: Callable[[PlanProblem], JsonObject] = nothing
    renamed: Mapping[str, str] = field(default_factory=dict)
    mean_noise: Callable[[PlanProblem, JsonObject], float | None] = no_round_noise
    refusals: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    assumptions: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
