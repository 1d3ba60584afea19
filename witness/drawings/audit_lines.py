"""Lines of a grid's panel with the results of audits: proved lower bounds on ε, certified bounds, and claims."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from epsilond.accountants.json_types import JsonObject
from epsilond.witness.drawings import proved, style
from epsilond.witness.drawings.lines import Cells, GridLine, Labels

PROVED, CLAIMED = "proved by its test: at least", "claimed: at most"
CERTIFIED_UPPER, CERTIFIED_LOWER = proved.CERTIFIED, "certified: at least"
IMPOSSIBLE = "proved: no ε holds at this δ, by outputs that the other data set cannot give"
USELESS = "certified: no ε of use holds at this δ"
BEYOND_USE = 1e6
"""Least ε that is not drawn: it guarantees nothing and would only extend the axis."""
MARGIN = 1.5
"""Ratio of the upper limit of the axis to the largest value, and of the smallest value to the lower limit."""


def draw_audits(line: GridLine) -> Labels:
    """Draw the lower bounds on ε that audits prove, with the certified and the claimed ε, and return their labels.

    An audit attacks a mechanism, and its success proves a lower bound on ε. Statements that hold for all audits of the
    line are written at the top of the panel.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.

    Returns:
        Labels for the ends of the lines: height, word and colour of each.
    """
    axes = line.axes
    colour = line.colour or style.MEASURED

    proved_epsilon = style.numbers(cell["test_epsilon_lower"] for cell in line.cells)
    line.look(PROVED, "-", "o")
    axes.plot(line.positions, proved_epsilon, color=colour, linewidth=2.0, marker="o", markersize=4)
    labels = [(float(proved_epsilon[-1]), "proved", colour)]

    notes = _audit_notes(line.cells)
    _write_notes(axes, notes)
    _draw_certificates(line)

    claimed = style.numbers(_claimed_epsilon(cell) for cell in line.cells)
    if np.isfinite(claimed).any():
        _annotate_deltas(line, proved_epsilon, colour)
        dash = line.look(CLAIMED, style.DASHES[3])
        axes.plot(line.positions, claimed, color=style.BOUND, linewidth=1.5, linestyle=dash)
        labels.append((float(claimed[-1]), "claimed", style.BOUND))

    # The notes require more room above the lines.
    style.logarithmic(axes)
    upper_margin = MARGIN**2 if notes else MARGIN
    _fit_height(axes, upper_margin)
    return labels


def _write_notes(axes: Axes, notes: Sequence[str]) -> None:
    """Write notes at the top of a panel, one below another.

    Args:
        axes: the panel.
        notes: the notes; nothing is visible if there are none.
    """
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


def _claimed_epsilon(cell: JsonObject) -> str | float:
    """Return the ε that a paper claims for the mechanism of an audit; `unbounded` without a claim."""
    if "claim" not in cell:
        return "unbounded"
    epsilon: str | float = cell["claim"]["epsilon"]
    return epsilon


def _audit_notes(cells: Cells) -> list[str]:
    """Return the statements that hold for every audit of a panel and that no line can show.

    Args:
        cells: results of audits in JSON form.

    Returns:
        `IMPOSSIBLE` if every audit proves that no ε holds, and `USELESS` if every certified ε is too large to be of
        use. The list may have both or be empty.
    """
    notes = []
    if all(style.number(cell["epsilon_lower"]) == np.inf for cell in cells):
        notes.append(IMPOSSIBLE)
    if all(style.number(cell["epsilon"]["lower"]) >= BEYOND_USE for cell in cells):
        notes.append(USELESS)
    return notes


def _draw_certificates(line: GridLine) -> None:
    """Draw the certified lower and upper bounds on ε, except those too large to be of use.

    Each kind of bound is a curve over the simulations, with an entry in the legend. A curve without points is left out.

    Args:
        line: simulations of one line of a panel, with their axes, horizontal positions and colour.
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
        axes: the panel, with all lines drawn.
        upper_margin: ratio of the upper limit to the largest value.
    """
    heights_of_lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    heights = np.concatenate(heights_of_lines)
    positive_heights = heights[heights > 0.0]
    if positive_heights.size:
        axes.set_ylim(positive_heights.min() / MARGIN, positive_heights.max() * upper_margin)


def _annotate_deltas(line: GridLine, heights: npt.NDArray[np.float64], colour: str) -> None:
    """Write below each point the lower bound on δ at the claimed ε, if an audit proves one.

    Args:
        line: results of audits with their axes. Each has a claimed ε that its audit checked.
        heights: vertical position of each audit's point, its lower bound on ε. A point at 0 is not on the axis and gets
            no text.
        colour: colour of the text.
    """
    offset_points = (0, -7)  # the text is below the point, in points
    for position, height, cell in zip(line.positions, heights, line.cells, strict=True):
        delta_lower = cell["claim"]["delta_lower"]
        is_visible = height > 0.0 and delta_lower > 0.0
        if not is_visible:
            continue
        line.axes.annotate(
            f"δ ≥ {delta_lower:.3g}\nat the\nclaimed ε",
            (position, height),
            offset_points,
            textcoords="offset points",
            ha="center",
            va="top",
            color=colour,
            fontsize=8,
        )
