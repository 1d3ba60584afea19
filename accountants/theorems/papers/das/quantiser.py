"""Algorithm 1 of Das et al., line 3: stochastic rounding of one coordinate to a grid, with its exact probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Quantity
from epsilond.accountants.quantities.algorithms import QuantizationLevels
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_quantiser.py"
COORDINATE = Quantity(symbol="u", ge=-1, le=1, description="a coordinate of the unit update, taken as the double it is")


def rounding(coordinate: float, quantization_levels: int) -> tuple[int, Fraction]:
    """Compute the distribution of a coordinate u after stochastic rounding to a grid of step 1/s.

    Args:
        coordinate: u in [−1, 1].
        quantization_levels: number s of grid steps in a unit.

    Returns:
        The index b of the lower value b/s, and the exact probability 1 − (su − b) of this value. Here b = ⌊su⌋, or
        s − 1 at u = 1. Otherwise u is rounded to (b + 1)/s.
    """
    scaled = Fraction(coordinate) * quantization_levels
    below = min(math.floor(scaled), quantization_levels - 1)
    return below, 1 - (scaled - below)


@formula(given="One coordinate, and the steps of the grid.", bounded=False)
def quantiser(*, coordinate: Annotated[float, COORDINATE], quantization_levels: QuantizationLevels) -> Outputs:
    """Compute the distribution, mean and variance of a coordinate u after stochastic rounding to a grid of step 1/s.

    The values are b/s and (b + 1)/s, with b = ⌊su⌋, or s − 1 at u = 1. The upper value has the probability f = su − b.
    The variance is f(1 − f)/s², at most 1/(4s²).

    Args:
        coordinate: u in [−1, 1].
        quantization_levels: number s of grid steps in a unit.

    Returns:
        Both values with their indices and probabilities, the mean, the variance and its bound, as doubles.
    """
    level_below, probability_below = rounding(coordinate, quantization_levels)
    probability_above = 1 - probability_below  # f
    return {
        "level_below": level_below,
        "level_above": level_below + 1,
        "value_below": float(Fraction(level_below, quantization_levels)),
        "value_above": float(Fraction(level_below + 1, quantization_levels)),
        "probability_below": float(probability_below),
        "probability_above": float(probability_above),
        "mean": float((level_below + probability_above) / quantization_levels),
        "variance": float(probability_above * (1 - probability_above) / quantization_levels**2),
        "variance_bound": 0.25 / quantization_levels**2,
    }


ALGORITHM_1 = Theorem(
    id="das.algorithm-1",
    title="Stochastic rounding to a grid",
    statement=(
        "On a grid of step 1/s, the coordinate u ∈ [−1, 1] becomes b/s with probability 1 − (su − b), and "
        "otherwise (b + 1)/s. Here b = ⌊su⌋ (s − 1 at u = 1). The rounding is unbiased. With f = su − b its "
        "variance is f(1 − f)/s² ≤ 1/(4s²)."
    ),
    source=Source("das2021", "Algorithm 1, line 3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "unit-update", "u is a coordinate of a unit vector, or of the zero vector if the client has not moved"
        ),
        Condition(
            "exact-coins", "the choice between the two levels has exactly the stated probability, not a rounded one"
        ),
    ),
    errata=(
        Erratum(
            "D-14",
            grade=Grade.UNCLEAR,
            place="Algorithm 2, line 9",
            printed=(
                "Every client sends the rounded and noisy unit vector u = (w_k − w_{k,E})/‖w_k − "
                "w_{k,E}‖. Here w_k is the model of round k and w_{k,E} the client's model after its E "
                "steps."
            ),
            truth=(
                "The vector u is not defined for a client that has not moved. In our reading such a "
                "client sends the rounding of 0. The vector 0 is at distance 1 from every unit vector and "
                "so within the sensitivities of unit vectors."
            ),
            charitable=(
                "If every client moves, the line is well defined. If one does not move, the line holds "
                "with u = 0 for it."
            ),
            test=f"{_TESTS}::test_a_client_that_has_not_moved_is_within_the_sensitivities",
        ),
    ),
    formula=quantiser,
    examples=({"coordinate": 0.3, "quantization_levels": 8}, {"coordinate": 1.0, "quantization_levels": 8}),
)

THEOREMS: tuple[Theorem, ...] = (ALGORITHM_1,)
