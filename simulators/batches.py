"""Who takes part in a round: batches as every simulation draws them, many rounds at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]


def without_replacement_batches(generator: np.random.Generator, rounds: int, population: int, batch_size: int) -> Bools:
    """Uniform subsets of `batch_size` of `population`, independent over rounds: (rounds, population), True is drawn.

    Each row shuffles a row of batch_size ones, by Generator.permuted.
    """
    rows = np.zeros((rounds, population), dtype=np.bool_)
    rows[:, :batch_size] = True
    return generator.permuted(rows, axis=1, out=rows)


def poisson_batches(generator: np.random.Generator, rounds: int, population: int, rate: float) -> Bools:
    """Everyone independently with probability `rate`: (rounds, population), True is drawn."""
    return np.asarray(generator.random((rounds, population)) < rate)
