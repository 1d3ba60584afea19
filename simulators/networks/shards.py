"""Shards of sorted records: clients with records of few classes (Das et al., Appendix H; McMahan et al. 2017)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.simulators.problems.problem import Indices


def deal_shards(
    labels: npt.NDArray[np.integer], *, clients: int, shards_per_client: int, generator: np.random.Generator
) -> tuple[Indices, ...]:
    """Divide records among clients so that each has few classes.

    The records are sorted by class and cut into equal shards, which are dealt to clients at random. Records that remain
    after equal shards are left out. They are the last ones of the last class.

    Args:
        labels: class of each record.
        clients: number of clients.
        shards_per_client: number of shards of each client.
        generator: source of the draw of shards.

    Returns:
        The records of each client, as indices into `labels`. No record has two clients.
    """
    shard_count = clients * shards_per_client
    shard_size = len(labels) // shard_count
    sorted_records = np.argsort(labels, kind="stable")[: shard_count * shard_size]
    shards = sorted_records.reshape(shard_count, shard_size)
    shards_of_clients = generator.permutation(shard_count).reshape(clients, shards_per_client)
    return tuple(shards[own_shards].reshape(-1) for own_shards in shards_of_clients)
