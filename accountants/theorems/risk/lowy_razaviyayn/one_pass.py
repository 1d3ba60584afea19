"""Theorem 2.3 of Lowy and Razaviyayn: one pass of accelerated SGD, for clients with different distributions.

Before the run, every client partitions its n records into R = ⌊n/K⌋ disjoint batches and uses each batch once. A record
enters one message only, and the Gaussian noise of this message provides its privacy. Hence there is neither composition
nor amplification. In return, the rounds and the batch size compete for the records. All risks hide constants and
logarithms; the explicit bound is in `accelerated_bound.py`. ln(1/δ) is −`log_delta`. Numbers in parentheses such as
(37) are equations of the paper. The reading "printed" computes its formulas as they are; "corrected" removes the errors
that the errata at the end of this file list under their numbers (E-07 and so on).
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.federation import ParticipationMoments
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    BATCH_WITHIN_CLIENT,
    GRADIENT_STD,
    INITIAL_GAP,
    Checks,
    Heterogeneity,
    Smoothness,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import INSIDE_DOMAIN
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import ParticipationInputs, of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import EqualClientsRound
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass_rates import (
    OnePassFacts,
    balanced_convex_terms,
    balanced_strongly_convex_terms,
    clients_needed,
    convex_terms,
    heterogeneity_threshold,
    informal_rounds,
    informal_terms,
    logarithm_argument,
    one_pass_noise_std,
    one_pass_rounds,
    prescribed_batch,
    regularization,
    strongly_convex_terms,
    whole_batch,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_one_pass.py"


@request
class OnePassInputs(ParticipationInputs):
    """Equal clients, of which a possibly random number M_r take part in a round; M = 1/E[1/M_r].

    If absent, all clients participate, `batch_size` is the prescribed one, φ is L, and Δ is LD.
    """

    batch_size: Annotated[int | None, BATCH_SIZE] = None
    smoothness: Smoothness
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Heterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    checks: ClassVar[Checks] = (BATCH_WITHIN_CLIENT,)

    @property
    def run(self) -> OnePassFacts:
        """The constants of the run that enter the formulas."""
        gap = self.lipschitz * self.diameter if self.initial_gap is None else self.initial_gap
        std = self.lipschitz if self.gradient_std is None else self.gradient_std
        participants = ParticipationMoments.of(self.counts).mean
        return of_same_fields(OnePassFacts, self, gap=gap, gradient_std=std, participants=participants)

    @property
    def batch(self) -> int:
        """The batch size K of the request, or the prescribed one."""
        if self.batch_size is not None:
            return self.batch_size
        return whole_batch(prescribed_batch(self.run), samples_per_client=self.samples_per_client)


def one_pass(inputs: OnePassInputs, reading: Reading = "printed") -> Outputs:
    """Return the noise, batch size and rounds of Theorem 2.3, and the order of its excess risk.

    Args:
        inputs: the clients, the loss and the privacy target.
        reading: "printed" or "corrected"; the formulas differ by the errata E-07, E-08 and E-25.

    Returns:
        `mean_participants` is M = 1/E[1/M_r] for the number M_r of participants in a round. The prescribed batch size
        is a real number; the run uses `batch_size`. Orders of the excess risk, and their terms, have three prefixes:
        `batch_…` at the batch that is run, `balanced_…` at the prescribed batch (equation (37), or (38) if μ > 0), and
        `informal_…` of the main text, where all clients participate (equation (8) or (9)). The smallest sufficient
        noise is between `lower_exact_noise_std` and `upper_exact_noise_std`.
    """
    run, batch = inputs.run, inputs.batch
    rounds = one_pass_rounds(samples_per_client=inputs.samples_per_client, batch_size=batch)
    std = one_pass_noise_std(
        lipschitz=inputs.lipschitz, batch_size=batch, epsilon=inputs.epsilon, log_delta=inputs.log_delta
    )
    sensitivity = 2.0 * inputs.lipschitz / batch
    exact = gaussian_noise_std_bounds(epsilon=inputs.epsilon, log_delta=inputs.log_delta, sensitivity=sensitivity)
    if inputs.strong_convexity > 0.0:
        at_batch = strongly_convex_terms(run, batch_size=batch)
        balanced = balanced_strongly_convex_terms(run, reading=reading)
    else:
        at_batch = convex_terms(run, batch_size=batch, reading=reading)
        balanced = balanced_convex_terms(run)
    clients = of_same_fields(EqualClientsRound, run, batch_size=batch)
    variance = clients.fresh_variance(
        gradient_std=run.gradient_std, heterogeneity=run.heterogeneity, noise_std=std
    ).total
    outputs: dict[str, float] = {
        "batch_size": batch,
        "prescribed_batch_size": prescribed_batch(run),
        "rounds": rounds,
        "informal_rounds_scale": informal_rounds(run),
        "noise_std": std,
        "noise_multiplier": std * batch / inputs.lipschitz,
        "sensitivity": sensitivity,
        "risk_proof_noise_std": 0.5 * std,  # 8 L² for 32 L² (E-24)
        "lower_exact_noise_std": exact.lower,
        "upper_exact_noise_std": exact.upper,
        "epsilon_limit": -8.0 * inputs.log_delta,
        "mean_participants": run.participants,
        "gradient_variance": variance,
        "regularization": regularization(variance=variance, diameter=inputs.diameter, rounds=rounds),
        "heterogeneity_threshold": heterogeneity_threshold(run),
        "clients_needed": clients_needed(run, reading=reading),
        "excess_risk_scale": math.fsum(at_batch.values()),
        "balanced_excess_risk_scale": math.fsum(balanced.values()),
        "informal_excess_risk_scale": math.fsum(informal_terms(run, reading=reading).values()),
    }
    outputs |= {f"batch_{name}_term": value for name, value in at_batch.items()}
    return outputs | {f"balanced_{name}_term": value for name, value in balanced.items()}


# Conditions ---------------------------------------------------------------------------------------------------------
def _epsilon_range(inputs: OnePassInputs) -> Sides:
    """Check that ε ≤ 8 ln(1/δ)."""
    return Sides.at_most(inputs.epsilon, -8.0 * inputs.log_delta)


def _full_participation(inputs: OnePassInputs) -> Sides:
    """Check that all clients participate in every round, unless the heterogeneity v is 0."""
    fewest = min(count for count, _ in inputs.counts)
    return Sides.at_least(fewest, inputs.clients if inputs.heterogeneity > 0.0 else fewest)


def _batch_at_least_one(inputs: OnePassInputs) -> Sides:
    """Check that the prescribed batch is at least 1."""
    return Sides.at_least(prescribed_batch(inputs.run), 1.0)


def _batch_at_most_all(inputs: OnePassInputs) -> Sides:
    """Check that the prescribed batch is at most n."""
    return Sides.at_most(prescribed_batch(inputs.run), inputs.samples_per_client)


def _logarithm(inputs: OnePassInputs) -> Sides:
    """Check that the argument of the logarithm exceeds 1."""
    argument = logarithm_argument(inputs.run) if inputs.strong_convexity > 0.0 else math.inf
    return Sides.above(argument, 1.0)


DISJOINT = Condition(
    "disjoint-batches", "each client's batches are disjoint and fixed before the run: a record is used at most once"
)
CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 8 ln(1/δ)", _epsilon_range),
    Condition(
        "informal-participation", "M = N, or v = 0, for the informal risks (right side M if v = 0)", _full_participation
    ),
    Condition("prescribed-batch-positive", "the prescribed batch is at least 1", _batch_at_least_one),
    Condition("prescribed-batch-available", "the prescribed batch is at most n", _batch_at_most_all),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    DISJOINT,
    Condition("fresh-noise", "fresh Gaussian noise in every message"),
    INSIDE_DOMAIN,
    Condition("loss", "every record's loss is convex (the objective μ-strongly convex), L-Lipschitz and β-smooth"),
    Condition("independent-records", "all records are independent, each from its own client's distribution"),
    Condition("hidden-constants", "constants and logarithms that the statement's risks leave out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
SQUARED_SMOOTHNESS = Erratum(
    "E-07",
    grade=Grade.MISPRINT,
    printed="the convex bound at any K begins with β²D²K²/n²",
    truth="βD²K²/n²: as printed it is no loss, and does not balance the privacy term at the prescribed K",
    test=f"{_TESTS}::test_the_first_convex_term_balances_the_third_only_with_one_power_of_smoothness",
)
LOST_CONVEXITY = Erratum(
    "E-08",
    grade=Grade.MISPRINT,
    printed="φ²/(nM) in (38), and √κ L² d ln(1/δ)/(ε²n²N) in (9)",
    truth="both are divided by μ: as printed they are squared gradients, not losses",
    test=f"{_TESTS}::test_the_printed_strongly_convex_terms_are_not_losses",
)
TWO_NOISES = Erratum(
    "E-24",
    grade=Grade.MISPRINT,
    printed="σ² = 32 L² ln(1.25/δ)/(εK)² in the statement and its privacy proof, 8 L² … in the proof of its risk",
    truth="32 for ε ≤ 8 ln(1/δ). With 8 the true ε at δ = 1e-5 and ε = 10 is 10.39",
    test=f"{_TESTS}::test_the_noise_in_the_proof_of_the_risk_is_not_private",
)
REMARK = Erratum(
    "E-25",
    grade=Grade.MISPRINT,
    printed="Remark E.2: M ≳ (εn/(d ln(1/δ)))³",
    truth="(εn/√(d ln(1/δ)))³",
    test=f"{_TESTS}::test_the_clients_that_the_remark_needs",
)
REGULARIZATION = Erratum(
    "E-29",
    grade=Grade.MISPRINT,
    printed="λ = V/(2D√R) with (λ/2)|w|²; R = n/K; F̂ for F",
    truth="Lemma E.11 has (V/(2D√R))|w − w₀|², twice as much and about the start; R = ⌊n/K⌋",
    test=f"{_TESTS}::test_rounds_are_whole_and_the_rest_of_the_records_is_unused",
)

_EXAMPLE: Fields = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "samples_per_client": 100_000,
    "clients": 50,
    "dimension": 10,
    "lipschitz": 1.0,
    "diameter": 2.0,
}

THEOREM_2_3 = Theorem(
    id="lowy.2.3",
    title="One-pass accelerated mini-batch SGD for clients that differ",
    statement=(
        "Let σ² = 32 L² ln(1.25/δ)/(εK)², ε ≤ 8 ln(1/δ), and let R = ⌊n/K⌋ batches be disjoint. Then "
        "everything a client sends is (ε, δ) for each of its records. In Õ, the excess risk (37) is φD/√(nM) + "
        "(β^{1/4}LD^{3/2}√(d ln(1/δ))/(εn√M))^{4/5} + √K vD√((N − M)/((N − 1)nM)). If μ-strongly convex, (38) "
        "is φ²/(μnM) + √κ L²d ln(1/δ)/(με²n²M) + v²(N − M)/(μ√κM(N − 1)). Both are at the prescribed K"
    ),
    source=Source("lowy2023", "Theorem 2.3"),
    status=Status.PROVED,
    constants="hidden",
    conditions=CONDITIONS,
    errata=(SQUARED_SMOOTHNESS, LOST_CONVEXITY, TWO_NOISES, REMARK, REGULARIZATION),
    inputs=OnePassInputs,
    formula=one_pass,
    examples=(
        {**_EXAMPLE, "participants": 40, "smoothness": 1.0, "gradient_std": 0.5, "heterogeneity": 0.1},
        {**_EXAMPLE, "participants": 50, "batch_size": 500, "smoothness": 10.0, "strong_convexity": 0.1},
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_3,)
