"""Lemmas 2 and 4 of Das et al.: against the sums of their proofs, and along descents."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.das.local_steps import EQUATION_48, LEMMA_2, LEMMA_2_DISTANCE, LEMMA_4


@pytest.mark.compares("das.lemma-2")
@pytest.mark.parametrize("steps", [1, 2, 9])
@pytest.mark.parametrize("share", [Fraction(1, 7), Fraction(1, 2)])
def test_equal_gradients_are_the_worst_of_the_sum(steps: int, share: Fraction) -> None:
    """Each of E gradients is u/E: both sums of the proof, term by term."""
    smoothness, zeta, norm = Fraction(3), Fraction(1, 4), Fraction(5)
    eta, each = share * zeta / smoothness, norm / steps
    plain = sum(zeta / (2 * smoothness) * each**2 for _ in range(steps))
    drift = sum(eta * each * each for late in range(steps) for _ in range(late))
    fields = {"local_steps": steps, "smoothness": 3.0, "quasar_convexity": 0.25, "update_norm": 5.0}
    inputs = LEMMA_2.request(**fields, step_size=float(eta))
    found = LEMMA_2.evaluate(inputs)
    assert found.outputs["sharper_inner_product"] == pytest.approx(float(plain + drift), rel=1e-14)
    assert found.outputs["inner_product"] == pytest.approx(float(plain / 2), rel=1e-14)
    assert found.outputs["inner_product"] <= found.outputs["sharper_inner_product"]
    assert [one.holds for one in found.conditions[:2]] == ["yes", "yes"]


@pytest.mark.parametrize("zeta", [0.3, 1.0])
def test_the_inner_product_along_descents(zeta: float) -> None:
    """f = Lw²/2 is ζ-quasar-convex for every ζ ≤ 1; f(w) = L(√(1 + w²) − 1) too, and is not quadratic."""
    smoothness, steps, start = 2.0, 12, 1.7
    for gradient in (lambda w: smoothness * w, lambda w: smoothness * w / np.sqrt(1 + w * w)):
        for share in (0.1, 0.5, 1.0):
            eta, model, total = share * zeta / smoothness, start, 0.0
            for _ in range(steps):
                total += gradient(model)
                model -= eta * gradient(model)
            fields = {"local_steps": steps, "smoothness": smoothness, "quasar_convexity": zeta}
            found = LEMMA_2.evaluate(LEMMA_2.request(update_norm=abs(total), step_size=eta, **fields))
            assert total * start >= found.outputs["sharper_inner_product"]
            assert (found.conditions[0].holds == "yes") == (share <= 0.5)
            if share <= 0.5:
                assert total * start >= found.outputs["inner_product"]


@pytest.mark.compares("das.lemma-4")
@pytest.mark.parametrize("steps", [0, 1, 5, 40])
def test_the_farthest_descent(steps: int) -> None:
    """f(w) = gw − Lw²/2 runs away: w_{τ+1} = w_τ − η(g − Lw_τ), by its own recursion."""
    smoothness, eta, gradient = Fraction(2), Fraction(1, 160), Fraction(3)
    model = Fraction(0)
    for _ in range(steps):
        model -= eta * (gradient - smoothness * model)
    fields = {"gradient_norm": 3.0, "local_steps": 40, "step_size": 1 / 160, "smoothness": 2.0}
    found = LEMMA_4.evaluate(LEMMA_4.request(**fields, steps_taken=steps))
    assert found.outputs["sharper_distance"] == pytest.approx(float(-model), rel=1e-13)
    assert found.outputs["distance"] == pytest.approx(float(2 * eta * steps * gradient), rel=1e-13)
    assert found.outputs["sharper_distance"] <= found.outputs["distance"]
    assert found.conditions[0].holds == "yes"


def test_longer_steps_break_the_printed_distance_alone() -> None:
    fields = {"gradient_norm": 1.0, "local_steps": 10, "smoothness": 1.0, "steps_taken": 10}
    long = LEMMA_4.evaluate(LEMMA_4.request(**fields, step_size=0.5))
    assert long.conditions[0].holds == "no"
    assert long.outputs["sharper_distance"] > long.outputs["distance"]
    tiny = LEMMA_4.evaluate(LEMMA_4.request(**{**fields, "smoothness": 1e-90}, step_size=1e-90)).outputs
    assert tiny["sharper_distance"] == pytest.approx(10e-90, rel=1e-14)
    with pytest.raises(InvalidInput, match="cannot exceed"):
        LEMMA_4.request(**{**fields, "steps_taken": 11}, step_size=0.5)


@pytest.mark.compares("das.lemma-2-distance")
@pytest.mark.parametrize("share", [Fraction(1, 7), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("steps", [1, 6])
def test_a_parabola_approaches_its_minimiser(steps: int, share: Fraction) -> None:
    """f = Lw²/2 with ζ = 1 in rationals: its own path, and the path's gradients in both bounds."""
    smoothness, model = Fraction(3), Fraction(5)
    eta, squares = share / smoothness, Fraction(0)
    for _ in range(steps):
        squares += (smoothness * model) ** 2
        model -= eta * smoothness * model
    fields = {"client_distance": 5.0, "squared_gradients": float(squares), "step_size": float(eta)}
    found = LEMMA_2_DISTANCE.evaluate(LEMMA_2_DISTANCE.request(**fields, smoothness=3.0, quasar_convexity=1.0))
    printed = 25 - eta / (2 * smoothness) * squares
    sharper = 25 - eta * (1 / smoothness - eta) * squares
    assert found.outputs["squared_distance"] == pytest.approx(max(float(printed), 0.0), rel=1e-12)
    assert found.outputs["sharper_squared_distance"] == pytest.approx(float(sharper), rel=1e-12)
    assert float(model**2) <= found.outputs["sharper_squared_distance"] * (1 + 1e-12)
    assert (found.conditions[0].holds == "yes") == (share <= Fraction(1, 2))
    if share <= Fraction(1, 2):
        assert sharper <= printed


def test_34_is_between_the_two_lower_bounds() -> None:
    """(34) times 2‖u‖ is (η² + ηζ/(2LE))‖u‖²/η, twice the inner product of the paper."""
    for share in (0.05, 0.3, 0.5):
        fields = {"update_norm": 3.0, "local_steps": 5, "smoothness": 2.0, "quasar_convexity": 0.4}
        eta = share * 0.4 / 2.0
        found = LEMMA_2.evaluate(LEMMA_2.request(**fields, step_size=eta)).outputs
        printed = (eta + 0.4 / (2 * 2.0 * 5)) * 9.0 / 2
        assert found["inner_product"] < printed <= found["sharper_inner_product"] * (1 + 1e-12)


@pytest.mark.compares("das.equation-48")
@pytest.mark.parametrize("steps", [0, 1, 5, 40])
def test_a_gradient_that_falls_along_a_parabola(steps: int) -> None:
    """f = Lw²/2 has ∇f(w_τ) = (1 − ηL)^τ ∇f(w), which is the sharper bound at τ ≤ 1 and above it later."""
    eta, smoothness = Fraction(1, 320), Fraction(2)
    fields = {"gradient_norm": 3.0, "local_steps": 40, "step_size": 1 / 320, "smoothness": 2.0}
    found = EQUATION_48.evaluate(EQUATION_48.request(**fields, steps_taken=steps))
    assert found.outputs["later_gradient_norm"] == pytest.approx(1.5, rel=1e-14)
    bound = 3 * (2 - (1 + eta * smoothness) ** steps)
    assert found.outputs["sharper_later_gradient_norm"] == pytest.approx(float(bound), rel=1e-13)
    assert found.outputs["later_gradient_norm"] <= found.outputs["sharper_later_gradient_norm"]
    actual = float(3 * (1 - eta * smoothness) ** steps)
    assert actual >= found.outputs["sharper_later_gradient_norm"] * (1 - 1e-13)
    if steps == 1:
        assert actual == pytest.approx(found.outputs["sharper_later_gradient_norm"], rel=1e-13)
    assert found.conditions[0].holds == "yes"


def test_a_gradient_may_vanish_with_longer_steps() -> None:
    fields = {"gradient_norm": 1.0, "local_steps": 10, "smoothness": 1.0, "steps_taken": 10}
    found = EQUATION_48.evaluate(EQUATION_48.request(**fields, step_size=1.0))
    assert found.conditions[0].holds == "no"
    assert found.outputs["sharper_later_gradient_norm"] == 0.0
