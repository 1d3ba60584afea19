"""The Binomial mechanism of cpSGD: what the discrete Laplace noise is compared with, within its proof's range.

Its leading term is the classical tail bound of the Gaussian mechanism, which is proved for ε ≤ 1 only; beyond that the
formula promises more than the noise gives (errata, D-15).
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.quantities import (
    DELTA,
    L1_SENSITIVITY,
    L2_SENSITIVITY,
    LARGEST_COUNT,
    LINF_SENSITIVITY,
    TRIALS,
    Dimension,
    Epsilon,
    QuantizationLevels,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/mechanisms/test_binomial.py"
HALF_CONSTANTS = (1.0 / 3.0, 1.75 * math.sqrt(2.0), 2.0 / 3.0)
"""b_p, c_p and d_p at p = 1/2."""
PROVED_EPSILON = 1.0


@request
class BinomialInputs:
    """Distances of the integers on neighbouring data, and a target."""

    epsilon: Epsilon
    delta: Annotated[float, DELTA]
    dimension: Dimension
    quantization_levels: QuantizationLevels
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    l2_sensitivity: Annotated[float, L2_SENSITIVITY]
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY]


def least_variance(inputs: BinomialInputs) -> float:
    """N p(1 − p) must be at least max(23 log(10d/δ), 2Δ∞)."""
    return max(23.0 * math.log(10.0 * inputs.dimension / inputs.delta), 2.0 * inputs.linf_sensitivity)


def binomial_epsilon(inputs: BinomialInputs, trials: float) -> float:
    """ε of N trials at p = 1/2 and scale 1, as the theorem has it."""
    b, c, d = HALF_CONSTANTS
    variance, delta = 0.25 * trials, inputs.delta
    first = inputs.l2_sensitivity * math.sqrt(2.0 * math.log(1.25 / delta) / variance)
    second = inputs.l2_sensitivity * c * math.sqrt(math.log(10.0 / delta)) + inputs.l1_sensitivity * b
    third = 2.0 / 3.0 * math.log(1.25 / delta)
    third += d * math.log(20.0 * inputs.dimension / delta) * math.log(10.0 / delta)
    return first + second / (variance * (1.0 - delta / 10.0)) + inputs.linf_sensitivity * third / variance


def least_trials(inputs: BinomialInputs) -> int | None:
    """The least N with that ε and the variance the theorem needs; None beyond 10^15."""
    high = max(1, math.ceil(4.0 * least_variance(inputs)))
    if binomial_epsilon(inputs, high) <= inputs.epsilon:
        return high
    low = high
    while binomial_epsilon(inputs, high) > inputs.epsilon:
        if high > LARGEST_COUNT:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_epsilon(inputs, middle) <= inputs.epsilon else (middle, high)
    return high


def binomial_bits(quantization_levels: int, trials: int) -> int:
    """⌈log₂(2s + N + 1)⌉: N trials have N + 1 outcomes."""
    return (2 * quantization_levels + trials).bit_length()


def binomial(inputs: BinomialInputs, reading: Reading = "printed") -> Outputs:
    """N, the bits (printed: with m := N in equation (7) of Das et al.), and the variance in steps."""
    trials = least_trials(inputs)
    if trials is None:
        return {"trials": "unbounded"}
    levels = inputs.quantization_levels
    bits = (2 * (levels + trials)).bit_length() if reading == "printed" else binomial_bits(levels, trials)
    variance = 0.25 * trials
    error = inputs.dimension * variance / levels**2
    return {"trials": trials, "bits_per_coordinate": bits, "variance": variance, "mean_squared_error": error}


@request
class TrialsInputs(BinomialInputs):
    """The same, with the noise given."""

    trials: Annotated[int, TRIALS]


EPSILON_AT_MOST_ONE = Condition(
    "epsilon-at-most-one",
    "ε ≤ 1: the leading term is the classical tail bound of the Gaussian mechanism",
    lambda inputs: Sides.at_most(inputs.epsilon, PROVED_EPSILON),
)
D_15 = Erratum(
    "D-15",
    printed="holds at every ε; t = 35 and 23 bits at ε = 10, by m := N in equation (7)",
    truth=(
        "proved for ε ≤ 1: at ε = 10, δ = 3e-6 one coordinate has δ = 6.07e-6. Bin(N) has N + 1 outcomes, so 34 and "
        "22 bits"
    ),
    test=f"{_TESTS}::test_beyond_one_the_formula_promises_too_much",
)
BINOMIAL = Theorem(
    id="agarwal-2018.1",
    title="The Binomial mechanism",
    statement=(
        "Z ~ Bin(N, p)^d, p = 1/2, N p(1 − p) ≥ max(23 log(10d/δ), 2Δ∞): ε = Δ₂ √(2 log(1.25/δ))/√v + "
        "(Δ₂ c √log(10/δ) + Δ₁ b)/(v (1 − δ/10)) + Δ∞ (2/3 log(1.25/δ) + d_p log(20d/δ) log(10/δ))/v, v = N p(1 − p), "
        "b = 1/3, c = 7√2/4, d_p = 2/3, for ε ≤ 1"
    ),
    source=Source("agarwal2018cpsgd", "Theorem 1"),
    status=Status.PROVED,
    conditions=(EPSILON_AT_MOST_ONE,),
    errata=(D_15,),
    inputs=BinomialInputs,
    formula=binomial,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 3e-6,
            "dimension": 328810,
            "quantization_levels": 4096,
            "l1_sensitivity": 892492.6547080354,
            "l2_sensitivity": 1556.439134316579,
            "linf_sensitivity": 411.6,
        },
    ),
)
GIVEN = Theorem(
    id="agarwal-2018.1-epsilon",
    title="The Binomial mechanism at given noise",
    statement="The ε of agarwal-2018.1 for N trials",
    source=Source("agarwal2018cpsgd", "Theorem 1"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "variance",
            "N/4 ≥ max(23 log(10d/δ), 2Δ∞)",
            lambda inputs: Sides.at_least(0.25 * inputs.trials, least_variance(inputs)),
        ),
        Condition(
            "epsilon-at-most-one",
            "the ε that is found is at most 1",
            lambda inputs: Sides.at_most(binomial_epsilon(inputs, inputs.trials), PROVED_EPSILON),
        ),
    ),
    errata=(D_15,),
    inputs=TrialsInputs,
    formula=lambda inputs: {
        "epsilon": binomial_epsilon(inputs, inputs.trials),
        "bits_per_coordinate": binomial_bits(inputs.quantization_levels, inputs.trials),
    },
    examples=({**BINOMIAL.examples[0], "trials": 10**9},),
)

THEOREMS: tuple[Theorem, ...] = (BINOMIAL, GIVEN)
