"""DP-μ²-FL of Reshef and Levy: weighted differences, noise that is taken back, and the server's two sequences.

In round t the server has q ← q + (1/m) Σ s, w ← Π(w − ηq), and moves 2/(t + 2) of the way from x to w; x is put out.
A client's N-th report carries noise of variance base² N and takes back what it added before (Algorithm 1); a trusted
server adds noise of variance base² to q in every round, and takes it back (Algorithm 2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Bools, Floats, Indices


def weighted_difference(now: Floats, before: Floats, number: int) -> Floats:
    """s = t∇f(x_t) − (t − 1)∇f(x_{t−1}), both of the same record; t = `number`."""
    return number * now - (number - 1) * before


class CancellingServer:
    """x and w, started at the same models, and q: (…, d)."""

    def __init__(self, start: Floats, *, step_size: float, project: Callable[[Floats], Floats]) -> None:
        self.model = self.before = self.moved = start
        self.sum = np.zeros_like(start)
        self._step_size = step_size
        self._project = project

    def receive(self, increment: Floats, number: int) -> None:
        """Round `number`, from 1 on: (1/m) Σ of the reports, noise in them."""
        self.sum += increment
        self.moved = self._project(self.moved - self._step_size * self.sum)
        share = 2.0 / (number + 2.0)
        self.before, self.model = self.model, (1.0 - share) * self.model + share * self.moved


class ClientNoise:
    """What each client added last, Y, and how often it has reported: (S, N, d) and (S, N) of S runs."""

    def __init__(self, runs: int, clients: int, dimension: int) -> None:
        self.held = np.zeros((runs, clients, dimension))
        self._reports = np.zeros((runs, clients))
        self._rows = np.arange(runs)[:, None]

    def replace_noise(self, clients: Indices, present: Bools, base: float, normal: Floats) -> Floats:
        """New noise less the old of those who report: (S, m), (S, m), normal (S, m, d) → (S, m, d), 0 if absent."""
        held = self.held[self._rows, clients]
        counts = self._reports[self._rows, clients] + present
        made = np.where(present[..., None], base * np.sqrt(counts)[..., None] * normal, held)
        self.held[self._rows, clients] = made
        self._reports[self._rows, clients] = counts
        return made - held


class GapDifferences:
    """Alternative 1: each client's sum of differences since its last report, and what it keeps: (S, N, d) of S runs.

    With τ the client's last round (0 for none) it sends s = t∇f(x_t) − τ∇f(x_τ), both of the same record, so that its
    own sum stands for t∇f(x_t). The server takes the mean of the sums of those who report.
    """

    def __init__(self, runs: int, clients: int, dimension: int) -> None:
        self._sums = np.zeros((runs, clients, dimension))
        self._models = np.zeros((runs, clients, dimension))
        self._rounds = np.zeros((runs, clients))
        self._rows = np.arange(runs)[:, None]

    def last_reports(self, clients: Indices) -> tuple[Floats, Floats]:
        """x_τ and τ of these clients: (S, m) → (S, m, d), (S, m)."""
        return self._models[self._rows, clients], self._rounds[self._rows, clients]

    def receive(self, clients: Indices, present: Bools, reports: Floats, models: Floats, number: int) -> Floats:
        """The mean of the sums of those present after their reports of round `number`: (S, m, d) → (S, d).

        A client that is absent keeps what it has. Where nobody is present the mean is 0.
        """
        shown = present[..., None]
        sums = self._sums[self._rows, clients] + np.where(shown, reports, 0.0)
        self._sums[self._rows, clients] = sums
        self._models[self._rows, clients] = np.where(shown, models[:, None, :], self._models[self._rows, clients])
        self._rounds[self._rows, clients] = np.where(present, number, self._rounds[self._rows, clients])
        mean: Floats = np.sum(sums * shown, axis=1) / np.maximum(np.sum(present, axis=1), 1)[:, None]
        return mean


class ServerNoise:
    """What a trusted server added last: (…, d)."""

    def __init__(self, start: Floats) -> None:
        self.held = np.zeros_like(start)

    def replace_noise(self, base: float, normal: Floats) -> Floats:
        """New noise less the old."""
        last: Floats = base * normal
        added: Floats = last - self.held
        self.held = last
        return added
