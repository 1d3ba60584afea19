"""The server of Algorithm 1 of Lowy and Razaviyayn: projected steps and a weighted average of the models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilond.training.arrays import Floats


class AveragedDescent:
    """State of projected gradient descent, with a weighted average of the models.

    A step moves the model w to:

        Π(w − η g).

    Here g is the mean of the messages, η the step size, and Π the projection onto the domain.

    Attributes:
        model: the present model w, (…, d), for d coordinates.
        average: weighted average of the models after each step; the start before the first step.
        moved: the model after the last step and before its projection; the start before the first step.
    """

    def __init__(self, start: Floats, *, step_size: float, fading: float, project: Callable[[Floats], Floats]) -> None:
        """Start the descent at a model.

        Args:
            start: the model, (…, d), for d coordinates.
            step_size: step size η.
            fading: weight of a model in the average divided by the weight of the next model; 1 gives the uniform
                average.
            project: projection onto the domain.
        """
        self.model = self.average = self.moved = start
        self._step_size = step_size
        self._fading = fading
        self._project = project
        self._total_weight = 0.0

    def receive(self, messages: Floats) -> None:
        """Take a step along the mean of the messages of one round, and update the average model.

        Args:
            messages: messages of M clients, (…, M, d), for d coordinates.
        """
        self.moved = self.model - self._step_size * np.mean(messages, axis=-2)
        self.model = self._project(self.moved)
        # The newest model has weight 1, and each step multiplies the earlier weights by `fading`.
        self._total_weight = self._fading * self._total_weight + 1.0
        self.average = self.average + (self.model - self.average) / self._total_weight
