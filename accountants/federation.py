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
"""Largest number of client groups, and of possible numbers of participants, in a request."""
SUM_TOLERANCE = 1e-9
"""Largest difference of a sum of probabilities from 1, which roundings of the caller explain."""


# Values -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class ClientGroup:
    """A group of equal clients.

    The default target is ε = ∞ and δ = 1, which means that there is no guarantee.

    Attributes:
        clients: number of clients in the group.
        samples_per_client: number of records of each client.
        batch_size: number of records in each client's batch.
        lipschitz: Lipschitz constant of the weighted losses, a bound on the norm of their gradients.
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
        """The number of records, ε and ln δ by name, for formulas of the noise of one client."""
        return {"samples_per_client": self.samples_per_client, "epsilon": self.epsilon, "log_delta": self.log_delta}


@dataclass(frozen=True, kw_only=True)
class ParticipationMoments:
    """Moments of the number M_r of participants in a round, with 1 ≤ rms ≤ mean ≤ N for N clients.

    Error bounds for averages over the participants depend on the distribution of M_r only by these two numbers.

    Attributes:
        mean: M = 1/E[1/M_r], the harmonic mean.
        rms: M' = 1/√E[1/M_r²].
    """

    mean: float
    rms: float

    @classmethod
    def of(cls, counts: Sequence[tuple[int, float]]) -> ParticipationMoments:
        """Compute the moments from the distribution of the number of participants.

        Args:
            counts: pairs of a number of participants and its probability.

        Raises:
            InvalidInput: a number is below 1, a probability is outside [0, 1], or the probabilities do not sum to 1.
        """
        faults = [
            Fault("/participation", "has a count or probability out of range")
            for count, probability in counts
            if count < 1 or not 0.0 <= probability <= 1.0
        ]
        if faults:
            raise InvalidInput(*faults)
        total = math.fsum(probability for _, probability in counts)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidInput.at("/participation", "has probabilities that do not sum to 1")

        # Divisions would round a fixed number.
        if len(counts) == 1:
            fixed_count, _ = counts[0]
            return cls(mean=float(fixed_count), rms=float(fixed_count))
        mean_inverse = math.fsum(probability / count for count, probability in counts)
        mean_inverse_square = math.fsum(probability / count / count for count, probability in counts)
        return cls(mean=1.0 / mean_inverse, rms=1.0 / math.sqrt(mean_inverse_square))


@dataclass(frozen=True, kw_only=True)
class Federation:
    """All clients, and the distribution of the number of participants in a round.

    Given the number of participants, they are a uniformly random set of clients.

    Attributes:
        groups: groups of equal clients.
        counts: pairs of a number of participants and its probability. The probabilities sum to 1.
    """

    groups: tuple[ClientGroup, ...]
    counts: tuple[tuple[int, float], ...]

    @classmethod
    def of_equal_clients(cls, *, clients: int, participants: int, **each: Any) -> Federation:
        """Build a federation of equal clients, of which a fixed number takes part in each round.

        Args:
            clients: number N of clients.
            participants: number of participants in each round, at most N.
            each: the fields of the clients' group (`ClientGroup`), except for `clients`.
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
    """Return factors for the clients' losses, with which their plain mean is the weighted mean of the losses.

    Let F_i be the loss of client i of N, and p_i its weight with Σ p_i = 1. Then:

        Σ p_i F_i = (1/N) Σ (p_i N) F_i,

    so the factor is p_i N. It also applies to the Lipschitz constant, sensitivity, noise, smoothness and strong
    convexity of the client (Appendix B of Lowy and Razaviyayn, E-30).

    Args:
        weights: for each group the relative weight of one client, and the number of clients.

    Returns:
        The factor of each group; 1 for equal weights.
    """
    clients = sum(count for _, count in weights)
    total_weight = math.fsum(weight * count for weight, count in weights)
    return tuple(weight * clients / total_weight for weight, _ in weights)


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
        """Return ln δ of the group; `log_delta`, the ln δ of the whole request, if the group has no δ of its own."""
        if self.delta is None and self.log10_delta is None:
            return log_delta
        return natural_log_delta(self.delta, self.log10_delta)

    def batch_at(self, *, batch_size: int, samples_per_client: int) -> int:
        """Return the group's own batch size, or else the same fraction of the records as in the rest of the request.

        The fraction is rounded to the nearest whole record, at least one.

        Args:
            batch_size: batch size of the rest of the request, in records.
            samples_per_client: number of records of each client in the rest of the request.
        """
        if self.batch_size is not None:
            return self.batch_size
        # In integers, to round exactly: ⌊b n_group/n + 1/2⌋ = ⌊(2 b n_group + n)/(2 n)⌋.
        numerator = 2 * batch_size * self.samples_per_client + samples_per_client
        return max(1, numerator // (2 * samples_per_client))


def read_member(record: object, name: str, kind: type) -> None:
    """Convert a field of a request to the class `kind` if its value is a mapping, as in parsed configuration.

    Args:
        record: the request, which is changed in place.
        name: name of the field.
        kind: class of the field's value.

    Raises:
        InvalidInput: the value is neither a `kind` nor a mapping with valid fields of one. Faults have JSON pointers
            into the whole request.
    """
    object.__setattr__(record, name, _build(getattr(record, name), kind, f"/{name}"))


def read_members(record: object, name: str, kind: type) -> None:
    """Convert the entries of a request's field to the class `kind` where they are mappings, as in parsed configuration.

    Args:
        record: the request, which is changed in place. The field becomes a tuple.
        name: name of the field.
        kind: class of the entries.

    Raises:
        InvalidInput: an entry is neither a `kind` nor a mapping with valid fields of one.
    """
    members = [_build(value, kind, f"/{name}/{index}") for index, value in enumerate(getattr(record, name))]
    object.__setattr__(record, name, tuple(members))


def _build(value: object, kind: type, at: str) -> object:
    """Build a record of the class `kind` from a mapping of its fields, or return the value if it is such a record.

    Args:
        value: the record, or a mapping from names of fields to values.
        kind: class of the record.
        at: JSON pointer to the value in the whole request.

    Raises:
        InvalidInput: the value is of another type, or its fields are unknown, missing or invalid. The pointers of the
            faults begin with `at`.
    """
    try:
        record = kind(**value) if isinstance(value, Mapping) else value
    except InvalidInput as error:
        # The pointers of these faults begin at the record, not at the request.
        faults = [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None
    except TypeError:
        raise InvalidInput.at(at, "has unknown or missing fields") from None
    if not isinstance(record, kind):
        raise InvalidInput.at(at, "must be an object")
    return record


def group_count_faults(groups: Sequence[object]) -> list[Fault]:
    """Return one fault if a request has no client group or more than `MOST_GROUPS` of them, and otherwise none."""
    if 1 <= len(groups) <= MOST_GROUPS:
        return []
    return [Fault("/client_groups", "has too few or too many groups", f"1 to {MOST_GROUPS}")]


def client_group_faults(groups: Sequence[ClientGroupRequest], *, clients: int, sampling: Sampling) -> list[Fault]:
    """Check the client groups of a request, and return their faults, with JSON pointers under /client_groups.

    Args:
        groups: the client groups of the request.
        clients: number of clients of the request, which the groups must add up to.
        sampling: sampling of the batches.

    Returns:
        One fault for each broken rule. If the number of groups is wrong, no other rule is checked.
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
    """Check the δ and the batch size of one client group, and return the faults.

    Args:
        group: the client group.
        sampling: sampling of the batches. Only with replacement may a batch be larger than the client's data.
        pointer: JSON pointer to the group.
    """
    faults = []
    records, batch_size = group.samples_per_client, group.batch_size
    if group.delta is not None and group.log10_delta is not None:
        faults.append(Fault(f"{pointer}/delta", "give at most one of delta and log10_delta"))
    if batch_size is None:
        return faults
    if sampling == "full" and batch_size != records:
        faults.append(Fault(f"{pointer}/batch_size", "a full batch holds samples_per_client records", f"= {records}"))
    elif sampling != "with-replacement" and batch_size > records:
        faults.append(Fault(f"{pointer}/batch_size", "cannot exceed samples_per_client", f"≤ {records}"))
    return faults


def law_faults(participation: Sequence[ParticipationCount], *, participants: int | None, clients: int) -> list[Fault]:
    """Check a request's distribution of the number of participants per round, and return its faults.

    A request may have such a distribution or a fixed number, not both.

    Args:
        participation: possible numbers of participants, each with its probability.
        participants: fixed number of participants of the request; None if it has none.
        clients: number of clients, the largest possible number of participants.

    Returns:
        The faults, with JSON pointers under /participation; empty if the distribution is valid.
    """
    if participants is not None:
        return [Fault("/participation", "give at most one of participants and participation")]
    if not 1 <= len(participation) <= MOST_GROUPS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_GROUPS}")]
    return participation_faults(participation, clients=clients)


def participation_faults(participation: Sequence[ParticipationCount], *, clients: int) -> list[Fault]:
    """Check that numbers of participants do not exceed the clients, and that their probabilities sum to 1.

    Args:
        participation: possible numbers of participants, each with its probability.
        clients: number of clients, the largest possible number of participants.

    Returns:
        The faults, with JSON pointers under /participation; empty if the distribution is valid.
    """
    faults = [
        Fault(f"/participation/{index}/participants", "exceeds the number of clients", f"≤ {clients}")
        for index, count in enumerate(participation)
        if count.participants > clients
    ]
    total = math.fsum(count.probability for count in participation)
    if abs(total - 1.0) > SUM_TOLERANCE:
        faults.append(Fault("/participation", "has probabilities that do not sum to 1"))
    return faults


def participation_counts(participation: Sequence[ParticipationCount]) -> tuple[tuple[int, float], ...]:
    """Normalise the distribution of the number of participants, so that its probabilities sum to 1.

    Args:
        participation: possible numbers of participants, each with its probability.

    Returns:
        Pairs of a number of participants and its probability, without numbers of probability 0.
    """
    total = math.fsum(count.probability for count in participation)
    possible = [count for count in participation if count.probability > 0.0]
    return tuple((count.participants, count.probability / total) for count in possible)
