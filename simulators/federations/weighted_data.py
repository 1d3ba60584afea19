"""A problem made for clients that differ: their own numbers of records, and the weighted mean of their losses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.federations.groups import Groups, RunGroup, loss_scales
from epsilond.simulators.problems.synthetic import LARGEST_DATA


def build_for(spec: Any, run: AnyRun) -> AnyRun:
    """The problem of a request, as the run's clients see it.

    Raises:
        InvalidInput: the spec's own faults, or groups that do not fit it, with pointers into the run.
    """
    groups: Groups = getattr(run, "client_groups", None) or ()
    # PPSGD has groups of its own, of clients whose records are drawn anew.
    if not all(isinstance(one, RunGroup) for one in groups) or not groups:
        return spec.build()
    return _made(spec, tuple((one.clients, one.samples_per_client) for one in groups), loss_scales(groups))


@functools.lru_cache(maxsize=16)
def _made(spec: Any, counted: tuple[tuple[int, int], ...], scales: tuple[float, ...]) -> object:
    problem = spec.build()
    clients, size = problem.population.targets.shape
    faults = []
    if sum(count for count, _ in counted) != clients:
        faults.append(Fault("/client_groups", "must add up to the problem's clients", f"{clients} clients"))
    if sum(count * n for count, n in counted) > LARGEST_DATA:
        faults.append(Fault("/client_groups", "have too many records in all", f"≤ {LARGEST_DATA}"))
    if problem.objective == "empirical":
        faults += [
            Fault(f"/client_groups/{place}/samples_per_client", "exceeds the client's records", f"≤ {size}")
            for place, (_, n) in enumerate(counted)
            if n > size
        ]
    if faults:
        raise InvalidInput(*faults)
    counts = [count for count, _ in counted]
    return problem.with_clients(np.repeat([n for _, n in counted], counts), np.repeat(scales, counts))
