"""Projected SGD of which one model is released (Asoodeh et al.): batches, the step, and where the run stops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats, Indices


def whole_batches(order: Indices, size: int) -> Indices:
    """An order of the clients cut into batches: (…, n) → (…, ⌊n/m⌋, m); the clients left over never take part."""
    period = order.shape[-1] // size
    return order[..., : period * size].reshape(*order.shape[:-1], period, size)


def projected_step(models: Floats, direction: Floats, step_size: float, project: Callable[[Floats], Floats]) -> Floats:
    """Π(w − η · direction): (…, d)."""
    return project(models - step_size * direction)


def stopping_step(first: Indices, last: Indices, uniform: Floats) -> Indices:
    """τ, uniform on first, …, last, from a uniform number in [0, 1)."""
    stops: Indices = np.minimum(first + np.floor(uniform * (last - first + 1)).astype(np.int64), last)
    return stops
