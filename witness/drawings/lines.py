"""Lines of a grid's panel: the cells of one line, and the legend and the labels that drawing functions add to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from epsilond.accountants.json_types import JsonObject

Cells = Sequence[JsonObject]
Legend = dict[str, tuple[Any, str | None]]
"""Dash and marker of each entry of the legend, by its words."""
Labels = list[tuple[float, str, str]]
"""Height, words and colour of each label at the right of the axes."""


@dataclass(frozen=True)
class GridLine:
    """One line in a panel of a figure, with the results that it connects, their positions, and its colour.

    A cell is the result of one simulation in JSON form.

    Attributes:
        axes: axes of the panel.
        positions: horizontal positions of the cells, ascending.
        cells: cells of the line, in the order of `positions`.
        colour: colour of the line; None if the panel has only one line, and each curve gets a colour.
        legend: entries of the figure's legend, to which drawing functions add theirs.
        answer: the answer of the experiment.
    """

    axes: Axes
    positions: npt.NDArray[np.float64]
    cells: Cells
    colour: str | None
    legend: Legend
    answer: JsonObject

    @classmethod
    def sort(
        cls,
        axes: Axes,
        positions: npt.NDArray[np.float64],
        cells: Cells,
        colour: str | None,
        legend: Legend,
        answer: JsonObject,
    ) -> GridLine:
        """Make a line from results in any order, sorted by ascending position.

        Curves are drawn from point to point, so that the points must be in the order of the horizontal axis.

        Args:
            axes: axes of the panel.
            positions: horizontal positions of the cells, in any order.
            cells: results of the simulations on the line, in the order of `positions`.
            colour: colour of the line, or None.
            legend: entries of the figure's legend.
            answer: the answer of the experiment.

        Returns:
            The line, from left to right.
        """
        order = np.argsort(positions)
        return cls(axes, positions[order], [cells[index] for index in order], colour, legend, answer)

    @property
    def measure(self) -> str | None:
        """Name of the measured score; None if the excess risk or ε is measured."""
        measure: str | None = self.answer.get("measure")
        return measure

    def look(self, words: str, dash: Any, marker: str | None = None) -> Any:
        """Return the dash pattern for curves of a kind, so that all curves of that kind look the same.

        If the kind is new, it is added to the legend with the given pattern.

        Args:
            words: name of the kind of curves in the legend.
            dash: dash pattern, as matplotlib takes it, for a kind that is not in the legend yet.
            marker: marker for such a kind, or None.

        Returns:
            The dash pattern to draw with.
        """
        present_dash, _ = self.legend.setdefault(words, (dash, marker))
        return present_dash
