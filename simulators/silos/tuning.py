"""Tuning of a step size and a clipping norm by the training loss, as in the experiments of Lowy and Razaviyayn.

The choice reads the training records without noise. A privacy guarantee of one run does not cover it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.sgd import SiloRun, Slope, train
from epsilond.simulators.silos.silos import SiloRecords


@dataclass(frozen=True, kw_only=True)
class Search:
    """Settings of a grid search: one algorithm runs several times at every pair of step size and clipping norm.

    Attributes:
        algorithm: mini-batch SGD or local SGD.
        rounds: number of rounds.
        participants: number of silos in a round.
        gradients: gradients of each silo in a round: the size of its batch, or its number of local steps.
        step_sizes: step sizes that are tried.
        clipping_norms: largest norms of a record's gradient that are tried; inf for no clipping.
        repetitions: number of runs at each point of the grid.
        averaged: number of the last models of a run that are averaged for its output.
    """

    algorithm: Literal["mini-batch", "local"]
    rounds: int
    participants: int
    gradients: int
    step_sizes: Sequence[float]
    clipping_norms: Sequence[float]
    repetitions: int
    averaged: int = 1

    def points(self) -> list[tuple[float, float]]:
        """Return the step size and the clipping norm of each point of the grid."""
        return list(itertools.product(self.step_sizes, self.clipping_norms))


@dataclass(frozen=True)
class TunedModel:
    """Result of a grid search: the best step size and clipping norm, and the model trained with them.

    Attributes:
        model: mean of the outputs of all repetitions at the point, (d), for d coordinates.
        step_size: step size with the least mean training loss.
        clipping_norm: clipping norm at the same point of the grid.
        training_loss: mean training loss over the repetitions.
    """

    model: Floats
    step_size: float
    clipping_norm: float
    training_loss: float


def choose(
    silos: SiloRecords,
    *,
    value: Callable[[Floats, Floats], Floats],
    slope: Slope,
    search: Search,
    noise_stds: Callable[[float], Floats],
    generator: np.random.Generator,
) -> TunedModel:
    """Train at every point of a grid, and return the model of the point with the least mean training loss.

    A point is a pair of a step size and a clipping norm.

    Args:
        silos: training and test records.
        value: loss as a function of predictions and targets.
        slope: derivative of the loss by the prediction.
        search: the grid, and the settings of a run.
        noise_stds: function from a clipping norm to the standard deviation of the noise of each of N silos, (N).
        generator: source of all randomness.

    Returns:
        The best point, its mean model and its mean training loss.
    """
    # All repetitions at all points are trained as one set of runs.
    points = search.points()
    step_sizes, clipping_norms = np.repeat(np.array(points), search.repetitions, axis=0).T
    stds = {clipping_norm: noise_stds(clipping_norm) for clipping_norm in search.clipping_norms}
    run = SiloRun(
        algorithm=search.algorithm,
        rounds=search.rounds,
        participants=search.participants,
        gradients=search.gradients,
        step_sizes=step_sizes,
        clipping_norms=clipping_norms,
        noise_stds=np.stack([stds[clipping_norm] for clipping_norm in clipping_norms]),
        averaged=search.averaged,
    )
    models = train(silos, slope, run, generator)

    # The runs are ordered by point and then by repetition.
    losses_of_runs = training_losses(silos, models, value).reshape(len(points), search.repetitions)
    losses = losses_of_runs.mean(axis=1)
    best = int(np.argmin(losses))
    outputs = models.reshape(len(points), search.repetitions, -1)[best]
    step_size, clipping_norm = points[best]
    return TunedModel(outputs.mean(axis=0), step_size, clipping_norm, float(losses[best]))


def training_losses(silos: SiloRecords, models: Floats, value: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return the mean training loss of each model over the records of all silos; inf where it is not finite.

    Args:
        silos: the records.
        models: B models, (B, d), for d coordinates.
        value: loss as a function of predictions and targets.

    Returns:
        Losses, (B).
    """
    features, targets = silos.all_training()
    with np.errstate(over="ignore", invalid="ignore"):
        losses = np.mean(value(features @ models.T, targets[:, None]), axis=0)
    return np.where(np.isfinite(losses), losses, np.inf)


Scores = Mapping[str, float]
"""Scores of a model on the test records, by name."""
