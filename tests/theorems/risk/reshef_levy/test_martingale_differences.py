"""Lemma A.2 of Reshef and Levy, against enumeration of martingales in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.reshef_levy.martingale_differences import LEMMA_A_2

Vector = tuple[Fraction, ...]


def difference(past: tuple[int, ...], sign: int) -> Vector:
    """The next difference after some coin flips: a vector that depends on them, with the sign of the next flip."""
    scale = Fraction(1 + sum(past) ** 2, 2 + len(past))
    direction = (Fraction(1), Fraction(past[-1] if past else 0), Fraction(len(past), 3))
    return tuple(sign * scale * each for each in direction)


@pytest.mark.compares("reshef.lemma-a.2")
@pytest.mark.parametrize("rounds", [1, 2, 5, 8])
def test_the_mean_square_of_the_sum_by_enumeration(rounds: int) -> None:
    """All 2^t runs: every difference has mean 0 given the past, but its length depends on the past."""
    squares, sums = [Fraction(0)] * rounds, Fraction(0)
    for signs in product((-1, 1), repeat=rounds):
        steps = [difference(signs[:t], signs[t]) for t in range(rounds)]
        for t, step in enumerate(steps):
            squares[t] += sum(each * each for each in step) / 2**rounds
        total = [sum(step[i] for step in steps) for i in range(3)]
        sums += sum(each * each for each in total) / 2**rounds
    assert sums == sum(squares)
    roots = [math.sqrt(square) for square in squares]
    found = LEMMA_A_2.evaluate(LEMMA_A_2.request(root_mean_squares=roots)).outputs
    assert found["mean_square"] == pytest.approx(float(sums), rel=1e-14)
    assert found["root_mean_square"] == pytest.approx(math.sqrt(sums), rel=1e-14)


def test_equal_steps_are_no_martingale_and_reach_the_largest() -> None:
    """The same random sign in every round: the mean square of the sum is the square of the sum of the roots."""
    lengths = [1.0, 0.5, 2.0]
    exact = sum(sum(sign * each for each in lengths) ** 2 for sign in (-1, 1)) / 2
    found = LEMMA_A_2.evaluate(LEMMA_A_2.request(root_mean_squares=lengths)).outputs
    assert found["largest_mean_square"] == pytest.approx(exact, rel=1e-15)
    assert found["mean_square"] == pytest.approx(5.25, rel=1e-15)
    for bad in ((), (-1.0,)):
        with pytest.raises(InvalidInput):
            LEMMA_A_2.request(root_mean_squares=bad)
