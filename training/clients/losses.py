"""Built-in losses of predictions that are linear in the model, so that a gradient is slopes ⊗ features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class VectorLoss:
    """A loss ℓ(z, y) of a linear prediction z = Wx and a target y, convex in z.

    x are the features of a record, and the model W is a matrix of shape (outputs, p) for p features.

    Attributes:
        name: name of the loss.
        outputs: number of coordinates of a prediction z.
        slopes: gradient ∂ℓ/∂z, as a function of predictions of shape (…, outputs) and targets of shape (…). The result
            has the shape of the predictions.
        values: loss ℓ, as a function of the same arguments. The result has the shape of the targets.
        steepest: function of a number r > 0, which may be infinite. It returns an upper bound on ‖∂ℓ/∂z‖ for all
            predictions with ‖z‖ ≤ r and all targets.
        curvature: Lipschitz constant of ∂ℓ/∂z as a function of z.
        largest_target: largest absolute value of a target, to which targets are clipped; None if targets are labels.
    """

    name: str
    outputs: int
    slopes: Callable[[Floats, Floats], Floats]
    values: Callable[[Floats, Floats], Floats]
    steepest: Callable[[float], float]
    curvature: float
    largest_target: float | None = None

    def read_targets(self, targets: Floats) -> Floats:
        """Clip the targets, or check that they are labels of the loss.

        Args:
            targets: targets of all records, shape (n,), for n records.

        Returns:
            The targets, shape (n,). In targets that are clipped, NaN is replaced by 0.

        Raises:
            InvalidInput: a label is not valid for the loss.
        """
        if self.largest_target is not None:
            return np.clip(np.nan_to_num(targets), -self.largest_target, self.largest_target)

        # The labels of a loss with several outputs are the numbers of its classes.
        labels: tuple[float, ...] = (-1.0, 1.0)
        allowed = "-1 and 1"
        if self.outputs > 1:
            labels = tuple(map(float, range(self.outputs)))
            allowed = f"0 to {self.outputs - 1}"
        if not np.isin(targets, labels).all():
            raise InvalidInput.at("/clients", f"a label is none of {self.name}'s", allowed=allowed)
        return targets


def logistic() -> VectorLoss:
    """Return the logistic loss ln(1 + e^(−yz)) of a prediction z and a label y = ±1.

    Its derivative −y/(1 + e^(yz)) has an absolute value of at most 1, and its second derivative is at most ¼.

    Returns:
        The loss, with these bounds on its derivatives.
    """

    def slopes(predictions: Floats, labels: Floats) -> Floats:
        """Return −y/(1 + e^(yz)) for each prediction z and label y."""
        # 1/(1 + e^t) = ½ (1 − tanh(t/2)), which does not overflow.
        slope: Floats = -labels * 0.5 * (1.0 - np.tanh(0.5 * labels * predictions[..., 0]))
        return slope[..., None]

    def values(predictions: Floats, labels: Floats) -> Floats:
        """Return ln(1 + e^(−yz)) for each prediction z and label y."""
        return np.asarray(np.logaddexp(0.0, -labels * predictions[..., 0]))

    return VectorLoss(
        name="logistic",
        outputs=1,
        slopes=slopes,
        values=values,
        steepest=lambda _: 1.0,
        curvature=0.25,
    )


def softmax(classes: int) -> VectorLoss:
    """Return the cross-entropy −ln p_y of the softmax p, with labels y = 0, …, classes − 1.

    The model has one row of weights per class. With the unit vector e_y of the label, the gradient in the predictions
    is p − e_y, with a norm of at most √2. The Hessian diag(p) − ppᵀ has a norm of at most ½.

    Args:
        classes: number of classes, at least 2.

    Returns:
        The loss as a function of the predictions of all classes, with bounds on its gradient and Hessian.
    """

    def slopes(predictions: Floats, labels: Floats) -> Floats:
        """Return p − e_y: the probabilities of all classes, minus 1 for the class of the label."""
        # Subtracting the largest prediction prevents overflow, and does not change the probabilities.
        exponentials = np.exp(predictions - np.max(predictions, axis=-1, keepdims=True))
        probabilities = exponentials / np.sum(exponentials, axis=-1, keepdims=True)
        is_label = np.arange(classes) == labels[..., None]
        return np.asarray(probabilities - is_label)

    def values(predictions: Floats, labels: Floats) -> Floats:
        """Return −ln p_y, the logarithm of the sum of exponentials minus the prediction of the label's class."""
        shifted = predictions - np.max(predictions, axis=-1, keepdims=True)
        is_label = np.arange(classes) == labels[..., None]
        shifted_of_label = np.sum(shifted * is_label, axis=-1)
        log_sum = np.log(np.sum(np.exp(shifted), axis=-1))
        return np.asarray(log_sum - shifted_of_label)

    return VectorLoss(
        name="softmax",
        outputs=classes,
        slopes=slopes,
        values=values,
        steepest=lambda _: float(np.sqrt(2.0)),
        curvature=0.5,
    )


def least_squares(largest_target: float = 1.0) -> VectorLoss:
    """Return the squared loss ½(z − y)² of a prediction z and a target y.

    Its derivative z − y is not bounded, so that the loss is Lipschitz continuous only for bounded predictions.

    Args:
        largest_target: targets are clipped to [−largest_target, largest_target].

    Returns:
        The loss, with the bound |z| + largest_target on the absolute value of its derivative.
    """

    def values(predictions: Floats, targets: Floats) -> Floats:
        """Return ½(z − y)² for each prediction z and target y."""
        return np.asarray(0.5 * np.square(predictions[..., 0] - targets))

    return VectorLoss(
        name="least-squares",
        outputs=1,
        slopes=lambda predictions, targets: predictions - targets[..., None],
        values=values,
        steepest=lambda largest_prediction: largest_prediction + largest_target,
        curvature=1.0,
        largest_target=largest_target,
    )


def huber(threshold: float = 1.0, largest_target: float = 1.0) -> VectorLoss:
    """Return the Huber loss of a prediction z and a target y.

    It is ½r² for a residual r = |z − y| up to the threshold t, and t(r − ½t) for larger ones.

    Args:
        threshold: residual t beyond which the loss is linear.
        largest_target: targets are clipped to [−largest_target, largest_target].

    Returns:
        The loss. The absolute value of its derivative is at most the threshold.
    """

    def slopes(predictions: Floats, targets: Floats) -> Floats:
        """Return the residual z − y, clipped to the threshold."""
        return np.clip(predictions - targets[..., None], -threshold, threshold)

    def values(predictions: Floats, targets: Floats) -> Floats:
        """Return the Huber loss of the residual r = |z − y|."""
        residuals = np.abs(predictions[..., 0] - targets)
        # With c = min(r, t), both cases are c(r − ½c).
        capped = np.minimum(residuals, threshold)
        return np.asarray(capped * (residuals - 0.5 * capped))

    return VectorLoss(
        name="huber",
        outputs=1,
        slopes=slopes,
        values=values,
        steepest=lambda largest_prediction: min(largest_prediction + largest_target, threshold),
        curvature=1.0,
        largest_target=largest_target,
    )


LOSSES: dict[str, Callable[[], VectorLoss]] = {
    "logistic": logistic,
    "least-squares": least_squares,
    "huber": huber,
}
"""Losses that can be selected by name, because they need no argument."""
