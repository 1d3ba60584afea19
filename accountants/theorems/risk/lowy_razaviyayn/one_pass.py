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
    balanced_convex_terms,
    balanced_strongly_convex_terms,
    clients_needed,
    convex_terms,
    heterogeneity_threshold,
    informal_rounds,
    informal_terms,
    logarithm_argument,
    prescribed_batch,
    regularization,
    strongly_convex_terms,
    whole_batch,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.one_pass_run import (
    OnePassFacts,
    one_pass_noise_std,
    one_pass_rounds,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_one_pass.py"


@request
class OnePassInputs(ParticipationInputs):
    """Equal clients, of which a possibly random number M_r take part in a round; M = 1/E[1/M_r].

    If absent, all clients participate, `batch_size` is the prescribed one, `gradient_std` is the Lipschitz constant L,
    and `initial_gap` is LD for the diameter D of the domain.
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
        largest_gap = self.lipschitz * self.diameter
        gap = largest_gap if self.initial_gap is None else self.initial_gap
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
    """Return the noise, batch size and rounds of one pass by Theorem 2.3 of Lowy and Razaviyayn, and its excess risk.

    Args:
        inputs: the clients, the loss and the privacy target.
        reading: "printed" for the paper's formulas, "corrected" for those without its errors E-07, E-08 and E-25.

    Returns:
        `batch_size`: records of the batch that is run; `prescribed_batch_size` is the real number of the theorem.
        `rounds`: number of rounds at the batch that is run.
        `lower_exact_noise_std`, `upper_exact_noise_std`: bounds on the smallest sufficient noise.
        `excess_risk_scale`, `batch_…_term`: order of the excess risk at the batch that is run, and its terms.
        `balanced_…`: the same at the prescribed batch: equation (37), or (38) for strongly convex losses.
        `informal_…`: orders that the main text states for full participation: risk (8) or (9), and rounds.
    """
    run, batch = inputs.run, inputs.batch
    rounds = one_pass_rounds(samples_per_client=inputs.samples_per_client, batch_size=batch)
    noise_std = one_pass_noise_std(
        lipschitz=inputs.lipschitz, batch_size=batch, epsilon=inputs.epsilon, log_delta=inputs.log_delta
    )

    # The variance of a round's gradient, as every batch has new records.
    clients_round = of_same_fields(EqualClientsRound, run, batch_size=batch)
    variance_parts = clients_round.fresh_variance(
        gradient_std=run.gradient_std, heterogeneity=run.heterogeneity, noise_std=noise_std
    )
    variance = variance_parts.total
    return {
        "batch_size": batch,
        "prescribed_batch_size": prescribed_batch(run),
        "rounds": rounds,
        "informal_rounds_scale": informal_rounds(run),
        **_noise_outputs(inputs, batch_size=batch, noise_std=noise_std),
        "mean_participants": run.participants,
        "gradient_variance": variance,
        "regularization": regularization(variance=variance, diameter=inputs.diameter, rounds=rounds),
        "heterogeneity_threshold": heterogeneity_threshold(run),
        "clients_needed": clients_needed(run, reading=reading),
        **_risk_outputs(run, batch_size=batch, reading=reading),
    }


def _noise_outputs(inputs: OnePassInputs, *, batch_size: int, noise_std: float) -> dict[str, float]:
    """Return the noise σ of Theorem 2.3 of Lowy and Razaviyayn, and bounds on the smallest σ for the target (ε, δ).

    The bounds are those of the exact privacy curve of the Gaussian mechanism. They show by how much σ is too large.

    Args:
        inputs: the clients, the loss with Lipschitz constant L, and the privacy target.
        batch_size: number K of records of a batch. Replacing one record moves a client's mean gradient by at most 2L/K.
        noise_std: standard deviation σ of Theorem 2.3 per coordinate.

    Returns:
        A mapping with σ, the noise multiplier σK/L and the sensitivity 2L/K. It also has the σ of the risk
        proof, both bounds, and `epsilon_limit`, 8 ln(1/δ).
    """
    sensitivity = 2.0 * inputs.lipschitz / batch_size
    exact = gaussian_noise_std_bounds(epsilon=inputs.epsilon, log_delta=inputs.log_delta, sensitivity=sensitivity)
    return {
        "noise_std": noise_std,
        "noise_multiplier": noise_std * batch_size / inputs.lipschitz,
        "sensitivity": sensitivity,
        "risk_proof_noise_std": 0.5 * noise_std,  # the risk proof has 8 L² where the theorem has 32 L² (E-24)
        "lower_exact_noise_std": exact.lower,
        "upper_exact_noise_std": exact.upper,
        "epsilon_limit": -8.0 * inputs.log_delta,
    }


def _risk_outputs(run: OnePassFacts, *, batch_size: int, reading: Reading) -> dict[str, float]:
    """Return three orders of the excess risk of one pass, without constants and logarithms, and terms of two of them.

    Args:
        run: constants of the run.
        batch_size: records K of the batch that is run.
        reading: "printed" for the formulas of Lowy and Razaviyayn, "corrected" for those without their errors.

    Returns:
        `excess_risk_scale`: the order at the batch size K, the sum of all `batch_…_term`.
        `balanced_excess_risk_scale`: the sum of all `balanced_…_term`, at the batch size of the theorem.
        `informal_excess_risk_scale`: the order that the main text of the paper states.
    """
    # The terms at the batch that is run, at the prescribed batch, and of the main text.
    if run.strong_convexity > 0.0:
        at_batch = strongly_convex_terms(run, batch_size=batch_size)
        balanced = balanced_strongly_convex_terms(run, reading=reading)
    else:
        at_batch = convex_terms(run, batch_size=batch_size, reading=reading)
        balanced = balanced_convex_terms(run)
    of_main_text = informal_terms(run, reading=reading)

    batch_terms = {f"batch_{name}_term": value for name, value in at_batch.items()}
    balanced_terms = {f"balanced_{name}_term": value for name, value in balanced.items()}
    return {
        "excess_risk_scale": math.fsum(at_batch.values()),
        "balanced_excess_risk_scale": math.fsum(balanced.values()),
        "informal_excess_risk_scale": math.fsum(of_main_text.values()),
        **batch_terms,
        **balanced_terms,
    }


# Conditions ---------------------------------------------------------------------------------------------------------
def _epsilon_range(inputs: OnePassInputs) -> Sides:
    """Compare ε with 8 ln(1/δ), the largest ε that the theorem allows."""
    return Sides.at_most(inputs.epsilon, -8.0 * inputs.log_delta)


def _full_participation(inputs: OnePassInputs) -> Sides:
    """Check that all clients participate in every round, unless the heterogeneity v is 0.

    v is the standard deviation of mean gradients between the clients. If it is 0, any number of participants is
    allowed.

    Args:
        inputs: the run, with the possible numbers of participants in a round and their probabilities.

    Returns:
        The smallest possible number of participants, and the number that it must reach: the number of clients, or if v
        is 0 the smallest number itself.
    """
    fewest = min(participants for participants, _probability in inputs.counts)
    required = inputs.clients if inputs.heterogeneity > 0.0 else fewest
    return Sides.at_least(fewest, required)


def _batch_at_least_one(inputs: OnePassInputs) -> Sides:
    """Compare the prescribed batch size with 1."""
    return Sides.at_least(prescribed_batch(inputs.run), 1.0)


def _batch_at_most_all(inputs: OnePassInputs) -> Sides:
    """Compare the prescribed batch size with the number n of records of a client."""
    return Sides.at_most(prescribed_batch(inputs.run), inputs.samples_per_client)


def _logarithm(inputs: OnePassInputs) -> Sides:
    """Compare the argument of the logarithm in the prescribed batch size with 1; it is infinite if μ = 0."""
    argument = logarithm_argument(inputs.run) if inputs.strong_convexity > 0.0 else math.inf
    return Sides.above(argument, 1.0)


DISJOINT = Condition(
    "disjoint-batches",
    "the batches of each client are disjoint and fixed before the run, so that each record is used at most once",
)
CONDITIONS = (
    Condition("epsilon-range", "ε is at most 8 ln(1/δ)", _epsilon_range),
    Condition(
        "informal-participation",
        (
            "For the informal risks, all N clients take part (M = N), or their expected gradients do not differ (v = "
            "0). If v = 0, the right side is the number M of participants"
        ),
        _full_participation,
    ),
    Condition("prescribed-batch-positive", "the prescribed batch size is at least 1", _batch_at_least_one),
    Condition(
        "prescribed-batch-available",
        "the prescribed batch size is at most the number n of records of a client",
        _batch_at_most_all,
    ),
    Condition(
        "logarithm",
        "the argument of the logarithm in the prescribed batch size exceeds 1 (it is unbounded if μ = 0)",
        _logarithm,
    ),
    DISJOINT,
    Condition("fresh-noise", "every message has fresh Gaussian noise"),
    INSIDE_DOMAIN,
    Condition(
        "loss",
        (
            "every record's loss is convex, L-Lipschitz and β-smooth, and the objective is μ-strongly convex (μ "
            "may be 0)"
        ),
    ),
    Condition("independent-records", "all records are independent, each from its own client's distribution"),
    Condition("hidden-constants", "the risks of the statement leave out constants and logarithms", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
SQUARED_SMOOTHNESS = Erratum(
    "E-07",
    grade=Grade.MISPRINT,
    printed=(
        "For convex losses and batches of K records, the bound on the excess risk begins with the term β²D²K²/n². "
        "Here β is the smoothness, D the diameter of the domain, and n the number of records of a client."
    ),
    truth=(
        "The proof gives βD²K²/n². As printed the term does not have the unit of a loss. It also does not balance "
        "the privacy term at the prescribed K."
    ),
    test=f"{_TESTS}::test_the_first_convex_term_balances_the_third_only_with_one_power_of_smoothness",
    place="Theorem 2.3 (complete version), part 1, bound in terms of K before (37)",
    charitable=(
        "Where β ≥ 1, the printed bound is the larger one and holds. No reading that we know makes it follow for "
        "every β."
    ),
)
LOST_CONVEXITY = Erratum(
    "E-08",
    grade=Grade.MISPRINT,
    printed=(
        "For μ-strongly convex losses, (38) states the term φ²/(nM), and (9) states √κ L² d ln(1/δ)/(ε²n²N). Here "
        "φ² is the variance of the gradient of a record, L the Lipschitz constant, and κ the condition number. A "
        "client has n records, and M of N clients take part. The model has d coordinates, and the privacy target is "
        "(ε, δ)."
    ),
    truth=(
        "Both terms are divided by μ, as the other equation states each of them. As printed they are squared "
        "gradients, not losses."
    ),
    test=f"{_TESTS}::test_the_printed_strongly_convex_terms_are_not_losses",
    place="Theorem 2.3, (9) in Section 2.2 and (38) in the complete version",
    charitable=(
        "If losses are scaled so that μ = 1, both terms are right. No reading that we know makes them right for "
        "every μ."
    ),
)
TWO_NOISES = Erratum(
    "E-24",
    grade=Grade.MISPRINT,
    printed=(
        "The statement and its proof of privacy have the noise variance σ² = 32 L² ln(1.25/δ)/(εK)². The proof of "
        "the excess risk has 8 L² ln(1.25/δ)/(εK)². Here L is the Lipschitz constant, K the batch size, and (ε, δ) "
        "the privacy target."
    ),
    truth=(
        "The factor 32 gives the guarantee for ε ≤ 8 ln(1/δ). With the factor 8, the true ε at δ = 1e-5 and a "
        "target of ε = 10 is 10.39."
    ),
    test=f"{_TESTS}::test_the_noise_in_the_proof_of_the_risk_is_not_private",
    place="Theorem 2.3 (complete version) and part 1 of its proof, against part 2 of the proof",
    charitable=(
        "With 32 in both places the statement keeps its guarantee. The order of the risk, which hides constants, is "
        "the same with 8 and 32."
    ),
)
REMARK = Erratum(
    "E-25",
    grade=Grade.MISPRINT,
    printed=(
        "The remark states three conditions, of which each suffices for (8) with M for N. One of them is M ≳ (εn/(d "
        "ln(1/δ)))³. Here M of N clients take part, each with n records. The model has d coordinates, and the "
        "privacy target is (ε, δ)."
    ),
    truth=(
        "For this condition to suffice, M has to be of the order (εn/√(d ln(1/δ)))³. At ε = 1, n = 1000, d = 10 and "
        "δ = 1e-6, the order is 6.2e5 participants, not 379."
    ),
    test=f"{_TESTS}::test_the_clients_that_the_remark_needs",
    place="Remark E.2",
    charitable=(
        "Where d ln(1/δ) ≤ 1, the printed order is the larger one and suffices. No reading that we know makes it "
        "suffice in general."
    ),
)
REGULARIZATION = Erratum(
    "E-29",
    grade=Grade.MISPRINT,
    printed=(
        "The statement adds the regulariser (λ/2)|w|² to the empirical risk F̂, and its proof chooses λ = V/(2D√R). "
        "The proof takes R = n/K rounds. Here V² is the variance of the gradient of a round, and D the diameter of "
        "the domain. A client has n records, and a batch K of them."
    ),
    truth=(
        "Lemma E.11 has the regulariser (V/(2D√R))|w − w₀|², which is twice as much. It is centred at the start w₀. "
        "The number of rounds is R = ⌊n/K⌋. The objective of one pass is the population risk F, not F̂."
    ),
    test=f"{_TESTS}::test_rounds_are_whole_and_the_rest_of_the_records_is_unused",
    place="Theorem 2.3 (complete version), part 1, and part 2 of its proof, against Lemma E.11",
    charitable=(
        "If the start w₀ is 0 and K divides n, the factor of 2 changes only constants that the statement hides. Its "
        "order then holds for F."
    ),
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
        "Let σ² = 32 L² ln(1.25/δ)/(εK)², ε ≤ 8 ln(1/δ), and let R = ⌊n/K⌋ batches be disjoint. Then everything "
        "that a client sends is (ε, δ) for each of its records. Up to constants and logarithms, the excess risk "
        "(37) is φD/√(nM) + (β^{1/4}LD^{3/2}√(d ln(1/δ))/(εn√M))^{4/5} + √K vD√((N − M)/((N − 1)nM)). If the "
        "objective is μ-strongly convex, the excess risk (38) is φ²/(μnM) + √κ L²d ln(1/δ)/(με²n²M) + v²(N − "
        "M)/(μ√κM(N − 1)). Both risks are at the prescribed K"
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
