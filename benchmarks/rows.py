"""Rows: the answers of accountants to cases, and their errors relative to our certified intervals."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from benchmarks.environments import KERNEL, OURS, REFERENCE

Outcome = Literal["answered", "over", "refused", "absent"]
WORDS = ("case", "group", "accountant", "outcome", "reason", "version", "date")


@dataclass(frozen=True, kw_only=True)
class Row:
    """Answer of one accountant to one question.

    Attributes:
        outcome: `answered`; `over` the limit of time or memory; `refused` with an error; `absent` if the accountant has
            no such query, or is not installed.
        cpu: CPU time [s] of a new question.
        first: CPU time [s] of the first question.
        megabytes: peak memory of the process [MB].
        reason: reason why there is no value.
    """

    case: str
    group: str
    accountant: str
    outcome: Outcome
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    cpu: float | None = None
    first: float | None = None
    calls: float = 0
    megabytes: float | None = None
    reason: str = ""
    version: str = ""
    date: str = ""
    load: float | None = None

    @classmethod
    def of(cls, result: dict[str, Any], **known: Any) -> Row:
        """Make a row from the result of a runner."""
        outcomes: tuple[Outcome, ...] = ("over", "refused", "absent")
        for name in outcomes:
            if name in result:
                return cls(outcome=name, reason=result[name], **known)
        return cls(outcome="answered", **result, **known)

    @property
    def width(self) -> float | None:
        """Width of the interval, relative to its upper bound."""
        if self.lower is None or not self.upper:
            return None
        return (self.upper - self.lower) / self.upper


def relative_error(row: Row, ours: Row) -> float | None:
    """Return the error of a value relative to the nearer bound of our interval: 0 inside, negative below."""
    if row.value is None or ours.lower is None or ours.upper is None:
        return None
    if math.isnan(row.value):
        return math.nan
    if ours.lower <= row.value <= ours.upper:
        return 0.0
    bound = ours.upper if row.value > ours.upper else ours.lower
    return row.value / bound - 1.0 if bound else math.copysign(math.inf, row.value)


def certified_rows(rows: Sequence[Row]) -> dict[str, Row]:
    """Return our answered row of each case: that of the kernel, or that of the reference if the kernel has none."""
    answers = [row for row in rows if row.accountant in OURS and row.outcome == "answered"]
    by_case = {row.case: row for row in answers if row.accountant == REFERENCE.name}
    return by_case | {row.case: row for row in answers if row.accountant == KERNEL.name}


def pair_rows(rows: Sequence[Row], accountant: str, ours: str | None = None) -> list[tuple[Row, Row]]:
    """Return the answered rows of an accountant, each with ours of the same case.

    Args:
        rows: all rows.
        accountant: name of the accountant.
        ours: name of our accountant; the kernel, then the reference if absent.
    """
    by_case = certified_rows([row for row in rows if ours is None or row.accountant == ours])
    answers = [row for row in rows if row.accountant == accountant and row.outcome == "answered"]
    return [(row, by_case[row.case]) for row in answers if row.case in by_case]


def ratios(rows: Sequence[Row], accountant: str, ours: str) -> list[float]:
    """Return CPU of an accountant over that of ours, for each case that both answered.

    Args:
        rows: all rows.
        accountant: name of the accountant.
        ours: name of our accountant.
    """
    return [row.cpu / mine.cpu for row, mine in pair_rows(rows, accountant, ours) if row.cpu and mine.cpu]


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, or None for no values."""
    numbers = list(values)
    return statistics.geometric_mean(numbers) if numbers else None


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write all rows, values and bounds in full, other numbers to four digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = asdict(row)
            for name, value in cells.items():
                if isinstance(value, float) and name not in ("value", "lower", "upper"):
                    cells[name] = f"{value:.4g}"
            writer.writerow(cells)


def read_csv(path: Path) -> list[Row]:
    """Return the rows that `write_csv` wrote; none if there is no file."""
    if not path.exists():
        return []
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            members: dict[str, Any] = {}
            for name, cell in cells.items():
                if cell:
                    members[name] = cell if name in WORDS else float(cell)
            rows.append(Row(**members))
    return rows
