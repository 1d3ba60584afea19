"""Plans and sweeps for a reader at a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context
from typing import Any

from rich.console import Group, RenderableType

from epsilond.calibrators.answer import as_json
from epsilond.calibrators.planning.answer import PlanAnswer, PlanEntry, Reason
from epsilond.calibrators.planning.rankings import name_of
from epsilond.calibrators.risk.baseline import no_better
from epsilond.questions.sweep import AtValue, Sweep
from epsilond.tables import DIGITS, bullets, filled_table, new_table, outward


def plan(answer: PlanAnswer) -> RenderableType:
    """A table for each kind of guarantee, ranked; then what does not apply, and why."""
    named = {name_of(entry): entry for entry in answer.entries}
    parts: list[RenderableType] = []
    for group in answer.groups:
        kind = group.guarantee
        title = f"{kind.definition}: {kind.unit}, {kind.relation}, against {kind.observer}; by {group.compares}"
        rows = [_row(name, named[name]) for name in (*group.ranked, *group.unranked)]
        columns = ("rank", "algorithm", "noise_std", "rounds", "bits", "risk at most", "says", "reached at")
        parts.append(filled_table(title, columns, rows))
    notes = [f"{name}: {_reason(why)}" for name, one in named.items() if one.applies is True for why in one.why]
    parts += bullets("Read as", notes)
    late = [f"{name}: {_reason(why)}" for name, one in named.items() if one.applies == "undecided" for why in one.why]
    parts += bullets("Undecided", late)
    refused = [f"{name}: {_reason(why)}" for name, one in named.items() if one.applies is False for why in one.why]
    parts += bullets("Does not apply", refused)
    return Group(*parts)


def sweep(answer: Sweep) -> RenderableType:
    """One row for each value."""
    table = new_table(
        f"{answer.algorithm}, by {answer.field}", answer.field, "noise", "ε", "log10 δ", "risk at most", "bits", ""
    )
    for each in answer.answers:
        table.add_row(str(each.value), *_figures(each))
    return table


def _figures(each: AtValue) -> tuple[str, ...]:
    if each.answer is None:
        return ("", "", "", "", "", str(each.error))
    told: Mapping[str, Any] = as_json(each.answer)
    parameters, guarantee = told["parameters"], each.answer.guarantee
    upper = told.get("risk", {}).get("upper", {})
    hidden = " (order)" if upper.get("constant") == "hidden" else ""
    vacuous = " (no better than the start)" if upper.get("vacuous") else ""
    return (
        str(parameters.get("noise_std", parameters.get("noise_multiplier", ""))),
        outward(guarantee.epsilon),
        outward(guarantee.log10_delta),
        f"{_short(upper.get('value'))}{hidden}{vacuous}",
        _short(told.get("communication", {}).get("total_bits")),
        "",
    )


def _row(name: str, entry: PlanEntry) -> tuple[str, ...]:
    risk, reached = entry.risk, entry.reach
    hidden = " (order)" if risk is not None and risk.constant == "hidden" else ""
    return (
        "" if entry.rank is None else str(entry.rank),
        name,
        "" if entry.noise_std is None else str(entry.noise_std),
        "" if entry.rounds is None else str(entry.rounds),
        _short(entry.bits),
        "" if risk is None else _short(risk.value) + hidden,
        _mark(entry),
        "" if reached is None else f"{reached.solve_for} {reached.value:g}",
    )


def _mark(entry: PlanEntry) -> str:
    """That what is proved says nothing, in words."""
    if not entry.vacuous:
        return ""
    baseline = None if entry.risk is None else entry.risk.baseline
    return no_better(baseline) if baseline is not None else "no better than the start"


def _short(value: Any) -> str:
    """Rounded upward: these are bounds and costs."""
    if not isinstance(value, int | float) or value == math.inf:
        return as_json(value) or ""
    return f"{float(Context(prec=DIGITS, rounding=ROUND_CEILING).create_decimal(value)):.{DIGITS}g}"


def _reason(why: Reason) -> str:
    failed = why.condition
    sides = (
        f" [{failed.left:g} against {failed.right:g}]"
        if failed is not None and failed.left is not None and failed.right is not None
        else ""
    )
    allowed = f" (would do: {why.allowed})" if why.allowed else ""
    return f"{why.message}{sides}{allowed}"
