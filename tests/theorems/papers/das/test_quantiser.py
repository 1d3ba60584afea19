"""Stochastic rounding of Das et al.: the exact law of a double, in rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.theorems.papers.das.quantiser import ALGORITHM_1, rounding
from epsilond.accountants.theorems.papers.das.sensitivity import UNIT_VECTOR

VALUES = (-1.0, -0.3, 0.0, 1e-17, 0.1, 0.3, 0.5, 0.7, math.nextafter(1.0, 0.0), 1.0)


@pytest.mark.compares("das.algorithm-1")
@pytest.mark.parametrize("levels", [1, 10, 64, 2**20])
@pytest.mark.parametrize("value", VALUES)
def test_the_law_of_a_rounded_coordinate(value: float, levels: int) -> None:
    """From the two neighbours on the grid alone: the only law on them without bias, and its second moment."""
    found = ALGORITHM_1.evaluate(ALGORITHM_1.request(coordinate=value, quantization_levels=levels)).outputs
    below = max(k for k in _around(value, levels) if Fraction(k, levels) <= Fraction(value) and k < levels)
    low, high, exact = Fraction(below, levels), Fraction(below + 1, levels), Fraction(value)
    upper = (exact - low) / (high - low)
    assert (found["level_below"], found["level_above"]) == (below, below + 1)
    wanted = {
        "value_below": low,
        "value_above": high,
        "probability_below": 1 - upper,
        "probability_above": upper,
        "mean": exact,
        "variance": (1 - upper) * (low - exact) ** 2 + upper * (high - exact) ** 2,
        "variance_bound": Fraction(1, 4 * levels * levels),
    }
    for name, figure in wanted.items():
        assert found[name] == pytest.approx(float(figure), rel=1e-15, abs=0.0), name
    assert found["variance"] <= found["variance_bound"]


def _around(value: float, levels: int) -> range:
    middle = round(value * levels)
    return range(middle - 3, middle + 4)


def test_a_product_that_rounds_up_is_not_taken_for_a_grid_point() -> None:
    """0.29 · 100 is 28.999999999999996 in doubles, and 0.29 itself is below 29/100."""
    found = ALGORITHM_1.evaluate(ALGORITHM_1.request(coordinate=0.29, quantization_levels=100)).outputs
    assert Fraction(0.29) < Fraction(29, 100)
    assert found["level_below"] == 28
    assert 0.0 < found["probability_below"] < 1e-14


@pytest.mark.erratum("D-14")
def test_a_client_that_has_not_moved_is_within_the_sensitivities() -> None:
    """0/0 has no direction; the rounding of 0, against those of unit vectors with the same uniform numbers."""
    levels, dimension = 6, 5
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.zeros(dimension) / np.linalg.norm(np.zeros(dimension))).all()
    found = UNIT_VECTOR.evaluate(UNIT_VECTOR.request(dimension=dimension, quantization_levels=levels)).outputs
    rng = np.random.default_rng(5)
    for _ in range(300):
        unit = rng.normal(size=dimension)
        unit /= np.linalg.norm(unit)
        coins = rng.uniform(size=dimension)
        sent = []
        for update in (unit, np.zeros(dimension)):
            laws = [rounding(float(value), levels) for value in update]
            sent.append(np.asarray([low + (coin < 1 - float(p)) for (low, p), coin in zip(laws, coins, strict=True)]))
        apart = np.abs(sent[0] - sent[1])
        assert apart.sum() <= found["l1_sensitivity"]
        assert apart.max() <= found["linf_sensitivity"]
        assert np.linalg.norm(apart) <= found["l2_sensitivity"]
