"""Mini-batch SGD and local SGD over silos, for many step sizes and clipping norms at once.

In each round M of the N silos take part. In mini-batch SGD (Algorithm 1 of Lowy and Razaviyayn) each of them draws K of
its records with replacement and sends their mean gradient with Gaussian noise. The server makes one step along the mean
of the reports. In local SGD each silo makes K steps, each on one of its records and with noise of its own, and the
server takes the mean of the silos' models. In both, gradients of single records are clipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.silos.silos import SiloRecords

Integers = npt.NDArray[np.int64]
Slope = Callable[[Floats, Floats], Floats]
"""Function (predictions ⟨x, w⟩, targets y) → derivative of the loss by the prediction."""


@dataclass(frozen=True, kw_only=True)
class SiloRun:
    """Settings of B runs of one algorithm that are trained together.

    The runs may differ in their step size, clipping norm and noise, and share all other settings.

    Attributes:
        algorithm: mini-batch SGD or local SGD.
        rounds: number of rounds.
        participants: number M of silos in a round.
        gradients: number K of gradients of a silo in a round: of one batch, or of K local steps.
        step_sizes: step size of each run, (B).
        clipping_norms: bound on the norm of one record's gradient in each run, (B); inf for no clipping.
        noise_stds: standard deviation of each coordinate of the noise in a report or a local step, for each run and
            silo, (B, N), for N silos.
        averaged: number of the last models that are averaged for the output.
    """

    algorithm: Literal["mini-batch", "local"]
    rounds: int
    participants: int
    gradients: int
    step_sizes: Floats
    clipping_norms: Floats
    noise_stds: Floats
    averaged: int = 1


def train(silos: SiloRecords, slope: Slope, run: SiloRun, generator: np.random.Generator) -> Floats:
    """Train a linear model in several runs, and return the output of each run.

    Runs start at the model 0. Each run draws its own participants, batches and noise.

    Args:
        silos: the records.
        slope: derivative of the loss by a linear prediction.
        run: settings of the B runs.
        generator: source of all randomness.

    Returns:
        The mean of the models after the last `run.averaged` rounds, (B, d), for d coordinates. It is not finite for a
        run that has diverged.
    """
    runs = len(run.step_sizes)
    models = np.zeros((runs, silos.dimension))
    total = np.zeros_like(models)
    training: _LocalSteps | _MiniBatches = _MiniBatches(silos)
    if run.algorithm == "local":
        training = _LocalSteps(silos, run)
    with np.errstate(over="ignore", invalid="ignore"):
        for index in range(run.rounds):
            # The participants have the smallest of independent random numbers.
            order = np.argsort(generator.random((runs, len(silos.sizes))), axis=1)
            chosen = order[:, : run.participants]
            models = training.next_models(models, chosen, slope, run, generator)
            if index >= run.rounds - run.averaged:
                total += models
    return total / min(run.averaged, run.rounds)


class _MiniBatches:
    """Rounds of mini-batch SGD on the data of all silos, for B runs at once.

    Args:
        silos: training records of each silo.
    """

    def __init__(self, silos: SiloRecords) -> None:
        self._silos = silos
        self._norms = [np.linalg.norm(features, axis=1)[:, None] for features in silos.features]

    def next_models(
        self, models: Floats, chosen: Integers, slope: Slope, run: SiloRun, generator: np.random.Generator
    ) -> Floats:
        """Run one round of mini-batch SGD, and return the models after it.

        A record's gradient is its slope (the derivative of the loss by the prediction) times its features. It is
        clipped by limiting the slope to the clipping norm divided by the norm of the features.

        Args:
            models: models of B runs before the round, (B, d), for d coordinates.
            chosen: M silos of the round in each run, (B, M).
            slope: derivative of the loss by the prediction.
            run: settings of the runs.
            generator: source of batches and noise.

        Returns:
            Models, (B, d).
        """
        reports = np.zeros_like(models)
        for silo, (features, targets) in enumerate(zip(self._silos.features, self._silos.targets, strict=True)):
            # The runs in which this silo takes part.
            rows = np.flatnonzero(np.any(chosen == silo, axis=1))
            if rows.size == 0:
                continue
            slopes = slope(features @ models[rows].T, targets[:, None])
            positive_norms = np.maximum(self._norms[silo], np.finfo(float).tiny)
            limits = run.clipping_norms[rows] / positive_norms  # (records, rows)
            counts = count_draws(generator, rows.size, run.gradients, len(targets))
            # The number of draws of each record makes the mean gradient of the batch a product of two matrices.
            weights = np.clip(slopes, -limits, limits) * counts.T / run.gradients
            noise = generator.standard_normal((rows.size, models.shape[1])) * run.noise_stds[rows, silo, None]
            reports[rows] += weights.T @ features + noise
        return models - run.step_sizes[:, None] * reports / run.participants


def count_draws(generator: np.random.Generator, runs: int, draws: int, records: int) -> Integers:
    """Draw batches of records with replacement, and return how often each batch has each record.

    Args:
        generator: source of randomness.
        runs: number of independent batches.
        draws: number of draws of each batch.
        records: number of records.

    Returns:
        Counts, (runs, records).
    """
    drawn = generator.integers(records, size=(runs, draws))
    # Record r of batch b has the number b · records + r, so that one count serves all batches.
    numbers = drawn + records * np.arange(runs)[:, None]
    counts = np.bincount(numbers.ravel(), minlength=runs * records)
    return counts.reshape(runs, records)


class _LocalSteps:
    """Computes rounds of local SGD on the data of all silos, for B runs at once.

    Silos are padded to equal numbers of records, so that all runs and silos step at once. No padding is ever drawn.

    Args:
        silos: training records of each silo.
        run: settings of the runs, which say whether gradients are clipped.
    """

    def __init__(self, silos: SiloRecords, run: SiloRun) -> None:
        """Copy the records of all silos to arrays with equal numbers of records, padded with zeros.

        Args:
            silos: training records of N silos.
            run: settings of the runs, with their clipping norms.
        """
        size = max(silos.sizes)
        self._features = np.zeros((len(silos.sizes), size, silos.dimension), dtype=np.float64)
        self._targets = np.zeros((len(silos.sizes), size), dtype=np.float64)
        for silo, (features, targets) in enumerate(zip(silos.features, silos.targets, strict=True)):
            self._features[silo, : len(targets)] = features
            self._targets[silo, : len(targets)] = targets
        norms = np.linalg.norm(self._features, axis=2)
        self._norms = np.maximum(norms, np.finfo(float).tiny)
        self._sizes = np.array(silos.sizes)
        self._clips = bool(np.any(np.isfinite(run.clipping_norms)))

    def next_models(
        self, models: Floats, chosen: Integers, slope: Slope, run: SiloRun, generator: np.random.Generator
    ) -> Floats:
        """Run one round of local SGD, and return the models after it.

        A new model is the mean of the silos' models after K local steps of each silo.

        Args:
            models: models of B runs before the round, (B, d), for d coordinates.
            chosen: M silos of the round in each run, (B, M).
            slope: derivative of the loss by the prediction.
            run: settings of the runs.
            generator: source of records and noise.

        Returns:
            Models, (B, d).
        """
        local = np.repeat(models[:, None, :], chosen.shape[1], axis=1)
        noise_stds = np.take_along_axis(run.noise_stds, chosen, axis=1)[..., None]
        has_noise = bool(np.any(noise_stds > 0.0))
        for _ in range(run.gradients):
            # One uniform record of each chosen silo.
            records = (generator.random(chosen.shape) * self._sizes[chosen]).astype(np.int64)
            features = self._features[chosen, records]
            predictions = np.einsum("bmd,bmd->bm", features, local)
            slopes = slope(predictions, self._targets[chosen, records])
            # The gradient is slope times features, so clipping limits the slope.
            if self._clips:
                limits = run.clipping_norms[:, None] / self._norms[chosen, records]
                slopes = np.clip(slopes, -limits, limits)
            steps = slopes[..., None] * features
            if has_noise:
                steps += generator.standard_normal(steps.shape) * noise_stds
            local -= run.step_sizes[:, None, None] * steps
        mean: Floats = np.mean(local, axis=1)
        return mean
