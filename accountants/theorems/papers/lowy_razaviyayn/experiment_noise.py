"""Appendix H of Lowy and Razaviyayn: the noise and batch of the experiments, which do not give what they promise.

σ² = 8 L² ln(1/δ) R/(nε)² with K = n√ε/(2√R), said to be private "by Theorem 1 of [ACG+16]". That theorem asks for
ε < c₁ q² R with unspecified c₁, and this K makes q² R = ε/4 whatever else is chosen. Feed σ, K and R to an accountant:
the true ε exceeds the target from about 1.5 on at the sizes of the experiments (F-70, E-19).
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.quantities import (
    DELTA,
    LOG10_DELTA,
    Epsilon,
    Lipschitz,
    Rounds,
    SamplesPerClient,
    natural_log_delta,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles

_TESTS = "tests/theorems/papers/lowy_razaviyayn/test_experiment_noise.py"


def experimental_noise_std(
    *, lipschitz: float, samples_per_client: int, rounds: int, epsilon: float, log_delta: float
) -> float:
    """σ = L √(8 R ln(1/δ))/(nε), per coordinate of the client's mean gradient."""
    return lipschitz * math.sqrt(8.0 * rounds * -log_delta) / (samples_per_client * epsilon)


def experimental_batch_size(*, samples_per_client: int, rounds: int, epsilon: float) -> float:
    """K = n√ε/(2√R), before rounding up; it may exceed n."""
    return samples_per_client * math.sqrt(epsilon) / (2.0 * math.sqrt(rounds))


@request
class ExperimentInputs:
    """One client of the experiments. Give one of delta and log10_delta."""

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples_per_client: SamplesPerClient
    rounds: Rounds
    lipschitz: Lipschitz

    def check(self) -> None:
        """Exactly one δ; scales whose squares are doubles."""
        natural_log_delta(self.delta, self.log10_delta)
        check_scales(epsilon=self.epsilon, lipschitz=self.lipschitz)

    @property
    def real_batch(self) -> float:
        """n√ε/(2√R)."""
        return experimental_batch_size(
            samples_per_client=self.samples_per_client, rounds=self.rounds, epsilon=self.epsilon
        )


@in_doubles
def experiment(inputs: ExperimentInputs) -> Outputs:
    """The printed σ and K, and the noise multiplier σK/L to feed to an accountant."""
    std = experimental_noise_std(
        lipschitz=inputs.lipschitz,
        samples_per_client=inputs.samples_per_client,
        rounds=inputs.rounds,
        epsilon=inputs.epsilon,
        log_delta=natural_log_delta(inputs.delta, inputs.log10_delta),
    )
    batch = min(inputs.samples_per_client, max(1, math.ceil(inputs.real_batch)))
    return {
        "noise_std": std,
        "batch_size": batch,
        "noise_multiplier": std * batch / inputs.lipschitz,
        "sensitivity": 2.0 * inputs.lipschitz / batch,
        "squared_rate_times_rounds": 0.25 * inputs.epsilon,
    }


NOT_PRIVATE = Erratum(
    "E-19",
    printed="this noise provides (ε, δ) by Theorem 1 of [ACG+16]",
    truth=(
        "not in general: at n = 1238, R = 35, δ = n⁻² and ε = 18 the true ε is above 37 without replacement; q²R = ε/4 "
        "identically, so the cited side condition needs an unspecified constant above 4"
    ),
    test=f"{_TESTS}::test_the_experiments_noise_is_not_private",
)

APPENDIX_H = Theorem(
    id="lowy.appendix-h",
    title="The noise of the experiments",
    statement="σ² = 8 L² ln(1/δ) R/(nε)² with batches of K = n√ε/(2√R) is (ε, δ) for every record",
    source=Source("lowy2023", "Appendix H"),
    status=Status.REFUTED,
    conditions=(
        Condition(
            "batch-of-records",
            "K = n√ε/(2√R) is at most n",
            lambda inputs: Sides.at_most(inputs.real_batch, inputs.samples_per_client),
        ),
    ),
    errata=(NOT_PRIVATE,),
    inputs=ExperimentInputs,
    formula=experiment,
    examples=({"epsilon": 18.0, "delta": 6.5e-7, "samples_per_client": 1238, "rounds": 35, "lipschitz": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (APPENDIX_H,)
