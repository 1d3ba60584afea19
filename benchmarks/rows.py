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
    """The measured answer of one accountant to one question.

    Attributes:
        case: id of the question.
        group: table of the question.
        accountant: name of the accountant.
        outcome: `answered`; `over` the limit of time or memory; `refused` with an error; `absent` if the accountant has
            no such query, or is not installed.
        value: the answer that a user would rely on.
        lower: lower bound on the true value, if the accountant has one.
        upper: upper bound on the true value.
        cpu: CPU time of a new question, in seconds.
        first: CPU time of the first question, in seconds.
        calls: number of calls.
        megabytes: peak memory of the process, in MB.
        reason: reason why there is no value.
        version: version of the accountant.
        date: date of the measurement.
        load: load average of the machine.
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
        """Make a row from the result of a runner.

        Args:
            result: the measured figures by name, or one member `over`, `refused` or `absent` with its reason.
            **known: fields of the row that are known before, such as the question.

        Returns:
            The row with its outcome.
        """
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
    """Return the error of a value relative to the nearer bound of our certified interval.

    Args:
        row: answer of another accountant.
        ours: our answer to the same question, with both bounds.

    Returns:
        0 inside the interval, positive above it and negative below. NaN for a value that is none, and None without
        value or bounds.
    """
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
    """Pair each answer of an accountant with our answer to the same question.

    Args:
        rows: all rows.
        accountant: name of the accountant.
        ours: name of our accountant; without it the kernel's answer is used, or the reference's if there is none.

    Returns:
        Pairs of the accountant's row and ours. Questions without our answer are left out.
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
    """Write measured answers to a CSV file: values and bounds in full, other numbers to four digits.

    Args:
        rows: the answers.
        path: the file, which is replaced.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = asdict(row)
            for name, value in cells.items():
                # Only values and bounds need all digits.
                if isinstance(value, float) and name not in ("value", "lower", "upper"):
                    cells[name] = f"{value:.4g}"
            writer.writerow(cells)


def read_csv(path: Path) -> list[Row]:
    """Read the measured answers that `write_csv` wrote. Empty cells get the default of their field.

    Args:
        path: the file.

    Returns:
        The answers in the order of the file; an empty list if there is no file.
    """
    if not path.exists():
        return []
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            members: dict[str, Any] = {}
            for name, cell in cells.items():
                # An empty cell stands for a missing value.
                if cell:
                    members[name] = cell if name in WORDS else float(cell)
            rows.append(Row(**members))
    return rows
