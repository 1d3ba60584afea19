"""What the methods paper takes from the list of theorems: counts, refuted statements, and the page of all errata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from epsilond.accountants.theorem import Erratum, Status, Theorem
from epsilond.accountants.theorems import THEOREMS
from scripts.pages.markdown import code, paper, plain, table

PAPERS = ("lowy2023", "das2021", "asoodeh2021", "bietti2022", "reshef2025")
"""The five papers whose statements were put to work."""


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
    """How many statements and errata each paper has."""
    rows = [_counted(plain(paper(key)), of(key)) for key in PAPERS]
    return table(
        ("paper", "statements", *(status.value for status in Status), "errata"),
        [*rows, _counted("all five", [each for key in PAPERS for each in of(key)])],
    )


def _counted(name: str, theorems: Sequence[Theorem]) -> tuple[str, ...]:
    by_status = (str(sum(each.status is status for each in theorems)) for status in Status)
    return name, str(len(theorems)), *by_status, str(len(distinct(theorems)))


def refuted() -> str:
    """The statements of the papers that are false as printed, with their errata."""
    rows = (
        (f"{_linked(each)}<br>{plain(each.source.item)}", _printed(each), _true(each))
        for key in PAPERS
        for each in of(key)
        if each.status is Status.REFUTED
    )
    return table(("statement", "printed", "true"), rows)


def _printed(theorem: Theorem) -> str:
    return "<br>".join(f"{each.id}: {plain(each.printed)}" for each in theorem.errata)


def _true(theorem: Theorem) -> str:
    return "<br>".join(f"{each.id}: {plain(each.truth)}" for each in theorem.errata)


def _linked(theorem: Theorem) -> str:
    return f"[{code(theorem.id)}](../theorems/{theorem.id}.md)"


def errata() -> str:
    """Every erratum of the five papers: what is printed, what is so, and the command that shows it."""
    parts = [
        "# Errata in five papers\n",
        "Each fault with the statements that it concerns, what is printed, what is true instead, and the command that",
        "shows it. They belong to [the methods paper](index.md). A statement's own page evaluates it, as printed and,",
        "where that differs, as corrected.\n",
    ]
    for key in PAPERS:
        parts.append(f"\n## {plain(paper(key))}\n")
        parts += [_entry(erratum, theorems) for erratum, theorems in _ordered(key)]
    return "\n".join(parts) + "\n"


def _ordered(key: str) -> Iterator[tuple[Erratum, list[Theorem]]]:
    for (name, printed, truth), theorems in distinct(of(key)).items():
        erratum = next(
            each for each in theorems[0].errata if (each.id, each.printed, each.truth) == (name, printed, truth)
        )
        yield erratum, theorems


def _entry(erratum: Erratum, theorems: Sequence[Theorem]) -> str:
    concerned = ", ".join(f"{_linked(each)} ({each.status.value})" for each in theorems)
    return (
        f"**{erratum.id}**: {concerned}\n\n"
        f"- Printed: {plain(erratum.printed)}\n"
        f"- True: {plain(erratum.truth)}\n"
        f"- Shown by `python -m pytest {erratum.test}`\n"
    )
