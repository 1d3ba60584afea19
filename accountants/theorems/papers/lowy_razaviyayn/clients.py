"""What the bounds of Lowy and Razaviyayn see of the clients: aggregates over groups and over who participates.

Clients come in groups of equal ones, so that a federation of 10⁹ clients costs as much as its number of groups. The
round's number of participants may be random; given it, the participants are a uniform set. With equal clients and a
fixed number M every aggregate is the common value (Assumption 3, Appendix E.1; F-01 to F-05).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, Infeasible, InvalidInput
from epsilond.accountants.quantities import PROBABILITY, Participants, request
from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std, xi

Branch = Literal["average", "largest"]


@dataclass(frozen=True, kw_only=True)
class ClientGroup:
    """Clients that are alike: how many, and each one's records, batch and target."""

    clients: int
    samples_per_client: int
    batch_size: int
    epsilon: float
    log_delta: float


def read_members(record: object, name: str, member: type) -> None:
    """Make the field's entries of class `member` where they are plain mappings, as in examples and configuration.

    Raises:
        InvalidInput: an entry is at fault, or of another kind; pointers are those of the whole request.
    """
    made = []
    for place, value in enumerate(getattr(record, name)):
        try:
            made.append(member(**value) if isinstance(value, Mapping) else value)
        except InvalidInput as error:
            at = f"/{name}/{place}"
            raise InvalidInput(*(Fault(at + it.pointer, it.message, it.allowed) for it in error.faults)) from None
        except TypeError:
            raise InvalidInput.at(f"/{name}/{place}", "has unknown or missing fields") from None
        if not isinstance(made[-1], member):
            raise InvalidInput.at(f"/{name}/{place}", "must be an object")
    object.__setattr__(record, name, tuple(made))


@request
class ParticipationCount:
    """How many clients may report in a round, and with what probability."""

    participants: Participants
    probability: Annotated[float, PROBABILITY]


def participation_faults(participation: Sequence[ParticipationCount], *, clients: int) -> list[Fault]:
    """What is wrong with the law of the number of participants, as pointers under /participation."""
    faults = [
        Fault(f"/participation/{place}/participants", "exceeds the number of clients", f"≤ {clients}")
        for place, one in enumerate(participation)
        if one.participants > clients
    ]
    if abs(math.fsum(one.probability for one in participation) - 1.0) > 1e-9:
        faults.append(Fault("/participation", "has probabilities that do not sum to 1"))
    return faults


def participation_counts(participation: Sequence[ParticipationCount]) -> tuple[tuple[int, float], ...]:
    """The law as (count, probability) pairs that sum to 1, impossible counts left out."""
    whole = math.fsum(one.probability for one in participation)
    return tuple((one.participants, one.probability / whole) for one in participation if one.probability > 0.0)


@dataclass(frozen=True, kw_only=True)
class Participation:
    """The moments of the number M_r of participants that the bounds use (F-01, E-09).

    `mean` is 1/E[1/M_r] (the text's M) and `rms` is 1/√E[1/M_r²] (M'); 1 ≤ rms ≤ mean ≤ N.
    """

    mean: float
    rms: float

    @classmethod
    def of(cls, counts: Sequence[tuple[int, float]]) -> Participation:
        """From (participants, probability) pairs.

        Raises:
            InvalidInput: a count below 1, a probability outside [0, 1], or a sum that is not 1.
        """
        faults = [
            Fault("/participation", "has a count or probability out of range")
            for count, probability in counts
            if count < 1 or not 0.0 <= probability <= 1.0
        ]
        if faults or abs(math.fsum(probability for _, probability in counts) - 1.0) > 1e-9:
            raise InvalidInput(*faults or [Fault("/participation", "has probabilities that do not sum to 1")])
        first = math.fsum(probability / count for count, probability in counts)
        second = math.fsum(probability / count / count for count, probability in counts)
        return cls(mean=1.0 / first, rms=1.0 / math.sqrt(second))


def average_of_largest(values: Sequence[tuple[float, int]], count: int) -> float:
    """Mean of the `count` largest of a multiset given as (value, multiplicity) pairs (F-02).

    Raises:
        InvalidInput: `count` is below 1 or above the number of values.
    """
    if not 1 <= count <= sum(multiplicity for _, multiplicity in values):
        raise InvalidInput.at("/participants", "must be between 1 and the number of clients")
    left, parts = count, []
    for value, multiplicity in sorted(values, reverse=True):
        taken = min(left, multiplicity)
        parts.append(value * taken)
        left -= taken
    return math.fsum(parts) / count


@dataclass(frozen=True, kw_only=True)
class Aggregates:
    """ξ over the clients at some number of rounds, and the pair (M~, Ξ~) the rounds are prescribed with (F-04).

    `noise_ratio` is min{Ξ/M', ξ_max/M}: it equals Ξ~/M~ where M~ is corrected, never where it is printed (E-06).
    """

    average_xi: float
    largest_xi: float
    branch: Branch
    participants: float
    xi: float
    noise_ratio: float


@dataclass(frozen=True, kw_only=True)
class Federation:
    """All clients, and the law of how many of them participate in a round, as (count, probability) pairs."""

    groups: tuple[ClientGroup, ...]
    counts: tuple[tuple[int, float], ...]

    @classmethod
    def of_equal_clients(
        cls,
        *,
        clients: int,
        participants: int,
        samples_per_client: int,
        batch_size: int,
        epsilon: float,
        log_delta: float,
    ) -> Federation:
        """N equal clients of which a fixed number takes part in each round."""
        group = ClientGroup(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            epsilon=epsilon,
            log_delta=log_delta,
        )
        return cls(groups=(group,), counts=((participants, 1.0),))

    @property
    def clients(self) -> int:
        """N."""
        return sum(group.clients for group in self.groups)

    @property
    def all_participate(self) -> bool:
        """Whether every client takes part in every round."""
        return all(count == self.clients for count, probability in self.counts if probability > 0.0)

    @property
    def participation(self) -> Participation:
        """M and M'."""
        return Participation.of(self.counts)

    @property
    def fewest_samples(self) -> int:
        """n_min."""
        return min(group.samples_per_client for group in self.groups)

    @property
    def smallest_batch(self) -> int:
        """K = min K_i."""
        return min(group.batch_size for group in self.groups)

    def noise_stds(self, *, lipschitz: float, rounds: int) -> tuple[float, ...]:
        """σ of each group (F-08)."""
        return tuple(
            noise_std(
                lipschitz=lipschitz,
                samples_per_client=group.samples_per_client,
                rounds=rounds,
                epsilon=group.epsilon,
                log_delta=group.log_delta,
            )
            for group in self.groups
        )

    def aggregates(self, rounds: int, reading: Reading = "corrected") -> Aggregates:
        """Ξ = √E[(mean of the M_r largest ξ)²], ξ_max, and the selection of (M~, Ξ~).

        Printed: M~ is √M' or √M (E-06). Corrected: M' or M.
        """
        values = [
            (
                xi(
                    epsilon=group.epsilon,
                    log_delta=group.log_delta,
                    samples_per_client=group.samples_per_client,
                    rounds=rounds,
                ),
                group.clients,
            )
            for group in self.groups
        ]
        largest = max(value for value, _ in values)
        means = [(average_of_largest(values, count), probability) for count, probability in self.counts]
        average = largest * math.sqrt(math.fsum(share * (mean / largest) ** 2 for mean, share in means))
        moments = self.participation
        ratios = {"average": average / moments.rms, "largest": largest / moments.mean}
        # Equal clients tie exactly; rounding must not decide.
        tied = ratios["largest"] * (1.0 + 2.0**-40)
        branch: Branch = "average" if ratios["average"] <= tied else "largest"
        participants = moments.rms if branch == "average" else moments.mean
        return Aggregates(
            average_xi=average,
            largest_xi=largest,
            branch=branch,
            participants=math.sqrt(participants) if reading == "printed" else participants,
            xi=average if branch == "average" else largest,
            noise_ratio=ratios[branch],
        )


def smallest_round_count(right_side: Callable[[int], float]) -> int:
    """The smallest whole R ≥ 1 with R ≥ right_side(R), for a right side that never increases (F-05).

    The rounds prescribed through Ξ are implicit, since Ξ grows with R. Bisection on whole numbers, exact at any size.
    Guarantees: R ≥ right_side(R), and R − 1 < right_side(R − 1) unless R = 1, even if the right side has jumps.

    Raises:
        Infeasible: the right side is not finite.
    """
    first = right_side(1)
    if not math.isfinite(first):
        raise Infeasible("the prescribed number of rounds is beyond every number")
    failing, passing = 0, max(1, math.ceil(first))
    while passing < right_side(passing):  # only where the right side jumps up
        failing, passing = passing, 2 * passing
    while passing - failing > 1:
        middle = (failing + passing) // 2
        if middle >= right_side(middle):
            passing = middle
        else:
            failing = middle
    return passing
