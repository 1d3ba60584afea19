"""Losses of a linear prediction z = ⟨x, w⟩ against a target y, and what is known of their slopes.

Records have features of norm at most 1 and targets of size at most `largest_target`, so constants over all such
records follow from the slope at the largest |z|.
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
    """Most that |∂ℓ/∂z| is where |z| is at most the first and |y| is the second argument."""
    curvature: float
    """Lipschitz constant of the slope."""
    largest_target: float
    """Bound on |y| over all possible records."""


LINEAR = Loss(
    name="linear",
    value=lambda z, y: y - z,
    slope=lambda z, y: -np.ones(np.broadcast_shapes(z.shape, y.shape)),
    steepest=lambda reach, y: np.ones(np.broadcast_shapes(reach.shape, y.shape)),
    curvature=0.0,
    largest_target=1.0,
)
"""y − z. With y = ‖x‖²/2 and ½‖w‖² beside it this is ½‖w − x‖²."""

SQUARED = Loss(
    name="squared",
    value=lambda z, y: 0.5 * np.square(z - y),
    slope=lambda z, y: z - y,
    steepest=lambda reach, y: reach + np.abs(y),
    curvature=1.0,
    largest_target=1.0,
)
"""½(z − y)²."""

LOGISTIC = Loss(
    name="logistic",
    value=lambda z, y: np.logaddexp(0.0, -y * z),
    slope=lambda z, y: -y * expit(-y * z),
    steepest=lambda reach, y: np.abs(y) * expit(np.abs(y) * reach),
    curvature=0.25,
    largest_target=1.0,
)
"""ln(1 + e^(−yz)) for y = ±1; its slope is at most 1/(1 + e^(−|z|)), its curvature at most ¼."""


def huber(threshold: float) -> Loss:
    """½(z − y)² as far as |z − y| ≤ threshold, and linear beyond."""

    def value(z: Floats, y: Floats) -> Floats:
        residual = np.abs(z - y)
        near = np.minimum(residual, threshold)
        return near * (residual - 0.5 * near)

    return Loss(
        name="huber",
        value=value,
        slope=lambda z, y: np.clip(z - y, -threshold, threshold),
        steepest=lambda reach, y: np.minimum(reach + np.abs(y), threshold),
        curvature=1.0,
        largest_target=1.0,
    )
