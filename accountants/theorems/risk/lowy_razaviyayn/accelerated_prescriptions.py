"""What Theorems E.1 and 2.4 of Lowy and Razaviyayn prescribe: rounds, envelope, regulariser, and the risk as a scale.

Records are used again, and the noise is that of Algorithm 1. Theorem 2.4 puts the Moreau envelope in place of a loss
that is not smooth. All risks hide constants: they are scales. The explicit bound at any noise and rounds is in
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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import client_factor


@dataclass(frozen=True, kw_only=True)
class ReusedRun(DescentRun):
    """The federation and the loss. The envelope replaces a loss that is not smooth (Theorem 2.4).

    `empirical_gradient_std` is Φ̂ (of the envelope, if there is one), `empirical_heterogeneity` v̂; `gap` is Δ.
    """

    gap: float
    empirical_gradient_std: float
    empirical_heterogeneity: float = 0.0

    def leaves_records_out(self, reading: Reading) -> bool:
        """Decide whether a round leaves records out: 1{MK < ñ}, ñ the records of all clients.

        Corrected, where all clients take part, it is whether any batch is less than its client's records. K is the
        smallest batch, so that the printed indicator is 1 for full batches of clients that differ in size.
        """
        groups, participation = self.federation.groups, self.federation.participation
        if reading == "corrected" and self.federation.all_participate:
            return any(group.batch_size < group.samples_per_client for group in groups)
        records = sum(group.clients * group.samples_per_client for group in groups)
        return participation.mean * self.federation.smallest_batch < records

    @property
    def client_variance(self) -> float:
        """(v̂²/M)(N − M)/(N − 1), which the theorems leave out (E-12)."""
        moments = self.federation.participation
        spread = self.empirical_heterogeneity * self.empirical_heterogeneity
        if self.federation.all_participate:
            return 0.0
        return client_factor(clients=self.federation.clients, participants=moments.mean) * spread

    def aggregates(self, rounds: int, reading: Reading) -> Aggregates:
        """Compute the aggregates of the federation; M~ is defined for the envelope of Theorem 2.4 only."""
        return aggregates(self.federation, rounds, "corrected" if self.is_smooth else reading)

    def privacy(self, seen: Aggregates) -> float:
        """Return d Ψ~, in squared gradient units."""
        return self.dimension * self.lipschitz * self.lipschitz * seen.xi


@dataclass(frozen=True, kw_only=True)
class AcceleratedFigures:
    """Figures of the complete statements beyond the rounds and the risk.

    `terms` add to the bound before R is put in, (30) or (32). `variance` is V² at the printed σ, `regularization`
    λ = V/(2D√R). `envelope_smoothness` is b of Theorem 2.4.
    """

    terms: Mapping[str, float]
    variance: float
    regularization: float
    aggregates: Aggregates
    envelope_smoothness: float | None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPrescription:
    """The run that a reading prescribes, and the risk it claims for it up to constants: (28), (29), (31), (33) to (36).

    `prescribed_rounds` is the right side of R ≥ … at the R that is run; in an informal statement it is up to logarithms
    too, and there are no `figures`.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    logarithm_argument: float
    figures: AcceleratedFigures | None = None


def envelope_for(run: ReusedRun, seen: Aggregates) -> float:
    """b = L²√M~/(D√(dΨ~)), or μM~L²/(dΨ~) if μ > 0."""
    squared, privacy = run.lipschitz * run.lipschitz, run.privacy(seen)
    if run.strong_convexity > 0.0:
        return run.strong_convexity * seen.participants * squared / privacy
    return squared * math.sqrt(seen.participants / privacy) / run.diameter


def complete(run: ReusedRun, *, rounds: int | None = None, reading: Reading = "corrected") -> AcceleratedPrescription:
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

    def prescribed(count: int) -> float:
        return _prescribed(run, run.aggregates(count, reading), reading)

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    seen = run.aggregates(chosen, reading)
    smoothness = run.smoothness if run.is_smooth else envelope_for(run, seen)
    mu, squared = run.strong_convexity, run.lipschitz * run.lipschitz
    participants = run.federation.participation.mean
    average_noise = 256.0 * squared * chosen * seen.noise_ratio * participants
    noise = run.dimension * (average_noise / participants)
    clients = run.client_variance if reading == "corrected" else 0.0
    batches = participants * run.federation.smallest_batch if run.leaves_records_out(reading) else math.inf
    sampling = run.empirical_gradient_std * run.empirical_gradient_std / batches
    total = sampling + noise + clients
    privacy = run.dimension * squared * seen.noise_ratio
    if mu > 0.0:
        terms = {
            "optimisation": run.gap * math.exp(-chosen * math.sqrt(mu / smoothness)),
            "minibatch": sampling / (mu * chosen),
            "clients": clients / (mu * chosen),
            "privacy": privacy / mu,
        }
    else:
        # (34) has L for Φ̂ even where V² has 2L (E-36).
        minibatch = sampling if run.is_smooth else squared / batches
        terms = {
            "optimisation": smoothness * (run.diameter / chosen) ** 2,
            "minibatch": run.diameter * math.sqrt(minibatch / chosen),
            "clients": run.diameter * math.sqrt(clients / chosen),
            "privacy": run.diameter * math.sqrt(privacy),
        }
    return AcceleratedPrescription(
        rounds=chosen,
        prescribed_rounds=prescribed(chosen),
        excess_risk=terms["privacy"],
        logarithm_argument=_logarithm_argument(run, seen),
        figures=AcceleratedFigures(
            terms=terms,
            variance=total,
            regularization=math.sqrt(total / chosen) / (2.0 * run.diameter),
            aggregates=seen,
            envelope_smoothness=None if run.is_smooth else smoothness,
        ),
    )


def _logarithm_argument(run: ReusedRun, seen: Aggregates) -> float:
    """Return ΔμM*/(dΨ~), the argument of the logarithm in R of the strongly convex statements; M* is M' or M."""
    return run.gap * run.strong_convexity * seen.plain_participants / run.privacy(seen)


def _accelerated_rounds(run: ReusedRun, seen: Aggregates) -> float:
    """Return the first of the two numbers whose maximum is the prescribed R."""
    privacy_root = math.sqrt(run.privacy(seen))
    participants_root = math.sqrt(seen.plain_participants)
    if run.strong_convexity == 0.0:
        if not run.is_smooth:
            return run.lipschitz * participants_root / privacy_root
        return math.sqrt(run.smoothness * run.diameter * participants_root / privacy_root)
    argument = _logarithm_argument(run, seen)
    log = math.log(argument) if argument > 0.0 else -math.inf
    if not run.is_smooth:
        return run.lipschitz * participants_root / privacy_root * log
    return math.sqrt(run.smoothness / run.strong_convexity) * log


def _prescribed(run: ReusedRun, seen: Aggregates, reading: Reading) -> float:
    """Return the number of rounds that the statement prescribes at given aggregates."""
    privacy = run.privacy(seen)
    # Theorem 2.4 puts L² for Φ̂² here, whatever the envelope's own bound.
    whole = run.empirical_gradient_std if run.is_smooth else run.lipschitz
    divisor = 1 if reading == "printed" else run.federation.smallest_batch
    sampled = whole * whole / divisor if run.leaves_records_out(reading) else 0.0
    if reading == "corrected":
        sampled += run.client_variance * run.federation.participation.mean
    return max(_accelerated_rounds(run, seen), sampled / privacy)


def envelope_figures(run: ReusedRun, smoothness: float, reading: Reading = "corrected") -> dict[str, float]:
    """b, and the envelope's gap, Lipschitz constant and strong convexity."""
    return {
        "envelope_smoothness": smoothness,
        "smoothing_gap": envelope_gap(lipschitz=run.lipschitz, envelope_smoothness=smoothness),
        "envelope_lipschitz": envelope_lipschitz(lipschitz=run.lipschitz, reading=reading),
        "envelope_strong_convexity": envelope_strong_convexity(
            strong_convexity=run.strong_convexity, envelope_smoothness=smoothness
        ),
    }


def informal(run: ReusedRun, *, rounds: int | None = None) -> AcceleratedPrescription:
    """The informal statements for equal clients: (28), (29) if smooth, (10), (11) if not.

    R = max{√(βD√M εn/(L√d)), 1{MK < Nn} ε²n²Φ̂²/(K d ln(1/δ) L²)}, √M εn/√(d ln(1/δ)) for the first and L for Φ̂ if
    not smooth; for μ > 0 the first is √(β/μ) ln(DμMε²n²/(Ld)), or the former times that logarithm.
    """
    (group,) = run.federation.groups
    participants, reach = run.federation.participation.mean, group.epsilon * group.samples_per_client
    private = run.dimension * -group.log_delta
    argument = run.diameter * run.strong_convexity * participants * reach * reach / (run.lipschitz * run.dimension)
    log = math.log(argument) if argument > 0.0 else -math.inf
    if not run.is_smooth:
        first = math.sqrt(participants / private) * reach * (log if run.strong_convexity > 0.0 else 1.0)
        whole, cost = 1.0, private
    else:
        drift = run.smoothness * run.diameter * reach / run.lipschitz
        convex = math.sqrt(drift * math.sqrt(participants / run.dimension))
        steep = math.sqrt(run.smoothness / run.strong_convexity) * log if run.strong_convexity > 0.0 else convex
        first, whole = steep, (run.empirical_gradient_std / run.lipschitz) ** 2
        cost = run.dimension * (math.log(2.0) - group.log_delta)
    second = reach * reach * whole / (group.batch_size * private) if run.leaves_records_out("printed") else 0.0
    prescribed = max(first, second)
    chosen = rounds if rounds is not None else smallest_round_count(lambda _: prescribed)
    if run.strong_convexity > 0.0:
        scale = run.lipschitz * run.lipschitz * cost / (run.strong_convexity * reach * reach * participants)
    else:
        scale = run.lipschitz * run.diameter * math.sqrt(cost / participants) / reach
    return AcceleratedPrescription(
        rounds=chosen,
        prescribed_rounds=prescribed,
        excess_risk=scale,
        logarithm_argument=argument if run.strong_convexity > 0.0 else math.inf,
    )


def speedup(run: ReusedRun) -> float:
    """min{√M εn/√d, MK}: by how much fewer rounds (10) needs than the best before it, up to logarithms."""
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    reach = group.epsilon * group.samples_per_client
    return min(math.sqrt(participants / run.dimension) * reach, participants * group.batch_size)
