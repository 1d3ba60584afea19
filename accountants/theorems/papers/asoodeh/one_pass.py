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
    """One pass of noisy projected SGD over n clients, in ⌊n/m⌋ batches of m clients.

    Neighbouring data sets differ in the record of one client. Gradients have a norm of at most L, so its gradients
    differ by at most 2L.
    """

    epsilon: PrivacyLoss
    smoothness: Smoothness

    @property
    def run(self) -> ProjectedRun:
        """The pass as a run. The proof of Theorem 2 bounds the distance of two models by the diameter of the domain."""
        return self.run_of(smoothness=self.smoothness, whole_ball=True)


def theorem_2(inputs: OnePass, reading: Reading = "printed") -> Outputs:
    """Compute δ at ε of the model that noisy projected SGD releases after one pass (Theorem 2 of Asoodeh et al.).

    Args:
        inputs: the pass of n clients in batches of m, its schedules of step sizes and noise, and ε.
        reading: version of the number of steps. `printed` is n/m as in the paper, which need not be an integer;
            `corrected` is ⌊n/m⌋ as in a run. The two differ only if step size and noise are constant.

    Returns:
        An upper bound on δ(ε) with its decimal logarithm, and the number of steps. If step size and noise are constant,
        also the factors θ_s and θ_c of the theorem, as `sensitivity_theta` and `contraction_theta`.
    """
    printed_steps = None  # the ⌊n/m⌋ steps of the run
    if reading == "printed" and inputs.run.constant:
        printed_steps = inputs.clients / inputs.participants
    return bound_outputs(inputs.epsilon, inputs.run, passes=printed_steps)


def compare_steps(inputs: OnePass) -> Sides:
    """Compare the number n/m of steps that the paper states with the number ⌊n/m⌋ of steps of a run.

    Args:
        inputs: a pass of n clients in batches of m.

    Returns:
        Both numbers, and whether the first is at most the second. This holds if n is a multiple of m.
    """
    return Sides.at_most(inputs.clients / inputs.participants, float(inputs.steps))


SMALL_STEPS = Condition(
    "step-sizes",
    "every step size η_t is at most 2/β, with the smoothness β of the losses",
    lambda inputs: check_step_sizes(inputs.run),
)
WHOLE_STEPS = Condition("whole-steps", "the number n of users is a multiple of the batch size m", compare_steps)
ASSUMPTIONS = (LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, SECRET_ORDER)

A_1 = Erratum(
    "A-1",
    grade=Grade.MISPRINT,
    place="Appendix, last display of the proof of Theorem 2",
    printed=(
        "The last display of the proof has the argument 2L √m/σ of θ_ε. Here L is the Lipschitz constant, "
        "m the batch size and σ the noise of one user."
    ),
    truth=(
        "The correct argument is 2L/(√m σ), as in the statement and (24). One user shifts the mean by "
        "2Lη/m against noise of ησ/√m, with the step size η. For a run of one step the value of the "
        "statement is attained."
    ),
    charitable="If the last display is read with the argument of (24), the proof gives the statement.",
    test=f"{_TESTS}::test_one_step_of_linear_losses_attains_the_statement_and_not_the_proofs_last_line",
)
A_3 = Erratum(
    "A-3",
    grade=Grade.UNCLEAR,
    place="Corollary 1, before (11), and Section IV-B after (12)",
    printed=(
        "The paper applies Theorem 2 and (12) to the step sizes η_t = 1/(λt), with the strong convexity "
        "λ. It puts no condition on λ and the smoothness β."
    ),
    truth=(
        "Theorem 2's condition η_t ≤ 2/β fails for t < β/(2λ). The image of the ball of radius ρ can then "
        "be wider than 2ρ."
    ),
    charitable=(
        "If Theorem 2's condition on the step sizes is read into the corollaries, Theorem 2 applies, but "
        "only for β ≤ 2λ."
    ),
    test=f"{_TESTS}::test_steps_beyond_two_over_beta_reach_further_than_the_ball",
)
A_5 = Erratum(
    "A-5",
    grade=Grade.UNCLEAR,
    place="Theorem 2, the case of equal steps, and Figure 2",
    printed=(
        "The paper states δ with the exponent n/m for n users in batches of m. It uses this exponent also "
        "where n/m is not an integer (Figure 2, q = m/n = 0.3)."
    ),
    truth=(
        "Only ⌊n/m⌋ steps can be run. The printed δ is larger than theirs, by the factor n/m over ⌊n/m⌋ "
        "without contraction."
    ),
    charitable=(
        "If n/m is an integer, the statement holds. Otherwise the printed δ is still an upper bound for ⌊n/m⌋ steps."
    ),
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
        "One pass over n users in T = n/m uniform, secret batches of m releases its last model, for "
        "replace-one neighbours. It has δ = (m/n) Σ_t θ_ε(2L/(√m σ_t)) Π_{j>t} θ_ε(2ρ √m/(η_j σ_j)). Here L "
        "is the Lipschitz constant, ρ the radius, and η_t and σ_t the step size and noise of step t. With "
        "constant steps and noise δ is (m/n) θ_s (1 − θ_c^{n/m})/(1 − θ_c), with θ_s for the first factor and "
        "θ_c for the second."
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
    """Compute δ at ε of the model after a random step of noisy projected SGD (Corollary 3 of Asoodeh et al.).

    Args:
        inputs: the pass, its schedules of step sizes and noise, ε, and the steps at which the model may be released.

    Returns:
        `delta`: the bound for the schedules of the run.
        `delta_twelve`: bound (12) of the paper, with the least step size and the least noise in every step.
        `first_stop`: the first step after which the model may be released.
        `steps`: the number of all steps.
    """
    run = inputs.run
    run_at_least_values = replace(
        run,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )
    log_delta = log_contraction_bound(inputs.epsilon, run).upper
    log_delta_twelve = log_contraction_bound(inputs.epsilon, run_at_least_values).upper
    return {
        **delta_outputs(log_delta),
        **delta_outputs(log_delta_twelve, "delta_twelve"),
        "first_stop": run.first_stop,
        "steps": run.steps,
    }


COROLLARY_3 = Theorem(
    id="asoodeh.corollary-3",
    title="Projected SGD stopped at a random step",
    statement=(
        "One pass in batches of m stops at a step τ that is uniform on 1, …, T = n/m, and releases its model. "
        "Then δ = (m/n)(1/T) Σ_τ Σ_{t≤τ} θ_ε(2L/(√m σ_t)) Π_{t<j≤τ} θ_ε(2ρ√m/(η_j σ_j)), with the constants "
        "of asoodeh.2. At the least η and σ, let θ_s be the first factor and θ_c the second. Then δ is at "
        "most (1/T²) θ_s Σ_τ (1 − θ_c^τ)/(1 − θ_c) (12)."
    ),
    source=Source("asoodeh2021", "Corollary 3, eq. (12)"),
    status=Status.PROVED,
    conditions=(SMALL_STEPS, WHOLE_STEPS, *ASSUMPTIONS),
    errata=(
        A_3,
        Erratum(
            "A-6",
            grade=Grade.PROVED_WRONG,
            place="Section IV-B, last remark",
            printed=(
                "The run stops at a uniform one of T steps. The paper states that one from αT to T can "
                "potentially improve the δ of (12) by a constant factor."
            ),
            truth=(
                "A stop at step τ has the δ of S_τ = θ_s(1 − θ_c^τ)/(1 − θ_c), up to a common factor. "
                "Here θ_s and θ_c are the sensitivity and contraction factors of (12). S_τ rises with τ, "
                "so that a suffix's mean is never smaller. It is up to 1 + α times as large."
            ),
            charitable=(
                "No reading of (12) that we know makes it hold, as (12) has equal steps and noise. For "
                "noise that grows over the run, a suffix can lower the first bound of Corollary 3."
            ),
            test=f"{_TESTS}::test_a_suffix_never_beats_a_random_stop",
        ),
    ),
    inputs=RandomStop,
    formula=corollary_3,
    examples=({**_EXAMPLE, "suffix_fraction": 0.5},),
)


THEOREMS: tuple[Theorem, ...] = (THEOREM_2, COROLLARY_3)
