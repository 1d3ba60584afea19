"""The page docs/errata.md: all errata with grade, place and test, one table for each paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from epsilond.accountants.theorem import Erratum, Grade, Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.withdrawn import WITHDRAWN, Withdrawal
from scripts.pages.markdown import code, paper, plain, table
from scripts.pages.second_grades import SECOND_GRADES

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
SUBJECTS: Mapping[str, str] = {
    "E": plain(paper("lowy2023")),
    "D": plain(paper("das2021")),
    "A": plain(paper("asoodeh2021")),
    "E-B": plain(paper("bietti2022")),
    "E-R": plain(paper("reshef2025")),
    "E-F": "Feldman, McMillan and Talwar (2021, 2023)",
    "E-S": plain(paper("bok2024shifted")),
    "L": "Rules for ledgers",
}
"""Title of a table for the letters with which the codes of its errata begin."""
MEANINGS: Mapping[Grade, str] = {
    Grade.PROVED_WRONG: "a statement, or a step of its proof, is false under every reading that we know",
    Grade.MISPRINT: "a symbol or factor differs from the one used elsewhere in the text, or given by its proof",
    Grade.UNCLEAR: "the text can be read in several ways, at least one of which holds",
    Grade.REFINEMENT: "the printed statement holds; a sharper or wider one holds too",
}
"""Grades of the errata that are served, with their meanings. The first two are errors."""
SHOWN: Mapping[Grade, str] = {
    Grade.PROVED_WRONG: "computes a counterexample",
    Grade.MISPRINT: "shows that the corrected formula agrees, and the printed one does not",
    Grade.UNCLEAR: "shows a reading that holds and one that does not",
    Grade.REFINEMENT: "shows that our statement is the sharper or wider one",
}
"""Description of the test of an erratum, by grade."""
HEAD = """# Errata

<!-- written by python -m scripts.render_docs from scripts/pages/errata.py -->

Every finding about the five papers, other works and rules for ledgers. A row has the grade of the finding, its
place in the text, what the text states in our words, and what we find. It also has the most charitable reading of the
text that we know, and the test that shows the finding. Findings of one cause share a code; each row is counted.

`python -m pytest -m erratum` runs all these tests. A statement's page evaluates it, as printed and, where that
differs, as corrected.
"""
COLUMNS = ("erratum", "place and statements", "the text states", "we find", "the most charitable reading", "test")


@dataclass(frozen=True)
class Finding:
    """An erratum of a paper with the theorems that it concerns.

    Attributes:
        erratum: the erratum, with its grade and its test.
        theorems: the theorems, at least one.
    """

    erratum: Erratum
    theorems: tuple[Theorem, ...]

    @property
    def letters(self) -> str:
        """Letters with which the code begins, a key of `SUBJECTS`."""
        return re.sub(r"-?\d+$", "", self.erratum.id)

    @property
    def key(self) -> tuple[str, str]:
        """Code and place, a key of `SECOND_GRADES`."""
        return self.erratum.id, self.place

    @property
    def place(self) -> str:
        """Place in the text, or the source of the theorem if the erratum has none."""
        return self.erratum.place or self.theorems[0].source.item


def findings() -> Sequence[Finding]:
    """Return every served erratum once, with its theorems, in the order of subjects, codes and theorems."""
    groups: dict[Erratum, list[Theorem]] = {}
    for theorem in THEOREMS:
        for erratum in theorem.errata:
            groups.setdefault(erratum, []).append(theorem)
    all_findings = [Finding(erratum, tuple(theorems)) for erratum, theorems in groups.items()]
    order = list(SUBJECTS)
    return sorted(all_findings, key=lambda each: (order.index(each.letters), _number(each.erratum)))


def _number(erratum: Erratum) -> int:
    """Return the number of an erratum's code."""
    return int(re.sub(r"\D", "", erratum.id))


def page() -> str:
    """Write the page of all errata: a table for each paper, and one of withdrawn errata.

    Returns:
        The page in Markdown.
    """
    all_findings = findings()
    parts = [HEAD, grades(), "", counts(all_findings), "", second_grading(all_findings)]
    for letters, title in SUBJECTS.items():
        rows = [_row(each) for each in all_findings if each.letters == letters]
        parts.append(_section(title, COLUMNS, rows))
    rows = [_withdrawn_row(each) for each in WITHDRAWN]
    parts.append(_section("Withdrawn", ("erratum", "statements", "we said", "withdrawn because", "test"), rows))
    return "\n".join(parts) + "\n"


def grades() -> str:
    """Write the meaning of each grade, with a description of the tests of its errata."""
    rows = [(_in_words(grade), meaning, SHOWN[grade]) for grade, meaning in MEANINGS.items()]
    return table(("grade", "meaning", "the test"), rows)


def counts(all_findings: Sequence[Finding]) -> str:
    """Write the number of findings of each subject, by grade."""
    rows, total = list[list[str]](), Counter[Grade]()
    for letters, title in SUBJECTS.items():
        of_subject = Counter(each.erratum.grade for each in all_findings if each.letters == letters)
        rows.append(_count_row(title, of_subject))
        total += of_subject
    return table(("findings", "rows", *map(_in_words, MEANINGS)), [*rows, _count_row("all", total)])


def second_grading(all_findings: Sequence[Finding]) -> str:
    """Write how many errata were graded a second time by other readers, and list those with another grade.

    Args:
        all_findings: all errata, with the theorems that they concern.

    Returns:
        A paragraph and a table in Markdown.
    """
    graded = [each for each in all_findings if each.key in SECOND_GRADES]
    differing = [each for each in graded if SECOND_GRADES[each.key] is not each.erratum.grade]
    rows = [
        (each.erratum.id, plain(each.place), _in_words(each.erratum.grade), _in_words(SECOND_GRADES[each.key]))
        for each in differing
    ]
    text = (
        f"Of these rows, {len(graded)} were drawn at random and graded a second time from the texts alone. The second "
        f"readers did not see our grades or our charitable readings. {len(differing)} grades differ:"
    )
    return f"{text}\n\n{table(('erratum', 'place', 'grade', 'second grade'), rows)}"


def _count_row(title: str, by_grade: Counter[Grade]) -> list[str]:
    return [title, str(by_grade.total()), *(str(by_grade[grade] or "") for grade in MEANINGS)]


def _in_words(grade: Grade) -> str:
    """Return a grade as words."""
    return grade.value.replace("-", " ")


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a heading and a table in which long names are broken."""
    return f'\n## {title}\n\n<div class="errata" markdown>\n\n{table(columns, rows)}\n\n</div>'


def _row(finding: Finding) -> tuple[str, ...]:
    """Return the cells of an erratum for the table of its paper.

    Args:
        finding: the erratum with its theorems.

    Returns:
        Code and grade, place and theorems, the printed text, the correct one, the most charitable reading, and the
        test.
    """
    erratum = finding.erratum
    statements = "<br>".join(map(_link, finding.theorems))
    return (
        f"**{erratum.id}**<br>{_in_words(erratum.grade)}",
        f"{plain(finding.place)}<br>{statements}",
        plain(erratum.printed),
        plain(erratum.truth),
        plain(erratum.charitable),
        code(erratum.test),
    )


def _withdrawn_row(withdrawal: Withdrawal) -> tuple[str, ...]:
    """Return the cells of a withdrawn erratum."""
    erratum, by_id = withdrawal.erratum, {theorem.id: theorem for theorem in THEOREMS}
    statements = "<br>".join(_link(by_id[name]) for name in withdrawal.theorems)
    return f"**{erratum.id}**", statements, plain(erratum.printed), plain(erratum.truth), code(erratum.test)


def _link(theorem: Theorem) -> str:
    """Return a link to the page of a theorem."""
    return f"[{code(theorem.id)}](theorems/{theorem.id}.md)"


def erratum_facts(erratum: Erratum) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each part of an erratum that is stated."""
    parts = (
        ("Place", erratum.place),
        ("Printed", erratum.printed),
        ("The most charitable reading", erratum.charitable),
        ("We find", erratum.truth),
    )
    return ((title, text) for title, text in parts if text)
