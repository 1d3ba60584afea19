"""The page docs/coverage.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from epsilond.accountants.bibliography import WORKS
from scripts.coverage.served import PAPERS, Served, serve
from scripts.coverage.statement import Paper
from scripts.pages.markdown import code, paper, plain, table

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
HOWS = ("served", "used", "in part", "not served")
HEAD = """# What is served of the five papers

<!-- written by python -m scripts.render_docs from scripts/coverage -->

Every numbered statement of the five papers, and where it is served: theorems, whose pages have conditions, status and
[errata](errata.md); calibrators that are built on them; what `epsilond simulate` runs; and functions for arrays of
your own. The theorems of a row are those whose source names the statement; some are pages without a formula. A
definition or an assumption that has no formula of its own is *used*, and the row says as what. What is served in part,
or not, has its reason beside it. The numbers of all statements were listed from the texts alone; a test compares them
with the rows.
"""


def page() -> str:
    """Write the page."""
    tables = "\n".join("\n".join(_section(entry)) for entry in PAPERS)
    return f"{HEAD}\n{summary()}\n{tables}"


def summary() -> str:
    """Write a table of the number of statements of each paper that are served, used, in part served, or not.

    Returns:
        The table in Markdown, with a last line for all papers.
    """
    rows = []
    total: Counter[str] = Counter()
    for entry in PAPERS:
        counts = Counter(row.how for row in serve(entry))
        rows.append(_count_row(plain(paper(entry.key)), counts))
        total += counts
    rows.append(_count_row("all", total))
    return table(("paper", "statements", *HOWS), rows)


def _count_row(name: str, counts: Counter[str]) -> list[str]:
    cells = [str(counts[how]) if counts[how] else "" for how in HOWS]
    return [name, str(counts.total()), *cells]


def _section(entry: Paper) -> Iterator[str]:
    """Yield the parts of a paper's section."""
    yield f"\n## {plain(paper(entry.key))}\n"
    yield f"{plain(WORKS[entry.key].citation)}\n"
    rows, first = list(serve(entry)), dict[str, str]()
    for row in rows:
        first.setdefault(row.reason, row.statement.number)
    lines = [_row(row, first[row.reason]) for row in rows]
    yield table(("statement", "what it is about", "theorems", "also", "how"), lines)


def _row(row: Served, first: str) -> tuple[str, ...]:
    """Write the row of a statement of a paper.

    Args:
        row: the statement with the theorems, calibrators and experiments that serve it.
        first: number of the first statement with the same reason. If it is another statement, it replaces the reason.

    Returns:
        Number, subject, links to theorems, other services, and the extent of the service, as Markdown cells.
    """
    own = row.statement
    reason = row.reason if first == own.number else f"as {first}"
    groups = {
        "calibrated by": [f"[{code(name)}](algorithms/{name}.md)" for name in row.calibrators],
        "simulated as": list(map(code, own.runs)),
        "experiment": list(map(code, row.experiments)),
        "run by": list(map(code, own.functions)),
    }
    also = "; ".join(f"{word} {', '.join(members)}" for word, members in groups.items() if members)
    theorems = ", ".join(f"[{code(name)}](theorems/{name}.md)" for name in row.theorems)
    how = f"**{row.how}**: {plain(reason)}" if row.reason else row.how
    return plain(own.number), plain(own.says), theorems, also, how
