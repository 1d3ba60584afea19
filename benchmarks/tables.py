"""Rows as tables: for a terminal, and in Markdown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from rich.table import Table

from benchmarks.rows import OURS, WITH_KERNEL, Row, geometric_mean, paired, ratio, relative_error

ROW_HEAD = (
    "case",
    "accountant",
    "value",
    "interval",
    "CPU",
    "CPU, asked again",
    "first call",
    "peak memory",
    "CPU over ours",
    "error",
)
SUMMARY_HEAD = (
    "accountant",
    "asked",
    "answered",
    "over the limit",
    "refused",
    "CPU",
    "CPU, asked again",
    "CPU over ours",
    "least",
    "error, median",
    "error, worst",
    "below ours",
    "peak memory",
)

Cells = Sequence[Sequence[str]]


def rows_in_full(rows: Sequence[Row]) -> Cells:
    """One line for each row."""
    ours = {row.case: row for row in rows if row.accountant == OURS}
    return [_line(row, ours.get(row.case)) for row in rows]


def _line(row: Row, ours: Row | None) -> tuple[str, ...]:
    if row.outcome != "answered":
        return (row.case, row.accountant, said(row), *[""] * (len(ROW_HEAD) - 3))
    interval = "" if row.lower is None or row.upper is None else f"[{number(row.lower)}, {number(row.upper)}]"
    beside = ("", _width(row)) if row is ours else ("", "")
    if ours is not None and ours.outcome == "answered" and row is not ours:
        beside = (times(ratio(row, ours)), error(relative_error(row, ours)))
    spent = (seconds(row.cpu), seconds(row.repeated), seconds(row.first), f"{row.peak_megabytes or 0:.0f} MB")
    return (row.case, row.accountant, number(row.value), interval, *spent, *beside)


def _width(row: Row) -> str:
    """How wide our own interval is, relative to its upper end."""
    if row.lower is None or not row.upper:
        return ""
    return f"width {(row.upper - row.lower) / row.upper:.0e}"


def summary(rows: Sequence[Row]) -> Cells:
    """One line for each accountant: geometric means over the rows that it and we answered."""
    lines = []
    for accountant in dict.fromkeys(row.accountant for row in rows):
        of = [row for row in rows if row.accountant == accountant and row.outcome != "absent"]
        counts = [sum(row.outcome == outcome for row in of) for outcome in ("answered", "over", "refused")]
        pairs = paired(rows, accountant)
        ratios = [found for row, ours in pairs if (found := ratio(row, ours)) is not None]
        errors = [found for row, ours in pairs if (found := relative_error(row, ours)) is not None]
        mine = accountant == OURS
        lines.append(
            (
                accountant,
                *(str(count) for count in (len(of), *counts)),
                seconds(geometric_mean(row.cpu for row in of if row.cpu)),
                seconds(geometric_mean(row.repeated for row in of if row.repeated)),
                "" if mine else times(geometric_mean(ratios)),
                "" if mine else times(min(ratios, default=None)),
                "" if mine or not errors else error(statistics.median(abs(found) for found in errors)),
                "" if mine or not errors else error(max(errors, key=lambda found: (math.isnan(found), abs(found)))),
                "" if mine else str(sum(not found >= 0 for found in errors)),
                f"{max((row.peak_megabytes or 0 for row in of), default=0):.0f} MB",
            )
        )
    return lines


def overview(rows: Sequence[Row]) -> tuple[Sequence[str], Cells]:
    """Head and lines: one line for each accountant, one column for each group with the mean of CPU over ours."""
    groups, lines = list(dict.fromkeys(row.group for row in rows)), []
    for accountant in dict.fromkeys(row.accountant for row in rows if row.accountant != OURS):
        ratios = [(row.group, each) for row, ours in paired(rows, accountant) if (each := ratio(row, ours))]
        means = [geometric_mean(each for of, each in ratios if of == group) for group in groups]
        counts = [sum(of == group for of, _ in ratios) for group in groups]
        cells = [f"{times(mean)} ({count})" if mean else "" for mean, count in zip(means, counts, strict=True)]
        lines.append((accountant, *cells, times(geometric_mean(each for _, each in ratios))))
    return ("accountant", *groups, "all"), lines


WORST_HEAD = ("accountant", "CPU over ours, least", "in", "error, worst", "in", "peak memory")


def worst(rows: Sequence[Row]) -> Cells:
    """One line for each peer: where it is quickest beside us, and where its value is furthest from our interval."""
    lines = []
    for accountant in dict.fromkeys(row.accountant for row in rows if row.accountant not in (OURS, WITH_KERNEL)):
        pairs = paired(rows, accountant)
        ratios = [(found, row.case) for row, ours in pairs if (found := ratio(row, ours)) is not None]
        errors = [(found, row.case) for row, ours in pairs if (found := relative_error(row, ours)) is not None]
        if ratios and errors:
            quickest = min(ratios)
            furthest = max(errors, key=lambda one: (math.isnan(one[0]), abs(one[0])))
            peak = max(row.peak_megabytes or 0 for row, _ in pairs)
            lines.append(
                (accountant, times(quickest[0]), quickest[1], error(furthest[0]), furthest[1], f"{peak:.0f} MB")
            )
    return lines


def said(row: Row) -> str:
    """Why there is no value."""
    head = {"over": "over the limit", "refused": "refused", "absent": "not asked"}[row.outcome]
    return f"{head}: {row.reason}"


def number(value: float | None) -> str:
    """Eight digits, five where small."""
    if value is None:
        return ""
    return f"{value:.8g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.5e}"


def seconds(value: float | None) -> str:
    """In s or ms."""
    if value is None:
        return ""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def times(value: float | None) -> str:
    """A ratio."""
    return "" if value is None else f"{value:.3g}×"


def error(value: float | None) -> str:
    """A relative error: inside our interval, in parts or in per cent."""
    if value is None:
        return ""
    if value == 0:
        return "inside"
    if not math.isfinite(value):
        return "unbounded" if value > 0 else str(value)
    if abs(value) >= 10:
        return f"{value:+.1e}"
    return f"{100 * value:+.2g} %" if abs(value) >= 1e-3 else f"{value:+.1e}"


def as_markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    cells = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def as_rich(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """A table for a terminal."""
    table = Table(*head, title=title, title_justify="left", header_style="bold")
    for line in lines:
        table.add_row(*line)
    return table
