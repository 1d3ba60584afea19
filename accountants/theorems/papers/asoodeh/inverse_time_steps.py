"""Corollary 1 of Asoodeh et al. 2021: projected SGD with step sizes 1/(λt), as printed and as corrected."""

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
    """One pass of noisy projected SGD with step sizes η_t = 1/(λt) and constant noise; λ is the strong convexity.

    If absent, `gradient_bound` on the norm of the mean gradient and the standard deviation `gradient_std` of a record's
    gradient are the Lipschitz constant.
    """

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
        """The pass for losses that are all λ-strongly convex, which limits the distance of two models after a step."""
        return self.run_of(
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            step_schedule=InverseTime(scale=1.0 / self.strong_convexity),
            noise_schedule=Constant(value=self.noise_std),
        )


@dataclass(frozen=True)
class MisprintedSteps:
    """Distances of two runs of noisy projected SGD by the formulas in Corollary 1 of Asoodeh et al., one of them wrong.

    Both distances are in standard deviations of a step's noise. The differing record causes the first, the sensitivity
    shift r_s. The second, the contraction shift r_c, should be the largest distance of two models of the domain after a
    step without noise. The paper misprints it as r_c = 2ρ √(λmj)/σ for step j.

    Attributes:
        inputs: the run, with m clients in a batch, noise σ, strong convexity λ, and radius ρ of the domain.
    """

    inputs: InverseTimeSteps

    @property
    def count(self) -> int:
        """Number of steps, ⌊n/m⌋."""
        return self.inputs.run.count

    @property
    def largest_sensitivity(self) -> float:
        """Shift of the step that uses the record, r_s = 2L/(√m σ), in standard deviations of the noise."""
        return self.inputs.run.largest_sensitivity

    @property
    def one_sensitivity(self) -> bool:
        """True, because the noise is the same in every step."""
        return True

    def least_contraction(self, first: int, last: int) -> float:
        """Return the smallest contraction shift r_c of the steps first, …, last; infinite if there is no step.

        A contraction shift is the distance of two Gaussian means, in standard deviations of the noise, from which the
        contraction of a divergence by the step follows. The shifts increase, so the first step has the smallest one.

        Args:
            first: index of the first step, from 1.
            last: index of the last step.

        Returns:
            The shift, without unit.
        """
        if last < first:
            return math.inf
        _, contraction_shifts = self.shifts(first, first)
        return float(contraction_shifts[0])

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Compute the shifts r_s = 2L/(√m σ) and r_c = 2ρ √(λmj)/σ of some steps j, as the paper states them.

        The differing record causes r_s. The stated distance r_c of two models in the domain is wrong.

        Args:
            first: index of the first step, from 1.
            last: index of the last step.

        Returns:
            Two arrays, r_s and r_c, with one number for each step, in standard deviations of the noise.
        """
        inputs = self.inputs
        steps = np.arange(first, last + 1, dtype=np.float64)
        sensitivity_shifts = np.full(steps.shape, self.largest_sensitivity)
        roots = np.sqrt(inputs.strong_convexity * inputs.participants * steps)  # √(λmj)
        contraction_shifts = 2.0 * inputs.radius * roots / inputs.noise_std
        return sensitivity_shifts, contraction_shifts


def corollary_1(inputs: InverseTimeSteps, reading: Reading = "printed") -> Outputs:
    """Compute δ(ε) and the bound on the excess risk of the last model W_T (Corollary 1 of Asoodeh et al.).

    Only the last of T models is released, after steps of size 1/(λj). The contraction shift r_c(j) is the largest
    distance of two models before the noise of step j, in standard deviations of that noise. The smaller the shifts of
    later steps are, the better these steps hide the differing record.

    Args:
        inputs: batches of m clients, noise σ in d dimensions, radius ρ of the domain, and the constants of the loss:
            smoothness β and strong convexity λ.
        reading: version of the formulas. `printed` is the paper's, r_c(j) = 2ρ√(λmj)/σ and σ² in the risk, which is
            unsafe if λj > 1. `corrected` has the diameter of the set of models that step j can reach before its noise,
            and dσ² in the risk.

    Returns:
        `delta`: the bound on δ(ε) for the chosen version.
        `delta_two_rho`: the bound with r_c(j) = 2ρλj√m/σ, proved if every step size is at most 2/β.
        `delta_eleven`: bound (11) of the paper, with the largest r_c for all steps.
        `excess_risk`: bound on E F(W_T) − inf F for the objective F.
    """
    run = inputs.run
    if reading == "printed":
        log_delta = misprinted_log_delta(inputs)
    else:
        log_delta = log_contraction_bound(inputs.epsilon, run).upper
    log_delta_two_rho = log_contraction_bound(inputs.epsilon, replace(run, whole_ball=True)).upper
    log_delta_eleven = log_contraction_bound(inputs.epsilon, run_of_bound_11(inputs)).upper
    return {
        **delta_outputs(log_delta),
        **delta_outputs(log_delta_two_rho, "delta_two_rho"),
        **delta_outputs(log_delta_eleven, "delta_eleven"),
        "excess_risk": math.fsum(risk_terms(inputs, reading).values()),
    }


def misprinted_log_delta(inputs: InverseTimeSteps) -> float:
    """Compute log δ by the formula in Corollary 1 of Asoodeh et al., which has an error and is not a valid bound.

    Step j multiplies δ by a factor that depends on a distance of two models, its contraction shift. The paper has
    2ρ√(λmj)/σ for it, with the radius ρ of the domain and the strong convexity λ.

    Args:
        inputs: the pass of n clients in batches of m, its noise σ, and the constants of the losses.

    Returns:
        The natural logarithm of the paper's δ, at most 0.
    """
    # A record is in each batch with probability m/n, so δ is m/n times a sum over the steps.
    log_rate = math.log(inputs.participants) - math.log(inputs.clients)
    steps = MisprintedSteps(inputs)
    log_sum = log_scheduled_sum(inputs.epsilon, steps, inputs.steps, worst=False).upper
    return min(log_sum + log_rate, 0.0)


def run_of_bound_11(inputs: InverseTimeSteps) -> ProjectedRun:
    """Return the run to which bound (11) of Asoodeh et al. applies.

    The diameter of the models is 2ρ in every step, and every step has the size of the last one, 1/(λT).

    Args:
        inputs: the pass of T steps with the strong convexity λ and the radius ρ.

    Returns:
        The run with constant steps, released after the last one.
    """
    last_step_size = 1.0 / (inputs.strong_convexity * inputs.steps)
    return replace(inputs.run, whole_ball=True, step_schedule=Constant(value=last_step_size))


def risk_terms(inputs: InverseTimeSteps, reading: Reading) -> dict[str, float]:
    """Compute the terms of the bound 2β(mD² + G² + σ²)/(λ²n) on the excess risk in Corollary 1 of Asoodeh et al.

    Args:
        inputs: n clients in batches of m, noise σ in d dimensions, and losses with smoothness β and strong convexity λ.
            D is `gradient_bound`, a bound on the norm of the mean gradient. G is `gradient_std`. If absent, both are
            the Lipschitz constant.
        reading: `printed` has σ² as noise term, `corrected` has dσ² (erratum A-4).

    Returns:
        `gradient`, the term with D²; `sampling`, the term with G²; and `noise`, the term with σ².
    """
    gradient_bound = inputs.lipschitz if inputs.gradient_bound is None else inputs.gradient_bound
    gradient_std = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std
    noisy_coordinates = 1 if reading == "printed" else inputs.dimension
    scale = 2.0 * inputs.smoothness / (inputs.strong_convexity**2 * inputs.clients)  # 2β/(λ²n)
    return {
        "gradient": scale * inputs.participants * gradient_bound**2,
        "sampling": scale * gradient_std**2,
        "noise": scale * noisy_coordinates * inputs.noise_std**2,
    }


A_2 = Erratum(
    "A-2",
    grade=Grade.MISPRINT,
    place="Corollary 1, first line of the display of δ, before (11)",
    printed=(
        "The paper states the contraction factor θ_ε(2ρ √(λmj)/σ) of step j. Here ρ is the radius, λ the "
        "strong convexity, m the batch size and σ the noise."
    ),
    truth=(
        "The step size η_j = 1/(λj) gives the argument 2ρλj √m/σ, which (11) uses. Where λj > 1, the "
        "printed argument is smaller, hence unsafe."
    ),
    charitable=(
        "If the argument 2ρλj √m/σ of Theorem 2 is meant, the display follows from Theorem 2 where every "
        "η_t ≤ 2/β, with the smoothness β."
    ),
    test=f"{_TESTS}::test_the_misprinted_contraction_is_unsafe",
)
A_4 = Erratum(
    "A-4",
    grade=Grade.PROVED_WRONG,
    place="Corollary 1, the bound on the risk; Corollary 2, and its proof",
    printed=(
        "The noise of step t is σ_t Z_t with Z_t ~ N(0, I). The paper states the noise term with σ² in "
        "Corollary 1, and as Σ η_t σ_t²/n in Corollary 2."
    ),
    truth=(
        "The noise has E‖σ_t Z_t‖² = dσ_t², as Z_t has d coordinates. In Corollary 1, dσ² stands in place "
        "of σ². In Corollary 2 its own recursion gives (d/2) Σ η_t σ_t²/n."
    ),
    charitable=(
        "For d = 1 both noise terms hold. For large d no reading that we know agrees with the noise of "
        "Algorithm 1, which has the deviation σ_t in every coordinate."
    ),
    test=f"{_TESTS}::test_the_noise_of_every_coordinate_counts",
)
COROLLARY_1 = Theorem(
    id="asoodeh.corollary-1",
    title="Projected SGD with steps 1/(λt)",
    statement=(
        "Let η_t = 1/(λt) and σ_t = σ, with the strong convexity λ and the smoothness β. The paper states E "
        "F(W_T) − inf F ≤ 2β(mD² + G² + σ²)/(λ²n), for bounds D on the mean gradient and G on a gradient's "
        "deviation. Its δ is that of Theorem 2 with the contraction factors θ_ε(2ρ √(λmj)/σ). This δ is said "
        "to be at most (m/n) θ_ε(2L/(√m σ)) (1 − θ^{n/m})/(1 − θ) (11). Here θ = θ_ε(2ρλn/(√m σ))."
    ),
    source=Source("asoodeh2021", "Corollary 1"),
    status=Status.REFUTED,
    conditions=(
        SMALL_STEPS,
        *ASSUMPTIONS,
        Condition(
            "interior-minimiser",
            "the objective F is λ-strongly convex, and β-smooth about a minimiser inside the ball of radius ρ",
        ),
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
