"""Local descent and the server's step of FedAvg and DP-NormFedAvg (Das et al. 2021, Algorithms 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats


def local_update(start: Floats, gradient: Callable[[Floats], Floats], *, steps: int, step_size: float) -> Floats:
    """Return a client's update: the server's model minus the model after E gradient steps on the client's data.

    Only this difference leaves the client, and neither its records nor its gradients.

    Args:
        start: the server's model w, (…, d), for d coordinates.
        gradient: returns the mean gradient of the client's records at a model.
        steps: number of steps E.
        step_size: step size η of the client.

    Returns:
        The update, in the shape of the model. The server subtracts it, scaled, from its model.
    """
    local = start
    for _ in range(steps):
        local = local - step_size * gradient(local)
    return start - local


def server_step(models: Floats, messages: Floats, step_size: float) -> Floats:
    """Return the server's next model: the present one minus the mean of the messages times the step size.

    Args:
        models: the server's present model, (…, d), for d coordinates.
        messages: messages of the r participants, (…, r, d), in units of the update.
        step_size: step size β of the server.

    Returns:
        The next model, shape (…, d).
    """
    moved: Floats = models - step_size * np.mean(messages, axis=-2)
    return moved
