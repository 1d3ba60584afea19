"""Answers for a reader at a terminal.

Ends of enclosures are rounded outward, to seven digits; parameters to run with are printed in full, since a rounded
noise is another noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from epsilond.accountants.theorem import Evaluation, Theorem
from epsilond.calibrators.answer import (
    UNBOUNDED,
    Baseline,
    Calibration,
    Ends,
    FrontierRun,
    GuaranteeAnswer,
    PrintedReading,
    Risk,
    as_json,
)
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.baseline import no_better

DIGITS = 7
WIDE = 240


def calibration(answer: Calibration) -> RenderableType:
    """Parameters, guarantee, printed readings beside the certified figure, risk, what is assumed, and warnings."""
    parts: list[RenderableType] = [
        pairs("Run with", as_json(answer.parameters)),
        _guarantee(answer.guarantee),
        Text(answer.guarantee.in_words),
    ]
    if answer.as_printed:
        parts.append(_readings(answer))
    if answer.risk is not None:
        parts.append(_risk(answer.risk))
    if answer.communication is not None:
        parts.append(pairs("Communication", as_json(answer.communication)))
    if answer.frontier is not None:
        parts.append(frontier(answer.frontier))
    parts += bullets("If", [condition.statement for condition in answer.declared_conditions])
    parts += bullets("Mind", [warning.message for warning in answer.warnings])
    parts.append(Text("\nProved by " + ", ".join(dict.fromkeys(step.theorem for step in answer.derivation))))
    return Group(*parts)


def risk_bounds(answer: RiskBoundsAnswer) -> RenderableType:
    """The run, bounds from above and below, references, and what is hidden in them."""
    table = new_table(f"Excess risk ({answer.objective})", "side", "theorem", "bound", "order")
    for above in answer.upper:
        value = "" if above.value is None else _rounded(above.value, ROUND_CEILING)
        value += _mark(above.vacuous, answer.baseline)
        order = "" if above.scale is None else f"{above.scale:.{DIGITS}g}"
        table.add_row("upper", f"{above.theorem} ({above.reading})", value, order)
    for below in answer.lower:
        table.add_row("lower", f"{below.theorem} (trust {below.trust})", "", f"{below.scale:.{DIGITS}g}")
    reference = {name: value for name, value in as_json(answer.reference).items() if name != "free_privacy"}
    named = [(above.theorem, above.conditions) for above in answer.upper]
    named += [(below.theorem, below.conditions) for below in answer.lower]
    failing = [f"{name}: {_condition(one)}" for name, found in named for one in found if one.holds is False]
    parts: list[RenderableType] = [pairs("Run", as_json(answer.run)), table, pairs("Compare", reference)]
    parts += bullets("Does not hold here", failing)
    parts += bullets("If", [condition.statement for condition in answer.declared_conditions])
    parts += bullets("Mind", [warning.message for warning in answer.warnings])
    return Group(*parts)


def algorithms(listed: Sequence[Calibrator]) -> RenderableType:
    """One row for each calibrator."""
    table = new_table("Algorithms", "name", "title", "rests on")
    for calibrator in listed:
        table.add_row(calibrator.name, calibrator.title, ", ".join(calibrator.theorems))
    return table


def algorithm(one: Calibrator) -> RenderableType:
    """What one calibrator does, what it rests on, and a request that it answers."""
    rows = {"title": one.title, "what it does": one.summary, "rests on": ", ".join(one.theorems)}
    return Group(pairs(one.name, rows), pairs("A request to try", one.example))


def theorems(listed: Sequence[Theorem]) -> RenderableType:
    """One row for each theorem."""
    table = new_table("Theorems", "id", "title", "status", "source")
    for theorem in listed:
        table.add_row(theorem.id, theorem.title, theorem.status.value, f"{theorem.source.key}, {theorem.source.item}")
    return table


def theorem(one: Theorem) -> RenderableType:
    """Statement, source, conditions, errata and an example of one theorem."""
    rows: dict[str, Any] = {
        "statement": one.statement,
        "source": f"{one.source.key}, {one.source.item}",
        "status": one.status.value,
        "constants": one.constants,
        "readings": ", ".join(one.readings) if one.formula is not None else "none: a rule between guarantees",
    }
    parts: list[RenderableType] = [pairs(f"{one.id}: {one.title}", rows)]
    parts += bullets("Checked", [f"{it.id}: {it.statement}" for it in one.conditions if it.checked])
    parts += bullets("Declared by the caller", [f"{it.id}: {it.statement}" for it in one.conditions if not it.checked])
    parts += bullets("Errata", [f"{it.id}. Printed: {it.printed}. True: {it.truth}." for it in one.errata])
    return Group(*parts)


def evaluation(theorem_id: str, answer: Evaluation) -> RenderableType:
    """Outputs of a formula, and its conditions with both sides."""
    parts: list[RenderableType] = [
        pairs(f"{theorem_id}, as {answer.reading} ({answer.status.value})", as_json(answer.outputs))
    ]
    parts += bullets("Conditions", [_condition(it) for it in answer.conditions])
    parts += bullets("Errata", [f"{it.id}. Printed: {it.printed}. True: {it.truth}." for it in answer.errata])
    return Group(*parts)


def at_delta(delta: float | None, log10_delta: float) -> str:
    """A δ by both of its names, one of which was typed; by its logarithm alone where no double holds it."""
    logarithm = f"log10 δ = {log10_delta:.{DIGITS}g}"
    return logarithm if delta is None else f"δ = {delta:.{DIGITS}g} ({logarithm})"


def outward(ends: Ends) -> str:
    """An enclosure, its lower end rounded down and its upper end rounded up."""
    return f"[{_rounded(ends.lower, ROUND_FLOOR)}, {_rounded(ends.upper, ROUND_CEILING)}]"


def show(answer: RenderableType) -> None:
    """Print to standard output; full width where it is not a terminal, so that nothing is cut."""
    width = None if Console().is_terminal else WIDE
    Console(width=width, markup=False, emoji=False, highlight=False).print(answer)


def _rounded(value: float, direction: str) -> str:
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    return f"{float(Context(prec=DIGITS, rounding=direction).create_decimal(value)):.{DIGITS}g}"


def _guarantee(answer: GuaranteeAnswer) -> RenderableType:
    target = answer.target
    return pairs(
        "Guaranteed",
        {
            "definition": answer.definition,
            "of whom": f"{answer.unit} ({answer.relation}), against {answer.observer}; sampling {answer.sampling}",
            f"ε at {at_delta(target.delta, target.log10_delta)}": outward(answer.epsilon),
            f"δ at ε = {target.epsilon:.{DIGITS}g}": outward(answer.delta),
            "log10 δ": outward(answer.log10_delta),
            "lower end": answer.tight,
            "smallest": answer.minimal,
            "sensitivity": "differs by group" if answer.sensitivity is None else answer.sensitivity,
        },
    )


def _readings(answer: Calibration) -> RenderableType:
    certified = as_json(answer.parameters)
    shared = [name for name in answer.as_printed[0].parameters if name in certified]
    ours = ", ".join(f"{name} {certified[name]}" for name in shared)
    own = ("certified", ours, f"{answer.guarantee.target.epsilon:g}", "", outward(answer.guarantee.epsilon), "")
    columns = ("reading", "parameters", "claims ε", "claims risk", "true ε", "conditions")
    rows = [own, *map(_reading, answer.as_printed)]
    return filled_table("As printed, beside what is certified", columns, rows)


def _reading(reading: PrintedReading) -> tuple[str, ...]:
    failing = [_condition(condition) for condition in reading.conditions if condition.holds is not True]
    return (
        f"{reading.theorem} {reading.reading} ({reading.status.value})",
        ", ".join(f"{name} {value:.{DIGITS}g}" for name, value in reading.parameters.items()),
        f"{reading.claims.epsilon:g}",
        _claimed_risk(reading),
        outward(reading.true.epsilon) if reading.true is not None else "",
        "; ".join(failing) or "hold",
    )


def _claimed_risk(reading: PrintedReading) -> str:
    claimed = reading.claims.excess_risk
    if claimed is None:
        return ""
    return _rounded(claimed, ROUND_CEILING) + _mark(reading.claims.vacuous, reading.claims.baseline)


def _condition(condition: Any) -> str:
    sides = (
        ""
        if condition.left is None or condition.right is None
        else f": {condition.left:.6g} against {condition.right:.6g}"
    )
    verdict = {True: "holds", False: "fails"}.get(condition.holds, "undecidable")
    return f"{condition.id} {verdict} ({condition.statement}{sides})"


def _risk(risk: Risk) -> RenderableType:
    sides = {"at most": risk.upper, "at least": risk.lower}
    return pairs(
        "Excess risk",
        {
            **({} if risk.objective is None else {"of": risk.objective}),
            **{
                side if bound.constant == "explicit" else f"{side} the order of": ""
                f"{_rounded(bound.value, ROUND_CEILING if side == 'at most' else ROUND_FLOOR)}"
                f" ({bound.constant} constant, {bound.theorem}){_mark(bound.vacuous, risk.baseline)}"
                for side, bound in sides.items()
                if bound is not None
            },
            **({} if risk.baseline is None else {"the start has at most": str(risk.baseline)}),
        },
    )


def _mark(vacuous: bool | None, baseline: Baseline | None) -> str:
    """That a bound says nothing, in words; nothing where it says something."""
    return f": {no_better(baseline)}" if vacuous and baseline is not None else ""


def frontier(runs: Sequence[FrontierRun]) -> RenderableType:
    """Risk against rounds and traffic; a bound at an estimated noise is an estimate, and said to be."""
    columns = ("rounds", "batch_size", "risk at most", "bits per client", "bits in all", "")
    table = new_table("Risk against rounds and traffic", *columns)
    for run in runs:
        risk = _rounded(run.risk, ROUND_CEILING)
        table.add_row(
            str(run.rounds),
            str(run.batch_size),
            risk if run.certified else f"about {risk}",
            _rounded(run.bits_per_client, ROUND_CEILING),
            _rounded(run.total_bits, ROUND_CEILING),
            ", ".join(("the answer",) * run.chosen + ("no better than the start",) * bool(run.vacuous)),
        )
    return table


def pairs(title: str, values: Mapping[str, Any]) -> RenderableType:
    """Names and their values, nested names with dots."""
    table = new_table(title, "", "")
    table.show_header = False
    for name, value in _flat(values):
        table.add_row(name, str(value))
    return table


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested members under dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield from _flat({str(place): item for place, item in enumerate(value)}, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def new_table(title: str, *columns: str) -> Table:
    """An empty table with these columns."""
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def filled_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of these rows, without the columns that are empty in all of them."""
    shown = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    table = new_table(title, *(columns[place] for place in shown))
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    return table


def bullets(title: str, lines: Sequence[str]) -> list[RenderableType]:
    """A heading and its lines; nothing where there are none."""
    return [Text(f"\n{title}:", style="bold"), *(Text(f"  {line}") for line in lines)] if lines else []
