"""What the statements of Lowy and Razaviyayn ask of a run, and the conditions and answers that they share.

Client i has n_i records, batches of K_i, a target (ε_i, δ_i) and losses with the Lipschitz constant L_i; a weight p_i
multiplies its losses by p_i N (Appendix B). The number M_r of participants may be random, with M = 1/E[1/M_r] and
M' = 1/√E[1/M_r²]. As printed every σ_i is for L = max L_i, so that Ψ = L² Ξ; in the corrected reading a client adds the
noise of its own L_i, as in Theorem E.1, so that Ψ is made of ψ_i = L_i² ξ_i and Ξ stands for Ψ/L².
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeVar

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
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    Aggregates,
    ProofChain,
    client_outputs,
    epsilon_limit,
    minimal_batch_size_real,
    noise_std,
    proof_chain,
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
class FederatedInputs(BudgetFields):
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
class EqualClientsInputs(FederatedInputs):
    """Equal clients, M of N in each round, and the loss. Give one of delta and log10_delta."""

    participants: Participants


@request
class ParticipationInputs(FederatedInputs):
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


# Answers of Theorems 2.1 and 2.2 ------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Prescription:
    """What a reading of Theorem 2.1 or 2.2 says to run, and the excess risk it claims for that.

    `prescribed_rounds` is the real right side of R ≥ … at the R that is run. The output is the average of the iterates
    with weights in the ratio `averaging_ratio` ≥ 1 from one to the next. `excess_risk` is in loss units; where
    `constants` is hidden it is a scale. An informal reading gives no step size. Theorem 2.2 adds the smoothness b of
    the envelope it runs on, and the printed convex bound with √M~ where the text has √M.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    constants: Literal["explicit", "hidden"]
    step_size: float | None = None
    averaging_ratio: float | None = None
    aggregates: Aggregates | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    envelope_smoothness: float | None = None
    excess_risk_at_effective_participants: float | None = None

    @property
    def proof_excess_risk(self) -> float:
        """What the proof of a complete statement sums up: (27), or Lemma E.9 and the stability; and the gap."""
        gap = self.terms.get("smoothing_gap", 0.0)
        if "master" in self.terms:
            return self.terms["master"] + gap
        return self.terms["empirical"] + self.terms["stability"] + gap


def noise_outputs(inputs: UnlikeClientsInputs, rounds: int, reading: Reading) -> dict[str, Any]:
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


def prescribed_outputs(inputs: UnlikeClientsInputs, found: Prescription, reading: Reading) -> dict[str, Any]:
    """What Theorems 2.1 and 2.2 prescribe."""
    outputs: dict[str, Any] = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        **noise_outputs(inputs, found.rounds, reading),
        "excess_risk" if found.constants == "explicit" else "excess_risk_scale": found.excess_risk,
    }
    if found.step_size is not None and found.averaging_ratio is not None:
        outputs |= {"step_size": found.step_size, "averaging_ratio": found.averaging_ratio}
    if found.aggregates is not None:
        outputs |= aggregate_outputs(inputs, found.aggregates, reading)
        outputs["proof_excess_risk"] = found.proof_excess_risk
    return outputs | {f"{name}_term": value for name, value in found.terms.items()}


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
    while passing - failing > 1:
        middle = (failing + passing) // 2
        if middle >= right_side(middle):
            passing = middle
        else:
            failing = middle
    return passing


# Conditions ---------------------------------------------------------------------------------------------------------
def binding(every: Iterable[Sides]) -> Sides:
    """Of the same condition on several clients the one that fails most, or else comes closest to failing."""
    sides = list(every)
    failing = [one for one in sides if one.holds is False]

    def apart(one: Sides) -> float:
        return abs(one.left - one.right) / max(abs(one.left), abs(one.right), 1e-300)

    return max(failing, key=apart) if failing else min(sides, key=apart)


def epsilon_range(inputs: BatchRunInputs) -> Sides:
    """ε against the variant's limit."""
    return binding(
        Sides.at_most(kind.epsilon, epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant))
        for kind in inputs.kinds
    )


def _large_enough_batch(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    """K against K_min at the rounds that are run; n is the client's own (E-04)."""
    return binding(
        Sides.at_least(kind.batch_size, minimal_batch_size_real(rounds=outputs["rounds"], **kind.records_and_target))
        for kind in inputs.kinds
    )


def _drawn_once(inputs: BatchRunInputs) -> Sides:
    """How often a record may be drawn into one batch, against once."""
    most = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(most if inputs.sampling == "with-replacement" else 1, 1)


def _shares(inputs: BatchRunInputs) -> Sides:
    """The least and the largest K_i/n_i, compared exactly."""
    shares = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(shares), max(shares)
    return Sides(least == largest or inputs.variant == "informal", float(least), float(largest))


def _logarithm(*, outputs: Outputs) -> Sides:
    """The argument of the prescription's logarithm against 1; unbounded where there is none."""
    argument = outputs.get("logarithm_argument_term", math.inf)
    return Sides(argument > 1.0, argument, 1.0)


def _chains(inputs: BatchRunInputs, outputs: Outputs) -> list[tuple[ClientGroup, ProofChain]]:
    """The steps of the printed privacy proof for every kind of client."""
    rounds = outputs["rounds"]
    return [
        (kind, proof_chain(batch_size=kind.batch_size, rounds=rounds, **kind.records_and_target))
        for kind in inputs.kinds
    ]


def _inner_epsilon(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    return binding(Sides.at_most(chain.inner_epsilon, 1.0) for _, chain in _chains(inputs, outputs))


def _composition_closes(inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    return binding(Sides.at_most(chain.printed_total, kind.epsilon) for kind, chain in _chains(inputs, outputs))


MINIMAL_BATCH = Condition(
    "minimal-batch-size", "K ≥ ε n/(4 √(2R ln(2/δ))), n the client's own", _large_enough_batch, of_outputs=True
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds",
    "R is at least what the statement prescribes at that R",
    lambda _inputs, outputs: Sides.at_least(outputs["rounds"], outputs["prescribed_rounds"]),
    of_outputs=True,
)
EQUAL_SHARES = Condition("equal-shares", "K_i/n_i is the same for all clients (least and largest)", _shares)
LOGARITHM_ABOVE_ONE = Condition(
    "logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm, of_outputs=True
)
PROOF_CONDITIONS = (
    Condition("inner-epsilon", "ε of one round before sampling is at most 1", _inner_epsilon, of_outputs=True),
    Condition(
        "composition-closes",
        "the printed composition of the rounds (Dwork and Roth 3.20) is at most ε",
        _composition_closes,
        of_outputs=True,
    ),
    DRAWN_ONCE,
)
"""What the printed privacy proof of Theorems 2.1 and 2.2 asks for, step by step, in place of its range of ε."""
