"""The clients of a run, and the distribution of the number of participants in a round.

Clients come in groups of equal clients, so that the cost for 10⁹ clients depends only on the number of groups. The
number of participants in a round may be random. Given this number, the participants are a uniform random set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    DELTA,
    EPSILON,
    LIPSCHITZ,
    LOG10_DELTA,
    PROBABILITY,
    SQUARES,
    WEIGHT,
    Clients,
    Participants,
    SamplesPerClient,
    Sampling,
    request,
)
from epsilond.accountants.target import natural_log_delta

MOST_GROUPS = 1000


# Values -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class ClientGroup:
    """A group of equal clients.

    Without a target, ε is infinite and δ is 1: there is no guarantee.

    Attributes:
        clients: number of clients in the group.
        samples_per_client: number of records of each client.
        batch_size: number of records in each client's batch.
        lipschitz: Lipschitz constant of the weighted losses.
        epsilon: target ε, in nats.
        log_delta: natural logarithm of the target δ.
    """

    clients: int
    samples_per_client: int
    batch_size: int
    lipschitz: float = 1.0
    epsilon: float = math.inf
    log_delta: float = 0.0

    @property
    def records_and_target(self) -> Fields:
        """The fields n, ε and ln δ by name: the inputs of a formula for one client's noise, except for the rounds."""
        return {"samples_per_client": self.samples_per_client, "epsilon": self.epsilon, "log_delta": self.log_delta}


@dataclass(frozen=True, kw_only=True)
class ParticipationMoments:
    """Moments of the number M_r of participants in a round, with 1 ≤ rms ≤ mean ≤ N for N clients.

    Attributes:
        mean: M = 1/E[1/M_r].
        rms: M' = 1/√E[1/M_r²].
    """

    mean: float
    rms: float

    @classmethod
    def of(cls, counts: Sequence[tuple[int, float]]) -> ParticipationMoments:
        """Return the moments of a distribution, given as (participants, probability) pairs.

        Raises:
            InvalidInput: a count is below 1, a probability is outside [0, 1], or the sum is not 1.
        """
        faults = [
            Fault("/participation", "has a count or probability out of range")
            for count, probability in counts
            if count < 1 or not 0.0 <= probability <= 1.0
        ]
        if faults or abs(math.fsum(probability for _, probability in counts) - 1.0) > 1e-9:
            raise InvalidInput(*faults or [Fault("/participation", "has probabilities that do not sum to 1")])
        if len(counts) == 1:
            ((count, _),) = counts
            return cls(mean=float(count), rms=float(count))
        first = math.fsum(probability / count for count, probability in counts)
        second = math.fsum(probability / count / count for count, probability in counts)
        return cls(mean=1.0 / first, rms=1.0 / math.sqrt(second))


@dataclass(frozen=True, kw_only=True)
class Federation:
    """All clients, and the distribution of the number of participants in a round.

    Attributes:
        groups: groups of equal clients.
        counts: (count, probability) pairs of the number of participants.
    """

    groups: tuple[ClientGroup, ...]
    counts: tuple[tuple[int, float], ...]

    @classmethod
    def of_equal_clients(cls, *, clients: int, participants: int, **each: Any) -> Federation:
        """Return a federation of equal clients, a fixed number of which takes part in each round.

        Args:
            clients: number N of clients.
            participants: number of participants in each round.
            each: the fields of the clients' group.
        """
        return cls(groups=(ClientGroup(clients=clients, **each),), counts=((participants, 1.0),))

    @property
    def clients(self) -> int:
        """Number of clients in all groups."""
        return sum(group.clients for group in self.groups)

    @property
    def all_participate(self) -> bool:
        """True if every client takes part in every round."""
        return all(count == self.clients for count, probability in self.counts if probability > 0.0)

    @cached_property
    def participation(self) -> ParticipationMoments:
        """Moments of the number of participants."""
        return ParticipationMoments.of(self.counts)

    @property
    def fewest_samples(self) -> int:
        """Smallest number of records of any client."""
        return min(group.samples_per_client for group in self.groups)

    @property
    def smallest_batch(self) -> int:
        """Smallest batch of any client, in records."""
        return min(group.batch_size for group in self.groups)


def loss_scales(weights: Sequence[tuple[float, int]]) -> tuple[float, ...]:
    """Return p_i N for each group of clients, from (relative weight, clients) pairs.

    Equal weights give 1 for all groups.

    Here p_i is the weight of one client of group i and N the number of clients. Σ p_i F_i is the plain mean of the
    losses p_i N f. Every quantity that scales with a loss scales with it: Lipschitz constant, sensitivity and noise,
    smoothness, strong convexity (Appendix B of Lowy and Razaviyayn, E-30).
    """
    clients = sum(count for _, count in weights)
    total = math.fsum(weight * count for weight, count in weights)
    return tuple(weight * clients / total for weight, _ in weights)


# Requests -----------------------------------------------------------------------------------------------------------
@request
class ParticipationCount:
    """How many clients may report in a round, and with what probability."""

    participants: Participants
    probability: Annotated[float, PROBABILITY]


@request
class ClientGroupRequest:
    """Clients that are alike: how many, and what differs from the rest of the request.

    An absent `batch_size` draws the same share of the records as a client with the request's `samples_per_client`
    does, to the nearest whole record: the printed theorems ask for equal shares. `weight` is relative to the others'.
    """

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    epsilon: Annotated[float | None, EPSILON, SQUARES] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    weight: Annotated[float, WEIGHT, SQUARES] = 1.0

    def log_delta_or(self, log_delta: float) -> float:
        """Return the group's own ln δ, or the request's ln δ if the group has none."""
        if self.delta is None and self.log10_delta is None:
            return log_delta
        return natural_log_delta(self.delta, self.log10_delta)

    def batch_at(self, *, batch_size: int, samples_per_client: int) -> int:
        """Return the group's batch size.

        By default it is the share of the group's records that `batch_size` is of `samples_per_client`.
        """
        if self.batch_size is not None:
            return self.batch_size
        return max(1, (2 * batch_size * self.samples_per_client + samples_per_client) // (2 * samples_per_client))


def read_member(record: object, name: str, kind: type) -> None:
    """Convert a field that is a plain mapping, as in examples and configuration, to the class `kind`.

    Args:
        record: the request that is changed in place.
        name: name of the field.
        kind: class of the field's value.

    Raises:
        InvalidInput: the value is invalid, or of another kind. Pointers refer to the whole request.
    """
    object.__setattr__(record, name, _build(getattr(record, name), kind, f"/{name}"))


def read_members(record: object, name: str, kind: type) -> None:
    """Convert every entry of a field that is a plain mapping to the class `kind`.

    Args:
        record: the request that is changed in place.
        name: name of the field.
        kind: class of the entries.

    Raises:
        InvalidInput: an entry is invalid, or of another kind.
    """
    made = (_build(value, kind, f"/{name}/{place}") for place, value in enumerate(getattr(record, name)))
    object.__setattr__(record, name, tuple(made))


def _build(value: object, kind: type, at: str) -> object:
    """Return a record of a class, made from a mapping of its fields if it is not one already.

    Raises:
        InvalidInput: the fields are unknown, missing or invalid; the pointers of the faults begin with `at`.
    """
    try:
        record = kind(**value) if isinstance(value, Mapping) else value
    except InvalidInput as error:
        raise InvalidInput(*(Fault(at + it.pointer, it.message, it.allowed) for it in error.faults)) from None
    except TypeError:
        raise InvalidInput.at(at, "has unknown or missing fields") from None
    if not isinstance(record, kind):
        raise InvalidInput.at(at, "must be an object")
    return record


def group_count_faults(groups: Sequence[object]) -> list[Fault]:
    """Return the fault of an empty list of groups, or of one with more than `MOST_GROUPS`."""
    if 1 <= len(groups) <= MOST_GROUPS:
        return []
    return [Fault("/client_groups", "has too few or too many groups", f"1 to {MOST_GROUPS}")]


def client_group_faults(groups: Sequence[ClientGroupRequest], *, clients: int, sampling: Sampling) -> list[Fault]:
    """Return the faults of the client groups, with pointers under /client_groups.

    Args:
        groups: the client groups of the request.
        clients: number of clients of the request.
        sampling: sampling of the batches.
    """
    faults = group_count_faults(groups)
    if faults:
        return faults
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
    """Return the faults of a distribution of the number of participants, which excludes a fixed number.

    Args:
        participation: counts with their probabilities.
        participants: fixed number of participants; None if none is set.
        clients: number of clients.
    """
    if participants is not None:
        return [Fault("/participation", "give at most one of participants and participation")]
    if not 1 <= len(participation) <= MOST_GROUPS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_GROUPS}")]
    return participation_faults(participation, clients=clients)


def participation_faults(participation: Sequence[ParticipationCount], *, clients: int) -> list[Fault]:
    """Return the faults of the distribution of the number of participants, with pointers under /participation."""
    faults = [
        Fault(f"/participation/{place}/participants", "exceeds the number of clients", f"≤ {clients}")
        for place, count in enumerate(participation)
        if count.participants > clients
    ]
    if abs(math.fsum(count.probability for count in participation) - 1.0) > 1e-9:
        faults.append(Fault("/participation", "has probabilities that do not sum to 1"))
    return faults


def participation_counts(participation: Sequence[ParticipationCount]) -> tuple[tuple[int, float], ...]:
    """Return the distribution as (count, probability) pairs that sum to 1, without impossible counts."""
    total = math.fsum(count.probability for count in participation)
    return tuple((count.participants, count.probability / total) for count in participation if count.probability > 0.0)
