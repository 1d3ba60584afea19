"""Records that no client trains on, and how well a model predicts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats

AT_ONCE = 1_000_000
"""Predictions held at one time."""


@dataclass(frozen=True)
class HeldOut:
    """Test records: features (T, d) and targets (T), and what is said of predictions of them.

    `measure(models (s, D), features, targets)` gives each score by its name, (s).
    """

    features: Floats
    targets: Floats
    measure: Callable[[Floats, Floats, Floats], Mapping[str, Floats]]
    outputs: int = 1
    """Numbers that a model predicts of one record."""

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Each score of each model: (…, D) → (…). No score depends on which models stand beside."""
        rows = models.reshape(-1, models.shape[-1])
        step = max(1, AT_ONCE // (len(self.targets) * self.outputs))
        parts = [
            self.measure(rows[start : start + step], self.features, self.targets) for start in range(0, len(rows), step)
        ]
        return {name: np.concatenate([part[name] for part in parts]).reshape(models.shape[:-1]) for name in parts[0]}


def by_sign(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
    """Share of targets ±1 whose sign a linear prediction misses, 0 counting as half a miss; and the rest."""
    signs = np.sign(np.matmul(features, models[..., None])[..., 0] * targets)
    return _shares(0.5 * (1.0 + signs))


def by_largest(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
    """Share of targets 0, 1, … that are not the largest of a model's outputs; and the rest.

    Models are rows of `features.shape[1]` weights, one row for each class; of equal outputs the first counts.
    """
    weights = models.reshape(len(models), -1, features.shape[1])
    predicted = np.argmax(np.matmul(features, weights.swapaxes(-1, -2)), axis=-1)
    return _shares(np.where(predicted == targets, 1.0, 0.0))


def relative_error(training_mean: float) -> Callable[[Floats, Floats, Floats], Mapping[str, Floats]]:
    """RRMSE of linear predictions: root of their summed squared errors over those of the training targets' mean."""

    def measure(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
        missed = np.sum(np.square(np.matmul(features, models[..., None])[..., 0] - targets), axis=-1)
        return {"test_rrmse": np.sqrt(missed / np.sum(np.square(targets - training_mean)))}

    return measure


def _shares(right: Floats) -> Mapping[str, Floats]:
    accuracy = np.mean(right, axis=-1)
    return {"test_error": 1.0 - accuracy, "test_accuracy": accuracy}
