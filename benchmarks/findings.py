"""What a mean hides: values below our certified interval, intervals that miss ours, one release with two answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.cases import DELTA, TWINS, Part
from benchmarks.environments import OURS
from benchmarks.rows import Row, paired, relative_error
from benchmarks.tables import error, number

MATERIAL = 1e-6
"""Relative shortfall above which a value is too low by more than rounding."""
COARSE = 1e-2
"""Relative distance within which two values count as one: the grids of the peers are no finer."""
BELOW_HEAD = ("accountant", "table", "below, of answered", f"by over {MATERIAL:g}", "worst", "in", "value", "certified")
TWINS_HEAD = ("accountant", "release", "repeated", "in a list", "by enumeration", "once only", "the repeated value")
APART_HEAD = ("accountant", "case", "its interval", "certified")


def found(rows: Sequence[Row]) -> list[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
    """Return title, head and lines of each table that has lines."""
    tables = (
        ("Values below our certified interval", BELOW_HEAD, below),
        ("Intervals that do not meet ours", APART_HEAD, apart),
        ("One release, written in two ways", TWINS_HEAD, twins),
    )
    return [(title, head, lines) for title, head, find in tables if (lines := list(find(rows)))]


def others(rows: Sequence[Row]) -> list[str]:
    """Return the accountants that are not ours."""
    return [name for name in dict.fromkeys(row.accountant for row in rows) if name not in OURS]


def below(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant and table with values below the certified interval."""
    for accountant in others(rows):
        pairs = paired(rows, accountant)
        for group in dict.fromkeys(row.group for row, _ in pairs):
            of = [(row, ours, relative_error(row, ours)) for row, ours in pairs if row.group == group]
            short = [(found, row, ours) for row, ours, found in of if found is not None and not found >= 0]
            if short:
                worst, row, ours = min(short, key=lambda each: (not math.isnan(each[0]), each[0]))
                material = sum(not found >= -MATERIAL for found, _, _ in short)
                many = (f"{len(short)} of {len(of)}", str(material))
                yield accountant, group, *many, error(worst), row.case, number(row.value), _interval(ours)


def apart(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each interval of a peer that does not meet ours."""
    for accountant in others(rows):
        for row, ours in paired(rows, accountant):
            ends = (row.lower, row.upper, ours.lower, ours.upper)
            if None not in ends and (row.lower > ours.upper or row.upper < ours.lower):  # type: ignore[operator]
                yield accountant, row.case, _interval(row), _interval(ours)


def twins(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each release and accountant that answered both ways to write it."""
    values = {(row.accountant, row.case): row.value for row in rows if row.outcome == "answered"}
    for cases, part in TWINS.items():
        what = f"{part.times} randomised responses, {part.categories} answers, p = {part.noise:g}"
        exact, once = enumerated(part), enumerated(replace(part, times=1))
        for accountant in dict.fromkeys(row.accountant for row in rows):
            repeated, listed = (values.get((accountant, case)) for case in cases)
            if repeated and listed:
                yield accountant, what, *map(number, (repeated, listed, exact, once)), _verdict(repeated, exact, once)


def _verdict(value: float, exact: float, once: float) -> str:
    if value >= exact * (1.0 - MATERIAL):
        return "covers it"
    return "**is that of one run: the count is forgotten**" if abs(value - once) < COARSE * once else "**too little**"


def enumerated(part: Part, target: float = DELTA) -> float:
    """Return ε at a δ of a repeated randomised response under replace-one, from every outcome of all its answers.

    The loss is ε of one answer times the difference of how often the two records' own answers came.
    """
    assert part.noise is not None
    other = part.noise / part.categories
    true, rest = 1.0 - part.noise + other, (part.categories - 2) * other
    losses: list[tuple[float, float]] = []
    for mine in range(part.times + 1):
        for theirs in range(part.times - mine + 1):
            left = part.times - mine - theirs
            ways = math.comb(part.times, mine) * math.comb(part.times - mine, theirs)
            losses.append(((mine - theirs) * math.log(true / other), ways * true**mine * other**theirs * rest**left))

    def delta(epsilon: float) -> float:
        return math.fsum(-chance * math.expm1(epsilon - loss) for loss, chance in losses if loss > epsilon)

    low, high = 0.0, max(loss for loss, _ in losses)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if delta(middle) > target else (low, middle)
    return high


def _interval(row: Row) -> str:
    return f"[{number(row.lower)}, {number(row.upper)}]"
