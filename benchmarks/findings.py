"""What the rows show and a mean hides: values below our certified interval, and one release answered in two ways."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchmarks.cases import TWINS
from benchmarks.rows import OURS, Row, paired, relative_error
from benchmarks.tables import error, number, times

MATERIAL = 1e-6
"""A relative shortfall above this is no matter of rounding."""
BELOW_HEAD = ("accountant", "table", "below, of answered", f"by over {MATERIAL:g}", "worst", "in", "value", "certified")
TWINS_HEAD = ("accountant", "repeated ten times", "ten in a list", "list over repeated")
APART_HEAD = ("accountant", "case", "its interval", "certified")


def below(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """One line for each accountant and table in which it claims less ε, δ or noise than is certified to be so."""
    for accountant in _others(rows):
        pairs = paired(rows, accountant)
        for group in dict.fromkeys(row.group for row, _ in pairs):
            of = [(row, ours, relative_error(row, ours)) for row, ours in pairs if row.group == group]
            short = [(found, row, ours) for row, ours, found in of if found is not None and not found >= 0]
            if short:
                worst, row, ours = min(short, key=lambda one: (not math.isnan(one[0]), one[0]))
                count = sum(not found >= -MATERIAL for found, _, _ in short)
                many = (f"{len(short)} of {len(of)}", str(count))
                yield accountant, group, *many, error(worst), row.case, number(row.value), _interval(ours)


def twins(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """One line for each accountant that answered both ways to write down one release."""
    values = {(row.accountant, row.case): row.value for row in rows if row.outcome == "answered"}
    for accountant in dict.fromkeys(row.accountant for row in rows):
        repeated, listed = (values.get((accountant, case)) for case in TWINS)
        if repeated and listed:
            yield accountant, number(repeated), number(listed), times(listed / repeated)


def apart(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """One line for each interval of a peer that does not meet ours: one of the two is wrong."""
    for accountant in _others(rows):
        for row, ours in paired(rows, accountant):
            ends = (row.lower, row.upper, ours.lower, ours.upper)
            if None not in ends and (row.lower > ours.upper or row.upper < ours.lower):  # type: ignore[operator]
                yield accountant, row.case, _interval(row), _interval(ours)


def _others(rows: Sequence[Row]) -> list[str]:
    return [name for name in dict.fromkeys(row.accountant for row in rows) if name != OURS]


def _interval(row: Row) -> str:
    return f"[{number(row.lower)}, {number(row.upper)}]"
