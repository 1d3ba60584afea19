"""Mean loss of softmax regression, its gradient, and the errors of predicted probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from epsilond.simulators.problems.finite_problem import AT_ONCE
from epsilond.simulators.problems.problem import Floats


@dataclass(frozen=True)
class MeanSoftmax:
    """Objective F of softmax regression and its gradient.

    F is the weighted mean loss of distinct records plus the ridge term ½μ‖w‖². Records that several clients share are
    stored once.

    Attributes:
        features: features of n records, (n, number of features).
        targets: classes of the records, from 0, (n).
        weights: weight of each record's loss in F, (n).
        classes: number C of classes.
        strong_convexity: weight μ of the ridge term.
    """

    features: Floats
    targets: Floats
    weights: Floats
    classes: int
    strong_convexity: float

    def values(self, models: Floats) -> Floats:
        """Return the objective (weighted mean cross-entropy plus ridge term) at each model of an array.

        Models are evaluated in chunks, which bounds the memory. A value does not depend on the other models in the
        array, not even by rounding.

        Args:
            models: models as flat vectors, (…, d), for d coordinates; each is a matrix with one row of weights per
                class.

        Returns:
            Values, (…).
        """
        rows = models.reshape(-1, models.shape[-1])
        means = np.empty(len(rows))
        classes = self.targets.astype(np.int64)[None, :, None]

        chunk = max(1, AT_ONCE // (len(self.targets) * self.classes))
        for start in range(0, len(rows), chunk):
            matrices = rows_of(rows[start : start + chunk], self.classes)
            outputs = np.matmul(self.features, matrices.swapaxes(-1, -2))
            output_of_class = np.take_along_axis(outputs, classes, axis=-1)[..., 0]
            # The cross-entropy of outputs z for class c is log Σ_k e^(z_k) − z_c.
            losses = logsumexp(outputs, axis=-1) - output_of_class
            means[start : start + chunk] = np.matmul(losses[..., None, :], self.weights[:, None])[..., 0, 0]

        ridge: Floats = 0.5 * self.strong_convexity * np.sum(np.square(models), axis=-1)
        return means.reshape(models.shape[:-1]) + ridge

    def value(self, model: Floats) -> float:
        """Return the objective F at one model, a flat vector."""
        return float(self.values(model))

    def gradient(self, model: Floats) -> Floats:
        """Return the gradient of the objective F at one model w.

        Args:
            model: the model w as a flat vector, (d), for d coordinates.

        Returns:
            The gradient ∇F(w), (d).
        """
        outputs = self.features @ rows_of(model, self.classes).T
        weighted_errors = errors_of(outputs, self.targets) * self.weights[:, None]
        gradient_of_loss = (weighted_errors.T @ self.features).reshape(-1)
        return np.asarray(gradient_of_loss + self.strong_convexity * model)


def steepest(reach: Floats, classes: int) -> Floats:
    """Return an upper bound on the norm of the loss's gradient in the outputs Wx of a softmax model.

    The gradient is p − e_y for the softmax p of the outputs and the indicator e_y of the record's class y. By
    ‖p − e_y‖² ≤ 2(1 − p_y)², it suffices to bound p_y from below. Any two outputs differ by at most √2‖W‖‖x‖ ≤ √2t.
    Hence, for C classes:

        ‖p − e_y‖ ≤ √2/(1 + e^(−√2t)/(C − 1)).

    Args:
        reach: bound t on ‖W‖‖x‖, the product of the norms of a model and of the features.
        classes: number of classes C, at least 2.

    Returns:
        The bound on ‖p − e_y‖ for each t, in the shape of `reach`.
    """
    least_ratio = np.exp(-math.sqrt(2.0) * reach)  # of one class's probability to another's
    bound: Floats = math.sqrt(2.0) / (1.0 + least_ratio / (classes - 1.0))
    return bound


def rows_of(models: Floats, classes: int) -> Floats:
    """Return models as matrices with one row of weights for each class.

    Args:
        models: models as flat vectors, (…, d), for d coordinates.
        classes: number of classes.

    Returns:
        The matrices, (…, classes, features).
    """
    return models.reshape(*models.shape[:-1], classes, -1)


def errors_of(outputs: Floats, targets: Floats) -> Floats:
    """Return the errors of a softmax model's predicted probabilities, which are the loss's gradient in the outputs.

    The error of a record is p − e_y, where p is the softmax of its outputs and e_y the indicator of its class.

    Args:
        outputs: an output for each of C classes, (…, C).
        targets: classes y, (…).

    Returns:
        The differences p − e_y, (…, C).
    """
    shifted_outputs = outputs - np.max(outputs, axis=-1, keepdims=True)  # avoids an overflow
    exponentials = np.exp(shifted_outputs)
    probabilities = exponentials / np.sum(exponentials, axis=-1, keepdims=True)
    indicators = targets[..., None] == np.arange(outputs.shape[-1])
    errors: Floats = probabilities - indicators
    return errors
