"""Prescriptions of Theorems E.1 and 2.4 of Lowy and Razaviyayn: rounds, envelope, regulariser, and order of the risk.

Records are re-used, and the noise is that of Algorithm 1. Theorem 2.4 replaces a loss that is not smooth by its Moreau
envelope. All risks hide constants, so they are orders of magnitude. The explicit bound at any noise and rounds is in
`accelerated_bound.py`.

Symbols are those of the module text of `smooth_losses.py`, with Ψ~ = L² Ξ~. Φ̂ is the root mean square of the gradients
of the records at hand, v̂ that of the deviations of the clients' mean gradients, and Δ the initial excess risk.
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
        """Decide whether a round uses only some of the records, so that sampling contributes to the variance.

        Args:
            reading: "printed" tests MK < ñ, with the mean number M of participants, the smallest batch K, and the
                number ñ of records of all clients. This is true also if every client uses all of its records and the
                clients have different numbers of them. If all clients participate, "corrected" compares each client's
                batch with its own records.
        """
        groups, participation = self.federation.groups, self.federation.participation
        if reading == "corrected" and self.federation.all_participate:
            return any(group.batch_size < group.samples_per_client for group in groups)
        records = sum(group.clients * group.samples_per_client for group in groups)
        return participation.mean * self.federation.smallest_batch < records

    @property
    def client_variance(self) -> float:
        """Variance of a round's gradient by sampling M of N clients, (v̂²/M)(N − M)/(N − 1), in squared gradient units.

        The printed theorems leave it out (erratum E-12).
        """
        moments = self.federation.participation
        if self.federation.all_participate:
            return 0.0
        squared = self.empirical_heterogeneity * self.empirical_heterogeneity
        return client_factor(clients=self.federation.clients, participants=moments.mean) * squared

    def aggregates(self, rounds: int, reading: Reading) -> Aggregates:
        """Return the averages of ξ over the clients.

        The readings differ in M~ only, which the paper defines for the envelope of Theorem 2.4 only.
        """
        return aggregates(self.federation, rounds, "corrected" if self.is_smooth else reading)

    def privacy(self, totals: Aggregates) -> float:
        """Return d Ψ~ = d L² Ξ~, in squared gradient units, with the dimension d; `totals.xi` is Ξ~."""
        return self.dimension * self.lipschitz * self.lipschitz * totals.xi


@dataclass(frozen=True, kw_only=True)
class AcceleratedFigures:
    """Figures of the appendix's statements in addition to the rounds and the risk.

    `terms` add up to the bound as a function of R, equation (30) or (32) of the paper. `variance` is the variance V² of
    a round's gradient at the printed noise. `regularization` is λ = V/(2D√R), the weight of a quadratic regulariser.
    `envelope_smoothness` is the smoothness b of the envelope in Theorem 2.4.
    """

    terms: Mapping[str, float]
    variance: float
    regularization: float
    aggregates: Aggregates
    envelope_smoothness: float | None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPrescription:
    """The run that Theorem E.1 or 2.4 prescribes, and its risk up to constants.

    The theorem requires `rounds` ≥ `prescribed_rounds`, a real number that depends on the rounds. In an informal
    statement it leaves out logarithms, and there are no `figures`.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    logarithm_argument: float
    figures: AcceleratedFigures | None = None


def envelope_for(run: ReusedRun, totals: Aggregates) -> float:
    """Return the smoothness of the envelope in Theorem 2.4, b = L²√M~/(D√(dΨ~)), or μM~L²/(dΨ~) if μ > 0.

    `totals.participants` is M~, and `run.privacy` is dΨ~.
    """
    squared, privacy = run.lipschitz * run.lipschitz, run.privacy(totals)
    if run.strong_convexity > 0.0:
        return run.strong_convexity * totals.participants * squared / privacy
    return squared * math.sqrt(totals.participants / privacy) / run.diameter


def complete_prescription(
    run: ReusedRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> AcceleratedPrescription:
    """Evaluate the appendix's statement of Theorem E.1, or of Theorem 2.4 for losses that need not be smooth.

    The equations of the paper are (30) to (36). M* is M' if Ψ/M' ≤ ψ_max/M, and M otherwise. Theorem E.1 prescribes R =
    max{√(βD√M*/√(dΨ~)), 1{MK < ñ}Φ̂²/(K dΨ~)} rounds, where ñ is the number of records of all clients. If μ > 0, the
    first number is √(β/μ) ln(ΔμM*/(dΨ~)). In Theorem 2.4 it is L√M*/√(dΨ~), times ln(ΔμM*/(dΨ~)) if μ > 0, and L
    replaces Φ̂. The risks are orders of magnitude. They may keep μ for the envelope's strong convexity μb/(μ + b),
    which is at least μ/2 where b ≥ μ.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the smallest number that meets its own prescription.
        reading: "printed" does not divide by K in R (erratum E-10), and has M~ = √M' or √M in the envelope of Theorem
            2.4 (E-06). "corrected" adds the sampling of clients: v̂²(N − M)/((N − 1) dΨ~) to R, and a term to the bound
            (E-12).
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
        # Equation (34) of the paper has L in this term, even where the variance V² has 2L (erratum E-36).
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
    """Return the terms of the bound for convex losses as a function of the number R of rounds, up to constants.

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
    """Return the terms of the bound for strongly convex losses as a function of the rounds, up to constants.

    The arguments are those of `_convex_terms`.
    """
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
    """Return the rounds that reduce the optimisation error to the cost of privacy.

    The prescribed R is the maximum of this number and of the rounds that average out the sampling of records.

    Args:
        run: the federation and the loss; a loss that is not smooth is replaced by its envelope (Theorem 2.4).
        totals: averages of ξ over the clients.
    """
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
    """Return the number of rounds that the appendix's statement of Theorem E.1 or 2.4 prescribes, a real number.

    Args:
        run: the federation and the loss.
        totals: averages of ξ over the clients.
        reading: "printed" or "corrected", as `complete_prescription` explains.
    """
    privacy = run.privacy(totals)
    # Theorem 2.4 has L² in place of Φ̂² here, in both readings.
    gradient_std = run.empirical_gradient_std if run.is_smooth else run.lipschitz
    divisor = 1 if reading == "printed" else run.federation.smallest_batch
    sampled = gradient_std * gradient_std / divisor if run.leaves_records_out(reading) else 0.0
    if reading == "corrected":
        sampled += run.client_variance * run.federation.participation.mean
    return max(_accelerated_rounds(run, totals), sampled / privacy)


def envelope_figures(run: ReusedRun, smoothness: float, reading: Reading = "corrected") -> dict[str, float]:
    """Return the constants of a Moreau envelope, under the names of the answers.

    They are its smoothness b, its largest distance from the loss, its Lipschitz constant and its strong convexity.

    Args:
        run: the federation and the loss.
        smoothness: smoothness b of the envelope.
        reading: "printed" has 2L as the Lipschitz constant; "corrected" has L (erratum E-17).
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
    """Evaluate the statement of the main text for equal clients, in which constants are hidden.

    It is that of Theorem E.1 for smooth losses, and that of Theorem 2.4 for others.
    The equations of the paper are (28) and (29), or (10) and (11). R is the larger of two numbers. For a smooth loss
    they are √(βD√M εn/(L√d)) and 1{MK < Nn} ε²n²Φ̂²/(K d ln(1/δ) L²). For other losses the first is √M εn/√(d ln(1/δ)),
    and L replaces Φ̂. Let l = ln(DμMε²n²/(Ld)). If μ > 0, the first number is √(β/μ) l for a smooth loss, and is
    multiplied by l for others.

    Args:
        run: a federation of equal clients, and the loss.
        rounds: number R of rounds; None for the prescribed one.
    """
    (group,) = run.federation.groups
    participants, reach = run.federation.participation.mean, group.epsilon * group.samples_per_client
    private = run.dimension * -group.log_delta
    argument = run.diameter * run.strong_convexity * participants * reach * reach / (run.lipschitz * run.dimension)
    log = math.log(argument) if argument > 0.0 else -math.inf
    if not run.is_smooth:
        descent_rounds = math.sqrt(participants / private) * reach
        if run.strong_convexity > 0.0:
            descent_rounds *= log
        relative_variance, cost = 1.0, private
    else:
        drift = run.smoothness * run.diameter * reach / run.lipschitz
        if run.strong_convexity > 0.0:
            descent_rounds = math.sqrt(run.smoothness / run.strong_convexity) * log
        else:
            descent_rounds = math.sqrt(drift * math.sqrt(participants / run.dimension))
        relative_variance = (run.empirical_gradient_std / run.lipschitz) ** 2
        cost = run.dimension * (math.log(2.0) - group.log_delta)
    sampling_rounds = 0.0
    if run.leaves_records_out("printed"):
        sampling_rounds = reach * reach * relative_variance / (group.batch_size * private)
    prescribed_rounds = max(descent_rounds, sampling_rounds)
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
    """Return the factor by which Theorem 2.4 needs fewer rounds than earlier results, min{√M εn/√d, MK}.

    It is for equal clients and convex losses (equation (10) of the paper), and leaves out logarithms.
    """
    (group,) = run.federation.groups
    participants = run.federation.participation.mean
    reach = group.epsilon * group.samples_per_client
    return min(math.sqrt(participants / run.dimension) * reach, participants * group.batch_size)
