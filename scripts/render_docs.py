"""Write the documents that follow from the lists: python scripts/render_docs.py [--check].

The tables of docs/what-it-knows.md (calibrators, theorems, other accountants) are between `<!-- begin NAME -->` and
`<!-- end NAME -->`. docs/coverage.md, which says where each statement of the five papers is served, is written whole.
The answers that documents show are not written: tests/test_docs.py compares them with live answers.
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
from scripts.pages import peers
from scripts.pages.markdown import cited, of_text
from scripts.pages.theorems import by_work

LISTS = Path(__file__).parents[1] / "docs/what-it-knows.md"


def algorithms() -> str:
    """One row for each calibrator."""
    return of_text(("algorithm", "what it does"), ((f"`{each.name}`", each.summary) for each in CALIBRATORS))


def refuted() -> str:
    """The theorems that algorithms are built on and that are false as printed."""
    used = {theorem for calibrator in CALIBRATORS for theorem in calibrator.theorems}
    rows = (
        (f"`{each.id}`", each.title.removesuffix(", as printed: false"), cited(each.source))
        for each in THEOREMS
        if each.id in used and each.status is Status.REFUTED
    )
    return of_text(("theorem", "what it is about", "source"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "algorithms": algorithms,
    "theorems": by_work,
    "refuted": refuted,
    "peers": peers.table,
}


def render(text: str) -> str:
    """`text` with every table written anew.

    Raises:
        ValueError: a table's markers are missing.
    """
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"the markers of {name} are missing")
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table()}\n{found[2]}", text)  # type: ignore[misc]
    return text


def main(arguments: Sequence[str]) -> int:
    """Rewrite the tables and docs/coverage.md; with --check only report whether one of them would change."""
    old = LISTS.read_text(encoding="utf-8")
    if "--check" in arguments:
        return int(old != render(old) or COVERAGE.read_text(encoding="utf-8") != coverage())
    COVERAGE.write_text(coverage(), encoding="utf-8")
    LISTS.write_text(render(old), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
