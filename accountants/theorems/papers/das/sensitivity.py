"""Sensitivities of rounded unit updates, in grid steps.

A coordinate u in [−1, 1] becomes an integer, ⌊su⌋ or ⌊su⌋ + 1, with mean su. If both neighbours are rounded with the
same uniform number, the integers differ by the floor or the ceiling of s|u − u'|. Independent rounding is not worse,
because E_ε is jointly convex (errata, D-3).
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
"""Relative margin above the rounding error of a bound."""


class Movement(NamedTuple):
    """Bounds on the distances of the integers of two neighbours, in grid steps.

    They hold except for an event of probability e^`log_failure` over the rounding.
    """

    l1: float
    linf: float
    l2: float | None = None
    log_failure: float = -math.inf


def trivial_bounds(dimension: int, levels: int) -> Movement:
    """Return the sensitivities Δ₁ = 2ds and Δ∞ = 2s, valid for any two points of the cube [−1, 1]^d."""
    return Movement(2.0 * dimension * levels, 2.0 * levels)


def relative_bounds(dimension: int, levels: int, movement: float) -> Movement:
    """Return sensitivities for unit updates at distance μ: Δ₁ = 2d + μs√d, Δ∞ = 2 + μs and Δ₂ = 2√d + μs.

    They are equations (6) and (121) of the paper.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        movement: μ, the ℓ2 distance of the unit updates. Rounding moves each of the two by at most one step.
    """
    root, moved = math.sqrt(dimension), movement * levels
    return Movement(2.0 * dimension + moved * root, 2.0 + moved, 2.0 * root + moved)


def coupled_bounds(dimension: int, levels: int, *, l1: float, l2: float, linf: float) -> Movement:
    """Return sensitivities that hold for every outcome, if neighbours u and u' are rounded by the same random numbers.

    They are Δ∞ = ⌈s ‖u−u'‖∞⌉, Δ₁ = s ‖u−u'‖₁ + d and Δ₂ = s ‖u−u'‖₂ + √d.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        l1: ‖u−u'‖₁ of the unit updates.
        l2: ‖u−u'‖₂ of the unit updates.
        linf: ‖u−u'‖∞ of the unit updates. Its decimal form is used, so that 0.1 · 10 is 1.
    """
    return Movement(
        levels * l1 + dimension,
        math.ceil(levels * Fraction(repr(linf))),
        (levels * l2 + math.sqrt(dimension)) * _UP,
    )


def hoeffding_bounds(dimension: int, levels: int, *, l1: float, l2: float, linf: float, log_failure: float) -> Movement:
    """Return smaller sensitivities, which hold except for rounding outcomes of probability 2e^−L.

    Hoeffding's inequality is applied to the sums of K_i and of K_i², where K_i is the floor or ceiling of
    s|u_i − u'_i|. No bound exceeds that of `coupled_bounds`.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        l1: ‖u−u'‖₁ of the unit updates.
        l2: ‖u−u'‖₂ of the unit updates.
        linf: ‖u−u'‖∞ of the unit updates.
        log_failure: logarithm of the failure probability 2e^−L.
    """
    exponent = math.log(2.0) - log_failure
    scaled, square = levels * l1, (levels * l2) ** 2
    first = scaled + math.sqrt(0.5 * dimension * exponent)
    deviation = math.sqrt(0.5 * exponent * (4.0 * square + 4.0 * scaled + dimension))
    second = math.sqrt(square + min(0.25 * dimension, scaled) + deviation)
    certain = coupled_bounds(dimension, levels, l1=l1, l2=l2, linf=linf)
    assert certain.l2 is not None
    return Movement(min(first * _UP, certain.l1), certain.linf, min(second * _UP, certain.l2), log_failure)


def unit_distances(dimension: int) -> dict[str, float]:
    """Return bounds on the distances of any two unit vectors."""
    return {"l1": 2.0 * math.sqrt(dimension), "l2": 2.0, "linf": 2.0}


def unit_vector_bounds(dimension: int, levels: int) -> Movement:
    """Return Δ₁ = min(2ds, 2s√d + d), Δ∞ = 2s and Δ₂ = min(2s√d, 2s + √d), valid for any two unit vectors."""
    certain = coupled_bounds(dimension, levels, **unit_distances(dimension))
    cube = trivial_bounds(dimension, levels)
    assert certain.l2 is not None
    # No coordinate moves by more than 2s, which bounds the ℓ2 norm too.
    return Movement(min(certain.l1, cube.l1), cube.linf, min(certain.l2, cube.linf * math.sqrt(dimension)))


def movement_outputs(movement: Movement) -> Outputs:
    """Return the bounds as outputs; the ℓ2 bound is left out if there is none."""
    outputs = {"l1_sensitivity": movement.l1, "linf_sensitivity": movement.linf}
    if movement.l2 is not None:
        outputs["l2_sensitivity"] = movement.l2
    return outputs


@request
class GridInputs:
    """A grid of 1/s in d dimensions."""

    dimension: Dimension
    quantization_levels: QuantizationLevels


@request
class RelativeInputs:
    """A grid, and the ℓ2 distance μ of the unit updates on neighbouring data."""

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
    """A grid, distances of the unit updates, and the allowed probability that the rounding exceeds the bounds."""

    failure_delta: Annotated[float, FAILURE_DELTA]


def _distances(inputs: UpdateInputs) -> dict[str, float]:
    """Return the distances of the unit updates, as arguments of the bounds."""
    return {"l1": inputs.update_l1, "l2": inputs.update_l2, "linf": inputs.update_linf}


D_3 = Erratum(
    "D-3",
    grade=Grade.REFINEMENT,
    printed="2d, 2 and 2√d for rounding: each neighbour's by up to one step",
    truth=(
        "Half of it: neighbours may be taken to be rounded by the same uniform numbers. It is far less except "
        "with a small probability, added to δ"
    ),
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
    formula=lambda inputs: movement_outputs(trivial_bounds(inputs.dimension, inputs.quantization_levels)),
    examples=({"dimension": 100, "quantization_levels": 64},),
)
UNIT_VECTOR = Theorem(
    id="epsilond.unit-vector-sensitivity",
    title="Sensitivities of any two unit vectors",
    statement="‖u − u'‖₂ ≤ 2 and ‖u − u'‖₁ ≤ 2√d, so Δ₁ ≤ min(2ds, 2s√d + d), Δ∞ ≤ 2s, Δ₂ ≤ 2s + √d",
    source=Source("epsilond", "by coupled rounding"),
    status=Status.PROVED,
    inputs=GridInputs,
    formula=lambda inputs: movement_outputs(unit_vector_bounds(inputs.dimension, inputs.quantization_levels)),
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
    formula=lambda inputs: movement_outputs(
        coupled_bounds(inputs.dimension, inputs.quantization_levels, **_distances(inputs))
    ),
    examples=(_EXAMPLE,),
)


def hoeffding_sensitivities(inputs: LikelyUpdateInputs) -> Outputs:
    """Compute sensitivities of the rounded values that hold except with probability `failure_delta`."""
    movement = hoeffding_bounds(
        inputs.dimension,
        inputs.quantization_levels,
        **_distances(inputs),
        log_failure=math.log(inputs.failure_delta),
    )
    return movement_outputs(movement)


HOEFFDING = Theorem(
    id="epsilond.hoeffding-rounding",
    title="Sensitivities of rounded values, except with a small probability of the rounding",
    statement=(
        "The following holds except with probability 2e^−L, which is added to δ once a round. First, Δ₁ ≤ "
        "s‖u−u'‖₁ + √(dL/2). Second, Δ₂² ≤ s²‖u−u'‖₂² + min(d/4, s‖u−u'‖₁) + √((4s²‖u−u'‖₂² + 4s‖u−u'‖₁ + d) "
        "L/2)"
    ),
    source=Source("epsilond", "accountants/theorems/papers/das/sensitivity.py, by Hoeffding's inequality"),
    status=Status.PROVED,
    inputs=LikelyUpdateInputs,
    formula=hoeffding_sensitivities,
    examples=({**_EXAMPLE, "failure_delta": 1e-8},),
)
EQUATION_6 = Theorem(
    id="das.equation-6",
    title="Sensitivities of a relative movement of the update",
    statement="‖u − u'‖₂ ≤ μ gives Δ₁ = 2d + μs√d, Δ∞ = 2 + μs, Δ₂ = 2√d + μs. As integers they are the floors",
    source=Source("das2021", "Equations (6) and (121)"),
    status=Status.PROVED,
    errata=(D_3,),
    inputs=RelativeInputs,
    formula=lambda inputs: movement_outputs(
        relative_bounds(inputs.dimension, inputs.quantization_levels, inputs.relative_movement)
    ),
    examples=({"dimension": 328810, "quantization_levels": 64, "relative_movement": 0.1},),
)

THEOREMS: tuple[Theorem, ...] = (TRIVIAL, UNIT_VECTOR, COUPLED, HOEFFDING, EQUATION_6)
