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
    panels = answer.get("panels")
    split = [(value, _select(answer["cells"], panels, value)) for value in _values(answer["cells"], panels)]
    width = max(style.INCHES[0], PANEL_INCHES * len(split) + 1.6)
    figure = style.new_figure((width, HEIGHT_INCHES))
    all_axes = np.ravel(figure.subplots(1, len(split), sharey=True))
    looks: JsonRecord = {}
    for axes, (panel, cells) in zip(all_axes, split, strict=True):
        if panels is not None:
            axes.set_title(f"{panels['title']}: {_value_word(panel)}")
        labels = _draw_panel(axes, cells, looks, answer)
        if axes is all_axes[-1]:
            lines = answer.get("lines")
            style.label_ends(axes, labels, heading=None if lines is None else lines["title"])
    all_axes[0].set_ylabel(_vertical_title(answer))
    _draw_legend(figure, looks)
    figure.suptitle(answer["title"], x=0.01, ha="left", fontsize=12)
    return figure


def _draw_panel(axes: Axes, cells: Cells, looks: JsonRecord, answer: JsonObject) -> Labels:
    """Draw all lines of one panel and its horizontal axis, and return the labels of the lines.

    Args:
        axes: axes of the panel.
        cells: cells of the panel.
        looks: dash and marker of each entry of the legend, by its words. New entries are added to it.
        answer: the answer of the experiment.
    """
    across, lines = answer["across"], answer.get("lines")
    scale = AxisScale(_values(answer["cells"], across), across["scale"])
    labels: Labels = []
    for place, value in enumerate(_values(answer["cells"], lines)):
        cells_of_line = _select(cells, lines, value)
        if not cells_of_line:
            continue
        draw: Callable[..., Labels] = proved.line_drawers(answer).get(cells_of_line[0]["kind"], _draw_line)
        colour = None if lines is None else style.COLOURS[place % len(style.COLOURS)]
        line_labels = draw(axes, scale.places(cells_of_line, across["name"]), cells_of_line, colour, looks, answer)
        labels += line_labels if lines is None else [(line_labels[0][0], _value_word(value), str(colour))]
    if "measure" not in answer:
        style.logarithmic(axes)
    scale.dress(axes)
    axes.set_xlabel(across["title"])
    return labels


def _draw_legend(figure: Figure, looks: JsonRecord) -> None:
    """Draw the legend of all dashes and markers below the figure."""
    proxies = [
        Line2D([], [], color="#333333", linestyle=dash, marker=mark, markersize=4) for dash, mark in looks.values()
    ]
    figure.legend(proxies, list(looks), loc="outside lower center", ncols=min(len(looks), 3), frameon=False)


def _draw_line(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    answer: JsonObject,
) -> Labels:
    """Draw one line of a panel: the measured means, the bound on them, and the runs that they are compared with.

    Cells of audits have their lower bounds on ε instead, with the certified and the claimed ε.

    Args:
        axes: axes of the panel.
        places: horizontal positions of the cells.
        cells: cells of the line, in the order of `places`.
        colour: colour of the line; None if the panel has only one line, and each run gets a colour.
        looks: dash and marker of each entry of the legend, by its words. New entries are added to it.
        answer: the answer of the experiment.

    Returns:
        The labels to write at the right of the line, the measured one first.
    """
    order = np.argsort(places)
    places, cells = places[order], [cells[index] for index in order]
    if cells[0]["kind"] == "audit":
        return _draw_audits(axes, places, cells, colour or style.MEASURED, looks)
    labels = _draw_measured(axes, places, cells, colour or style.MEASURED, looks, answer.get("measure"))
    if "measure" not in answer:
        labels += _draw_bound(axes, places, cells, colour or style.BOUND, looks)
    return labels + _draw_comparisons(axes, places, cells, colour, looks, answer)


def _draw_measured(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str,
    looks: JsonRecord,
    measure: str | None,
) -> Labels:
    """Draw the measured means of the private runs with their bands, and return their label."""
    finals = [cell["final_excess"] if measure is None else cell["scores"][measure] for cell in cells]
    mean, lower, upper = (style.numbers(final[name] for final in finals) for name in ("mean", "lower", "upper"))
    looks.setdefault(MEASURED, ("-", "o"))
    errors = np.stack([np.minimum(mean - lower, mean * 0.999), upper - mean])
    axes.errorbar(places, mean, yerr=errors, color=colour, linewidth=2.0, marker="o", markersize=4, capsize=3)
    return [(float(mean[-1]), "measured", colour)]


def _draw_bound(axes: Axes, places: npt.NDArray[np.float64], cells: Cells, colour: str, looks: JsonRecord) -> Labels:
    """Draw the least bound on the excess risk if any is finite, and return its label."""
    bounds = style.numbers(_least_bound(cell) for cell in cells)
    if not np.isfinite(bounds).any():
        return []
    dash, _ = looks.setdefault(BOUND, (style.DASHES[1], None))
    axes.plot(places, bounds, color=colour, linewidth=1.3, linestyle=dash)
    return [(float(bounds[-1]), "bound", colour)]


def _draw_comparisons(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    answer: JsonObject,
) -> Labels:
    """Draw the means of the runs that are compared with the private ones, and return their labels.

    A run without noise is grey, and other runs have the colours of the palette, unless the line has a colour. Entries
    of the legend are added to `looks`.
    """
    labels: Labels = []
    titles, run_colours = answer.get("beside", {}), iter(style.COLOURS[1:])
    for number, name in enumerate(cells[0].get("beside", {})):
        values = style.numbers(_comparison_mean(cell, name, answer.get("measure")) for cell in cells)
        legend = titles.get(name, style.run_words(name))
        dash, _ = looks.setdefault(legend, (style.DASHES[2 + number % 3], None))
        run_colour = colour or (style.NON_PRIVATE if name == "non-private" else next(run_colours))
        axes.plot(places, values, color=run_colour, linewidth=1.3, linestyle=dash)
        labels.append((float(values[-1]), style.wrap(legend), run_colour))
    return labels


def _draw_audits(axes: Axes, places: npt.NDArray[np.float64], cells: Cells, colour: str, looks: JsonRecord) -> Labels:
    """Draw the lower bounds on ε that audits prove, with the certified and the claimed ε, and return their labels.

    Statements that hold for all cells and that no line can show are written at the top. Entries of the legend are added
    to `looks`.
    """
    proved_epsilon = style.numbers(cell["test_epsilon_lower"] for cell in cells)
    looks.setdefault(PROVED, ("-", "o"))
    axes.plot(places, proved_epsilon, color=colour, linewidth=2.0, marker="o", markersize=4)
    labels = [(float(proved_epsilon[-1]), "proved", colour)]
    notes = _audit_notes(cells)
    place = {"transform": axes.transAxes, "ha": "center", "va": "top"}
    axes.text(0.5, 0.98, "\n".join(notes), color=style.CERTIFIED, fontsize=9, **place)  # type: ignore[arg-type]
    _draw_certificates(axes, places, cells, looks)
    claimed = style.numbers(cell["claim"]["epsilon"] if "claim" in cell else "unbounded" for cell in cells)
    if np.isfinite(claimed).any():
        _annotate_deltas(axes, places, proved_epsilon, cells, colour)
        looks.setdefault(CLAIMED, (style.DASHES[3], None))
        axes.plot(places, claimed, color=style.BOUND, linewidth=1.5, linestyle=looks[CLAIMED][0])
        labels.append((float(claimed[-1]), "claimed", style.BOUND))
    style.logarithmic(axes)
    _fit_height(axes, MARGIN**2 if notes else MARGIN)
    return labels


def _audit_notes(cells: Cells) -> list[str]:
    """Return the statements that hold for every cell and that no line can show."""
    notes = []
    if all(style.number(cell["epsilon_lower"]) == np.inf for cell in cells):
        notes.append(IMPOSSIBLE)
    if all(style.number(cell["epsilon"]["lower"]) >= BEYOND_USE for cell in cells):
        notes.append(USELESS)
    return notes


def _draw_certificates(axes: Axes, places: npt.NDArray[np.float64], cells: Cells, looks: JsonRecord) -> None:
    """Draw the certified upper and lower bounds that are small enough to be of use."""
    for legend, bound, dash in (
        (CERTIFIED_UPPER, "upper", style.DASHES[1]),
        (CERTIFIED_LOWER, "lower", style.DASHES[2]),
    ):
        values = style.numbers(cell["epsilon"][bound] for cell in cells)
        values = np.where(values < BEYOND_USE, values, np.nan)
        if np.isfinite(values).any():
            looks.setdefault(legend, (dash, None))
            axes.plot(places, values, color=style.CERTIFIED, linewidth=1.3, linestyle=looks[legend][0])


def _fit_height(axes: Axes, upper_margin: float) -> None:
    """Limit the vertical axis to the positive values of all lines, with margins."""
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()])
    positive = heights[heights > 0.0]
    if positive.size:
        axes.set_ylim(positive.min() / MARGIN, positive.max() * upper_margin)


def _annotate_deltas(
    axes: Axes, places: npt.NDArray[np.float64], proved_epsilon: npt.NDArray[np.float64], cells: Cells, colour: str
) -> None:
    """Write the lower bound on δ at the claimed ε next to each point."""
    for place, height, cell in zip(places, proved_epsilon, cells, strict=True):
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
