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
from epsilond.witness.drawings.lines import Cells, GridLine, Labels, Legend

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


@dataclass(frozen=True)
class AxisScale:
    """The scale of a horizontal axis that shows either the values themselves or equally spaced categories.

    `values` are the values of the axis. `kind` is `categories`, or the name of a scale of matplotlib.
    """

    values: tuple[Any, ...]
    kind: str

    def positions(self, cells: Cells, name: str) -> npt.NDArray[np.float64]:
        """Return where simulations ("cells") are drawn on the horizontal axis.

        Args:
            cells: the simulations in JSON form.
            name: name of the axis, of which each simulation has a value.
        """
        values = [cell["place"][name] for cell in cells]
        if self.kind == "categories":
            values = [self.values.index(value) for value in values]
        return np.array(values, dtype=float)

    def dress(self, axes: Axes) -> None:
        """Set the scale, the ticks and their labels of a figure's horizontal axis.

        Args:
            axes: the panel of the figure.
        """
        if self.kind == "categories":
            axes.set_xticks(range(len(self.values)), [_value_word(value) for value in self.values])
        else:
            axes.set_xscale(self.kind)
            axes.set_xticks(self.values, [_value_word(value) for value in self.values])
            axes.set_xticks([], minor=True)


def grid(answer: JsonObject) -> Figure:
    """Draw the answer of an experiment: one panel for each value of its axis of panels, on a common vertical axis.

    The labels at the ends of the lines are in the last panel only.

    Args:
        answer: answer of kind `preset`, as a JSON object.

    Returns:
        The figure, which grows in width with the number of panels.
    """
    panel_axis, line_axis = answer.get("panels"), answer.get("lines")
    panel_values = _values(answer["cells"], panel_axis)
    width = max(style.INCHES[0], PANEL_INCHES * len(panel_values) + 1.6)
    figure = style.new_figure((width, HEIGHT_INCHES))
    all_axes = np.ravel(figure.subplots(1, len(panel_values), sharey=True))
    legend: Legend = {}
    for axes, panel_value in zip(all_axes, panel_values, strict=True):
        if panel_axis is not None:
            axes.set_title(f"{panel_axis['title']}: {_value_word(panel_value)}")
        labels = _draw_panel(axes, _select(answer["cells"], panel_axis, panel_value), legend, answer)
        if axes is all_axes[-1]:
            style.label_ends(axes, labels, heading=None if line_axis is None else line_axis["title"])
    all_axes[0].set_ylabel(_vertical_title(answer))
    _draw_legend(figure, legend)
    figure.suptitle(answer["title"], x=0.01, ha="left", fontsize=12)
    return figure


def _draw_panel(axes: Axes, cells: Cells, legend: Legend, answer: JsonObject) -> Labels:
    """Draw the lines and the horizontal axis of one panel, and return the labels of the lines.

    Args:
        axes: axes of the panel, which are drawn on.
        cells: table cells of the panel, each the result of one simulation.
        legend: entries of the legend, to which new entries are added.
        answer: the answer of the experiment in its JSON form, with the names and titles of the axes.

    Returns:
        For each label its height, text and colour. If the panel has several lines, each has one label with its value.
    """
    across, line_axis = answer["across"], answer.get("lines")
    scale = AxisScale(_values(answer["cells"], across), across["scale"])
    drawers = proved.line_drawers(answer)
    labels: Labels = []
    for number, value in enumerate(_values(answer["cells"], line_axis)):
        line_cells = _select(cells, line_axis, value)
        if not line_cells:
            continue
        colour = None if line_axis is None else style.COLOURS[number % len(style.COLOURS)]
        positions = scale.positions(line_cells, across["name"])
        draw: Callable[[GridLine], Labels] = drawers.get(line_cells[0]["kind"], _draw_line)
        line_labels = draw(GridLine.sort(axes, positions, line_cells, colour, legend, answer))
        if line_axis is None:
            labels += line_labels
        else:
            height, _, _ = line_labels[0]
            labels.append((height, _value_word(value), str(colour)))
    # Excess risks and ε span several powers of ten; other scores have a linear axis.
    if "measure" not in answer:
        style.logarithmic(axes)
    scale.dress(axes)
    axes.set_xlabel(across["title"])
    return labels


def _draw_legend(figure: Figure, legend: Legend) -> None:
    """Draw the legend of all dashes and markers below the figure."""
    proxies = [
        Line2D([], [], color="#333333", linestyle=dash, marker=marker, markersize=4) for dash, marker in legend.values()
    ]
    figure.legend(proxies, list(legend), loc="outside lower center", ncols=min(len(legend), 3), frameon=False)


def _draw_line(line: GridLine) -> Labels:
    """Draw one line of a panel: the measured means, the theorems' bound on them, and the compared runs.

    Cells of audits have their lower bounds on ε instead, with the certified and the claimed ε.

    Args:
        line: cells of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        The labels to write at the right of the line, the measured one first.
    """
    if line.cells[0]["kind"] == "audit":
        return _draw_audits(line)
    labels = _draw_measured(line)
    if line.measure is None:
        labels += _draw_bound(line)
    return labels + _draw_comparisons(line)


def _draw_measured(line: GridLine) -> Labels:
    """Draw the measured means of the private runs with their confidence bands, and return their label.

    Args:
        line: table cells of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        One label for the end of the line: height, word and colour.
    """
    colour = line.colour or style.MEASURED
    if line.measure is None:
        finals = [cell["final_excess"] for cell in line.cells]
    else:
        finals = [cell["scores"][line.measure] for cell in line.cells]
    mean, lower, upper = (style.numbers(final[name] for final in finals) for name in ("mean", "lower", "upper"))
    line.look(MEASURED, "-", "o")
    # The lower end of a band stays above 0, which a logarithmic axis cannot show.
    errors = np.stack([np.minimum(mean - lower, mean * 0.999), upper - mean])
    line.axes.errorbar(
        line.positions, mean, yerr=errors, color=colour, linewidth=2.0, marker="o", markersize=4, capsize=3
    )
    return [(float(mean[-1]), "measured", colour)]


def _draw_bound(line: GridLine) -> Labels:
    """Draw for each cell the smallest bound that theorems give on its excess risk, and return the label.

    Args:
        line: cells of one line of a panel, with their axes, horizontal positions and colour.

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
        line: cells of one line of a panel, with their axes, horizontal positions and colour.
    """
    labels: Labels = []
    titles, run_colours = line.answer.get("beside", {}), iter(style.COLOURS[1:])
    for number, name in enumerate(line.cells[0].get("beside", {})):
        values = style.numbers(_comparison_mean(cell, name, line.measure) for cell in line.cells)
        words = titles.get(name, style.run_words(name))
        dash = line.look(words, style.DASHES[2 + number % 3])
        run_colour = line.colour or (style.NON_PRIVATE if name == "non-private" else next(run_colours))
        line.axes.plot(line.positions, values, color=run_colour, linewidth=1.3, linestyle=dash)
        labels.append((float(values[-1]), style.wrap(words), run_colour))
    return labels


def _draw_audits(line: GridLine) -> Labels:
    """Draw the lower bounds on ε that audits prove, with the certified and the claimed ε, and return their labels.

    An audit attacks a mechanism, and its success proves a lower bound on ε. Statements that hold for all cells are
    written at the top of the panel.

    Args:
        line: table cells of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        Labels for the ends of the lines: height, word and colour of each.
    """
    axes, colour = line.axes, line.colour or style.MEASURED
    proved_epsilon = style.numbers(cell["test_epsilon_lower"] for cell in line.cells)
    line.look(PROVED, "-", "o")
    axes.plot(line.positions, proved_epsilon, color=colour, linewidth=2.0, marker="o", markersize=4)
    labels = [(float(proved_epsilon[-1]), "proved", colour)]
    notes = _audit_notes(line.cells)
    axes.text(
        0.5,
        0.98,
        "\n".join(notes),
        color=style.CERTIFIED,
        fontsize=9,
        transform=axes.transAxes,
        ha="center",
        va="top",
    )
    _draw_certificates(line)
    claimed = style.numbers(cell["claim"]["epsilon"] if "claim" in cell else "unbounded" for cell in line.cells)
    if np.isfinite(claimed).any():
        _annotate_deltas(line, proved_epsilon, colour)
        dash = line.look(CLAIMED, style.DASHES[3])
        axes.plot(line.positions, claimed, color=style.BOUND, linewidth=1.5, linestyle=dash)
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


def _draw_certificates(line: GridLine) -> None:
    """Draw the certified lower and upper bounds on ε, except those too large to be of use.

    Args:
        line: cells of one line of a panel, with their axes, horizontal positions and colour.
    """
    for words, bound, new_dash in (
        (CERTIFIED_UPPER, "upper", style.DASHES[1]),
        (CERTIFIED_LOWER, "lower", style.DASHES[2]),
    ):
        values = style.numbers(cell["epsilon"][bound] for cell in line.cells)
        values = np.where(values < BEYOND_USE, values, np.nan)
        if np.isfinite(values).any():
            dash = line.look(words, new_dash)
            line.axes.plot(line.positions, values, color=style.CERTIFIED, linewidth=1.3, linestyle=dash)


def _fit_height(axes: Axes, upper_margin: float) -> None:
    """Limit the vertical axis to the positive values of all lines, with a margin on both sides.

    Args:
        axes: the axes.
        upper_margin: ratio of the upper limit to the largest value.
    """
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()])
    positive = heights[heights > 0.0]
    if positive.size:
        axes.set_ylim(positive.min() / MARGIN, positive.max() * upper_margin)


def _annotate_deltas(line: GridLine, heights: npt.NDArray[np.float64], colour: str) -> None:
    """Write below each point the lower bound on δ at the claimed ε, if an audit proves one.

    Args:
        line: the cells with their axes. Each has a claimed ε that its audit checked.
        heights: vertical position of each cell's point, its lower bound on ε. A point at 0 is not on the axis and gets
            no text.
        colour: colour of the text.
    """
    for position, height, cell in zip(line.positions, heights, line.cells, strict=True):
        delta_lower = cell["claim"]["delta_lower"]
        if height > 0.0 and delta_lower > 0.0:
            line.axes.annotate(
                f"δ ≥ {delta_lower:.3g}\nat the\nclaimed ε",
                (position, height),
                (0, -7),
                textcoords="offset points",
                ha="center",
                va="top",
                color=colour,
                fontsize=8,
            )


def _least_bound(cell: JsonObject) -> float:
    """Return the smallest comparable bound on the excess risk; math.inf if there is none."""
    return min((style.number(bound["value"]) for bound in _excess_bounds(cell)), default=float("inf"))


def _excess_bounds(cell: JsonObject) -> Cells:
    """Return the theorems' bounds on the excess risk that are comparable with the measurement."""
    return [bound for bound in cell["bounds"] if bound["compared"] and bound["quantity"] == "excess"]


def _comparison_mean(cell: JsonObject, name: str, measure: str | None) -> str | float:
    """Return the mean of a compared run: its final excess, or the named score."""
    measured: JsonObject = cell["beside"][name] if measure is None else cell["scores_beside"][name][measure]
    mean: str | float = measured["mean"]
    return mean


def _vertical_title(answer: JsonObject) -> str:
    """Return the title of the vertical axis: log₁₀ δ, a score, the excess risk or ε."""
    if answer.get("measure") == proved.DELTA:
        return "log₁₀ δ"
    if "measure" in answer:
        return f"{style.run_words(answer['measure'])} of the output"
    return "excess risk of the output (unit of the loss)" if answer["cells"][0]["kind"] == "risk" else "ε (nats)"


def _values(cells: Cells, axis: JsonObject | None) -> tuple[object, ...]:
    """Return the distinct values that the simulations ("cells") have on an axis, in their order.

    Args:
        cells: simulations of an experiment in JSON form.
        axis: the axis; without one, the only value is None.
    """
    if axis is None:
        return (None,)
    return tuple(dict.fromkeys(cell["place"][axis["name"]] for cell in cells))


def _select(cells: Cells, axis: JsonObject | None, value: object) -> Cells:
    """Select the simulations ("cells") with a value on an axis; without an axis, all of them."""
    return cells if axis is None else [cell for cell in cells if cell["place"][axis["name"]] == value]


def _value_word(value: object) -> str:
    """Return a value of an axis as text, a number with at most six digits."""
    return value if isinstance(value, str) else f"{value:g}"
