"""What clients differ in where a lemma asks for statistics of theirs: φ_i and σ_i, and how many of them take part.

Appendix E.1 of Lowy and Razaviyayn: X² = √E[(mean of the M_r largest x_i²)²], for φ_i to make Φ² and for σ_i Σ². Its
bounds have min{X²/M', x²_max/M}, M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. As participants are a uniform set, the mean of
x_i² over M is exact, and never more (E-31).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    ParticipationCount,
    ParticipationMoments,
    group_count_faults,
    law_faults,
    participation_counts,
    read_members,
)
from epsilond.accountants.formula import FormulaRequest
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    GRADIENT_STD,
    NOISE_STD,
    PARTICIPANTS,
    PARTICIPANTS_AMONG_CLIENTS,
    PARTICIPATION,
    Checks,
    Clients,
    request,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import rms_average_of_largest


@request
class GroupStatistics:
    """Clients that are alike: how many, and their φ_i and σ_i. What is left out is as for all."""

    clients: Clients
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    noise_std: Annotated[float | None, NOISE_STD] = None


def groups_and_law_fit(record: FormulaRequest) -> None:
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

    @property
    def moments(self) -> ParticipationMoments:
        """M and M'."""
        return ParticipationMoments.of(self.counts)

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


@request
class ClientFields:
    """The clients, and how many of them take part in a round. Absent: all take part, alike."""

    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None
    client_groups: Annotated[tuple[GroupStatistics, ...] | None, CLIENT_GROUPS] = None

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS, groups_and_law_fit)

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """The distribution of the number of participants, as (count, probability) pairs."""
        if self.participation:
            return participation_counts(self.participation)
        return ((self.participants or self.clients, 1.0),)

    def statistics(self, *, gradient_std: float, noise_std: float) -> ClientStatistics:
        """Return the statistics of the clients; the arguments are those of groups that leave theirs out."""
        groups = [
            (
                group.clients,
                gradient_std if group.gradient_std is None else group.gradient_std,
                noise_std if group.noise_std is None else group.noise_std,
            )
            for group in self.client_groups or (GroupStatistics(clients=self.clients),)
        ]
        return ClientStatistics(self.counts, tuple(groups))
