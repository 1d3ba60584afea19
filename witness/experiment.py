"""Experiments as data: simulations on a grid, the layout of their figure, and the claims that they check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilond.simulators.files.folders import DataName


def format_scientific(value: float) -> str:
    """Return a number in scientific notation with the fewest digits, such as 1e-5 instead of 1e-05."""
    return np.format_float_scientific(value, trim="-", exp_digits=1)


Place = Mapping[str, float | int | str]
"""Position of a cell on the grid: one value for the name of each axis."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One parameter that an experiment varies, such as ε or the step size.

    Attributes:
        name: name of the parameter in answers.
        title: the parameter in words, with its unit, for figures.
        scale: scale of a figure's axis that shows it. `categories` places the values at equal distances.
    """

    name: str
    title: str
    scale: Literal["linear", "log", "categories"] = "categories"


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """The privacy guarantee (ε, δ) that a paper claims for the noise of an experiment.

    The certified ε of that noise is computed at the same δ, and decides whether the claim is right.

    Attributes:
        epsilon: the ε that the paper states, in nats.
        delta: the δ of that statement, in (0, 1).
    """

    epsilon: float
    delta: float


FindingVerdict = Literal["confirmed", "confirmed in part", "mixed", "not reproduced", "refuted", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A paper's qualitative claim, with the verdict of an experiment on it.

    Attributes:
        claim: the claim in words.
        verdict: the verdict; `tally.RULES` states the rule for each.
        told: the verdict as a sentence, with the numbers of settings in which the claim holds, fails or stays open.
        words: the measured numbers in sentences.
    """

    claim: str
    verdict: FindingVerdict
    told: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One simulation of an experiment, with its position on the grid of parameter values.

    Attributes:
        place: the position: one value for the name of each axis.
        simulation: request of the simulation: a measurement of risk, an audit, an attack on models, or repeated
            trainings.
        claimed: the (ε, δ) that a paper claims for the noise of this simulation. The certified ε is computed for
            comparison.
        log10_deltas: log₁₀ δ at the ε of this position, by its source: `printed` for a paper's formula as it stands,
            `corrected`, or `certified`.
        published: scores that the paper prints for this position, by run: `private`, or the name of a run for
            comparison.
    """

    place: Place
    simulation: Any
    claimed: Claimed | None = None
    log10_deltas: Mapping[str, float] | None = None
    published: Mapping[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One experiment on a grid of parameter values: its simulations, the layout of its figure, and its claims.

    In the figure, `across` is the horizontal axis. Every value of `lines` has a line, and every value of `panels` has
    its own axes.

    Attributes:
        name: name of the experiment in requests.
        title: title of the figure.
        summary: one sentence on the measured quantity and the compared methods.
        source: the paper, with its section, figure or table.
        across: horizontal axis of the figure.
        lines: axis with one line for each value, or None for a single line.
        panels: axis with one panel for each value, or None for a single panel.
        repetitions: default number of repetitions of every simulation. Audits do not use it, because they state their
            own samples.
        cells: function from the repetitions and a seed to the simulations, each with its position on the grid.
        curve: whether every simulation measures scores at all values of `across`. Its position then has no value on
            that axis.
        tuned: axis of tuned values, such as step sizes. Each run keeps only its value of least mean excess risk.
        measure: score on held-out records that the experiment measures, or `log10_delta`. None means the excess risk or
            ε.
        stands_in_for: data and sizes of the paper, and those that replace them.
        data: data sets of which the experiment reads the files.
        judge: function from the answer's cells to the findings on the paper's claims.
    """

    name: str
    title: str
    summary: str
    source: str
    across: Axis
    lines: Axis | None = None
    panels: Axis | None = None
    repetitions: int
    cells: Callable[[int, int], tuple[Cell, ...]]
    curve: bool = False
    tuned: Axis | None = None
    measure: str | None = None
    stands_in_for: str | None = None
    data: tuple[DataName, ...] = ()
    judge: Callable[[Sequence[Any]], Sequence[Finding]] | None = None

    @property
    def command(self) -> str:
        """The command line that runs the experiment, with a placeholder for the folder of each data set."""
        options = "".join(f" --data {name}=FOLDER" for name in self.data)
        return f"epsilond simulate {self.name}{options}"

    @property
    def is_stand_in(self) -> bool:
        """True if the experiment replaces the paper's data or sizes, for users who have no files."""
        return (self.stands_in_for or "").startswith("Stand-in for ")

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that the experiment has: horizontal, lines, panels and tuned values, in this order."""
        possible_axes = (self.across, self.lines, self.panels, self.tuned)
        return tuple(axis for axis in possible_axes if axis is not None)
