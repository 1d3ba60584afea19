"""Batches of clients that have unlike many records: places in a common width, and which of them count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.accountants.quantities import Sampling
from epsilond.simulators.federations.groups import Unlike
from epsilond.simulators.problems.problem import Indices

Bools = npt.NDArray[np.bool_]
ABSENT = 2.0
"""Key of a record that is not there: behind all others."""


def fresh_places(
    generator: np.random.Generator, data: Indices, clients: Indices, unlike: Unlike, sampling: Sampling
) -> tuple[Indices, Bools]:
    """Batches drawn afresh: clients (T, M) of data (N, n) → places and whether each counts (T, M, n or K)."""
    sizes, batches = unlike.sizes[clients][..., None], unlike.batches[clients][..., None]
    width = data.shape[1]
    every = np.arange(width)
    if sampling == "full":
        return data[clients], np.broadcast_to(every < sizes, (*clients.shape, width))
    if sampling == "poisson":
        drawn = generator.random((*clients.shape, width)) * sizes < batches
        return data[clients], drawn & (every < sizes)
    counted = np.arange(unlike.largest_batch) < batches
    if sampling == "with-replacement":
        chosen = generator.integers(sizes, size=counted.shape)
    else:
        chosen = _order(generator, sizes, (*clients.shape, width))[..., : unlike.largest_batch]
    return data[clients[..., None], chosen], counted


def shuffled(generator: np.random.Generator, data: Indices, sizes: Indices) -> Indices:
    """Each client's records in a random order, those that it does not have behind them: (N, n)."""
    return np.take_along_axis(data, _order(generator, sizes[:, None], data.shape), axis=1)


def dealt_places(data: Indices, clients: Indices, unlike: Unlike, wanted: range) -> tuple[Indices, Bools]:
    """The batches of these rounds of shuffled records: the t-th K of every client."""
    batches = unlike.batches[clients][..., None]
    counted = np.arange(unlike.largest_batch) < batches
    place = np.asarray(wanted)[:, None, None] * batches + np.arange(unlike.largest_batch)
    return data[clients[..., None], np.where(counted, place, 0)], counted


def _order(generator: np.random.Generator, sizes: Indices, shape: tuple[int, ...]) -> Indices:
    keys = generator.random(shape)
    keys[np.broadcast_to(np.arange(shape[-1]) >= sizes, shape)] = ABSENT
    return np.argsort(keys, axis=-1)
