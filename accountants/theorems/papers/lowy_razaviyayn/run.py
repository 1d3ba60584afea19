"""Requests of the statements of Lowy and Razaviyayn, and the outputs that they share.

Client i has n_i records, batches of K_i, a target (ε_i, δ_i) and losses with Lipschitz constant L_i. A weight p_i
multiplies its losses by p_i N (Appendix B). The number M_r of participants may be random, with M = 1/E[1/M_r] and
M' = 1/√E[1/M_r²]. As printed, every σ_i is for L = max L_i, and Ψ = L² Ξ. In the corrected reading a client adds the
noise for its own L_i, as in Theorem E.1: then Ψ is the average of ψ_i = L_i² ξ_i, and Ξ denotes Ψ/L².
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
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
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std, with_own_lipschitz

T = TypeVar("T")
Variant = Literal["informal", "complete"]
READINGS: tuple[Reading, ...] = ("printed", "corrected")

_VARIANT = Quantity(description="the main text's statement with hidden constants, or the appendix's complete one")


def of_same_fields(cls: type[T], record: object, **replacements: object) -> T:
    """Return an instance of a dataclass, with fields copied from attributes of the same names of another object.

    Args:
        cls: the dataclass.
        record: object with an attribute for each field that is not in `replacements`.
        replacements: values of the fields that are not copied.

    Returns:
        The instance of `cls`.
    """
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    copied = {name: getattr(record, name) for name in names if name not in replacements}
    return cls(**copied, **replacements)


# Requests -----------------------------------------------------------------------------------------------------------
@request
class FederationInputs(BudgetFields):
    """The clients and the loss, without the participants of a round. One of `delta` and `log10_delta` is required."""

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
    """A federation in which all clients, M of them, or a random number take part in a round."""

    participants: Annotated[int | None, PARTICIPANTS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None

    def check(self) -> None:
        """Check the distribution of the number of participants."""
        if self.participation is not None:
            read_members(self, "participation", ParticipationCount)
            faults = law_faults(self.participation, participants=self.participants, clients=self.clients)
            if faults:
                raise InvalidInput(*faults)

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """Distribution of the number of participants, as (count, probability) pairs."""
        if self.participation is None:
            return ((self.participants or self.clients, 1.0),)
        return participation_counts(self.participation)


def _batch_within_client(run: BatchRunInputs) -> None:
    """Check that the batch size K is at most the number n of records, unless records are drawn with replacement."""
    if run.batch_size > run.samples_per_client and run.sampling != "with-replacement":
        raise InvalidInput.at("/batch_size", "exceeds the client's records", allowed=f"≤ {run.samples_per_client}")


@request
class BatchRunInputs(ParticipationInputs, ABC):
    """A federated run with batches of records. If absent, the number of rounds is the prescribed one."""

    variant: Annotated[Variant, _VARIANT] = "complete"
    batch_size: BatchSize
    rounds: Annotated[int | None, ROUNDS] = None
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

    checks: ClassVar[Checks] = (_batch_within_client,)

    @cached_property
    def equal_clients(self) -> ClientGroup:
        """All clients as one group, with the fields of the request."""
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
        """Groups of equal clients, each with its own number of records, batch size, ε and δ."""


@request
class UnlikeClientsInputs(BatchRunInputs):
    """A federation and the loss; all clients participate, or M of them, or a random number.

    A member of `client_groups` has the fields of the request for all fields that it leaves out. Absent rounds are as
    prescribed; absent participants are all clients. Give one of delta and log10_delta.
    """

    client_groups: Annotated[tuple[ClientGroupRequest, ...] | None, CLIENT_GROUPS] = None

    def check(self) -> None:
        """Check that the groups add up to all clients, and for the informal statement that the clients are equal."""
        super().check()
        if self.client_groups is not None:
            read_members(self, "client_groups", ClientGroupRequest)
            faults = client_group_faults(self.client_groups, clients=self.clients, sampling=self.sampling)
            if faults:
                raise InvalidInput(*faults)
        if self.variant == "informal" and not self.all_equal:
            raise InvalidInput.at("/client_groups", "the informal statement is for equal clients", allowed="one kind")

    @cached_property
    def scales_of_losses(self) -> tuple[float, ...]:
        """Factor p_i N by which the weight p_i of a client multiplies its losses, for each group; 1 without weights."""
        if not self.client_groups:
            return (1.0,)
        return loss_scales([(group.weight, group.clients) for group in self.client_groups])

    @cached_property
    def kinds(self) -> tuple[ClientGroup, ...]:
        """Groups in the order of the request, with weighted Lipschitz constants, or all clients as one group."""
        if self.client_groups is None:
            return (self.equal_clients,)
        return tuple(map(self._client_group, self.client_groups, self.scales_of_losses))

    def _client_group(self, group: ClientGroupRequest, scale: float) -> ClientGroup:
        """Return a group of clients, with fields that the group leaves out taken from the whole request.

        Args:
            group: the group of the request.
            scale: factor that the group's weight puts on its losses, and so on their Lipschitz constant.

        Returns:
            The group, with the Lipschitz constant of its weighted losses.
        """
        lipschitz = self.lipschitz if group.lipschitz is None else group.lipschitz
        epsilon = self.epsilon if group.epsilon is None else group.epsilon
        return ClientGroup(
            clients=group.clients,
            samples_per_client=group.samples_per_client,
            batch_size=group.batch_at(batch_size=self.batch_size, samples_per_client=self.samples_per_client),
            lipschitz=scale * lipschitz,
            epsilon=epsilon,
            log_delta=group.log_delta_or(self.log_delta),
        )

    @cached_property
    def largest_lipschitz(self) -> float:
        """Largest Lipschitz constant L of the weighted losses."""
        return max(kind.lipschitz for kind in self.kinds)

    @property
    def weighted_convexity(self) -> float:
        """Smallest strong convexity μ of the weighted losses."""
        return min(self.scales_of_losses) * self.strong_convexity

    @property
    def all_equal(self) -> bool:
        """True if all clients are equal in the printed and in the corrected formulas."""
        return all(len(self.federation_in(reading).groups) == 1 for reading in READINGS)

    def adds_own_noise(self, reading: Reading) -> bool:
        """Return whether the noise is scaled with a client's own L_i (`corrected`), not the largest L (`printed`)."""
        return reading == "corrected"

    def federation_in(self, reading: Reading) -> Federation:
        """Return the clients with the constants that the formulas of a reading use, and equal clients in one group."""
        if reading not in self._federations:
            self._federations[reading] = self._federation_of_reading(reading)
        return self._federations[reading]

    @cached_property
    def _federations(self) -> dict[Reading, Federation]:
        """Results of `federation_in`, kept because many formulas use them."""
        return {}

    def _federation_of_reading(self, reading: Reading) -> Federation:
        """Return the clients of a run in groups of equal ones, for the paper's formulas or for corrected ones.

        L_i is the Lipschitz constant of client i, and L the largest one. If a client scales its noise with its own L_i,
        its ε is divided by L_i/L. All clients then have the constant 1, and clients that have become equal are merged.

        Args:
            reading: version of the formulas. `printed` has those of the paper with its known errors, `corrected` those
                without.

        Returns:
            The groups, no two of which have equal clients, with the distribution of the number of participants.
        """
        scales_own_noise = self.adds_own_noise(reading)
        counts: Counter[ClientGroup] = Counter()  # number of clients that are equal to a group of one client
        for kind in self.kinds:
            lipschitz_ratio = 1.0
            if scales_own_noise:
                lipschitz_ratio = kind.lipschitz / self.largest_lipschitz
            one_client = replace(with_own_lipschitz(kind, lipschitz_ratio), clients=1)
            counts[one_client] += kind.clients
        groups = tuple(replace(one_client, clients=count) for one_client, count in counts.items())
        return Federation(groups=groups, counts=self.counts)

    def run_in(self, reading: Reading, cls: type[T], **further: object) -> T:
        """Return the clients and the constants of the loss as an instance of the class that formulas take.

        Args:
            reading: `printed` for the paper's formulas as they are, `corrected` for those without its errors.
            cls: dataclass of the federation and the loss; its remaining fields have the names of the request's fields.
            further: values of fields that the request does not have, or has under a different name.

        Returns:
            The instance of `cls`.
        """
        return of_same_fields(
            cls,
            self,
            federation=self.federation_in(reading),
            lipschitz=self.largest_lipschitz,
            strong_convexity=self.weighted_convexity,
            **further,
        )

    def noise_stds(self, rounds: int, reading: Reading) -> tuple[float, ...]:
        """Return the standard deviation σ of the noise of each group of clients in a run of R rounds.

        Args:
            rounds: number R of rounds.
            reading: whether σ is scaled with the largest Lipschitz constant L of all groups, or with the group's own
                L_i. See `adds_own_noise`.

        Returns:
            One σ for each group, in the order of `kinds` and in the unit of the gradients.
        """
        own_noise = self.adds_own_noise(reading)
        stds = []
        for kind in self.kinds:
            lipschitz = kind.lipschitz if own_noise else self.largest_lipschitz
            stds.append(noise_std(lipschitz=lipschitz, rounds=rounds, **kind.records_and_target))
        return tuple(stds)


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


def smallest_round_count(right_side: Callable[[int], float]) -> int:
    """Return the smallest integer R ≥ 1 with R ≥ right_side(R), by bisection on integers.

    Theorems prescribe a number of rounds R by averages of the clients' noise, which themselves depend on R.

    Args:
        right_side: prescribed number of rounds as a function of R, which decreases, except for possible jumps.

    Returns:
        The number R of rounds.

    Guarantees:
        R ≥ right_side(R), and R − 1 < right_side(R − 1) unless R = 1. If there are jumps up, R may not be the smallest.

    Raises:
        Infeasible: the right side is not finite at R = 1.
    """
    right_side_at_one = right_side(1)
    if not math.isfinite(right_side_at_one):
        raise Infeasible("the prescribed number of rounds is not finite")
    # Search for a number of rounds that is large enough; the last one that is not bounds the answer from below.
    too_few, enough = 0, max(1, math.ceil(right_side_at_one))
    while enough < right_side(enough):  # only where the right side jumps up
        too_few, enough = enough, 2 * enough
    return bisect_integers(lambda rounds: rounds < right_side(rounds), too_few, enough) + 1
