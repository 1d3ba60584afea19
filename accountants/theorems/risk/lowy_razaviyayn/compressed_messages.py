"""Remark 2.1 of Lowy and Razaviyayn: Algorithm 1 with messages that are compressed after the noise.

Post-processing a message after its noise does not weaken its privacy. An unbiased quantiser Q satisfies E[Q(m)] = m and
E|Q(m) − m|² ≤ ω|m|². It leaves a round's gradient unbiased. A message is the mean of gradients of norm at most L, plus
noise of variance σ² per coordinate. Hence E|m|² ≤ L² + dσ². As clients quantise independently, V² grows by
ω(L² + dσ²)/M.

Stochastic rounding to s levels of |m| replaces coordinate i by |m| sign(m_i) l/s. Here l is one of the two integers
next to s|m_i|/|m|, chosen at random so that the mean is m_i. Let p be the fractional part of s|m_i|/|m|. The variance
is |m|² p(1 − p)/s². As p(1 − p) ≤ 1/4, ω ≤ d/(4s²). As p(1 − p) ≤ s|m_i|/|m|, ω ≤ Σ|m_i|/(s|m|) ≤ √d/s. The message is
|m| as a single-precision float and one of 2s + 1 values for each coordinate.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import PARTICIPANTS, Dimension, Lipschitz, NoiseStd, Quantity
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import GRADIENT_VARIANCE

LEVELS = Quantity(symbol="s", ge=1, le=2**31, description="levels of the quantiser between 0 and a message's norm")
SINGLE = 32
"""Bits of a single-precision float, in which the norm is sent."""


def compression_variance(*, dimension: int, quantization_levels: int) -> float:
    """Return a bound ω on the relative mean squared error of stochastically rounding a message.

    Stochastic rounding replaces each coordinate by one of its two neighbouring levels, at random and without bias. The
    bound is ω = min{d/(4s²), √d/s}. The first number is smaller for many levels, the second for few.

    Args:
        dimension: number d of coordinates of the message, at least 1.
        quantization_levels: number s of levels between 0 and the norm of a message, at least 1.

    Returns:
        The relative error ω > 0, without a unit.
    """
    # Rounding to one of two levels at distance |m|/s has a variance of at most |m|²/(4s²) per coordinate.
    for_many_levels = dimension / (4.0 * quantization_levels * quantization_levels)
    for_few_levels = math.sqrt(dimension) / quantization_levels
    return min(for_many_levels, for_few_levels)


def bits_per_message(*, dimension: int, quantization_levels: int) -> int:
    """Return the bits of a message: the norm in single precision, and one of 2s + 1 values for each coordinate.

    Args:
        dimension: number of coordinates.
        quantization_levels: number s of levels between 0 and the norm of a message, at least 1.
    """
    bits_per_coordinate = (2 * quantization_levels).bit_length()  # enough for the values 0 to 2s
    return SINGLE + dimension * bits_per_coordinate


@formula(given="A run of Algorithm 1 whose messages are rounded to s levels of their norm after the noise.")
def quantisation(
    *,
    participants: Annotated[float, PARTICIPANTS],
    dimension: Dimension,
    lipschitz: Lipschitz,
    noise_std: NoiseStd,
    gradient_variance: Annotated[float, GRADIENT_VARIANCE],
    quantization_levels: Annotated[int, LEVELS],
) -> Outputs:
    """Return the cost of compressing messages by stochastic rounding, and the bits of a message.

    Rounding increases the variance V² of a round's averaged gradient by ω(L² + dσ²)/M, with the relative error ω of a
    message. A bound on the risk that depends on V² may be evaluated at the increased V².

    Args:
        participants: number M of participants.
        dimension: number d of coordinates.
        lipschitz: root mean square over clients of the Lipschitz constants of the weighted losses.
        noise_std: root mean square over clients of the noise per coordinate.
        gradient_variance: V² without compression.
        quantization_levels: levels s between 0 and the norm of a message.

    Returns:
        `compression_variance`: the bound ω on the relative variance of the compression.
        `added_variance`, `compressed_gradient_variance`: the increase of V², and the increased V².
        `bits_per_message`, `bits_per_coordinate`: the bits of a message, in all and per coordinate.
        `uncompressed_bits_per_message`: the bits of a message of single-precision floats.
    """
    relative_error = compression_variance(dimension=dimension, quantization_levels=quantization_levels)  # ω
    squared_message = lipschitz * lipschitz + dimension * noise_std * noise_std  # bound on the mean square of a message
    added_variance = relative_error * squared_message / participants
    bits = bits_per_message(dimension=dimension, quantization_levels=quantization_levels)
    return {
        "compression_variance": relative_error,
        "added_variance": added_variance,
        "compressed_gradient_variance": gradient_variance + added_variance,
        "bits_per_message": bits,
        "bits_per_coordinate": bits / dimension,
        "uncompressed_bits_per_message": SINGLE * dimension,
    }


REMARK_2_1 = Theorem(
    id="lowy.remark-2.1",
    title="Compressed messages cost no privacy, and a known variance",
    statement=(
        "Compressing messages after their noise keeps the guarantee. Stochastic rounding to s levels of a message's "
        "norm increases the variance V² of a round's gradient by at most min{d/(4s²), √d/s}(L² + dσ²)/M. A message "
        "then has 32 + d⌈log₂(2s + 1)⌉ bits"
    ),
    source=Source("lowy2023", "Remark 2.1; the quantiser and its constants are worked out here"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "after-the-noise",
            "messages are compressed after their noise is added, and the compression has randomness of its own",
        ),
        Condition(
            "independent-rounding",
            (
                "clients round independently of each other, and the expectation of a rounded message is the message "
                "itself"
            ),
        ),
        Condition(
            "exact-norm",
            "the norm that is sent is the norm that was used for rounding (single precision errs by 6e-8 of it)",
        ),
    ),
    formula=quantisation,
    examples=(
        {
            "participants": 20,
            "dimension": 1000,
            "lipschitz": 1.0,
            "noise_std": 0.1,
            "gradient_variance": 0.6,
            "quantization_levels": 16,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (REMARK_2_1,)
