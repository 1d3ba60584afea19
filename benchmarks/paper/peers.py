"""Other accountants, from the rows that `python -m benchmarks.peers` measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.cases import everything
from benchmarks.environments import ACCOUNTANTS, KERNEL, OURS, REFERENCE
from benchmarks.findings import MATERIAL, twins
from benchmarks.paper.exhibit import Measured, Words
from benchmarks.peers import CSV
from benchmarks.rows import Row, certified_rows, geometric_mean, pair_rows, ratios, read_csv, relative_error
from scripts.pages.markdown import table
from scripts.pages.svg import Axis, Plot, decades

LOWEST, HIGHEST = 1e-14, 1e2
"""Bounds of the figure's error axis; a point beyond is drawn at the edge."""
COLOURS = {accountant.name: colour for accountant, colour in zip(ACCOUNTANTS, (0, 4, 2, 3, 5), strict=True)}
"""Numbers of colours by accountant."""


def measure(short: bool) -> Measured:
    """Collect the stored answers of all accountants.

    Args:
        short: not used, because nothing is computed.

    Returns:
        The counts, mean ratios and answers of each accountant. Then the numbers of certified and of all questions, the
        dates of the rows, and the number of peers that forget a repetition.
    """
    del short
    rows = read_csv(CSV)
    return {
        "accountants": {name: _measure_accountant(rows, name) for name in COLOURS},
        "certified": [len(certified_rows(rows)), len(everything())],
        "dates": sorted({row.date for row in rows if row.date}),
        "rows": len(rows),
        "forgotten": sum("forgotten" in line[-1] for line in twins(rows)),
    }


def _measure_accountant(rows: Sequence[Row], name: str) -> Measured:
    """Summarise the answers of one accountant.

    Args:
        rows: stored answers of all accountants.
        name: name of the accountant.

    Returns:
        `version`: version of the accountant;
        `measured`, `answered`: numbers of questions and of answers that ours can be compared with;
        `over_kernel`, `over_reference`: mean CPU time over that of each of ours;
        `below`: number of values below our lower bound;
        `points`: group, CPU seconds and relative error of each answer, or the relative width for ours.
    """
    own = [row for row in rows if row.accountant == name and row.outcome != "absent"]
    pairs = pair_rows(rows, name)
    errors = [(row, row.width if name in OURS else relative_error(row, ours)) for row, ours in pairs]
    below = 0 if name in OURS else sum(error < -MATERIAL for _, error in errors if error is not None)
    return {
        "version": next((row.version for row in own if row.version), ""),
        "measured": len(own),
        "answered": len(pairs),
        "over_kernel": geometric_mean(ratios(rows, name, KERNEL.name)),
        "over_reference": geometric_mean(ratios(rows, name, REFERENCE.name)),
        "below": below,
        "points": [[row.group, row.cpu, error] for row, error in errors if row.cpu is not None],
    }


def words(measured: Measured) -> Words:
    """Write the texts for the paper on the comparison of accountants.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        Texts by name: a table of the accountants, the width of our intervals, and counts of low values.
    """
    accountants = measured["accountants"]
    lines = [_line(name, figures) for name, figures in accountants.items() if figures["measured"]]
    below = f"values below our lower bound by over {MATERIAL:g}"
    dates = measured["dates"]
    widths = []
    for name in OURS:
        widths += [point[-1] for point in accountants[name]["points"] if point[-1] is not None]
    return {
        "table": table(("accountant", "answered", "CPU over the kernel", "over the reference", below), lines),
        "answered": "{} of {}".format(*measured["certified"]),
        "widest": f"{max(widths):.1e}",
        "below": str(sum(figures["below"] for figures in accountants.values())),
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "rows": str(measured["rows"]),
        "forgotten": str(measured["forgotten"]),
    }


def _line(name: str, figures: Measured) -> tuple[str, ...]:
    """Return the line of an accountant in the table."""
    answers = f"{figures['answered']} of {figures['measured']}"
    ratio_cells = [f"{figures[over]:.3g}" if figures[over] else "" for over in ("over_kernel", "over_reference")]
    below = "" if name in OURS else str(figures["below"])
    return f"{name} {figures['version']}", answers, *ratio_cells, below


def figures(measured: Measured) -> Mapping[str, Plot]:
    """Draw the relative error of every answer over its CPU time.

    Args:
        measured: the numbers that `measure` returns.

    Returns:
        The figure by its name. Values that are too low have a cross.
    """
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
                # A value below our lower bound promises too much privacy.
                low = name not in OURS and off < -MATERIAL
                plot.dot((cpu, max(abs(off), LOWEST)), 1 if low else colour, "cross" if low else "dot")
        plot.key(name, colour)
    plot.key("too low", 1, "cross")
    return {"peers": plot}
