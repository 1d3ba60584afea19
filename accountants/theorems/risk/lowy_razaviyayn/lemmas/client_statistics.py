"""Statistics of clients that differ: their φ_i and σ_i, and the number of participants of a round.

Appendix E.1 of Lowy and Razaviyayn: X² = √E[(mean of the M_r largest x_i²)²], which is Φ² for x_i = φ_i and Σ² for
x_i = σ_i. Its bounds have min{X²/M', x²_max/M} with M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. As the participants are a
uniform set, the mean of x_i² divided by M is exact, and never larger (E-31).
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
from epsilond.accountants.theorems.papers.lowy_razaviyayn.averages import rms_average_of_largest


@request
class GroupStatistics:
    """Clients of one kind: their number, and the standard deviations of their gradients and of their noise.

    Absent values are those of the request.
    """

    clients: Clients
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    noise_std: Annotated[float | None, NOISE_STD] = None


def check_groups_and_participation(record: FormulaRequest) -> None:
    """Check the groups of clients in a request, and the distribution of the number of participants, if present.

    A group is a number of clients with equal statistics.

    Args:
        record: the request, with its fields `client_groups`, `participation`, `participants` and `clients`.

    Raises:
        InvalidInput: the groups do not add up to the clients, the distribution is invalid, or the request has both a
            distribution and a number of participants. The error lists all faults.
    """
    faults: list[Fault] = []
    if record.client_groups is not None:
        read_members(record, "client_groups", GroupStatistics)
        faults += group_count_faults(record.client_groups)
        # The sum is only compared if every group has a valid number of clients.
        if not faults and sum(group.clients for group in record.client_groups) != record.clients:
            faults.append(Fault("/client_groups", "must add up to clients", f"{record.clients} clients"))
    if record.participation is not None:
        read_members(record, "participation", ParticipationCount)
        faults += law_faults(record.participation, participants=record.participants, clients=record.clients)
    if faults:
        raise InvalidInput(*faults)


@dataclass(frozen=True)
class Average:
    """Averages over clients of a squared statistic x_i² of client i, such as the variance of its gradients.

    Attributes:
        over_largest: X², the root mean square of the mean of the M_r largest x_i², for a random number M_r of
            participants.
        largest: the largest x_i².
        mean: the plain mean of x_i².
    """

    over_largest: float
    largest: float
    mean: float

    def over_participants(self, moments: ParticipationMoments, reading: Reading) -> float:
        """Return the variance of the mean over a round's participants, if x_i² is the variance of client i.

        The participants are a uniformly random set of clients of the random size M_r.

        Args:
            moments: averages M = 1/E[1/M_r] and M' = 1/√E[1/M_r²] of the number M_r of participants.
            reading: version of the formula. "corrected" gives the mean of x_i² divided by M, which is exact
                (docs/errata.md, E-31). "printed" gives the bound min{X²/M', x²_max/M} of Lowy and Razaviyayn, with the
                root mean square X² of the mean of the M_r largest x_i², and the largest x²_max of all.

        Returns:
            The variance, in the unit of x_i².
        """
        if reading == "corrected":
            return self.mean / moments.mean
        return min(self.over_largest / moments.rms, self.largest / moments.mean)


@dataclass(frozen=True)
class ClientStatistics:
    """Averages over clients that determine the variance of a round's mean gradient.

    Attributes:
        moments: M = 1/E[1/M_r] and M' = 1/√E[1/M_r²], averages of the number M_r of participants of a round.
        gradients: averages over clients i of the variance φ_i² of a record's gradient.
        noise: averages over clients i of the noise variance σ_i² per coordinate.
    """

    moments: ParticipationMoments
    gradients: Average
    noise: Average


@request
class ClientFields:
    """The clients, and the number of participants of a round. If absent, all take part, with equal statistics."""

    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None
    client_groups: Annotated[tuple[GroupStatistics, ...] | None, CLIENT_GROUPS] = None

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS, check_groups_and_participation)

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """Distribution of the number of participants of a round, as (count, probability) pairs."""
        if self.participation:
            return participation_counts(self.participation)
        fixed_count = self.participants or self.clients
        return ((fixed_count, 1.0),)

    def statistics(self, *, gradient_std: float, noise_std: float) -> ClientStatistics:
        """Return the averages over clients of their gradient variances φ_i² and noise variances σ_i².

        Without groups in the request, all clients have the two given values.

        Args:
            gradient_std: standard deviation φ ≥ 0 of a record's gradient, for groups that do not state their own.
            noise_std: standard deviation σ ≥ 0 of the noise per coordinate, for groups that do not state their own.

        Returns:
            The averages of both statistics, and those of the number of participants.
        """
        groups = self.client_groups or (GroupStatistics(clients=self.clients),)
        gradients = [gradient_std if group.gradient_std is None else group.gradient_std for group in groups]
        noise = [noise_std if group.noise_std is None else group.noise_std for group in groups]
        sizes = [group.clients for group in groups]
        return ClientStatistics(
            moments=ParticipationMoments.of(self.counts),
            gradients=self._average(gradients, sizes),
            noise=self._average(noise, sizes),
        )

    def _average(self, deviations: list[float], sizes: list[int]) -> Average:
        """Return averages over clients of a squared standard deviation, which is equal within each group.

        Args:
            deviations: standard deviation of each group's clients, at least 0.
            sizes: number of clients of each group, in the same order; the sum is the number of all clients.

        Returns:
            The averages that `Average` describes.
        """
        squares = [deviation**2 for deviation in deviations]
        squares_and_sizes = list(zip(squares, sizes, strict=True))
        return Average(
            over_largest=rms_average_of_largest(squares_and_sizes, self.counts),
            largest=max(squares),
            mean=sum(size / self.clients * square for square, size in squares_and_sizes),
        )
