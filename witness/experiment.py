"""Experiments as data: simulations on a grid, the layout of their figure, and the claims that they check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilond.simulators.files.folders import DataName


def format_scientific(value: float) -> str:
    """Format a number in scientific notation with the fewest digits, such as 1e-5 instead of 1e-05."""
    return np.format_float_scientific(value, trim="-", exp_digits=1)


Place = Mapping[str, float | int | str]
"""Position of a cell on the grid: one value for the name of each axis."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One direction of the grid; `title` names its quantity with the unit."""

    name: str
    title: str
    scale: Literal["linear", "log", "categories"] = "categories"


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A claimed ε at δ for one record, against an observer that sees every message."""

    epsilon: float
    delta: float


FindingVerdict = Literal["confirmed", "confirmed in part", "mixed", "not reproduced", "refuted", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A paper's qualitative claim, with the verdict of the experiment, derived from the measured numbers.

    `verdict` is a key of `tally.RULES`. `told` is the verdict in words with its counts: the number of settings in which
    the claim holds, fails, or stays open. `words` has the measured numbers in sentences.
    """

    claim: str
    verdict: FindingVerdict
    told: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One simulation with its position on the grid."""

    place: Place
    simulation: Any
    """A request of another kind of simulation."""
    claimed: Claimed | None = None
    """The claim of a paper about the noise of this simulation. The certified ε of the noise is computed for comparison.
    """
    log10_deltas: Mapping[str, float] | None = None
    """log₁₀ δ of formulas at the ε of this place, by the reading of the formula."""
    published: Mapping[str, float] | None = None
    """Scores that the paper prints at this place, by run: `private`, or the name of a run compared with it."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One experiment; `cells(repetitions, seed)` are its simulations.

    In the figure, `across` is the horizontal axis. Every value of `lines` has a line, and every value of `panels` has
    its own axes. `repetitions` is the default for every cell. Audits do not use it, because they state their own
    samples.
    """

    name: str
    title: str
    summary: str
    source: str
    """The paper, with its section, figure or table."""
    across: Axis
    lines: Axis | None = None
    panels: Axis | None = None
    repetitions: int
    cells: Callable[[int, int], tuple[Cell, ...]]
    curve: bool = False
    """True if every simulation is a curve, with scores at all values of `across`. Its cells have no such value."""
    tuned: Axis | None = None
    """Axis of tuned values. Each run keeps only its value of least mean excess."""
    measure: str | None = None
    """Score on held-out records that the experiment measures, or `log10_delta`. None means the excess risk or ε.
    """
    stands_in_for: str | None = None
    """Data and sizes of the paper, and those that replace them."""
    data: tuple[DataName, ...] = ()
    """Data sets of which it reads the files."""
    judge: Callable[[Sequence[Any]], Sequence[Finding]] | None = None
    """Function from the answer's cells to the findings on the paper's claims."""

    @property
    def command(self) -> str:
        """The command that runs it, with a placeholder for the folder of each data set."""
        options = "".join(f" --data {name}=FOLDER" for name in self.data)
        return f"epsilond simulate {self.name}{options}"

    @property
    def is_stand_in(self) -> bool:
        """True if it replaces the paper's data or sizes, for users who have no files."""
        return (self.stands_in_for or "").startswith("Stand-in for ")

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that the experiment has."""
        return tuple(axis for axis in (self.across, self.lines, self.panels, self.tuned) if axis is not None)
