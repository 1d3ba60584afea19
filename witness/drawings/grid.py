"""The figure of a grid of simulations, with one line for each value of an axis.

Colours distinguish the lines, and dashes distinguish the quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.witness.drawings import proved, style

MEASURED, BOUND = "measured, with its band", "bound"
"""Legends of the lines."""
PROVED, CLAIMED = "proved by its test: at least", "claimed: at most"
CERTIFIED_UPPER, CERTIFIED_LOWER = proved.CERTIFIED, "certified: at least"
IMPOSSIBLE = "proved: no ε holds at this δ, by outputs that the other data set cannot give"
USELESS = "certified: no ε of use holds at this δ"
BEYOND_USE = 1e6
"""Least ε that is not drawn: it guarantees nothing and would only extend the axis."""
MARGIN = 1.5
"""Ratio of the limits of the axis to the nearest values."""
PANEL_INCHES, HEIGHT_INCHES = 4.6, 5.0
"""Width of a panel, and height of the figure, in inches."""

Cells = Sequence[JsonObject]
Labels = list[tuple[float, str, str]]
"""Height, words and colour of each label."""


@dataclass(frozen=True)
class AxisScale:
    """Positions of the horizontal axis: the values themselves, or equally spaced categories."""

    values: tuple[Any, ...]
    kind: str

    def places(self, cells: Cells, name: str) -> npt.NDArray[np.float64]:
        """Return the horizontal positions of the cells."""
        values = [cell["place"][name] for cell in cells]
        if self.kind == "categories":
            values = [self.values.index(value) for value in values]
        return np.array(values, dtype=float)

    def dress(self, axes: Axes) -> None:
        """Set scale, ticks and labels of the horizontal axis."""
        if self.kind == "categories":
            axes.set_xticks(range(len(self.values)), [_value_word(value) for value in self.values])
        else:
            axes.set_xscale(self.kind)
            axes.set_xticks(self.values, [_value_word(value) for value in self.values])
            axes.set_xticks([], minor=True)


def grid(answer: JsonObject) -> Figure:
    """Draw an answer of kind `preset`."""
    across, lines, panels = answer["across"], answer.get("lines"), answer.get("panels")
    scale = AxisScale(_values(answer["cells"], across), across["scale"])
    split = [(value, _select(answer["cells"], panels, value)) for value in _values(answer["cells"], panels)]
    width = max(style.INCHES[0], PANEL_INCHES * len(split) + 1.6)
    figure = style.new_figure((width, HEIGHT_INCHES))
    all_axes = np.ravel(figure.subplots(1, len(split), sharey=True))
    looks: JsonRecord = {}
    for axes, (panel, cells) in zip(all_axes, split, strict=True):
        if panels is not None:
            axes.set_title(f"{panels['title']}: {_value_word(panel)}")
        labels: Labels = []
        for place, value in enumerate(_values(answer["cells"], lines)):
            own = _select(cells, lines, value)
            if own:
                colour = None if lines is None else style.COLOURS[place % len(style.COLOURS)]
                draw: Callable[..., Labels] = proved.line_drawers(answer).get(own[0]["kind"], _draw_line)
                ends = draw(axes, scale.places(own, across["name"]), own, colour, looks, answer)
                labels += ends if lines is None else [(ends[0][0], _value_word(value), str(colour))]
        if "measure" not in answer:
            style.logarithmic(axes)
        scale.dress(axes)
        axes.set_xlabel(across["title"])
        if axes is all_axes[-1]:
            style.label_ends(axes, labels, heading=None if lines is None else lines["title"])
    all_axes[0].set_ylabel(_vertical_title(answer))
    proxies = [
        Line2D([], [], color="#333333", linestyle=dash, marker=mark, markersize=4) for dash, mark in looks.values()
    ]
    figure.legend(proxies, list(looks), loc="outside lower center", ncols=min(len(looks), 3), frameon=False)
    figure.suptitle(answer["title"], x=0.01, ha="left", fontsize=12)
    return figure


def _draw_line(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    answer: JsonObject,
) -> Labels:
    """Draw everything of one line.

    Args:
        axes: the axes.
        places: horizontal positions of the cells.
        cells: the cells of the line.
        colour: colour of the line, or None for one colour for each run.
        looks: dash and marker by legend, to which new legends are added.
        answer: the answer.

    Returns:
        The labels at the right of the line, the measured one first.
    """
    order = np.argsort(places)
    places, cells = places[order], [cells[index] for index in order]
    run_colours = iter(style.COLOURS[1:])
    if cells[0]["kind"] == "audit":
        return _draw_audits(axes, places, cells, colour or style.MEASURED, looks)
    measure, titles = answer.get("measure"), answer.get("beside", {})
    finals = [cell["final_excess"] if measure is None else cell["scores"][measure] for cell in cells]
    mean, lower, upper = (style.numbers(final[name] for final in finals) for name in ("mean", "lower", "upper"))
    looks.setdefault(MEASURED, ("-", "o"))
    errors = np.stack([np.minimum(mean - lower, mean * 0.999), upper - mean])
    line_colour = colour or style.MEASURED
    axes.errorbar(places, mean, yerr=errors, color=line_colour, linewidth=2.0, marker="o", markersize=4, capsize=3)
    labels = [(float(mean[-1]), "measured", line_colour)]
    bounds = style.numbers(_least_bound(cell) for cell in cells)
    if measure is None and np.isfinite(bounds).any():
        looks.setdefault(BOUND, (style.DASHES[1], None))
        line_colour = colour or style.BOUND
        axes.plot(places, bounds, color=line_colour, linewidth=1.3, linestyle=looks[BOUND][0])
        labels.append((float(bounds[-1]), "bound", line_colour))
    for number, name in enumerate(cells[0].get("beside", {})):
        values = style.numbers(_comparison_mean(cell, name, measure) for cell in cells)
        legend = titles.get(name, style.run_words(name))
        look = looks.setdefault(legend, (style.DASHES[2 + number % 3], None))
        line_colour = colour or (style.NON_PRIVATE if name == "non-private" else next(run_colours))
        axes.plot(places, values, color=line_colour, linewidth=1.3, linestyle=look[0])
        labels.append((float(values[-1]), style.wrap(legend), line_colour))
    return labels


def _draw_audits(axes: Axes, places: npt.NDArray[np.float64], cells: Cells, colour: str, looks: JsonRecord) -> Labels:
    """Draw the lower bounds of audits, with the certified and the claimed ε."""
    proved = style.numbers(cell["test_epsilon_lower"] for cell in cells)
    looks.setdefault(PROVED, ("-", "o"))
    axes.plot(places, proved, color=colour, linewidth=2.0, marker="o", markersize=4)
    labels = [(float(proved[-1]), "proved", colour)]
    notes = []
    if all(style.number(cell["epsilon_lower"]) == np.inf for cell in cells):
        notes.append(IMPOSSIBLE)
    if all(style.number(cell["epsilon"]["lower"]) >= BEYOND_USE for cell in cells):
        notes.append(USELESS)
    place = {"transform": axes.transAxes, "ha": "center", "va": "top"}
    axes.text(0.5, 0.98, "\n".join(notes), color=style.CERTIFIED, fontsize=9, **place)  # type: ignore[arg-type]
    for name, end in ((CERTIFIED_UPPER, "upper"), (CERTIFIED_LOWER, "lower")):
        values = style.numbers(cell["epsilon"][end] for cell in cells)
        values = np.where(values < BEYOND_USE, values, np.nan)
        if np.isfinite(values).any():
            looks.setdefault(name, (style.DASHES[1 if end == "upper" else 2], None))
            axes.plot(places, values, color=style.CERTIFIED, linewidth=1.3, linestyle=looks[name][0])
    claimed = style.numbers(cell["claim"]["epsilon"] if "claim" in cell else "unbounded" for cell in cells)
    if np.isfinite(claimed).any():
        _annotate_deltas(axes, places, proved, cells, colour)
        looks.setdefault(CLAIMED, (style.DASHES[3], None))
        axes.plot(places, claimed, color=style.BOUND, linewidth=1.5, linestyle=looks[CLAIMED][0])
        labels.append((float(claimed[-1]), "claimed", style.BOUND))
    style.logarithmic(axes)
    drawn = [value for line in axes.get_lines() for value in np.asarray(line.get_ydata(), dtype=float) if value > 0.0]
    if drawn:
        axes.set_ylim(min(drawn) / MARGIN, max(drawn) * (MARGIN if not notes else MARGIN**2))
    return labels


def _annotate_deltas(
    axes: Axes, places: npt.NDArray[np.float64], proved: npt.NDArray[np.float64], cells: Cells, colour: str
) -> None:
    """Write the lower bound on δ at the claimed ε next to each point."""
    for place, height, cell in zip(places, proved, cells, strict=True):
        words = f"δ ≥ {cell['claim']['delta_lower']:.3g}\nat the\nclaimed ε"
        if height > 0.0 and cell["claim"]["delta_lower"] > 0.0:
            axes.annotate(
                words,
                (place, height),
                (0, -7),
                textcoords="offset points",
                ha="center",
                va="top",
                color=colour,
                fontsize=8,
            )


def _least_bound(cell: JsonObject) -> float:
    """Return the least compared bound on the excess risk, infinite if there is none."""
    return min((style.number(bound["value"]) for bound in _excess_bounds(cell)), default=float("inf"))


def _excess_bounds(cell: JsonObject) -> Cells:
    """Return the compared bounds on the excess risk."""
    return [bound for bound in cell["bounds"] if bound["compared"] and bound["quantity"] == "excess"]


def _comparison_mean(cell: JsonObject, name: str, measure: str | None) -> str | float:
    """Return the mean of a compared run: its final excess, or the named score."""
    measured: JsonObject = cell["beside"][name] if measure is None else cell["scores_beside"][name][measure]
    mean: str | float = measured["mean"]
    return mean


def _vertical_title(answer: JsonObject) -> str:
    """Return the title of the vertical axis."""
    if answer.get("measure") == proved.DELTA:
        return "log₁₀ δ"
    if "measure" in answer:
        return f"{style.run_words(answer['measure'])} of the output"
    return "excess risk of the output (unit of the loss)" if answer["cells"][0]["kind"] == "risk" else "ε (nats)"


def _values(cells: Cells, axis: JsonObject | None) -> tuple[object, ...]:
    """Return the distinct values of an axis in the order of the cells; one value None if there is no such axis."""
    if axis is None:
        return (None,)
    return tuple(dict.fromkeys(cell["place"][axis["name"]] for cell in cells))


def _select(cells: Cells, axis: JsonObject | None, value: object) -> Cells:
    """Return the cells with a value of an axis; all cells if there is no such axis."""
    return cells if axis is None else [cell for cell in cells if cell["place"][axis["name"]] == value]


def _value_word(value: object) -> str:
    """Return a value of an axis in words."""
    return value if isinstance(value, str) else f"{value:g}"
