"""Projected SGD that releases one model (Asoodeh et al. 2021): batches, the step, and the choice of that model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats, Indices


def whole_batches(order: Indices, size: int) -> Indices:
    """Split permutations of the n clients into batches of m clients.

    The last n mod m clients of a permutation are in no batch.

    Args:
        order: permutations of the clients, (…, n).
        size: number m of clients in a batch.

    Returns:
        The batches, (…, ⌊n/m⌋, m).
    """
    batches = order.shape[-1] // size
    used = order[..., : batches * size]
    return used.reshape(*order.shape[:-1], batches, size)


def projected_step(models: Floats, direction: Floats, step_size: float, project: Callable[[Floats], Floats]) -> Floats:
    """Return the next model of projected gradient descent: Π(w − η · direction).

    Args:
        models: the present model w, (…, d), for d coordinates.
        direction: mean of the messages, (…, d).
        step_size: step size η of this step.
        project: projection Π onto the domain.

    Returns:
        The next model in the domain, shape (…, d).
    """
    return project(models - step_size * direction)


def stopping_step(first: Indices, last: Indices, uniform: Floats) -> Indices:
    """Choose the step with the model that is released, uniformly from first, …, last.

    Args:
        first: number of the first step with a model that may be released.
        last: number of the last step.
        uniform: uniform variables in [0, 1), one for each result.

    Returns:
        The numbers of the chosen steps, in the shape of `uniform`.
    """
    choices = last - first + 1
    offsets = np.floor(uniform * choices).astype(np.int64)
    # Rounding may give last + 1, which the minimum prevents.
    stops: Indices = np.minimum(first + offsets, last)
    return stops
