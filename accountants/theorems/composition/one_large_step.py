"""Many rare steps at a tiny δ: what a single large step gives from below, and all of them together from above."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.one_large_step import OneLargeStep
from epsilond.accountants.quantities import (
    RELATION,
    Epsilon,
    NoiseMultiplier,
    Rate,
    Relation,
    Rounds,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem


@request
class RareStepsInputs:
    """A Poisson-subsampled Gaussian, run so many times, and the ε at which its δ is asked for."""

    rate: Rate
    noise_multiplier: NoiseMultiplier
    rounds: Rounds
    relation: Annotated[Relation, RELATION]
    epsilon: Epsilon


def rare_steps(inputs: RareStepsInputs) -> Outputs:
    """Both ends of δ at ε, for the law with the record against the law without it, or with another in its place."""
    shift = 1.0 / inputs.noise_multiplier
    direction: Direction = "replace" if inputs.relation == "replace-one" else "remove"
    low, high = (
        OneLargeStep.of([(SampledGaussianLaw(inputs.rate, at, direction), inputs.rounds)]).log_delta(inputs.epsilon)
        for at in (shift * (1.0 - UNIT_ROUNDOFF), shift * (1.0 + 2.0 * UNIT_ROUNDOFF))
    )
    return {**delta_outputs(high.upper), **(_below(low.lower) if math.isfinite(low.lower) else {})}


def _below(log_delta: float) -> Outputs:
    return delta_outputs(log_delta, "lower_delta")


ONE_LARGE_STEP = Theorem(
    id="epsilond.one-large-step",
    title="Rare steps, of which one is large",
    statement=(
        "With L_t the losses of T independent steps, S their sum, R the sum without the largest, and any c₀ < … < c_m: "
        "Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R > c_{k−1}) + "
        "P(S > ε, R > c_m), where P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)} for every b > 0, "
        "h(y) = (1 + y) log(1 + y) − y, m and V bounds of the mean and the second moment of the losses up to b"
    ),
    source=Source("epsilond", "docs/engine-certificate.md, One large step"),
    status=Status.PROVED,
    inputs=RareStepsInputs,
    formula=rare_steps,
    examples=(
        {
            "rate": 2.2e-8,
            "noise_multiplier": 1.229,
            "rounds": 11978,
            "relation": "add-or-remove-one",
            "epsilon": 0.02,
        },
        {"rate": 1e-6, "noise_multiplier": 1.0, "rounds": 100, "relation": "replace-one", "epsilon": 0.5},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ONE_LARGE_STEP,)
