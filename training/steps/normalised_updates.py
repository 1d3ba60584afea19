"""NormFedAvg of Das et al., Algorithm 1: local descent, and the server's step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats


def local_update(start: Floats, gradient: Callable[[Floats], Floats], *, steps: int, step_size: float) -> Floats:
    """w − w_{k,E}: what E steps of a client on its own full gradient change."""
    local = start
    for _ in range(steps):
        local = local - step_size * gradient(local)
    return start - local


def server_step(models: Floats, messages: Floats, step_size: float) -> Floats:
    """w − β · mean of the messages: (…, d), (…, r, d), messages in units of the update."""
    moved: Floats = models - step_size * np.mean(messages, axis=-2)
    return moved
