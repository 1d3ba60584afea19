"""Sensitivities of rounded values, by exhausting roundings."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.das.sensitivity import (
    COUPLED,
    EQUATION_6,
    EQUATION_90,
    HOEFFDING,
    coupled_bounds,
    hoeffding_bounds,
    relative_bounds,
    trivial_bounds,
    unit_distances,
    unit_vector_bounds,
)
from tests.oracles.finite import hockey_stick, joint, truncated_laplace


def rounded(value: Fraction) -> list[tuple[int, Fraction]]:
    floor = math.floor(value)
    up = value - floor
    return [(floor, 1 - up), (floor + 1, up)] if up else [(floor, Fraction(1))]


def law(values: tuple[Fraction, ...], levels: int) -> dict[Any, Fraction]:
    """The law of rounded values with noise of decay 1/2 a step, on the joint outcomes."""
    mixture: dict[Any, Fraction] = {}
    for choice in itertools.product(*[rounded(value) for value in values]):
        weight = math.prod(share for _, share in choice)
        noisy = joint([truncated_laplace(Fraction(1, 2), levels, place) for place, _ in choice])
        for outcome, mass in noisy.items():
            mixture[outcome] = mixture.get(outcome, Fraction(0)) + weight * mass
    return mixture


@pytest.mark.erratum("D-3")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((Fraction(1, 3), Fraction(0)), (Fraction(5, 4), Fraction(-1, 2))),
        ((Fraction(9, 10), Fraction(1, 2)), (Fraction(6, 5), Fraction(1, 2))),
    ],
)
def test_rounding_together_is_never_better_for_the_observer(first: Any, second: Any) -> None:
    """E_γ of the mixtures is at most the largest over shifts that are floors or ceilings of the distances."""
    levels = 3
    here, there = law(first, levels), law(second, levels)
    moves = [abs(a - b) for a, b in zip(first, second, strict=True)]
    for gamma in (Fraction(1), Fraction(3, 2), Fraction(4)):
        plain = joint([truncated_laplace(Fraction(1, 2), levels)] * 2)
        worst = max(
            hockey_stick(plain, joint([truncated_laplace(Fraction(1, 2), levels, k) for k in shift]), gamma)
            for shift in itertools.product(*[{math.floor(move), math.ceil(move)} for move in moves])
        )
        assert hockey_stick(here, there, gamma) <= worst


def test_hoeffdings_bounds_hold_as_often_as_they_say() -> None:
    """The exact probability, over all roundings of twelve coordinates, that a sum exceeds its bound."""
    moves = [Fraction(j, 13) for j in range(1, 13)]
    first, second = float(sum(moves)), math.sqrt(float(sum(move**2 for move in moves)))
    sums: dict[tuple[int, int], Fraction] = {(0, 0): Fraction(1)}
    for move in moves:
        grown: dict[tuple[int, int], Fraction] = {}
        for (total, square), mass in sums.items():
            for place, share in rounded(move):
                at = (total + place, square + place * place)
                grown[at] = grown.get(at, Fraction(0)) + mass * share
        sums = grown
    for failure in (0.5, 0.1, 1e-2, 1e-3):
        found = hoeffding_bounds(12, 1, l1=first, l2=second, linf=12 / 13, log_failure=math.log(failure))
        assert found.l2 is not None
        missed = sum(mass for (total, square), mass in sums.items() if total > found.l1 or square > found.l2**2)
        assert missed <= failure
        assert found.l1 <= coupled_bounds(12, 1, l1=first, l2=second, linf=1.0).l1


def test_certain_bounds_hold_for_every_rounding() -> None:
    moves = [Fraction(j, 7) for j in range(1, 9)]
    first, second = float(sum(moves)), math.sqrt(float(sum(move**2 for move in moves)))
    found = coupled_bounds(8, 1, l1=first, l2=second, linf=float(max(moves)))
    assert found.l2 is not None
    for places in itertools.product(*[[place for place, _ in rounded(move)] for move in moves]):
        assert sum(places) <= found.l1
        assert math.sqrt(sum(place * place for place in places)) <= found.l2
        assert max(places) <= found.linf


def test_a_distance_means_the_decimal_it_is_written_as() -> None:
    assert coupled_bounds(4, 10, l1=0.1, l2=0.1, linf=0.1).linf == 1
    assert coupled_bounds(4, 512, l1=0.1, l2=0.1, linf=0.1).linf == 52


def test_each_is_sharper_than_the_one_before() -> None:
    for dimension in (1, 2, 100, 10**6):
        loose, sharp = trivial_bounds(dimension, 64), unit_vector_bounds(dimension, 64)
        assert sharp.l1 <= loose.l1
        assert sharp.linf <= loose.linf
        moved = 0.1
        printed = relative_bounds(dimension, 64, moved)
        ours = coupled_bounds(dimension, 64, l1=moved * math.sqrt(dimension), l2=moved, linf=moved)
        assert ours.l1 < printed.l1
        assert ours.l2 is not None
        assert printed.l2 is not None
        assert ours.l2 < printed.l2
    assert unit_distances(4) == {"l1": 4.0, "l2": 2.0, "linf": 2.0}


@pytest.mark.parametrize(
    ("theorem", "field"),
    [
        (COUPLED, {"update_l2": 2.1}),
        (COUPLED, {"update_linf": -0.1}),
        (COUPLED, {"update_l1": -1.0}),
        (HOEFFDING, {"failure_delta": 1.0}),
        (EQUATION_6, {"relative_movement": 0.0}),
    ],
)
def test_distances_that_no_update_has(theorem: Any, field: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        theorem.inputs(**{**theorem.examples[0], **field})


@pytest.mark.compares("das.equation-90")
@pytest.mark.parametrize("levels", [1, 8, 512])
@pytest.mark.parametrize("dimension", [2, 5])
def test_rounding_moves_each_neighbour_by_a_step(dimension: int, levels: int) -> None:
    """Exhausts the roundings of two vectors; the bounds themselves are in rationals, where they are rational."""
    first = [Fraction(k + 1, 7) for k in range(dimension)]
    second = [Fraction(-k, 9) for k in range(dimension)]
    moves = [abs(a - b) for a, b in zip(first, second, strict=True)]
    distances = {"update_l1": float(sum(moves)), "update_linf": float(max(moves))}
    euclidean = math.sqrt(sum(float(move) ** 2 for move in moves))
    request = EQUATION_90.request(
        dimension=dimension, quantization_levels=levels, **distances, update_l2=min(euclidean, 2.0)
    )
    found = EQUATION_90.evaluate(request).outputs
    assert found["l1_sensitivity"] == pytest.approx(float(levels * sum(moves) + 2 * dimension), rel=1e-14)
    assert found["linf_sensitivity"] == pytest.approx(float(levels * max(moves) + 2), rel=1e-14)
    assert found["l2_sensitivity"] == pytest.approx(levels * euclidean + 2 * math.sqrt(dimension), rel=1e-14)
    ends = [
        max(abs(a - b) for a, _ in rounded(levels * here) for b, _ in rounded(levels * there))
        for here, there in zip(first, second, strict=True)
    ]
    assert sum(ends) <= found["l1_sensitivity"]
    assert max(ends) <= found["linf_sensitivity"]
    assert math.sqrt(sum(end * end for end in ends)) <= found["l2_sensitivity"]
    certain = coupled_bounds(dimension, levels, l1=distances["update_l1"], l2=euclidean, linf=distances["update_linf"])
    assert certain.l1 <= found["l1_sensitivity"]
    assert certain.linf <= found["linf_sensitivity"]
