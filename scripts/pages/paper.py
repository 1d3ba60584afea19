"""Parts of the methods paper from the list of theorems: counts and refuted statements."""

from __future__ import annotations

from collections.abc import Sequence

from epsilond.accountants.theorem import Grade, Status, Theorem
from epsilond.accountants.theorems import THEOREMS
from scripts.pages.markdown import code, paper, plain, table

PAPERS = ("lowy2023", "das2021", "asoodeh2021", "bietti2022", "reshef2025")
"""Keys of the five papers in the bibliography."""
GRADES = tuple(grade for grade in Grade if grade is not Grade.WITHDRAWN)
"""Grades of the errata that are served."""


def of(key: str) -> Sequence[Theorem]:
    """Return the statements of a paper."""
    return [theorem for theorem in THEOREMS if theorem.source.key == key]


def counts() -> str:
    """Count the statements of each paper by status, and its errata by grade; an id counts once for each grade."""
    rows = [_count_row(plain(paper(key)), of(key)) for key in PAPERS]
    rows.append(_count_row("all five", _statements()))
    statuses, grades = [status.value for status in Status], [grade.value for grade in GRADES]
    return table(("paper", "statements", *statuses, *grades), rows)


def _statements() -> list[Theorem]:
    """Return the statements of the five papers, paper by paper."""
    return [theorem for key in PAPERS for theorem in of(key)]


def _count_row(name: str, theorems: Sequence[Theorem]) -> tuple[str, ...]:
    statuses = [theorem.status for theorem in theorems]
    by_status = [str(statuses.count(status)) for status in Status]
    by_grade = [str(len(_ids(theorems, grade))) for grade in GRADES]
    return name, str(len(theorems)), *by_status, *by_grade


def _ids(theorems: Sequence[Theorem], grade: Grade) -> set[str]:
    """Return the ids of the errata of one grade."""
    return {erratum.id for theorem in theorems for erratum in theorem.errata if erratum.grade is grade}


def refuted_statements() -> str:
    """Write a table of the papers' statements that are false as printed, with their errors.

    Returns:
        The table in Markdown: statement, printed text, and the correct one.
    """
    rows = []
    for theorem in _statements():
        if theorem.status is Status.REFUTED:
            errors = [erratum for erratum in theorem.errata if erratum.grade.is_error]
            texts = "<br>".join(f"{erratum.id}: {plain(erratum.printed)}" for erratum in errors)
            truths = "<br>".join(f"{erratum.id}: {plain(erratum.truth)}" for erratum in errors)
            rows.append((f"{_link(theorem)}<br>{plain(theorem.source.item)}", texts, truths))
    return table(("statement", "printed", "we find"), rows)


def _link(theorem: Theorem) -> str:
    return f"[{code(theorem.id)}](../theorems/{theorem.id}.md)"
