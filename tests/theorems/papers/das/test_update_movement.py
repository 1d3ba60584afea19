"""Lemmas 5 and 6 of Das et al.: by recursion, by runs of two neighbours, and by search over vectors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import asin, mp, mpf, sin

from epsilond.accountants.theorems.papers.das.small_movement import THEOREM_3, GrowthInputs
from epsilond.accountants.theorems.papers.das.update_movement import LEMMA_5, LEMMA_6, step_sums

FIELDS = {"growth_ratio": 2.0, "samples_per_client": 50, "smoothness": 2.0}


@pytest.mark.compares("das.lemma-5")
@pytest.mark.parametrize(("steps", "eta"), [(1, 0.125), (10, 0.0125), (7, 0.25), (100, 0.00125), (30, 0.5)])
def test_the_recursion_step_by_step(steps: int, eta: float) -> None:
    client, mean, rho, n, smoothness = Fraction(3), Fraction(4), Fraction(2), 50, Fraction(2)
    step, apart, gone = Fraction(eta), Fraction(0), Fraction(0)
    for _ in range(steps):
        apart += step * (smoothness * apart + 2 * rho / n * (mean + smoothness * gone))
        gone += step * (client + smoothness * gone)
    inputs = LEMMA_5.request(
        **FIELDS, client_gradient_norm=3.0, mean_gradient_norm=4.0, local_steps=steps, step_size=eta
    )
    found = LEMMA_5.evaluate(inputs)
    assert found.outputs["sharper_movement"] == pytest.approx(float(apart), rel=1e-13)
    assert found.outputs["movement"] == pytest.approx(5 * math.exp(0.25) * eta * steps * 2 / 50 * 3, rel=1e-14)
    assert found.conditions[1].holds == "yes"
    if found.conditions[0].holds == "yes":
        assert found.outputs["sharper_movement"] <= found.outputs["movement"]


@pytest.mark.parametrize("steps", [1, 2, 50, 10**4, 10**9])
def test_both_sums_of_the_movement(steps: int) -> None:
    with mp.workdps(80):
        for ratio in (0.0, 1e-30, 0.2 / steps, 0.999 / steps, 1.001 / steps, 5.0 / steps):
            x = mpf(ratio)
            whole = ((1 + x) ** steps - 1) / x if ratio else mpf(steps)
            rest = steps * (1 + x) ** (steps - 1) - whole
            first, second = step_sums(ratio, steps)
            assert first == pytest.approx(float(whole), rel=1e-13)
            assert second == pytest.approx(float(rest), rel=1e-12, abs=1e-300)


def test_the_constant_of_theorem_3_is_that_of_both_lemmas() -> None:
    """The movement over a shortest update, (2/3)ηE‖∇f‖ by Lemma 3, doubled by Lemma 6, is 15 e^(1/4) ρ/n."""
    inputs = LEMMA_5.request(**FIELDS, client_gradient_norm=1.0, local_steps=10, step_size=0.0125)
    moved = LEMMA_5.evaluate(inputs).outputs["movement"] / (2.0 / 3.0 * 0.0125 * 10)
    doubled = LEMMA_6.evaluate(LEMMA_6.request(relative_distance=moved)).outputs["unit_distance"]
    grown = GrowthInputs(growth_ratio=2.0, samples_per_client=50, quantization_levels=1, dimension=1)
    assert doubled == pytest.approx(THEOREM_3.evaluate(grown).outputs["relative_movement"], rel=1e-14)


@pytest.mark.erratum("D-12")
def test_deleting_and_replacing_move_a_mean_alike() -> None:
    rng = np.random.default_rng(3)
    n, bound = 6, 2.0
    largest = {"deleted": 0.0, "replaced": 0.0}
    for _ in range(2000):
        gradients = rng.choice([-bound, bound], size=n + 1)
        mean = gradients[:n].mean()
        largest["deleted"] = max(largest["deleted"], abs(mean - gradients[1:n].mean()))
        largest["replaced"] = max(largest["replaced"], abs(mean - gradients[1 : n + 1].mean()))
    assert largest == pytest.approx({"deleted": 2 * bound / n, "replaced": 2 * bound / n})


@pytest.mark.parametrize("steps", [1, 8])
def test_two_neighbours_are_no_farther_apart(steps: int) -> None:
    """Records ½L(w − z)²: gradients L(w − z), the mean one of the population ρ times smaller than the largest."""
    rng = np.random.default_rng(4)
    smoothness, n, eta = 2.0, 20, 0.25 / (2.0 * 8)
    for _ in range(50):
        centres = rng.normal(size=n) + 3.0
        other = centres.copy()
        other[0] = rng.normal() + 3.0
        here, there, ratio = 0.0, 0.0, 0.0
        for _ in range(steps):
            norms = np.abs(smoothness * (here - np.append(centres, other[0])))
            ratio = max(ratio, norms.max() / abs(smoothness * (here - 3.0)))
            here, there = (w - eta * smoothness * (w - c.mean()) for w, c in ((here, centres), (there, other)))
        inputs = LEMMA_5.request(
            client_gradient_norm=smoothness * abs(centres.mean()),
            mean_gradient_norm=smoothness * 3.0,
            growth_ratio=max(ratio, 1.0001),
            samples_per_client=n,
            local_steps=steps,
            step_size=eta,
            smoothness=smoothness,
        )
        assert abs(here - there) <= LEMMA_5.evaluate(inputs).outputs["sharper_movement"]


@pytest.mark.erratum("D-12")
@pytest.mark.compares("das.lemma-6")
@pytest.mark.parametrize("a", [0.0, 1e-9, 0.1, 0.5, 0.9, 1.0, 1.5])
def test_the_distance_of_unit_vectors_by_search(a: float) -> None:
    found = LEMMA_6.evaluate(LEMMA_6.request(relative_distance=a)).outputs
    with mp.workdps(40):
        exact = 2 * sin(asin(mpf(a)) / 2) if a <= 1.0 else mpf(2)
    assert found["sharper_unit_distance"] == pytest.approx(float(exact), rel=1e-14)
    assert found["unit_distance"] == pytest.approx(2 * a, rel=1e-14)
    assert found["sharper_unit_distance"] <= min(found["unit_distance"], 2.0)
    angles = np.linspace(0.0, math.pi, 4001)
    for radius in (a, 0.5 * a):
        others = 1.0 + radius * np.exp(1j * angles)
        others = others[np.abs(others) > 1e-9]
        apart = np.abs(others / np.abs(others) - 1.0).max()
        assert apart <= found["sharper_unit_distance"] * (1 + 1e-12) + 1e-12
        if radius == a:
            assert apart >= found["sharper_unit_distance"] * (1 - 1e-3)
