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
        """The number of records n, ε and ln δ by name.

        They are the inputs of a formula for the noise of one client, except for the number of rounds.
        """
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
        """Return the moments of the number of participants.

        Args:
            counts: pairs of a number of participants and its probability.

        Returns:
            The two moments: 1/E[1/M_r] and 1/√E[1/M_r²] for the number M_r.

        Raises:
            InvalidInput: a number is below 1, a probability is outside [0, 1], or the sum is not 1.
        """
        faults = [
            Fault("/participation", "has a count or probability out of range")
            for count, probability in counts
            if count < 1 or not 0.0 <= probability <= 1.0
        ]
        if faults:
            raise InvalidInput(*faults)
        # The probabilities must sum to 1, up to the rounding of the caller.
        total = math.fsum(probability for _, probability in counts)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidInput.at("/participation", "has probabilities that do not sum to 1")

        # A fixed number is returned exactly, without a division.
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
        """Return a federation of equal clients, a fixed number of which takes part in each round.

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
    """Return the factors of the clients' losses that turn a weighted mean of losses into a plain one.

    The factor of client i is p_i N. The weighted mean is Σ p_i F_i over all N clients, with F_i the loss of client i
    and Σ p_i = 1. It is the plain mean of the losses p_i N F_i. Their Lipschitz constants, sensitivities, noise,
    smoothness and strong convexity have the same factors (Appendix B of Lowy and Razaviyayn, E-30).

    Args:
        weights: relative weight of one client, and number of clients, of each group.

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
        """Return the natural logarithm of the group's own δ, or a default if the group has none.

        Args:
            log_delta: natural logarithm of the request's δ.
        """
        if self.delta is None and self.log10_delta is None:
            return log_delta
        return natural_log_delta(self.delta, self.log10_delta)

    def batch_at(self, *, batch_size: int, samples_per_client: int) -> int:
        """Return the group's batch size, by default the same fraction of the records as in the rest of the request.

        The default is rounded to the nearest whole record, at least one. It is computed in integers.

        Args:
            batch_size: batch size of the rest of the request, in records.
            samples_per_client: number of records of each client in the rest of the request.

        Returns:
            Number of records in a batch, at least 1.
        """
        if self.batch_size is not None:
            return self.batch_size
        # The quotient b n_group/n is rounded by adding one half before the integer division.
        twice_rounded = 2 * batch_size * self.samples_per_client + samples_per_client
        return max(1, twice_rounded // (2 * samples_per_client))


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
        value: the record, or a mapping from names of fields to values, as in configuration.
        kind: class of the record.
        at: JSON pointer to the value in the whole request.

    Returns:
        The record of the class `kind`.

    Raises:
        InvalidInput: the fields are unknown, missing or invalid; the pointers of the faults begin with `at`.
    """
    try:
        record = kind(**value) if isinstance(value, Mapping) else value
    except InvalidInput as error:
        # Pointers of faults become pointers in the whole request.
        faults = [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None
    except TypeError:
        raise InvalidInput.at(at, "has unknown or missing fields") from None
    if not isinstance(record, kind):
        raise InvalidInput.at(at, "must be an object")
    return record


def group_count_faults(groups: Sequence[object]) -> list[Fault]:
    """Return the fault of a list of groups that is empty or has more than `MOST_GROUPS` groups; none if it is valid.

    Args:
        groups: the client groups of a request.
    """
    if 1 <= len(groups) <= MOST_GROUPS:
        return []
    return [Fault("/client_groups", "has too few or too many groups", f"1 to {MOST_GROUPS}")]


def client_group_faults(groups: Sequence[ClientGroupRequest], *, clients: int, sampling: Sampling) -> list[Fault]:
    """Return the faults of the client groups of a request, with pointers under /client_groups.

    Args:
        groups: the client groups of the request.
        clients: number of clients of the request, which the groups must add up to.
        sampling: sampling of the batches.

    Returns:
        One fault for each rule that is broken; none if the groups are valid.
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
    """Return the faults of one client group: two values of δ, or a batch size that its records do not allow.

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
    """Return the faults of a request's distribution of the number of participants per round; none if it is valid.

    A request may have such a distribution or a fixed number, not both.

    Args:
        participation: possible numbers of participants, each with its probability.
        participants: fixed number of participants of the request; None if it has none.
        clients: number of clients, the largest possible number of participants.
    """
    if participants is not None:
        return [Fault("/participation", "give at most one of participants and participation")]
    if not 1 <= len(participation) <= MOST_GROUPS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_GROUPS}")]
    return participation_faults(participation, clients=clients)


def participation_faults(participation: Sequence[ParticipationCount], *, clients: int) -> list[Fault]:
    """Return the faults of the distribution of the number of participants, with pointers under /participation.

    Args:
        participation: possible numbers of participants, each with its probability.
        clients: number of clients, the largest possible number of participants.
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
    """Return the distribution of the number of participants with probabilities that sum to 1.

    Args:
        participation: possible numbers of participants, each with its probability.

    Returns:
        Pairs of a number of participants and its probability, without impossible numbers.
    """
    total = math.fsum(count.probability for count in participation)
    possible = [count for count in participation if count.probability > 0.0]
    return tuple((count.participants, count.probability / total) for count in possible)
