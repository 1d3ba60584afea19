"""Faults of single answers: values below our certified interval, intervals that miss ours, one release, two answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.cases import DELTA, TWINS, Part
from benchmarks.environments import OURS
from benchmarks.rows import Row, pair_rows, relative_error
from benchmarks.tables import error, number

MATERIAL = 1e-6
"""Relative shortfall above which a value is too low by more than rounding."""
COARSE = 1e-2
"""Relative distance within which two values count as one: the grids of the peers are no finer."""
BELOW_HEAD = ("accountant", "table", "below, of answered", f"by over {MATERIAL:g}", "worst", "in", "value", "certified")
TWINS_HEAD = ("accountant", "release", "repeated", "in a list", "by enumeration", "once only", "the repeated value")
APART_HEAD = ("accountant", "case", "its interval", "certified")


def finding_tables(rows: Sequence[Row]) -> list[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
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
        pairs = pair_rows(rows, accountant)
        for group in dict.fromkeys(row.group for row, _ in pairs):
            in_group = [(row, ours, relative_error(row, ours)) for row, ours in pairs if row.group == group]
            # The comparisons are negated because NaN counts as too low.
            short = [(value, row, ours) for row, ours, value in in_group if value is not None and not value >= 0]
            if short:
                worst, row, ours = min(short, key=lambda entry: (not math.isnan(entry[0]), entry[0]))
                material = sum(not value >= -MATERIAL for value, _, _ in short)
                counts = (f"{len(short)} of {len(in_group)}", str(material))
                yield accountant, group, *counts, error(worst), row.case, number(row.value), _interval(ours)


def apart(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each interval of a peer that does not meet ours."""
    for accountant in others(rows):
        for row, ours in pair_rows(rows, accountant):
            ends = (row.lower, row.upper, ours.lower, ours.upper)
            if None not in ends and (row.lower > ours.upper or row.upper < ours.lower):  # type: ignore[operator]
                yield accountant, row.case, _interval(row), _interval(ours)


def twins(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each release and accountant that answered both ways to write it."""
    values = {(row.accountant, row.case): row.value for row in rows if row.outcome == "answered"}
    for cases, part in TWINS.items():
        release = f"{part.times} randomised responses, {part.categories} answers, p = {part.noise:g}"
        exact, once = exact_epsilon(part), exact_epsilon(replace(part, times=1))
        for accountant in dict.fromkeys(row.accountant for row in rows):
            as_power, as_list = (values.get((accountant, case)) for case in cases)
            if as_power and as_list:
                figures = map(number, (as_power, as_list, exact, once))
                yield accountant, release, *figures, _verdict(as_power, exact, once)


def _verdict(value: float, exact: float, once: float) -> str:
    if value >= exact * (1.0 - MATERIAL):
        return "covers it"
    return "**is that of one run: the count is forgotten**" if abs(value - once) < COARSE * once else "**too little**"


def exact_epsilon(part: Part, target: float = DELTA) -> float:
    """Return ε at a δ of a repeated randomised response under replace-one, by enumeration of all outcomes.

    The privacy loss is the ε of one answer times the difference of two counts: of the answers that are the one record's
    own category, and of those that are the other record's.
    """
    assert part.noise is not None
    false = part.noise / part.categories
    true, rest = 1.0 - part.noise + false, (part.categories - 2) * false
    losses: list[tuple[float, float]] = []
    for mine in range(part.times + 1):
        for theirs in range(part.times - mine + 1):
            left = part.times - mine - theirs
            ways = math.comb(part.times, mine) * math.comb(part.times - mine, theirs)
            losses.append(((mine - theirs) * math.log(true / false), ways * true**mine * false**theirs * rest**left))

    def delta(epsilon: float) -> float:
        """Return δ at ε by the hockey-stick divergence."""
        return math.fsum(-chance * math.expm1(epsilon - loss) for loss, chance in losses if loss > epsilon)

    low, high = 0.0, max(loss for loss, _ in losses)
    while low < (middle := (low + high) / 2) < high:
        if delta(middle) > target:
            low = middle
        else:
            high = middle
    return high


def _interval(row: Row) -> str:
    return f"[{number(row.lower)}, {number(row.upper)}]"
