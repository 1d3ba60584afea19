"""What we aim at beside peers, and what was measured: of questions that were never asked before."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Protocol

from benchmarks.cases import STEPS, everything, forward
from benchmarks.load import Load
from benchmarks.rows import OURS, WITH_KERNEL, Row, geometric_mean, paired, ratio, relative_error
from benchmarks.tables import said, seconds, times

PEER = "dp-accounting PLD"
B1 = "ε q=0.01 z=1 T=1e3"
COMPARABLE = 1e-2
"""Relative error of σ within which a peer's calibration is compared."""
FLAT = 1.5
"""What counts as the same CPU at any number of steps."""

HEAD = ("aim", "wanted", "measured", "met")
Line = tuple[str, str, str, str]


class Loaded(Protocol):
    """What was measured of one sort of question under load, alone or beside heavy ones."""

    @property
    def what(self) -> str:
        """What was asked."""

    @property
    def found(self) -> Load:
        """How it was answered."""

    @property
    def heavy(self) -> Load | None:
        """How those beside it were; None where it was alone."""


def lines(rows: Sequence[Row]) -> Iterator[Line]:
    """One line for each aim that the rows speak of."""
    grid = [row for row in rows if row.group in ("epsilon", "delta")]
    yield from _forward(grid)
    yield from _flat(grid)
    yield from _small(rows)
    yield from _calibration([row for row in rows if row.group == "calibration"])
    other = [row.cpu for row in rows if row.accountant == OURS and row.group in ("corner", "plain") and row.cpu]
    if other:
        aim = "slowest of the rest: few steps, rare large losses, other mechanisms"
        yield _line(aim, "≤ 500 ms", seconds(max(other)), met=max(other) <= 0.5)
    for row in rows:
        if row.accountant == OURS and row.case == "1000 different":
            measured = seconds(row.cpu) if row.outcome == "answered" else said(row)
            yield _line("1000 different mechanisms", "≤ 500 ms", measured, met=row.cpu is not None and row.cpu <= 0.5)
    asked = [row for row in rows if row.accountant == OURS]
    answered = sum(row.outcome == "answered" for row in asked)
    every = len(everything())
    if asked:
        measured = f"{answered} of {len(asked)}" + (f" asked, of {every}" if len(asked) < every else "")
        yield _line("questions answered", "all", measured, met=answered == every)
    peaks = [row.peak_megabytes for row in rows if row.accountant == OURS and row.peak_megabytes]
    if peaks:
        yield _line("peak memory of any answer", "≤ 300 MB", f"{max(peaks):.0f} MB", met=max(peaks) <= 300)


def _forward(grid: Sequence[Row]) -> Iterator[Line]:
    ours = [row for row in grid if row.accountant == OURS and row.cpu is not None]
    if not ours:
        return
    slowest = max(row.cpu or 0.0 for row in ours)
    yield _line("slowest ε(δ) or δ(ε) of the grid", "≤ 1.5 ms", seconds(slowest), met=slowest <= 1.5e-3)
    widest = max(_width(row) for row in ours)
    yield _line("widest interval of the grid, relative", "≤ 1e-7", f"{widest:.0e}", met=widest <= 1e-7)
    ratios = [found for pair in paired(grid, PEER) if (found := ratio(*pair))]
    mean = geometric_mean(ratios)
    if mean is not None:
        over = sum(row.accountant == PEER and row.outcome == "over" for row in grid)
        of = f"{len(ratios)} questions" + (f", {over} more being over the limit" if over else "")
        yield _line(f"CPU of {PEER} over ours, geometric mean of {of}", "≥ 300×", times(mean), met=mean >= 300)
        yield _line(f"CPU of {PEER} over ours, least", "≥ 50×", times(min(ratios)), met=min(ratios) >= 50)
    yield from _with_kernel(grid)


def _with_kernel(grid: Sequence[Row]) -> Iterator[Line]:
    """The same grid with the compiled kernel, where it was installed."""
    pairs = [(row, mine) for row, mine in paired(grid, PEER, WITH_KERNEL) if ratio(row, mine)]
    ratios = [found for pair in pairs if (found := ratio(*pair))]
    mean = geometric_mean(ratios)
    if mean is not None:
        aim = f"the same mean with our compiled kernel, of {len(ratios)} questions"
        yield _line(aim, "≥ 300×", times(mean), met=mean >= 300)
        reached = f"{times(min(ratios))}; {sum(found >= 50 for found in ratios)} of {len(ratios)} within"
        yield _line("the same least with our compiled kernel", "≥ 50×", reached, met=min(ratios) >= 50)
    for row in grid:
        if row.accountant == WITH_KERNEL and row.case == B1 and row.cpu is not None:
            yield _line(f"{B1} with our compiled kernel", "≤ 0.6 ms", seconds(row.cpu), met=row.cpu <= 0.6e-3)


def _flat(grid: Sequence[Row]) -> Iterator[Line]:
    """How much more the longest runs of the grid take than the shortest."""
    steps = {case.id: case.parts[0].times for case in forward()}
    ours = [(row.case, row.cpu) for row in grid if row.accountant == OURS and row.cpu]
    ends = [[cpu for case, cpu in ours if steps.get(case) == end] for end in (STEPS[0], STEPS[-1])]
    if all(ends):
        few, many = (statistics.geometric_mean(of) for of in ends)
        aim = f"mean CPU at {STEPS[-1]:.0e} steps over that at {STEPS[0]:.0e}".replace("e+0", "e")
        yield _line(aim, f"flat: ≤ {FLAT:g}×", times(many / few), met=many / few <= FLAT)


def _small(rows: Sequence[Row]) -> Iterator[Line]:
    ours = [row for row in rows if row.accountant == OURS and row.group == "small" and row.cpu]
    if ours:
        widest = max(_width(row) for row in ours)
        yield _line("widest interval down to δ = 1e-300, relative", "≤ 1e-7", f"{widest:.0e}", met=widest <= 1e-7)
        slowest = max(row.cpu or 0.0 for row in ours)
        yield _line("slowest answer down to δ = 1e-300", "≤ 1.5 ms", seconds(slowest), met=slowest <= 1.5e-3)


def _calibration(rows: Sequence[Row]) -> Iterator[Line]:
    ours = [row.cpu for row in rows if row.accountant == OURS and row.cpu]
    if not ours:
        return
    yield _line("slowest calibration", "≤ 8 ms", seconds(max(ours)), met=max(ours) <= 8e-3)
    means = {}
    for accountant in {row.accountant for row in rows} - {OURS, WITH_KERNEL}:
        pairs = paired(rows, accountant)
        errors = [relative_error(*pair) for pair in pairs]
        if pairs and all(found is not None and abs(found) <= COMPARABLE for found in errors):
            means[accountant] = geometric_mean(found for pair in pairs if (found := ratio(*pair)))
    best = min(means.items(), key=lambda found: found[1] or 0.0, default=None)
    if best and best[1]:
        aim = f"calibrating: CPU of {best[0]}, fastest within {COMPARABLE:.0%}, over ours"
        yield _line(aim, "≥ 300×", times(best[1]), met=best[1] >= 300)
        found = [each for pair in paired(rows, best[0]) if (each := ratio(*pair))]
        yield _line(
            f"calibrating: CPU of {best[0]} over ours, least", "≥ 100×", times(min(found)), met=min(found) >= 100
        )
        kernel = [each for pair in paired(rows, best[0], WITH_KERNEL) if (each := ratio(*pair))]
        mean = geometric_mean(kernel)
        if mean is not None:
            yield _line("the same mean with our compiled kernel", "≥ 300×", times(mean), met=mean >= 300)
            yield _line("the same least with our compiled kernel", "≥ 100×", times(min(kernel)), met=min(kernel) >= 100)


def service(lines: Sequence[Loaded]) -> Iterator[Line]:
    """One line for each aim of the service: the rate of each sort alone, and its tail beside a heavy calibration."""
    for what in dict.fromkeys(line.what for line in lines):
        rate = max(line.found.rate for line in lines if line.what == what and line.heavy is None)
        yield _line(f"requests/s, {what}, nothing beside it, best line", "≥ 1000", f"{rate:.0f}", met=rate >= 1000)
    for what in dict.fromkeys(line.what for line in lines if line.heavy is not None):
        beside = [line for line in lines if line.what == what and line.heavy is not None]
        tail = max(line.found.percentile(0.99) for line in beside)
        answered = all(line.heavy is not None and line.heavy.latencies for line in beside)
        told = f"{seconds(tail)}{'' if answered else ', but no heavy one was answered beside a line'}"
        aim = f"p99 beside a heavy calibration, {what}, worst line"
        yield _line(aim, "≤ 20 ms", told, met=answered and tail <= 0.02)


def _width(row: Row) -> float:
    assert row.lower is not None
    assert row.upper is not None
    return (row.upper - row.lower) / row.upper if row.upper else 0.0


def _line(aim: str, wanted: str, measured: str, *, met: bool) -> Line:
    return aim, wanted, measured, "yes" if met else "not yet"
