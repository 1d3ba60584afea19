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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun, log_or_minus_infinity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import Variance, client_factor


@dataclass(frozen=True, kw_only=True)
class ReusedRun(DescentRun):
    """A federation whose records are re-used, and its loss, for Theorems E.1 and 2.4 of Lowy and Razaviyayn.

    Theorem 2.4 replaces a loss that is not smooth by its Moreau envelope.

    Attributes:
        gap: excess risk Δ of the first iterate.
        empirical_gradient_std: Φ̂, the root mean square deviation of the gradients of the records at hand from their
            mean. It is of the envelope if there is one.
        empirical_heterogeneity: v̂, the root mean square of the deviations of the clients' mean gradients.
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
        groups = self.federation.groups
        if reading == "corrected" and self.federation.all_participate:
            return any(group.batch_size < group.samples_per_client for group in groups)
        all_records = sum(group.clients * group.samples_per_client for group in groups)
        return self.records_of_smallest_batches < all_records

    @property
    def records_of_smallest_batches(self) -> float:
        """MK, the average number M = 1/E[1/M_r] of participants times the smallest batch size K."""
        return self.federation.participation.mean * self.federation.smallest_batch

    def sampled_records(self, reading: Reading) -> float:
        """Return the number of records by which sampling divides the variance of a record's gradient in a round.

        Args:
            reading: rule of `leaves_records_out`.

        Returns:
            `records_of_smallest_batches`; infinite if a round uses all records, as sampling then adds no variance.
        """
        if not self.leaves_records_out(reading):
            return math.inf
        return self.records_of_smallest_batches

    @property
    def client_variance(self) -> float:
        """Variance of a round's gradient by sampling M of N clients, (v̂²/M)(N − M)/(N − 1), in squared gradient units.

        v̂ is the standard deviation of the clients' mean gradients. The printed theorems leave this variance out
        (erratum E-12).
        """
        if self.federation.all_participate:
            return 0.0
        squared = self.empirical_heterogeneity * self.empirical_heterogeneity
        mean_participants = self.federation.participation.mean
        return client_factor(clients=self.federation.clients, participants=mean_participants) * squared

    def aggregates(self, rounds: int, reading: Reading) -> Aggregates:
        """Return the averages of ξ over the clients at a number of rounds.

        Args:
            rounds: number R of rounds.
            reading: "printed" or "corrected" effective number M~ of participants. It only matters for losses that are
                not smooth, as the paper defines M~ for the envelope of Theorem 2.4 only.
        """
        return aggregates(self.federation, rounds, "corrected" if self.is_smooth else reading)

    def privacy(self, totals: Aggregates) -> float:
        """Return the cost of privacy d Ψ~ = d L² Ξ~, in squared gradient units, with the dimension d.

        Args:
            totals: averages over the clients, where `totals.xi` is Ξ~.
        """
        return self.dimension * self.lipschitz * self.lipschitz * totals.xi


@dataclass(frozen=True, kw_only=True)
class AcceleratedFigures:
    """Numbers of Theorem E.1 or 2.4 of Lowy and Razaviyayn in the appendix, in addition to the rounds and the risk.

    Attributes:
        terms: terms of the bound as a function of the rounds R, equation (30) or (32) of the paper.
        variance: variance V² of a round's averaged gradient at the printed noise.
        regularization: weight λ = V/(2D√R) of the quadratic regulariser, with the diameter D of the domain.
        aggregates: averages over the clients that the statement uses.
        envelope_smoothness: smoothness b of the Moreau envelope in Theorem 2.4; None for a smooth loss.
    """

    terms: Mapping[str, float]
    variance: float
    regularization: float
    aggregates: Aggregates
    envelope_smoothness: float | None


@dataclass(frozen=True, kw_only=True)
class AcceleratedPrescription:
    """The run that Theorem E.1 or 2.4 of Lowy and Razaviyayn prescribes, and the order of its excess risk.

    Attributes:
        rounds: number of rounds that is run. The theorem requires `rounds` ≥ `prescribed_rounds`.
        prescribed_rounds: required number of rounds, before rounding up. It depends on `rounds`. Informal statements
            leave out logarithms in it.
        excess_risk: order of the excess risk in loss units, up to constants and logarithms.
        logarithm_argument: argument of the logarithm in `prescribed_rounds`, which must exceed 1 if μ > 0.
        figures: further numbers of the appendix's statement; None for an informal statement.
    """

    rounds: int
    prescribed_rounds: float
    excess_risk: float
    logarithm_argument: float
    figures: AcceleratedFigures | None = None


def envelope_for(run: ReusedRun, totals: Aggregates) -> float:
    """Return the smoothness b of the Moreau envelope of the loss that Theorem 2.4 of Lowy and Razaviyayn prescribes.

    It is b = L²√M~/(D√(dΨ~)) for convex losses, and b = μM~L²/(dΨ~) if μ > 0. M~ is `totals.participants`, an average
    number of participants, and dΨ~ is `run.privacy(totals)`, the cost of privacy.
    """
    squared_lipschitz = run.lipschitz * run.lipschitz
    privacy_cost = run.privacy(totals)
    if run.strong_convexity > 0.0:
        return run.strong_convexity * totals.participants * squared_lipschitz / privacy_cost
    return squared_lipschitz * math.sqrt(totals.participants / privacy_cost) / run.diameter


def complete_prescription(
    run: ReusedRun, *, rounds: int | None = None, reading: Reading = "corrected"
) -> AcceleratedPrescription:
    """Return the rounds and risk of accelerated descent by the appendix of Lowy and Razaviyayn, equations (30) to (36).

    It is Theorem E.1, or Theorem 2.4 for losses that need not be smooth. The statement prescribes a number of rounds
    (`_required_rounds`) and, for a loss that is not smooth, a Moreau envelope (`envelope_for`). The risks are orders of
    magnitude. They may keep μ for the envelope's strong convexity μb/(μ + b), which is at least μ/2 where b ≥ μ.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the smallest number that meets its own prescription.
        reading: "printed" has the paper's formulas as they are. "corrected" divides by the batch size in R (erratum
            E-10), takes the effective number of participants instead of its root in the envelope of Theorem 2.4 (E-06),
            and adds the sampling of clients to R and to the bound (E-12).

    Returns:
        The run and its risk. `excess_risk` is the privacy term of the bound. At the prescribed rounds, the other terms
        are at most of its order.
    """

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        return _required_rounds(run, run.aggregates(count, reading), reading)

    chosen = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = run.aggregates(chosen, reading)
    smoothness = run.smoothness if run.is_smooth else envelope_for(run, totals)
    variance = _round_variance(run, totals, rounds=chosen, reading=reading)
    total_variance = variance.sampling + variance.noise + variance.clients
    terms = _bound_terms(run, totals, variance, rounds=chosen, smoothness=smoothness, reading=reading)
    return AcceleratedPrescription(
        rounds=chosen,
        prescribed_rounds=required_rounds(chosen),
        excess_risk=terms["privacy"],
        logarithm_argument=_logarithm_argument(run, totals),
        figures=AcceleratedFigures(
            terms=terms,
            variance=total_variance,
            regularization=math.sqrt(total_variance / chosen) / (2.0 * run.diameter),
            aggregates=totals,
            envelope_smoothness=None if run.is_smooth else smoothness,
        ),
    )


def _round_variance(run: ReusedRun, totals: Aggregates, *, rounds: int, reading: Reading) -> Variance:
    """Return the variance of one round's averaged gradient at the noise of Lowy and Razaviyayn, by its parts.

    The parts are Φ̂²/(MK) by the sampling of records, if a round leaves records out; v̂²(N − M)/(M(N − 1)) by the
    sampling of clients, which "printed" leaves out (erratum E-12); and dσ²/M by the noise. The averages of the clients'
    noise variances satisfy σ²/M = 256 L² R min{Ξ/M', ξ_max/M}.

    Args:
        run: the federation and the loss.
        totals: averages of ξ over the clients; `totals.noise_ratio` is min{Ξ/M', ξ_max/M}.
        rounds: number R of rounds.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors.
    """
    participants = run.federation.participation.mean
    squared_gradient_std = run.empirical_gradient_std * run.empirical_gradient_std
    message_noise = 256.0 * run.lipschitz * run.lipschitz * rounds * totals.noise_ratio * participants  # σ²
    return Variance(
        sampling=squared_gradient_std / run.sampled_records(reading),
        clients=run.client_variance if reading == "corrected" else 0.0,
        noise=run.dimension * (message_noise / participants),
    )


def _bound_terms(
    run: ReusedRun, totals: Aggregates, variance: Variance, *, rounds: int, smoothness: float, reading: Reading
) -> dict[str, float]:
    """Return the terms of the risk bound of Theorem E.1 or 2.4 of Lowy and Razaviyayn after R rounds, up to constants.

    Args:
        run: the federation and the loss.
        totals: averages over the clients of their noise variances, up to a factor.
        variance: variance of one round's averaged gradient, of `_round_variance`.
        rounds: number R of rounds.
        smoothness: smoothness of the loss or of its Moreau envelope.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors.
    """
    squared = run.lipschitz * run.lipschitz
    privacy = run.dimension * squared * totals.noise_ratio
    sampling, clients = variance.sampling, variance.clients
    if run.strong_convexity > 0.0:
        return _strongly_convex_terms(run, rounds, smoothness, sampling=sampling, clients=clients, privacy=privacy)
    if not run.is_smooth:
        # Equation (34) of the paper has L in this term, even where the variance V² has 2L (erratum E-36).
        sampling = squared / run.sampled_records(reading)
    return _convex_terms(run, rounds, smoothness, sampling=sampling, clients=clients, privacy=privacy)


def _convex_terms(
    run: ReusedRun, rounds: int, smoothness: float, *, sampling: float, clients: float, privacy: float
) -> dict[str, float]:
    """Return the terms of the risk bound of accelerated descent on convex losses after R rounds, up to constants.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds.
        smoothness: smoothness of the loss or of its Moreau envelope.
        sampling: variance of one round's gradient by the sampling of records.
        clients: variance of one round's gradient by the sampling of clients.
        privacy: variance of a round's averaged noise, summed over coordinates, divided by 256R.

    Returns:
        `optimisation`, βD²/R², for the smoothness β and the diameter D of the domain. `minibatch`, `clients` and
        `privacy` are D√(sampling/R), D√(clients/R) and D√privacy.
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
    """Return the terms of the risk bound of accelerated descent on strongly convex losses, up to constants.

    Args:
        run: the federation and the loss, with strong convexity μ and the excess risk Δ of the first iterate.
        rounds: number R of rounds.
        smoothness: smoothness β of the loss or of its Moreau envelope.
        sampling: variance of one round's gradient by the sampling of records.
        clients: variance of one round's gradient by the sampling of clients.
        privacy: variance of a round's averaged noise, summed over coordinates, divided by 256R.

    Returns:
        `optimisation`, Δe^{−R√(μ/β)}. `minibatch` and `clients` are the two variances divided by μR. `privacy` is the
        argument `privacy` divided by μ.
    """
    mu = run.strong_convexity
    return {
        "optimisation": run.gap * math.exp(-rounds * math.sqrt(mu / smoothness)),
        "minibatch": sampling / (mu * rounds),
        "clients": clients / (mu * rounds),
        "privacy": privacy / mu,
    }


def _logarithm_argument(run: ReusedRun, totals: Aggregates) -> float:
    """Return ΔμM*/(dΨ~), the argument of the logarithm in the rounds of the strongly convex statements.

    Args:
        run: the federation and the loss, with excess risk Δ of the first iterate and strong convexity μ.
        totals: averages over the clients. M* is `totals.plain_participants`, and dΨ~ is `run.privacy(totals)`.
    """
    return run.gap * run.strong_convexity * totals.plain_participants / run.privacy(totals)


def _descent_rounds(run: ReusedRun, totals: Aggregates) -> float:
    """Return the rounds of accelerated descent after which its error is of the order of the cost of privacy, unrounded.

    The loss has Lipschitz constant L, smoothness β and strong convexity μ. D is the diameter of the domain, and Δ the
    excess risk of the first iterate. With the average number M* = `totals.plain_participants` of participants in a
    round and the cost of privacy dΨ~ = `run.privacy(totals)`, the number is

        Theorem E.1 (smooth), μ = 0:      √(βD√M*/√(dΨ~)),
        Theorem E.1 (smooth), μ > 0:      √(β/μ) ln(ΔμM*/(dΨ~)),
        Theorem 2.4 (not smooth), μ = 0:  L√M*/√(dΨ~),
        Theorem 2.4 (not smooth), μ > 0:  L√M*/√(dΨ~) · ln(ΔμM*/(dΨ~)).

    Args:
        run: the federation and the loss.
        totals: averages over the clients of their noise variances, up to a factor.
    """
    privacy_root = math.sqrt(run.privacy(totals))
    participants_root = math.sqrt(totals.plain_participants)
    log_factor = 1.0 if run.strong_convexity == 0.0 else log_or_minus_infinity(_logarithm_argument(run, totals))
    if not run.is_smooth:
        return run.lipschitz * participants_root / privacy_root * log_factor
    if run.strong_convexity > 0.0:
        return math.sqrt(run.smoothness / run.strong_convexity) * log_factor
    return math.sqrt(run.smoothness * run.diameter * participants_root / privacy_root)


def _required_rounds(run: ReusedRun, totals: Aggregates, reading: Reading) -> float:
    """Return the number of rounds that Theorem E.1 or 2.4 of Lowy and Razaviyayn prescribes, before rounding up.

    The statement is that of the appendix. The number is the larger of `_descent_rounds`, after which the optimisation
    error is of the order of the cost of privacy, and V/(dΨ~), after which the cost of sampling is. V is
    `_sampling_variance`, and dΨ~ = `run.privacy(totals)` the cost of privacy.

    Args:
        run: the federation and the loss.
        totals: averages over the clients of their noise variances, up to a factor.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors.
    """
    sampling_rounds = _sampling_variance(run, reading) / run.privacy(totals)
    return max(_descent_rounds(run, totals), sampling_rounds)


def _sampling_variance(run: ReusedRun, reading: Reading) -> float:
    """Return the sampling variance from which Lowy and Razaviyayn derive a number of rounds, times M.

    It is Φ̂²/K if a round leaves records out, otherwise 0. Φ̂ is the standard deviation of the records' gradients, and
    K the smallest batch size. Theorem 2.4 has the Lipschitz constant in place of Φ̂.

    Args:
        run: the federation and the loss.
        reading: "printed" has 1 in place of K (erratum E-10). "corrected" adds v̂²(N − M)/(N − 1) for the sampling of M
            of N clients, with v̂ the standard deviation of their mean gradients (E-12).
    """
    gradient_std = run.empirical_gradient_std if run.is_smooth else run.lipschitz
    record_variance = gradient_std * gradient_std if run.leaves_records_out(reading) else 0.0
    if reading == "printed":
        return record_variance
    client_variance = run.client_variance * run.federation.participation.mean
    return record_variance / run.federation.smallest_batch + client_variance


def envelope_figures(run: ReusedRun, smoothness: float, reading: Reading = "corrected") -> dict[str, float]:
    """Return the constants of a Moreau envelope, the smooth approximation of the loss, as the fields of a response.

    `envelope_smoothness` is b, and `smoothing_gap` the largest difference between loss and envelope.
    `envelope_lipschitz` and `envelope_strong_convexity` are the envelope's other constants.

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
