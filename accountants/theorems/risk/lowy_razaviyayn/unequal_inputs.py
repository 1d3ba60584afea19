"""What the complete Theorems 2.1 and 2.2 of Lowy and Razaviyayn take: clients that differ, M_r of them in a round.

Client i has n_i records, batches of K_i, a target (ε_i, δ_i) and losses with the Lipschitz constant L_i; a weight p_i
multiplies its losses by p_i N (Appendix B). The number M_r of participants may be random, with M = 1/E[1/M_r] and
M' = 1/√E[1/M_r²]. As printed every σ_i is for L = max L_i, so that Ψ = L² Ξ; in the corrected reading a client adds the
noise of its own L_i, as in Theorem E.1, so that Ψ is made of ψ_i = L_i² ξ_i and Ξ stands for Ψ/L².
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import CLIENT_GROUPS, PARTICIPANTS, PARTICIPATION, request
from epsilond.accountants.theorem import Condition, Reading, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.client_groups import (
    ClientGroupRequest,
    check_group_scales,
    client_group_faults,
    law_faults,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import (
    ClientGroup,
    Federation,
    ParticipationCount,
    participation_counts,
    read_members,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    epsilon_limit,
    minimal_batch_size,
    noise_std,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import BatchRunInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescription import with_own_lipschitz
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_prescription import Prescription
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import loss_scales


@dataclass(frozen=True, kw_only=True)
class WeightedGroup(ClientGroup):
    """Clients that are alike, and the Lipschitz constant p_i N L_i of their weighted losses."""

    lipschitz: float


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
    def kinds(self) -> tuple[WeightedGroup, ...]:
        """The groups in the order of the request, or all clients as one."""
        if self.client_groups is None:
            return (
                WeightedGroup(
                    clients=self.clients,
                    samples_per_client=self.samples_per_client,
                    batch_size=self.batch_size,
                    epsilon=self.epsilon,
                    log_delta=self.log_delta,
                    lipschitz=self.lipschitz,
                ),
            )
        return tuple(
            WeightedGroup(
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
        counted: dict[tuple[int, int, float, float], ClientGroup] = {}
        for group in seen.groups:
            key = (group.samples_per_client, group.batch_size, group.epsilon, group.log_delta)
            known = counted.get(key)
            counted[key] = replace(known, clients=known.clients + group.clients) if known else group
        return replace(seen, groups=tuple(counted.values()))

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

    @abstractmethod
    def prescription(self, reading: Reading) -> Prescription:
        """What the variant prescribes in a reading."""


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


def _group_outputs(inputs: UnlikeClientsInputs, kind: WeightedGroup, std: float, rounds: int) -> dict[str, Any]:
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


def _shares(inputs: UnlikeClientsInputs) -> Sides:
    """The least and the largest K_i/n_i, compared exactly."""
    shares = [Fraction(kind.batch_size, kind.samples_per_client) for kind in inputs.kinds]
    least, largest = min(shares), max(shares)
    return Sides(least == largest or inputs.variant == "informal", float(least), float(largest))


EQUAL_SHARES = Condition("equal-shares", "K_i/n_i is the same for all clients (least and largest)", _shares)


def logarithm(inputs: UnlikeClientsInputs, reading: Reading) -> Sides:
    """The argument of the prescription's logarithm against 1; unbounded where there is none."""
    argument = inputs.prescription(reading).terms.get("logarithm_argument", math.inf)
    return Sides(argument > 1.0, argument, 1.0)


LOGARITHM_ABOVE_ONE = Condition(
    "logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", logarithm, by_reading=True
)
