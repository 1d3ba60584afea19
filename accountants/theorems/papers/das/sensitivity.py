"""How far two neighbours' rounded unit updates are apart, in grid steps: what the noise has to hide.

A coordinate u in [−1, 1] becomes an integer, ⌊su⌋ or one more, so that it is su in the mean. With one uniform number
for both neighbours, integers differ by the floor or the ceiling of s|u − u'|; rounding that does not know the other
neighbour cannot be worse, as E_ε is jointly convex (errata, D-3).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, NamedTuple

from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import Dimension, request
from epsilond.accountants.quantities.algorithms import (
    FAILURE_DELTA,
    RELATIVE_MOVEMENT,
    UPDATE_L1,
    UPDATE_L2,
    UPDATE_LINF,
    QuantizationLevels,
)
from epsilond.accountants.theorem import Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/theorems/papers/das/test_sensitivity.py"
_UP = 1.0 + 8.0 * UNIT_ROUNDOFF


class Movement(NamedTuple):
    """Distances of integers, in grid steps, but for an event of probability e^`log_failure` of the rounding."""

    l1: float
    linf: float
    l2: float | None = None
    log_failure: float = -math.inf


def trivial(dimension: int, levels: int) -> Movement:
    """2ds and 2s: any two points of the cube."""
    return Movement(2.0 * dimension * levels, 2.0 * levels)


def relative(dimension: int, levels: int, movement: float) -> Movement:
    """Equation (6): both neighbours rounded by up to one step each, 2 in all."""
    root, moved = math.sqrt(dimension), movement * levels
    return Movement(2.0 * dimension + moved * root, 2.0 + moved, 2.0 * root + moved)


def coupled(dimension: int, levels: int, *, l1: float, l2: float, linf: float) -> Movement:
    """⌈s ‖u−u'‖∞⌉, s ‖u−u'‖₁ + d and s ‖u−u'‖₂ + √d: certain, whatever the rounding does."""
    return Movement(
        levels * l1 + dimension,
        math.ceil(levels * Fraction(repr(linf))),
        (levels * l2 + math.sqrt(dimension)) * _UP,
    )


def hoeffding(dimension: int, levels: int, *, l1: float, l2: float, linf: float, log_failure: float) -> Movement:
    """As `coupled`, but for rounding outcomes of probability 2e^−L: Hoeffding's inequality for the sums of K and K²."""
    exponent = math.log(2.0) - log_failure
    scaled, square = levels * l1, (levels * l2) ** 2
    first = scaled + math.sqrt(0.5 * dimension * exponent)
    spread = math.sqrt(0.5 * exponent * (4.0 * square + 4.0 * scaled + dimension))
    second = math.sqrt(square + min(0.25 * dimension, scaled) + spread)
    certain = coupled(dimension, levels, l1=l1, l2=l2, linf=linf)
    assert certain.l2 is not None
    return Movement(min(first * _UP, certain.l1), certain.linf, min(second * _UP, certain.l2), log_failure)


def unit_distances(dimension: int) -> dict[str, float]:
    """Distances of any two unit vectors."""
    return {"l1": 2.0 * math.sqrt(dimension), "l2": 2.0, "linf": 2.0}


def unit_vector(dimension: int, levels: int) -> Movement:
    """min(2ds, 2s√d + d), 2s and 2s + √d: any two unit vectors, coupled."""
    certain, cube = coupled(dimension, levels, **unit_distances(dimension)), trivial(dimension, levels)
    assert certain.l2 is not None
    # No coordinate moves by more than 2s, which bounds the ℓ2 norm too.
    return Movement(min(certain.l1, cube.l1), cube.linf, min(certain.l2, cube.linf * math.sqrt(dimension)))


def outputs_of(movement: Movement) -> Outputs:
    """The distances that are known."""
    return {
        "l1_sensitivity": movement.l1,
        "linf_sensitivity": movement.linf,
        **({} if movement.l2 is None else {"l2_sensitivity": movement.l2}),
    }


@request
class GridInputs:
    """A grid of 1/s in d dimensions."""

    dimension: Dimension
    quantization_levels: QuantizationLevels


@request
class RelativeInputs:
    """A grid, and how far the unit update moves."""

    dimension: Dimension
    quantization_levels: QuantizationLevels
    relative_movement: Annotated[float, RELATIVE_MOVEMENT]


@request
class UpdateInputs:
    """A grid, and distances of the unit updates on neighbouring data, in real units."""

    dimension: Dimension
    quantization_levels: QuantizationLevels
    update_l1: Annotated[float, UPDATE_L1]
    update_l2: Annotated[float, UPDATE_L2]
    update_linf: Annotated[float, UPDATE_LINF]


@request
class LikelyUpdateInputs(UpdateInputs):
    """The same, and how likely the rounding may break the bounds."""

    failure_delta: Annotated[float, FAILURE_DELTA]


def _distances(inputs: UpdateInputs) -> dict[str, float]:
    return {"l1": inputs.update_l1, "l2": inputs.update_l2, "linf": inputs.update_linf}


D_3 = Erratum(
    "D-3",
    grade=Grade.REFINEMENT,
    printed="2d, 2 and 2√d for rounding: each neighbour's by up to one step",
    truth="half of it: neighbours may be taken to be rounded by the same uniform numbers; far less but for a small δ",
    test=f"{_TESTS}::test_rounding_together_is_never_better_for_the_observer",
)
_EXAMPLE: Fields = {
    "dimension": 2210410,
    "quantization_levels": 512,
    "update_l1": 148.67,
    "update_l2": 0.1,
    "update_linf": 0.1,
}

TRIVIAL = Theorem(
    id="das.definition-1",
    title="Sensitivities of any two updates",
    statement="Integers of the cube are within Δ∞ = 2s and Δ₁ = 2ds",
    source=Source("das2021", "Definition 1"),
    status=Status.PROVED,
    inputs=GridInputs,
    formula=lambda inputs: outputs_of(trivial(inputs.dimension, inputs.quantization_levels)),
    examples=({"dimension": 100, "quantization_levels": 64},),
)
UNIT_VECTOR = Theorem(
    id="epsilond.unit-vector-sensitivity",
    title="Sensitivities of any two unit vectors",
    statement="‖u − u'‖₂ ≤ 2 and ‖u − u'‖₁ ≤ 2√d, so Δ₁ ≤ min(2ds, 2s√d + d), Δ∞ ≤ 2s, Δ₂ ≤ 2s + √d",
    source=Source("epsilond", "by coupled rounding"),
    status=Status.PROVED,
    inputs=GridInputs,
    formula=lambda inputs: outputs_of(unit_vector(inputs.dimension, inputs.quantization_levels)),
    examples=({"dimension": 100, "quantization_levels": 64},),
)
COUPLED = Theorem(
    id="epsilond.coupled-rounding",
    title="Sensitivities of rounded values, both neighbours rounded together",
    statement=(
        "E_ε(M(u)‖M(u')) ≤ E_K E_ε(K), K_i the floor or ceiling of s|u_i − u'_i|: joint convexity along "
        "Q = ⌊su + U⌋/s. So Δ∞ = ⌈s‖u−u'‖∞⌉, Δ₁ = s‖u−u'‖₁ + d, Δ₂ = s‖u−u'‖₂ + √d"
    ),
    source=Source("epsilond", "accountants/theorems/papers/das/sensitivity.py"),
    status=Status.PROVED,
    inputs=UpdateInputs,
    formula=lambda inputs: outputs_of(coupled(inputs.dimension, inputs.quantization_levels, **_distances(inputs))),
    examples=(_EXAMPLE,),
)


def likely(inputs: LikelyUpdateInputs) -> Outputs:
    """The bounds that hold but for `failure_delta`."""
    found = hoeffding(
        inputs.dimension,
        inputs.quantization_levels,
        **_distances(inputs),
        log_failure=math.log(inputs.failure_delta),
    )
    return outputs_of(found)


HOEFFDING = Theorem(
    id="epsilond.hoeffding-rounding",
    title="Sensitivities of rounded values, but for a small probability of the rounding",
    statement=(
        "But for probability 2e^−L: Δ₁ ≤ s‖u−u'‖₁ + √(dL/2), Δ₂² ≤ s²‖u−u'‖₂² + min(d/4, s‖u−u'‖₁) + "
        "√((4s²‖u−u'‖₂² + 4s‖u−u'‖₁ + d) L/2); it is added to δ, once a round"
    ),
    source=Source("epsilond", "accountants/theorems/papers/das/sensitivity.py, by Hoeffding's inequality"),
    status=Status.PROVED,
    inputs=LikelyUpdateInputs,
    formula=likely,
    examples=({**_EXAMPLE, "failure_delta": 1e-8},),
)
EQUATION_6 = Theorem(
    id="das.equation-6",
    title="Sensitivities of a relative movement of the update",
    statement="‖u − u'‖₂ ≤ μ gives Δ₁ = 2d + μs√d, Δ∞ = 2 + μs, Δ₂ = 2√d + μs; as integers they are the floors",
    source=Source("das2021", "Equations (6) and (121)"),
    status=Status.PROVED,
    errata=(D_3,),
    inputs=RelativeInputs,
    formula=lambda inputs: outputs_of(relative(inputs.dimension, inputs.quantization_levels, inputs.relative_movement)),
    examples=({"dimension": 328810, "quantization_levels": 64, "relative_movement": 0.1},),
)

THEOREMS: tuple[Theorem, ...] = (TRIVIAL, UNIT_VECTOR, COUPLED, HOEFFDING, EQUATION_6)
