"""What an experiment is: simulations on a grid, and how its figure is laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np


def scientific(value: float) -> str:
    """1e-5 for 1e-05."""
    return np.format_float_scientific(value, trim="-", exp_digits=1)


Place = Mapping[str, float | int | str]
"""Where a cell is on the grid: a value under each axis' name."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One direction of the grid. `title` says in words what it is, with the unit."""

    name: str
    title: str
    scale: Literal["linear", "log", "categories"] = "categories"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One simulation, and where it is."""

    place: Place
    simulation: Any
    """A request of another kind."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One experiment. `cells(repetitions, seed)` are its simulations.

    In the figure `across` is the horizontal axis; every value of `lines` has a line, and every value of `panels` its
    own axes. `repetitions` is the default, of every cell; an audit reads its samples from elsewhere.
    """

    name: str
    title: str
    summary: str
    source: str
    """The paper and its section, figure or table."""
    across: Axis
    lines: Axis | None = None
    panels: Axis | None = None
    repetitions: int
    cells: Callable[[int, int], tuple[Cell, ...]]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Those it has."""
        return tuple(axis for axis in (self.across, self.lines, self.panels) if axis is not None)
