"""Losses of a linear prediction z = ⟨x, w⟩ of a target y, with bounds on their derivatives by z (slopes).

Records have features x of norm at most 1 and targets of size at most `largest_target`. Hence |z| is at most the radius
of the domain of w, and constants that hold for all such records follow from the slope at the largest |z|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from epsilond.simulators.problems.problem import Floats


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A loss ℓ(z, y) of a linear prediction z for the target y, with the properties that bounds need.

    It is convex and twice differentiable almost everywhere in z. Its functions take arrays that broadcast.

    Attributes:
        name: name of the loss in descriptions of problems.
        value: function (z, y) → ℓ(z, y).
        slope: function (z, y) → ∂ℓ/∂z.
        steepest: function (reach, y) → largest |∂ℓ/∂z| over predictions with |z| ≤ reach and targets ±y.
        curvature: Lipschitz constant of the slope.
        largest_target: bound on |y| over all possible records.
    """

    name: str
    value: Callable[[Floats, Floats], Floats]
    slope: Callable[[Floats, Floats], Floats]
    steepest: Callable[[Floats, Floats], Floats]
    curvature: float
    largest_target: float


def _linear_value(z: Floats, y: Floats) -> Floats:
    """Return the linear loss y − z for each pair of a prediction z and a target y."""
    return y - z


def _linear_slope(z: Floats, y: Floats) -> Floats:
    """Return the slope −1 for each pair of a prediction z and a target y."""
    return -np.ones(np.broadcast_shapes(z.shape, y.shape))


def _linear_steepest(reach: Floats, y: Floats) -> Floats:
    """Return the largest absolute slope of the linear loss, which is 1 everywhere."""
    return np.ones(np.broadcast_shapes(reach.shape, y.shape))


def _squared_value(z: Floats, y: Floats) -> Floats:
    """Return the squared loss ½(z − y)² for each pair of a prediction z and a target y."""
    return np.asarray(0.5 * np.square(z - y))


def _squared_slope(z: Floats, y: Floats) -> Floats:
    """Return the slope z − y of the squared loss, its derivative by the prediction z."""
    return z - y


def _squared_steepest(reach: Floats, y: Floats) -> Floats:
    """Return the largest |z − y| over predictions |z| ≤ `reach` and targets ±y, which is `reach` + |y|."""
    return reach + np.abs(y)


def _logistic_value(z: Floats, y: Floats) -> Floats:
    """Return the logistic loss ln(1 + e^(−yz)) for each pair of a prediction z and a label y = ±1."""
    return np.asarray(np.logaddexp(0.0, -y * z))


def _logistic_slope(z: Floats, y: Floats) -> Floats:
    """Return the slope −y/(1 + e^(yz)) of the logistic loss, its derivative by the prediction z."""
    return np.asarray(-y * expit(-y * z))


def _logistic_steepest(reach: Floats, y: Floats) -> Floats:
    """Return the largest |y|/(1 + e^(yz)) over predictions with |z| ≤ `reach`; it is attained where yz is least."""
    return np.asarray(np.abs(y) * expit(np.abs(y) * reach))


LINEAR = Loss(
    name="linear",
    value=_linear_value,
    slope=_linear_slope,
    steepest=_linear_steepest,
    curvature=0.0,
    largest_target=1.0,
)
"""y − z. With y = ‖x‖²/2, the sum of this loss and ½‖w‖² is ½‖w − x‖²."""

SQUARED = Loss(
    name="squared",
    value=_squared_value,
    slope=_squared_slope,
    steepest=_squared_steepest,
    curvature=1.0,
    largest_target=1.0,
)
"""½(z − y)²."""

LOGISTIC = Loss(
    name="logistic",
    value=_logistic_value,
    slope=_logistic_slope,
    steepest=_logistic_steepest,
    curvature=0.25,
    largest_target=1.0,
)
"""ln(1 + e^(−yz)) for y = ±1; its slope is at most 1/(1 + e^(−|z|)), its curvature at most ¼."""


def huber(threshold: float) -> Loss:
    """Return the Huber loss of the residual r = |z − y|, for a prediction z and a target y.

    Args:
        threshold: residual κ up to which the loss is ½r². Beyond it the loss is linear, κ(r − ½κ).

    Returns:
        The loss, with its slope and its constants.
    """

    def value(z: Floats, y: Floats) -> Floats:
        """Return ½r² for r ≤ κ, otherwise κ(r − ½κ), for each pair of a prediction and a target."""
        residual = np.abs(z - y)
        clipped = np.minimum(residual, threshold)
        return clipped * (residual - 0.5 * clipped)

    def slope(z: Floats, y: Floats) -> Floats:
        """Return z − y, clipped to [−κ, κ]."""
        return np.clip(z - y, -threshold, threshold)

    def steepest(reach: Floats, y: Floats) -> Floats:
        """Return the largest absolute slope over predictions |z| ≤ `reach`, which is at most κ."""
        return np.minimum(reach + np.abs(y), threshold)

    return Loss(name="huber", value=value, slope=slope, steepest=steepest, curvature=1.0, largest_target=1.0)
