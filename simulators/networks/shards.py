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
    shards = clients * shards_per_client
    size = len(labels) // shards
    by_class = np.argsort(labels, kind="stable")[: shards * size].reshape(shards, size)
    numbers = generator.permutation(shards).reshape(clients, shards_per_client)
    return tuple(by_class[own_numbers].reshape(-1) for own_numbers in numbers)
