"""Lines of a grid with proved values: δ by versions of a formula, and bounds on ε by attacks on trained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import style
from epsilond.witness.drawings.lines import GridLine, Labels

DELTA = "log10_delta"
"""Measure of the experiments on δ."""
CERTIFIED = "certified: at most"
"""Legend of the certified upper bound."""


def line_drawers(answer: JsonObject) -> Mapping[str, Callable[[GridLine], Labels]]:
    """Return the drawing functions for simulations that prove values and measure none, by kind of simulation.

    Other kinds of simulations are drawn as measured or audited values.

    Args:
        answer: the answer of the experiment in its JSON form.

    Returns:
        Functions by kind. Each draws one line of a figure and returns the labels at its end.
    """
    drawers: dict[str, Callable[[GridLine], Labels]] = {"membership": draw_attacks}
    if answer.get("measure") == DELTA:
        drawers["audit"] = draw_formulas
    return drawers


def draw_formulas(line: GridLine) -> Labels:
    """Draw log₁₀ δ by a paper's formula: as printed, corrected and certified, with lower bounds that attacks prove.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        Labels for the ends of the curves: height, words and colour of each.
    """
    labels: Labels = []
    colour = line.colour or style.MEASURED

    # One curve for each interpretation of the formula, such as printed or corrected.
    for number, name in enumerate(line.cells[0]["log10_deltas"]):
        dash = line.look(f"{name} δ", style.DASHES[number % len(style.DASHES)])
        values = style.numbers(cell["log10_deltas"][name] for cell in line.cells)
        line.axes.plot(line.positions, values, color=colour, linewidth=1.6, linestyle=dash)
        labels.append((float(values[-1]), f"{name} δ", colour))

    # Points for the lower bounds that attacks prove. A bound of 0 has no logarithm and is not drawn.
    lower_bounds = [cell.get("claim", {}).get("delta_lower", 0.0) for cell in line.cells]
    log10_lower_bounds = np.array([np.log10(bound) if bound > 0.0 else np.nan for bound in lower_bounds])
    if np.isfinite(log10_lower_bounds).any():
        line.look("proved by an attack: δ at least", "", "o")
        line.axes.plot(line.positions, log10_lower_bounds, color=colour, linewidth=0.0, marker="o", markersize=4)
    return labels


def draw_attacks(line: GridLine) -> Labels:
    """Draw the lower bound on ε by each attack on trained models, with the certified upper bound.

    The certified bound holds for every attack. A proved bound above it would contradict the certificate.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        Labels for the ends of the curves: height, words and colour of each. Attacks that prove nothing at the last
        position have none.
    """
    labels: Labels = []
    for number, name in enumerate(line.cells[0]["attacks"]):
        attack_words = style.run_words(name)
        dash = line.look(f"proved: {attack_words}", style.DASHES[number % len(style.DASHES)], "o")
        # An attack that proves nothing has no place on a logarithmic axis.
        values = np.array([cell["attacks"][name] or np.nan for cell in line.cells], dtype=float)
        colour = line.colour or style.COLOURS[number % len(style.COLOURS)]
        line.axes.plot(line.positions, values, color=colour, linewidth=1.8, marker="o", markersize=4, linestyle=dash)
        labels.append((float(values[-1]), style.wrap(attack_words), colour))

    # The certified upper bound, which no proved lower bound should exceed.
    upper = style.numbers(cell["epsilon"]["upper"] for cell in line.cells)
    # Long dashes: 9 points of line and 2.5 of gap.
    dash = line.look(CERTIFIED, (0, (9, 2.5)))
    line.axes.plot(line.positions, upper, color=style.CERTIFIED, linewidth=1.3, linestyle=dash)

    visible_labels = [(height, words, colour) for height, words, colour in labels if np.isfinite(height)]
    return [*visible_labels, (float(upper[-1]), "certified", style.CERTIFIED)]
