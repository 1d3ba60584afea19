"""Test bounds on the excess risk of the first model against losses with known excess and rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.theorems.risk.start import (
    EXCESS_RISK_OF_THE_START,
    GRADIENT_NORM_OF_THE_START,
    StartInputs,
)


def excess(**changes: Any) -> dict[str, Any]:
    return dict(EXCESS_RISK_OF_THE_START.evaluate(StartInputs(**changes)).outputs)


def gradient(**changes: Any) -> dict[str, Any]:
    return dict(GRADIENT_NORM_OF_THE_START.evaluate(StartInputs(**changes)).outputs)


@pytest.mark.parametrize("seed", range(20))
def test_losses_of_one_coordinate_keep_to_the_bounds(seed: int) -> None:
    """On [0, R] with the minimiser at 0: F(x) = a x + m x²/2 + h(x), h the Huber loss of height c and curvature k."""
    rng = np.random.default_rng(seed)
    a, m, k, c, far = (float(10 ** rng.uniform(-2, 1)) for _ in range(5))
    a *= float(rng.integers(0, 2))

    def loss(x: float) -> float:
        bend = k * x * x / 2 if k * x <= c else c * x - c * c / (2 * k)
        return a * x + m * x * x / 2 + bend

    def slope(x: float) -> float:
        return a + m * x + min(k * x, c)

    known = {"lipschitz": slope(far), "strong_convexity": m, "smoothness": m + k, "minimiser_gradient_norm": a}
    found = excess(initial_distance=far, **known)
    slack = 1 + 1e-12
    for start in np.linspace(0.0, far, 50):
        assert loss(float(start)) <= found["excess_risk"] * slack
        assert slope(float(start)) <= gradient(initial_distance=far, **known)["gradient_norm"] * slack
    assert found["excess_risk"] == min(value for name, value in found.items() if name != "excess_risk")
    if a == 0.0 and k * far <= c:  # then the loss is the quadratic of the bound by smoothness
        assert loss(far) == pytest.approx(found["by_smoothness"], rel=1e-12)


@pytest.mark.compares("epsilond.gradient-norm-of-the-start")
def test_the_bounds_are_attained() -> None:
    """|x| by the Lipschitz constant; L x − μx²/2 read backwards, down from a steep start, by strong convexity."""
    assert excess(initial_distance=3.0, lipschitz=2.0) == {"by_lipschitz": 6.0, "excess_risk": 6.0}
    steep, mu = 2.0, 0.5
    for far in (1.0, 4.0, 9.0):
        # F(w* + r) with F'(start) = L and curvature μ: the least loss is at distance min(R, L/μ).
        at = min(far, steep / mu)
        oracle = mp.quad(lambda r, at=at: steep - mu * (at - r), [0, at])
        found = excess(initial_distance=far, lipschitz=steep, strong_convexity=mu)
        assert found["by_strong_convexity"] == pytest.approx(float(oracle), rel=1e-12)
        assert found["excess_risk"] == found["by_strong_convexity"] < found["by_lipschitz"]
    assert excess(initial_distance=9.0, lipschitz=steep, strong_convexity=mu)["excess_risk"] == steep**2 / (2 * mu)
    assert gradient(initial_distance=3.0, smoothness=2.0, minimiser_gradient_norm=0.5)["gradient_norm"] == 6.5
    assert gradient(initial_distance=3.0, smoothness=2.0, minimiser_gradient_norm=0.5, lipschitz=4.0) == {
        "by_lipschitz": 4.0,
        "by_smoothness": 6.5,
        "gradient_norm": 4.0,
    }


@pytest.mark.compares("epsilond.excess-risk-of-the-start")
def test_figures_are_rounded_up_once() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        far, steep, mu = (float(10 ** rng.uniform(-3, 3)) for _ in range(3))
        found = excess(initial_distance=far, lipschitz=steep, strong_convexity=mu)
        exact = Fraction(steep) * Fraction(far)
        assert Fraction(found["by_lipschitz"]) >= exact > Fraction(math.nextafter(found["by_lipschitz"], 0.0))
        at = min(Fraction(far), Fraction(steep) / Fraction(mu))
        most = Fraction(steep) * at - Fraction(mu) * at * at / 2
        value = found["by_strong_convexity"]
        assert Fraction(value) >= most > Fraction(math.nextafter(value, 0.0))
    assert round_up(Fraction(10) ** 400) == math.inf
    assert round_up(Fraction(2)) == 2.0


def test_something_must_be_known() -> None:
    for known in ({}, {"smoothness": 1.0}, {"minimiser_gradient_norm": 0.0}):
        with pytest.raises(InvalidInput) as caught:
            StartInputs(initial_distance=1.0, **known)  # type: ignore[arg-type]
        assert caught.value.faults[0].pointer == "/lipschitz"
    assert excess(initial_distance=1.0, smoothness=2.0, minimiser_gradient_norm=0.0)["excess_risk"] == 1.0
