"""The measured comparison with other accountants in a few lines, from benchmarks/rows.csv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.environments import KERNEL, OURS, REFERENCE
from benchmarks.findings import MATERIAL
from benchmarks.peers import CSV
from benchmarks.rows import Row, geometric_mean, pair_rows, ratios, read_csv, relative_error
from benchmarks.tables import error, times
from scripts.pages.markdown import text_table

HEAD = (
    "accountant",
    "answered",
    f"CPU over {KERNEL.name}",
    f"CPU over {REFERENCE.name}",
    f"less than is certified, by over {MATERIAL:g}",
    "the worst",
)


def table() -> str:
    """Return a line for each accountant that was measured."""
    return text_table(HEAD, lines([row for row in read_csv(CSV) if row.outcome != "absent"]))


def lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line on each accountant: its answers, its CPU time over ours, and values that promise too much privacy.

    Args:
        rows: measured answers of all accountants.

    Yields:
        Name and version, answers of all questions, mean ratios of the CPU time, number of low values, and the worst
        error.
    """
    for name in dict.fromkeys(row.accountant for row in rows):
        own = [row for row in rows if row.accountant == name]
        answers = [row for row in own if row.outcome == "answered"]
        over = ["" if name == ours else times(geometric_mean(ratios(rows, name, ours))) for ours in OURS]
        pairs = () if name in OURS else pair_rows(rows, name)
        errors = [relative_error(row, ours) for row, ours in pairs]
        # Values that are too low by more than rounding.
        below = [value for value in errors if value is not None and value < -MATERIAL]
        version = next((row.version for row in answers), "")
        shortfalls = (str(len(below)), error(min(below))) if below else ("", "")
        yield f"{name} {version}", f"{len(answers)} of {len(own)}", *over, *shortfalls
