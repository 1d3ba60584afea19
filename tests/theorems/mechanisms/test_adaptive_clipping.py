"""Adaptive clipping: two noisy sums of a round against the divergence of their joint law, and the denominators."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf, sqrt

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.mechanisms.adaptive_clipping import (
    NOISE_SPLIT,
    update_noise_multiplier,
)
from tests.oracles.hockey_stick import theta

HALF = Fraction(1, 2)


def joint_delta(epsilon: float, shift: tuple[float, float]) -> float:
    """δ(ε) of N(shift, I) against N(0, I) in the plane, summed over a grid: no formula of one Gaussian is used."""
    step = 0.01
    first, second = np.meshgrid(np.arange(-8.0, 9.0, step), np.arange(-8.0, 9.0, step), sparse=True)
    below = np.exp(-(first**2 + second**2) / 2) / (2 * math.pi)
    above = np.exp(-((first - shift[0]) ** 2 + (second - shift[1]) ** 2) / 2) / (2 * math.pi)
    return float(np.maximum(above - math.exp(epsilon) * below, 0.0).sum() * step**2)


@pytest.mark.compares("andrew-2021.1")
@pytest.mark.parametrize(("noise_multiplier", "count_std"), [(1.0, 5.0), (1.4212, 0.72), (0.5, 0.2500001), (20.0, 1e6)])
def test_the_split_against_the_printed_formula(noise_multiplier: float, count_std: float) -> None:
    outputs = NOISE_SPLIT.evaluate(NOISE_SPLIT.request(noise_multiplier=noise_multiplier, count_std=count_std)).outputs
    with mp.workdps(50):
        z, b = mpf(noise_multiplier), mpf(count_std)
        printed = 1 / sqrt(z**-2 - (2 * b) ** -2)
        assert mpf(outputs["update_noise_multiplier"]) >= printed
        assert outputs["update_noise_multiplier"] == pytest.approx(float(printed), rel=1e-14)
        assert outputs["ratio"] == pytest.approx(float(printed / z), rel=1e-14)


@pytest.mark.parametrize(("z", "count_std", "epsilon"), [(1.0, 0.8, 0.5), (1.5, 2.0, 1.0), (0.7, 0.4, 2.0)])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_both_sums_together_are_the_one_gaussian(z: float, count_std: float, epsilon: float, factor: float) -> None:
    """`factor` 1 adds a client that is not clipped; 2 replaces one that is not clipped by its clipped opposite."""
    updates = update_noise_multiplier(noise_multiplier=z, count_std=count_std)
    found = joint_delta(epsilon, (factor / updates, factor * 0.5 / count_std))
    assert found == pytest.approx(float(theta(epsilon, factor / z)[0]), rel=1e-4)


def farthest(relation: str, shift: Fraction, z: float, count_std: float) -> float:
    """The greatest distance of two neighbouring sums in the noise's own units, over updates on a line and their bits.

    An update within the bound has the bit 1, one at the bound may have been clipped to it and have either.
    """
    contributions = [(u, 1 - shift) for u in (-1, -HALF, 0, HALF, 1)] + [(u, -shift) for u in (-1, 1)]
    pairs = list(itertools.product(contributions, repeat=2))
    if relation != "replace-one":
        pairs = [(one, (0, Fraction(0))) for one in contributions]
    return max(math.hypot(float(p[0] - q[0]) / z, float(p[1] - q[1]) / count_std) for p, q in pairs)


@pytest.mark.parametrize(("relation", "sensitivity"), [("add-or-remove-one", 1.0), ("replace-one", 2.0)])
def test_the_worst_neighbours_attain_the_sensitivity_of_the_relation(relation: str, sensitivity: float) -> None:
    z, count_std = 1.3, 0.9
    updates = update_noise_multiplier(noise_multiplier=z, count_std=count_std)
    assert farthest(relation, HALF, updates, count_std) == pytest.approx(sensitivity / z, rel=1e-14)


def test_bits_that_are_not_shifted_are_not_covered() -> None:
    """A bit of 0 or 1 moves the sum by 1 where a client is added, not by ½: only the fixed denominator allows ½."""
    z, count_std = 1.3, 0.9
    updates = update_noise_multiplier(noise_multiplier=z, count_std=count_std)
    assert farthest("add-or-remove-one", Fraction(0), updates, count_std) > 1.2 / z
    # Where one client stands in for another the shift changes nothing.
    assert farthest("replace-one", Fraction(0), updates, count_std) == pytest.approx(2.0 / z, rel=1e-14)


@given(st.floats(1e-3, 1e6), st.floats(1e-9, 1e5))
def test_the_split_covers_in_exact_arithmetic_and_hardly_more(noise_multiplier: float, excess: float) -> None:
    count_std = noise_multiplier / 2 * (1 + excess)
    found = update_noise_multiplier(noise_multiplier=noise_multiplier, count_std=count_std)
    left = 1 / Fraction(noise_multiplier) ** 2 - 1 / Fraction(2.0 * count_std) ** 2
    assert 1 / Fraction(found) ** 2 <= left < 1 / Fraction(found * (1 - 1e-15)) ** 2


@pytest.mark.parametrize("count_std", [0.1, 0.5])
def test_a_count_that_takes_all_the_noise_is_refused(count_std: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        update_noise_multiplier(noise_multiplier=1.0, count_std=count_std)
    assert caught.value.faults[0].pointer == "/count_std"
