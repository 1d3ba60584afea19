"""The figure of excess risk over rounds: the measured means with their bands, the bounds, and the compared runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style

LEAST_SHOWN = 1e-4
"""Least visible height, in units of the largest measured mean; a logarithmic axis has no natural lower limit."""
DECADES_ABOVE = 3
"""Decades above the largest mean beyond which a bound is not drawn."""
MARK = 0.12
"""Length of the mark of a bound, in units of the horizontal axis."""

_ROLE_COLOURS = {"private": style.MEASURED, "non-private": style.NON_PRIVATE}


def risk(answer: JsonObject) -> Figure:
    """Draw the figure of a risk simulation: excess risk over rounds with confidence bands, bounds and compared runs.

    A risk simulation repeats the training with noise (the "private" run). It measures by how much the risk of the model
    exceeds the least possible risk.

    Args:
        answer: answer of kind `risk`, as a JSON object.

    Returns:
        A figure with one line for each run and one for each bound that fits into the range of heights.
    """
    figure = style.new_figure()
    axes = figure.add_subplot()
    labels: list[tuple[float, str, str]] = []

    # Draw every run. Runs with other roles take the next colour of the palette.
    palette = iter(style.COLOURS[1:])
    heights: list[float] = []
    for series in answer["series"]:
        role = series["role"]
        colour = _ROLE_COLOURS.get(role) or next(palette)
        mean = _draw_series(axes, series, colour)
        name = "measured" if role == "private" else style.wrap(_series_words(series))
        labels.append((mean[-1], name, colour))
        heights += [float(value) for value in mean if value > 0.0]

    # Draw the bounds on the output as short marks at the last round.
    top = max(heights, default=1.0)
    last_round = max(series["rounds"][-1] for series in answer["series"])
    mark_length = MARK * last_round
    marks = _draw_bounds(axes, answer, top, mark_length, labels)

    # The vertical axis fits the visible curves and bounds.
    heights += [style.number(bound["value"]) for bound in _visible_bounds(answer, top)]
    _format_axes(axes, heights, top, last_round)
    axes.set_title(_title(answer))
    if marks:
        figure.legend(marks.values(), marks, loc="outside lower left", frameon=False, fontsize=9)
    style.label_ends(axes, labels)
    return figure


def _format_axes(axes: Axes, heights: list[float], top: float, last_round: int) -> None:
    """Set the limits, the scale and the titles of both axes.

    Args:
        axes: the axes.
        heights: positive heights of all curves and bounds.
        top: largest measured mean. Heights below `LEAST_SHOWN` times `top` are cut off.
        last_round: right limit of the horizontal axis.
    """
    margin = 1.6  # ratio of the limits to the nearest heights
    style.logarithmic(axes)
    if heights:
        lowest = max(min(heights), top * LEAST_SHOWN)
        axes.set_ylim(lowest / margin, max(heights) * margin)
    axes.set_xlim(0, last_round)
    axes.set_xlabel("communication rounds")
    axes.set_ylabel("excess risk (unit of the loss)")


def _draw_series(axes: Axes, series: JsonObject, colour: str) -> npt.NDArray[np.float64]:
    """Draw the mean excess risk of one run over rounds, with its band, and return the means.

    The private run, which has noise, is solid and the others are dashed.

    Args:
        axes: axes to draw on.
        series: `mean`, `lower` and `upper` risk at each of `rounds`, and the `role` of the run.
        colour: colour of curve and band.

    Returns:
        The mean excess risk at each measured round.
    """
    mean, rounds = style.numbers(series["mean"]), series["rounds"]
    lower, upper = style.numbers(series["lower"]), style.numbers(series["upper"])

    # A band may reach 0 or less, which has no place on a logarithmic axis: a tiny positive number replaces such values.
    positive_lower = np.maximum(lower, 1e-300)
    axes.fill_between(rounds, positive_lower, upper, color=colour, alpha=0.2, linewidth=0)

    # One or two points hardly show as a curve, so that they get markers.
    is_private = series["role"] == "private"
    marker = "o" if len(rounds) < 3 else None
    width = 2.0 if is_private else 1.5
    dash = "-" if is_private else "--"
    axes.plot(rounds, mean, color=colour, linewidth=width, linestyle=dash, marker=marker)
    return mean


def _draw_bounds(
    axes: Axes, answer: JsonObject, top: float, length: float, labels: list[tuple[float, str, str]]
) -> dict[str, Line2D]:
    """Draw a mark for each theorem's bound on the risk of the output, and add its label.

    A bound that is not compared, because its conditions fail or cannot be decided, is dotted.

    Args:
        axes: the axes.
        answer: the answer of the risk simulation in its JSON form.
        top: largest measured mean.
        length: length of a mark, in rounds. A longer line would suggest a bound on earlier rounds.
        labels: labels, to which those of the bounds are added.

    Returns:
        The marks, by their texts in the legend.
    """
    marks: dict[str, Line2D] = {}
    last_round = answer["series"][0]["rounds"][-1]
    horizontal = (last_round - length, last_round)
    for number, bound in enumerate(_visible_bounds(answer, top), start=1):
        value = style.number(bound["value"])
        verdict, dash = "not compared", ":"
        if bound["compared"]:
            verdict, dash = f"holds: {bound['holds']}", "-"
        (mark,) = axes.plot(horizontal, (value, value), color=style.BOUND, linewidth=2.5, linestyle=dash)
        marks[f"bound {number}: {bound['theorem']}, on the output after round {last_round} ({verdict})"] = mark
        labels.append((value, f"bound {number}\n({verdict})", style.BOUND))
    return marks


def _visible_bounds(answer: JsonObject, top: float) -> list[JsonObject]:
    """Return the bounds on the excess risk with explicit constants that are near enough to the curves to be drawn.

    A bound with a hidden constant has no definite height. Bounds on other quantities do not belong to this figure.

    Args:
        answer: the answer of the risk simulation in its JSON form.
        top: largest measured mean. Bounds more than `DECADES_ABOVE` powers of ten above it are left out.

    Returns:
        The bounds in JSON form, in the order of the answer.
    """
    highest = top * 10**DECADES_ABOVE
    return [
        bound
        for bound in answer["bounds"]
        if bound["constant"] != "hidden"
        and bound["quantity"] == "excess"
        and 0.0 < style.number(bound["value"]) <= highest
    ]


def _series_words(series: JsonObject) -> str:
    """Return the title of a run, or its name in words."""
    return str(series.get("title") or style.run_words(series["name"]))


def _title(answer: JsonObject) -> str:
    """Return the title of the figure: the algorithm, the privacy of the noise, and the data.

    Args:
        answer: answer of the simulation in its JSON form.

    Returns:
        Two lines of text. Noise that was given and not calibrated has no (ε, δ).
    """
    guarantee = answer.get("guarantee")
    privacy = "noise as given"
    if guarantee is not None:
        target = guarantee["target"]
        delta = style.power_of_ten(target["log10_delta"])
        privacy = f"ε = {target['epsilon']:g}, δ = {delta}, {guarantee['definition']}"
    problem = answer["problem"]
    records_each = problem.get("samples_per_client")
    records = "fresh records" if records_each is None else f"{records_each} records each"
    return (
        f"{answer['algorithm']}: mean of {answer['repetitions']} repetitions with its {answer['confidence']:.0%} band\n"
        f"{privacy}; {problem['clients']} clients, {records}, {problem['dimension']} coordinates"
    )
