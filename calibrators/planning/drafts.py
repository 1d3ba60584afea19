"""The request that an adapter of an algorithm makes of a plan."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.accountants.quantities import Quantity, SettingFields, quantity_of
from epsilond.accountants.quantities.risks import RISK_FIELDS
from epsilond.calibrators.absences import require_present_clients
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import GuaranteeKind, Reason
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.windows import for_whole_unit

TARGET = ("epsilon", "delta", "log10_delta", *RISK_FIELDS)
"""Fields of the plan that state the target. They are passed to every algorithm."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A request that one variant of an algorithm makes from a plan, or the reasons why the variant does not apply.

    Attributes:
        calibrator: the algorithm.
        adapter: the translation of plans into requests of the variant.
        guarantee: the kind of guarantee that the variant gives.
        unused: given fields of the plan that do not affect the request.
        request: the request; None if the variant does not apply.
        why: assumptions that the adapter makes; without a request, the reasons why there is none.
    """

    calibrator: Calibrator
    adapter: PlanAdapter
    guarantee: GuaranteeKind
    unused: tuple[str, ...]
    request: Any = None
    why: tuple[Reason, ...]

    @property
    def name(self) -> str:
        """Name of the algorithm, followed by the variant in parentheses if there are several."""
        return self.calibrator.name + (f" ({self.adapter.variant})" if self.adapter.variant else "")


def draft(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem) -> Draft:
    """Translate a plan into a request of an algorithm, or give the reasons why the algorithm does not apply.

    Faults of the plan's fields become reasons. No `InvalidInput` is raised for them.

    Args:
        calibrator: the algorithm.
        adapter: translation of the plan's fields into the algorithm's fields, for one of its variants.
        plan: the plan, which describes a learning problem and a privacy target without an algorithm.

    Returns:
        The draft. It has the request and the adapter's assumptions, or no request and the reasons.
    """
    kind = GuaranteeKind(
        definition=adapter.definition,
        unit=plan.unit,
        relation=plan.relation,
        observer=adapter.observer,
    )
    # Algorithms are calibrated for a record or a client, not for its contributions in a window of time.
    whole_plan = for_whole_unit(plan)
    values = _field_values(calibrator, adapter, whole_plan, kind)
    reasons = [*_unmet_requirements(adapter, whole_plan), *adapter.refusals(whole_plan)]
    reasons += _reasons_for_missing_fields(calibrator, adapter, values, pointers={reason.pointer for reason in reasons})

    request = None
    if not reasons:
        request, reasons = _make_request(calibrator, adapter, values)  # which may have further faults
    why = reasons if request is None else adapter.assumptions(whole_plan)

    used_names = set(TARGET) | set(adapter.copied) | set(adapter.read)
    unused = tuple(name for name in whole_plan.given if name not in used_names)
    return Draft(
        calibrator=calibrator,
        adapter=adapter,
        guarantee=kind,
        unused=unused,
        request=request,
        why=tuple(why),
    )


def _make_request(calibrator: Calibrator, adapter: PlanAdapter, values: Fields) -> tuple[Any, list[Reason]]:
    """Make the request of an algorithm from its fields, or give the reasons why the fields are invalid.

    Args:
        calibrator: the algorithm.
        adapter: the adapter, which has the plan's names of the fields.
        values: values of the algorithm's fields by name. Absent fields have their defaults.

    Returns:
        The request and no reasons; or None and a reason for each invalid field, under the field's name in the plan.
    """
    try:
        request = calibrator.problem(**values)
        if isinstance(request, SettingFields):
            require_present_clients(for_whole_unit(request), adapter.definition)
    except InvalidInput as error:
        return None, [_rename_pointer(Reason.of(fault), adapter) for fault in error.faults]
    return request, []


def _unmet_requirements(adapter: PlanAdapter, plan: PlanProblem) -> Iterable[Reason]:
    """Yield a reason for each of the plan's requirements on trust, observer and unit that the variant does not meet.

    Args:
        adapter: variant of an algorithm, with the kind of its guarantee.
        plan: the plan. It lists the accepted trust models and observers, and names the unit to protect.

    Yields:
        Up to three reasons, with the field of the plan and the values that the variant allows.
    """
    if plan.trust is not None and adapter.definition not in plan.trust:
        yield Reason(
            message=f"its guarantee is {adapter.definition}, which the plan does not accept",
            pointer="/trust",
            allowed=adapter.definition,
        )
    if adapter.observer not in plan.observers:
        yield Reason(
            message=f"its guarantee is against {adapter.observer}, which the plan does not accept",
            pointer="/observers",
            allowed=adapter.observer,
        )
    if plan.unit not in adapter.units:
        yield Reason(
            message=f"it protects a {adapter.units[0]}, not a {plan.unit}",
            pointer="/unit",
            allowed=", ".join(adapter.units),
        )


def _field_values(calibrator: Calibrator, adapter: PlanAdapter, plan: PlanProblem, kind: GuaranteeKind) -> Fields:
    """Return the values of the fields of an algorithm's request that a plan determines.

    Args:
        calibrator: the algorithm.
        adapter: the adapter, which copies and computes fields.
        plan: the plan, which describes a learning problem and a privacy target without an algorithm.
        kind: the kind of guarantee. Its unit, relation and observer are passed to requests that have such fields.

    Returns:
        Values by the names of the algorithm's fields, without fields that are None.
    """
    field_names = {item.name for item in fields(calibrator.problem)}
    target = [name for name in TARGET if name in field_names]
    values: Fields = {name: getattr(plan, name) for name in (*target, *adapter.copied)}
    for name in ("unit", "relation", "observer"):
        if name in field_names:
            values[name] = getattr(kind, name)
    values |= dict(adapter.computed(plan))
    return {name: value for name, value in values.items() if value is not None}


def _reasons_for_missing_fields(
    calibrator: Calibrator, adapter: PlanAdapter, values: JsonObject, pointers: set[str | None]
) -> Iterable[Reason]:
    """Yield a reason for each required field of the algorithm that the plan does not give.

    Args:
        calibrator: the algorithm.
        adapter: the adapter, which has the plan's names of the fields.
        values: values of the algorithm's fields that the plan gives.
        pointers: JSON pointers to fields of the plan for which there is already a reason. They get no second one.

    Yields:
        Reasons with the plan's name of the field, its symbol and its meaning.
    """
    problem: type = calibrator.problem
    for field_name, quantity in _required_fields(problem):
        name = adapter.renamed.get(field_name, field_name)
        if field_name in values or f"/{name}" in pointers:
            continue
        symbol = f" ({quantity.symbol})" if quantity is not None and quantity.symbol else ""
        meaning = f": {quantity.description}" if quantity is not None else ""
        yield Reason(message=f"needs {name}{symbol}{meaning}", pointer=f"/{name}")


@cache
def _required_fields(problem: Hashable) -> tuple[tuple[str, Quantity | None], ...]:
    """Return the required fields of a request class, each with its quantity (symbol, unit and description).

    Args:
        problem: the request class.

    Returns:
        Pairs of a field's name and its quantity, which is None for a field without one.
    """
    hints = get_type_hints(problem, include_extras=True)
    return tuple(
        (field.name, quantity_of(hints[field.name])[1])
        for field in fields(problem)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING
    )


def _rename_pointer(reason: Reason, adapter: PlanAdapter) -> Reason:
    """Change the pointer of a reason from the algorithm's name of a field to the plan's name of it.

    Args:
        reason: the reason, with a JSON pointer to a field of the algorithm's request or to a part of it.
        adapter: the adapter, which has the plan's names of the fields.

    Returns:
        A copy of the reason with a pointer that begins with the plan's name of the field.
    """
    first_name, *inner_names = (reason.pointer or "").removeprefix("/").split("/")
    name_in_plan = adapter.renamed.get(first_name, first_name)
    pointer = "/" + "/".join([name_in_plan, *inner_names])
    return Reason(message=reason.message, pointer=pointer, allowed=reason.allowed)
