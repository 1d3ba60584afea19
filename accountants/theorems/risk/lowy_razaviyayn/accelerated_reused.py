"""Theorems E.1 and 2.4 of Lowy and Razaviyayn: accelerated SGD (Algorithm 2) on the data at hand.

Theorem E.1 is for smooth losses. Theorem 2.4 applies it to the Moreau envelope of losses that need not be smooth.
Clients may differ, and a random number of them take part. `accelerated_prescriptions.py` has the prescriptions of both.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    EMPIRICAL_GRADIENT_STD,
    INITIAL_GAP,
    EmpiricalHeterogeneity,
    Smoothness,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import (
    DRAWN_ONCE,
    EQUAL_SHARES,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    epsilon_range,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN, PRIVACY_ERRATA
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import TEN_CLIENTS, UNLIKE_CLIENTS, UnlikeClientsInputs
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run_outputs import aggregate_outputs, noise_outputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_informal import informal_prescription, speedup
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescriptions import (
    complete_prescription,
    envelope_figures,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import ENVELOPE_LIPSCHITZ, envelope_lipschitz
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import TWO_LEVELS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.reused_run import AcceleratedPrescription, ReusedRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated.py"


@request
class ReusedInputs(UnlikeClientsInputs, ABC):
    """A federation of equal or different clients with records that are used in every round, and the loss.

    If absent, the number of rounds is the prescribed one, all clients participate, and `initial_gap` is LD, the largest
    Lipschitz constant times the diameter. The statistics of the gradients are those of the weighted losses, averaged
    over clients with equal weights.
    """

    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    @property
    def gap(self) -> float:
        """Excess risk Δ of the first iterate. If the request has none, it is LD, the largest possible value."""
        if self.initial_gap is not None:
            return self.initial_gap
        return self.largest_lipschitz * self.diameter

    @abstractmethod
    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss, with the constants of the printed or the corrected formulas."""

    def prescription(self, reading: Reading) -> AcceleratedPrescription:
        """Return the prescription of the requested statement, which is in the main text or in the appendix."""
        if self.variant == "informal":
            return informal_prescription(self.run(reading), rounds=self.rounds)
        return complete_prescription(self.run(reading), rounds=self.rounds, reading=reading)


@request
class SmoothReusedInputs(ReusedInputs):
    """A federation with a smooth loss, and with records that are used in every round (Theorem E.1).

    If absent, the number of rounds is the prescribed one, all clients participate, `empirical_gradient_std` is the
    largest Lipschitz constant L, and `initial_gap` is LD.
    """

    smoothness: Smoothness
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None

    def adds_own_noise(self, reading: Reading) -> bool:
        """Return true, as Theorem E.1 scales each client's noise with the client's own Lipschitz constant L_i."""
        del reading
        return True

    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss, which are the same for the printed and the corrected formulas."""
        std = self.largest_lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        smoothness = max(self.scales_of_losses) * self.smoothness
        return self.run_in(reading, ReusedRun, smoothness=smoothness, empirical_gradient_std=std)


@request
class EnvelopedInputs(ReusedInputs):
    """A federation with a Lipschitz loss that need not be smooth, whose records are used in every round (Theorem 2.4).

    If absent, the number of rounds is the prescribed one, all clients participate, and `initial_gap` is LD.
    """

    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss.

        The bound Φ̂ on gradients is the Lipschitz constant of the loss's Moreau envelope, a smooth approximation of the
        loss: 2L as printed, L as corrected (erratum E-17).
        """
        std = envelope_lipschitz(lipschitz=self.largest_lipschitz, reading=reading)
        return self.run_in(reading, ReusedRun, smoothness=math.inf, empirical_gradient_std=std)


def accelerated_outputs(inputs: ReusedInputs, reading: Reading = "printed") -> Outputs:
    """Return the run of accelerated descent that Theorem E.1 or 2.4 of Lowy and Razaviyayn prescribes, and its risk.

    The risk is an order of magnitude, without constants and logarithms.

    Args:
        inputs: the federation and the loss.
        reading: "printed" evaluates the paper's formulas as they are; "corrected" removes their errors, which
            `complete_prescription` lists.

    Returns:
        `rounds`: number of rounds that is run.
        `prescribed_rounds`: number of rounds of the theorem, before rounding.
        `excess_risk_scale`: order of the excess risk at `prescribed_rounds`.
        The outputs of `noise_outputs` describe the noise. Theorem 2.4 as printed uses the largest Lipschitz constant
        for all groups of clients.

        The statement of the appendix adds:
        `before_excess_risk_scale`: order of the risk at `rounds`, before these are set to the prescribed number. It is
        the sum of the outputs with names that end in `_term`.
        `gradient_variance`: variance of a round's gradient.
        `regularization`, `regularization_of_the_lemma`: weight of the quadratic regulariser in the theorem, and in its
        Lemma E.11, where it is twice as large.
        Constants of the Moreau envelope, the smooth approximation of the loss in Theorem 2.4, by `envelope_figures`.
        Averages over the clients, by `aggregate_outputs`.

        The statement of the main text of Theorem 2.4 adds:
        `speedup`: the factor by which it needs fewer rounds than earlier results.
    """
    prescription, run = inputs.prescription(reading), inputs.run(reading)
    outputs: Fields = {
        "rounds": prescription.rounds,
        "prescribed_rounds": prescription.prescribed_rounds,
        **noise_outputs(inputs, prescription.rounds, reading),
        "excess_risk_scale": prescription.excess_risk,
    }

    # The statement of the main text has no further numbers.
    figures = prescription.figures
    if figures is None:
        if not run.is_smooth:
            outputs["speedup"] = speedup(run)
        return outputs

    if figures.envelope_smoothness is not None:
        outputs |= envelope_figures(run, figures.envelope_smoothness, reading)
    named_terms = {f"{name}_term": value for name, value in figures.terms.items()}
    return outputs | {
        "before_excess_risk_scale": math.fsum(figures.terms.values()),
        "gradient_variance": figures.variance,
        "regularization": figures.regularization,
        # Lemma E.11 has the weight V/(D√R), for the squared distance from the first iterate (erratum E-29).
        "regularization_of_the_lemma": 2.0 * figures.regularization,
        **aggregate_outputs(inputs, figures.aggregates, reading),
        **named_terms,
    }


# Conditions -----------------------------------------------------------------------------------------------------------
def _participation_sides(inputs: ReusedInputs) -> Sides:
    """Return both sides of the condition that all clients participate in every round, unless v̂ is 0.

    v̂ is the standard deviation of the clients' mean gradients. If it is 0, any number of participants is allowed.

    Args:
        inputs: the run, with the possible numbers of participants in a round and their probabilities.

    Returns:
        The smallest number of participants on the left, and the number that it must reach on the right.
    """
    fewest = min(participants for participants, _probability in inputs.counts)
    required = inputs.clients if inputs.empirical_heterogeneity > 0.0 else fewest
    return Sides.at_least(fewest, required)


def _logarithm_sides(inputs: ReusedInputs) -> Sides:
    """Return the argument of the logarithm in the prescribed rounds, which must exceed 1, and 1.

    If the strong convexity is 0, there is no logarithm, and the argument is infinite.
    """
    argument = math.inf
    if inputs.strong_convexity > 0.0:
        argument = inputs.prescription("printed").logarithm_argument
    return Sides.above(argument, 1.0)


def _gap_sides(inputs: ReusedInputs) -> Sides:
    """Return the excess risk Δ of the first iterate, and its largest possible value LD."""
    return Sides.at_most(inputs.gap, inputs.largest_lipschitz * inputs.diameter)


def _record_count_sides(inputs: ReusedInputs) -> Sides:
    """Return the fewest and the most records of a client, which must be equal."""
    record_counts = [kind.samples_per_client for kind in inputs.kinds]
    smallest, largest = min(record_counts), max(record_counts)
    return Sides(Verdict.of(smallest == largest), smallest, largest)


CONDITIONS = (
    Condition(
        "epsilon-range",
        "ε ≤ 2 ln(2/δ) in the informal statement, and ε ≤ ln(2/δ) in the complete statement",
        epsilon_range,
    ),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    Condition(
        "all-participate",
        (
            "All N clients take part (M = N), or their mean gradients do not differ (v̂ = 0). The printed "
            "variance V² omits the sampling of clients. If v̂ = 0, the right side is the number M of "
            "participants, or the least number M_r if it is random"
        ),
        _participation_sides,
    ),
    Condition(
        "logarithm",
        "the argument of the logarithm in the prescribed rounds exceeds 1 (it is unbounded if μ = 0)",
        _logarithm_sides,
    ),
    Condition(
        "initial-gap",
        "the initial excess risk Δ is at most the Lipschitz constant L times the diameter D (Δ ≤ LD)",
        _gap_sides,
    ),
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition(
        "equal-clients",
        (
            "All clients hold the same number of records (compared: the fewest and the most). The printed "
            "variance V² rests on Lemma E.6, which needs this. The corrected formulas take Φ̂² as the mean over "
            "clients of their own mean squares, and do not need it"
        ),
        _record_count_sides,
    ),
    Condition("hidden-constants", "the risks of the statement leave out constants and logarithms", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    grade=Grade.REFINEMENT,
    printed=(
        "The number of rounds R has a term for mini-batches of K records. The complete version states it as "
        "Φ̂²/(dΨ~), with L² for Φ̂² in Theorem 2.4. Up to a logarithm, the informal version states this term "
        "divided by K. Here Φ̂² is the mean square deviation of the gradients of records, and L is the Lipschitz "
        "constant. The product of the dimension d and Ψ~ is the cost of privacy."
    ),
    truth=(
        "The proof needs the quotient by K only, which is Φ̂²/(KdΨ~). Take Φ̂ = 2, K = 100, n = 1000 records of a "
        "client, M = N = 10 clients and d = 20. Then 12 rounds suffice, and the printed term prescribes 855."
    ),
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
    place=(
        "Theorem E.1 (complete version), R after (30) and (32); Theorem 2.4 (complete version), R before (34) and (36)"
    ),
    charitable="The bound holds with more rounds than it needs, and so the printed statement holds.",
)
UNBALANCED = Erratum(
    "E-11",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Theorem E.1 lets client i hold a number n_i of records of its own. It defines Φ̂² as a sum over all "
        "records divided by the number N of clients. The summands are the squared deviations of the gradients of "
        "records from the gradient of the empirical risk F̂. The proof of Lemma E.5 applies Lemma E.6, for which "
        "these deviations have to add to 0."
    ),
    truth=(
        "The empirical risk F̂ weighs clients equally. The gradients of the records therefore do not average to the "
        "gradient of F̂ unless all n_i are equal. Clients with the gradients (1) and (0, 0.5, −2) are a "
        "counterexample. Lemma E.5 itself fails for clients of 2 and 200 records, even if all take part. With Φ̂² as a "
        "mean over all records, its bound is then 0.005 for a variance of 0.25."
    ),
    test=f"{_TESTS}::test_unequal_clients_do_not_average_to_the_objective",
    place="Theorem E.1 (complete version), definition of Φ̂²; Lemma E.5, end of the proof, which uses Lemma E.6",
    charitable=(
        "With 1/N as printed, V² of Theorem E.1 bounds the variance for all n_i. With the mean over all records, as "
        "in Lemma E.5, no reading that we know makes the step hold for different n_i."
    ),
)
SECOND_TERM = Erratum(
    "E-36",
    grade=Grade.REFINEMENT,
    printed=(
        "The convex bound has the term LD/√(MKR) for mini-batches of K records. The variance V², from which the "
        "regularisation λ is computed, has 4L²/(MK). Here L is the Lipschitz constant of the loss, and D the "
        "diameter of the domain. M is the number of participants and R the number of rounds."
    ),
    truth="The constant is L in both places, as the Moreau envelope is L-Lipschitz on the domain (E-17).",
    test=f"{_TESTS}::test_the_second_term_of_34_is_printed_without_a_factor_of_two",
    place="Theorem 2.4 (complete version), the convex bound before (34), and V² at the beginning",
    charitable="The bound is stated up to a constant, which covers the factor of 2. The statement holds.",
)

THEOREM_E_1 = Theorem(
    id="lowy.e.1",
    title="Accelerated mini-batch SGD on the data at hand, smooth losses",
    statement=(
        "Algorithm 2 runs with the noise of Theorem 2.1 for R = max{√(βD√M*/√(dΨ~)), 1{MK < ñ}Φ̂²/(KdΨ~)} rounds. "
        "The run is (ε, δ) for every record against everyone but its client. The excess risk is E F̂ − F̂* = Õ(D√(d "
        "min{Ψ/M', ψ_max/M})). M* is M' or M, by the smaller of Ψ/M' and ψ_max/M. If the objective is μ-strongly "
        "convex, the first number in R is √(β/μ) ln(ΔμM*/(dΨ~)), and the excess risk is Õ((d/μ) min{Ψ/M', "
        "ψ_max/M}). We read the statement for M = N or v̂ = 0; otherwise R also counts v̂²(N − M)/((N − 1)dΨ~)"
    ),
    source=Source("lowy2023", "Theorem E.1"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition(
            "loss",
            (
                "every record's loss is convex, L-Lipschitz and β-smooth, and the mean of the losses is μ-strongly "
                "convex"
            ),
        ),
        EQUAL_SHARES,
    ),
    errata=(*PRIVACY_ERRATA, BATCH_IN_ROUNDS, UNBALANCED, TWO_LEVELS),
    inputs=SmoothReusedInputs,
    formula=accelerated_outputs,
    examples=(
        {**TEN_CLIENTS, "batch_size": 1000, "smoothness": 2.0},
        {"variant": "informal", **TEN_CLIENTS, "smoothness": 2.0, "strong_convexity": 0.1},
        {**UNLIKE_CLIENTS, "smoothness": 2.0, "empirical_heterogeneity": 0.3},
    ),
)
THEOREM_2_4 = Theorem(
    id="lowy.2.4",
    title="Accelerated mini-batch SGD on the data at hand, without smoothness",
    statement=(
        "Theorem E.1 is applied to the Moreau envelope of the loss. The smoothness of the envelope is b = "
        "L²√M~/(D√(dΨ~)), or μM~L²/(dΨ~) if μ > 0. The number of rounds is R = max{L√M*/√(dΨ~), 1{MK < "
        "ñ}L²/(KdΨ~)}. If μ > 0, the first number in R has the factor ln(ΔμM*/(dΨ~)). The excess risk is E F̂ − F̂* "
        "= Õ(D√(d min{Ψ/M', ψ_max/M})). If μ > 0, the excess risk is Õ((d/μ) min{Ψ/M', ψ_max/M}). M* is M' or M, by "
        "the smaller of Ψ/M' and ψ_max/M"
    ),
    source=Source("lowy2023", "Theorem 2.4"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition("loss", "every record's loss is μ-strongly convex (μ may be 0) and L-Lipschitz on the domain"),
        Condition(
            "proximal-steps",
            "clients send gradients of the Moreau envelopes of their records' losses, taken at points of the domain",
        ),
        EQUAL_SHARES,
    ),
    errata=(*PRIVACY_ERRATA, ENVELOPE_LIPSCHITZ, PARTICIPANTS, BATCH_IN_ROUNDS, UNBALANCED, TWO_LEVELS, SECOND_TERM),
    inputs=EnvelopedInputs,
    formula=in_doubles(accelerated_outputs),
    examples=(
        {**TEN_CLIENTS, "batch_size": 1000, "strong_convexity": 0.5, "initial_gap": 0.8},
        {"variant": "informal", **TEN_CLIENTS},
        {**UNLIKE_CLIENTS, "strong_convexity": 0.1},
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_E_1, THEOREM_2_4)
