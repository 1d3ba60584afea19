"""Lines of a grid with proved values: readings of a formula for δ, and attacks on trained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.witness.drawings import style

DELTA = "log10_delta"
"""Measure of the experiments on δ."""
CERTIFIED = "certified: at most"
"""Legend of the certified upper bound."""

Cells = Sequence[JsonObject]
Labels = list[tuple[float, str, str]]
"""Height, words and colour of each label."""


def line_drawers(answer: JsonObject) -> Mapping[str, Callable[..., Labels]]:
    """Return the functions that draw a line of cells, by kind of the cells; the grid draws all other kinds."""
    drawers: dict[str, Callable[..., Labels]] = {"membership": draw_attacks}
    if answer.get("measure") == DELTA:
        drawers["audit"] = draw_formulas
    return drawers


def draw_formulas(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    _: JsonObject,
) -> Labels:
    """Draw log₁₀ δ of a paper's formula as printed, corrected and certified, with the lower bounds by attacks.

    Args:
        axes: axes of the panel.
        places: horizontal positions of the cells.
        cells: cells of the line, in the order of `places`.
        colour: colour of the line; None for the colour of measurements.
        looks: dash and marker of each entry of the legend, by its words. New entries are added to it.
        _: not used; the answer of the experiment, which other drawing functions need.

    Returns:
        The labels to write at the right of the line.
    """
    labels: Labels = []
    line_colour = colour or style.MEASURED
    for number, name in enumerate(cells[0]["log10_deltas"]):
        look = looks.setdefault(f"{name} δ", (style.DASHES[number % len(style.DASHES)], None))
        values = style.numbers(cell["log10_deltas"][name] for cell in cells)
        axes.plot(places, values, color=line_colour, linewidth=1.6, linestyle=look[0])
        labels.append((float(values[-1]), f"{name} δ", line_colour))
    lower = [cell.get("claim", {}).get("delta_lower", 0.0) for cell in cells]
    proved = np.array([np.log10(value) if value > 0.0 else np.nan for value in lower])
    if np.isfinite(proved).any():
        looks.setdefault("proved by an attack: δ at least", ("", "o"))
        axes.plot(places, proved, color=line_colour, linewidth=0.0, marker="o", markersize=4)
    return labels


def draw_attacks(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    _: JsonObject,
) -> Labels:
    """Draw the lower bound on ε by each attack on trained models, with the certified upper bound.

    Args:
        axes: axes of the panel.
        places: horizontal positions of the cells.
        cells: cells of the line, in the order of `places`.
        colour: colour of the line; None for one colour for each attack.
        looks: dash and marker of each entry of the legend, by its words. New entries are added to it.
        _: not used; the answer of the experiment, which other drawing functions need.

    Returns:
        The labels to write at the right of the line.
    """
    order = np.argsort(places)
    places, cells = places[order], [cells[index] for index in order]
    labels: Labels = []
    for number, name in enumerate(cells[0]["attacks"]):
        look = looks.setdefault(f"proved: {style.run_words(name)}", (style.DASHES[number % len(style.DASHES)], "o"))
        # An attack that proves nothing has no place on a logarithmic axis.
        values = np.array([cell["attacks"][name] or np.nan for cell in cells], dtype=float)
        line_colour = colour or style.COLOURS[number % len(style.COLOURS)]
        axes.plot(places, values, color=line_colour, linewidth=1.8, marker="o", markersize=4, linestyle=look[0])
        labels.append((float(values[-1]), style.wrap(style.run_words(name)), line_colour))
    upper = style.numbers(cell["epsilon"]["upper"] for cell in cells)
    looks.setdefault(CERTIFIED, ((0, (9, 2.5)), None))
    axes.plot(places, upper, color=style.CERTIFIED, linewidth=1.3, linestyle=looks[CERTIFIED][0])
    visible = [label for label in labels if np.isfinite(label[0])]
    return [*visible, (float(upper[-1]), "certified", style.CERTIFIED)]
