"""The steps of Algorithm 2 of Lowy and Razaviyayn, in stages: three sequences, of which one is put out.

Round t of a stage, with α = 2/(t + 1), η = 4v/(t(t + 1)), v the stage's prox weight and μ of the run:

    w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(η + (1 − α²)μ)
    w    ← argmin over the ball of α(⟨g, w'⟩ + μ/2 ‖w^md − w'‖²) + ½((1 − α)μ + η)‖w − w'‖²,  g a gradient at w^md
    w^ag ← αw + (1 − α) w^ag

The argmin is the projection of its centre. A stage starts with w and w^ag at the output of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from epsilond.training.arrays import Floats


class AccelerationStage(Protocol):
    """Rounds of one prox weight."""

    @property
    def rounds(self) -> int:
        """How many."""

    @property
    def prox_weight(self) -> float:
        """v; the larger, the shorter the steps."""


@dataclass(frozen=True)
class AcceleratedStep:
    """One round of one stage: its α and η, and whether it is the first."""

    share: float
    pull: float
    first: bool


def steps(stages: Iterable[AccelerationStage]) -> Iterator[AcceleratedStep]:
    """All rounds of all stages."""
    for stage in stages:
        for number in range(1, stage.rounds + 1):
            pull = 4.0 * stage.prox_weight / (number * (number + 1.0))
            yield AcceleratedStep(2.0 / (number + 1.0), pull, number == 1)


class Sequences:
    """w and w^ag, (…, d); both start at the given models."""

    def __init__(self, start: Floats, strong_convexity: float, project: Callable[[Floats], Floats]) -> None:
        self.iterate = start
        self.output = start
        self._mu = strong_convexity
        self._project = project

    def middle(self, step: AcceleratedStep) -> Floats:
        """w^md, where this round's gradients are taken."""
        if step.first:
            self.iterate = self.output
        alpha, eta, mu = step.share, step.pull, self._mu
        whole = eta + (1.0 - alpha * alpha) * mu
        output = (1.0 - alpha) * (mu + eta) / whole
        return output * self.output + alpha * ((1.0 - alpha) * mu + eta) / whole * self.iterate

    def move(self, step: AcceleratedStep, middle: Floats, gradient: Floats) -> None:
        """With the mean of the messages about the gradient at `middle`."""
        alpha, eta, mu = step.share, step.pull, self._mu
        centre = alpha * mu * middle + ((1.0 - alpha) * mu + eta) * self.iterate - alpha * gradient
        self.iterate = self._project(centre / (mu + eta))
        self.output = alpha * self.iterate + (1.0 - alpha) * self.output
