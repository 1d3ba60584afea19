"""Participation of the victim: an independent coin, or the draw of a whole batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.simulators.algorithms.batches import poisson_batches, without_replacement_batches

Bools = npt.NDArray[np.bool_]
CELLS = 500_000
"""Records drawn at a time."""


@dataclass(frozen=True)
class SampledParticipation:
    """Random participation of the victim, with probability `rate`.

    With a `population`, whole batches are drawn by the program that a training runs. Without it, a single random number
    decides whether the victim is in a batch.
    """

    rate: float
    batch_size: int | None = None
    population: int | None = None

    @property
    def work(self) -> float:
        """Cost of one draw: a coin, or every record of the population."""
        return 0.5 if self.population is None else 0.4 * self.population

    def draw(self, generator: np.random.Generator, count: int) -> Bools:
        """Return whether record 0 is in each of `count` batches."""
        if self.population is None:
            return generator.random(count) < self.rate
        rows = max(1, CELLS // self.population)
        parts = [self._batches(generator, min(rows, count - start))[:, 0] for start in range(0, count, rows)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)

    def _batches(self, generator: np.random.Generator, rows: int) -> Bools:
        """Draw batches from the whole population, as the implemented schedule does."""
        assert self.population is not None
        if self.batch_size is None:
            return poisson_batches(generator, (rows, self.population), self.rate)
        return without_replacement_batches(generator, rows, self.population, self.batch_size)
