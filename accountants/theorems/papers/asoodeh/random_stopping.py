"""Corollary 3 of Asoodeh et al. 2021: one pass, released at a random step."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from epsilond.accountants.quantities import SUFFIX_FRACTION, delta_outputs, request
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import first_step_of_suffix
from epsilond.accountants.theorem import Erratum, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.contraction_bound import log_contraction_bound
from epsilond.accountants.theorems.hidden_states.projected_sgd_run import Run
from epsilond.accountants.theorems.papers.asoodeh.one_pass import (
    A_3,
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SECRET_ORDER,
    SMALL_STEPS,
    SMOOTH_LOSSES,
    WHOLE_STEPS,
    OnePass,
)

_TESTS = "tests/theorems/papers/asoodeh/test_one_pass.py"


@request
class RandomStop(OnePass):
    """One pass, released at a uniform step: of all, or of those from ⌈αT⌉ on."""

    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None

    @property
    def run(self) -> Run:
        """The pass with its release."""
        whole = super().run
        return replace(whole, first_stop=first_step_of_suffix(self.suffix_fraction, whole.steps))


def corollary_3(inputs: RandomStop) -> Outputs:
    """δ of W_τ: with the schedules as they are, and in closed form (12) with the least step size and noise for all."""
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
        "τ uniform on 1, …, T = n/m: δ = (m/n)(1/T) Σ_τ Σ_{t≤τ} θ_ε(2L/(√m σ_t)) Π_{t<j≤τ} θ_ε(2ρ√m/(η_j σ_j)) ≤ "
        "(1/T²) θ_s Σ_τ (1 − θ_c^τ)/(1 − θ_c) with the least η and σ (12)"
    ),
    source=Source("asoodeh2021", "Corollary 3, eq. (12)"),
    status=Status.PROVED,
    conditions=(
        SMALL_STEPS,
        WHOLE_STEPS,
        LIPSCHITZ_LOSSES,
        CONVEX_LOSSES,
        SMOOTH_LOSSES,
        PROJECTED,
        FRESH_NOISE,
        SECRET_ORDER,
    ),
    errata=(
        A_3,
        Erratum(
            "A-6",
            printed="stopping in a suffix can improve (12) by a constant factor",
            truth="S_τ = θ_s(1 − θ_c^τ)/(1 − θ_c) rises with τ: a suffix's mean is never smaller, up to 1 + α as large",
            test=f"{_TESTS}::test_a_suffix_never_beats_a_random_stop",
        ),
    ),
    inputs=RandomStop,
    formula=corollary_3,
    examples=(
        {
            "epsilon": 0.5,
            "clients": 100,
            "participants": 10,
            "lipschitz": 1.0,
            "radius": 1.0,
            "smoothness": 2.0,
            "step_sizes": (0.5,),
            "noise_stds": (1.5,),
            "suffix_fraction": 0.5,
        },
    ),
)


THEOREMS: tuple[Theorem, ...] = (COROLLARY_3,)
