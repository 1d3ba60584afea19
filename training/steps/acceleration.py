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
    """Protocol of a stage of accelerated SGD: consecutive rounds with one weight of the proximal term.

    The proximal term keeps the iterate near its last value. A calibration gives the stages of a run.
    """

    @property
    def rounds(self) -> int:
        """Number of rounds."""

    @property
    def prox_weight(self) -> float:
        """Prox weight v, in loss/length²; larger weights give shorter steps."""


@dataclass(frozen=True)
class AcceleratedStep:
    """The coefficients of round t ≥ 1 of a stage in Algorithm 2 of Lowy and Razaviyayn.

    Attributes:
        share: α = 2/(t + 1), the weight of the iterate w in the new output w^ag.
        pull: η = 4v/(t(t + 1)) for prox weight v, which keeps w near its last value.
        first: whether it is the first round of its stage.
    """

    share: float
    pull: float
    first: bool


def steps(stages: Iterable[AccelerationStage]) -> Iterator[AcceleratedStep]:
    """Yield the coefficients of each round of accelerated descent, one stage after another.

    Args:
        stages: the stages, each with its number of rounds and its prox weight v.

    Yields:
        The weight α = 2/(t + 1) of the iterate in the output, and the proximal coefficient η = 4v/(t(t + 1)). The
        number t of the round counts from 1 in each stage.
    """
    for stage in stages:
        for number in range(1, stage.rounds + 1):
            share = 2.0 / (number + 1.0)
            pull = 4.0 * stage.prox_weight / (number * (number + 1.0))
            yield AcceleratedStep(share, pull, first=number == 1)


class Sequences:
    """The two sequences of models in Algorithm 2 of Lowy and Razaviyayn, an accelerated stochastic gradient descent.

    The iterate w takes the gradient steps. The output w^ag is a weighted average of the iterates. Gradients are taken
    at a third point w^md between them (`middle`). Each round has a weight α and a coefficient η, which
    `AcceleratedStep` holds.

    Attributes:
        iterate: the iterate w, (…, d), for d coordinates.
        output: the output w^ag, (…, d), which starts at the same model as w.

    Args:
        start: first models.
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

        w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(η + (1 − α²)μ). Here w is the iterate, w^ag the output, and μ
        the strong convexity. α and η are the coefficients of the round. At the start of a stage, w is set to w^ag.

        Args:
            step: the coefficients α (`share`) and η (`pull`), and whether a new stage begins with this round.

        Returns:
            The point w^md, in the shape of the model.
        """
        if step.first:
            self.iterate = self.output
        alpha, eta, mu = step.share, step.pull, self._mu
        denominator = eta + (1.0 - alpha * alpha) * mu
        output_weight = (1.0 - alpha) * (mu + eta) / denominator
        iterate_weight = alpha * ((1.0 - alpha) * mu + eta) / denominator
        return output_weight * self.output + iterate_weight * self.iterate

    def move(self, step: AcceleratedStep, middle: Floats, gradient: Floats) -> None:
        """Take the gradient step of one round, by which the iterate w and the output w^ag move.

        These are lines 10 and 11 of Algorithm 2. The new w is the projection of

            [αμ w^md + ((1 − α)μ + η) w − αg]/(μ + η)

        onto the domain. Here w^md is the point of the gradient, g the gradient, and μ the strong convexity. Then w^ag
        becomes αw + (1 − α) w^ag.

        Args:
            step: the weight α and the coefficient η of the round.
            middle: the point w^md.
            gradient: mean of the messages, an estimate of the gradient at w^md.
        """
        alpha, eta, mu = step.share, step.pull, self._mu
        centre = alpha * mu * middle + ((1.0 - alpha) * mu + eta) * self.iterate - alpha * gradient
        self.iterate = self._project(centre / (mu + eta))
        self.output = alpha * self.iterate + (1.0 - alpha) * self.output
