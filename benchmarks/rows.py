"""A row: what one accountant answered to one case, and what follows from it and our certified interval."""

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
    """One question to one accountant: CPU seconds of a new and of the first question, and peak memory of the process.

    `reason` says why there is no value. `over`: over the limit of time or memory. `refused`: it raised. `absent`: it
    has no such query, or is not installed.
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
        """Make a row of what a runner returned."""
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
    """Return how far a value is outside our interval, relative to the nearer bound: 0 inside, negative below."""
    if row.value is None or ours.lower is None or ours.upper is None:
        return None
    if math.isnan(row.value):
        return math.nan
    if ours.lower <= row.value <= ours.upper:
        return 0.0
    bound = ours.upper if row.value > ours.upper else ours.lower
    return row.value / bound - 1.0 if bound else math.copysign(math.inf, row.value)


def certified(rows: Sequence[Row]) -> dict[str, Row]:
    """Return our answered row of each case: the kernel's, or else the reference's."""
    answered = [row for row in rows if row.accountant in OURS and row.outcome == "answered"]
    return {row.case: row for name in (REFERENCE.name, KERNEL.name) for row in answered if row.accountant == name}


def paired(rows: Sequence[Row], accountant: str, ours: str | None = None) -> list[tuple[Row, Row]]:
    """Return the answered rows of an accountant, each with ours of the same case (of `ours`, if given)."""
    known = certified([row for row in rows if ours is None or row.accountant == ours])
    answered = [row for row in rows if row.accountant == accountant and row.outcome == "answered"]
    return [(row, known[row.case]) for row in answered if row.case in known]


def ratios(rows: Sequence[Row], accountant: str, ours: str) -> list[float]:
    """Return CPU over that of `ours`, for each case that both answered."""
    return [row.cpu / mine.cpu for row, mine in paired(rows, accountant, ours) if row.cpu and mine.cpu]


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the mean, or None for no values."""
    kept = list(values)
    return statistics.geometric_mean(kept) if kept else None


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write all rows: values in full, the rest to four digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = asdict(row).items()
            short = {
                name: f"{v:.4g}" if isinstance(v, float) and name not in ("value", "lower", "upper") else v
                for name, v in cells
            }
            writer.writerow(short)


def read_csv(path: Path) -> list[Row]:
    """Return the rows that `write_csv` wrote; none if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        known = [{name: cell for name, cell in cells.items() if cell} for cells in csv.DictReader(file)]
    return [Row(**{name: c if name in WORDS else float(c) for name, c in cells.items()}) for cells in known]  # type: ignore[arg-type]
