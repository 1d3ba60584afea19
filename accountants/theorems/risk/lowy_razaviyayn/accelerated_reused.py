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
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    INSIDE_DOMAIN,
    PRIVACY_ERRATA,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    TEN_CLIENTS,
    UNLIKE_CLIENTS,
    UnlikeClientsInputs,
    aggregate_outputs,
    noise_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescriptions import (
    AcceleratedPrescription,
    ReusedRun,
    complete_prescription,
    envelope_figures,
    informal_prescription,
    speedup,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import ENVELOPE_LIPSCHITZ, envelope_lipschitz
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import TWO_LEVELS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated.py"


@request
class ReusedInputs(UnlikeClientsInputs, ABC):
    """A federation of equal or different clients, and the loss.

    If absent, the number of rounds is the prescribed one, all clients participate, and Δ is LD. Φ̂ and v̂ are those of
    the weighted losses, averaged over clients with equal weights.
    """

    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    @property
    def gap(self) -> float:
        """Δ of the request; if absent LD, its largest value."""
        return self.largest_lipschitz * self.diameter if self.initial_gap is None else self.initial_gap

    @abstractmethod
    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss, for the "printed" or the "corrected" formulas."""

    def prescription(self, reading: Reading) -> AcceleratedPrescription:
        """Return the prescription of the requested statement: that of the main text, or that of the appendix."""
        if self.variant == "informal":
            return informal_prescription(self.run(reading), rounds=self.rounds)
        return complete_prescription(self.run(reading), rounds=self.rounds, reading=reading)


@request
class SmoothReusedInputs(ReusedInputs):
    """A federation with a smooth loss.

    If absent, the number of rounds is the prescribed one, all clients participate, Φ̂ is L, and Δ is LD.
    """

    smoothness: Smoothness
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None

    def adds_own_noise(self, reading: Reading) -> bool:
        """Return true: Theorem E.1 prints σ_i with the L_i of the client."""
        del reading
        return True

    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss, which are the same for the "printed" and the "corrected" formulas."""
        std = self.largest_lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        smoothness = max(self.scales_of_losses) * self.smoothness
        return self.run_in(reading, ReusedRun, smoothness=smoothness, empirical_gradient_std=std)


@request
class EnvelopedInputs(ReusedInputs):
    """A federation with a Lipschitz loss that need not be smooth.

    If absent, the number of rounds is the prescribed one, all clients participate, and Δ is LD.
    """

    def run(self, reading: Reading, /) -> ReusedRun:
        """Return the federation and the loss.

        The bound Φ̂ on gradients is the envelope's Lipschitz constant: 2L as printed, L as corrected (erratum E-17).
        """
        std = envelope_lipschitz(lipschitz=self.largest_lipschitz, reading=reading)
        return self.run_in(reading, ReusedRun, smoothness=math.inf, empirical_gradient_std=std)


def accelerated_outputs(inputs: ReusedInputs, reading: Reading = "printed") -> Outputs:
    """Return the run that Theorem E.1 or 2.4 prescribes, and the order of its excess risk.

    The orders leave out constants and logarithms.

    Args:
        inputs: the federation and the loss.
        reading: "printed" evaluates the paper's formulas as they are; "corrected" removes its errors, which
            `complete_prescription` lists.

    Returns:
        `excess_risk_scale` is the order of the risk at the prescribed rounds. `before_excess_risk_scale` is the order
        as a function of the number of rounds that is run, and the sum of its `…_term`. The statement of the main text
        has neither terms nor an envelope; for Theorem 2.4, `speedup` is the factor by which it needs fewer rounds than
        earlier results. `aggregate_outputs` names the averages over the clients. Each of `groups` has its own noise;
        the printed Theorem 2.4 uses the largest L for all groups.
    """
    prescription, run = inputs.prescription(reading), inputs.run(reading)
    outputs: Fields = {
        "rounds": prescription.rounds,
        "prescribed_rounds": prescription.prescribed_rounds,
        **noise_outputs(inputs, prescription.rounds, reading),
        "excess_risk_scale": prescription.excess_risk,
    }
    figures = prescription.figures
    if figures is None:
        return outputs if run.is_smooth else outputs | {"speedup": speedup(run)}
    if figures.envelope_smoothness is not None:
        outputs |= envelope_figures(run, figures.envelope_smoothness, reading)
    return outputs | {
        "before_excess_risk_scale": math.fsum(figures.terms.values()),
        "gradient_variance": figures.variance,
        "regularization": figures.regularization,
        # V/(D√R) of Lemma E.11, about the start (E-29).
        "regularization_of_the_lemma": 2.0 * figures.regularization,
        **aggregate_outputs(inputs, figures.aggregates, reading),
        **{f"{name}_term": value for name, value in figures.terms.items()},
    }


# Conditions -----------------------------------------------------------------------------------------------------------
def _full_participation(inputs: ReusedInputs) -> Sides:
    """Check that all clients participate in every round, unless the empirical heterogeneity v̂ is 0."""
    fewest = min(count for count, _ in inputs.counts)
    return Sides.at_least(fewest, inputs.clients if inputs.empirical_heterogeneity > 0.0 else fewest)


def _logarithm(inputs: ReusedInputs) -> Sides:
    """Check that the argument of the logarithm exceeds 1."""
    argument = inputs.prescription("printed").logarithm_argument if inputs.strong_convexity > 0.0 else math.inf
    return Sides.above(argument, 1.0)


def _gap(inputs: ReusedInputs) -> Sides:
    """Check that Δ ≤ LD."""
    return Sides.at_most(inputs.gap, inputs.largest_lipschitz * inputs.diameter)


def _sizes(inputs: ReusedInputs) -> Sides:
    """Check that all clients have the same number of records."""
    sizes = [kind.samples_per_client for kind in inputs.kinds]
    return Sides(Verdict.of(min(sizes) == max(sizes)), min(sizes), max(sizes))


CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the informal statement, ε ≤ ln(2/δ) in the complete", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    Condition(
        "all-participate",
        "M = N, or v̂ = 0 (then the right side is M, or the least M_r if random): the printed V² omits client sampling",
        _full_participation,
    ),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    Condition("initial-gap", "Δ ≤ L D", _gap),
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition(
        "equal-clients",
        (
            "All clients hold the same number of records (fewest and most), as Lemma E.6 of the printed V² needs. "
            "Corrected, Φ̂ is the mean over clients of their own mean squares, and nothing more is required"
        ),
        _sizes,
    ),
    Condition("hidden-constants", "constants and logarithms that the statement's risks leave out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    grade=Grade.REFINEMENT,
    printed="the complete R has Φ̂²/(dΨ~), the informal one is divided by K",
    truth="the proof needs the quotient by K only: K = 100, n = 1000, M = N = 10, d = 20 prescribe 12 rounds, not 855",
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
)
UNBALANCED = Erratum(
    "E-11",
    grade=Grade.PROVED_WRONG,
    printed="n_i may differ; Φ̂² is normalised by 1/N",
    truth=(
        "F̂ weighs clients equally. The records' gradients therefore do not average to its gradient unless all "
        "n_i are equal. Also, Φ̂² is a mean over all records, n times less"
    ),
    test=f"{_TESTS}::test_unequal_clients_do_not_average_to_the_objective",
)
SECOND_TERM = Erratum(
    "E-36",
    grade=Grade.REFINEMENT,
    printed="L D/√(MKR) in (34), while V² of its λ has 4L² for a gradient of the envelope",
    truth="the same in both: L, as the envelope is L-Lipschitz on the domain (E-17)",
    test=f"{_TESTS}::test_the_second_term_of_34_is_printed_without_a_factor_of_two",
)

THEOREM_E_1 = Theorem(
    id="lowy.e.1",
    title="Accelerated mini-batch SGD on the data at hand, smooth losses",
    statement=(
        "Take the noise of Theorem 2.1 and R = max{√(βD√M*/√(dΨ~)), 1{MK < ñ}Φ̂²/(KdΨ~)} rounds of Algorithm "
        "2. They are (ε, δ) for every record against everyone but its client. The risk is E F̂ − F̂* = Õ(D√(d "
        "min{Ψ/M', ψ_max/M})). M* is M' or M, by the smaller of Ψ/M' and ψ_max/M. If μ-strongly convex, √(β/μ) "
        "ln(ΔμM*/(dΨ~)) comes first in R, and the risk is Õ((d/μ) min{Ψ/M', ψ_max/M}). Read here: M = N or v̂ "
        "= 0, else R also counts v̂²(N − M)/((N − 1)dΨ~)"
    ),
    source=Source("lowy2023", "Theorem E.1"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition("loss", "every record's loss is convex, L-Lipschitz and β-smooth, their mean μ-strongly convex"),
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
        "Theorem E.1 is applied to the Moreau envelope. Its smoothness is b = L²√M~/(D√(dΨ~)), or μM~L²/(dΨ~) "
        "if μ > 0. The rounds are R = max{L√M*/√(dΨ~), 1{MK < ñ}L²/(KdΨ~)}. If μ > 0, the first has the factor "
        "ln(ΔμM*/(dΨ~)). The risk is E F̂ − F̂* = Õ(D√(d min{Ψ/M', ψ_max/M})). If μ > 0, it is Õ((d/μ) "
        "min{Ψ/M', ψ_max/M}). M* is M' or M, by the smaller of Ψ/M' and ψ_max/M"
    ),
    source=Source("lowy2023", "Theorem 2.4"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition("loss", "every record's loss is μ-strongly convex (μ may be 0) and L-Lipschitz on the domain"),
        Condition("proximal-steps", "the gradients sent are those of the records' envelopes, at points of the domain"),
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
