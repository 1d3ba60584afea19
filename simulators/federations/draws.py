"""Batches of clients with different numbers of records: indices in arrays of one width, with a mask of valid ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.accountants.quantities import Sampling
from epsilond.simulators.federations.groups import ClientArrays
from epsilond.simulators.problems.problem import Indices

Bools = npt.NDArray[np.bool_]
ABSENT = 2.0
"""Sort key of a missing record. It is larger than the keys of records, which are below 1."""


def draw_records(
    generator: np.random.Generator, data: Indices, clients: Indices, client_arrays: ClientArrays, sampling: Sampling
) -> tuple[Indices, Bools]:
    """Draw fresh batches of clients with different numbers of records, for T rounds.

    Args:
        generator: source of randomness.
        data: records of each client, as indices into its population, (N, n), for N clients and the
            largest number n of records.
        clients: participants of each round, (T, M), for M participants.
        client_arrays: number of records and batch size of each client.
        sampling: sampling of a client's batches.

    Returns:
        Indices into the clients' populations, and a mask that is True for the records of a batch. Both have the shape
        (T, M, n) for full and Poisson batches, and (T, M, K) otherwise, for the largest batch size K.
    """
    sizes = client_arrays.sizes[clients][..., None]
    batches = client_arrays.batches[clients][..., None]
    width = data.shape[1]
    exists = np.arange(width) < sizes

    # Full and Poisson batches are masks over all records of a client.
    if sampling == "full":
        return data[clients], np.broadcast_to(exists, (*clients.shape, width))
    if sampling == "poisson":
        is_included = generator.random((*clients.shape, width)) * sizes < batches  # with probability K/n
        return data[clients], is_included & exists

    # Batches of fixed size, as indices of records; smaller batches are padded.
    largest_batch = client_arrays.largest_batch
    is_in_batch = np.arange(largest_batch) < batches
    if sampling == "with-replacement":
        chosen = generator.integers(sizes, size=is_in_batch.shape)
    else:
        order = _random_order(generator, sizes, (*clients.shape, width))
        chosen = order[..., :largest_batch]
    return data[clients[..., None], chosen], is_in_batch


def shuffle_records(generator: np.random.Generator, data: Indices, sizes: Indices) -> Indices:
    """Shuffle each client's records, with missing records last.

    Args:
        generator: source of randomness.
        data: records of each client, as indices into its population, (N, n), for N clients and the largest number n of
            records.
        sizes: number of records of each client, (N,).

    Returns:
        The shuffled indices, of the shape of `data`.
    """
    order = _random_order(generator, sizes[:, None], data.shape)
    return np.take_along_axis(data, order, axis=1)


def deal_records(data: Indices, clients: Indices, client_arrays: ClientArrays, numbers: range) -> tuple[Indices, Bools]:
    """Return the disjoint batches of some rounds, cut from the shuffled records of each client.

    In round t a client uses the t-th block of its records, with as many records as its batch.

    Args:
        data: shuffled records of each client, as indices into its population, (N, n), for N clients and the largest
            number n of records.
        clients: participants of T rounds, (T, M), for M participants.
        client_arrays: number of records and batch size of each client.
        numbers: numbers of the T rounds, from 0.

    Returns:
        Indices into the clients' populations, of shape (T, M, K) for the largest batch size K. A mask of the same shape
        is False for the padding of smaller batches.
    """
    batches = client_arrays.batches[clients][..., None]
    index_in_batch = np.arange(client_arrays.largest_batch)
    is_in_batch = index_in_batch < batches
    # In round t, the batch of a client begins at record t times its batch size. The padding points to record 0.
    index = np.asarray(numbers)[:, None, None] * batches + index_in_batch
    index = np.where(is_in_batch, index, 0)
    return data[clients[..., None], index], is_in_batch


def _random_order(generator: np.random.Generator, sizes: Indices, shape: tuple[int, ...]) -> Indices:
    """Return a random order of each client's records, with missing records last.

    Records are sorted by uniform random keys. Missing records have a larger key, so that they come last.

    Args:
        generator: source of randomness.
        sizes: number of records of each client, with a last axis of length 1.
        shape: shape of the result; its last axis has the largest number of records.

    Returns:
        Indices of records along the last axis.
    """
    keys = generator.random(shape)
    is_missing = np.broadcast_to(np.arange(shape[-1]) >= sizes, shape)
    keys[is_missing] = ABSENT
    return np.argsort(keys, axis=-1)
