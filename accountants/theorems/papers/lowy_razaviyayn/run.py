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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.federation import (
    ClientGroup,
    ClientGroupRequest,
    Federation,
    ParticipationCount,
    check_group_scales,
    client_group_faults,
    law_faults,
    loss_scales,
    participation_counts,
    read_members,
)
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    DELTA,
    LOG10_DELTA,
    PARTICIPANTS,
    PARTICIPATION,
    ROUNDS,
    SAMPLING,
    BatchSize,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Participants,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    natural_log_delta,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    Aggregates,
    epsilon_limit,
    minimal_batch_size,
    minimal_batch_size_real,
    noise_std,
    with_own_lipschitz,
)

Variant = Literal["informal", "complete"]

_VARIANT = Quantity(description="the main text's statement with hidden constants, or the appendix's complete one")


@request
class FederatedInputs:
    """The federation and the loss, apart from who participates. Give one of delta and log10_delta."""

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0

    def check(self) -> None:
        """One δ; K ≤ n unless drawn with replacement, μ ≤ β where there is a β; scales whose squares are doubles."""
        natural_log_delta(self.delta, self.log10_delta)
        check_scales(**{name: getattr(self, name) for name in self.scales()})
        smoothness: float | None = getattr(self, "smoothness", None)
        twice = getattr(self, "sampling", None) == "with-replacement"
        if (getattr(self, "batch_size", None) or 1) > self.samples_per_client and not twice:
            raise InvalidInput.at("/batch_size", "exceeds the client's records", allowed=f"≤ {self.samples_per_client}")
        if smoothness is not None and self.strong_convexity > smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {smoothness:g}")

    def scales(self) -> tuple[str, ...]:
        """Fields whose squares enter a formula."""
        return ("epsilon", "lipschitz", "diameter", "strong_convexity")

    @property
    def log_delta(self) -> float:
        """ln δ."""
        return natural_log_delta(self.delta, self.log10_delta)


@request
class EqualClientsInputs(FederatedInputs):
    """Equal clients, M of N in each round, and the loss. Give one of delta and log10_delta."""

    participants: Participants

    def check(self) -> None:
        """And M ≤ N."""
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        super().check()


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


@request
class BatchRunInputs(FederatedInputs, ABC):
    """And batches of K records. Absent: rounds are as prescribed."""

    variant: Annotated[Variant, _VARIANT] = "complete"
    batch_size: BatchSize
    rounds: Annotated[int | None, ROUNDS] = None
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

    @property
    @abstractmethod
    def kinds(self) -> Sequence[ClientGroup]:
        """The clients, alike ones together, each with its own n, K, ε and δ."""


@request
class BatchInputs(EqualClientsInputs, BatchRunInputs, ABC):
    """Equal clients with batches of K records. Absent: rounds are as prescribed."""

    @property
    def federation(self) -> Federation:
        """The clients."""
        return Federation.of_equal_clients(
            clients=self.clients,
            participants=self.participants,
            samples_per_client=self.samples_per_client,
            batch_size=self.batch_size,
            epsilon=self.epsilon,
            log_delta=self.log_delta,
        )

    @property
    def kinds(self) -> Sequence[ClientGroup]:
        """All of one kind."""
        return self.federation.groups


@request
class UnlikeClientsInputs(BatchRunInputs, ABC):
    """A federation and the loss; all clients participate, or M of them, or a random number.

    With `client_groups` the fields beside them are what a group inherits where it leaves its own out. Absent: rounds
    are as prescribed, participants all clients. Give one of delta and log10_delta.
    """

    participants: Annotated[int | None, PARTICIPANTS] = None
    client_groups: Annotated[tuple[ClientGroupRequest, ...] | None, CLIENT_GROUPS] = None
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None

    def check(self) -> None:
        """And groups that add up, a law of participation, and one kind of client for the informal statement."""
        for name, member in (("client_groups", ClientGroupRequest), ("participation", ParticipationCount)):
            if getattr(self, name) is not None:
                read_members(self, name, member)
        if (self.participants or 1) > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        super().check()
        check_group_scales(self.client_groups or ())
        faults = []
        if self.client_groups is not None:
            faults += client_group_faults(self.client_groups, clients=self.clients, sampling=self.sampling)
        if self.participation is not None:
            faults += law_faults(self.participation, participants=self.participants, clients=self.clients)
        if faults:
            raise InvalidInput(*faults)
        if self.variant == "informal" and len(self.federation_in("corrected").groups) > 1:
            raise InvalidInput.at("/client_groups", "the informal statement is for equal clients", allowed="one kind")

    @property
    def scales_of_losses(self) -> tuple[float, ...]:
        """p_i N of each group, 1 without weights."""
        groups = self.client_groups
        return loss_scales([(group.weight, group.clients) for group in groups]) if groups else (1.0,)

    @property
    def kinds(self) -> tuple[ClientGroup, ...]:
        """The groups in the order of the request, or all clients as one."""
        if self.client_groups is None:
            return (
                ClientGroup(
                    clients=self.clients,
                    samples_per_client=self.samples_per_client,
                    batch_size=self.batch_size,
                    epsilon=self.epsilon,
                    log_delta=self.log_delta,
                    lipschitz=self.lipschitz,
                ),
            )
        return tuple(
            ClientGroup(
                clients=group.clients,
                samples_per_client=group.samples_per_client,
                batch_size=group.batch_at(batch_size=self.batch_size, samples_per_client=self.samples_per_client),
                epsilon=self.epsilon if group.epsilon is None else group.epsilon,
                log_delta=group.log_delta_or(self.log_delta),
                lipschitz=scale * (self.lipschitz if group.lipschitz is None else group.lipschitz),
            )
            for group, scale in zip(self.client_groups, self.scales_of_losses, strict=True)
        )

    @property
    def largest_lipschitz(self) -> float:
        """L, the largest of all weighted losses."""
        return max(kind.lipschitz for kind in self.kinds)

    @property
    def weighted_convexity(self) -> float:
        """μ, the smallest of all weighted losses."""
        return min(self.scales_of_losses) * self.strong_convexity

    @property
    def counts(self) -> tuple[tuple[int, float], ...]:
        """The law of the number of participants, as (count, probability) pairs."""
        if self.participation is None:
            return ((self.participants or self.clients, 1.0),)
        return participation_counts(self.participation)

    def federation_in(self, reading: Reading) -> Federation:
        """The clients as the aggregates of a reading see them; those that these cannot tell apart are one group."""
        kinds, largest = self.kinds, self.largest_lipschitz
        ratios = [1.0 if reading == "printed" else kind.lipschitz / largest for kind in kinds]
        seen = with_own_lipschitz(Federation(groups=kinds, counts=self.counts), ratios)
        counted: dict[ClientGroup, int] = {}
        for group in seen.groups:
            one = replace(group, clients=1, lipschitz=1.0)
            counted[one] = counted.get(one, 0) + group.clients
        return replace(seen, groups=tuple(replace(one, clients=count) for one, count in counted.items()))

    def noise_stds(self, rounds: int, reading: Reading) -> tuple[float, ...]:
        """σ of each kind: for the largest L as printed, for its own in the corrected reading."""
        largest = self.largest_lipschitz
        return tuple(
            noise_std(
                lipschitz=largest if reading == "printed" else kind.lipschitz,
                samples_per_client=kind.samples_per_client,
                rounds=rounds,
                epsilon=kind.epsilon,
                log_delta=kind.log_delta,
            )
            for kind in self.kinds
        )


def prescribed_outputs(inputs: UnlikeClientsInputs, found: Prescription, reading: Reading) -> dict[str, Any]:
    """What both theorems prescribe. With `client_groups` each group's own stands in `groups`.

    Beside groups, the noise, its multiplier, the sensitivity and the least batch are the largest of any group's, and
    the limit of ε is the smallest.
    """
    groups = [
        _group_outputs(inputs, kind, std, found.rounds)
        for kind, std in zip(inputs.kinds, inputs.noise_stds(found.rounds, reading), strict=True)
    ]
    largest = ("noise_std", "noise_multiplier", "sensitivity", "minimal_batch_size")
    outputs: dict[str, Any] = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        **{name: max(group[name] for group in groups) for name in largest},
        "epsilon_limit": min(group["epsilon_limit"] for group in groups),
        "excess_risk" if found.constants == "explicit" else "excess_risk_scale": found.excess_risk,
    }
    if inputs.client_groups is not None:
        outputs["groups"] = groups
    if found.step_size is not None and found.averaging_ratio is not None:
        outputs |= {"step_size": found.step_size, "averaging_ratio": found.averaging_ratio}
    if found.aggregates is not None:
        seen, moments = found.aggregates, inputs.federation_in(reading).participation
        squared = inputs.largest_lipschitz * inputs.largest_lipschitz
        outputs |= {
            "effective_participants": seen.participants,
            "mean_participants": moments.mean,
            "rms_participants": moments.rms,
            "xi": seen.xi,
            "average_xi": seen.average_xi,
            "largest_xi": seen.largest_xi,
            "psi": squared * seen.xi,
            "average_psi": squared * seen.average_xi,
            "proof_excess_risk": proof_excess_risk(found),
        }
    return outputs | {f"{name}_term": value for name, value in found.terms.items()}


def _group_outputs(inputs: UnlikeClientsInputs, kind: ClientGroup, std: float, rounds: int) -> dict[str, Any]:
    return {
        "clients": kind.clients,
        "samples_per_client": kind.samples_per_client,
        "batch_size": kind.batch_size,
        "lipschitz": kind.lipschitz,
        "noise_std": std,
        "noise_multiplier": std * kind.batch_size / kind.lipschitz,
        "sensitivity": 2.0 * kind.lipschitz / kind.batch_size,
        "minimal_batch_size": minimal_batch_size(
            samples_per_client=kind.samples_per_client,
            rounds=rounds,
            epsilon=kind.epsilon,
            log_delta=kind.log_delta,
        ),
        "epsilon_limit": epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant),
    }


def proof_excess_risk(found: Prescription) -> float:
    """What the proof of a complete statement sums up: (27), or Lemma E.9 and the stability; and an envelope's gap."""
    gap = found.terms.get("smoothing_gap", 0.0)
    if "master" in found.terms:
        return found.terms["master"] + gap
    return found.terms["empirical"] + found.terms["stability"] + gap


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

    def least(kind: ClientGroup) -> float:
        return minimal_batch_size_real(
            samples_per_client=kind.samples_per_client,
            rounds=outputs["rounds"],
            epsilon=kind.epsilon,
            log_delta=kind.log_delta,
        )

    return binding(Sides.at_least(kind.batch_size, least(kind)) for kind in inputs.kinds)


def _drawn_once(inputs: BatchRunInputs) -> Sides:
    """How often a record may be drawn into one batch, against once."""
    most = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(most if inputs.sampling == "with-replacement" else 1, 1)


def _enough_rounds(_inputs: BatchRunInputs, outputs: Outputs) -> Sides:
    """R against the number that the reading prescribes."""
    return Sides.at_least(outputs["rounds"], outputs["prescribed_rounds"])


MINIMAL_BATCH = Condition(
    "minimal-batch-size", "K ≥ ε n/(4 √(2R ln(2/δ))), n the client's own", _large_enough_batch, of_outputs=True
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds", "R is at least what the statement prescribes at that R", _enough_rounds, of_outputs=True
)


def _shares(inputs: UnlikeClientsInputs) -> Sides:
    """The least and the largest K_i/n_i, compared exactly."""
    shares = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(shares), max(shares)
    return Sides(least == largest or inputs.variant == "informal", float(least), float(largest))


EQUAL_SHARES = Condition("equal-shares", "K_i/n_i is the same for all clients (least and largest)", _shares)


def _logarithm(_inputs: UnlikeClientsInputs, outputs: Outputs) -> Sides:
    """The argument of the prescription's logarithm against 1; unbounded where there is none."""
    argument = outputs.get("logarithm_argument_term", math.inf)
    return Sides(argument > 1.0, argument, 1.0)


LOGARITHM_ABOVE_ONE = Condition(
    "logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm, of_outputs=True
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
