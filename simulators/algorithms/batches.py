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

    Within a round, no element is drawn twice. Different rounds may draw the same element again.

    Args:
        generator: source of randomness.
        rounds: number of rounds, one batch for each.
        population: number of elements (records or clients) to draw from.
        batch_size: number of elements in each batch, at most `population`.

    Returns:
        Membership masks, (rounds, population); true where the element is in the batch of the round.
    """
    mask = np.zeros((rounds, population), dtype=np.bool_)
    np.put_along_axis(mask, subsets(generator, (rounds,), population, batch_size), True, axis=1)
    return mask


def poisson_batches(generator: np.random.Generator, shape: tuple[int, ...], rate: float) -> Bools:
    """Draw Poisson batches: include every element independently with the same probability.

    The size of a batch is therefore random, and a batch can be empty.

    Args:
        generator: source of randomness.
        shape: shape of the mask, for example (rounds, population).
        rate: inclusion probability of each element, in [0, 1].

    Returns:
        The membership mask, of shape `shape`; true where the element is included.
    """
    return seeded(generator).flips(rate, shape)
