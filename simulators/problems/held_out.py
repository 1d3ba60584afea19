"""Held-out records, and scores of predictions of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.problem import Floats

AT_ONCE = 1_000_000
"""Largest number of predictions in memory at one time."""


@dataclass(frozen=True)
class HeldOut:
    """Test records, and the function that scores a model's predictions of their targets.

    Attributes:
        features: features of T records, (T, d), for d features.
        targets: their targets, (T).
        measure: function of s models with D coordinates, (s, D), of the features and of the targets. It returns the
            scores by name, each with one number per model, (s).
        outputs: number of numbers that a model predicts for one record.
    """

    features: Floats
    targets: Floats
    measure: Callable[[Floats, Floats, Floats], Mapping[str, Floats]]
    outputs: int = 1

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Score each model by its predictions on the test records.

        The models are scored in chunks, which bounds the memory. A score does not depend on the other models.

        Args:
            models: at least one model as a vector, (…, D), for D coordinates.

        Returns:
            Scores by name, (…).
        """
        rows = models.reshape(-1, models.shape[-1])
        predictions_of_model = len(self.targets) * self.outputs
        size = max(1, AT_ONCE // predictions_of_model)
        chunks = [
            self.measure(rows[start : start + size], self.features, self.targets) for start in range(0, len(rows), size)
        ]
        scores = {}
        for name in chunks[0]:
            scores[name] = np.concatenate([chunk[name] for chunk in chunks]).reshape(models.shape[:-1])
        return scores


def by_sign(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
    """Return the error and the accuracy of linear models with a sign that predicts targets ±1.

    An output of 0 counts as half an error.

    Args:
        models: weights of s models, (s, d), for d features.
        features: features of T records, (T, d).
        targets: targets of the records, (T), each −1 or 1.

    Returns:
        `test_error` and `test_accuracy`, one number in [0, 1] for each model.
    """
    outputs = np.matmul(features, models[..., None])[..., 0]
    signs = np.sign(outputs * targets)  # 1 if right, −1 if wrong, 0 for an output of 0
    return _error_and_accuracy(0.5 * (1.0 + signs))


def by_largest(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
    """Return the error and the accuracy of models that predict the class of their largest output.

    Classes are 0, 1, …. Of several largest outputs, the first one counts.

    Args:
        models: rows of weights, one for each class, of s models, (s, classes · d), for d features.
        features: features of T records, (T, d).
        targets: class of each record, (T).

    Returns:
        `test_error` and `test_accuracy`, one number in [0, 1] for each model.
    """
    weights = models.reshape(len(models), -1, features.shape[1])
    outputs = np.matmul(features, weights.swapaxes(-1, -2))
    predicted = np.argmax(outputs, axis=-1)
    return _error_and_accuracy(np.where(predicted == targets, 1.0, 0.0))


def relative_error(training_mean: float) -> Callable[[Floats, Floats, Floats], Mapping[str, Floats]]:
    """Return a function that scores linear models by their root relative mean square error (RRMSE).

    The RRMSE is √(A/B). A is the sum of the squared errors of the model, and B that of a constant prediction. A value
    below 1 means that the model is better than the constant.

    Args:
        training_mean: mean target of the training records, which is the constant prediction.

    Returns:
        A function of models, features and targets, which returns the RRMSE under the name `test_rrmse`.
    """

    def measure(models: Floats, features: Floats, targets: Floats) -> Mapping[str, Floats]:
        """Return the RRMSE of each model on some records.

        Args:
            models: weights of s models, (s, d), for d features.
            features: features of the records, (T, d), for T records.
            targets: targets of the records, (T).

        Returns:
            The RRMSE of each model, (s), under the name `test_rrmse`. It has no unit.
        """
        predictions = np.matmul(features, models[..., None])[..., 0]  # (s, T)
        squared_errors = np.sum(np.square(predictions - targets), axis=-1)
        squared_deviations = np.sum(np.square(targets - training_mean))
        return {"test_rrmse": np.sqrt(squared_errors / squared_deviations)}

    return measure


def _error_and_accuracy(credit: Floats) -> Mapping[str, Floats]:
    """Return the error and the accuracy of each model from the credit of each of its predictions.

    Args:
        credit: 1 for a right prediction, 0 for a wrong one, and ½ for an undecided one, (models, predictions).

    Returns:
        `test_error` and `test_accuracy`, one number in [0, 1] for each model.
    """
    accuracy = np.mean(credit, axis=-1)
    return {"test_error": 1.0 - accuracy, "test_accuracy": accuracy}
