"""Beside other accountants, from the rows that `python -m benchmarks.peers` measured."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.environments import OURS, ROOT
from benchmarks.findings import MATERIAL, twins
from benchmarks.paper.exhibit import Exhibit, Measured, Words
from benchmarks.paper.svg import Axis, Plot, decades
from benchmarks.rows import Row, geometric_mean, paired, ratio, read_csv, relative_error
from scripts.pages.markdown import table

ROWS = ROOT / "benchmarks" / "rows.csv"
LOWEST, HIGHEST = 1e-14, 1e2
"""Of the figure: what is nearer or farther stands at the edge."""
SERIES = {OURS.name: 0, "dp-accounting PLD": 2, "prv-accountant": 3, "dp-accounting RDP": 4, "autodp RDP": 5}


def measure(short: bool) -> Measured:
    """For each accountant its answers: CPU seconds, and the error or, for ours, the relative width."""
    del short
    rows = read_csv(ROWS)
    named: Measured = {}
    for name in SERIES:
        asked = [row for row in rows if row.accountant == name and row.outcome != "absent"]
        pairs = paired(rows, name)
        named[name] = {
            "version": next(row.version for row in asked if row.version),
            "asked": len(asked),
            "answered": len(pairs),
            "cpu_over_ours": geometric_mean(found for row, ours in pairs if (found := ratio(row, ours)) is not None),
            "below": sum(found < -MATERIAL for row, ours in pairs if (found := relative_error(row, ours)) is not None),
            "points": [[row.group, row.cpu, _off(row, ours)] for row, ours in pairs if row.cpu is not None],
        }
    forgotten = sum("forgotten" in verdict for *_, verdict in twins(rows))
    dates = sorted({row.date for row in rows if row.date})
    return {"accountants": named, "dates": [dates[0], dates[-1]], "rows": len(rows), "forgotten": forgotten}


def _off(row: Row, ours: Row) -> float | None:
    if row.accountant == OURS.name:
        assert row.lower is not None
        assert row.upper is not None
        return (row.upper - row.lower) / row.upper if row.upper else 0.0
    return relative_error(row, ours)


def words(measured: Measured) -> Words:
    """A table, and how wide ours is."""
    named = measured["accountants"]
    lines = []
    for name, one in named.items():
        mean = "1" if name == OURS.name else f"{one['cpu_over_ours']:.3g}"
        fewer = "" if name == OURS.name else str(one["below"])
        lines.append((f"{name} {one['version']}", f"{one['answered']} of {one['asked']}", mean, fewer))
    ours = [width for _, _, width in named[OURS.name]["points"]]
    below = f"values below our lower end by over {MATERIAL:g}"
    head = ("accountant", "answered", "CPU over ours, geometric mean", below)
    return {
        "table": table(head, lines),
        "answered": f"{named[OURS.name]['answered']} of {named[OURS.name]['asked']}",
        "widest": f"{max(ours):.1e}",
        "below": str(sum(one["below"] for name, one in named.items() if name != OURS.name)),
        "dates": " to ".join(dict.fromkeys(measured["dates"])),
        "rows": str(measured["rows"]),
        "forgotten": str(measured["forgotten"]),
    }


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Every answer: what it took, and how far it is off."""
    plot = Plot(
        "What an answer costs and how exact it is, by accountant",
        "Relative error over CPU time for each answered question; ours show the width of the certified interval. "
        "Crosses promise more privacy than is so.",
        Axis("CPU time of a new question (s)", 1e-5, 1e2, decades(-5, 2), "log"),
        Axis("error, or width of our interval, relative", LOWEST, HIGHEST, decades(-14, 2, 2), "log"),
        height=460.0,
    )
    for name, series in SERIES.items():
        for _, cpu, off in measured["accountants"][name]["points"]:
            if off is not None:
                mark = "cross" if name != OURS.name and off < -MATERIAL else "dot"
                plot.dot((cpu, max(abs(off), LOWEST)), 1 if mark == "cross" else series, mark)
        plot.key(name, series)
    plot.key("too low", 1, "cross")
    return {"peers": plot}


EXHIBIT = Exhibit(
    name="peers",
    about="the answers of other accountants, measured in benchmarks/rows.csv",
    measure=measure,
    words=words,
    figures=figures,
)
