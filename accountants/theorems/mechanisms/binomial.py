"""The Binomial mechanism of cpSGD, with which the discrete Laplace noise is compared.

The leading term is the classical tail bound of the Gaussian mechanism, which is proved for ε ≤ 1 only. For larger ε the
formula may be below the true ε (errata, D-15).
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.quantities import DELTA, LARGEST_COUNT, Dimension, Epsilon, Quantity, request
from epsilond.accountants.quantities.algorithms import TRIALS, QuantizationLevels
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, L2_SENSITIVITY, LINF_SENSITIVITY
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/mechanisms/test_binomial.py"
SUCCESS_PROBABILITY = Quantity(
    symbol="p",
    gt=0,
    le=0.5,
    description="probability that a trial counts; p and 1 − p are the same noise, mirrored: give the smaller",
)
TRIALS_PER_STEP = Quantity(
    symbol="1/s'", ge=1, le=10**6, description="how many trials make one grid step: a trial adds s' to a value"
)
PROVED_EPSILON = 1.0
"""Largest ε [nat] for which the theorem is proved."""


@request
class BinomialInputs:
    """A target (ε, δ) for a vector that is released with binomial noise, and all parameters but the number of trials.

    Each coordinate is rounded to a grid with `quantization_levels`. The noise of a coordinate is a number of successes,
    each with probability p, where `trials_per_step` successes count as one step of the grid. The sensitivities of the
    rounded vector are in steps of the grid.
    """

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
    def trial_variance(self) -> float:
        """Variance p(1 − p) of one trial."""
        return self.success_probability * (1.0 - self.success_probability)


def constants_of(success_probability: float) -> tuple[float, float, float]:
    """Compute the constants b, c and d in the ε of binomial noise (Agarwal et al. 2018).

    Let p be the success probability of a trial, and q = 1 − p. The constants are:

        b = 2/3 (p² + q²) + q − p,
        c = √2 (3p³ + 3q³ + 2p² + 2q²),
        d = 4/3 (p² + q²).

    At p = 1/2 they are 1/3, 7√2/4 and 2/3.

    Args:
        success_probability: probability p that a trial succeeds, in (0, 1/2].

    Returns:
        The constants b, c and d. They multiply the ℓ1, ℓ2 and ℓ∞ sensitivity in ε.
    """
    failure_probability = 1.0 - success_probability
    sum_of_squares = success_probability * success_probability + failure_probability * failure_probability
    sum_of_cubes = success_probability**3 + failure_probability**3
    l1_constant = 2.0 / 3.0 * sum_of_squares + (failure_probability - success_probability)
    l2_constant = math.sqrt(2.0) * (3.0 * sum_of_cubes + 2.0 * sum_of_squares)
    linf_constant = 4.0 / 3.0 * sum_of_squares
    return l1_constant, l2_constant, linf_constant


def least_variance(inputs: BinomialInputs) -> float:
    """Compute the least variance N p(1 − p) of binomial noise for which the theorem of Agarwal et al. (2018) holds.

    It is max(23 log(10 dim/δ), 2Δ∞/s'), with 1/s' trials per grid step.

    Args:
        inputs: sensitivity Δ∞, number dim of coordinates, δ, and the trials per grid step.

    Returns:
        The variance in squared trials.
    """
    variance_for_delta = 23.0 * math.log(10.0 * inputs.dimension / inputs.delta)
    variance_for_sensitivity = 2.0 * inputs.linf_sensitivity * inputs.trials_per_step
    return max(variance_for_delta, variance_for_sensitivity)


def binomial_epsilon(inputs: BinomialInputs, trials: float) -> float:
    """Compute the privacy parameter ε of binomial noise (Agarwal et al. 2018, Theorem 1).

    The noise is the number of successes in N trials of probability p, with the variance v = N p(1 − p). There are 1/s'
    trials per grid step. Δ₁, Δ₂ and Δ∞ are the sensitivities in the three norms, and dim the dimension. With the
    constants b, c and d of `constants_of`:

        ε = (1/s') [Δ₂ √(2 log(1.25/δ)/v) + (Δ₂ c √log(10/δ) + Δ₁ b)/(v (1 − δ/10))
                    + Δ∞ (2/3 log(1.25/δ) + d log(20 dim/δ) log(10/δ))/v].

    Args:
        inputs: sensitivities, the noise of one trial, and δ.
        trials: number N of trials, which may be a real number.

    Returns:
        The privacy parameter ε, in nats. The formula is proved for ε ≤ 1 only.
    """
    l1_constant, l2_constant, linf_constant = constants_of(inputs.success_probability)  # b, c and d
    l1, l2, linf = inputs.l1_sensitivity, inputs.l2_sensitivity, inputs.linf_sensitivity
    variance, delta = inputs.trial_variance * trials, inputs.delta
    log_10_over_delta = math.log(10.0 / delta)
    log_125_over_delta = math.log(1.25 / delta)
    log_20_over_delta = math.log(20.0 * inputs.dimension / delta)

    # The three terms in the brackets, of which the first one is that of Gaussian noise.
    gaussian_term = l2 * math.sqrt(2.0 * log_125_over_delta / variance)
    l1_and_l2_factor = l2 * l2_constant * math.sqrt(log_10_over_delta) + l1 * l1_constant
    l1_and_l2_term = l1_and_l2_factor / (variance * (1.0 - delta / 10.0))
    linf_factor = 2.0 / 3.0 * log_125_over_delta + linf_constant * log_20_over_delta * log_10_over_delta
    linf_term = linf * linf_factor / variance
    return (gaussian_term + l1_and_l2_term + linf_term) * inputs.trials_per_step


def least_trials(inputs: BinomialInputs) -> int | None:
    """Search for the least number of trials of binomial noise that meets the target ε.

    It also meets the theorem's condition on the variance of the noise. The search doubles the number until the target
    is met, and then bisects between the last two numbers.

    Args:
        inputs: sensitivities, the noise of one trial, and the target ε and δ.

    Returns:
        The number of trials. None if even the first doubled number above `LARGEST_COUNT` misses the target.
    """

    def misses_target(trials: int) -> bool:
        """Return whether ε of a number of trials is above the target."""
        return binomial_epsilon(inputs, trials) > inputs.epsilon

    least_for_variance = max(1, math.ceil(least_variance(inputs) / inputs.trial_variance))
    if not misses_target(least_for_variance):
        return least_for_variance

    low = high = least_for_variance
    while misses_target(high):
        if high > LARGEST_COUNT:
            return None
        low, high = high, 2 * high
    return bisect_integers(misses_target, low, high) + 1


def binomial_bits(quantization_levels: int, trials: int) -> int:
    """Compute the bits that encode one coordinate with binomial noise, ⌈log₂(2s + N + 1)⌉.

    The coordinate is an integer in [−s, s] before noise, and the number of successes of N trials is added to it. It
    then has 2s + N + 1 possible values.

    Args:
        quantization_levels: largest absolute value s of a coordinate, in units of one trial.
        trials: number N of trials.

    Returns:
        The number of bits, at least 1.
    """
    return (2 * quantization_levels + trials).bit_length()


def binomial(inputs: BinomialInputs, reading: Reading = "printed") -> Outputs:
    """Compute the least number N of trials of binomial noise for a target (ε, δ), and its cost in bits and error.

    Args:
        inputs: sensitivities, the target ε and δ, and the s grid steps that a unit of the update has.
        reading: `printed` computes the bits with m = N in equation (7) of Das et al.; `corrected` by `binomial_bits`.

    Returns:
        `trials`, the bits of one coordinate, the variance of its noise in squared grid steps, and `mean_squared_error`.
        The error is the noise variance of all coordinates together, in squared units of the update. `trials` is
        "unbounded", with no further output, if `least_trials` returns no number.
    """
    trials = least_trials(inputs)
    if trials is None:
        return {"trials": "unbounded"}
    levels_in_trials = inputs.quantization_levels * inputs.trials_per_step
    if reading == "printed":
        bits = (2 * (levels_in_trials + trials)).bit_length()
    else:
        bits = binomial_bits(levels_in_trials, trials)
    # The variance of a coordinate in squared grid steps, and of all coordinates in squared units.
    variance = inputs.trial_variance * trials / inputs.trials_per_step**2
    error = inputs.dimension * variance / inputs.quantization_levels**2
    return {"trials": trials, "bits_per_coordinate": bits, "variance": variance, "mean_squared_error": error}


@request
class TrialsInputs(BinomialInputs):
    """Sensitivities of the integers, a target δ, and the number of trials."""

    trials: Annotated[int, TRIALS]


EPSILON_AT_MOST_ONE = Condition(
    "epsilon-at-most-one",
    "ε is at most 1, since the leading term is the classical tail bound of the Gaussian mechanism",
    lambda inputs: Sides.at_most(inputs.epsilon, PROVED_EPSILON),
)
D_15 = Erratum(
    "D-15",
    grade=Grade.PROVED_WRONG,
    place="Theorem 1 of Agarwal et al. 2018; equation (7), Table 2 and Table 4 of Das et al.",
    printed=(
        "Theorem 1 states its formula for the ε of the Binomial mechanism of N trials at every ε. Das et al. use it at "
        "ε = 10. Their tables state t = 35 and 23 bits, which follow if m in equation (7) is N."
    ),
    truth=(
        "The formula is proved for ε ≤ 1. At ε = 10 and δ = 3e-6, its N gives δ = 6.07e-6 for one coordinate. Bin(N) "
        "has N + 1 outcomes, so that 34 and 22 bits are enough."
    ),
    charitable=(
        "If m in equation (7) is read as N/2, t is 34 and 22. No reading that we know makes the formula hold at ε = 10."
    ),
    test=f"{_TESTS}::test_beyond_one_the_formula_promises_too_much",
)
BINOMIAL = Theorem(
    id="agarwal-2018.1",
    title="The Binomial mechanism",
    statement=(
        "The noise is (Z − Np)s' with 1/s' an integer and Z ~ Bin(N, p)^d. Let v = N p(1 − p) ≥ max(23 "
        "log(10d/δ), 2Δ∞/s'). For ε ≤ 1 the guarantee has three terms: ε = (1/s') [Δ₂ √(2 log(1.25/δ))/√v + "
        "(Δ₂ c √log(10/δ) + Δ₁ b)/(v (1 − δ/10)) + Δ∞ (2/3 log(1.25/δ) + d_p log(20d/δ) log(10/δ))/v]. Here b "
        "= 2/3 (p² + (1−p)²) + 1 − 2p and d_p = 4/3 (p² + (1−p)²). The factor is c = √2 (3p³ + 3(1−p)³ + 2p² + "
        "2(1−p)²). At p = 1/2 b, c and d_p are 1/3, 7√2/4 and 2/3"
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


def epsilon_of_trials(inputs: TrialsInputs) -> Outputs:
    """Compute the ε of binomial noise with a given number of trials at the target δ, and the bits of a coordinate.

    Args:
        inputs: sensitivities, the noise of one trial, δ, and the number of trials.

    Returns:
        `epsilon` in nats, and `bits_per_coordinate`.
    """
    levels = inputs.quantization_levels * inputs.trials_per_step
    return {
        "epsilon": binomial_epsilon(inputs, inputs.trials),
        "bits_per_coordinate": binomial_bits(levels, inputs.trials),
    }


GIVEN = Theorem(
    id="agarwal-2018.1-epsilon",
    title="The Binomial mechanism at given noise",
    statement="The noise of N trials, as in agarwal-2018.1, is (ε, δ)-private with the ε of that theorem's formula",
    source=Source("agarwal2018cpsgd", "Theorem 1"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "variance",
            "the variance N p(1 − p) of N trials is at least max(23 log(10d/δ), 2Δ∞/s'), for d coordinates of step s'",
            lambda inputs: Sides.at_least(inputs.trial_variance * inputs.trials, least_variance(inputs)),
        ),
        Condition(
            "epsilon-at-most-one",
            "the resulting ε is at most 1",
            lambda inputs: Sides.at_most(binomial_epsilon(inputs, inputs.trials), PROVED_EPSILON),
        ),
    ),
    errata=(D_15,),
    inputs=TrialsInputs,
    formula=epsilon_of_trials,
    examples=({**BINOMIAL.examples[0], "trials": 10**9},),
)

THEOREMS: tuple[Theorem, ...] = (BINOMIAL, GIVEN)
