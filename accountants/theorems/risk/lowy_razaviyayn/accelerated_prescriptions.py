"""Prescriptions of Theorems E.1 and 2.4 of Lowy and Razaviyayn: rounds, envelope, regulariser, and order of the risk.

Records are re-used, and the noise is that of Algorithm 1. Theorem 2.4 replaces a loss that is not smooth by its Moreau
envelope. All risks hide constants, so they are orders of magnitude. The explicit bound at any noise and rounds is in
`accelerated_bound.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import Aggregates, aggregates
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import smallest_round_count
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import client_factor


@dataclass(frozen=True, kw_only=True)
class ReusedRun(DescentRun):
    """The federation and the loss. The envelope replaces a loss that is not smooth (Theorem 2.4).

    `empirical_gradient_std` is Φ̂, of the envelope if there is one. `empirical_heterogeneity` is v̂, and `gap` is Δ.
    """

    gap: float
    empirical_gradient_std: float
    empirical_heterogeneity: float = 0.0

    def leaves_records_out(self, reading: Reading) -> bool:
        """Decide whether a round leaves records out: 1{MK < ñ}, with ñ the number of records of all clients.

        K is the smallest batch. Hence the printed indicator is 1 for full batches of clients with different numbers of
        records.

        Args:
            reading: "corrected", if all clients participate, compares each batch with the records of its own client.
        """
        groups, participation = self.federation.groups, self.federation.participation
        if reading == "corrected" and self.federation.all_participate:
            return any(group.batch_size < group.samples_per_client for group in groups)
        records = sum(group.clients * group.samples_per_client for group in groups)
        return participation.mean * self.federation.smallest_batch < records

    @property
    def client_variance(self) -> float:
        """(v̂²/M)(N − M)/(N − 1), in squared gradient units; the theorems leave it out (E-12)."""
        moments = self.federation.participation
        if self.federation.all_participate:
            return 0.0
        squared = self.empirical_heterogeneity * self.empirical_heterogeneity
        return client_factor(clients=self.federation.clients, participants=moments.mean) * squared

    def aggregates(self, rounds: int, reading: Reading) -> Aggregates:
        """Return the aggregates of the federation; M~ is defined for the envelope of Theorem 2.4 only."""
        return aggregates(self.federation, rounds, "corrected" if self.is_smooth else reading)

    def privacy(self, totals: Aggregates) -> float:
        """Return d Ψ~, in squared gradient units."""
        return self.dimension * self.lipschitz * self.lipschitz * totals.xi


@dataclass(frozen=True, kw_only=True)
class AcceleratedFigures:
    """Figures of the complete statements in addition to the rounds and the risk.

    `terms` add up to the bound before R is chosen, (30) or (32). `variance` is V² at the printed σ. `regularization` is
    λ = V/(2D√R). `envelope_smoothness` is b of Theorem 2.4.
    """

    terms: Mapping[str, float]
    variance: float
    regularization: float
    aggregates: Aggregates
    envelope_smoothness: float | None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPrescription:
    """The run that a reading prescribes, and its risk up to constants: (28), (29), (31), (33) to (36).

    `prescribed_rounds` is the right side of R ≥ … at the R that is run. In an informal statement it is up to logarithms
    too, and there are no `figures`.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    logarithm_argument: float
    figures: AcceleratedFigures | None = None


def envelope_for(run: ReusedRun, totals: Aggregates) -> float:
    """Return the smoothness of the envelope, b = L²√M~/(D√(dΨ~)), or μM~L²/(dΨ~) if μ > 0."""
    squared, privacy = run.lipschitz * run.lipschitz, run.privacy(totals)
    if run.strong_convexity > 0.0:
        return run.strong_convexity * totals.participants * squared / privacy
    return squared * math.sqrt(totals.participants / privacy) / run.diameter


def complete_prescription(
    run: ReusedRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> AcceleratedPrescription:
    """Evaluate the complete statements, (30) to (36), at the smallest R that meets its own prescription.

    Let M* be M' or M, by the smaller of Ψ/M' and ψ_max/M. Theorem E.1 prescribes
    R = max{√(βD√M*/√(dΨ~)), 1{MK < ñ}Φ̂²/(K dΨ~)}. If μ > 0, the first number is √(β/μ) ln(ΔμM*/(dΨ~)). In Theorem
    2.4 the first number is L√M*/√(dΨ~), times ln(ΔμM*/(dΨ~)) if μ > 0, and L replaces Φ̂.

    The envelope's own strong convexity μb/(μ + b) is at least μ/2 where b ≥ μ: the scales may keep μ, as printed.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the smallest that is prescribed.
        reading: `printed` has no K in R (E-10), and M~ = √M' or √M in the envelope of Theorem 2.4 (E-06);
            `corrected` adds v̂²(N − M)/((N − 1) dΨ~) to R for M < N, and the term of that variance (E-12).
    """

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        return _required_rounds(run, run.aggregates(count, reading), reading)

    chosen = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = run.aggregates(chosen, reading)
    smoothness = run.smoothness if run.is_smooth else envelope_for(run, totals)
    squared = run.lipschitz * run.lipschitz
    participants = run.federation.participation.mean
    average_noise = 256.0 * squared * chosen * totals.noise_ratio * participants
    noise = run.dimension * (average_noise / participants)
    clients = run.client_variance if reading == "corrected" else 0.0
    batches = participants * run.federation.smallest_batch if run.leaves_records_out(reading) else math.inf
    sampling = run.empirical_gradient_std * run.empirical_gradient_std / batches
    total = sampling + noise + clients
    privacy = run.dimension * squared * totals.noise_ratio
    if run.strong_convexity > 0.0:
        terms = _strongly_convex_terms(run, chosen, smoothness, sampling=sampling, clients=clients, privacy=privacy)
    else:
        # (34) has L for Φ̂ even where V² has 2L (E-36).
        minibatch = sampling if run.is_smooth else squared / batches
        terms = _convex_terms(run, chosen, smoothness, sampling=minibatch, clients=clients, privacy=privacy)
    return AcceleratedPrescription(
        rounds=chosen,
        prescribed_rounds=required_rounds(chosen),
        excess_risk=terms["privacy"],
        logarithm_argument=_logarithm_argument(run, totals),
        figures=AcceleratedFigures(
            terms=terms,
            variance=total,
            regularization=math.sqrt(total / chosen) / (2.0 * run.diameter),
            aggregates=totals,
            envelope_smoothness=None if run.is_smooth else smoothness,
        ),
    )


def _convex_terms(
    run: ReusedRun, rounds: int, smoothness: float, *, sampling: float, clients: float, privacy: float
) -> dict[str, float]:
    """Return the terms of the convex bound before R is chosen.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds.
        smoothness: smoothness of the loss or of its envelope.
        sampling: variance of one round's gradient by the sampling of records.
        clients: variance of one round's gradient by the sampling of clients.
        privacy: d min{Ψ/M', ψ_max/M}, the part of the noise up to a constant.
    """
    return {
        "optimisation": smoothness * (run.diameter / rounds) ** 2,
        "minibatch": run.diameter * math.sqrt(sampling / rounds),
        "clients": run.diameter * math.sqrt(clients / rounds),
        "privacy": run.diameter * math.sqrt(privacy),
    }


def _strongly_convex_terms(
    run: ReusedRun, rounds: int, smoothness: float, *, sampling: float, clients: float, privacy: float
) -> dict[str, float]:
    """Return the terms of the strongly convex bound before R is chosen; the arguments are those of `_convex_terms`."""
    mu = run.strong_convexity
    return {
        "optimisation": run.gap * math.exp(-rounds * math.sqrt(mu / smoothness)),
        "minibatch": sampling / (mu * rounds),
        "clients": clients / (mu * rounds),
        "privacy": privacy / mu,
    }


def _logarithm_argument(run: ReusedRun, totals: Aggregates) -> float:
    """Return ΔμM*/(dΨ~), the argument of the logarithm in R of the strongly convex statements; M* is M' or M."""
    return run.gap * run.strong_convexity * totals.plain_participants / run.privacy(totals)


def _accelerated_rounds(run: ReusedRun, totals: Aggregates) -> float:
    """Return the first of the two numbers of rounds; the prescribed R is their maximum."""
    privacy_root = math.sqrt(run.privacy(totals))
    participants_root = math.sqrt(totals.plain_participants)
    if run.strong_convexity == 0.0:
        if not run.is_smooth:
            return run.lipschitz * participants_root / privacy_root
        return math.sqrt(run.smoothness * run.diameter * participants_root / privacy_root)
    argument = _logarithm_argument(run, totals)
    log = math.log(argument) if argument > 0.0 else -math.inf
    if not run.is_smooth:
        return run.lipschitz * participants_root / privacy_root * log
    return math.sqrt(run.smoothness / run.strong_convexity) * log


def _required_rounds(run: ReusedRun, totals: Aggregates, reading: Reading) -> float:
    """Return the number of rounds that the statement prescribes for the aggregates of a federation."""
    privacy = run.privacy(totals)
    # Theorem 2.4 has L² in place of Φ̂² here, in both readings.
    gradient_std = run.empirical_gradient_std if run.is_smooth else run.lipschitz
    divisor = 1 if reading == "printed" else run.federation.smallest_batch
    sampled = gradient_std * gradient_std / divisor if run.leaves_records_out(reading) else 0.0
    if reading == "corrected":
        sampled += run.client_variance * run.federation.participation.mean
    return max(_accelerated_rounds(run, totals), sampled / privacy)


def envelope_figures(run: ReusedRun, smoothness: float, reading: Reading = "corrected") -> dict[str, float]:
    """Return b, and the gap, Lipschitz constant and strong convexity of the envelope.

    Args:
        run: the federation and the loss.
        smoothness: b.
        reading: "printed" for 2L as the Lipschitz constant; "corrected" for L (E-17).
    """
    return {
        "envelope_smoothness": smoothness,
        "smoothing_gap": envelope_gap(lipschitz=run.lipschitz, envelope_smoothness=smoothness),
        "envelope_lipschitz": envelope_lipschitz(lipschitz=run.lipschitz, reading=reading),
        "envelope_strong_convexity": envelope_strong_convexity(
            strong_convexity=run.strong_convexity, envelope_smoothness=smoothness
        ),
    }


def informal_prescription(run: ReusedRun, *, rounds: int | None = None) -> AcceleratedPrescription:
    """Evaluate the informal statements for equal clients: (28), (29) if smooth, (10), (11) if not.

    R is the larger of two numbers. For a smooth loss they are √(βD√M εn/(L√d)) and 1{MK < Nn} ε²n²Φ̂²/(K d ln(1/δ) L²).
    For other losses the first is √M εn/√(d ln(1/δ)), and L replaces Φ̂. Let l = ln(DμMε²n²/(Ld)). If μ > 0, the first
    number is √(β/μ) l for a smooth loss, and is multiplied by l for others.
    """
    (group,) = run.federation.groups
    participants, reach = run.federation.participation.mean, group.epsilon * group.samples_per_client
    private = run.dimension * -group.log_delta
    argument = run.diameter * run.strong_convexity * participants * reach * reach / (run.lipschitz * run.dimension)
    log = math.log(argument) if argument > 0.0 else -math.inf
    if not run.is_smooth:
        first = math.sqrt(participants / private) * reach
        if run.strong_convexity > 0.0:
            first *= log
        relative_variance, cost = 1.0, private
    else:
        drift = run.smoothness * run.diameter * reach / run.lipschitz
        if run.strong_convexity > 0.0:
            first = math.sqrt(run.smoothness / run.strong_convexity) * log
        else:
            first = math.sqrt(drift * math.sqrt(participants / run.dimension))
        relative_variance = (run.empirical_gradient_std / run.lipschitz) ** 2
        cost = run.dimension * (math.log(2.0) - group.log_delta)
    second = 0.0
    if run.leaves_records_out("printed"):
        second = reach * reach * relative_variance / (group.batch_size * private)
    prescribed_rounds = max(first, second)
    chosen = rounds if rounds is not None else smallest_round_count(lambda _: prescribed_rounds)
    if run.strong_convexity > 0.0:
        scale = run.lipschitz * run.lipschitz * cost / (run.strong_convexity * reach * reach * participants)
    else:
        scale = run.lipschitz * run.diameter * math.sqrt(cost / participants) / reach
    return AcceleratedPrescription(
        rounds=chosen,
        prescribed_rounds=prescribed_rounds,
        excess_risk=scale,
        logarithm_argument=argument if run.strong_convexity > 0.0 else math.inf,
    )


def speedup(run: ReusedRun) -> float:
    """Return min{√M εn/√d, MK}, the factor by which (10) needs fewer rounds than earlier results, up to logarithms."""
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    reach = group.epsilon * group.samples_per_client
    return min(math.sqrt(participants / run.dimension) * reach, participants * group.batch_size)
