"""Excess risk round by round: measured with its band, the bounds, and the runs set beside it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

LEAST_SHOWN = 1e-4
"""Of the largest measured mean: what lies below is cut off, since a logarithmic axis has no end."""
DECADES_ABOVE = 3
MARK = 0.12
"""Length of the mark of a bound, of the axis across."""


def risk(answer: JsonObject) -> Figure:
    """The figure of an answer of kind `risk`."""
    figure = style.new_figure()
    axes = figure.add_subplot()
    labels: list[tuple[float, str, str]] = []
    others = iter(style.COLOURS[1:])
    shown: list[float] = []
    for series in answer["series"]:
        private, plain = series["role"] == "private", series["role"] == "non-private"
        colour = style.MEASURED if private else style.NON_PRIVATE if plain else next(others)
        mean, rounds = style.numbers(series["mean"]), series["rounds"]
        lower, upper = style.numbers(series["lower"]), style.numbers(series["upper"])
        marker = "o" if len(rounds) < 3 else None
        axes.fill_between(rounds, np.maximum(lower, 1e-300), upper, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            rounds,
            mean,
            color=colour,
            linewidth=2.0 if private else 1.5,
            linestyle="-" if private else "--",
            marker=marker,
        )
        labels.append((mean[-1], "measured" if private else style.wrapped(_told(series)), colour))
        shown += [float(each) for each in mean if each > 0.0]
    top = max(shown, default=1.0)
    last = answer["series"][0]["rounds"][-1]
    reach = MARK * max(series["rounds"][-1] for series in answer["series"])
    marks: dict[str, Line2D] = {}
    for bound in answer["bounds"]:
        value = style.number(bound["value"])
        hidden = bound["constant"] == "hidden"
        if hidden or bound["quantity"] != "excess" or not 0.0 < value <= top * 10**DECADES_ABOVE:
            continue
        verdict = f"holds: {bound['holds']}" if bound["compared"] else "not compared"
        # Of the output alone: no line over rounds after which nothing is promised.
        dash = "-" if bound["compared"] else ":"
        (mark,) = axes.plot((last - reach, last), (value, value), color=style.BOUND, linewidth=2.5, linestyle=dash)
        marks[f"bound {len(marks) + 1}: {bound['theorem']}, on the output after round {last} ({verdict})"] = mark
        labels.append((value, f"bound {len(marks)}\n({verdict})", style.BOUND))
        shown.append(value)
    style.logarithmic(axes)
    if shown:
        axes.set_ylim(max(min(shown), top * LEAST_SHOWN) / 1.6, max(shown) * 1.6)
    axes.set_xlim(0, max(series["rounds"][-1] for series in answer["series"]))
    axes.set_xlabel("communication rounds")
    axes.set_ylabel("excess risk (unit of the loss)")
    axes.set_title(_title(answer))
    if marks:
        figure.legend(marks.values(), marks, loc="outside lower left", frameon=False, fontsize=9)
    style.label_ends(axes, labels)
    return figure


def _told(series: JsonObject) -> str:
    """What the run is, in words."""
    return str(series.get("title") or style.words(series["name"]))


def _title(answer: JsonObject) -> str:
    guarantee = answer.get("guarantee")
    privacy = "noise as given"
    if guarantee is not None:
        target = guarantee["target"]
        delta = style.power_of_ten(target["log10_delta"])
        privacy = f"ε = {target['epsilon']:g}, δ = {delta}, {guarantee['definition']}"
    problem = answer["problem"]
    held = problem.get("samples_per_client")
    records = "fresh records" if held is None else f"{held} records each"
    return (
        f"{answer['algorithm']}: mean of {answer['repetitions']} repetitions with its {answer['confidence']:.0%} band\n"
        f"{privacy}; {problem['clients']} clients, {records}, {problem['dimension']} coordinates"
    )
