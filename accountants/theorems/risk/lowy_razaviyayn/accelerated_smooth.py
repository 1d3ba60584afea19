"""Theorem E.1 of Lowy and Razaviyayn: accelerated SGD on the data at hand, for smooth losses."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    EMPIRICAL_GRADIENT_STD,
    INITIAL_GAP,
    EmpiricalHeterogeneity,
    Smoothness,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    INSIDE_DOMAIN,
    PRIVACY_ERRATA,
    epsilon_limit,
    minimal_batch_size,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import (
    DRAWN_ONCE,
    MINIMAL_BATCH,
    PRESCRIBED_ROUNDS,
    BatchInputs,
    epsilon_range,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescription import (
    AcceleratedPrescription,
    InformalPrescription,
    ReusedRun,
    complete,
    informal,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.variance_lemmas import TWO_LEVELS

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated.py"


@request
class ReusedInputs(BatchInputs, ABC):
    """Equal clients, M of N in each round. Absent: rounds are as prescribed, Δ is LD."""

    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0
    initial_gap: Annotated[float | None, INITIAL_GAP] = None

    def scales(self) -> tuple[str, ...]:
        """And v̂ and Δ."""
        return (*super().scales(), "empirical_heterogeneity", "initial_gap")

    @property
    def gap(self) -> float:
        """Δ, at most LD."""
        return self.lipschitz * self.diameter if self.initial_gap is None else self.initial_gap

    def run_of(self, *, smoothness: float | None, empirical_gradient_std: float) -> ReusedRun:
        """The run as the formulas see it."""
        return ReusedRun(
            federation=self.federation,
            dimension=self.dimension,
            lipschitz=self.lipschitz,
            diameter=self.diameter,
            smoothness=smoothness,
            strong_convexity=self.strong_convexity,
            gap=self.gap,
            empirical_gradient_std=empirical_gradient_std,
            empirical_heterogeneity=self.empirical_heterogeneity,
        )

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
    """Equal clients with a smooth loss. Absent: rounds are as prescribed, Φ̂ is L, Δ is LD."""

    smoothness: Smoothness
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None

    def check(self) -> None:
        """And μ ≤ β."""
        super().check()
        check_scales(smoothness=self.smoothness, empirical_gradient_std=self.empirical_gradient_std)
        if self.strong_convexity > self.smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {self.smoothness:g}")

    def run(self, _reading: Reading, /) -> ReusedRun:
        """The same in both readings."""
        std = self.lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        return self.run_of(smoothness=self.smoothness, empirical_gradient_std=std)


def common_outputs(inputs: ReusedInputs, found: AcceleratedPrescription | InformalPrescription) -> dict[str, Any]:
    """What both theorems prescribe; `excess_risk_scale` after the rounds are put in, `before_…` with its terms."""
    (std,) = found.noise_stds
    outputs: dict[str, Any] = {
        "rounds": found.rounds,
        "prescribed_rounds": found.prescribed_rounds,
        "noise_std": std,
        "noise_multiplier": std * inputs.batch_size / inputs.lipschitz,
        "sensitivity": 2.0 * inputs.lipschitz / inputs.batch_size,
        "minimal_batch_size": minimal_batch_size(
            samples_per_client=inputs.samples_per_client,
            rounds=found.rounds,
            epsilon=inputs.epsilon,
            log_delta=inputs.log_delta,
        ),
        "epsilon_limit": epsilon_limit(log_delta=inputs.log_delta, reading=inputs.variant),
        "excess_risk_scale": found.excess_risk,
    }
    if isinstance(found, AcceleratedPrescription):
        outputs |= {
            "before_excess_risk_scale": math.fsum(found.terms.values()),
            "gradient_variance": found.variance,
            "regularization": found.regularization,
            "regularization_of_the_lemma": found.regularization_of_the_lemma,
            "effective_participants": found.aggregates.participants,
            "xi": found.aggregates.xi,
            **{f"{name}_term": value for name, value in found.terms.items()},
        }
    return outputs


@in_doubles
def theorem_e_1(inputs: SmoothReusedInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch and rounds, and the risk as a scale: constants and logarithms are hidden."""
    return common_outputs(inputs, inputs.prescription(reading))


# Conditions, shared with Theorem 2.4 --------------------------------------------------------------------------------
def _everyone(inputs: ReusedInputs) -> Sides:
    needed = inputs.clients if inputs.empirical_heterogeneity > 0.0 else inputs.participants
    return Sides.at_least(inputs.participants, needed)


def _logarithm(inputs: ReusedInputs) -> Sides:
    argument = inputs.prescription("printed").logarithm_argument if inputs.strong_convexity > 0.0 else math.inf
    return Sides(argument > 1.0, argument, 1.0)


def _gap(inputs: ReusedInputs) -> Sides:
    return Sides.at_most(inputs.gap, inputs.lipschitz * inputs.diameter)


CONDITIONS = (
    Condition("epsilon-range", "ε ≤ 2 ln(2/δ) in the informal statement, ε ≤ ln(2/δ) in the complete", epsilon_range),
    MINIMAL_BATCH,
    DRAWN_ONCE,
    PRESCRIBED_ROUNDS,
    Condition(
        "all-participate", "M = N, or v̂ = 0 (then M stands right): the printed V² omits client sampling", _everyone
    ),
    Condition("logarithm", "the logarithm's argument exceeds 1 (unbounded if μ = 0)", _logarithm),
    Condition("initial-gap", "Δ ≤ L D", _gap),
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition("equal-clients", "all clients hold the same number of records"),
    Condition("hidden-constants", "constants and logarithms that the statement's risks leave out", undecidable=True),
)

# Errata -------------------------------------------------------------------------------------------------------------
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    printed="the complete R has Φ̂²/(dΨ~), the informal one is divided by K",
    truth="the proof needs the quotient by K only: K = 100, n = 1000, M = N = 10, d = 20 prescribe 12 rounds, not 855",
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
)
UNBALANCED = Erratum(
    "E-11",
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
        "With the noise of Theorem 2.1, R = max{√(βD√M~/√(dΨ~)), 1{MK < ñ}Φ̂²/(KdΨ~)} rounds of Algorithm 2 are (ε, δ) "
        "for every record against everyone but its client, and E F̂ − F̂* = Õ(D√(d min{Ψ/M', ψ_max/M})); if μ-strongly "
        "convex √(β/μ) ln(ΔμM~/(dΨ~)) comes first in R, and the risk is Õ((d/μ) min{Ψ/M', ψ_max/M}). Read here: M = N "
        "or v̂ = 0, else R also counts v̂²(N − M)/((N − 1)dΨ~)"
    ),
    source=Source("lowy2023", "Theorem E.1"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition("loss", "every record's loss is convex, L-Lipschitz and β-smooth, their mean μ-strongly convex"),
    ),
    errata=(*PRIVACY_ERRATA, PARTICIPANTS, BATCH_IN_ROUNDS, UNBALANCED, TWO_LEVELS),
    inputs=SmoothReusedInputs,
    formula=theorem_e_1,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 10,
            "participants": 10,
            "batch_size": 1000,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
            "smoothness": 2.0,
        },
        {
            "variant": "informal",
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 10,
            "participants": 10,
            "batch_size": 100,
            "dimension": 20,
            "lipschitz": 1.0,
            "diameter": 1.0,
            "smoothness": 2.0,
            "strong_convexity": 0.1,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_E_1,)
