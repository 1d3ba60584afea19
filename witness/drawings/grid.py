"""The figure of a grid of simulations, with one line for each value of an axis.

Colours distinguish the lines, and dashes distinguish the quantities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import proved, style
from epsilond.witness.drawings.audit_lines import draw_audits
from epsilond.witness.drawings.lines import Cells, GridLine, Labels, Legend

MEASURED, BOUND = "measured, with its band", "bound"
"""Legends of the lines."""
PANEL_INCHES, HEIGHT_INCHES = 4.6, 5.0
"""Width of a panel, and height of the figure, in inches."""


@dataclass(frozen=True)
class AxisScale:
    """The scale of a horizontal axis that shows either the values themselves or equally spaced categories.

    Attributes:
        values: distinct values of the axis, numbers or names.
        kind: `categories` for equally spaced values, or the name of a scale of matplotlib, such as `log`.
    """

    values: tuple[Any, ...]
    kind: str

    def positions(self, cells: Cells, name: str) -> npt.NDArray[np.float64]:
        """Return the positions of simulations on the horizontal axis of a figure.

        Args:
            cells: the simulations in JSON form.
            name: name of the axis, of which each simulation has a value.

        Returns:
            One position for each simulation: its value, or the index of its value among the categories.
        """
        values = [cell["place"][name] for cell in cells]
        if self.kind == "categories":
            values = [self.values.index(value) for value in values]
        return np.array(values, dtype=float)

    def apply(self, axes: Axes) -> None:
        """Set the scale, the ticks and their labels of a figure's horizontal axis.

        Args:
            axes: the panel of the figure.
        """
        tick_labels = [_value_word(value) for value in self.values]
        if self.kind == "categories":
            axes.set_xticks(range(len(self.values)), tick_labels)
            return
        axes.set_xscale(self.kind)
        axes.set_xticks(self.values, tick_labels)
        axes.set_xticks([], minor=True)


def grid(answer: JsonObject) -> Figure:
    """Draw the figure of an experiment that varies up to three parameters.

    One parameter is on the horizontal axis, a second one has a line for each value, and a third one a panel for each
    value. The panels share the vertical axis. The labels of the lines are in the last panel only.

    Args:
        answer: answer of kind `preset`, as a JSON object.

    Returns:
        The figure, which grows in width with the number of panels.
    """
    panel_axis, line_axis = answer.get("panels"), answer.get("lines")
    cells = answer["cells"]
    panel_values = _values(cells, panel_axis)

    default_width, _ = style.INCHES
    label_inches = 1.6  # room for the labels at the right of the last panel
    width = max(default_width, PANEL_INCHES * len(panel_values) + label_inches)
    figure = style.new_figure((width, HEIGHT_INCHES))
    panels = np.ravel(figure.subplots(1, len(panel_values), sharey=True))
    first_panel, last_panel = panels[0], panels[-1]

    # All panels add to one legend, which is drawn below them.
    legend: Legend = {}
    for panel, panel_value in zip(panels, panel_values, strict=True):
        if panel_axis is not None:
            panel.set_title(f"{panel_axis['title']}: {_value_word(panel_value)}")
        labels = _draw_panel(panel, _select(cells, panel_axis, panel_value), legend, answer)
        if panel is last_panel:
            heading = None if line_axis is None else line_axis["title"]
            style.label_ends(panel, labels, heading=heading)

    first_panel.set_ylabel(_vertical_title(answer))
    _draw_legend(figure, legend)
    figure.suptitle(answer["title"], x=0.01, ha="left", fontsize=12)
    return figure


def _draw_panel(axes: Axes, cells: Cells, legend: Legend, answer: JsonObject) -> Labels:
    """Draw the lines and the horizontal axis of one panel, and return the labels of the lines.

    A line connects the results that have the same value of the parameter for which the figure has lines.

    Args:
        axes: axes of the panel, which are drawn on.
        cells: results of the panel's simulations.
        legend: entries of the legend, to which new entries are added.
        answer: the answer of the experiment in its JSON form, with the names and titles of the axes.

    Returns:
        For each label its height, text and colour. If the lines are for values of a parameter, each has one label, with
        its value.
    """
    across, line_axis = answer["across"], answer.get("lines")
    scale = AxisScale(_values(answer["cells"], across), across["scale"])
    drawers = proved.line_drawers(answer)

    labels: Labels = []
    for number, line_value in enumerate(_values(answer["cells"], line_axis)):
        line_cells = _select(cells, line_axis, line_value)
        if not line_cells:
            continue
        # A single line has no colour of its own: its curves, such as measurement and bound, have different colours.
        colour = None
        if line_axis is not None:
            colour = style.COLOURS[number % len(style.COLOURS)]
        positions = scale.positions(line_cells, across["name"])
        line = GridLine.sort(axes, positions, line_cells, colour, legend, answer)
        kind = line_cells[0]["kind"]
        draw: Callable[[GridLine], Labels] = drawers.get(kind, _draw_line)
        line_labels = draw(line)

        # One label with the value of the parameter names the whole line, at the height of its first curve.
        if line_axis is None:
            labels += line_labels
        else:
            height, _, _ = line_labels[0]
            labels.append((height, _value_word(line_value), str(colour)))

    # Excess risks and ε span several powers of ten; other scores have a linear axis.
    if "measure" not in answer:
        style.logarithmic(axes)
    scale.apply(axes)
    axes.set_xlabel(across["title"])
    return labels


def _draw_legend(figure: Figure, legend: Legend) -> None:
    """Draw the legend of all dashes and markers below the figure.

    Args:
        figure: the figure.
        legend: dash pattern and marker of each entry, by its words.
    """
    # The samples are grey, because colours distinguish the lines and not the entries of the legend.
    samples = []
    for dash, marker in legend.values():
        samples.append(Line2D([], [], color="#333333", linestyle=dash, marker=marker, markersize=4))
    most_columns = 3
    columns = min(len(legend), most_columns)
    figure.legend(samples, list(legend), loc="outside lower center", ncols=columns, frameon=False)


def _draw_line(line: GridLine) -> Labels:
    """Draw one line of a panel: the measured means, the theorems' bound on them, and the compared runs.

    For audits the line shows their lower bounds on ε instead, with the certified and the claimed ε.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        The labels to write at the right of the line, the measured one first.
    """
    if line.cells[0]["kind"] == "audit":
        return draw_audits(line)
    labels = _draw_measured(line)
    if line.measure is None:
        labels += _draw_bound(line)
    return labels + _draw_comparisons(line)


def _draw_measured(line: GridLine) -> Labels:
    """Draw the measured means of the private runs with their confidence bands, and return their label.

    The measured quantity is the excess risk, or a score on held-out records. The private run is the one with noise.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        One label for the end of the line: height, word and colour.
    """
    colour = line.colour or style.MEASURED
    if line.measure is None:
        finals = [cell["final_excess"] for cell in line.cells]
    else:
        finals = [cell["scores"][line.measure] for cell in line.cells]
    mean = style.numbers(final["mean"] for final in finals)
    lower = style.numbers(final["lower"] for final in finals)
    upper = style.numbers(final["upper"] for final in finals)

    # The lower end of a band stays above 0, at least 0.1 % of the mean: a logarithmic axis cannot show 0.
    lengths_below = np.minimum(mean - lower, mean * 0.999)
    lengths_above = upper - mean
    line.look(MEASURED, "-", "o")
    line.axes.errorbar(
        line.positions,
        mean,
        yerr=np.stack([lengths_below, lengths_above]),
        color=colour,
        linewidth=2.0,
        marker="o",
        markersize=4,
        capsize=3,
    )
    return [(float(mean[-1]), "measured", colour)]


def _draw_bound(line: GridLine) -> Labels:
    """Draw the smallest bound that theorems give on the excess risk of each simulation, and return the label.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        One label; none if no bound is finite, because nothing is drawn then.
    """
    colour = line.colour or style.BOUND
    bounds = style.numbers(_least_bound(cell) for cell in line.cells)
    if not np.isfinite(bounds).any():
        return []
    dash = line.look(BOUND, style.DASHES[1])
    line.axes.plot(line.positions, bounds, color=colour, linewidth=1.3, linestyle=dash)
    return [(float(bounds[-1]), "bound", colour)]


def _draw_comparisons(line: GridLine) -> Labels:
    """Draw the means of the runs that are compared with the private run, and return their labels.

    A run without noise is grey. Other runs have the colours of the palette, unless the whole line has a colour.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        One label for each compared run: height, words and colour.
    """
    labels: Labels = []
    run_titles = line.answer.get("beside", {})
    run_names = line.cells[0].get("beside", {})
    unused_colours = iter(style.COLOURS[1:])  # the first colour belongs to the private run
    for number, name in enumerate(run_names):
        if line.colour:
            run_colour = line.colour
        elif name == "non-private":
            run_colour = style.NON_PRIVATE
        else:
            run_colour = next(unused_colours)
        values = style.numbers(_comparison_mean(cell, name, line.measure) for cell in line.cells)
        words = run_titles.get(name, style.run_words(name))
        # The first two dash patterns belong to the measurement and its bound.
        dash = line.look(words, style.DASHES[2 + number % 3])
        line.axes.plot(line.positions, values, color=run_colour, linewidth=1.3, linestyle=dash)
        labels.append((float(values[-1]), style.wrap(words), run_colour))
    return labels


def _least_bound(cell: JsonObject) -> float:
    """Return the smallest comparable bound on the excess risk; math.inf if there is none."""
    bounds = [style.number(bound["value"]) for bound in _excess_bounds(cell)]
    return min(bounds, default=float("inf"))


def _excess_bounds(cell: JsonObject) -> Cells:
    """Return the theorems' bounds on the excess risk that are comparable with the measurement."""
    return [bound for bound in cell["bounds"] if bound["compared"] and bound["quantity"] == "excess"]


def _comparison_mean(cell: JsonObject, name: str, measure: str | None) -> str | float:
    """Return the mean of a compared run: its final excess risk, or the named score.

    A simulation runs the private algorithm, and others that are compared with it, such as the same one without noise.

    Args:
        cell: result of a simulation in JSON form.
        name: name of the compared run.
        measure: name of the score, or None for the excess risk.

    Returns:
        The mean; an infinite mean is the word `unbounded`.
    """
    if measure is None:
        measured: JsonObject = cell["beside"][name]
    else:
        measured = cell["scores_beside"][name][measure]
    mean: str | float = measured["mean"]
    return mean


def _vertical_title(answer: JsonObject) -> str:
    """Return the title of the vertical axis: log₁₀ δ, a score, the excess risk or ε."""
    if answer.get("measure") == proved.DELTA:
        return "log₁₀ δ"
    if "measure" in answer:
        return f"{style.run_words(answer['measure'])} of the output"
    if answer["cells"][0]["kind"] == "risk":
        return "excess risk of the output (unit of the loss)"
    return "ε (nats)"


def _values(cells: Cells, axis: JsonObject | None) -> tuple[object, ...]:
    """Return the distinct values of a parameter in the simulations of an experiment, in their order.

    Args:
        cells: simulations of an experiment in JSON form.
        axis: the axis; without one, the only value is None.

    Returns:
        The values, in the order in which the simulations first have them.
    """
    if axis is None:
        return (None,)
    name = axis["name"]
    return tuple(dict.fromkeys(cell["place"][name] for cell in cells))


def _select(cells: Cells, axis: JsonObject | None, value: object) -> Cells:
    """Select the simulations with a given value of one parameter.

    Args:
        cells: simulations of an experiment in JSON form.
        axis: the axis; without one, all simulations are selected.
        value: the value.

    Returns:
        The selected simulations, in their order.
    """
    if axis is None:
        return cells
    return [cell for cell in cells if cell["place"][axis["name"]] == value]


def _value_word(value: object) -> str:
    """Return a value of an axis as text, a number with at most six digits."""
    if isinstance(value, str):
        return value
    return f"{value:g}"
