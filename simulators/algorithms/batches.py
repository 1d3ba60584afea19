"""Random batches, shared by the simulations and by the audits that attack subsampling."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.mechanisms.randomness import seeded

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


def subsets(generator: np.random.Generator, shape: tuple[int, ...], population: int, size: int) -> Indices:
    """Draw independent uniform subsets, with the members of each in no particular order.

    Args:
        generator: source of randomness.
        shape: shape of the array of subsets.
        population: number of elements.
        size: elements in each subset.

    Returns:
        Indices of the members, (*shape, size).
    """
    return seeded(generator).subsets(shape, population, size)


def without_replacement_batches(generator: np.random.Generator, rounds: int, population: int, batch_size: int) -> Bools:
    """Draw one uniform subset of fixed size per round, independently over rounds.

    Args:
        generator: source of randomness.
        rounds: number of rounds.
        population: number of elements.
        batch_size: elements in each batch.

    Returns:
        Membership masks, (rounds, population).
    """
    mask = np.zeros((rounds, population), dtype=np.bool_)
    np.put_along_axis(mask, subsets(generator, (rounds,), population, batch_size), True, axis=1)
    return mask


def poisson_batches(generator: np.random.Generator, shape: tuple[int, ...], rate: float) -> Bools:
    """Include every element independently with the same probability.

    Args:
        generator: source of randomness.
        shape: shape of the mask.
        rate: inclusion probability.

    Returns:
        The membership mask, of shape `shape`.
    """
    return seeded(generator).flips(rate, shape)
