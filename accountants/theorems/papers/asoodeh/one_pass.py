"""Asoodeh et al. 2021: one pass of projected SGD, released at its end (Theorem 2) or at a random step (Corollary 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import Smoothness, delta_outputs, request
from epsilond.accountants.quantities.algorithms import SUFFIX_FRACTION, PrivacyLoss
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs.projected_sgd import first_step_of_suffix
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SECRET_ORDER,
    SMOOTH_LOSSES,
    ScheduledPass,
    bound_outputs,
    check_step_sizes,
    log_contraction_bound,
)
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

_TESTS = "tests/theorems/papers/asoodeh/test_one_pass.py"


@request
class OnePass(ScheduledPass):
    """One pass over n clients in ⌊n/m⌋ batches of m, under replace-one: two gradients differ by at most 2L."""

    epsilon: PrivacyLoss
    smoothness: Smoothness

    @property
    def run(self) -> ProjectedRun:
        """The pass, with diameter 2ρ for every image, as in the theorem."""
        return self.run_of(smoothness=self.smoothness, whole_ball=True)


def theorem_2(inputs: OnePass, reading: Reading = "printed") -> Outputs:
    """Compute δ at ε of the model that is released after one pass (Theorem 2 of Asoodeh et al.).

    Args:
        inputs: the pass, its schedules and ε.
        reading: `printed` has n/m steps, which need not be an integer; `corrected` has the ⌊n/m⌋ steps of a run. The
            two differ only if step size and noise are constant.
    """
    steps = None
    if reading == "printed" and inputs.run.constant:
        steps = inputs.clients / inputs.participants
    return bound_outputs(inputs.epsilon, inputs.run, passes=steps)


def compare_steps(inputs: OnePass) -> Sides:
    """Compare n/m with ⌊n/m⌋."""
    return Sides.at_most(inputs.clients / inputs.participants, float(inputs.steps))


SMALL_STEPS = Condition("step-sizes", "η_t ≤ 2/β at every t", lambda inputs: check_step_sizes(inputs.run))
WHOLE_STEPS = Condition("whole-steps", "n/m is an integer", compare_steps)
ASSUMPTIONS = (LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, SECRET_ORDER)

A_1 = Erratum(
    "A-1",
    grade=Grade.MISPRINT,
    printed="the proof's last display has 2L √m/σ",
    truth="2L/(√m σ), as the statement has: a shift of 2Lη/m against noise ησ/√m. At T = 1 it is attained",
    test=f"{_TESTS}::test_one_step_of_linear_losses_attains_the_statement_and_not_the_proofs_last_line",
)
A_3 = Erratum(
    "A-3",
    grade=Grade.PROVED_WRONG,
    printed="Theorem 2 is applied with η_t = 1/(λt)",
    truth="η_t ≤ 2/β fails for t < β/(2λ). The image of the ball is then wider than 2ρ",
    test=f"{_TESTS}::test_steps_beyond_two_over_beta_reach_further_than_the_ball",
)
A_5 = Erratum(
    "A-5",
    grade=Grade.UNCLEAR,
    printed="the exponent n/m, also where it is not an integer (Figure 2, q = 0.3)",
    truth="⌊n/m⌋ steps can be run. The printed δ is larger than theirs, by n/m over ⌊n/m⌋ without contraction",
    test=f"{_TESTS}::test_a_fraction_of_a_step_only_raises_the_printed_bound",
)

_EXAMPLE: Fields = {
    "epsilon": 0.5,
    "clients": 100,
    "participants": 10,
    "lipschitz": 1.0,
    "radius": 1.0,
    "smoothness": 2.0,
    "step_sizes": (0.5,),
    "noise_stds": (1.5,),
}

THEOREM_2 = Theorem(
    id="asoodeh.2",
    title="One pass of projected SGD with hidden states",
    statement=(
        "For W_T under replace-one, δ = (m/n) Σ_t θ_ε(2L/(√m σ_t)) Π_{j>t} θ_ε(2ρ √m/(η_j σ_j)). The partition "
        "into n/m batches is uniform and secret. With constant steps and noise δ is (m/n) θ_s (1 − "
        "θ_c^{n/m})/(1 − θ_c)"
    ),
    source=Source("asoodeh2021", "Theorem 2"),
    status=Status.PROVED,
    conditions=(SMALL_STEPS, WHOLE_STEPS, *ASSUMPTIONS),
    errata=(A_1, A_5),
    inputs=OnePass,
    formula=theorem_2,
    examples=(_EXAMPLE,),
)


# Corollary 3 --------------------------------------------------------------------------------------------------------
@request
class RandomStop(OnePass):
    """One pass, released at a uniformly random step: any of the T steps, or one from ⌈αT⌉ on."""

    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None

    @property
    def run(self) -> ProjectedRun:
        """The pass, with the first step at which it may be released."""
        run = super().run
        return replace(run, first_stop=first_step_of_suffix(self.suffix_fraction, run.steps))


def corollary_3(inputs: RandomStop) -> Outputs:
    """Compute δ at ε of the model W_τ that is released after a random step τ (Corollary 3).

    Args:
        inputs: the pass, its schedules, ε, and the steps at which it may be released.

    Returns:
        `delta` for the schedules of the run. `delta_twelve` is bound (12), with the least step size and the least noise
        in every step.
    """
    run = inputs.run
    least = replace(
        run,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )
    return (
        delta_outputs(log_contraction_bound(inputs.epsilon, run).upper)
        | delta_outputs(log_contraction_bound(inputs.epsilon, least).upper, "delta_twelve")
        | {"first_stop": run.first_stop, "steps": run.steps}
    )


COROLLARY_3 = Theorem(
    id="asoodeh.corollary-3",
    title="Projected SGD stopped at a random step",
    statement=(
        "Let τ be uniform on 1, …, T = n/m. Then δ = (m/n)(1/T) Σ_τ Σ_{t≤τ} θ_ε(2L/(√m σ_t)) Π_{t<j≤τ} "
        "θ_ε(2ρ√m/(η_j σ_j)). With the least η and σ it is at most (1/T²) θ_s Σ_τ (1 − θ_c^τ)/(1 − θ_c) (12)"
    ),
    source=Source("asoodeh2021", "Corollary 3, eq. (12)"),
    status=Status.PROVED,
    conditions=(SMALL_STEPS, WHOLE_STEPS, *ASSUMPTIONS),
    errata=(
        A_3,
        Erratum(
            "A-6",
            grade=Grade.PROVED_WRONG,
            printed="stopping in a suffix can improve (12) by a constant factor",
            truth="S_τ = θ_s(1 − θ_c^τ)/(1 − θ_c) rises with τ: a suffix's mean is never smaller, up to 1 + α as large",
            test=f"{_TESTS}::test_a_suffix_never_beats_a_random_stop",
        ),
    ),
    inputs=RandomStop,
    formula=corollary_3,
    examples=({**_EXAMPLE, "suffix_fraction": 0.5},),
)


THEOREMS: tuple[Theorem, ...] = (THEOREM_2, COROLLARY_3)
