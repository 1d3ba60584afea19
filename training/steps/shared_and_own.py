"""PPSGD, Algorithms 1 to 3 of Bietti et al.: the server's step of the shared part and the clients' steps of their own.

With messages of the participating clients, total weight W and participation rate q:

    θ_i ← θ_i − η/(qW) message_i,    w ← w − αη((1/(qW)) Σ clip_C(message_i) + N(0, σ_ζ² I)).

The output after n rounds is the mean of the iterates before each of them. It equals z_n − (1/n) Σ t Δ_t with the
changes Δ_t, so that clients that do not participate in a round cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilond.training.arrays import Floats


class SharedPart:
    """The server's shared part w, (…, d)."""

    def __init__(self, start: Floats, *, step_size: float, noise_std: float) -> None:
        """Start at `start`, with step size αη and noise of σ_ζ on the mean."""
        self.model = start
        self._late = np.zeros_like(start)
        self._step_size = step_size
        self._noise_std = noise_std

    def receive(self, mean: Floats, normal: Floats, number: int) -> None:
        """Take the noisy step of one round: w ← w − αη(mean + σ_ζ · normal).

        Args:
            mean: sum of the clipped messages over qW, for the participation rate q and the total weight W, (…, d).
            normal: standard normal variables, (…, d).
            number: number of the round, from 1 on.
        """
        change = -self._step_size * (mean + self._noise_std * normal)
        self.model = self.model + change
        self._late = self._late + number * change

    def mean(self, rounds: int) -> Floats:
        """Return the mean of the iterates before each of that many rounds."""
        return self.model - self._late / rounds


class OwnParts:
    """The clients' own parts θ, one row each, (…, p)."""

    def __init__(self, start: Floats, *, step_size: float) -> None:
        """Start at `start`, with step size η/(qW)."""
        self.models = start
        self._late = np.zeros_like(start)
        self._step_size = step_size

    def move(self, at: Any, messages: Floats, number: int) -> None:
        """Apply one round to the participating clients.

        Args:
            at: index of the participating rows.
            messages: their gradients without clipping; they stay with the clients.
            number: number of the round, from 1 on.
        """
        change = (-self._step_size) * messages
        self.models[at] += change
        self._late[at] += number * change

    def means(self, rounds: int) -> Floats:
        """Return the mean of the iterates before each of that many rounds."""
        return self.models - self._late / rounds
