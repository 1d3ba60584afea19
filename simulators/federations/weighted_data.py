"""Problems for clients that differ: own numbers of records, and the weighted mean of the clients' losses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.federations.groups import Groups, RunGroup, loss_scales
from epsilond.simulators.problems.synthetic import LARGEST_DATA


def build_for(spec: Any, run: AnyRun) -> AnyRun:
    """Build a requested learning problem, with the sizes and weights of the run's client groups.

    Args:
        spec: request of a problem.
        run: request of a run, which may have `client_groups`. Without groups all clients are equal.

    Returns:
        The learning problem.

    Raises:
        InvalidInput: the problem cannot be built (pointers into the spec), or the groups do not fit it (pointers into
            the run).
    """
    groups: Groups = getattr(run, "client_groups", None) or ()
    # The groups of the algorithm PPSGD have another class. They only set batch sizes, because its clients draw fresh
    # records in every round.
    if not all(isinstance(group, RunGroup) for group in groups) or not groups:
        return spec.build()
    sizes = tuple((group.clients, group.samples_per_client) for group in groups)
    return _build_weighted(spec, sizes, loss_scales(groups))


@functools.lru_cache(maxsize=16)
def _build_weighted(spec: Any, group_sizes: tuple[tuple[int, int], ...], scales: tuple[float, ...]) -> object:
    """Build a problem with clients in groups that have their own numbers of records and weights. Results are cached.

    Args:
        spec: request of a problem.
        group_sizes: for each group, its number of clients and the number of records of each client.
        scales: for each group, the factor of a client's loss in the objective, relative to the mean client.

    Returns:
        The problem that `spec` builds, for these clients.

    Raises:
        InvalidInput: the groups do not fit the problem.
    """
    problem = spec.build()
    clients, records_per_client = problem.population.targets.shape
    faults = []
    if sum(count for count, _ in group_sizes) != clients:
        faults.append(Fault("/client_groups", "must add up to the problem's clients", f"{clients} clients"))
    if sum(count * records for count, records in group_sizes) > LARGEST_DATA:
        faults.append(Fault("/client_groups", "have too many records in all", f"≤ {LARGEST_DATA}"))
    if problem.objective == "empirical":
        for index, (_, records) in enumerate(group_sizes):
            if records > records_per_client:
                pointer = f"/client_groups/{index}/samples_per_client"
                faults.append(Fault(pointer, "exceeds the client's records", f"≤ {records_per_client}"))
    if faults:
        raise InvalidInput(*faults)

    counts = [count for count, _ in group_sizes]
    sizes_of_clients = np.repeat([records for _, records in group_sizes], counts)
    return problem.with_clients(sizes_of_clients, np.repeat(scales, counts))
