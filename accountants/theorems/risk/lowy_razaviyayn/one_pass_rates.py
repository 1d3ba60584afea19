"""Formulas of Theorem 2.3 of Lowy and Razaviyayn: batch, rounds, and the terms of its risks as orders.

Symbols: each of N clients has n records and draws batches of K of them; M participate in a round. d is the dimension, D
the diameter of the domain, L the Lipschitz constant, β the smoothness, μ the strong convexity, and κ = β/μ. φ is the
standard deviation of a record's gradient, v that of the clients' expected gradients, and Δ the initial excess risk.
Numbers in parentheses such as (37) are equations of the paper, and E-07 and so on are the errata in `one_pass.py`. The
reading "printed" computes the paper's formulas as they are; "corrected" removes these errors.
"""

from __future__ import annotations

import math

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.one_pass_run import (
    OnePassFacts,
)


def convex_batch(run: OnePassFacts) -> float:
    """Return the batch size K that Theorem 2.3 of Lowy and Razaviyayn prescribes for convex losses, before rounding.

    It is K = (L/(βD))^{2/5} n^{3/5} (d ln(1/δ))^{1/5}/(ε^{2/5} M^{1/5}).

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.

    Returns:
        The batch size as a real number, which may be outside [1, n].
    """
    # `run.privacy` is d ln(1/δ).
    slope_factor = math.pow(run.lipschitz / (run.smoothness * run.diameter), 0.4)
    records_factor = math.pow(float(run.samples_per_client), 0.6)
    privacy_factor = math.pow(run.privacy / run.participants, 0.2)
    return slope_factor * records_factor * privacy_factor / math.pow(run.epsilon, 0.4)


def logarithm_argument(run: OnePassFacts) -> float:
    """Return the argument of the logarithm in the batch size of Theorem 2.3 for strongly convex losses.

    It is μΔ min{ε²n²M/(L² d ln(1/δ)), nM/φ²}, the ratio of the initial excess risk Δ to the final error. The final
    error is the larger one of the errors by privacy and by sampling.

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.

    Returns:
        The argument, a positive number without a unit.
    """
    private = run.reach * run.reach * run.participants / (run.lipschitz * run.lipschitz * run.privacy)
    statistical = math.inf
    variance = run.gradient_std * run.gradient_std  # φ²
    if variance > 0.0:
        statistical = run.records / variance
    return run.strong_convexity * run.gap * min(private, statistical)


def strongly_convex_batch(run: OnePassFacts) -> float:
    """Return the batch size that Theorem 2.3 of Lowy and Razaviyayn prescribes for strongly convex losses.

    It is n/(√κ ln a), with a from `logarithm_argument`.

    Args:
        run: constants of the run: the condition number κ, and n records of a client.

    Returns:
        The batch size, a real number. It is infinite if a is at most 1, where the theorem prescribes none.
    """
    argument = logarithm_argument(run)
    if argument <= 1.0:
        return math.inf
    return run.samples_per_client / (math.sqrt(run.condition_number) * math.log(argument))


def prescribed_batch(run: OnePassFacts) -> float:
    """Return the batch size K that Theorem 2.3 of Lowy and Razaviyayn prescribes for the loss, before rounding.

    Args:
        run: constants of the run. The formula depends on whether the strong convexity μ is positive.

    Returns:
        A real number, which may be outside [1, n] for n records of a client, or infinite.
    """
    if run.strong_convexity > 0.0:
        return strongly_convex_batch(run)
    return convex_batch(run)


def whole_batch(real: float, *, samples_per_client: int) -> int:
    """Return a batch size that can be run: the prescribed one, rounded down and moved into [1, n].

    Args:
        real: prescribed batch size, which may be infinite.
        samples_per_client: number n of records of a client.
    """
    return max(1, math.floor(min(real, samples_per_client)))


def convex_terms(run: OnePassFacts, *, batch_size: int, reading: Reading = "corrected") -> dict[str, float]:
    """Return the order of the excess risk of one pass on convex losses at a batch size K, by its terms.

    The terms are:

        `optimisation`: βD²K²/n²,
        `sampling` of records: φD/√(nM),
        `privacy`: LD √(d ln(1/δ))/(ε√(KnM)),
        `heterogeneity`, the sampling of M of N clients: √K vD/√(nM) · √((N − M)/(N − 1)).

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L and smoothness β, on a domain of diameter D. φ and v are the
            standard deviations of gradients within and between clients.
        batch_size: records K of a batch.
        reading: "printed" by Lowy and Razaviyayn has β² in the first term, which then has the wrong unit;
            "corrected" has β.

    Returns:
        The terms by name, in loss units without constants.
    """
    # Factors that the terms share.
    distance_per_round = run.diameter * batch_size / run.samples_per_client  # DK/n
    smoothness_power = 2 if reading == "printed" else 1
    records_root = math.sqrt(run.records)  # √(nM)
    privacy_root = math.sqrt(run.privacy / batch_size)  # √(d ln(1/δ)/K)
    client_root = math.sqrt(batch_size * run.left_out)  # √(K (N − M)/(N − 1))
    return {
        "optimisation": run.smoothness**smoothness_power * distance_per_round * distance_per_round,
        "sampling": run.gradient_std * run.diameter / records_root,
        "privacy": run.lipschitz * run.diameter * privacy_root / (run.epsilon * records_root),
        "heterogeneity": run.heterogeneity * run.diameter * client_root / records_root,
    }


def strongly_convex_terms(run: OnePassFacts, *, batch_size: int) -> dict[str, float]:
    """Return the order of the excess risk of one pass on strongly convex losses at a batch size K, by its terms.

    The terms, without constants, are:

        `optimisation`: Δ e^{−n/(K√κ)},
        `sampling` of records: φ²/(μnM),
        `heterogeneity`, the sampling of M of N clients: v²K/(μnM) (N − M)/(N − 1),
        `privacy`: L² d ln(1/δ)/(μKnε²M).

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ. Δ is the
            excess risk of the initial model. φ and v are the standard deviations of gradients within and between
            clients.
        batch_size: records K of a batch.

    Returns:
        The terms by name, in loss units without constants.
    """
    curvature = run.strong_convexity * run.records  # μnM
    exponent = run.samples_per_client / (batch_size * math.sqrt(run.condition_number))
    privacy_divisor = curvature * batch_size * run.epsilon * run.epsilon
    # `privacy` is d ln(1/δ), and `left_out` is (N − M)/(N − 1).
    return {
        "optimisation": run.gap * math.exp(-exponent),
        "sampling": run.gradient_std * run.gradient_std / curvature,
        "heterogeneity": run.heterogeneity * run.heterogeneity * batch_size / curvature * run.left_out,
        "privacy": run.lipschitz * run.lipschitz * run.privacy / privacy_divisor,
    }


def balanced_convex_terms(run: OnePassFacts) -> dict[str, float]:
    """Return the order of the excess risk of one pass on convex losses at the prescribed batch size K, by its terms.

    Their sum is φD/√(nM) + (β^{1/4} L D^{3/2} √(d ln(1/δ)/M)/(εn))^{4/5} + √K vD/√(nM) · √((N − M)/(N − 1)), equation
    (37) of Lowy and Razaviyayn. At this K, the optimisation error equals the cost of privacy and is left out.

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.

    Returns:
        The terms `sampling`, `privacy` and `heterogeneity`, in loss units without constants.
    """
    loss_factor = math.pow(run.smoothness, 0.25) * run.lipschitz * math.pow(run.diameter, 1.5)  # β^{1/4} L D^{3/2}
    privacy_root = math.sqrt(run.privacy / run.participants)  # √(d ln(1/δ)/M)
    records_root = math.sqrt(run.records)  # √(nM)
    client_root = math.sqrt(convex_batch(run) * run.left_out)  # √(K (N − M)/(N − 1))
    return {
        "sampling": run.gradient_std * run.diameter / records_root,
        "privacy": math.pow(loss_factor * privacy_root / run.reach, 0.8),
        "heterogeneity": run.heterogeneity * run.diameter * client_root / records_root,
    }


def balanced_strongly_convex_terms(run: OnePassFacts, *, reading: Reading = "corrected") -> dict[str, float]:
    """Return the order of the excess risk of one pass at the prescribed batch size if μ > 0, by its terms.

    Their sum is φ²/(μnM) + L²√κ d ln(1/δ)/(με²n²M) + v²/(μ√κM) (N − M)/(N − 1), equation (38) of Lowy and Razaviyayn.

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.
        reading: version of the formula: "printed" has no μ in the first term (erratum E-08), "corrected" has it.

    Returns:
        The terms `sampling`, `privacy` and `heterogeneity`, in loss units without constants.
    """
    convexity = run.strong_convexity
    condition_root = math.sqrt(run.condition_number)  # √κ
    squared_lipschitz = run.lipschitz * run.lipschitz
    sampling_curvature = 1.0 if reading == "printed" else convexity
    privacy_divisor = convexity * run.reach * run.reach * run.participants  # μ(εn)²M
    client_divisor = convexity * condition_root * run.participants  # μ√κM
    return {
        "sampling": run.gradient_std * run.gradient_std / (run.records * sampling_curvature),
        "privacy": squared_lipschitz * condition_root * run.privacy / privacy_divisor,
        "heterogeneity": run.heterogeneity * run.heterogeneity / client_divisor * run.left_out,
    }


def informal_terms(run: OnePassFacts, *, reading: Reading = "corrected") -> dict[str, float]:
    """Return the terms of the excess risk that the main text of Lowy and Razaviyayn states for one pass.

    They are those of equation (8), or (9) for strong convexity μ > 0, and orders without constants. The main text
    assumes that all clients participate, so there is no term for the heterogeneity of clients.

    Args:
        run: constants of the run, with strong convexity μ.
        reading: "printed" has no μ in the denominator of the second term of (9), which is an error (docs/errata.md,
            E-08). "corrected" has it.

    Returns:
        The terms `sampling` and `privacy`, in loss units without constants.
    """
    if run.strong_convexity == 0.0:
        terms = balanced_convex_terms(run)
        return {"sampling": terms["sampling"], "privacy": terms["privacy"]}
    terms = balanced_strongly_convex_terms(run)
    factor = run.strong_convexity if reading == "printed" else 1.0  # cancels the μ in the denominator
    return {"sampling": terms["sampling"], "privacy": terms["privacy"] * factor}


def informal_rounds(run: OnePassFacts) -> float:
    """Return the order of the number of rounds that the main text of Lowy and Razaviyayn prescribes.

    It is ((βDεn)² M/(L²d))^{1/5} for convex losses, and √κ for strongly convex losses.

    Args:
        run: constants of the run: n records of each client, M participants in a round, and the target ε. The loss in d
            dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a domain of
            diameter D.

    Returns:
        The number of rounds as a real number, up to constants and logarithms.
    """
    if run.strong_convexity > 0.0:
        return math.sqrt(run.condition_number)
    scaled_curvature = run.smoothness * run.diameter * run.reach / run.lipschitz  # βDεn/L
    return math.pow(scaled_curvature * scaled_curvature * run.participants / run.dimension, 0.2)


def heterogeneity_threshold(run: OnePassFacts) -> float:
    """Return the order of the largest heterogeneity v at which the sampling of clients does not dominate the risk.

    The heterogeneity v is the standard deviation of the clients' expected gradients. At the returned v, the
    heterogeneity term of equation (37), or of (38) if μ > 0, is as large as the sum of the other terms.

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.

    Returns:
        The order of v in gradient units; infinite if all clients participate.
    """
    if run.left_out == 0.0:
        return math.inf
    if run.strong_convexity > 0.0:
        return _strongly_convex_threshold(run)
    return _convex_threshold(run)


def _strongly_convex_threshold(run: OnePassFacts) -> float:
    """Return the heterogeneity v of the clients that costs as much as privacy and sampling together, if μ > 0.

    v is the standard deviation of the clients' expected gradients. The result makes the last term of equation (38) of
    Lowy and Razaviyayn equal to the sum of the other two:

        v = √(√κ (φ²/n + √κ (L/(εn))² d ln(1/δ))/((N − M)/(N − 1))).

    Args:
        run: constants of the run: n records of each of N clients, M < N participants in a round, and the target (ε, δ).
            The loss in d dimensions has Lipschitz constant L and condition number κ. φ is the standard deviation of a
            record's gradient.

    Returns:
        The order of v, in gradient units.
    """
    condition_root = math.sqrt(run.condition_number)  # √κ
    noise = condition_root * (run.lipschitz / run.reach) ** 2 * run.privacy
    sampling = run.gradient_std * run.gradient_std / float(run.samples_per_client)
    return math.sqrt(condition_root * (sampling + noise) / run.left_out)


def _convex_threshold(run: OnePassFacts) -> float:
    """Return the heterogeneity v of the clients that costs as much as privacy and sampling together, for convex losses.

    It is (a + b)/√((N − M)/(N − 1)), with a for the cost of privacy and b for the sampling of records:

        a = L^{3/5} (βD)^{2/5} M^{1/5} (d ln(1/δ))^{3/10}/(εn)^{3/5},
        b = φ (βD/L)^{1/5} (ε²M/(n³ d ln(1/δ)))^{1/10}.

    v is the standard deviation of the clients' expected gradients.

    Args:
        run: constants of the run: n records of each of N clients, M participants in a round, and the target (ε, δ). The
            loss in d dimensions has Lipschitz constant L, smoothness β and strong convexity μ, with κ = β/μ, on a
            domain of diameter D. φ and v are the standard deviations of gradients within and between clients.

    Returns:
        The order of v, in gradient units.
    """
    records = float(run.samples_per_client)  # n

    # a, the cost of privacy.
    loss_factor = math.pow(run.lipschitz, 0.6) * math.pow(run.diameter * run.smoothness, 0.4)
    participants_factor = math.pow(run.participants, 0.2)
    privacy_cost = loss_factor * participants_factor * math.pow(run.privacy, 0.3) / math.pow(run.reach, 0.6)

    # b, the cost of sampling records.
    smoothness_factor = math.pow(run.smoothness * run.diameter / run.lipschitz, 0.2)
    records_factor = math.pow(run.epsilon**2 * run.participants / (records**3 * run.privacy), 0.1)
    sampling_cost = run.gradient_std * smoothness_factor * records_factor
    return (privacy_cost + sampling_cost) / math.sqrt(run.left_out)


def clients_needed(run: OnePassFacts, *, reading: Reading = "corrected") -> float:
    """Return the order of the number of participants that suffices for equation (8) of Lowy and Razaviyayn.

    Remark E.2 extends (8) to runs without full participation. The order is (εn/√(d ln(1/δ)))³.

    Args:
        run: constants of the run: n records of a client, dimension d, and the target (ε, δ).
        reading: version of the formula: "printed" has d ln(1/δ) without the square root (erratum E-25), "corrected" has
            the root.

    Returns:
        The order of the number, without constants and not rounded.
    """
    divisor = run.privacy if reading == "printed" else math.sqrt(run.privacy)
    return math.pow(run.reach / divisor, 3.0)


def regularization(*, variance: float, diameter: float, rounds: int) -> float:
    """Return the weight λ of the regulariser (λ/2)|w|² that Theorem 2.3 of Lowy and Razaviyayn adds to convex losses.

    The regulariser makes the loss strongly convex. The weight is λ = V/(2D√R). Lemma E.11 has V/(D√R), for the squared
    distance from the first iterate in place of |w|² (erratum E-29).

    Args:
        variance: bound V² on the variance of a round's gradient, in squared gradient units.
        diameter: diameter D > 0 of the domain.
        rounds: number R of rounds, at least 1.

    Returns:
        The weight λ, in the unit of a strong convexity.
    """
    return math.sqrt(variance) / (2.0 * diameter * math.sqrt(rounds))
