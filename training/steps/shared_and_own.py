"""PPSGD, Algorithms 1 to 3 of Bietti et al.: the server's step of the shared part and the clients' steps of their own.

A model consists of a shared part w and a part θ_i of each client i. With messages of the participating clients, the
total weight W of all clients, the participation rate q and the step sizes η and αη:

    θ_i ← θ_i − η/(qW) message_i,    w ← w − αη((1/(qW)) Σ clip_C(message_i) + N(0, σ_ζ² I)).

The output after n rounds is the mean of the values before each of them. It equals the last value minus (1/n) Σ t Δ_t,
with the change Δ_t in round t. Clients that do not participate in a round need no computation for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilond.training.arrays import Floats


class SharedPart:
    """Shared part w of all clients' models, which the server updates with noise (PPSGD of Bietti et al.).

    PPSGD (personalised private SGD) trains w with noise, and a part of its own for each client.

    Attributes:
        model: the present value of w, (…, d), for d coordinates.
    """

    def __init__(self, start: Floats, *, step_size: float, noise_std: float) -> None:
        """Set the shared part to its value before the first round.

        Args:
            start: first value of w, (…, d), for d coordinates.
            step_size: step size αη of w, the personalisation α times the base step size η.
            noise_std: standard deviation σ_ζ of the noise in each coordinate of the mean.
        """
        self.model = start
        self._weighted_changes = np.zeros_like(start)
        """Σ t Δ_t over the changes Δ_t of the model in rounds t so far."""
        self._step_size = step_size
        self._noise_std = noise_std

    def receive(self, mean: Floats, normal: Floats, number: int) -> None:
        """Take the noisy step of one round: w ← w − αη(mean + σ_ζ · normal).

        Here αη is the step size, and σ_ζ the standard deviation of the noise in each coordinate.

        Args:
            mean: sum of the clipped messages over qW, for the participation rate q and the total weight W, (…, d), for
                d coordinates.
            normal: standard normal variables, (…, d).
            number: number of the round, from 1 on.
        """
        change = -self._step_size * (mean + self._noise_std * normal)
        self.model = self.model + change
        self._weighted_changes = self._weighted_changes + number * change

    def mean(self, rounds: int) -> Floats:
        """Return the mean of w before each of the n rounds so far.

        Let Δ_s be the change of w in round s, and w_n the value after the last round. Before round t, w was
        w_n − (Δ_t + … + Δ_n). The mean over all t is therefore w_n − (1/n)(1 · Δ_1 + … + n · Δ_n).

        Args:
            rounds: number n of rounds.

        Returns:
            The mean, (…, d), for d coordinates.
        """
        return self.model - self._weighted_changes / rounds


class OwnParts:
    """Own parts θ_i of the clients' models, which each client i keeps and updates itself.

    In PPSGD of Bietti et al. a model consists of a shared part and an own part. The own parts get no noise, because
    they never leave the client.

    Attributes:
        models: the present θ_i, one row for each client, (…, p), for p own coordinates.
    """

    def __init__(self, start: Floats, *, step_size: float) -> None:
        """Set the own parts to their values before the first round.

        Args:
            start: first values of the θ_i, one row for each client, (…, p), for p own coordinates; overwritten later.
            step_size: η/(qW), with base step size η, participation rate q and total weight W of the clients.
        """
        self.models = start
        self._weighted_changes = np.zeros_like(start)
        """Σ t Δ_t over the rounds t so far, with the change Δ_t of a client's part, 0 if it does not participate."""
        self._step_size = step_size

    def move(self, rows: Any, messages: Floats, number: int) -> None:
        """Take the gradient step of one round in the own parts of the participating clients, without noise.

        Args:
            rows: index of the participating clients in the rows of `models`.
            messages: their gradients without clipping; they stay with the clients.
            number: number of the round, from 1 on.
        """
        change = (-self._step_size) * messages
        self.models[rows] += change
        self._weighted_changes[rows] += number * change

    def means(self, rounds: int) -> Floats:
        """Return the mean of each client's own part θ_i over its values before each of the n rounds so far.

        Let Δ_s be the change of θ_i in round s. The mean is the present θ_i minus (1/n)(1 · Δ_1 + … + n · Δ_n).

        Args:
            rounds: number n of rounds.

        Returns:
            The means, one row for each client, (…, p), for p own coordinates.
        """
        return self.models - self._weighted_changes / rounds
