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

    x are the features, and W is a model (outputs, p). `steepest` and `curvature` are constants of ℓ for features x of
    norm at most 1.
    """

    name: str
    outputs: int
    slopes: Callable[[Floats, Floats], Floats]
    """Gradient ∂ℓ/∂z from predictions and targets: (…, outputs), (…) → (…, outputs)."""
    values: Callable[[Floats, Floats], Floats]
    """Loss ℓ from predictions and targets: (…, outputs), (…) → (…)."""
    steepest: Callable[[float], float]
    """Upper bound on ‖∂ℓ/∂z‖ for all z with |z| at most the argument, which may be infinite."""
    curvature: float
    """Lipschitz constant of ∂ℓ/∂z as a function of z."""
    largest_target: float | None = None
    """Size to which targets are clipped; None if targets are labels."""

    def read_targets(self, targets: Floats) -> Floats:
        """Clip the targets, or check that they are labels of the loss.

        Args:
            targets: targets of all records, shape (n,).

        Returns:
            The targets, shape (n,). Clipped targets have NaN replaced by 0.

        Raises:
            InvalidInput: a label is not valid for the loss.
        """
        if self.largest_target is not None:
            return np.clip(np.nan_to_num(targets), -self.largest_target, self.largest_target)
        # A loss with one output has labels ±1, one with several outputs has the numbers of its classes.
        labels = (-1.0, 1.0) if self.outputs == 1 else tuple(map(float, range(self.outputs)))
        if not np.isin(targets, labels).all():
            allowed = "-1 and 1" if self.outputs == 1 else f"0 to {self.outputs - 1}"
            raise InvalidInput.at("/clients", f"a label is none of {self.name}'s", allowed=allowed)
        return targets


def logistic() -> VectorLoss:
    """Return the logistic loss ln(1 + e^(−yz)) with labels y = ±1.

    Its slope −y/(1 + e^(yz)) has size at most 1, and the slope of the slope is at most ¼.

    Returns:
        The loss as a function of a prediction z = ⟨w, x⟩, with bounds on its first and second derivative.
    """

    def slopes(z: Floats, y: Floats) -> Floats:
        # 1/(1 + e^t) = ½ (1 − tanh(t/2)), which does not overflow.
        slope: Floats = -y * 0.5 * (1.0 - np.tanh(0.5 * y * z[..., 0]))
        return slope[..., None]

    def values(z: Floats, y: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, -y * z[..., 0]))

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

    The model has one row of weights per class, one after another. Slopes p − e_y have norm at most √2, and the Hessian
    diag(p) − ppᵀ is at most ½.

    Args:
        classes: number of classes.

    Returns:
        The loss as a function of the predictions z of all classes, with bounds on its gradient and Hessian.
    """

    def slopes(z: Floats, y: Floats) -> Floats:
        # Subtracting the largest prediction changes no probability, and prevents overflow.
        shifted = np.exp(z - np.max(z, axis=-1, keepdims=True))
        shares = shifted / np.sum(shifted, axis=-1, keepdims=True)
        return np.asarray(shares - (np.arange(classes) == y[..., None]))

    def values(z: Floats, y: Floats) -> Floats:
        shifted = z - np.max(z, axis=-1, keepdims=True)
        own = np.sum(shifted * (np.arange(classes) == y[..., None]), axis=-1)
        return np.asarray(np.log(np.sum(np.exp(shifted), axis=-1)) - own)

    return VectorLoss(
        name="softmax",
        outputs=classes,
        slopes=slopes,
        values=values,
        steepest=lambda _: float(np.sqrt(2.0)),
        curvature=0.5,
    )


def least_squares(largest_target: float = 1.0) -> VectorLoss:
    """Return the squared loss ½(z − y)², which is Lipschitz only on a ball.

    Args:
        largest_target: targets are clipped to [−largest_target, largest_target].

    Returns:
        The loss as a function of a prediction z. Its slope is at most |z| + largest_target.
    """

    def values(z: Floats, y: Floats) -> Floats:
        return np.asarray(0.5 * np.square(z[..., 0] - y))

    return VectorLoss(
        name="least-squares",
        outputs=1,
        slopes=lambda z, y: z - y[..., None],
        values=values,
        steepest=lambda reach: reach + largest_target,
        curvature=1.0,
        largest_target=largest_target,
    )


def huber(threshold: float = 1.0, largest_target: float = 1.0) -> VectorLoss:
    """Return the Huber loss of r = |z − y|: ½r² for r ≤ t, and t(r − ½t) for larger r, with the threshold t.

    Args:
        threshold: residual t beyond which the loss is linear.
        largest_target: targets are clipped to [−largest_target, largest_target].

    Returns:
        The loss as a function of a prediction z. Its slope is at most the threshold.
    """

    def values(z: Floats, y: Floats) -> Floats:
        residual = np.abs(z[..., 0] - y)
        # With c = min(r, t), both cases are c(r − ½c).
        capped = np.minimum(residual, threshold)
        return np.asarray(capped * (residual - 0.5 * capped))

    return VectorLoss(
        name="huber",
        outputs=1,
        slopes=lambda z, y: np.clip(z - y[..., None], -threshold, threshold),
        values=values,
        steepest=lambda reach: min(reach + largest_target, threshold),
        curvature=1.0,
        largest_target=largest_target,
    )


LOSSES: dict[str, Callable[[], VectorLoss]] = {
    "logistic": logistic,
    "least-squares": least_squares,
    "huber": huber,
}
"""Losses that can be selected by name, because they need no argument."""
