"""What clients differ in where a lemma asks for statistics of theirs: φ_i and σ_i, and how many of them take part.

Appendix E.1 of Lowy and Razaviyayn: X² = √E[(mean of the M_r largest x_i²)²], for φ_i to make Φ² and for σ_i Σ². Its
bounds have min{X²/M', x²_max/M}, M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. As participants are a uniform set, the mean of
x_i² over M is exact, and never more (E-31).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    Participation,
    ParticipationCount,
    group_count_faults,
    law_faults,
    participation_counts,
    read_members,
)
from epsilond.accountants.quantities import GRADIENT_STD, NOISE_STD, Clients, request
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import rms_average_of_largest


@request
class GroupStatistics:
    """Clients that are alike: how many, and their φ_i and σ_i. What is left out is as for all."""

    clients: Clients
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    noise_std: Annotated[float | None, NOISE_STD] = None


def groups_and_law_fit(record: Any) -> None:
    """The check that groups of clients add up, and that the law of participation is one.

    Raises:
        InvalidInput: they do not, or there is both a number of participants and a law.
    """
    faults: list[Fault] = []
    if record.client_groups is not None:
        read_members(record, "client_groups", GroupStatistics)
        faults += group_count_faults(record.client_groups)
        if not faults and sum(group.clients for group in record.client_groups) != record.clients:
            faults.append(Fault("/client_groups", "must add up to clients", f"{record.clients} clients"))
    if record.participation is not None:
        read_members(record, "participation", ParticipationCount)
        faults += law_faults(record.participation, participants=record.participants, clients=record.clients)
    if faults:
        raise InvalidInput(*faults)


@dataclass(frozen=True)
class Average:
    """A squared statistic over clients: X², the largest, and the plain mean."""

    over_largest: float
    largest: float
    mean: float


@dataclass(frozen=True)
class ClientStatistics:
    """The clients of a round as a lemma sees them."""

    counts: tuple[tuple[int, float], ...]
    groups: tuple[tuple[int, float, float], ...]
    """(clients, φ_i, σ_i)."""

    @classmethod
    def of(
        cls,
        *,
        clients: int,
        participants: int | None,
        participation: Sequence[ParticipationCount] | None,
        client_groups: Sequence[GroupStatistics] | None,
        gradient_std: float,
        noise_std: float,
    ) -> ClientStatistics:
        """From the fields of a request; participants absent are all clients."""
        counts = participation_counts(participation) if participation else ((participants or clients, 1.0),)
        groups = [
            (
                group.clients,
                gradient_std if group.gradient_std is None else group.gradient_std,
                noise_std if group.noise_std is None else group.noise_std,
            )
            for group in client_groups or (GroupStatistics(clients=clients),)
        ]
        return cls(counts, tuple(groups))

    @property
    def moments(self) -> Participation:
        """M and M'."""
        return Participation.of(self.counts)

    @property
    def fewest(self) -> int:
        """The least number of participants."""
        return min(count for count, _ in self.counts)

    @property
    def gradients(self) -> Average:
        """Of φ_i²."""
        return self._average(lambda group: group[1])

    @property
    def noise(self) -> Average:
        """Of σ_i²."""
        return self._average(lambda group: group[2])

    def _average(self, of: Callable[[tuple[int, float, float]], float]) -> Average:
        values = [(of(group) ** 2, group[0]) for group in self.groups]
        clients = sum(count for _, count in values)
        largest = max(value for value, _ in values)
        return Average(
            over_largest=rms_average_of_largest(values, self.counts),
            largest=largest,
            mean=sum(count / clients * value for value, count in values),
        )
