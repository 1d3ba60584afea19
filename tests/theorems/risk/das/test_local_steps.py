"""Lemmas 2 and 4 of Das et al.: against the sums of their proofs, and along descents."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.das.local_steps import LEMMA_2, LEMMA_4


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
