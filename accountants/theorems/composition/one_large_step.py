"""Many steps with a small sampling rate, at a small δ: lower bounds from one large step, and upper bounds."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.products.one_large_step import OneLargeStep
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
    """A Poisson-subsampled Gaussian mechanism, its number of rounds, and the ε at which δ is computed."""

    rate: Rate
    noise_multiplier: NoiseMultiplier
    rounds: Rounds
    relation: Annotated[Relation, RELATION]
    epsilon: Epsilon


def rare_steps(inputs: RareStepsInputs) -> Outputs:
    """Compute bounds on δ at ε for many rounds of the Poisson-subsampled Gaussian mechanism with a small sampling rate.

    Then few rounds use a record, and a large privacy loss mostly comes from a single round.

    Args:
        inputs: sampling rate, noise multiplier, number of rounds, relation of neighbours, and ε.

    Returns:
        The upper bound `delta`, and the lower bound `lower_delta` if it is positive, each with its decimal logarithm.
    """
    # The quotient is rounded. Each bound uses a shift on its safe side.
    shift = 1.0 / inputs.noise_multiplier
    lower_shift = shift * (1.0 - UNIT_ROUNDOFF)
    upper_shift = shift * (1.0 + 2.0 * UNIT_ROUNDOFF)

    lower = _large_step_bounds(inputs, lower_shift).lower
    upper = _large_step_bounds(inputs, upper_shift).upper
    outputs = delta_outputs(upper)
    if math.isfinite(lower):
        outputs |= delta_outputs(lower, "lower_delta")
    return outputs


def _large_step_bounds(inputs: RareStepsInputs, shift: float) -> Interval:
    """Compute bounds on log δ for many rounds, from the event that a single round has a large privacy loss.

    Args:
        inputs: the sampling rate, the number of rounds, the neighbouring relation, and ε. The noise multiplier is not
            used.
        shift: sensitivity over the standard deviation of the noise.

    Returns:
        A lower and an upper bound on the natural logarithm of δ. The lower one is −∞ if no positive one is known.
    """
    direction: Direction = "replace" if inputs.relation == "replace-one" else "remove"
    sampled_gaussian = SampledGaussianLaw(inputs.rate, shift, direction)
    return OneLargeStep.of([(sampled_gaussian, inputs.rounds)]).log_delta(inputs.epsilon)


ONE_LARGE_STEP = Theorem(
    id="epsilond.one-large-step",
    title="Rare steps, of which one is large",
    statement=(
        "Let L_t be the losses of T independent steps, S their sum and R the sum without the largest. The "
        "lower bound is Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε). Let c₀ < … < c_m be any numbers. The upper "
        "bound is δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R > c_{k−1}) + P(S > ε, R > c_m). For every "
        "b > 0, P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)}. Here h(y) = (1 + y) log(1 + y) − y. "
        "The losses up to b have a mean of at most m and a second moment of at most V"
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
