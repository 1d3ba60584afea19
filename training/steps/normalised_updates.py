"""Local descent and the server's step of FedAvg and DP-NormFedAvg (Das et al. 2021, Algorithms 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats


def local_update(start: Floats, gradient: Callable[[Floats], Floats], *, steps: int, step_size: float) -> Floats:
    """Return w − w_{k,E}, the change of the model by E steps of a client on its own full gradient.

    Args:
        start: w, the server's model.
        gradient: full gradient of the client.
        steps: number of steps E.
        step_size: η.
    """
    local = start
    for _ in range(steps):
        local = local - step_size * gradient(local)
    return start - local


def server_step(models: Floats, messages: Floats, step_size: float) -> Floats:
    """Return w − β · mean of the messages.

    Args:
        models: w, (…, d).
        messages: (…, r, d), in units of the update.
        step_size: β.
    """
    moved: Floats = models - step_size * np.mean(messages, axis=-2)
    return moved
