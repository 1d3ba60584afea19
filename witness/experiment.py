"""What an experiment is: simulations on a grid, and how its figure is laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
class Claimed:
    """An ε at a δ, of each record against whoever sees every message."""

    epsilon: float
    delta: float


FindingVerdict = Literal["confirmed", "confirmed in part", "mixed", "not reproduced", "refuted", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A paper's qualitative claim, and what the experiment says of it, made of the measured numbers.

    `verdict` is one of the rules of `tally.RULES`, `told` the same with its counts: in how many settings the claim
    holds, fails, or stays open.
    """

    claim: str
    verdict: FindingVerdict
    told: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One simulation, and where it is."""

    place: Place
    simulation: Any
    """A request of another kind."""
    claimed: Claimed | None = None
    """What a paper says of the noise that the simulation is given; what is true of it is computed beside it."""
    log10_deltas: Mapping[str, float] | None = None
    """Of formulas at the ε of this place, by the reading they are of."""
    published: Mapping[str, float] | None = None
    """The scores that the paper prints at this place, by run: `private`, or the name of a run set beside it."""


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
    tuned: Axis | None = None
    """An axis of which only the best value is kept, for each run by itself: that of least mean excess."""
    measure: str | None = None
    """The score on held-out records that the experiment is about, or `log10_delta`; None: it is about the excess risk
    or about ε."""
    stands_in_for: str | None = None
    """The paper's data and sizes, and what these are instead."""
    judge: Callable[[Sequence[Any]], Sequence[Finding]] | None = None
    """From the answer's cells to what they say of the paper's claims."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Those it has."""
        return tuple(axis for axis in (self.across, self.lines, self.panels, self.tuned) if axis is not None)
