"""Lemmas E.3, E.7 and E.8, on quadratics, balls and smooth convex losses drawn at random."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.descent_lemmas import LEMMA_E3, LEMMA_E7, LEMMA_E8
from epsilond.accountants.verdict import Verdict


@pytest.mark.compares("lowy.lemma-e.3")
@pytest.mark.parametrize("seed", range(30))
def test_a_step_shrinks_distances_by_each_factor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    beta = float(10 ** rng.uniform(-2, 2))
    mu = beta * float(10 ** rng.uniform(-3, 0))
    step = 2 / (beta + mu) * float(rng.uniform(0.01, 1))
    found = LEMMA_E3.evaluate(LEMMA_E3.request(step_size=step, smoothness=beta, strong_convexity=mu)).outputs
    curvatures = np.concatenate([[mu, beta], rng.uniform(mu, beta, 5)])
    difference = rng.normal(size=7)
    ratio = np.linalg.norm((1 - step * curvatures) * difference) / np.linalg.norm(difference)
    assert ratio <= found["least_contraction"] * (1 + 1e-12)
    assert found["least_contraction"] <= found["contraction"] + 1e-15
    assert found["contraction"] <= found["simple_contraction"] + 1e-15
    assert np.max(np.abs(1 - step * curvatures)) == pytest.approx(found["least_contraction"], rel=1e-9, abs=1e-12)


def test_curvature_along_the_segment_only_is_not_enough() -> None:
    """F = x²/2 + √8 xy: on the x-axis the curvature is 1 and |∇F(w) − ∇F(w')| = 3|w − w'|, but a step expands by 1.5.

    The Hessian [[1, √8], [√8, 0]] has a negative eigenvalue, so F is not convex on any open set that holds the segment.
    """
    hessian = np.array([[1.0, math.sqrt(8.0)], [math.sqrt(8.0), 0.0]])
    direction = np.array([1.0, 0.0])
    assert direction @ hessian @ direction == 1.0
    assert np.linalg.norm(hessian @ direction) == pytest.approx(3.0, rel=1e-15)
    ratio = np.linalg.norm(direction - 0.5 * hessian @ direction)
    evaluation = LEMMA_E3.evaluate(LEMMA_E3.request(step_size=0.5, smoothness=3.0, strong_convexity=1.0))
    assert evaluation.conditions[0].holds == Verdict.YES
    assert ratio == pytest.approx(1.5, rel=1e-15)
    assert ratio > evaluation.outputs["contraction"] == 0.625
    assert np.linalg.eigvalsh(hessian).min() < 0.0
    loss = next(condition for condition in LEMMA_E3.conditions if condition.id == "loss")
    assert "open convex set" in loss.statement
    assert "every direction" in loss.statement


@pytest.mark.parametrize("seed", range(20))
def test_a_step_on_any_quadratic_between_the_curvatures_shrinks_distances(seed: int) -> None:
    """Hessians with random eigenvectors and eigenvalues in [μ, β]: the condition in every direction is enough."""
    rng = np.random.default_rng(seed)
    beta = float(10 ** rng.uniform(-3, 3))
    mu = beta * float(10 ** rng.uniform(-6, 0))
    step = 2.0 / (beta + mu) * float(rng.uniform(0.0, 1.0) ** 3)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    hessian = basis @ np.diag(rng.uniform(mu, beta, 5)) @ basis.T
    difference = rng.normal(size=5)
    ratio = np.linalg.norm(difference - step * hessian @ difference) / np.linalg.norm(difference)
    served = LEMMA_E3.evaluate(LEMMA_E3.request(step_size=step, smoothness=beta, strong_convexity=mu)).outputs
    assert ratio <= served["least_contraction"] * (1.0 + 1e-12)
    assert served["least_contraction"] <= served["contraction"] + 1e-15


def test_a_longer_step_violates_the_condition() -> None:
    for step, holds in ((0.8, True), (0.81, False)):
        evaluation = LEMMA_E3.evaluate(LEMMA_E3.request(step_size=step, smoothness=2.0, strong_convexity=0.5))
        assert (evaluation.conditions[0].holds, evaluation.conditions[0].right) == (Verdict.of(holds), 0.8)
    with pytest.raises(InvalidInput, match="/strong_convexity"):
        LEMMA_E3.request(step_size=0.1, smoothness=1.0, strong_convexity=1.1)


def test_projections_on_a_ball_and_a_box_do_not_expand() -> None:
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(2, 500, 4)) * 3

    def ball(w: Any) -> Any:
        return w / np.maximum(1.0, np.linalg.norm(w, axis=1, keepdims=True))

    apart = np.linalg.norm(left - right, axis=1)
    for project in (ball, lambda w: np.clip(w, -1, 1)):
        assert np.all(np.linalg.norm(project(left) - project(right), axis=1) <= apart * (1 + 1e-12))
    assert LEMMA_E7.formula is None


@pytest.mark.compares("lowy.lemma-e.8")
@pytest.mark.parametrize("seed", range(20))
def test_gradients_are_co_coercive(seed: int) -> None:
    """F = Σ s_i log(1 + e^{a_i w}): β at most Σ s_i a_i²/4 on the whole line."""
    rng = np.random.default_rng(seed)
    slopes, scales = rng.normal(size=3) * 2, rng.uniform(0.1, 2, 3)
    beta = float(np.sum(scales * slopes**2) / 4)
    x, y = rng.normal(size=2) * 2

    def value(w: float) -> float:
        return float(np.sum(scales * np.logaddexp(0, slopes * w)))

    def gradient(w: float) -> float:
        return float(np.sum(scales * slopes / (1 + np.exp(-slopes * w))))

    divergence = max(value(x) - value(y) - gradient(y) * (x - y), 0.0)
    inner_product = max((gradient(x) - gradient(y)) * (x - y), divergence)
    fields = {"smoothness": beta, "bregman_divergence": divergence, "inner_product": inner_product}
    found = LEMMA_E8.evaluate(LEMMA_E8.request(**fields)).outputs
    assert (gradient(x) - gradient(y)) ** 2 <= found["squared_gradient_difference"] + 1e-12
    assert (gradient(x) - gradient(y)) ** 2 <= found["bound_by_inner_product"] + 1e-12
    # F = 3w²/2 at points 0.7 apart attains both.
    fields = {"smoothness": 3.0, "bregman_divergence": 1.5 * 0.49, "inner_product": 3.0 * 0.49}
    quadratic = LEMMA_E8.evaluate(LEMMA_E8.request(**fields)).outputs
    assert quadratic == pytest.approx(
        {"squared_gradient_difference": (3.0 * 0.7) ** 2, "bound_by_inner_product": (3.0 * 0.7) ** 2}, rel=1e-14
    )
    assert math.isfinite(divergence)


def test_an_inner_product_below_the_divergence_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="/bregman_divergence"):
        LEMMA_E8.request(smoothness=1.0, bregman_divergence=0.5, inner_product=0.4)
    fields = {"smoothness": 1.0, "bregman_divergence": 0.5}
    assert set(LEMMA_E8.evaluate(LEMMA_E8.request(**fields)).outputs) == {"squared_gradient_difference"}


@pytest.mark.erratum("E-38")
@pytest.mark.parametrize(("curvature", "ratio"), [("rising", 1.22), (1e-2, 1.38), (1e-4, 2.22)])
def test_smooth_on_a_strip_is_not_enough(curvature: Any, ratio: float) -> None:
    """E-38: a thin strip about [0, 1] × {0}, with Hessian [[b, √(b(1 − b))], [·, 1 − b]] along it, eigenvalues 0 and 1.

    b grows along the axis. On the strip F is convex and smooth with β as near 1 as it is thin, and the gradients of
    its ends break the second inequality of Lemma E.8. The first one holds.
    """

    def first(s: Any) -> Any:
        if curvature == "rising":
            return mp.mpf("0.02") + mp.mpf("0.96") * s
        return min(mp.mpf(1), curvature / (1 - s) ** 2) if s < 1 else mp.mpf(1)

    pieces = [0, 0.9, 0.99, 0.999, 1]
    along = mp.quad(first, pieces)
    across = mp.quad(lambda s: mp.sqrt(first(s) * (1 - first(s))), pieces)
    divergence = mp.quad(lambda s: (1 - s) * first(s), pieces)  # F(1) − F(0) − F'(0)
    served = LEMMA_E8.evaluate(
        LEMMA_E8.request(smoothness=1.0, bregman_divergence=float(divergence), inner_product=float(along))
    ).outputs
    squared = float(along**2 + across**2)
    assert squared / served["squared_gradient_difference"] == pytest.approx(ratio, rel=2e-2)
    assert squared <= served["bound_by_inner_product"]
