"""How an algorithm reads a plan: the adapters of its record, and the request that one of them makes of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Observer, Quantity, Relation, Unit, quantity_of
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.answer import GuaranteeKind, Reason
from epsilond.calibrators.planning.problem import PlanProblem, Trust

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Objective

NoiseAddedTo = Literal["gradients", "unit-updates", "shared-gradient", "mean-of-updates"]
TARGET = ("epsilon", "delta", "log10_delta")


def nothing(_: PlanProblem) -> Mapping[str, Any]:
    """No field but those that go by the plan's own names."""
    return {}


def asked_relation(plan: PlanProblem) -> Relation:
    """As the plan has it; a unit replaced by another, where it does not say."""
    return plan.relation or "replace-one"


def on_the_mean(plan: PlanProblem, parameters: Mapping[str, Any]) -> float | None:
    """The noise is added to the mean itself."""
    del plan
    std: float | None = parameters.get("noise_std", parameters.get("noise_std_of_mean"))
    return std


def on_each_message(plan: PlanProblem, parameters: Mapping[str, Any]) -> float | None:
    """Every participant adds the noise to its own message."""
    std = parameters.get("noise_std")
    return None if std is None else std / math.sqrt(plan.reporting or 1)


def not_of_one_round(plan: PlanProblem, parameters: Mapping[str, Any]) -> float | None:
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
    """Whose data it can protect; the first where the plan does not say."""
    objective: Objective | None
    """What its risk is of; None where it has none."""
    noise_added_to: NoiseAddedTo = "gradients"
    copied: tuple[str, ...]
    """Fields of the plan that are passed on under their own names, where they are given."""
    read: tuple[str, ...] = ()
    """Further fields of the plan, which `computed` and `assumptions` make use of."""
    computed: Callable[[PlanProblem], Mapping[str, Any]] = nothing
    """Fields of the algorithm that follow from the plan under other names; None is as good as absent."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Of those, the plan's field that stands behind each."""
    relation: Callable[[PlanProblem], Relation] = asked_relation
    """What neighbours are: the plan's, if it says."""
    mean_noise: Callable[[PlanProblem, Mapping[str, Any]], float | None] = not_of_one_round
    """(plan, parameters of the answer) ↦ standard deviation per coordinate of the noise in a round's mean."""
    refusals: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """Conditions that the plan breaks."""
    assumptions: Callable[[PlanProblem], Iterable[Reason]] = no_reasons
    """What was taken for granted."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What one adapter of one algorithm makes of a plan: its request, or why there is none."""

    calibrator: Calibrator
    adapter: PlanAdapter
    guarantee: GuaranteeKind
    unused: tuple[str, ...]
    request: Any = None
    why: tuple[Reason, ...]

    @property
    def name(self) -> str:
        """The algorithm, and which variant of it where there are several."""
        return self.calibrator.name + (f" ({self.adapter.variant})" if self.adapter.variant else "")


def draft(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> Draft:
    """The adapter's request for a plan, or the reasons why it has none. Never raises."""
    kind = GuaranteeKind(
        definition=adapter.definition,
        unit=plan.unit or adapter.units[0],
        relation=adapter.relation(plan),
        observer=adapter.observer,
    )
    used = {*TARGET, *adapter.copied, *adapter.read}
    unused = tuple(name for name in plan.given if name not in used)
    reasons = [*_unwanted(adapter, plan), *adapter.refusals(plan)]
    values = _values(calibrator, adapter, plan, kind)
    reasons += _missing(calibrator, adapter, values, told={reason.pointer for reason in reasons})
    request = None
    if not reasons:
        try:
            request = calibrator.problem(**values)
        except InvalidInput as error:
            reasons += [_renamed(Reason.of(fault), adapter) for fault in error.faults]
    why = tuple(reasons) if request is None else tuple(adapter.assumptions(plan))
    return Draft(calibrator=calibrator, adapter=adapter, guarantee=kind, unused=unused, request=request, why=why)


def _unwanted(adapter: PlanAdapter, plan: PlanProblem) -> Iterable[Reason]:
    """What the plan wants and the algorithm does not give."""
    if plan.trust is not None and adapter.definition not in plan.trust:
        yield Reason(
            message=f"its guarantee is {adapter.definition}, which the plan does not accept",
            pointer="/trust",
            allowed=adapter.definition,
        )
    if plan.observers is not None and adapter.observer not in plan.observers:
        yield Reason(
            message=f"its guarantee is against {adapter.observer}, which the plan does not accept",
            pointer="/observers",
            allowed=adapter.observer,
        )
    if plan.unit is not None and plan.unit not in adapter.units:
        yield Reason(
            message=f"it protects a {adapter.units[0]}, not a {plan.unit}",
            pointer="/unit",
            allowed=", ".join(adapter.units),
        )


def _values(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem, kind: GuaranteeKind) -> dict[str, Any]:
    own = {item.name for item in fields(calibrator.problem)}
    passed: dict[str, Any] = {name: getattr(plan, name) for name in (*TARGET, *adapter.copied)}
    wanted: dict[str, Any] = {name: getattr(kind, name) for name in ("unit", "relation", "observer") if name in own}
    passed |= wanted | dict(adapter.computed(plan))
    return {name: value for name, value in passed.items() if value is not None}


def _missing(
    calibrator: Calibrator, adapter: PlanAdapter, values: Mapping[str, Any], told: set[str | None]
) -> Iterable[Reason]:
    """The algorithm's own needs that the plan leaves open, each in words."""
    for own, quantity in _needed(calibrator.problem):
        name = adapter.renamed.get(own, own)
        if own in values or f"/{name}" in told:
            continue
        symbol = f" ({quantity.symbol})" if quantity is not None and quantity.symbol else ""
        meaning = f": {quantity.description}" if quantity is not None else ""
        yield Reason(message=f"needs {name}{symbol}{meaning}", pointer=f"/{name}")


@cache
def _needed(problem: Hashable) -> tuple[tuple[str, Quantity | None], ...]:
    """The fields of a problem that have no default, and what they mean."""
    hints = get_type_hints(problem, include_extras=True)
    return tuple(
        (each.name, quantity_of(hints[each.name])[1])
        for each in fields(problem)  # type: ignore[arg-type]
        if each.default is MISSING and each.default_factory is MISSING
    )


def _renamed(reason: Reason, adapter: PlanAdapter) -> Reason:
    """With the pointer of the plan's own field."""
    first, *rest = (reason.pointer or "").removeprefix("/").split("/")
    pointer = "/" + "/".join([adapter.renamed.get(first, first), *rest])
    return Reason(message=reason.message, pointer=pointer, allowed=reason.allowed)
