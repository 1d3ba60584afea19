"""Projection onto a ball, the domain of all algorithms."""

from __future__ import annotations

import numpy as np

from epsilond.training.arrays import Floats


def on_ball(models: Floats, radius: float) -> Floats:
    """Project models, rows of the last axis, onto the ball of this radius around 0."""
    norms = np.sqrt(np.sum(np.square(models), axis=-1, keepdims=True))
    nearest: Floats = models * np.minimum(1.0, radius / np.maximum(norms, 1e-300))  # no division by 0
    return nearest
