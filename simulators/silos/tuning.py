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
    """Settings of a grid search: one algorithm runs several times at every pair of step size and clipping norm."""

    algorithm: Literal["mini-batch", "local"]
    rounds: int
    participants: int
    """Number of silos in a round."""
    gradients: int
    """Gradients of each silo in a round: the size of its batch, or its number of local steps."""
    step_sizes: Sequence[float]
    clipping_norms: Sequence[float]
    """Largest norms of a record's gradient; inf for no clipping."""
    repetitions: int
    """Number of runs at each point of the grid."""
    averaged: int = 1
    """Number of last iterates whose mean is the output of a run."""

    def points(self) -> list[tuple[float, float]]:
        """Return the step size and the clipping norm of each point of the grid."""
        return list(itertools.product(self.step_sizes, self.clipping_norms))


@dataclass(frozen=True)
class TunedModel:
    """Result of a grid search: the best step size and clipping norm, and the model trained with them."""

    model: Floats
    """(d): mean of the outputs of all repetitions at the point."""
    step_size: float
    clipping_norm: float
    training_loss: float
    """Mean over the repetitions."""


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
    """
    points = search.points()
    runs = np.repeat(np.array(points), search.repetitions, axis=0)
    stds = {clipping_norm: noise_stds(clipping_norm) for clipping_norm in search.clipping_norms}
    run = SiloRun(
        algorithm=search.algorithm,
        rounds=search.rounds,
        participants=search.participants,
        gradients=search.gradients,
        step_sizes=runs[:, 0],
        clipping_norms=runs[:, 1],
        noise_stds=np.stack([stds[clipping_norm] for clipping_norm in runs[:, 1]]),
        averaged=search.averaged,
    )
    models = train(silos, slope, run, generator)
    losses = training_losses(silos, models, value).reshape(len(points), search.repetitions).mean(axis=1)
    best = int(np.argmin(losses))
    outputs = models.reshape(len(points), search.repetitions, -1)[best]
    step_size, clipping_norm = points[best]
    return TunedModel(outputs.mean(axis=0), step_size, clipping_norm, float(losses[best]))


def training_losses(silos: SiloRecords, models: Floats, value: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return the mean training loss of each model over the records of all silos; inf where it is not finite.

    Args:
        silos: the records.
        models: B models, (B, d).
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
