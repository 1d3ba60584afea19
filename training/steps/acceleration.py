"""Steps of Algorithm 2 of Lowy and Razaviyayn in stages, with three sequences.

Round t of a stage, with α = 2/(t + 1), η = 4v/(t(t + 1)), prox weight v of the stage and μ of the run:

    w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(η + (1 − α²)μ)                                          (line 4)
    w    ← argmin over the ball of α(⟨g, w'⟩ + μ/2 ‖w^md − w'‖²) + ½((1 − α)μ + η)‖w − w'‖²                  (line 10)
    w^ag ← αw + (1 − α) w^ag                                                                                 (line 11)

Here g is a gradient at w^md. The argmin is the projection of the unconstrained minimiser. A stage starts with w and
w^ag at the output of the previous stage (multi-stage implementation in the proof of Theorem E.1). The output is w^ag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from epsilond.training.arrays import Floats


class AccelerationStage(Protocol):
    """Protocol of a stage of accelerated SGD: consecutive rounds with the same prox weight.

    The prox weight multiplies the term of the objective that keeps the iterate near its last value.
    """

    @property
    def rounds(self) -> int:
        """Number of rounds."""

    @property
    def prox_weight(self) -> float:
        """Prox weight v ≥ 0, in units of the loss over squared length; larger weights give shorter steps."""


@dataclass(frozen=True)
class AcceleratedStep:
    """Coefficients of round t of a stage, t = 1, 2, …, in Algorithm 2 of Lowy and Razaviyayn.

    Attributes:
        share: α = 2/(t + 1), the weight of the new iterate in the new output.
        pull: η = 4v/(t(t + 1)) for prox weight v. A larger η keeps the iterate closer to its last value.
        first: True in the first round of the stage, t = 1.
    """

    share: float
    pull: float
    first: bool


def steps(stages: Iterable[AccelerationStage]) -> Iterator[AcceleratedStep]:
    """Yield the coefficients of each round of accelerated descent, one stage after another.

    Args:
        stages: the stages, each with its number of rounds and its prox weight v.

    Yields:
        The weight α = 2/(t + 1) of the iterate in the output, and the proximal coefficient η = 4v/(t(t + 1)), for
        round t, which counts from 1 in each stage.
    """
    for stage in stages:
        for number in range(1, stage.rounds + 1):
            share = 2.0 / (number + 1.0)
            pull = 4.0 * stage.prox_weight / (number * (number + 1.0))
            yield AcceleratedStep(share, pull, first=number == 1)


class Sequences:
    """State of accelerated stochastic gradient descent: the sequences of models in Lowy and Razaviyayn's Algorithm 2.

    The iterate w takes the gradient steps. The output w^ag is a weighted average of the iterates. A round calls
    `middle` for the point at which the gradient is taken, and then `move` with that gradient.

    Attributes:
        iterate: the iterate w, (…, d), for d coordinates.
        output: the output w^ag, (…, d).

    Args:
        start: first value of both sequences, (…, d).
        strong_convexity: strong convexity μ, in units of the loss over squared length; 0 for losses that are only
            convex.
        project: projection onto the domain.
    """

    def __init__(self, start: Floats, strong_convexity: float, project: Callable[[Floats], Floats]) -> None:
        self.iterate = start
        self.output = start
        self._mu = strong_convexity
        self._project = project

    def middle(self, step: AcceleratedStep) -> Floats:
        """Return the point w^md at which the gradients of a round are taken (line 4 of Algorithm 2).

        The point is a weighted mean of the iterate w and the output w^ag. With the strong convexity μ, it is:

            w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(η + (1 − α²)μ).

        In the first round of a stage, the method first sets w to w^ag.

        Args:
            step: coefficients α (`share`) and η (`pull`) of the round.

        Returns:
            The point w^md, (…, d).
        """
        if step.first:
            self.iterate = self.output
        alpha, eta, mu = step.share, step.pull, self._mu
        denominator = eta + (1.0 - alpha * alpha) * mu
        output_weight = (1.0 - alpha) * (mu + eta) / denominator
        iterate_weight = alpha * ((1.0 - alpha) * mu + eta) / denominator
        return output_weight * self.output + iterate_weight * self.iterate

    def move(self, step: AcceleratedStep, middle: Floats, gradient: Floats) -> None:
        """Update the iterate w and the output w^ag by a gradient (lines 10 and 11 of Algorithm 2).

        With the strong convexity μ and the projection Π onto the domain, the updates are:

            w    ← Π([αμ w^md + ((1 − α)μ + η) w − αg]/(μ + η)),
            w^ag ← αw + (1 − α) w^ag.

        Args:
            step: coefficients α (`share`) and η (`pull`) of the round.
            middle: point w^md at which the gradient was taken, (…, d).
            gradient: estimate g of the gradient at w^md, (…, d).
        """
        alpha, eta, mu = step.share, step.pull, self._mu
        centre = alpha * mu * middle + ((1.0 - alpha) * mu + eta) * self.iterate - alpha * gradient
        self.iterate = self._project(centre / (mu + eta))
        self.output = alpha * self.iterate + (1.0 - alpha) * self.output
