"""The constant γ of Theorem 2 of Das et al.: the mean squared error of a rounded and noisy unit update."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.truncated_laplace import variance
from epsilond.accountants.quantities import Dimension, NoiseLevels
from epsilond.accountants.quantities.algorithms import FLAT_DECAY_RATE, QuantizationLevels
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.das.noise_law import update_error

_TESTS = "tests/theorems/risk/das/test_compression.py"


@formula(given="A unit update of d coordinates on a grid of 1/s, with noise of m levels; α absent is 0, the worst.")
def compression(
    *,
    dimension: Dimension,
    quantization_levels: QuantizationLevels,
    noise_levels: NoiseLevels,
    decay_rate: Annotated[float | None, FLAT_DECAY_RATE] = None,
) -> Outputs:
    """Return two bounds on the mean squared error of a unit vector after random rounding and integer noise.

    A client scales its update to norm 1, and rounds each coordinate at random to a grid of spacing 1/s. It then adds
    integer noise of at most m steps of the grid. The bound γ of Das et al. replaces the noise variance, in squared
    steps, by its upper bound m². The sharper bound has the true variance.

    Args:
        dimension: number d of coordinates.
        quantization_levels: levels s; the grid has spacing 1/s.
        noise_levels: largest absolute value m of the noise, in steps of the grid.
        decay_rate: decay rate α of the noise; if absent 0, the largest variance.

    Returns:
        `compression`: the bound d(1 + 4m²)/(4s²) of Das et al.
        `least_compression`: the sharper bound d/(4s²) + dV, for the variance V of a coordinate's noise at this α.
        `rounding_term`, `noise_term`: the two terms of the sharper bound.
        All are relative to the squared norm of the update.
    """
    # Random rounding to a grid of spacing 1/s has a variance of at most 1/(4s²) per coordinate.
    squared_levels = quantization_levels * quantization_levels
    variance_in_steps = variance(decay_rate or 0.0, noise_levels)
    printed_error = dimension * (1 + 4 * noise_levels * noise_levels) / (4 * squared_levels)
    sharper_error = update_error(
        dimension=dimension, quantization_levels=quantization_levels, variance_in_steps=variance_in_steps
    )
    return {
        "compression": printed_error,
        "least_compression": sharper_error,
        "rounding_term": dimension / (4 * squared_levels),
        "noise_term": dimension * variance_in_steps / squared_levels,
    }


COMPRESSION = Theorem(
    id="das.2-compression",
    title="The mean squared error of a message",
    statement=(
        "The message M(u) of a unit update u has E‖M(u) − u‖² ≤ γ = (d/(4s²))(1 + 4m²). Here d is the "
        "dimension, s the number of grid steps and m the largest number of noise levels of a client. A "
        "sharper bound is d/(4s²) + dV(m, α), with the variance V of the noise at the decay rate α."
    ),
    source=Source("das2021", "Theorem 2, the definition of γ"),
    status=Status.PROVED,
    conditions=(Condition("unit-update", "the update is a unit vector, rounded as Algorithm 1 rounds"),),
    errata=(
        Erratum(
            "D-6",
            grade=Grade.REFINEMENT,
            place="Theorem 2, the definition of γ, and Appendix C after (27)",
            printed=(
                "The paper's bound γ on the mean squared error of a message uses V ≤ m²/s². Here V is the "
                "variance of noise with levels up to m on a grid of step 1/s."
            ),
            truth=(
                "The variance has V ≤ m(m + 1)/(3s²). The printed γ is therefore up to three times too "
                "large even for uniform noise."
            ),
            charitable="The printed γ is a valid upper bound.",
            test=f"{_TESTS}::test_the_printed_compression_is_up_to_three_times_too_large",
        ),
    ),
    formula=compression,
    examples=({"dimension": 100, "quantization_levels": 64, "noise_levels": 9, "decay_rate": 0.1},),
)

THEOREMS: tuple[Theorem, ...] = (COMPRESSION,)
