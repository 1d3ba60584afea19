"""The question that mb-sgd answers: a target, a federation and a learning problem."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    ParticipationCount,
    ParticipationMoments,
    client_group_faults,
    law_faults,
    loss_scales,
    participation_counts,
    read_members,
)
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    ANY_SCALE,
    BATCH_SIZE,
    CLIENT_GROUPS,
    HETEROGENEITY,
    IDENTICALLY_DISTRIBUTED,
    INITIAL_DISTANCE,
    PARTICIPANTS,
    PARTICIPATION,
    ROUNDS,
    SAMPLING,
    SMOOTHNESS,
    SQUARES,
    Clients,
    Diameter,
    Dimension,
    Lipschitz,
    Quantity,
    SamplesPerClient,
    Sampling,
    StrongConvexity,
    TargetedProblem,
    request,
)
from epsilond.accountants.quantities.limits import COMMUNICATION_BUDGET, MAX_GRADIENTS, Within
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.calibrators.mb_sgd.groups import TargetedGroup, group_target_faults, pair_target_faults

Reading = Literal["informal", "complete", "proof", "experimental", "corrected"]
READINGS: tuple[Reading, ...] = ("informal", "complete", "proof", "experimental", "corrected")
BITS_PER_COORDINATE = 32
PRINTED_READINGS = Quantity(description="interpretations (readings) of the printed theorem to return; all if absent")


@dataclass(frozen=True, kw_only=True)
class Run:
    """The batch size and the number of rounds of a run.

    Attributes:
        batch_size: records that one client uses in a round, at least 1. With client groups it is the number of a client
            with `samples_per_client` records.
        rounds: number of rounds, at least 1.
    """

    batch_size: int
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The size of the messages of one round, in bits.

    Attributes:
        bits_per_client: bits of one client's message.
        bits_per_round: bits of all messages, for the largest possible number of participants.
    """

    bits_per_client: int
    bits_per_round: int


@request
class PacedProblem(TargetedProblem):
    """Fields of all mini-batch algorithms: the privacy target, the federation and the learning problem.

    An absent `batch_size` or `rounds` is chosen. The chosen run has the fewest rounds, and then the smallest batch, for
    which the certified bound on the excess risk is at most 1 + `within` times the least bound. All compared runs are
    within `max_gradients` and `communication_budget`.
    """

    epsilon: Annotated[float | None, ANY_EPSILON, SQUARES] = None
    samples_per_client: SamplesPerClient
    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    rounds: Annotated[int | None, ROUNDS] = None
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    max_gradients: Annotated[int | None, MAX_GRADIENTS] = None
    communication_budget: Annotated[int | None, COMMUNICATION_BUDGET] = None
    within: Within = 0.1

    @property
    def sampling(self) -> Sampling:
        """Sampling of batches: without replacement, unless an algorithm has a field for it."""
        return "without-replacement"

    @property
    def client_groups(self) -> tuple[TargetedGroup, ...] | None:
        """Client groups: None (all clients are equal), unless an algorithm has a field for them."""
        return None

    @property
    def participation(self) -> tuple[ParticipationCount, ...] | None:
        """Distribution of participants: None (a fixed number), unless an algorithm has a field for it."""
        return None

    def check(self) -> None:
        """Reject combinations of fields that no run can have."""
        faults = self._member_faults() or list(self._crossing_faults())
        if faults:
            raise InvalidInput(*faults)

    def _member_faults(self) -> list[Fault]:
        """Return the faults of client groups and of the distribution of participation, if the problem has them."""
        return []

    def _crossing_faults(self) -> Iterator[Fault]:
        """Yield a fault for each pair of fields that contradict each other.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        samples = self.samples_per_client
        curvature, smoothness = self.strong_convexity, self.smoothness

        if (self.participants or 1) > self.clients:
            yield Fault("/participants", "cannot exceed clients", f"≤ {self.clients}")
        if (self.batch_size or 1) > samples and self.sampling != "with-replacement":
            message = "cannot exceed samples_per_client unless drawn with replacement"
            yield Fault("/batch_size", message, f"≤ {samples}")
        if self.sampling == "full" and self.batch_size not in (None, samples):
            yield Fault("/batch_size", "a full batch holds samples_per_client records", f"= {samples}")

        if smoothness is not None and curvature > smoothness:
            yield Fault("/strong_convexity", "cannot exceed smoothness", f"≤ {smoothness}")
        # A μ-strongly convex loss on a domain of diameter D has a gradient of norm at least μD/2 somewhere.
        if any(curvature * self.diameter > 2 * lipschitz for lipschitz in self._lipschitz_constants):
            yield Fault("/strong_convexity", "a strongly convex loss has lipschitz ≥ strong_convexity · diameter / 2")
        if (self.initial_distance or 0.0) > self.diameter:
            yield Fault("/initial_distance", "cannot exceed diameter", f"≤ {self.diameter:g}")
        yield from self._budget_faults()

    def _budget_faults(self) -> Iterator[Fault]:
        """Yield a fault for each budget that the requested run exceeds.

        An absent batch size or number of rounds counts as 1, the least that may be chosen.

        Yields:
            Faults with the pointer to the budget and its least allowed value.
        """
        rounds, batch_size = self.rounds or 1, self.batch_size or 1
        if self.max_gradients is not None and self.max_gradients < batch_size * rounds:
            yield Fault("/max_gradients", "cannot be below batch_size · rounds", f"≥ {batch_size * rounds}")
        bits = self.bits_per_round * rounds
        if self.communication_budget is not None and self.communication_budget < bits:
            yield Fault("/communication_budget", "does not pay for the rounds", f"≥ {bits}")

    @property
    def given_run(self) -> Run | None:
        """The run if the request gives batch size and rounds; None otherwise."""
        if self.batch_size is None or self.rounds is None:
            return None
        return Run(batch_size=self.batch_size, rounds=self.rounds)

    @property
    def scales(self) -> tuple[float, ...]:
        """Factor p N on the loss of each client group, for N clients and the weight p of the group; 1 without groups.

        The mean of the scaled losses is then the weighted objective (Lowy and Razaviyayn, Appendix B).
        """
        if not self.client_groups:
            return (1.0,)
        return loss_scales([(group.weight, group.clients) for group in self.client_groups])

    def batch_of(self, group: TargetedGroup, run: Run) -> int:
        """Return the number of records that one client of a group uses in a round.

        If batches are full, these are all its records. Otherwise they are the group's own batch size. If the group has
        none, its clients use the same fraction of their records as a client with `samples_per_client` records.

        Args:
            group: a group of clients of the request.
            run: the run, of which only the batch size is used.

        Returns:
            The number of records, at least 1.
        """
        if self.sampling == "full":
            return group.samples_per_client
        return group.batch_at(batch_size=run.batch_size, samples_per_client=self.samples_per_client)

    @property
    def _lipschitz_constants(self) -> tuple[float, ...]:
        """The Lipschitz constant of each group of clients, or that of all clients if there are no groups."""
        if not self.client_groups:
            return (self.lipschitz,)
        return tuple(group.lipschitz or self.lipschitz for group in self.client_groups)

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """The distribution of the number of participants, as (count, probability) pairs."""
        if self.participation is None:
            return ((self.participants or self.clients, 1.0),)
        return participation_counts(self.participation)

    @property
    def moments(self) -> ParticipationMoments:
        """The moments of the number of participants, which the bounds depend on."""
        return ParticipationMoments.of(self.counts)

    @property
    def reporting(self) -> int:
        """Number M of participants: all clients by default, and the largest possible number if it is random."""
        return max(count for count, _ in self.counts)

    @property
    def bits_per_round(self) -> int:
        """Bits of all messages of one round, at most: one single-precision float per coordinate."""
        return BITS_PER_COORDINATE * self.dimension * self.reporting

    @property
    def traffic(self) -> Traffic:
        """Size of a client's message, and of all messages of one round, in bits."""
        return Traffic(bits_per_client=BITS_PER_COORDINATE * self.dimension, bits_per_round=self.bits_per_round)

    @property
    def expected_bits_per_round(self) -> float:
        """Expected bits of all messages of one round."""
        return BITS_PER_COORDINATE * self.dimension * math.fsum(count * share for count, share in self.counts)


@request
class MiniBatchProblem(PacedProblem):
    """The problem with a sampling of batches, groups of unlike clients, and a random number of participants.

    A group in `client_groups` without a target or a Lipschitz constant has that of the problem. Without a batch size,
    it draws the same share of its records.
    """

    sampling: Annotated[Sampling, SAMPLING] = "without-replacement"
    identically_distributed: Annotated[bool, IDENTICALLY_DISTRIBUTED] = True
    heterogeneity: Annotated[float | None, HETEROGENEITY, ANY_SCALE] = None
    readings: Annotated[tuple[Reading, ...] | None, PRINTED_READINGS] = None
    client_groups: Annotated[tuple[TargetedGroup, ...] | None, CLIENT_GROUPS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None

    def check(self) -> None:
        """Check the fields, and that groups and participation counts fit the federation."""
        for name, member in (("client_groups", TargetedGroup), ("participation", ParticipationCount)):
            if getattr(self, name) is not None:
                read_members(self, name, member)
        super().check()

    def _member_faults(self) -> list[Fault]:
        """Return the faults of the client groups and of the random number of participants."""
        return [*self._group_faults(), *self._participation_faults()]

    def _group_faults(self) -> list[Fault]:
        """Return the faults of the client groups: of their sizes, and then of their privacy targets.

        Returns:
            Faults with the pointer to the field, the reason and the allowed values; empty without groups.
        """
        if self.client_groups is None:
            return []
        # Each check needs fields that the one before has accepted.
        faults = client_group_faults(self.client_groups, clients=self.clients, sampling=self.sampling)
        if not faults:
            faults = list(group_target_faults(self, self.client_groups))
        # Bounds on the excess risk divide by ε, so their requests need a pair (ε, δ) with ε > 0.
        if not faults and isinstance(self, PairTarget):
            faults = list(pair_target_faults(self.client_groups))
        return faults

    def _participation_faults(self) -> list[Fault]:
        """Return the faults of the distribution of the number of participants, if the request has one."""
        if self.participation is None:
            return []
        return law_faults(self.participation, participants=self.participants, clients=self.clients)

    def _crossing_faults(self) -> Iterator[Fault]:
        """Yield a fault for fields that contradict each other, and for unknown readings."""
        yield from super()._crossing_faults()
        if self.identically_distributed and (self.heterogeneity or 0.0) > 0:
            yield Fault("/heterogeneity", "needs identically_distributed = false", "0")
        if not set(self.readings or ()) <= set(READINGS):
            yield Fault("/readings", "has an unknown reading", ", ".join(READINGS))


@request
class MbSgdProblem(MiniBatchProblem):
    """The request of mb-sgd: the target, the federation, the learning problem and limits on the run."""
