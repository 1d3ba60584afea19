"""Losses of a linear prediction z = ⟨x, w⟩ against a target y, with bounds on their slopes.

Records have features of norm at most 1 and targets of size at most `largest_target`. Constants over all such records
therefore follow from the slope at the largest |z|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from epsilond.simulators.problems.problem import Floats


@dataclass(frozen=True, kw_only=True)
class Loss:
    """ℓ(z, y), convex and twice differentiable almost everywhere in z; arrays broadcast."""

    name: str
    value: Callable[[Floats, Floats], Floats]
    slope: Callable[[Floats, Floats], Floats]
    """∂ℓ/∂z."""
    steepest: Callable[[Floats, Floats], Floats]
    """Largest |∂ℓ/∂z| if |z| is at most the first and |y| is the second argument."""
    curvature: float
    """Lipschitz constant of the slope."""
    largest_target: float
    """Bound on |y| over all possible records."""


def _linear_value(z: Floats, y: Floats) -> Floats:
    return y - z


def _linear_slope(z: Floats, y: Floats) -> Floats:
    return -np.ones(np.broadcast_shapes(z.shape, y.shape))


def _linear_steepest(reach: Floats, y: Floats) -> Floats:
    return np.ones(np.broadcast_shapes(reach.shape, y.shape))


def _squared_value(z: Floats, y: Floats) -> Floats:
    return np.asarray(0.5 * np.square(z - y))


def _squared_slope(z: Floats, y: Floats) -> Floats:
    return z - y


def _squared_steepest(reach: Floats, y: Floats) -> Floats:
    return reach + np.abs(y)


def _logistic_value(z: Floats, y: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, -y * z))


def _logistic_slope(z: Floats, y: Floats) -> Floats:
    return np.asarray(-y * expit(-y * z))


def _logistic_steepest(reach: Floats, y: Floats) -> Floats:
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
    """Return the Huber loss of the residual r = |z − y|: ½r² for r ≤ κ, and κ(r − ½κ) beyond the threshold κ."""

    def value(z: Floats, y: Floats) -> Floats:
        residual = np.abs(z - y)
        clipped = np.minimum(residual, threshold)
        return clipped * (residual - 0.5 * clipped)

    return Loss(
        name="huber",
        value=value,
        slope=lambda z, y: np.clip(z - y, -threshold, threshold),
        steepest=lambda reach, y: np.minimum(reach + np.abs(y), threshold),
        curvature=1.0,
        largest_target=1.0,
    )
