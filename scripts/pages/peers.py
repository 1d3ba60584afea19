"""The measured comparison with other accountants in a few lines, from benchmarks/rows.csv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.environments import KERNEL, OURS, REFERENCE
from benchmarks.findings import MATERIAL
from benchmarks.peers import CSV
from benchmarks.rows import Row, geometric_mean, paired, ratios, read_csv, relative_error
from benchmarks.tables import error, times
from scripts.pages.markdown import of_text

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
    return of_text(HEAD, lines([row for row in read_csv(CSV) if row.outcome != "absent"]))


def lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield name, answers, mean CPU over ours where both answered, and the values that promise more than holds."""
    for name in dict.fromkeys(row.accountant for row in rows):
        measured = [row for row in rows if row.accountant == name]
        answered = [row for row in measured if row.outcome == "answered"]
        over = ("" if name == ours else times(geometric_mean(ratios(rows, name, ours))) for ours in OURS)
        pairs = () if name in OURS else paired(rows, name)
        errors = (found for row, ours in pairs if (found := relative_error(row, ours)) is not None)
        below = [found for found in errors if found < -MATERIAL]
        version = next((row.version for row in answered), "")
        shortfalls = (str(len(below)), error(min(below))) if below else ("", "")
        yield f"{name} {version}", f"{len(answered)} of {len(measured)}", *over, *shortfalls
