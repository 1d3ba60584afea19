"""The measured comparison with other accountants in a few lines, from benchmarks/rows.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.environments import OURS, ROOT
from benchmarks.findings import MATERIAL
from benchmarks.rows import WITH_KERNEL, geometric_mean
from benchmarks.tables import error, times
from scripts.pages.markdown import of_text

HEAD = (
    "accountant",
    "answered",
    "CPU over ours, new questions, mean",
    f"less than is certified, by over {MATERIAL:g}",
    "the worst",
)
Row = Mapping[str, str]


def table() -> str:
    """One line for each accountant that was asked."""
    with (ROOT / "benchmarks" / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] != "absent"]
    return f"{of_text(HEAD, lines(rows))}{with_kernel(rows)}"


def with_kernel(rows: Sequence[Row]) -> str:
    """What the compiled kernel takes, where it was asked."""
    ratios = [float(row["ratio"]) for row in rows if row["accountant"] == WITH_KERNEL and row["ratio"]]
    if not ratios:
        return ""
    share = f"{geometric_mean(ratios):.2g} of that CPU, in the mean of {len(ratios)} questions"
    return f"\n\nWith its compiled kernel epsilond takes {share}."


def lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Name, answers, mean of CPU over ours where both answered, and the answers that promise more than is so."""
    for name in dict.fromkeys(row["accountant"] for row in rows if row["accountant"] != WITH_KERNEL):
        asked = [row for row in rows if row["accountant"] == name]
        answered = [row for row in asked if row["outcome"] == "answered"]
        said = f"{answered[0]['accountant']} {answered[0]['version']}" if answered else name
        many = f"{len(answered)} of {len(asked)}"
        if name == OURS:
            yield said, many, "1×", "", ""
            continue
        errors = [float(row["relative_error"]) for row in answered if row["relative_error"]]
        below = [each for each in errors if each < -MATERIAL]
        mean = times(geometric_mean(float(row["ratio"]) for row in answered if row["ratio"]))
        yield said, many, mean, str(len(below)) if below else "", error(min(below)) if below else ""
