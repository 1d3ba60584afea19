"""Asoodeh et al. 2021: bounds for one step, (19) and (24), and two bounds without a sum, after (11) and Corollary 3."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.power_sums import harmonic
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.quantities import (
    ANY_SCALE,
    CONVEXITY_WITHIN_SMOOTHNESS,
    Checks,
    Dimension,
    Lipschitz,
    NoiseStd,
    Participants,
    Smoothness,
    StepSize,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import PrivacyLoss, Radius
from epsilond.accountants.schedules import Constant
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SECRET_ORDER,
    SMOOTH_LOSSES,
    BatchesOnce,
    log_contraction_bound,
)
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import A_4, CURVATURE
from epsilond.accountants.theorems.papers.asoodeh.one_pass import A_3, WHOLE_STEPS

_TESTS = "tests/theorems/papers/asoodeh/test_one_step.py"


# One step, (19) and (24) --------------------------------------------------------------------------------------------
@formula(given="One step of projected SGD on a batch, with the noise of every one of its users.", bounded=False)
def one_step(
    *,
    epsilon: PrivacyLoss,
    participants: Annotated[Participants, ANY_SCALE],
    lipschitz: Annotated[Lipschitz, ANY_SCALE],
    radius: Annotated[Radius, ANY_SCALE],
    smoothness: Annotated[Smoothness, ANY_SCALE],  # noqa: ARG001  the condition reads it
    step_size: Annotated[StepSize, ANY_SCALE],
    noise_std: Annotated[NoiseStd, ANY_SCALE],
) -> Outputs:
    """Compute the contributions to δ(ε) of one step of noisy projected SGD, with and without the differing record.

    Let θ_ε(r) be the hockey-stick divergence E_ε of N(r, 1) and N(0, 1). The step with the record has at most the
    divergence θ_ε(2L/(√m σ)). Any other step multiplies the divergence by at most θ_ε(2ρ√m/(ησ)).

    Args:
        epsilon: ε ≥ 0.
        participants: number m of users in a batch.
        lipschitz: bound L on the norm of a record's gradient.
        radius: radius ρ of the domain.
        smoothness: smoothness β of the losses. It does not change the result, which needs η ≤ 2/β.
        step_size: step size η of the step.
        noise_std: noise σ of one user per coordinate.

    Returns:
        `divergence`: δ of the step with the record, by (24) of Asoodeh et al.
        `contraction`: factor of another step, by (19) of the paper.
        `sensitivity_shift` and `contraction_shift`: the arguments r of θ_ε for both, in standard deviations.
    """
    root_participants = math.sqrt(participants)
    contraction_shift = 2.0 * radius * root_participants / (step_size * noise_std)
    sensitivity_shift = 2.0 * lipschitz / (root_participants * noise_std)
    log_contraction = float(log_theta(epsilon, contraction_shift))
    log_divergence = float(log_theta(epsilon, sensitivity_shift))
    return {
        "contraction_shift": contraction_shift,
        "sensitivity_shift": sensitivity_shift,
        **delta_outputs(log_contraction, "contraction"),
        **delta_outputs(log_divergence, "divergence"),
    }


SMALL_STEP = Condition(
    "step-size",
    "the step size η is at most 2/β, with the smoothness β of the losses, as (19) needs",
    lambda inputs: Sides.at_most(inputs.step_size, 2.0 / inputs.smoothness),
)
EQUATION_19 = Theorem(
    id="asoodeh.equation-19",
    title="One step of projected SGD: its contraction, and the divergence that it adds",
    statement=(
        "A step on a batch without the differing record multiplies E_ε by at most θ_ε(2ρ√m/(ησ)) (19). The step on the "
        "batch with this record has E_ε(μ_t‖μ'_t) ≤ θ_ε(2L/(√m σ)) (24). Here m is the batch size, ρ the radius, L the "
        "Lipschitz constant, η the step size and σ the noise."
    ),
    source=Source("asoodeh2021", "Appendix, (19) and (24)"),
    status=Status.PROVED,
    conditions=(SMALL_STEP, LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE),
    errata=(
        Erratum(
            "A-9",
            grade=Grade.MISPRINT,
            place="Appendix, proof of Theorem 2, after (24)",
            printed=(
                "The proof states that an L-Lipschitz loss ℓ has gradients of norm ‖∇ℓ(w, x)‖ ≤ 2L. From this it "
                "infers that two gradients differ by at most 2L."
            ),
            truth=(
                "An L-Lipschitz loss has ‖∇ℓ(w, x)‖ ≤ L, so that two gradients differ by at most 2L. With gradients of "
                "norm 2L they could differ by 4L, and (24) would fail."
            ),
            charitable="If ‖∇ℓ(w, x)‖ ≤ L is read, or the norm is that of the difference, (24) follows.",
            test=f"{_TESTS}::test_gradients_of_twice_the_lipschitz_constant_would_break_the_step",
        ),
    ),
    formula=one_step,
    examples=(
        {
            "epsilon": 0.5,
            "participants": 10,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 2.0,
            "step_size": 0.5,
            "noise_std": 1.5,
        },
    ),
)


# Without a sum, after (11) ------------------------------------------------------------------------------------------
@formula(given="A pass of noisy SGD in batches, with one noise for all steps.", bounded=False)
def bound_without_steps(
    *,
    epsilon: PrivacyLoss,
    participants: Annotated[Participants, ANY_SCALE],
    lipschitz: Annotated[Lipschitz, ANY_SCALE],
    noise_std: Annotated[NoiseStd, ANY_SCALE],
) -> Outputs:
    """Bound δ at ε of one pass of noisy projected SGD by the divergence of the step with the differing record.

    The bound is θ_ε(2L/(√m σ)), where θ_ε(r) is the hockey-stick divergence E_ε of N(r, 1) and N(0, 1).

    Args:
        epsilon: ε ≥ 0.
        participants: number m of users in a batch.
        lipschitz: bound L on the norm of a record's gradient.
        noise_std: noise σ of one user per coordinate.

    Returns:
        δ, and the argument of θ_ε as `sensitivity_shift`.
    """
    shift = 2.0 * lipschitz / (math.sqrt(participants) * noise_std)
    return {"sensitivity_shift": shift} | delta_outputs(float(log_theta(epsilon, shift)))


ONE_USE = Condition("one-use", "every record is used in at most one step of the pass")
AFTER_11 = Theorem(
    id="asoodeh.after-11",
    title="One pass of noisy SGD, by the step that uses the record",
    statement=(
        "One pass in batches of m with the noise σ has δ ≤ θ_ε(2L/(√m σ)), for L-Lipschitz losses. This bounds (11), "
        "as the later factors of (11) are at most 1. It needs neither convexity nor the projection, and holds for any "
        "step sizes and any order of the batches."
    ),
    source=Source("asoodeh2021", "Section IV-A, after (11)"),
    status=Status.PROVED,
    conditions=(LIPSCHITZ_LOSSES, FRESH_NOISE, ONE_USE),
    formula=bound_without_steps,
    examples=({"epsilon": 0.5, "participants": 10, "lipschitz": 1.0, "noise_std": 1.5},),
)


# The noise n^(1/4), after Corollary 3 -------------------------------------------------------------------------------
@request
class RootNoise(BatchesOnce):
    """One pass with the step sizes η_t = 1/(λt) and the noise σ_t = n^(1/4), stopped at a random step."""

    epsilon: PrivacyLoss
    dimension: Dimension
    smoothness: Smoothness
    strong_convexity: Annotated[float, CURVATURE]

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    @property
    def noise_std(self) -> float:
        """The noise σ_t = n^(1/4) of every step, for n users."""
        return math.sqrt(math.sqrt(self.clients))


def delta_at_root_noise(inputs: RootNoise, reading: Reading = "printed") -> Outputs:
    """Compute δ at the noise σ_t² = √n by bound (12) of Asoodeh et al., and the terms of the error in Corollary 2.

    Args:
        inputs: n users in batches of m, the radius ρ, and the losses' Lipschitz constant L, smoothness β and strong
            convexity λ.
        reading: version of the noise term. `printed` is that of the paper, Σ η_t σ_t²/n. `corrected` has d/2 times it
            in d dimensions (erratum A-4).

    Returns:
        `delta`: bound (12) with the least step size 1/(λT) in each of T = ⌊n/m⌋ steps.
        `steps`: T.
        `noise_term`: H_T/(λ√n) in the paper's version, with the harmonic number H_T.
        `optimisation_order`: m ln(T)/(λn), the order of the optimisation error. The paper does not give its factor.
    """
    steps = inputs.steps
    run = inputs.run_of(
        first_stop=1,
        smoothness=inputs.smoothness,
        strong_convexity=inputs.strong_convexity,
        whole_ball=True,
        step_schedule=Constant(value=1.0 / (inputs.strong_convexity * steps)),
        noise_schedule=Constant(value=inputs.noise_std),
    )
    log_delta = log_contraction_bound(inputs.epsilon, run).upper
    # The noise of d coordinates has d times the variance of one. The printed term has 1 in place of d/2.
    noise_factor = 1.0 if reading == "printed" else 0.5 * inputs.dimension
    noise_term = noise_factor * harmonic(steps) / (inputs.strong_convexity * math.sqrt(inputs.clients))
    optimisation_order = inputs.participants * math.log(steps) / (inputs.strong_convexity * inputs.clients)
    return {
        **delta_outputs(log_delta),
        "steps": steps,
        "noise_term": noise_term,
        "optimisation_order": optimisation_order,
    }


def check_first_step(inputs: RootNoise) -> Sides:
    """Check that the largest step size, 1/λ in the first step, is at most 2/β.

    Args:
        inputs: the pass, with the strong convexity λ and the smoothness β of the losses.

    Returns:
        The two sides of the condition, and whether it holds.
    """
    largest_step_size = 1.0 / inputs.strong_convexity
    return Sides.at_most(largest_step_size, 2.0 / inputs.smoothness)


AFTER_COROLLARY_3 = Theorem(
    id="asoodeh.after-corollary-3",
    title="Projected SGD stopped at a random step, with the noise n^(1/4)",
    statement=(
        "With η_t = 1/(λt), σ_t² = √n and T = n/m, (12) is δ = (1/T²) θ_s Σ_τ (1 − θ_c^τ)/(1 − θ_c). Here θ_s = "
        "θ_ε(2L/(√m n^(1/4))) and θ_c = θ_ε(2λρ n^(3/4)/√m). The paper states the rate Õ(1/√n ∨ m/n). The noise term "
        "of Corollary 2 is then H_T/(λ√n), with the harmonic number H_T. The other term is of the order m ln(T)/(λn)."
    ),
    source=Source("asoodeh2021", "Section IV-B, after Corollary 3 and (12)"),
    status=Status.UNPROVED,
    conditions=(
        Condition(
            "step-sizes",
            "the first step size 1/λ is at most 2/β, with the strong convexity λ and the smoothness β of the losses",
            check_first_step,
        ),
        WHOLE_STEPS,
        LIPSCHITZ_LOSSES,
        CONVEX_LOSSES,
        SMOOTH_LOSSES,
        PROJECTED,
        FRESH_NOISE,
        SECRET_ORDER,
        Condition("shamir", "the rate is that of Corollary 2, whose constant is in no paper; δ does not need it"),
    ),
    errata=(A_3, A_4),
    constants="hidden",
    inputs=RootNoise,
    formula=delta_at_root_noise,
    examples=(
        {
            "epsilon": 0.5,
            "clients": 10000,
            "participants": 10,
            "dimension": 20,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 0.02,
            "strong_convexity": 0.01,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_19, AFTER_11, AFTER_COROLLARY_3)
