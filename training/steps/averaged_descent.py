"""The server of Algorithm 1 of Lowy and Razaviyayn: projected steps, of which a weighted average is put out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats


class AveragedDescent:
    """w ← Π(w − η · mean of the messages), and the average of the models.

    Attributes:
        model: w, (…, d).
        average: of the models so far, each with 1/`fading` times the weight of the one before; the start at first.
        moved: where the last step led before it was projected.
    """

    def __init__(self, start: Floats, *, step_size: float, fading: float, project: Callable[[Floats], Floats]) -> None:
        """From `start`, with steps of η; `fading` is 1 for the uniform average."""
        self.model = self.average = self.moved = start
        self._step_size = step_size
        self._fading = fading
        self._project = project
        self._weight = 0.0

    def receive(self, messages: Floats) -> None:
        """One round: messages (…, M, d)."""
        self.moved = self.model - self._step_size * np.mean(messages, axis=-2)
        self.model = self._project(self.moved)
        self._weight = self._fading * self._weight + 1.0
        self.average = self.average + (self.model - self.average) / self._weight
