"""Tables of algorithms and theorems, and of a theorem's formula at given inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType

from epsilond.calibrators.answer import as_json
from epsilond.terminal.parts import bullets, pairs, table, verdict

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition, Erratum, Evaluation, Theorem
    from epsilond.calibrators.calibration import Calibrator


def algorithms(calibrators: Sequence[Calibrator]) -> RenderableType:
    """Return a table with a row for each calibrator: its name, its title, and the theorems that it relies on."""
    rows = [
        {"name": calibrator.name, "title": calibrator.title, "rests on": ", ".join(calibrator.theorems)}
        for calibrator in calibrators
    ]
    return table("Algorithms", rows)


def algorithm(calibrator: Calibrator) -> RenderableType:
    """Return tables with the summary of a calibrator, its theorems, and a request that it answers.

    Args:
        calibrator: the object that finds parameters of an algorithm, such as its noise.

    Returns:
        The tables, which rich can print.
    """
    rows = {
        "title": calibrator.title,
        "what it does": calibrator.summary,
        "rests on": ", ".join(calibrator.theorems),
    }
    return Group(pairs(calibrator.name, rows), pairs("A request to try", calibrator.example))


def theorems(listed: Sequence[Theorem]) -> RenderableType:
    """Return a table with a row for each theorem: its id, title, status and source."""
    rows = [
        {"id": entry.id, "title": entry.title, "status": entry.status.value, "source": _source_text(entry)}
        for entry in listed
    ]
    return table("Theorems", rows)


def theorem(entry: Theorem) -> RenderableType:
    """Return the tables and lists that show a theorem in full, for the terminal.

    Args:
        entry: the theorem.

    Returns:
        Tables and lists for the package rich: statement, source, status, readings, conditions and errata. Readings are
        versions of the theorem's formula, such as the printed and the corrected one.
    """
    rows: dict[str, object] = {
        "statement": entry.statement,
        "source": _source_text(entry),
        "status": entry.status.value,
        "constants": entry.constants,
        "readings": ", ".join(entry.readings) if entry.formula is not None else "none: a rule between guarantees",
    }
    checked = [condition for condition in entry.conditions if condition.checked]
    declared = [condition for condition in entry.conditions if not condition.checked]
    parts = [pairs(f"{entry.id}: {entry.title}", rows)]
    parts += bullets("Checked", list(map(_condition_line, checked)))
    parts += bullets("Declared by the caller", list(map(_condition_line, declared)))
    parts += _errata_list(entry.errata)
    return Group(*parts)


def evaluation(theorem_id: str, answer: Evaluation) -> RenderableType:
    """Return a table of a formula's outputs, and lists of its conditions with both sides and of its errata."""
    return Group(
        pairs(f"{theorem_id}, as {answer.reading} ({answer.status.value})", as_json(answer.outputs)),
        *bullets("Conditions", list(map(verdict, answer.conditions))),
        *_errata_list(answer.errata),
    )


def _source_text(entry: Theorem) -> str:
    """Return the work that states a theorem, and the number of the theorem in it."""
    return f"{entry.source.key}, {entry.source.item}"


def _condition_line(condition: Condition) -> str:
    """Return a condition as one line: its id and its statement."""
    return f"{condition.id}: {condition.statement}"


def _errata_list(errata: Sequence[Erratum]) -> list[RenderableType]:
    """List errata and remarks with their grades."""
    return bullets("Errata and remarks", [_erratum_line(erratum) for erratum in errata])


def _erratum_line(erratum: Erratum) -> str:
    """Return an erratum of a paper as one line.

    Args:
        erratum: the erratum. Its `charitable` is the interpretation of the printed text that is closest to the truth.

    Returns:
        The id, the grade, the place in the paper if it is stated, the printed text and its correction.
    """
    place = f", {erratum.place}" if erratum.place else ""
    printed = erratum.printed.removesuffix(".")
    truth = erratum.truth.removesuffix(".")
    charitable = ""
    if erratum.charitable:
        charitable = f" Most charitable reading: {erratum.charitable.removesuffix('.')}."
    return f"{erratum.id} ({erratum.grade.value}{place}). Printed: {printed}.{charitable} We find: {truth}."
