"""Das et al.: the distribution of the noise, its variance, and the bits of a noisy coordinate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.truncated_laplace import (
    bits_per_coordinate,
    cumulative,
    extra_bits,
    log_top,
    normaliser,
    probability,
    variance,
)
from epsilond.accountants.quantities import (
    Dimension,
    NoiseLevels,
    Participants,
    SamplesPerClient,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import SHIFT, VALUE, FlatDecayRate, GrowthRatio, QuantizationLevels
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_noise_law.py"


@formula(given="One coordinate of noise, a value y, and a shift k.", bounded=False)
def noise_distribution(
    *,
    noise_levels: NoiseLevels,
    decay_rate: FlatDecayRate,
    value: Annotated[int, VALUE] = 0,
    shift: Annotated[int, SHIFT] = 1,
) -> Outputs:
    """Compute probabilities of one coordinate Y of truncated discrete Laplace noise.

    Args:
        noise_levels: m, the largest absolute value of Y.
        decay_rate: α of P(Y = y) ∝ e^(−α|y|).
        value: a value y of the noise.
        shift: shift k, in grid steps.

    Returns:
        `normaliser`: Z = Σ e^(−α|y|) over all values of Y.
        `probability` and `cumulative`: P(Y = y) and P(Y ≤ y).
        `escape`: probability that Y + k exceeds m, the largest value of Y.
    """
    return {
        "normaliser": float(normaliser(decay_rate, noise_levels)),
        "probability": float(probability(decay_rate, noise_levels, value)),
        "cumulative": float(cumulative(decay_rate, noise_levels, value)),
        **delta_outputs(float(log_top(decay_rate, noise_levels, shift)), "escape"),
    }


EQUATION_3 = Theorem(
    id="das.equation-3",
    title="The truncated discrete Laplace law",
    statement=(
        "In grid steps, the noise Y of a coordinate has P(Y = y) = e^(−α|y|)/Z for |y| ≤ m. Here α is the "
        "decay rate and Z = 1 + 2 (1 − e^(−αm))/(e^α − 1). A shift by k escapes the common support with "
        "probability esc k = P(Y > m − k)."
    ),
    source=Source("das2021", "Equations (3) and (4)"),
    status=Status.PROVED,
    formula=noise_distribution,
    examples=({"noise_levels": 5, "decay_rate": 0.25, "value": 2, "shift": 2},),
)


def update_error(*, dimension: int, quantization_levels: int, variance_in_steps: float) -> float:
    """Compute the bound d/(4s²) + dV on the mean squared error of one message, equation (18) of Das et al.

    The first term is due to rounding to a grid of step 1/s, and the second to noise of variance V per coordinate.

    Args:
        dimension: number d of coordinates of the message, at least 1.
        quantization_levels: number s of grid steps in a unit, at least 1.
        variance_in_steps: variance s²V of the noise on a coordinate, in squared grid steps.

    Returns:
        The bound, in squared units of the update.
    """
    # In grid steps, rounding has a variance of at most 1/4 per coordinate.
    return dimension * (0.25 + variance_in_steps) / quantization_levels**2


@formula(given="A unit update on a grid of 1/s, with noise.", bounded=False)
def noise_error(
    *,
    noise_levels: NoiseLevels,
    decay_rate: FlatDecayRate,
    quantization_levels: QuantizationLevels,
    dimension: Dimension = 1,
) -> Outputs:
    """Compute the variance V of truncated discrete Laplace noise, and upper bounds on V and on the error of a message.

    The bounds on V are the variance of uniform noise, m(m + 1)/(3s²), and Popoviciu's m²/s².

    Args:
        noise_levels: largest absolute value m of the noise, in grid steps.
        decay_rate: decay α of P(Y = y) ∝ e^(−α|y|), per grid step.
        quantization_levels: grid steps s in a unit of the update; V is in squared units.
        dimension: number d of coordinates.

    Returns:
        `variance`: V.
        `uniform_bound` and `popoviciu_bound`: the two bounds on V.
        `mean_squared_error`: the bound d/(4s²) + dV on the mean squared error by rounding and noise.
    """
    squared_levels = quantization_levels**2
    variance_in_steps = variance(decay_rate, noise_levels)  # s²V
    error = update_error(
        dimension=dimension, quantization_levels=quantization_levels, variance_in_steps=variance_in_steps
    )
    return {
        "variance": variance_in_steps / squared_levels,
        "uniform_bound": noise_levels * (noise_levels + 1) / (3 * squared_levels),
        "popoviciu_bound": noise_levels * noise_levels / squared_levels,
        "mean_squared_error": error,
    }


LEMMA_1 = Theorem(
    id="das.lemma-1",
    title="Variance of the noise, and the mean squared error of a message",
    statement=(
        "On a grid of step 1/s, noise with levels up to m and decay rate α has a variance V in closed form. "
        "With x = e^−α it is 2x (1 + x − x^m (m(1 − x) + 1)² − x^(m+1))/(s² (1 − x)² ((1 − x) + 2x (1 − "
        "x^m))). V is at most m(m + 1)/(3s²). The message M(u) of a unit vector u in d dimensions has E‖M(u) "
        "− u‖² ≤ d/(4s²) + dV."
    ),
    source=Source("das2021", "Lemma 1 with (9), and the variance in Theorem 1, (18)"),
    status=Status.PROVED,
    errata=(
        Erratum(
            "D-6",
            grade=Grade.REFINEMENT,
            place="Lemma 1, and the end of Appendix A",
            printed=(
                "The paper states V ≤ m²/s² by Popoviciu's inequality. Here V is the variance of noise "
                "with levels up to m on a grid of step 1/s."
            ),
            truth=(
                "The variance V falls as the decay rate α rises. Its value m(m + 1)/(3s²) at α = 0 is "
                "therefore always a better bound."
            ),
            charitable="The printed bound holds as it stands.",
            test=f"{_TESTS}::test_the_variance_is_below_that_of_uniform_noise",
        ),
    ),
    formula=noise_error,
    examples=({"noise_levels": 5, "decay_rate": 0.25, "quantization_levels": 4},),
)


@request
class BitsInputs:
    """A grid and noise on it."""

    quantization_levels: QuantizationLevels
    noise_levels: NoiseLevels


def bits(inputs: BitsInputs) -> Outputs:
    """Compute the bits of a noisy coordinate, ⌈log₂(2(s + m) + 1)⌉.

    A noisy coordinate is an integer from −(s + m) to s + m.

    Args:
        inputs: number s of grid steps in a unit, and number m of noise levels.

    Returns:
        `bits_per_coordinate`, an integer.
    """
    return {"bits_per_coordinate": bits_per_coordinate(inputs.quantization_levels, inputs.noise_levels)}


EQUATION_7 = Theorem(
    id="das.equation-7",
    title="Bits of a noisy coordinate",
    statement=(
        "With s grid steps and m noise levels, a noisy coordinate has values in {−(s + m), …, s + m}. They "
        "take t = ⌈log₂(2(s + m) + 1)⌉ bits."
    ),
    source=Source("das2021", "Equation (7)"),
    status=Status.PROVED,
    inputs=BitsInputs,
    formula=bits,
    examples=({"quantization_levels": 64, "noise_levels": 9},),
)


def added_bits(inputs: BitsInputs) -> Outputs:
    """Compute the number of bits that noise adds to a coordinate, and the paper's bound ⌈log₂(1 + m/s)⌉ on it.

    Args:
        inputs: number s of grid steps in a unit, and largest value m of the noise in grid steps.

    Returns:
        `extra_bits`: the number of additional bits.
        `extra_bits_bound`: the bound.
    """
    grid_steps, noise_levels = inputs.quantization_levels, inputs.noise_levels
    ratio = math.ceil(Fraction(grid_steps + noise_levels, grid_steps))  # ⌈1 + m/s⌉, exactly
    bound = (ratio - 1).bit_length()  # ⌈log₂ ratio⌉
    return {"extra_bits_bound": bound, "extra_bits": extra_bits(grid_steps, noise_levels)}


APPENDIX_F = Theorem(
    id="das.appendix-f",
    title="Bits that the noise adds",
    statement="With s grid steps and m noise levels, the noise adds at most ⌈log₂(1 + m/s)⌉ bits to a coordinate.",
    source=Source("das2021", "Appendix F"),
    status=Status.PROVED,
    errata=(
        Erratum(
            "D-7",
            grade=Grade.UNCLEAR,
            place="Appendix F (proof of Corollary 3.1)",
            printed=(
                "For the 2s + 1 levels of the grid the paper counts one sign bit and log₂ s bits. With m "
                "noise levels it counts one and log₂(m + s). It states the rounded difference ⌈log₂(1 + "
                "m/s)⌉ as the extra bits."
            ),
            truth=(
                "The levels take up to one bit more than counted. The stated number may exceed the extra "
                "bits: at s = 2^20 and m = 105205 it does so by one."
            ),
            charitable="If ⌈log₂(1 + m/s)⌉ is read as an upper bound on the extra bits, it holds.",
            test=f"{_TESTS}::test_bits_in_integers",
        ),
    ),
    inputs=BitsInputs,
    formula=added_bits,
    examples=({"quantization_levels": 1048576, "noise_levels": 105205},),
)


@formula(given="Clients with some records each, on a grid of 1/√d or √d/r.", bounded=False)
def bits_per_round(
    *, participants: Participants, dimension: Dimension, samples_per_client: SamplesPerClient, growth_ratio: GrowthRatio
) -> Outputs:
    """Compute the bits of a round that privacy adds, with the noise of Das et al. and with the Binomial mechanism.

    A coordinate has ⌈log₂(1 + 6/√d + 50ρ/n)⌉ more bits with their noise, and ⌈log₂(1 + √d/r)⌉ with the Binomial
    mechanism. A round has rd coordinates.

    Args:
        participants: clients r of a round.
        dimension: number d of coordinates.
        samples_per_client: records n of a client.
        growth_ratio: ρ, the largest norm of a record's gradient over the norm of the mean gradient.

    Returns:
        `extra_bits_per_round`: bits of all coordinates of all clients of a round, with the noise of Das et al.
        `binomial_extra_bits_per_round`: the same for the Binomial mechanism.
    """
    # The number of values of a coordinate grows by these factors. Their logarithms are the additional bits.
    root_dimension = math.sqrt(dimension)
    levels_ratio = 1.0 + 6.0 / root_dimension + 50.0 * growth_ratio / samples_per_client
    binomial_levels_ratio = 1.0 + root_dimension / participants
    coordinates = participants * dimension
    return {
        "extra_bits_per_round": coordinates * math.ceil(math.log2(levels_ratio)),
        "binomial_extra_bits_per_round": coordinates * math.ceil(math.log2(binomial_levels_ratio)),
    }


CORRECT_SENSITIVITY = Condition(
    "levels-suffice",
    "the comparison of bits needs 50 ρ/n ≤ 1, with n records of a client and the growth ratio ρ of their gradients",
    lambda inputs: Sides.at_most(50.0 * inputs.growth_ratio / inputs.samples_per_client, 1.0),
)
BITS_AFTER_COROLLARY = Theorem(
    id="das.corollary-3.1-bits",
    title="Bits of privacy, compared with the Binomial mechanism",
    statement=(
        "The paper states that privacy costs at most C₁ = rd ⌈log₂(1 + 6/√d + 50ρ/n)⌉ bits a round. Here r "
        "clients of n records take part, d is the dimension and ρ the growth ratio. The Binomial mechanism is "
        "said to cost more than rd ⌈log₂(1 + √d/r)⌉ bits."
    ),
    source=Source("das2021", "after Corollary 3.1"),
    status=Status.REFUTED,
    conditions=(CORRECT_SENSITIVITY,),
    errata=(
        Erratum(
            "D-1",
            grade=Grade.PROVED_WRONG,
            place="Corollary 3.1, Appendix F, and Section 5 after the corollary",
            printed=(
                "The paper states that m < 6 + 50 ρ s/n noise levels give (ε, 2^−d) in a round. Here s is "
                "the number of grid steps, ρ the growth ratio and n the number of a client's records."
            ),
            truth="These levels give a δ next to 1 (see das.1). The certified noise takes more bits.",
            charitable=(
                "The count of bits holds for the printed m. No reading that we know makes the noise of "
                "these levels (ε, 2^−d)-private for d ≥ 3."
            ),
            test=f"{_TESTS}::test_the_bits_of_the_corollary_buy_no_privacy",
        ),
    ),
    formula=bits_per_round,
    examples=({"participants": 10, "dimension": 10000, "samples_per_client": 1000, "growth_ratio": 2.0},),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_3, LEMMA_1, EQUATION_7, APPENDIX_F, BITS_AFTER_COROLLARY)
