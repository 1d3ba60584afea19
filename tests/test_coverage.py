"""docs/coverage.md: every statement of the five papers is listed once, and is served or says why it is not."""

import importlib
import json
from collections import Counter

import pytest

from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.theorems import THEOREMS
from epsilond.witness.joins import JOINS
from epsilond.witness.presets import PRESETS
from scripts.coverage.page import PAGE, page
from scripts.coverage.served import PAPERS, STANDS_IN_FOR, serve
from scripts.coverage.statement import Paper, Statement, names
from tests.documents import ROOT

ROWS = [pytest.param(row, id=f"{paper.word} {row.statement.number}") for paper in PAPERS for row in serve(paper)]


def test_the_page_is_of_today():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: .venv/bin/python -m scripts.render_docs"


def test_the_five_papers_are_listed_whole():
    """The golden file has the numbers of each paper's statements, listed from its text alone.

    An equation is listed if it is part of a theorem's statement, if the text proves it as such, or if another proof
    than its own cites it as a result.
    """
    numbers = json.loads((ROOT / "tests/golden/numbered_statements.json").read_text(encoding="utf-8"))
    assert {paper.key for paper in PAPERS} == numbers.keys() <= WORKS.keys()
    missing = {}
    for paper in PAPERS:
        rows = {name.rstrip("abcd") for each in paper.statements for name in names(each.number)}
        missing[paper.key] = sorted(_listed(numbers[paper.key]) - rows)
    assert missing == {paper.key: [] for paper in PAPERS}


def _listed(numbers: dict[str, list[str]]) -> set[str]:
    """Return the names of the listed statements, as in `names`."""
    plain = {f"{kind.capitalize()} {number}" for kind in numbers.keys() - {"equation"} for number in numbers[kind]}
    return plain | {f"({number})" for number in numbers["equation"]}


def test_an_equation_without_a_row_would_be_seen():
    assert _listed({"lemma": ["1"], "equation": ["7"]}) == {"Lemma 1", "(7)"}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.word)
def test_no_statement_stands_twice(paper):
    assert max(Counter(each.number for each in paper.statements).values()) == 1


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.word)
def test_every_theorem_of_a_paper_serves_a_statement_of_it(paper):
    shown = {theorem for row in serve(paper) for theorem in row.theorems}
    left = {each.id: each.source.item for each in THEOREMS if each.source.key == paper.key and each.id not in shown}
    assert not left, "name the statement in the theorem's source, or the theorem in scripts/coverage"


@pytest.mark.parametrize("row", ROWS)
def test_what_is_named_exists(row):
    known = {each.id for each in THEOREMS}
    assert set(row.theorems) <= known
    assert set(row.experiments) <= {each.name for each in PRESETS}
    assert row.statement.stand_in == "" or (row.statement.partly and STANDS_IN_FOR[row.statement.stand_in])
    assert set(row.statement.runs) <= {each.algorithm for each in JOINS}
    for function in row.statement.functions:
        module, _, name = function.rpartition(".")
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.import_module(function)


@pytest.mark.parametrize("row", ROWS)
def test_nothing_is_partial_or_missing_without_a_reason(row):
    assert row.how == "served" or len(row.reason.split()) >= 4


def test_a_gap_without_a_reason_would_be_seen():
    paper = Paper(key="das2021", word="Das", statements=(Statement(number="Lemma 99", says="nothing"),))
    (row,) = serve(paper)
    assert (row.how, row.reason) == ("not served", "")


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("Theorem 5.2, (13) and (14)", {"Theorem 5.2", "(13)", "(14)"}),
        ("Equations (4) to (6)", {"(4)", "(5)", "(6)"}),
        ("Lemmas A.1 to A.3", {"Lemma A.1", "Lemma A.2", "Lemma A.3"}),
        ("Figures 1b, 1c and 3", {"Figure 1b", "Figure 1c", "Figure 3"}),
        ("Appendix F.2, Algorithm 3", {"Appendix F.2", "Algorithm 3"}),
        ("Theorem 2.10", {"Theorem 2.10"}),
        ("the noisy SGD it compares with", set()),
    ],
)
def test_a_source_names_statements(item, found):
    assert names(item) == found
