"""Projection onto a ball, the domain of all algorithms."""

from __future__ import annotations

import numpy as np

from epsilond.training.arrays import Floats


def on_ball(models: Floats, radius: float) -> Floats:
    """Project models onto the ball of a radius around 0.

    A model outside the ball is scaled down to the radius, and a model inside is unchanged.

    Args:
        models: one model in each row of the last axis, (…, d), for d coordinates.
        radius: radius of the ball.

    Returns:
        The nearest models in the ball, (…, d).
    """
    norms = np.sqrt(np.sum(np.square(models), axis=-1, keepdims=True))
    # The lower limit of the norms avoids a division by 0. A model of norm 0 is unchanged.
    factors = np.minimum(1.0, radius / np.maximum(norms, 1e-300))
    nearest: Floats = models * factors
    return nearest
