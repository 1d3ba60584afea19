"""A row: one case answered, or not, by one accountant; and what can be said of it beside ours."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["answered", "over", "refused", "absent"]
OURS = "epsilond"
WITH_KERNEL = "epsilond with its kernel"
"""The same, its compiled kernel asked first."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one accountant said to one case, and what it took. `reason` says why there is no value.

    `over`: over the limit of time or memory. `refused`: it raised. `absent`: it has no such query, or is not here.
    """

    case: str
    group: str
    accountant: str
    outcome: Outcome
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    cpu: float | None = None
    """CPU seconds of a question that was never asked before."""
    repeated: float | None = None
    """The same of a question asked again."""
    first: float | None = None
    calls: int = 0
    peak_megabytes: float | None = None
    reason: str = ""
    version: str = ""
    date: str = ""
    load: float | None = None

    @classmethod
    def of(cls, said: dict[str, Any], **known: Any) -> Row:
        """From a runner's answer."""
        outcomes: dict[str, Outcome] = {"over": "over", "refused": "refused", "absent": "absent", "killed": "refused"}
        for name, outcome in outcomes.items():
            if name in said:
                return cls(outcome=outcome, reason=said[name], **known)
        return cls(outcome="answered", **said, **known)


def relative_error(row: Row, ours: Row) -> float | None:
    """How far a value lies outside our certified interval, relative to the nearer end: 0 inside, negative below."""
    if row.value is None or ours.lower is None or ours.upper is None:
        return None
    if math.isnan(row.value):
        return math.nan
    if ours.lower <= row.value <= ours.upper:
        return 0.0
    end = ours.upper if row.value > ours.upper else ours.lower
    return row.value / end - 1.0 if end else math.copysign(math.inf, row.value)


def ratio(row: Row, ours: Row) -> float | None:
    """CPU over ours, of questions that were never asked before."""
    return None if row.cpu is None or ours.cpu is None else row.cpu / ours.cpu


def geometric_mean(values: Iterable[float]) -> float | None:
    """None of nothing."""
    kept = list(values)
    return statistics.geometric_mean(kept) if kept else None


def paired(rows: Sequence[Row], accountant: str, mine: str = OURS) -> list[tuple[Row, Row]]:
    """Each row of an accountant with ours of the same case, where both have an answer."""
    ours = {row.case: row for row in rows if row.accountant == mine and row.outcome == "answered"}
    return [
        (row, ours[row.case])
        for row in rows
        if row.accountant == accountant and row.outcome == "answered" and row.case in ours
    ]


class Store:
    """Rows already measured, kept between runs in a file of JSON lines under what was asked of which version."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                kept = json.loads(line)
                key = kept.pop("key")
                self._rows[key] = Row(**kept)

    def get(self, key: str) -> Row | None:
        """The row measured under this key, if it was."""
        return self._rows.get(key)

    def put(self, key: str, row: Row) -> None:
        """Keep a row."""
        self._rows[key] = row
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, **asdict(row)}) + "\n")

    def forget(self, accountants: Iterable[str] | None = None) -> None:
        """Drop the rows of these accountants, or all, so that they are measured anew."""
        gone = None if accountants is None else set(accountants)
        kept = {} if gone is None else {key: row for key, row in self._rows.items() if row.accountant not in gone}
        self._rows.clear()
        self._path.unlink(missing_ok=True)
        for key, row in kept.items():
            self.put(key, row)


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Every row whole, with its ratio and relative error."""
    ours = {row.case: row for row in rows if row.accountant == OURS}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(field.name for field in fields(Row)), "ratio", "relative_error"])
        for row in rows:
            mine = ours.get(row.case)
            beside = (ratio(row, mine), relative_error(row, mine)) if mine else (None, None)
            named = {**asdict(row), "ratio": beside[0], "relative_error": beside[1]}
            writer.writerow([_cell(name, value) for name, value in named.items()])


def read_csv(path: Path) -> list[Row]:
    """The rows that `write_csv` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(cells) for cells in csv.DictReader(file)]


def _row(cells: dict[str, str]) -> Row:
    words = {"case", "group", "accountant", "outcome", "reason", "version", "date"}
    told: dict[str, Any] = {field.name: cells[field.name] for field in fields(Row) if field.name in words}
    measured = {field.name: cells[field.name] for field in fields(Row) if field.name not in words}
    told |= {name: float(cell) if cell else None for name, cell in measured.items()}
    return Row(**(told | {"calls": int(measured["calls"])}))


def _cell(name: str, value: Any) -> Any:
    """The values in full, all else to four digits."""
    whole = not isinstance(value, float) or name in ("value", "lower", "upper")
    return value if whole else f"{value:.4g}"
