"""The page docs/coverage.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from epsilond.accountants.bibliography import WORKS
from scripts.coverage.served import PAPERS, Served, served
from scripts.coverage.statement import Paper
from scripts.pages.markdown import code, paper, plain, table

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
HOWS = ("served", "used", "in part", "not served")
HEAD = """# What is served of the five papers

<!-- written by python -m scripts.render_docs from scripts/coverage -->

Every numbered statement of the five papers, and where it is served: theorems, whose pages have conditions, status and
errata; calibrators that are built on them; what `epsilond simulate` runs; and functions for arrays of your own. The
theorems of a row are those whose source names the statement; some are pages without a formula. A definition or an
assumption that has no formula of its own is *used*, and the row says as what. What is served in part, or not, has its
reason beside it. Assumptions that a paper counts apart from its theorems have no row: they are conditions on the
theorems' own pages.
"""


def page() -> str:
    """Its text."""
    tables = "\n".join("\n".join(_section(each)) for each in PAPERS)
    return f"{HEAD}\n{summary()}\n{tables}"


def summary() -> str:
    """How many statements of each paper are served."""
    counts = {each.key: Counter(row.how for row in served(each)) for each in PAPERS}
    rows = [(plain(paper(key)), str(sum(found.values())), *_numbers(found)) for key, found in counts.items()]
    whole = sum(counts.values(), Counter[str]())
    return table(("paper", "statements", *HOWS), [*rows, ("all", str(sum(whole.values())), *_numbers(whole))])


def _numbers(found: Counter[str]) -> list[str]:
    return [str(found[how]) if found[how] else "" for how in HOWS]


def _section(each: Paper) -> Iterator[str]:
    yield f"\n## {plain(paper(each.key))}\n"
    yield f"{plain(WORKS[each.key].citation)}\n"
    rows, first = list(served(each)), dict[str, str]()
    for row in rows:
        first.setdefault(row.reason, row.statement.number)
    lines = [_row(row, first[row.reason]) for row in rows]
    yield table(("statement", "what it is about", "theorems", "also", "how"), lines)


def _row(row: Served, first: str) -> tuple[str, ...]:
    """A line; where an earlier statement has the same reason, that is told instead of the reason."""
    own = row.statement
    reason = row.reason if first == own.number else f"as {first}"
    theorems = ", ".join(f"[{code(each)}](theorems/{each}.md)" for each in row.theorems)
    also = [
        *_kind("calibrated by", [f"[{code(each)}](algorithms/{each}.md)" for each in row.calibrators]),
        *_kind("simulated as", [code(each) for each in own.runs]),
        *_kind("experiment", [code(each) for each in row.experiments]),
        *_kind("run by", [code(each) for each in own.functions]),
    ]
    how = f"**{row.how}**: {plain(reason)}" if row.reason else row.how
    return plain(own.number), plain(own.says), theorems, "; ".join(also), how


def _kind(word: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"{word} {', '.join(found)}"
