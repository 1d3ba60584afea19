"""Shards of sorted records: clients with records of few classes (Das et al., Appendix H; McMahan et al. 2017)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.simulators.problems.problem import Indices


def deal_shards(
    labels: npt.NDArray[np.integer], *, clients: int, shards_per_client: int, generator: np.random.Generator
) -> tuple[Indices, ...]:
    """Divide records among clients so that each client has records of few classes.

    The records are sorted by class and divided into shards of equal size. Each client gets random shards. If the number
    of records is not a multiple of the number of shards, the last records in this order are left out.

    Args:
        labels: class of each record.
        clients: number of clients.
        shards_per_client: number of shards of each client.
        generator: random generator that distributes the shards.

    Returns:
        The records of each client, as indices into `labels`. No record belongs to two clients.
    """
    shard_count = clients * shards_per_client
    shard_size = len(labels) // shard_count
    sorted_records = np.argsort(labels, kind="stable")[: shard_count * shard_size]
    shards = sorted_records.reshape(shard_count, shard_size)
    shards_of_clients = generator.permutation(shard_count).reshape(clients, shards_per_client)
    return tuple(shards[own_shards].reshape(-1) for own_shards in shards_of_clients)
