"""Cells of a grid that say what is proved: readings of a formula for δ, and attacks on trained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.witness.drawings import style

DELTA = "log10_delta"
"""The measure of experiments about δ."""
CERTIFIED = "certified: at most"

Cells = Sequence[JsonObject]
Labels = list[tuple[float, str, str]]
"""Height, words and colour of each."""


def drawers(answer: JsonObject) -> Mapping[str, Callable[..., Labels]]:
    """What draws a line of cells, by their kind; of kinds that are not told the grid draws the line itself."""
    found: dict[str, Callable[..., Labels]] = {"membership": inferences}
    return found | {"audit": formulas} if answer.get("measure") == DELTA else found


def formulas(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    _: JsonObject,
) -> Labels:
    """log10 δ of each reading of a formula, and what attacks prove of it."""
    labels: Labels = []
    inked = colour or style.MEASURED
    for number, name in enumerate(cells[0]["log10_deltas"]):
        look = looks.setdefault(f"{name} δ", (style.DASHES[number % len(style.DASHES)], None))
        values = style.numbers(cell["log10_deltas"][name] for cell in cells)
        axes.plot(places, values, color=inked, linewidth=1.6, linestyle=look[0])
        labels.append((float(values[-1]), f"{name} δ", inked))
    lower = [cell.get("claim", {}).get("delta_lower", 0.0) for cell in cells]
    proved = np.array([np.log10(value) if value > 0.0 else np.nan for value in lower])
    if np.isfinite(proved).any():
        looks.setdefault("proved by an attack: δ at least", ("", "o"))
        axes.plot(places, proved, color=inked, linewidth=0.0, marker="o", markersize=4)
    return labels


def inferences(
    axes: Axes,
    places: npt.NDArray[np.float64],
    cells: Cells,
    colour: str | None,
    looks: JsonRecord,
    _: JsonObject,
) -> Labels:
    """What each attack on trained models proves, below what is certified."""
    order = np.argsort(places)
    places, cells = places[order], [cells[index] for index in order]
    labels: Labels = []
    for number, name in enumerate(cells[0]["attacks"]):
        look = looks.setdefault(f"proved: {style.words(name)}", (style.DASHES[number % len(style.DASHES)], "o"))
        # An attack that proves nothing has no place on a logarithmic axis.
        values = np.array([cell["attacks"][name] or np.nan for cell in cells], dtype=float)
        inked = colour or style.COLOURS[number % len(style.COLOURS)]
        axes.plot(places, values, color=inked, linewidth=1.8, marker="o", markersize=4, linestyle=look[0])
        labels.append((float(values[-1]), style.wrapped(style.words(name)), inked))
    upper = style.numbers(cell["epsilon"]["upper"] for cell in cells)
    looks.setdefault(CERTIFIED, ((0, (9, 2.5)), None))
    axes.plot(places, upper, color=style.CERTIFIED, linewidth=1.3, linestyle=looks[CERTIFIED][0])
    return [each for each in labels if np.isfinite(each[0])] + [(float(upper[-1]), "certified", style.CERTIFIED)]
