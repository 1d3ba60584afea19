"""What the statements of Lowy and Razaviyayn ask of a run, and the conditions and answers that they share.

Client i has n_i records, batches of K_i, a target (ε_i, δ_i) and losses with the Lipschitz constant L_i; a weight p_i
multiplies its losses by p_i N (Appendix B). The number M_r of participants may be random, with M = 1/E[1/M_r] and
M' = 1/√E[1/M_r²]. As printed every σ_i is for L = max L_i, so that Ψ = L² Ξ; in the corrected reading a client adds the
noise of its own L_i, as in Theorem E.1, so that Ψ is made of ψ_i = L_i² ξ_i and Ξ stands for Ψ/L².
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, TypeVar

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.federation import (
    ClientGroup,
    ClientGroupRequest,
    Federation,
    ParticipationCount,
    client_group_faults,
    law_faults,
    loss_scales,
    participation_counts,
    read_members,
)
from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    CONVEXITY_WITHIN_SMOOTHNESS,
    PARTICIPANTS,
    PARTICIPANTS_AMONG_CLIENTS,
    PARTICIPATION,
    ROUNDS,
    SAMPLING,
    SQUARES,
    BatchSize,
    BudgetFields,
    Checks,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Participants,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    Aggregates,
    client_outputs,
    noise_std,
    with_own_lipschitz,
)

T = TypeVar("T")
Variant = Literal["informal", "complete"]
READINGS: tuple[Reading, ...] = ("printed", "corrected")

_VARIANT = Quantity(description="the main text's statement with hidden constants, or the appendix's complete one")


def of_same_fields(cls: type[T], record: object, **others: object) -> T:
    """An instance of a dataclass whose fields are those of the same names in `record`, but for `others`."""
    names = (each.name for each in fields(cls) if each.name not in others)  # type: ignore[arg-type]
    return cls(**{name: getattr(record, name) for name in names}, **others)


# Requests -----------------------------------------------------------------------------------------------------------
@request
class FederationInputs(BudgetFields):
    """The federation and the loss, apart from who participates. Give one of delta and log10_delta."""

    epsilon: Annotated[Epsilon, SQUARES]
    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS, CONVEXITY_WITHIN_SMOOTHNESS)


@request
class EqualClientsInputs(FederationInputs):
    """Equal clients, M of N in each round, and the loss. Give one of delta and log10_delta."""

    participants: Participants


@request
class ParticipationInputs(FederationInputs):
    """A federation of which all clients take part in a round, or M of them, or a random number."""

    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None

    def check(self) -> None:
        """A law of participation."""
        if self.participation is not None:
            read_members(self, "participation", ParticipationCount)
            faults = law_faults(self.participation, participants=self.participants, clients=self.clients)
            if faults:
                raise InvalidInput(*faults)

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """The law of the number of participants, as (count, probability) pairs."""
        if self.participation is None:
            return ((self.participants or self.clients, 1.0),)
        return participation_counts(self.participation)


def _batch_within_client(run: BatchRunInputs) -> None:
    """K ≤ n, unless records are drawn with replacement."""
    if run.batch_size > run.samples_per_client and run.sampling != "with-replacement":
        raise InvalidInput.at("/batch_size", "exceeds the client's records", allowed=f"≤ {run.samples_per_client}")


@request
class BatchRunInputs(ParticipationInputs, ABC):
    """And batches of K records. Absent: rounds are as prescribed."""

    variant: Annotated[Variant, _VARIANT] = "complete"
    batch_size: BatchSize
    rounds: Annotated[int | None, ROUNDS] = None
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

    checks: ClassVar[Checks] = (_batch_within_client,)

    @cached_property
    def clients_alike(self) -> ClientGroup:
        """All clients as one group, by the fields of the request."""
        return ClientGroup(
            clients=self.clients,
            samples_per_client=self.samples_per_client,
            batch_size=self.batch_size,
            lipschitz=self.lipschitz,
            epsilon=self.epsilon,
            log_delta=self.log_delta,
        )

    @property
    @abstractmethod
    def kinds(self) -> Sequence[ClientGroup]:
        """The clients, alike ones together, each with its own n, K, ε and δ."""


@request
class UnlikeClientsInputs(BatchRunInputs):
    """A federation and the loss; all clients participate, or M of them, or a random number.

    With `client_groups` the fields beside them are what a group inherits where it leaves its own out. Absent: rounds
    are as prescribed, participants all clients. Give one of delta and log10_delta.
    """

    client_groups: Annotated[tuple[ClientGroupRequest, ...] | None, CLIENT_GROUPS] = None

    def check(self) -> None:
        """And groups that add up, one kind of client for the informal statement."""
        super().check()
        if self.client_groups is not None:
            read_members(self, "client_groups", ClientGroupRequest)
            faults = client_group_faults(self.client_groups, clients=self.clients, sampling=self.sampling)
            if faults:
                raise InvalidInput(*faults)
        if self.variant == "informal" and not self.alike:
            raise InvalidInput.at("/client_groups", "the informal statement is for equal clients", allowed="one kind")

    @cached_property
    def scales_of_losses(self) -> tuple[float, ...]:
        """p_i N of each group, 1 without weights."""
        groups = self.client_groups
        return loss_scales([(group.weight, group.clients) for group in groups]) if groups else (1.0,)

    @cached_property
    def kinds(self) -> tuple[ClientGroup, ...]:
        """The groups in the order of the request, with weighted Lipschitz constants, or all clients as one."""
        if self.client_groups is None:
            return (self.clients_alike,)
        return tuple(
            ClientGroup(
                clients=group.clients,
                samples_per_client=group.samples_per_client,
                batch_size=group.batch_at(batch_size=self.batch_size, samples_per_client=self.samples_per_client),
                lipschitz=scale * (self.lipschitz if group.lipschitz is None else group.lipschitz),
                epsilon=self.epsilon if group.epsilon is None else group.epsilon,
                log_delta=group.log_delta_or(self.log_delta),
            )
            for group, scale in zip(self.client_groups, self.scales_of_losses, strict=True)
        )

    @cached_property
    def largest_lipschitz(self) -> float:
        """L, the largest of all weighted losses."""
        return max(kind.lipschitz for kind in self.kinds)

    @property
    def weighted_convexity(self) -> float:
        """μ, the smallest of all weighted losses."""
        return min(self.scales_of_losses) * self.strong_convexity

    @property
    def alike(self) -> bool:
        """Whether no reading tells one client from another."""
        return all(len(self.federation_in(reading).groups) == 1 for reading in READINGS)

    def adds_own_noise(self, reading: Reading) -> bool:
        """Whether a client's σ is for its own L_i, as in the corrected reading, or for the largest, as printed."""
        return reading == "corrected"

    def federation_in(self, reading: Reading) -> Federation:
        """The clients as the aggregates of a reading see them; those that these cannot tell apart are one group."""
        if reading not in self._federations:
            self._federations[reading] = self._seen_in(reading)
        return self._federations[reading]

    @cached_property
    def _federations(self) -> dict[Reading, Federation]:
        """By reading: many formulas ask for the same one."""
        return {}

    def _seen_in(self, reading: Reading) -> Federation:
        kinds, largest = self.kinds, self.largest_lipschitz
        own = self.adds_own_noise(reading)
        scaled = [with_own_lipschitz(kind, kind.lipschitz / largest if own else 1.0) for kind in kinds]
        if len(scaled) > 1:
            counted: dict[ClientGroup, int] = {}
            for group in scaled:
                one = replace(group, clients=1)
                counted[one] = counted.get(one, 0) + group.clients
            scaled = [replace(one, clients=count) for one, count in counted.items()]
        return Federation(groups=tuple(scaled), counts=self.counts)

    def run_in(self, reading: Reading, cls: type[T], **others: object) -> T:
        """Return the run of a reading, as the record of class `cls` that the formulas take.

        Args:
            reading: `printed` or `corrected`.
            cls: dataclass with the federation and the loss, whose other fields have the names of the request's.
            others: fields that the request does not have, or has under another name.
        """
        return of_same_fields(
            cls,
            self,
            federation=self.federation_in(reading),
            lipschitz=self.largest_lipschitz,
            strong_convexity=self.weighted_convexity,
            **others,
        )

    def noise_stds(self, rounds: int, reading: Reading) -> tuple[float, ...]:
        """σ of each kind, for its own L or for the largest."""
        own, largest = self.adds_own_noise(reading), self.largest_lipschitz
        return tuple(
            noise_std(
                lipschitz=kind.lipschitz if own else largest,
                rounds=rounds,
                **kind.records_and_target,
            )
            for kind in self.kinds
        )


TEN_CLIENTS: Fields = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 10,
    "participants": 10,
    "batch_size": 100,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 1.0,
}
"""Fields that the examples of equal clients have in common."""
UNLIKE_CLIENTS: Fields = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 10,
    "client_groups": [
        {"clients": 4, "samples_per_client": 1000, "weight": 2.0},
        {"clients": 6, "samples_per_client": 500, "epsilon": 2.0, "lipschitz": 0.5},
    ],
    "participation": [{"participants": 5, "probability": 0.5}, {"participants": 10, "probability": 0.5}],
    "batch_size": 100,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 1.0,
}
"""Fields that the examples of unequal clients have in common."""


# Answers of every prescription ----------------------------------------------------------------------------------------
def noise_outputs(inputs: UnlikeClientsInputs, rounds: int, reading: Reading) -> Fields:
    """What clients add at R rounds, and what it asks for. With `client_groups` each group's own stands in `groups`.

    Beside groups, the noise, its multiplier, the sensitivity and the least batch are the largest of any group's, and
    the limit of ε is the smallest.
    """
    groups = [
        {
            "clients": kind.clients,
            "samples_per_client": kind.samples_per_client,
            "batch_size": kind.batch_size,
            "lipschitz": kind.lipschitz,
            **client_outputs(kind, std, rounds=rounds, reading=inputs.variant),
        }
        for kind, std in zip(inputs.kinds, inputs.noise_stds(rounds, reading), strict=True)
    ]
    largest = ("noise_std", "noise_multiplier", "sensitivity", "minimal_batch_size")
    return {
        **{name: max(group[name] for group in groups) for name in largest},
        "epsilon_limit": min(group["epsilon_limit"] for group in groups),
        **({} if inputs.client_groups is None else {"groups": groups}),
    }


def aggregate_outputs(inputs: UnlikeClientsInputs, seen: Aggregates, reading: Reading) -> dict[str, float]:
    """The law of participation and the clients as a complete statement sees them: M~, M, M', Ξ~, Ξ, ξ_max, Ψ~, Ψ."""
    moments = inputs.federation_in(reading).participation
    squared = inputs.largest_lipschitz * inputs.largest_lipschitz
    return {
        "effective_participants": seen.participants,
        "mean_participants": moments.mean,
        "rms_participants": moments.rms,
        "xi": seen.xi,
        "average_xi": seen.average_xi,
        "largest_xi": seen.largest_xi,
        "psi": squared * seen.xi,
        "average_psi": squared * seen.average_xi,
    }


def smallest_round_count(right_side: Callable[[int], float]) -> int:
    """The smallest whole R ≥ 1 with R ≥ right_side(R), for a right side that never increases.

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
    return bisect_integers(lambda rounds: rounds < right_side(rounds), failing, passing) + 1
