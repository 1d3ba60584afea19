"""Who takes part in a round: batches as every simulation draws them, and as audits of sampling attack them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.mechanisms.randomness import seeded

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


def subsets(generator: np.random.Generator, shape: tuple[int, ...], population: int, size: int) -> Indices:
    """Independent uniform subsets of `size` of `population`, each in no particular order: (*shape, size)."""
    return seeded(generator).subsets(shape, population, size)


def without_replacement_batches(generator: np.random.Generator, rounds: int, population: int, batch_size: int) -> Bools:
    """Uniform subsets of `batch_size` of `population`, independent over rounds: (rounds, population), True is drawn."""
    drawn = np.zeros((rounds, population), dtype=np.bool_)
    np.put_along_axis(drawn, subsets(generator, (rounds,), population, batch_size), True, axis=1)
    return drawn


def poisson_batches(generator: np.random.Generator, shape: tuple[int, ...], rate: float) -> Bools:
    """Everyone independently with probability `rate`: of that shape, True is drawn."""
    return seeded(generator).flips(rate, shape)
