"""Parts of the methods paper from the list of theorems: counts, refuted statements, and the page of all errata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from epsilond.accountants.theorem import Erratum, Grade, Status, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.withdrawn import WITHDRAWN, Withdrawal
from scripts.pages.markdown import code, paper, plain, table

PAPERS = ("lowy2023", "das2021", "asoodeh2021", "bietti2022", "reshef2025")
"""Keys of the five papers in the bibliography."""
GRADES = tuple(grade for grade in Grade if grade is not Grade.WITHDRAWN)
"""Grades of the errata that are served."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of the page of errata."""
    yield "paper/errata.md", errata()


def of(key: str) -> Sequence[Theorem]:
    """Return the statements of a paper."""
    return [theorem for theorem in THEOREMS if theorem.source.key == key]


def distinct(theorems: Sequence[Theorem]) -> Mapping[tuple[str, str, str], list[tuple[Erratum, Theorem]]]:
    """Group errata with equal id, printed text and truth, each with its statement."""
    groups: dict[tuple[str, str, str], list[tuple[Erratum, Theorem]]] = {}
    for theorem in theorems:
        for erratum in theorem.errata:
            groups.setdefault((erratum.id, erratum.printed, erratum.truth), []).append((erratum, theorem))
    return groups


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
    """Write a table of the papers' statements that are false as printed, with their errata."""
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


def errata() -> str:
    """Write the page of all errata and remarks on the five papers, with the withdrawn ones at its end."""
    parts = [
        "# Errata in five papers\n",
        "Each finding with the statements that it concerns, its grade, the printed text in our words, and the command",
        "that shows it. They belong to [the methods paper](index.md). A statement's own page evaluates it, as printed",
        "and, where that differs, as corrected.\n",
        table(("grade", "meaning"), MEANINGS.items()),
    ]
    for key in PAPERS:
        parts.append(f"\n## {plain(paper(key))}\n")
        parts += map(_entry, distinct(of(key)).values())
    parts += ["\n## Withdrawn\n", "Findings of ours that were wrong.\n", *map(_withdrawn_entry, WITHDRAWN)]
    return "\n".join(parts) + "\n"


MEANINGS: Mapping[str, str] = {
    Grade.PROVED_WRONG.value: "a statement, or a step of its proof, is false under every reading that we know",
    Grade.MISPRINT.value: "a symbol or factor differs from the one used elsewhere in the text, or given by its proof",
    Grade.UNCLEAR.value: "the text can be read in several ways, at least one of which holds",
    Grade.REFINEMENT.value: "the printed statement holds; a sharper or wider one holds too",
}
"""Grades of the page, with their meanings; the first two are errors."""


def _withdrawn_entry(withdrawal: Withdrawal) -> str:
    """Write the entry of a withdrawn erratum."""
    erratum = withdrawal.erratum
    return (
        f"**{erratum.id}**: {', '.join(map(code, withdrawal.theorems))}\n\n"
        f"- We said: {plain(erratum.printed)}\n"
        f"- Withdrawn: {plain(erratum.truth)}\n"
        f"- Shown by `python -m pytest {erratum.test}`\n"
    )


def _entry(findings: Sequence[tuple[Erratum, Theorem]]) -> str:
    """Write the entry of equal errata and their statements."""
    erratum = findings[0][0]
    links = ", ".join(f"{_link(theorem)} ({theorem.status.value})" for _, theorem in findings)
    return (
        f"**{erratum.id}** ({erratum.grade.value}): {links}\n\n"
        f"- Printed: {plain(erratum.printed)}\n"
        f"- We find: {plain(erratum.truth)}\n"
        f"- Shown by `python -m pytest {erratum.test}`\n"
    )
