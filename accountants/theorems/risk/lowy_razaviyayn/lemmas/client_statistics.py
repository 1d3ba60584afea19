"""What clients differ in where a lemma asks for statistics of theirs: φ_i and σ_i, and how many of them take part.

Appendix E.1 of Lowy and Razaviyayn: X² = √E[(mean of the M_r largest x_i²)²], for φ_i to make Φ² and for σ_i Σ². Its
bounds have min{X²/M', x²_max/M}, M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. As participants are a uniform set, the mean of
x_i² over M is exact, and never more (E-31).
"""

from __future__ import annotations

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
from epsilond.accountants.theorem import Reading
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

    def over_participants(self, moments: ParticipationMoments, reading: Reading) -> float:
        """Return min{X²/M', x²_max/M} or, corrected, the mean over M, which is exact (E-31)."""
        if reading == "corrected":
            return self.mean / moments.mean
        return min(self.over_largest / moments.rms, self.largest / moments.mean)


@dataclass(frozen=True)
class ClientStatistics:
    """The clients of a round: M and M', and the averages of φ_i² and of σ_i²."""

    moments: ParticipationMoments
    gradients: Average
    noise: Average


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
        groups = self.client_groups or (GroupStatistics(clients=self.clients),)
        gradients = [gradient_std if group.gradient_std is None else group.gradient_std for group in groups]
        noise = [noise_std if group.noise_std is None else group.noise_std for group in groups]
        sizes = [group.clients for group in groups]
        return ClientStatistics(
            moments=ParticipationMoments.of(self.counts),
            gradients=self._average(gradients, sizes),
            noise=self._average(noise, sizes),
        )

    def _average(self, figures: list[float], sizes: list[int]) -> Average:
        values = [(figure**2, size) for figure, size in zip(figures, sizes, strict=True)]
        return Average(
            over_largest=rms_average_of_largest(values, self.counts),
            largest=max(value for value, _ in values),
            mean=sum(size / self.clients * value for value, size in values),
        )
