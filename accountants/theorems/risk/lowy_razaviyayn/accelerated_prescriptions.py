"""Prescriptions of Theorems E.1 and 2.4 of Lowy and Razaviyayn: rounds, envelope, regulariser, and order of the risk.

Records are re-used, and the noise is that of Algorithm 1. Theorem 2.4 replaces a loss that is not smooth by its Moreau
envelope. All risks hide constants, so they are orders of magnitude. The explicit bound at any noise and rounds is in
`accelerated_bound.py`.

Symbols are those of the module text of `smooth_losses.py`, with Ψ~ = L² Ξ~. Φ̂ is the root mean square of the gradients
of the records at hand, v̂ that of the deviations of the clients' mean gradients, and Δ the initial excess risk.
"""

from __future__ import annotations

import math

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import Aggregates
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import smallest_round_count
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import log_or_minus_infinity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import Variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.reused_run import (
    AcceleratedFigures,
    AcceleratedPrescription,
    ReusedRun,
)


def envelope_for(run: ReusedRun, totals: Aggregates) -> float:
    """Return the smoothness b of the Moreau envelope of the loss that Theorem 2.4 of Lowy and Razaviyayn prescribes.

    The Moreau envelope is a smooth approximation of a loss that is not smooth. The smoothness is:

        b = L²√M~/(D√(dΨ~)) for convex losses,  and  b = μM~L²/(dΨ~) for μ-strongly convex losses.

    Args:
        run: the federation and the loss, with Lipschitz constant L, on a domain of diameter D.
        totals: averages over the clients. M~ is `totals.participants`, an average number of participants, and dΨ~ is
            `run.privacy(totals)`, the cost of privacy.

    Returns:
        The smoothness b, in loss units per squared unit of distance.
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

    Theorem E.1 is for smooth losses, and Theorem 2.4 for others. They prescribe a number of rounds and, for a loss that
    is not smooth, a smooth approximation, its Moreau envelope (`envelope_for`). The risks are orders of magnitude. For
    the envelope's strong convexity μb/(μ + b) they have μ, which is at most twice as large if b ≥ μ.

    Args:
        run: the federation and the loss.
        rounds: number R of rounds; None for the smallest number that meets its own prescription.
        reading: "printed" has the paper's formulas as they are. "corrected" divides by the batch size in R (erratum
            E-10), and adds the sampling of clients to R and to the bound (E-12). It takes the effective number of
            participants instead of its root in the envelope of Theorem 2.4 (E-06).

    Returns:
        The rounds, the order of the risk, and the terms of the bound. `excess_risk` is the privacy term. At the
        prescribed number of rounds, the other terms are at most of its order.
    """

    def required_rounds(count: int) -> float:
        """Return the prescribed number of rounds at the aggregates of `count` rounds."""
        return _required_rounds(run, run.aggregates(count, reading), reading)

    # The prescribed number of rounds depends on itself, because averages over the clients depend on it.
    chosen_rounds = rounds if rounds is not None else smallest_round_count(required_rounds)
    totals = run.aggregates(chosen_rounds, reading)

    smoothness = run.smoothness if run.is_smooth else envelope_for(run, totals)
    variance = _round_variance(run, totals, rounds=chosen_rounds, reading=reading)
    total_variance = variance.sampling + variance.noise + variance.clients
    terms = _bound_terms(run, totals, variance, rounds=chosen_rounds, smoothness=smoothness, reading=reading)

    envelope_smoothness = None if run.is_smooth else smoothness
    figures = AcceleratedFigures(
        terms=terms,
        variance=total_variance,
        regularization=math.sqrt(total_variance / chosen_rounds) / (2.0 * run.diameter),
        aggregates=totals,
        envelope_smoothness=envelope_smoothness,
    )
    return AcceleratedPrescription(
        rounds=chosen_rounds,
        prescribed_rounds=required_rounds(chosen_rounds),
        excess_risk=terms["privacy"],
        logarithm_argument=_logarithm_argument(run, totals),
        figures=figures,
    )


def _round_variance(run: ReusedRun, totals: Aggregates, *, rounds: int, reading: Reading) -> Variance:
    """Return the variance of one round's averaged gradient at the noise of Lowy and Razaviyayn, split by its causes.

    M of N clients report in a round, each with a batch of K records. The variance has three summands.

    - Φ̂²/(MK) is due to the sampling of records, if a round leaves records out. Φ̂² is the variance of the gradients.
    - v̂²(N − M)/(M(N − 1)) is due to the sampling of clients. v̂² is the variance of the clients' mean gradients.
    - dσ²/M is due to the noise of variance σ² in d coordinates. The paper's noise has σ²/M = 256 L² R ξ/M, where ξ/M
      is `totals.noise_ratio`.

    Args:
        run: the federation and the loss, with Lipschitz constant L.
        totals: averages of the noise variances of the clients up to a factor (ξ), and their ratio to averages of the
            number of participants (M).
        rounds: number R of rounds.
        reading: "printed" for the paper's formulas, which leave out the second summand (docs/errata.md, E-12);
            "corrected" for all three.

    Returns:
        The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
    """
    participants = run.federation.participation.mean
    squared_gradient_std = run.empirical_gradient_std * run.empirical_gradient_std
    message_noise = 256.0 * run.lipschitz * run.lipschitz * rounds * totals.noise_ratio * participants  # σ²
    client_variance = run.client_variance if reading == "corrected" else 0.0
    return Variance(
        sampling=squared_gradient_std / run.sampled_records(reading),
        clients=client_variance,
        noise=run.dimension * (message_noise / participants),
    )


def _bound_terms(
    run: ReusedRun, totals: Aggregates, variance: Variance, *, rounds: int, smoothness: float, reading: Reading
) -> dict[str, float]:
    """Return the terms of the risk bound of Theorem E.1 or 2.4 of Lowy and Razaviyayn after R rounds, up to constants.

    Args:
        run: the federation and the loss.
        totals: averages over the clients. `totals.noise_ratio` is the variance of the averaged noise, divided by
            256 L² R.
        variance: variance of one round's averaged gradient by its causes, from `_round_variance`.
        rounds: number R of rounds.
        smoothness: smoothness of the loss or of its Moreau envelope.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors.

    Returns:
        The terms by name: `optimisation`, `minibatch`, `clients` and `privacy`, in loss units.
    """
    squared_lipschitz = run.lipschitz * run.lipschitz
    privacy = run.dimension * squared_lipschitz * totals.noise_ratio
    sampling, clients = variance.sampling, variance.clients
    if run.strong_convexity > 0.0:
        return _strongly_convex_terms(run, rounds, smoothness, sampling=sampling, clients=clients, privacy=privacy)
    if not run.is_smooth:
        # Equation (34) of the paper has L in this term, even where the variance V² has 2L (erratum E-36).
        sampling = squared_lipschitz / run.sampled_records(reading)
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
        `optimisation`: βD²/R², for the smoothness β and the diameter D of the domain.
        `minibatch`, `clients`: D√(sampling/R) and D√(clients/R).
        `privacy`: D√privacy.
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
        `optimisation`: Δe^{−R√(μ/β)}.
        `minibatch`, `clients`: the two variances divided by μR.
        `privacy`: the argument `privacy` divided by μ.
    """
    convexity = run.strong_convexity
    remaining_fraction = math.exp(-rounds * math.sqrt(convexity / smoothness))
    return {
        "optimisation": run.gap * remaining_fraction,
        "minibatch": sampling / (convexity * rounds),
        "clients": clients / (convexity * rounds),
        "privacy": privacy / convexity,
    }


def _logarithm_argument(run: ReusedRun, totals: Aggregates) -> float:
    """Return ΔμM*/(dΨ~), the argument of the logarithm in the rounds of the strongly convex statements.

    Args:
        run: the federation and the loss, with excess risk Δ of the first iterate and strong convexity μ.
        totals: averages over the clients. M* is `totals.plain_participants`, an average number of participants, and
            dΨ~ is `run.privacy(totals)`, the cost of privacy.
    """
    return run.gap * run.strong_convexity * totals.plain_participants / run.privacy(totals)


def _descent_rounds(run: ReusedRun, totals: Aggregates) -> float:
    """Return the rounds of accelerated descent after which its error is of the order of the cost of privacy, unrounded.

    The loss has Lipschitz constant L, smoothness β and strong convexity μ. D is the diameter of the domain, and Δ the
    excess risk of the first iterate. M* = `totals.plain_participants` is an average number of participants in a round,
    and dΨ~ = `run.privacy(totals)` the cost of privacy. The number is:

        Theorem E.1 (smooth), μ = 0:      √(βD√M*/√(dΨ~)),
        Theorem E.1 (smooth), μ > 0:      √(β/μ) ln(ΔμM*/(dΨ~)),
        Theorem 2.4 (not smooth), μ = 0:  L√M*/√(dΨ~),
        Theorem 2.4 (not smooth), μ > 0:  L√M*/√(dΨ~) · ln(ΔμM*/(dΨ~)).

    Args:
        run: the federation and the loss.
        totals: averages over the clients of their noise variances, up to a factor.

    Returns:
        The number of rounds. It is negative, or −∞, if the argument of the logarithm is below 1.
    """
    privacy_root = math.sqrt(run.privacy(totals))
    participants_root = math.sqrt(totals.plain_participants)
    log_factor = 1.0
    if run.strong_convexity != 0.0:
        log_factor = log_or_minus_infinity(_logarithm_argument(run, totals))

    if not run.is_smooth:
        return run.lipschitz * participants_root / privacy_root * log_factor
    if run.strong_convexity > 0.0:
        return math.sqrt(run.smoothness / run.strong_convexity) * log_factor
    return math.sqrt(run.smoothness * run.diameter * participants_root / privacy_root)


def _required_rounds(run: ReusedRun, totals: Aggregates, reading: Reading) -> float:
    """Return the number of rounds that Theorem E.1 or 2.4 of Lowy and Razaviyayn prescribes, before rounding up.

    The number is the larger of two. After the first, the optimisation error is of the order of the cost of privacy.
    After the second, the error due to sampling is of this order too. The second is the sampling variance, times the
    number of participants, over `run.privacy(totals)`.

    Args:
        run: the federation and the loss.
        totals: averages over the clients of their noise variances, up to a factor.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors.

    Returns:
        The number of rounds, a real number that may be below 1.
    """
    sampling_rounds = _sampling_variance(run, reading) / run.privacy(totals)
    return max(_descent_rounds(run, totals), sampling_rounds)


def _sampling_variance(run: ReusedRun, reading: Reading) -> float:
    """Return the variance of a round's gradient due to sampling, times the mean number M of participants.

    Lowy and Razaviyayn prescribe enough rounds to average this variance out. The result is:

        Φ̂²/K (0 if a round uses all records)  +  v̂²(N − M)/(N − 1).

    The sampling of records gives the first summand, and the sampling of M of N clients the second. Φ̂ is the standard
    deviation of the records' gradients, and the Lipschitz constant in Theorem 2.4. K is the smallest batch size, and v̂
    the standard deviation of the clients' mean gradients.

    Args:
        run: the federation and the loss.
        reading: "corrected" for this formula. "printed" has 1 in place of K (erratum E-10), and no second summand
            (E-12).

    Returns:
        The variance times the number M of participants, in squared gradient units.
    """
    gradient_std = run.empirical_gradient_std if run.is_smooth else run.lipschitz
    record_variance = gradient_std * gradient_std if run.leaves_records_out(reading) else 0.0
    if reading == "printed":
        return record_variance
    client_variance = run.client_variance * run.federation.participation.mean
    return record_variance / run.federation.smallest_batch + client_variance


def envelope_figures(run: ReusedRun, smoothness: float, reading: Reading = "corrected") -> dict[str, float]:
    """Return the constants of a Moreau envelope, the smooth approximation of the loss, as the fields of a response.

    Args:
        run: the federation and the loss.
        smoothness: smoothness b of the envelope.
        reading: "printed" has 2L as the Lipschitz constant; "corrected" has L (erratum E-17).

    Returns:
        `envelope_smoothness` b, `envelope_lipschitz`, `envelope_strong_convexity`, and `smoothing_gap`, the largest
        difference between the loss and its envelope.
    """
    return {
        "envelope_smoothness": smoothness,
        "smoothing_gap": envelope_gap(lipschitz=run.lipschitz, envelope_smoothness=smoothness),
        "envelope_lipschitz": envelope_lipschitz(lipschitz=run.lipschitz, reading=reading),
        "envelope_strong_convexity": envelope_strong_convexity(
            strong_convexity=run.strong_convexity, envelope_smoothness=smoothness
        ),
    }
