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
        """Return the moments of the number of participants, from (participants, probability) pairs.

        Raises:
            InvalidInput: a count is below 1, a probability is outside [0, 1], or the sum is not 1.
        """
        faults = [
            Fault("/participation", "has a count or probability out of range")
            for count, probability in counts
            if count < 1 or not 0.0 <= probability <= 1.0
        ]
        if faults:
            raise InvalidInput(*faults)
        if abs(math.fsum(probability for _, probability in counts) - 1.0) > 1e-9:
            raise InvalidInput.at("/participation", "has probabilities that do not sum to 1")
        if len(counts) == 1:
            count = float(counts[0][0])  # exactly, without a division
            return cls(mean=count, rms=count)
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
    """Return the factors p_i N of the clients' losses that turn a weighted mean of losses into a plain one.

    The weighted mean is Σ p_i F_i over all N clients, with F_i the loss of client i and Σ p_i = 1. It is the plain mean
    of the losses p_i N F_i. Their Lipschitz constants, sensitivities, noise, smoothness and strong convexity have the
    same factors (Appendix B of Lowy and Razaviyayn, E-30).

    Args:
        weights: relative weight of one client, and number of clients, of each group.

    Returns:
        The factor of each group; 1 for equal weights.
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
    """A group of equal clients: their number, and the values in which they differ from the rest of the request.

    If `batch_size` is absent, it is the same fraction of the group's records as in the rest of the request. It is
    rounded to the nearest whole record, at least one. The published theorems require equal fractions. `weight` is that
    of one client's loss, relative to those of other groups.
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
    """Convert a field of a request to the class `kind` if its value is a plain mapping, as in configuration.

    Args:
        record: the request that is changed in place.
        name: name of the field.
        kind: class of the field's value.

    Raises:
        InvalidInput: the value is invalid, or of another kind. Pointers refer to the whole request.
    """
    object.__setattr__(record, name, _build(getattr(record, name), kind, f"/{name}"))


def read_members(record: object, name: str, kind: type) -> None:
    """Convert every entry of a request's field to the class `kind`, if the entry is a plain mapping.

    Args:
        record: the request that is changed in place.
        name: name of the field.
        kind: class of the entries.

    Raises:
        InvalidInput: an entry is invalid, or of another kind.
    """
    members = [_build(value, kind, f"/{name}/{index}") for index, value in enumerate(getattr(record, name))]
    object.__setattr__(record, name, tuple(members))


def _build(value: object, kind: type, at: str) -> object:
    """Return a record of a class, made from a mapping of its fields if it is not one already.

    Args:
        value: the record, or the mapping.
        kind: the class.
        at: JSON pointer to the value.

    Raises:
        InvalidInput: the fields are unknown, missing or invalid; the pointers of the faults begin with `at`.
    """
    try:
        record = kind(**value) if isinstance(value, Mapping) else value
    except InvalidInput as error:
        faults = [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None
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
    for index, group in enumerate(groups):
        faults += _group_faults(group, sampling, f"/client_groups/{index}")
    return faults


def _group_faults(group: ClientGroupRequest, sampling: Sampling, pointer: str) -> list[Fault]:
    """Return the faults of one client group.

    Args:
        group: the client group.
        sampling: sampling of the batches.
        pointer: JSON pointer to the group.
    """
    faults = []
    n, batch_size = group.samples_per_client, group.batch_size
    if group.delta is not None and group.log10_delta is not None:
        faults.append(Fault(f"{pointer}/delta", "give at most one of delta and log10_delta"))
    if sampling == "full" and batch_size is not None and batch_size != n:
        faults.append(Fault(f"{pointer}/batch_size", "a full batch holds samples_per_client records", f"= {n}"))
    elif sampling != "with-replacement" and batch_size is not None and batch_size > n:
        faults.append(Fault(f"{pointer}/batch_size", "cannot exceed samples_per_client", f"≤ {n}"))
    return faults


def law_faults(participation: Sequence[ParticipationCount], *, participants: int | None, clients: int) -> list[Fault]:
    """Return the faults of a request's distribution of the number of participants per round; none if it is valid.

    A request may have such a distribution or a fixed number, not both.

    Args:
        participation: possible numbers of participants, each with its probability.
        participants: fixed number of participants of the request; None if it has none.
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
        Fault(f"/participation/{index}/participants", "exceeds the number of clients", f"≤ {clients}")
        for index, count in enumerate(participation)
        if count.participants > clients
    ]
    if abs(math.fsum(count.probability for count in participation) - 1.0) > 1e-9:
        faults.append(Fault("/participation", "has probabilities that do not sum to 1"))
    return faults


def participation_counts(participation: Sequence[ParticipationCount]) -> tuple[tuple[int, float], ...]:
    """Return the distribution as (count, probability) pairs that sum to 1, without impossible counts."""
    total = math.fsum(count.probability for count in participation)
    return tuple((count.participants, count.probability / total) for count in participation if count.probability > 0.0)
