"""PPSGD of Bietti et al., Algorithms 1 to 3: the server's step of the shared part, and the clients' of their own.

With messages of the clients that take part, W the total weight and q the participation rate:

    θ_i ← θ_i − η/(qW) message_i,    w ← w − αη((1/(qW)) Σ clip_C(message_i) + N(0, σ_ζ² I)).

What is put out after n rounds is the mean of the iterates before each of them, z_n − (1/n) Σ t Δ_t of the changes Δ_t:
clients that take no part in a round cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilond.training.arrays import Floats


class SharedPart:
    """The server: w, (…, d)."""

    def __init__(self, start: Floats, *, step_size: float, noise_std: float) -> None:
        """From `start`, with steps of αη and noise of σ_ζ on the mean."""
        self.model = start
        self._late = np.zeros_like(start)
        self._step_size = step_size
        self._noise_std = noise_std

    def receive(self, mean: Floats, normal: Floats, number: int) -> None:
        """Round `number`, from 1 on: (1/(qW)) Σ of clipped messages, and standard normal draws."""
        change = -self._step_size * (mean + self._noise_std * normal)
        self.model = self.model + change
        self._late = self._late + number * change

    def mean(self, rounds: int) -> Floats:
        """Of the iterates before each of that many rounds."""
        return self.model - self._late / rounds


class OwnParts:
    """The clients' own parts: θ, one row each, (…, p)."""

    def __init__(self, start: Floats, *, step_size: float) -> None:
        """From `start`, with steps of η/(qW)."""
        self.models = start
        self._late = np.zeros_like(start)
        self._step_size = step_size

    def move(self, at: Any, messages: Floats, number: int) -> None:
        """Round `number` of the rows `at`, with their gradients as they are: nobody else sees them."""
        change = (-self._step_size) * messages
        self.models[at] += change
        self._late[at] += number * change

    def means(self, rounds: int) -> Floats:
        """Of the iterates before each of that many rounds."""
        return self.models - self._late / rounds
