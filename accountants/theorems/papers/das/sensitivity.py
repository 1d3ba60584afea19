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
    """Bounds on the distances between a client's rounded updates on two neighbouring data sets.

    A rounded update is a vector of integers, and distances are in grid steps.

    Attributes:
        l1: bound on the ℓ1 distance.
        linf: bound on the ℓ∞ distance.
        l2: bound on the ℓ2 distance; None if there is none.
        log_failure: log of the probability, over the rounding, that a bound fails; −∞ if they always hold.
    """

    l1: float
    linf: float
    l2: float | None = None
    log_failure: float = -math.inf


def trivial_bounds(dimension: int, levels: int) -> Movement:
    """Return the sensitivities of rounded updates that are valid for any two points of the cube [−1, 1]^d.

    They are Δ₁ = 2ds and Δ∞ = 2s, because every coordinate moves by at most 2.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.

    Returns:
        The bounds in grid steps, without an ℓ2 bound.
    """
    return Movement(2.0 * dimension * levels, 2.0 * levels)


def relative_bounds(dimension: int, levels: int, movement: float) -> Movement:
    """Return the sensitivities of rounded updates, if neighbouring unit updates have the ℓ2 distance μ.

    Rounding to a grid of s steps in a unit moves each of the two updates by at most one step per coordinate. Hence, by
    equations (6) and (121) of Das et al., the ℓ1, ℓ∞ and ℓ2 sensitivities are:

        Δ₁ = 2d + μs√d,  Δ∞ = 2 + μs,  Δ₂ = 2√d + μs.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        movement: μ, the ℓ2 distance of the unit updates.

    Returns:
        The bounds in grid steps, which hold for every outcome of the rounding.
    """
    root_dimension = math.sqrt(dimension)
    scaled_movement = movement * levels
    return Movement(
        l1=2.0 * dimension + scaled_movement * root_dimension,
        linf=2.0 + scaled_movement,
        l2=2.0 * root_dimension + scaled_movement,
    )


def rounded_bounds(dimension: int, levels: int, *, l1: float, l2: float, linf: float) -> Movement:
    """Return the sensitivities of rounded updates, if neighbouring unit updates u and u' have the given distances.

    Both updates may be rounded independently to a grid of s steps in a unit. By equations (90) and (118) of Das et al.,
    the sensitivities are:

        Δ₁ = s ‖u−u'‖₁ + 2d,  Δ∞ = s ‖u−u'‖∞ + 2,  Δ₂ = s ‖u−u'‖₂ + 2√d.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        l1: ‖u−u'‖₁ of the unit updates.
        l2: ‖u−u'‖₂ of the unit updates.
        linf: ‖u−u'‖∞ of the unit updates.

    Returns:
        The bounds in grid steps, which hold for every outcome of the rounding.
    """
    return Movement(
        l1=levels * l1 + 2.0 * dimension,
        linf=levels * linf + 2.0,
        l2=levels * l2 + 2.0 * math.sqrt(dimension),
    )


def coupled_bounds(dimension: int, levels: int, *, l1: float, l2: float, linf: float) -> Movement:
    """Return the largest distances of two randomly rounded updates, in three norms and for every outcome.

    Neighbouring updates u and u' are rounded to a grid of s steps in a unit, by the same random numbers. A coordinate
    of the difference is then less than one step from its value before rounding, so that the distances are at most:

        Δ∞ = ⌈s ‖u−u'‖∞⌉,  Δ₁ = s ‖u−u'‖₁ + d,  Δ₂ = s ‖u−u'‖₂ + √d.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        l1: ‖u−u'‖₁ of the unit updates.
        l2: ‖u−u'‖₂ of the unit updates.
        linf: ‖u−u'‖∞ of the unit updates. Its decimal form is used, so that 0.1 · 10 is 1.

    Returns:
        The three bounds in grid steps. The ℓ2 bound includes a margin for rounding errors.
    """
    return Movement(
        l1=levels * l1 + dimension,
        linf=math.ceil(levels * Fraction(repr(linf))),
        l2=(levels * l2 + math.sqrt(dimension)) * _UP,
    )


def hoeffding_bounds(dimension: int, levels: int, *, l1: float, l2: float, linf: float, log_failure: float) -> Movement:
    """Compute smaller sensitivities of rounded updates, which hold except with probability 2e^−L over the rounding.

    Neighbouring updates u and u' are rounded at random to a grid of s steps in a unit, by the same random numbers. The
    change K_i of coordinate i is then the floor or ceiling of s|u_i − u'_i|. Let S₁ = s ‖u−u'‖₁ and S₂ = s ‖u−u'‖₂ in
    d coordinates. Hoeffding's inequality for the sums of K_i and of K_i² gives the ℓ1 and ℓ2 sensitivities:

        Δ₁ = S₁ + √(dL/2),
        Δ₂² = S₂² + min{d/4, S₁} + √(L(4S₂² + 4S₁ + d)/2).

    Each sensitivity is the smaller of this number and the one of `coupled_bounds`, which holds with certainty.

    Args:
        dimension: number d of coordinates.
        levels: grid steps s in a unit.
        l1: ‖u−u'‖₁ of the unit updates.
        l2: ‖u−u'‖₂ of the unit updates.
        linf: ‖u−u'‖∞ of the unit updates.
        log_failure: logarithm of the failure probability 2e^−L.

    Returns:
        The ℓ1, ℓ2 and ℓ∞ sensitivities in grid steps, with the failure probability.
    """
    exponent = math.log(2.0) - log_failure  # L
    scaled_l1 = levels * l1  # S₁
    squared_l2 = (levels * l2) ** 2  # S₂²

    hoeffding_l1 = (scaled_l1 + math.sqrt(0.5 * dimension * exponent)) * _UP
    mean_excess = min(0.25 * dimension, scaled_l1)
    deviation = math.sqrt(0.5 * exponent * (4.0 * squared_l2 + 4.0 * scaled_l1 + dimension))
    hoeffding_l2 = math.sqrt(squared_l2 + mean_excess + deviation) * _UP

    certain_bounds = coupled_bounds(dimension, levels, l1=l1, l2=l2, linf=linf)
    assert certain_bounds.l2 is not None  # `coupled_bounds` always has an ℓ2 bound
    return Movement(
        l1=min(hoeffding_l1, certain_bounds.l1),
        linf=certain_bounds.linf,
        l2=min(hoeffding_l2, certain_bounds.l2),
        log_failure=log_failure,
    )


def unit_distances(dimension: int) -> dict[str, float]:
    """Return upper bounds on the ℓ1, ℓ2 and ℓ∞ distances of any two unit vectors."""
    return {"l1": 2.0 * math.sqrt(dimension), "l2": 2.0, "linf": 2.0}


def unit_vector_bounds(dimension: int, levels: int) -> Movement:
    """Bound the distances of any two unit vectors after rounding by the same random numbers, in three norms.

    In grid steps they are:

        Δ₁ = min(2ds, 2s√d + d),  Δ∞ = 2s,  Δ₂ = min(2s√d, 2s + √d).

    In each minimum, the first number is the diameter of the cube [−1, 1]^d. The second is that of the unit ball, with
    the rounding added.

    Args:
        dimension: number d of coordinates, at least 1.
        levels: number s of grid steps in a unit, at least 1.

    Returns:
        The bounds, which hold for every outcome of the rounding.
    """
    certain = coupled_bounds(dimension, levels, **unit_distances(dimension))
    cube = trivial_bounds(dimension, levels)
    assert certain.l2 is not None  # `coupled_bounds` always has an ℓ2 bound
    l2_of_cube = cube.linf * math.sqrt(dimension)  # no coordinate moves by more than 2s
    return Movement(l1=min(certain.l1, cube.l1), linf=cube.linf, l2=min(certain.l2, l2_of_cube))


def movement_outputs(movement: Movement) -> Outputs:
    """Return bounds on the distances as named outputs; the ℓ2 bound is left out if there is none."""
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
    place="Appendix E (proof of Theorem 3), before (88), and Appendix H, (118)",
    printed=(
        "The paper adds 2d, 2 and 2√d grid steps for rounding to the ℓ1, ℓ∞ and ℓ2 sensitivities in d "
        "dimensions. Rounding moves each neighbour's coordinate by up to one step."
    ),
    truth=(
        "Half of each term suffices, because the same uniform numbers may be taken to round both "
        "neighbours. The terms are far smaller except with a small probability, which is added to δ."
    ),
    charitable="The printed bounds hold as they stand.",
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
    statement=(
        "Any two updates in the cube [−1, 1]^d, rounded to a grid of step 1/s, are within Δ∞ = 2s and Δ₁ = "
        "2ds grid steps."
    ),
    source=Source("das2021", "Definition 1"),
    status=Status.PROVED,
    inputs=GridInputs,
    formula=lambda inputs: movement_outputs(trivial_bounds(inputs.dimension, inputs.quantization_levels)),
    examples=({"dimension": 100, "quantization_levels": 64},),
)
UNIT_VECTOR = Theorem(
    id="epsilond.unit-vector-sensitivity",
    title="Sensitivities of any two unit vectors",
    statement=(
        "Any two unit vectors in d dimensions have ‖u − u'‖₂ ≤ 2 and ‖u − u'‖₁ ≤ 2√d. Rounded to a grid of "
        "step 1/s, they have Δ₁ ≤ min(2ds, 2s√d + d), Δ∞ ≤ 2s and Δ₂ ≤ 2s + √d in grid steps."
    ),
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
        "Neighbours u and u' may be taken to be rounded by the same uniform numbers U, to ⌊su + U⌋/s. By "
        "joint convexity E_ε(M(u)‖M(u')) is then at most the mean over K of E_ε for a shift by K. Each K_i is "
        "the floor or the ceiling of s|u_i − u'_i|. Hence Δ∞ = ⌈s‖u−u'‖∞⌉, Δ₁ = s‖u−u'‖₁ + d and Δ₂ = "
        "s‖u−u'‖₂ + √d in grid steps."
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
    """Compute sensitivities that hold except with probability `failure_delta` over the rounding.

    They are smaller than the certain ones, because rounding errors of many coordinates average out (Hoeffding's
    inequality).

    Args:
        inputs: the grid, the distances of the unit updates on neighbouring data, and the allowed probability.

    Returns:
        The ℓ1, ℓ2 and ℓ∞ sensitivities in grid steps, as named outputs.
    """
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
        "Two bounds on rounded neighbours u and u' hold except with probability 2e^−L, which is added to δ "
        "once a round. First, Δ₁ ≤ s‖u−u'‖₁ + √(dL/2), for s grid steps and d dimensions. Second, Δ₂² ≤ "
        "s²‖u−u'‖₂² + min(d/4, s‖u−u'‖₁) + √((4s²‖u−u'‖₂² + 4s‖u−u'‖₁ + d) L/2)."
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
    statement=(
        "If neighbouring unit updates have ‖u − u'‖₂ ≤ μ, then Δ₁ = 2d + μs√d, Δ∞ = 2 + μs and Δ₂ = 2√d + μs "
        "bound the rounded updates. Here d is the dimension and s the number of grid steps. Distances of "
        "integers are at most the floors of Δ₁ and Δ∞."
    ),
    source=Source("das2021", "Equations (6) and (121)"),
    status=Status.PROVED,
    errata=(D_3,),
    inputs=RelativeInputs,
    formula=lambda inputs: movement_outputs(
        relative_bounds(inputs.dimension, inputs.quantization_levels, inputs.relative_movement)
    ),
    examples=({"dimension": 328810, "quantization_levels": 64, "relative_movement": 0.1},),
)
EQUATION_90 = Theorem(
    id="das.equation-90",
    title="Sensitivities of rounded updates, from the distances of the updates",
    statement=(
        "Rounding to a grid of step 1/s moves each coordinate of two unit updates by at most 1/s. In grid steps the "
        "rounded updates have Δ₁ ≤ s‖u − u'‖₁ + 2d, Δ∞ ≤ s‖u − u'‖∞ + 2 (90) and Δ₂ ≤ s‖u − u'‖₂ + 2√d (118). Here d "
        "is the dimension."
    ),
    source=Source("das2021", "Equations (90) and (118)"),
    status=Status.PROVED,
    errata=(D_3,),
    inputs=UpdateInputs,
    formula=lambda inputs: movement_outputs(
        rounded_bounds(inputs.dimension, inputs.quantization_levels, **_distances(inputs))
    ),
    examples=(_EXAMPLE,),
)

THEOREMS: tuple[Theorem, ...] = (TRIVIAL, UNIT_VECTOR, COUPLED, HOEFFDING, EQUATION_6, EQUATION_90)
