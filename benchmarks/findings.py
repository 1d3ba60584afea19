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
"""Relative distance within which two values count as one: the grids of the peers are not finer."""
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
    filled = [(title, head, list(find(rows))) for title, head, find in tables]
    return [(title, head, lines) for title, head, lines in filled if lines]


def others(rows: Sequence[Row]) -> list[str]:
    """Return the accountants that are not ours."""
    return [name for name in dict.fromkeys(row.accountant for row in rows) if name not in OURS]


def below(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant and table with values below the certified interval.

    Such a value promises more privacy than there is.

    Args:
        rows: answers of all accountants, with certified intervals of ours.

    Yields:
        The cells of a line:
        - the accountant and the table;
        - the number of low values, and of those low by more than `MATERIAL`, relatively;
        - the worst relative error, its question and its value, and the certified interval.
    """
    for accountant in others(rows):
        pairs = pair_rows(rows, accountant)
        for group in dict.fromkeys(row.group for row, _ in pairs):
            in_group = [(row, ours) for row, ours in pairs if row.group == group]
            shortfalls = []
            for row, ours in in_group:
                value = relative_error(row, ours)
                if value is not None and _is_below(value, 0.0):
                    shortfalls.append((value, row, ours))
            if shortfalls:
                # NaN counts as the worst error, and then the lowest one.
                worst, row, ours = min(shortfalls, key=lambda entry: (not math.isnan(entry[0]), entry[0]))
                material = sum(_is_below(value, -MATERIAL) for value, _, _ in shortfalls)
                counts = (f"{len(shortfalls)} of {len(in_group)}", str(material))
                yield accountant, group, *counts, error(worst), row.case, number(row.value), _interval(ours)


def _is_below(value: float, bound: float) -> bool:
    """Return whether a relative error is below a bound; NaN counts as below."""
    return math.isnan(value) or value < bound


def apart(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each interval of a peer that does not meet ours."""
    for accountant in others(rows):
        for row, ours in pair_rows(rows, accountant):
            if row.lower is None or row.upper is None or ours.lower is None or ours.upper is None:
                continue
            if row.lower > ours.upper or row.upper < ours.lower:
                yield accountant, row.case, _interval(row), _interval(ours)


def twins(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each accountant that answered the same release written in two ways: repeated, and as a list.

    The releases are randomised responses, small enough that their exact ε follows from all outcomes.

    Args:
        rows: answers of all accountants.

    Yields:
        The cells of a line:
        - the accountant and the release;
        - its ε of the repeated form, and of the list;
        - the exact ε, and the exact ε of a single run;
        - a verdict on the ε of the repeated form.
    """
    values = {(row.accountant, row.case): row.value for row in rows if row.outcome == "answered"}
    for cases, part in TWINS.items():
        release = f"{part.times} randomised responses, {part.categories} answers, p = {part.noise:g}"
        exact, once = exact_epsilon(part), exact_epsilon(replace(part, times=1))
        for accountant in dict.fromkeys(row.accountant for row in rows):
            as_power, as_list = (values.get((accountant, case)) for case in cases)
            # Both ways must have an answer.
            if as_power and as_list:
                figures = map(number, (as_power, as_list, exact, once))
                yield accountant, release, *figures, _verdict(as_power, exact, once)


def _verdict(value: float, exact: float, once: float) -> str:
    """Judge the ε of another library's accountant for a repeated mechanism.

    Args:
        value: the ε of the accountant.
        exact: the exact ε of all runs.
        once: the exact ε of a single run.

    Returns:
        Words: it covers the exact ε, it is that of a single run, or it is too little. `MATERIAL` and `COARSE` are the
        relative tolerances.
    """
    if value >= exact * (1.0 - MATERIAL):
        return "covers it"
    if abs(value - once) < COARSE * once:
        return "**is that of one run: the count is forgotten**"
    return "**too little**"


def exact_epsilon(part: Part, target: float = DELTA) -> float:
    """Return the exact ε at a δ of a repeated randomised response under replace-one, by enumeration of all outcomes.

    Args:
        part: the randomised responses.
        target: δ, in (0, 1).

    Returns:
        The smallest double ε, found by bisection, for which the computed δ(ε) is at most the target.
    """
    distribution = loss_distribution(part)

    def delta(epsilon: float) -> float:
        """Return the hockey-stick divergence δ(ε) = Σ P (1 − e^{ε − L})₊."""
        return math.fsum(
            -probability * math.expm1(epsilon - loss) for loss, probability in distribution if loss > epsilon
        )

    low = 0.0
    high = max(loss for loss, _ in distribution)
    while True:  # bisection down to neighbouring doubles
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if delta(middle) > target:
            low = middle
        else:
            high = middle


def loss_distribution(part: Part) -> list[tuple[float, float]]:
    """Return privacy loss and probability of each outcome of a repeated randomised response under replace-one.

    One record replaces another. An outcome is (a, b): a answers are the category of the first record, and b that of the
    second. Its privacy loss is (a − b) log(p/p′). Here p is the probability of the true category in one answer, and p′
    that of each other category.

    Args:
        part: the randomised responses, with the probability of a random answer, the categories and the number of runs.

    Returns:
        Pairs of the loss, in nats, and the probability of the outcome.
    """
    assert part.noise is not None  # only questions for the noise have none
    # A random answer is uniform over all categories, the true one included.
    other_probability = part.noise / part.categories
    true_probability = 1.0 - part.noise + other_probability
    neither_probability = (part.categories - 2) * other_probability
    log_ratio = math.log(true_probability / other_probability)
    distribution: list[tuple[float, float]] = []
    for own in range(part.times + 1):
        for replaced in range(part.times - own + 1):
            neither = part.times - own - replaced
            ways = math.comb(part.times, own) * math.comb(part.times - own, replaced)
            probability = ways * true_probability**own * other_probability**replaced * neither_probability**neither
            distribution.append(((own - replaced) * log_ratio, probability))
    return distribution


def _interval(row: Row) -> str:
    return f"[{number(row.lower)}, {number(row.upper)}]"
