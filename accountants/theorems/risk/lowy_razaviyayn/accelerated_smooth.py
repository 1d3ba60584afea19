"""Theorem E.1 of Lowy and Razaviyayn: accelerated SGD (Algorithm 2) on the data at hand, for smooth losses.

Clients may differ and a random number of them take part; Theorem 2.4 asks and answers the same. What both prescribe is
in `accelerated_prescriptions.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated

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
    InformalPrescription,
    ReusedRun,
    complete,
    informal,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import TWO_LEVELS
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated.py"


@request
class ReusedInputs(UnlikeClientsInputs, ABC):
    """A federation, alike or not, and the loss. Absent: rounds are as prescribed, participants all clients, Δ is LD.

    Φ̂ and v̂ are those of the weighted losses, and weigh every client alike, however many records it holds.
    """

    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    @property
    def gap(self) -> float:
        """Δ as given, or else LD, which it never exceeds."""
        return self.largest_lipschitz * self.diameter if self.initial_gap is None else self.initial_gap

    @abstractmethod
    def run(self, reading: Reading, /) -> ReusedRun:
        """The run in a reading."""

    def prescription(self, reading: Reading) -> AcceleratedPrescription | InformalPrescription:
        """What the variant prescribes in a reading."""
        if self.variant == "informal":
            return informal(self.run(reading), rounds=self.rounds)
        return complete(self.run(reading), rounds=self.rounds, reading=reading)


@request
class SmoothReusedInputs(ReusedInputs):
    """A smooth loss. Absent: rounds are as prescribed, participants all clients, Φ̂ is L, Δ is LD."""

    smoothness: Smoothness
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None

    def adds_own_noise(self, reading: Reading) -> bool:
        """Always: Theorem E.1 prints σ_i with L_i."""
        del reading
        return True

    def run(self, reading: Reading, /) -> ReusedRun:
        """The same in both readings."""
        std = self.largest_lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        smoothness = max(self.scales_of_losses) * self.smoothness
        return self.run_in(reading, ReusedRun, smoothness=smoothness, empirical_gradient_std=std)


def common_outputs(
    inputs: ReusedInputs, found: AcceleratedPrescription | InformalPrescription, reading: Reading
) -> Fields:
    """What both theorems prescribe; `excess_risk_scale` after the rounds are put in, `before_…` with its terms."""
    outputs: Fields = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        **noise_outputs(inputs, found.rounds, reading),
        "excess_risk_scale": found.excess_risk,
    }
    if isinstance(found, AcceleratedPrescription):
        outputs |= {
            "before_excess_risk_scale": math.fsum(found.terms.values()),
            "gradient_variance": found.variance,
            "regularization": found.regularization,
            "regularization_of_the_lemma": found.regularization_of_the_lemma,
            **aggregate_outputs(inputs, found.aggregates, reading),
            **{f"{name}_term": value for name, value in found.terms.items()},
        }
    return outputs


def theorem_e_1(inputs: SmoothReusedInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds, and the risk as a scale: constants and logarithms are hidden.

    Participants, Ξ and Ψ are named as in `lowy.2.1`. Each of `groups` has its own noise.
    """
    return common_outputs(inputs, inputs.prescription(reading), reading)


# Conditions, shared with Theorem 2.4 --------------------------------------------------------------------------------
def _everyone(inputs: ReusedInputs) -> Sides:
    fewest = min(count for count, _ in inputs.counts)
    return Sides.at_least(fewest, inputs.clients if inputs.empirical_heterogeneity > 0.0 else fewest)


def _logarithm(inputs: ReusedInputs) -> Sides:
    argument = inputs.prescription("printed").logarithm_argument if inputs.strong_convexity > 0.0 else math.inf
    return Sides(Verdict.of(argument > 1.0), argument, 1.0)


def _gap(inputs: ReusedInputs) -> Sides:
    return Sides.at_most(inputs.gap, inputs.largest_lipschitz * inputs.diameter)


def _sizes(inputs: ReusedInputs) -> Sides:
    """The fewest and the most records of a client."""
    sizes = [kind.samples_per_client for kind in inputs.kinds]
    return Sides(Verdict.of(min(sizes) == max(sizes)), min(sizes), max(sizes))


CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the informal statement, ε ≤ ln(2/δ) in the complete", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    Condition(
        "all-participate",
        "M = N, or v̂ = 0 (then M stands right; the least M_r if random): the printed V² omits client sampling",
        _everyone,
    ),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    Condition("initial-gap", "Δ ≤ L D", _gap),
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition(
        "equal-clients",
        "all clients hold the same number of records (fewest and most), as Lemma E.6 of the printed V² needs; "
        "corrected, Φ̂ is the mean over clients of their own mean squares, and no more is asked",
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
        "F̂ weighs clients equally, so the records' gradients do not average to its gradient unless all n_i are equal; "
        "and Φ̂² is a mean over all records, n times less"
    ),
    test=f"{_TESTS}::test_unequal_clients_do_not_average_to_the_objective",
)
THEOREM_E_1 = Theorem(
    id="lowy.e.1",
    title="Accelerated mini-batch SGD on the data at hand, smooth losses",
    statement=(
        "With the noise of Theorem 2.1, R = max{√(βD√M*/√(dΨ~)), 1{MK < ñ}Φ̂²/(KdΨ~)} rounds of Algorithm 2 are (ε, δ) "
        "for every record against everyone but its client, and E F̂ − F̂* = Õ(D√(d min{Ψ/M', ψ_max/M})). M* is M' or M, "
        "by the smaller of Ψ/M' and ψ_max/M. If μ-strongly convex, √(β/μ) ln(ΔμM*/(dΨ~)) comes first in R, and the "
        "risk is Õ((d/μ) min{Ψ/M', ψ_max/M}). Read here: M = N or v̂ = 0, else R also counts v̂²(N − M)/((N − 1)dΨ~)"
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
    formula=theorem_e_1,
    examples=(
        {**TEN_CLIENTS, "batch_size": 1000, "smoothness": 2.0},
        {"variant": "informal", **TEN_CLIENTS, "smoothness": 2.0, "strong_convexity": 0.1},
        {**UNLIKE_CLIENTS, "smoothness": 2.0, "empirical_heterogeneity": 0.3},
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_E_1,)
