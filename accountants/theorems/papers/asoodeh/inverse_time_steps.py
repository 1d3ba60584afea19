"""Corollary 1 of Asoodeh et al. 2021: step sizes 1/(λt), with a misprint that matters and a condition that fails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from epsilond.accountants.numerics.factor_sums import log_scheduled_sum
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    GRADIENT_STD,
    Checks,
    Dimension,
    NoiseStd,
    Quantity,
    Smoothness,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import PrivacyLoss
from epsilond.accountants.schedules import Constant, InverseTime
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import BatchesOnce, log_contraction_bound
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.papers.asoodeh.one_pass import A_3, ASSUMPTIONS, SMALL_STEPS

_TESTS = "tests/theorems/papers/asoodeh/test_one_pass.py"
CURVATURE = Quantity(symbol="λ", unit="loss/length²", gt=0, description="strong convexity of the objective")
MEAN_GRADIENT_BOUND = Quantity(symbol="D", unit="loss/length", gt=0, description="bound on the mean gradient's norm")


@request
class InverseTimeSteps(BatchesOnce):
    """One pass with η_t = 1/(λt) and one noise. Absent: bounds of the mean gradient and its spread are L."""

    epsilon: PrivacyLoss
    dimension: Dimension
    smoothness: Smoothness
    strong_convexity: Annotated[float, CURVATURE]
    noise_std: NoiseStd
    gradient_bound: Annotated[float | None, MEAN_GRADIENT_BOUND] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    @property
    def run(self) -> ProjectedRun:
        """The pass, with the diameters its maps have if every record's loss is λ-strongly convex."""
        return self.run_of(
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            step_schedule=InverseTime(scale=1.0 / self.strong_convexity),
            noise_schedule=Constant(value=self.noise_std),
        )


@dataclass(frozen=True)
class MisprintedSteps:
    """The factors as Corollary 1 prints them: r_c(j) = 2ρ √(λ m j)/σ."""

    inputs: InverseTimeSteps

    @property
    def count(self) -> int:
        """How many steps there are, ⌊n/m⌋."""
        return self.inputs.run.count

    @property
    def largest_sensitivity(self) -> float:
        """The shift of a use, r_s = 2L/(√m σ)."""
        return self.inputs.run.largest_sensitivity

    @property
    def one_sensitivity(self) -> bool:
        """The noise is one for all."""
        return True

    def least_contraction(self, first: int, last: int) -> float:
        """r_c rises with the step."""
        return float(self.shifts(first, first)[1][0]) if last >= first else math.inf

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """r_s as it is, r_c as printed."""
        given = self.inputs
        steps = np.arange(first, last + 1, dtype=np.float64)
        printed = 2.0 * given.radius * np.sqrt(given.strong_convexity * given.participants * steps) / given.noise_std
        return np.full(steps.shape, self.largest_sensitivity), printed


def corollary_1(inputs: InverseTimeSteps, reading: Reading = "printed") -> Outputs:
    """δ and the excess risk of W_T.

    `delta`: printed, with r_c(j) = 2ρ√(λmj)/σ, which is unsafe where λj > 1; corrected, with the diameter of every
    image as it is. `delta_two_rho`: with 2ρλj√m/σ, proved where η_t ≤ 2/β throughout. `delta_eleven`: bound (11), the
    same with the largest of these for all. `excess_risk`: printed with σ², corrected with dσ².
    """
    run = inputs.run
    log_delta = log_misprinted(inputs) if reading == "printed" else log_contraction_bound(inputs.epsilon, run).upper
    ball = replace(run, whole_ball=True)
    return (
        delta_outputs(log_delta)
        | delta_outputs(log_contraction_bound(inputs.epsilon, ball).upper, "delta_two_rho")
        | delta_outputs(log_contraction_bound(inputs.epsilon, eleven(inputs)).upper, "delta_eleven")
        | {"excess_risk": math.fsum(risk_terms(inputs, reading).values())}
    )


def log_misprinted(inputs: InverseTimeSteps) -> float:
    """log δ as printed, with r_c(j) = 2ρ√(λmj)/σ; no bound of anything."""
    share = math.log(inputs.participants) - math.log(inputs.clients)
    return min(log_scheduled_sum(inputs.epsilon, MisprintedSteps(inputs), inputs.steps, worst=False).upper + share, 0.0)


def eleven(inputs: InverseTimeSteps) -> ProjectedRun:
    """The run of bound (11): the whole ball, and the last step's size for all."""
    last = Constant(value=1.0 / (inputs.strong_convexity * inputs.steps))
    return replace(inputs.run, whole_ball=True, step_schedule=last)


def risk_terms(inputs: InverseTimeSteps, reading: Reading) -> dict[str, float]:
    """What the mean gradient, its spread and the noise add to the bound on the excess risk."""
    mean = inputs.lipschitz if inputs.gradient_bound is None else inputs.gradient_bound
    spread = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std
    scale = 2.0 * inputs.smoothness / (inputs.strong_convexity**2 * inputs.clients)
    dimension = 1 if reading == "printed" else inputs.dimension
    return {
        "gradient": scale * inputs.participants * mean**2,
        "sampling": scale * spread**2,
        "noise": scale * dimension * inputs.noise_std**2,
    }


A_2 = Erratum(
    "A-2",
    grade=Grade.MISPRINT,
    printed="θ_ε(2ρ √(λmj)/σ)",
    truth="η_j = 1/(λj) gives 2ρλj √m/σ, which (11) uses; the printed form is smaller, hence unsafe, where λj > 1",
    test=f"{_TESTS}::test_the_misprinted_contraction_is_unsafe",
)
A_4 = Erratum(
    "A-4",
    grade=Grade.PROVED_WRONG,
    printed="a noise term σ² (and Σ η_t σ_t²/n in Corollary 2)",
    truth="Z has d coordinates: dσ², and (d/2) Σ η_t σ_t²/n by Corollary 2's own recursion",
    test=f"{_TESTS}::test_the_noise_of_every_coordinate_counts",
)
COROLLARY_1 = Theorem(
    id="asoodeh.corollary-1",
    title="Projected SGD with steps 1/(λt)",
    statement=(
        "η_t = 1/(λt), σ_t = σ: E F(W_T) − inf F ≤ 2β(mD² + G² + σ²)/(λ²n), and Theorem 2's δ with contraction factors "
        "θ_ε(2ρ √(λmj)/σ), at most (m/n) θ_ε(2L/(√m σ)) (1 − θ^{n/m})/(1 − θ), θ = θ_ε(2ρλn/(√m σ)) (11)"
    ),
    source=Source("asoodeh2021", "Corollary 1"),
    status=Status.REFUTED,
    conditions=(
        SMALL_STEPS,
        *ASSUMPTIONS,
        Condition("interior-minimiser", "F is λ-strongly convex, and β-smooth about a minimiser inside the ball"),
    ),
    errata=(A_2, A_3, A_4),
    inputs=InverseTimeSteps,
    formula=corollary_1,
    examples=(
        {
            "epsilon": 0.5,
            "clients": 1000,
            "participants": 10,
            "dimension": 100,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 3.0,
            "strong_convexity": 0.01,
            "noise_std": 1.0,
        },
    ),
)


THEOREMS: tuple[Theorem, ...] = (COROLLARY_1,)
