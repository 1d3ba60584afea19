"""What the methods paper takes from the list of theorems: counts, refuted statements, and the page of all errata."""

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
    """Path and text of the page of errata."""
    yield "paper/errata.md", errata()


def of(key: str) -> Sequence[Theorem]:
    """The statements of a paper."""
    return [each for each in THEOREMS if each.source.key == key]


def distinct(theorems: Sequence[Theorem]) -> Mapping[tuple[str, str, str], list[Theorem]]:
    """Each erratum once, told apart by what was printed and by what is so, with the statements that it concerns."""
    found: dict[tuple[str, str, str], list[Theorem]] = {}
    for each in theorems:
        for erratum in each.errata:
            found.setdefault((erratum.id, erratum.printed, erratum.truth), []).append(each)
    return found


def counts() -> str:
    """Count the statements of each paper by status, and its errata by grade; an id counts once for each grade."""
    rows = [_counted(plain(paper(key)), of(key)) for key in PAPERS]
    return table(
        ("paper", "statements", *(status.value for status in Status), *(grade.value for grade in GRADES)),
        [*rows, _counted("all five", [each for key in PAPERS for each in of(key)])],
    )


def _counted(name: str, theorems: Sequence[Theorem]) -> tuple[str, ...]:
    by_status = (str(sum(each.status is status for each in theorems)) for status in Status)
    by_grade = (str(len(_ids(theorems, grade))) for grade in GRADES)
    return name, str(len(theorems)), *by_status, *by_grade


def _ids(theorems: Sequence[Theorem], grade: Grade) -> set[str]:
    """Return the ids of the errata of one grade."""
    return {erratum.id for each in theorems for erratum in each.errata if erratum.grade is grade}


def refuted() -> str:
    """The statements of the papers that are false as printed, with their errata."""
    rows = (
        (f"{_linked(each)}<br>{plain(each.source.item)}", _printed(each), _true(each))
        for key in PAPERS
        for each in of(key)
        if each.status is Status.REFUTED
    )
    return table(("statement", "printed", "we find"), rows)


def _printed(theorem: Theorem) -> str:
    return "<br>".join(f"{each.id}: {plain(each.printed)}" for each in _errors(theorem))


def _true(theorem: Theorem) -> str:
    return "<br>".join(f"{each.id}: {plain(each.truth)}" for each in _errors(theorem))


def _errors(theorem: Theorem) -> Sequence[Erratum]:
    """Return the errata of a theorem that are false statements or misprints."""
    return [each for each in theorem.errata if each.grade.is_error]


def _linked(theorem: Theorem) -> str:
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
        parts += [_entry(erratum, theorems) for erratum, theorems in _ordered(key)]
    parts += ["\n## Withdrawn\n", "Findings of ours that were wrong.\n", *map(_withdrawn, WITHDRAWN)]
    return "\n".join(parts) + "\n"


MEANINGS: Mapping[str, str] = {
    Grade.PROVED_WRONG.value: "a statement, or a step of its proof, is false under every reading that we know",
    Grade.MISPRINT.value: "a symbol or factor differs from the one used elsewhere in the text, or given by its proof",
    Grade.UNCLEAR.value: "the text can be read in several ways, at least one of which holds",
    Grade.REFINEMENT.value: "the printed statement holds; a sharper or wider one holds too",
}
"""Grades of the page, with their meanings; the first two are errors."""


def _withdrawn(withdrawal: Withdrawal) -> str:
    """Write the entry of a withdrawn erratum."""
    erratum = withdrawal.erratum
    return (
        f"**{erratum.id}**: {', '.join(map(code, withdrawal.theorems))}\n\n"
        f"- We said: {plain(erratum.printed)}\n"
        f"- Withdrawn: {plain(erratum.truth)}\n"
        f"- Shown by `python -m pytest {erratum.test}`\n"
    )


def _ordered(key: str) -> Iterator[tuple[Erratum, list[Theorem]]]:
    for (name, printed, truth), theorems in distinct(of(key)).items():
        erratum = next(
            each for each in theorems[0].errata if (each.id, each.printed, each.truth) == (name, printed, truth)
        )
        yield erratum, theorems


def _entry(erratum: Erratum, theorems: Sequence[Theorem]) -> str:
    concerned = ", ".join(f"{_linked(each)} ({each.status.value})" for each in theorems)
    return (
        f"**{erratum.id}** ({erratum.grade.value}): {concerned}\n\n"
        f"- Printed: {plain(erratum.printed)}\n"
        f"- We find: {plain(erratum.truth)}\n"
        f"- Shown by `python -m pytest {erratum.test}`\n"
    )
