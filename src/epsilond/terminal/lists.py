"""Algorithms and theorems as they are listed, and a theorem's formula at given inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from epsilond.calibrators.answer import as_json
from epsilond.terminal.parts import bullets, pairs, table, verdict

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Erratum, Evaluation, Theorem
    from epsilond.calibrators.calibration import Calibrator


def algorithms(listed: Sequence[Calibrator]) -> RenderableType:
    """One row for each calibrator."""
    rows = ({"name": each.name, "title": each.title, "rests on": ", ".join(each.theorems)} for each in listed)
    return table("Algorithms", rows)


def algorithm(one: Calibrator) -> RenderableType:
    """What one calibrator does, what it rests on, and a request that it answers."""
    rows = {"title": one.title, "what it does": one.summary, "rests on": ", ".join(one.theorems)}
    return Group(pairs(one.name, rows), pairs("A request to try", one.example))


def theorems(listed: Sequence[Theorem]) -> RenderableType:
    """One row for each theorem."""
    return table(
        "Theorems",
        ({"id": each.id, "title": each.title, "status": each.status.value, "source": _source(each)} for each in listed),
    )


def theorem(one: Theorem) -> RenderableType:
    """Statement, source, conditions, errata and an example of one theorem."""
    rows: dict[str, object] = {
        "statement": one.statement,
        "source": _source(one),
        "status": one.status.value,
        "constants": one.constants,
        "readings": ", ".join(one.readings) if one.formula is not None else "none: a rule between guarantees",
    }
    return Group(
        pairs(f"{one.id}: {one.title}", rows),
        *bullets("Checked", [f"{it.id}: {it.statement}" for it in one.conditions if it.checked]),
        *bullets("Declared by the caller", [f"{it.id}: {it.statement}" for it in one.conditions if not it.checked]),
        *_errata(one.errata),
    )


def evaluation(theorem_id: str, answer: Evaluation) -> RenderableType:
    """Outputs of a formula, and its conditions with both sides."""
    return Group(
        pairs(f"{theorem_id}, as {answer.reading} ({answer.status.value})", as_json(answer.outputs)),
        *bullets("Conditions", [verdict(it) for it in answer.conditions]),
        *_errata(answer.errata),
    )


def _source(one: Theorem) -> str:
    return f"{one.source.key}, {one.source.item}"


def _errata(errata: Sequence[Erratum]) -> list[RenderableType]:
    """List errata and remarks with their grades."""
    lines = [f"{it.id} ({it.grade.value}). Printed: {it.printed}. We find: {it.truth}." for it in errata]
    return bullets("Errata and remarks", lines)
