"""Every erratum is shown by the test that it names, and docs/errata.md has them all.

A test that shows an erratum says so by its id: `@pytest.mark.erratum("E-17")`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

import pytest

from epsilond.accountants.theorem import Erratum, Grade
from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.withdrawn import WITHDRAWN
from scripts.pages.errata import MEANINGS, PAGE, SHOWN, findings, page
from scripts.pages.markdown import plain
from scripts.pages.second_grades import SECOND_GRADES
from tests.laws.marks import marks

ERRATA = tuple(dict.fromkeys(erratum for theorem in THEOREMS for erratum in theorem.errata))
ALL = (*ERRATA, *(withdrawal.erratum for withdrawal in WITHDRAWN))


MARKED: Mapping[str, frozenset[str]] = {
    node: frozenset(ast.literal_eval(argument) for argument in mark.args) for node, mark, _ in marks("erratum")
}


@pytest.mark.parametrize("erratum", ALL, ids=lambda erratum: f"{erratum.id} {erratum.place}")
def test_the_test_of_an_erratum_is_marked_with_its_id(erratum: Erratum) -> None:
    assert erratum.id in MARKED.get(erratum.test, ()), 'mark the test: @pytest.mark.erratum("…")'


def test_every_mark_names_errata_that_exist() -> None:
    known = {erratum.id for erratum in ALL}
    assert {name: ids - known for name, ids in MARKED.items() if not ids or ids - known} == {}


def test_every_erratum_of_a_text_has_its_place_and_a_charitable_reading() -> None:
    of_texts = [erratum for erratum in ERRATA if not erratum.id.startswith("L-")]
    assert [erratum.id for erratum in of_texts if not erratum.place or not erratum.charitable] == []


def test_the_page_is_of_today() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: .venv/bin/python -m scripts.render_docs"


def test_the_page_has_every_erratum_once() -> None:
    assert Counter(finding.erratum for finding in findings()) == Counter(ERRATA)
    rows = [line for line in page().splitlines() if line.startswith("| **")]
    assert len(rows) == len(ALL)
    for erratum in ALL:
        (row,) = [row for row in rows if f"| {plain(erratum.printed)} | {plain(erratum.truth)} |" in row]
        assert row.startswith(f"| **{erratum.id}**")
        assert f"`{erratum.test}`" in row
    assert set(MEANINGS) == set(SHOWN) == set(Grade) - {Grade.WITHDRAWN}


def test_at_least_a_quarter_of_the_errata_of_each_paper_is_graded_twice() -> None:
    keys = [finding.key for finding in findings()]
    assert {key: keys.count(key) for key in SECOND_GRADES} == dict.fromkeys(SECOND_GRADES, 1)
    for letters in ("E", "D", "A", "E-B", "E-R"):
        of_paper = [finding for finding in findings() if finding.letters == letters]
        assert sum(finding.key in SECOND_GRADES for finding in of_paper) >= len(of_paper) / 4
