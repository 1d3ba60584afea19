"""The Binomial mechanism of cpSGD: what the discrete Laplace noise is compared with, within its proof's range.

Its leading term is the classical tail bound of the Gaussian mechanism, which is proved for ε ≤ 1 only; beyond that the
formula promises more than the noise gives (errata, D-15).
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.quantities import (
    DELTA,
    L1_SENSITIVITY,
    L2_SENSITIVITY,
    LARGEST_COUNT,
    LINF_SENSITIVITY,
    Dimension,
    Epsilon,
    Quantity,
    request,
)
from epsilond.accountants.quantities.algorithms import TRIALS, QuantizationLevels
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/mechanisms/test_binomial.py"
SUCCESS_PROBABILITY = Quantity(
    symbol="p",
    gt=0,
    le=0.5,
    description="probability that a trial counts; p and 1 − p are the same noise, mirrored: the smaller is asked for",
)
TRIALS_PER_STEP = Quantity(
    symbol="1/s'", ge=1, le=10**6, description="how many trials make one grid step: a trial adds s' to a value"
)
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
    success_probability: Annotated[float, SUCCESS_PROBABILITY] = 0.5
    trials_per_step: Annotated[int, TRIALS_PER_STEP] = 1

    @property
    def spread(self) -> float:
        """The variance p(1 − p) of one trial."""
        return self.success_probability * (1.0 - self.success_probability)


def law_constants(success_probability: float) -> tuple[float, float, float]:
    """b_p, c_p and d_p: 1/3, 7√2/4 and 2/3 at p = 1/2."""
    p, q = success_probability, 1.0 - success_probability
    squares = p * p + q * q
    return (
        2.0 / 3.0 * squares + (q - p),
        math.sqrt(2.0) * (3.0 * (p**3 + q**3) + 2.0 * squares),
        4.0 / 3.0 * squares,
    )


def least_variance(inputs: BinomialInputs) -> float:
    """N p(1 − p) must be at least max(23 log(10d/δ), 2Δ∞/s')."""
    reach = 2.0 * inputs.linf_sensitivity * inputs.trials_per_step
    return max(23.0 * math.log(10.0 * inputs.dimension / inputs.delta), reach)


def binomial_epsilon(inputs: BinomialInputs, trials: float) -> float:
    """ε of N trials, as the theorem has it."""
    b, c, d = law_constants(inputs.success_probability)
    variance, delta = inputs.spread * trials, inputs.delta
    first = inputs.l2_sensitivity * math.sqrt(2.0 * math.log(1.25 / delta) / variance)
    second = inputs.l2_sensitivity * c * math.sqrt(math.log(10.0 / delta)) + inputs.l1_sensitivity * b
    third = 2.0 / 3.0 * math.log(1.25 / delta)
    third += d * math.log(20.0 * inputs.dimension / delta) * math.log(10.0 / delta)
    whole = first + second / (variance * (1.0 - delta / 10.0)) + inputs.linf_sensitivity * third / variance
    return whole * inputs.trials_per_step


def least_trials(inputs: BinomialInputs) -> int | None:
    """The least N with that ε and the variance the theorem needs; None beyond 10^15."""
    high = max(1, math.ceil(least_variance(inputs) / inputs.spread))
    if binomial_epsilon(inputs, high) <= inputs.epsilon:
        return high
    low = high
    while binomial_epsilon(inputs, high) > inputs.epsilon:
        if high > LARGEST_COUNT:
            return None
        low, high = high, 2 * high
    return bisect_integers(lambda trials: binomial_epsilon(inputs, trials) > inputs.epsilon, low, high) + 1


def binomial_bits(quantization_levels: int, trials: int) -> int:
    """⌈log₂(2s + N + 1)⌉: N trials have N + 1 outcomes. `quantization_levels` is s in units of one trial."""
    return (2 * quantization_levels + trials).bit_length()


def binomial(inputs: BinomialInputs, reading: Reading = "printed") -> Outputs:
    """N, the bits (printed: with m := N in equation (7) of Das et al.), and the variance in grid steps."""
    trials = least_trials(inputs)
    if trials is None:
        return {"trials": "unbounded"}
    levels, steps = inputs.quantization_levels, inputs.quantization_levels * inputs.trials_per_step
    bits = (2 * (steps + trials)).bit_length() if reading == "printed" else binomial_bits(steps, trials)
    variance = inputs.spread * trials / inputs.trials_per_step**2
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
    grade=Grade.PROVED_WRONG,
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
        "(Z − Np)s', 1/s' whole, Z ~ Bin(N, p)^d, v = N p(1 − p) ≥ max(23 log(10d/δ), 2Δ∞/s'): "
        "ε = (1/s') [Δ₂ √(2 log(1.25/δ))/√v + (Δ₂ c √log(10/δ) + Δ₁ b)/(v (1 − δ/10)) + "
        "Δ∞ (2/3 log(1.25/δ) + d_p log(20d/δ) log(10/δ))/v], "
        "b = 2/3 (p² + (1−p)²) + 1 − 2p, c = √2 (3p³ + 3(1−p)³ + 2p² + 2(1−p)²), d_p = 4/3 (p² + (1−p)²), for ε ≤ 1; "
        "at p = 1/2 they are 1/3, 7√2/4 and 2/3"
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
        {
            "epsilon": 0.5,
            "delta": 1e-6,
            "dimension": 10,
            "quantization_levels": 64,
            "l1_sensitivity": 20.0,
            "l2_sensitivity": 8.0,
            "linf_sensitivity": 4.0,
            "success_probability": 0.125,
            "trials_per_step": 2,
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
            "N p(1 − p) ≥ max(23 log(10d/δ), 2Δ∞/s')",
            lambda inputs: Sides.at_least(inputs.spread * inputs.trials, least_variance(inputs)),
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
        "bits_per_coordinate": binomial_bits(inputs.quantization_levels * inputs.trials_per_step, inputs.trials),
    },
    examples=({**BINOMIAL.examples[0], "trials": 10**9},),
)

THEOREMS: tuple[Theorem, ...] = (BINOMIAL, GIVEN)
