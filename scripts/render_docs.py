"""Write the documents that follow from the lists: python scripts/render_docs.py [--check].

The tables of docs/what-it-knows.md (calibrators, theorems, other accountants) are between `<!-- begin NAME -->` and
`<!-- end NAME -->`. The whole of docs/coverage.md, docs/errata.md and docs/peers.md is written. The answers in other
documents are not written: tests/test_docs.py compares them with live answers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from epsilond.calibrators import CALIBRATORS
from scripts.coverage.page import PAGE as COVERAGE
from scripts.coverage.page import page as coverage
from scripts.pages import errata, hosts, peers
from scripts.pages.markdown import cite_source, text_table
from scripts.pages.theorems import by_work

LISTS = Path(__file__).parents[1] / "docs/what-it-knows.md"


def algorithms() -> str:
    """Write one row for each calibrator."""
    rows = [(f"`{calibrator.name}`", calibrator.summary) for calibrator in CALIBRATORS]
    return text_table(("algorithm", "what it does"), rows)


def refuted_theorems() -> str:
    """Write the theorems of algorithms that are false as printed."""
    used = {theorem for calibrator in CALIBRATORS for theorem in calibrator.theorems}
    rows = [
        (f"`{theorem.id}`", theorem.title.removesuffix(", as printed: false"), cite_source(theorem.source))
        for theorem in THEOREMS
        if theorem.id in used and theorem.status is Status.REFUTED
    ]
    return text_table(("theorem", "what it is about", "source"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "algorithms": algorithms,
    "theorems": by_work,
    "refuted": refuted_theorems,
    "peers": peers.table,
}


def render(text: str) -> str:
    """Replace every generated table of a document by its present text.

    Args:
        text: the document, with markers around each table.

    Returns:
        The document with the new tables.

    Raises:
        ValueError: a table's markers are missing.
    """
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"the markers of {name} are missing")
        text = pattern.sub(lambda match, table=table: f"{match[1]}{table()}\n{match[2]}", text)  # type: ignore[misc]
    return text


def main(arguments: Sequence[str]) -> int:
    """Rewrite the tables and the generated pages; with --check only report whether one would change."""
    lists = LISTS.read_text(encoding="utf-8")
    texts = {LISTS: render(lists), COVERAGE: coverage(), errata.PAGE: errata.page(), hosts.PAGE: hosts.page()}
    if "--check" in arguments:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
