"""Other accountants, from the rows that `python -m benchmarks.peers` measured."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.cases import everything
from benchmarks.environments import ACCOUNTANTS, KERNEL, OURS, REFERENCE
from benchmarks.findings import MATERIAL, twins
from benchmarks.paper.exhibit import Measured, Words
from benchmarks.peers import CSV
from benchmarks.rows import certified, geometric_mean, paired, ratios, read_csv, relative_error
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, decades

LOWEST, HIGHEST = 1e-14, 1e2
"""Ends of the figure's error axis; a point beyond is drawn at the edge."""
COLOURS = {each.name: colour for each, colour in zip(ACCOUNTANTS, (0, 4, 2, 3, 5), strict=True)}


def measure(short: bool) -> Measured:
    """Return for each accountant its answers: CPU seconds, and the error or, for ours, the relative width."""
    del short
    rows = read_csv(CSV)
    named: Measured = {}
    for name in COLOURS:
        measured = [row for row in rows if row.accountant == name and row.outcome != "absent"]
        pairs = paired(rows, name)
        off = [(row, row.width if name in OURS else relative_error(row, ours)) for row, ours in pairs]
        named[name] = {
            "version": next((row.version for row in measured if row.version), ""),
            "measured": len(measured),
            "answered": len(pairs),
            "over_kernel": geometric_mean(ratios(rows, name, KERNEL.name)),
            "over_reference": geometric_mean(ratios(rows, name, REFERENCE.name)),
            "below": sum(error < -MATERIAL for _, error in off if error is not None and name not in OURS),
            "points": [[row.group, row.cpu, error] for row, error in off if row.cpu is not None],
        }
    return {
        "accountants": named,
        "certified": [len(certified(rows)), len(everything())],
        "dates": sorted({row.date for row in rows if row.date}),
        "rows": len(rows),
        "forgotten": sum("forgotten" in verdict for *_, verdict in twins(rows)),
    }


def words(measured: Measured) -> Words:
    """Return a table, and the width of our intervals."""
    named = measured["accountants"]
    lines = [
        (
            f"{name} {each['version']}",
            f"{each['answered']} of {each['measured']}",
            *("" if not each[over] else f"{each[over]:.3g}" for over in ("over_kernel", "over_reference")),
            "" if name in OURS else str(each["below"]),
        )
        for name, each in named.items()
        if each["measured"]
    ]
    below = f"values below our lower bound by over {MATERIAL:g}"
    dates = measured["dates"]
    widths = [width for name in OURS for *_, width in named[name]["points"] if width is not None]
    return {
        "table": table(("accountant", "answered", "CPU over the kernel", "over the reference", below), lines),
        "answered": "{} of {}".format(*measured["certified"]),
        "widest": f"{max(widths):.1e}",
        "below": str(sum(each["below"] for each in named.values())),
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "rows": str(measured["rows"]),
        "forgotten": str(measured["forgotten"]),
    }


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw every answer: its CPU, and its error."""
    plot = Plot(
        "What an answer costs and how exact it is, by accountant",
        "Relative error over CPU time for each answered question; ours show the width of the certified interval. "
        "Crosses promise more privacy than is so.",
        Axis("CPU time of a new question (s)", 1e-5, 1e2, decades(-5, 2), "log"),
        Axis("error, or width of our interval, relative", LOWEST, HIGHEST, decades(-14, 2, 2), "log"),
        height=460.0,
    )
    for name, colour in COLOURS.items():
        for _, cpu, off in measured["accountants"][name]["points"]:
            if off is not None:
                low = name not in OURS and off < -MATERIAL
                plot.dot((cpu, max(abs(off), LOWEST)), 1 if low else colour, "cross" if low else "dot")
        plot.key(name, colour)
    plot.key("too low", 1, "cross")
    return {"peers": plot}
