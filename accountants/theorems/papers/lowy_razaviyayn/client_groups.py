"""Clients that differ, as requests give them: groups of alike ones, each with records, batch, target and weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from epsilond.accountants.errors import Fault
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    DELTA,
    EPSILON,
    LIPSCHITZ,
    LOG10_DELTA,
    WEIGHT,
    Clients,
    SamplesPerClient,
    Sampling,
    natural_log_delta,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import (
    ParticipationCount,
    participation_faults,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.federated_risk import MOST_GROUPS


@request
class ClientGroupRequest:
    """Clients that are alike: how many, and what differs from the rest of the request.

    An absent `batch_size` draws the same share of the records as a client with the request's `samples_per_client`
    does, to the nearest whole record: the printed theorems ask for equal shares. `weight` is relative to the others'.
    """

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    weight: Annotated[float, WEIGHT] = 1.0

    def log_delta_or(self, log_delta: float) -> float:
        """The group's own ln δ, or else that of the request."""
        if self.delta is None and self.log10_delta is None:
            return log_delta
        return natural_log_delta(self.delta, self.log10_delta)

    def batch_at(self, *, batch_size: int, samples_per_client: int) -> int:
        """Its batch as given, or the share of its records that `batch_size` is of `samples_per_client` (F-07)."""
        if self.batch_size is not None:
            return self.batch_size
        whole = samples_per_client
        return max(1, (2 * batch_size * self.samples_per_client + whole) // (2 * whole))


def check_group_scales(groups: Sequence[ClientGroupRequest]) -> None:
    """Scales whose squares are doubles.

    Raises:
        InvalidInput: one is not; pointers are those of the whole request.
    """
    for place, group in enumerate(groups):
        at = f"client_groups/{place}"
        check_scales(**{f"{at}/{name}": getattr(group, name) for name in ("epsilon", "lipschitz", "weight")})


def client_group_faults(groups: Sequence[ClientGroupRequest], *, clients: int, sampling: Sampling) -> list[Fault]:
    """What no run can have, as pointers under /client_groups."""
    if not 1 <= len(groups) <= MOST_GROUPS:
        return [Fault("/client_groups", "has too few or too many groups", f"1 to {MOST_GROUPS}")]
    faults = []
    if sum(group.clients for group in groups) != clients:
        faults.append(Fault("/client_groups", "must add up to clients", f"{clients} clients"))
    for place, group in enumerate(groups):
        at, n = f"/client_groups/{place}", group.samples_per_client
        if group.delta is not None and group.log10_delta is not None:
            faults.append(Fault(f"{at}/delta", "give at most one of delta and log10_delta"))
        if group.batch_size is not None and sampling == "full" and group.batch_size != n:
            faults.append(Fault(f"{at}/batch_size", "a full batch holds samples_per_client records", f"= {n}"))
        elif (group.batch_size or 1) > n and sampling != "with-replacement":
            faults.append(Fault(f"{at}/batch_size", "cannot exceed samples_per_client", f"≤ {n}"))
    return faults


def law_faults(participation: Sequence[ParticipationCount], *, participants: int | None, clients: int) -> list[Fault]:
    """What is wrong with a law of the number of participants beside a fixed number of them."""
    if participants is not None:
        return [Fault("/participation", "give at most one of participants and participation")]
    if not 1 <= len(participation) <= MOST_GROUPS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_GROUPS}")]
    return participation_faults(participation, clients=clients)
