"""Lemma E.10 against envelopes minimised by brute force."""

import math

import numpy as np
import pytest

from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    LEMMA_E10,
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)

POINTS = np.linspace(-1.0, 1.0, 4001)
STEP = POINTS[1] - POINTS[0]

LOSSES = {
    "absolute": (np.abs, 1.0, 0.0),
    "hinge": (lambda v: np.maximum(0.0, 2.0 * (v - 0.3)), 2.0, 0.0),
    "ramp with its minimum at the edge": (lambda v: -1.5 * v, 1.5, 0.0),
    "quadratic and a kink": (lambda v: 0.25 * v * v + np.abs(v - 0.2), 1.5, 0.5),
}


def brute(loss: object, smoothness: float) -> np.ndarray:
    """min over the grid of f(v) + b(w − v)²/2, at every grid point w."""
    values = loss(POINTS)  # type: ignore[operator]
    return np.asarray([np.min(values + 0.5 * smoothness * (w - POINTS) ** 2) for w in POINTS])


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("smoothness", [0.7, 5.0, 40.0])
def test_the_envelope_lies_within_its_gap_and_its_slopes_within_lipschitz(name: str, smoothness: float) -> None:
    loss, lipschitz, convexity = LOSSES[name]
    found = brute(loss, smoothness)
    error = 0.5 * smoothness * STEP**2 + lipschitz * STEP
    below = loss(POINTS) - found
    assert np.all(below >= -1e-12)
    assert np.max(below) <= envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness) + 1e-12
    slopes = np.diff(found[::40]) / (40 * STEP)
    slack = error / (20 * STEP)
    assert np.max(np.abs(slopes)) <= envelope_lipschitz(lipschitz=lipschitz) + slack
    curvature = np.diff(slopes) / (40 * STEP)
    kept = envelope_strong_convexity(strong_convexity=convexity, envelope_smoothness=smoothness)
    loose = 4.0 * (0.5 * smoothness * STEP**2) / (40 * STEP) ** 2 + 1e-9
    assert np.max(curvature) <= smoothness + loose
    assert np.min(curvature) >= kept - loose


@pytest.mark.erratum("E-17")
def test_the_envelope_is_as_lipschitz_as_the_loss_and_less_strongly_convex() -> None:
    """f(w) = Lw on [−1, 1]: the slope is L wherever prox stays inside. f = μw²/2: the curvature is μb/(μ + b)."""
    lipschitz, b, mu = 1.0, 4.0, 0.5
    inner = np.linspace(-0.7, 1.0, 200)
    values = lipschitz * (inner - lipschitz / b) + 0.5 * b * (lipschitz / b) ** 2
    assert np.allclose(np.diff(values) / np.diff(inner), envelope_lipschitz(lipschitz=lipschitz))
    assert envelope_lipschitz(lipschitz=lipschitz, reading="printed") == 2.0 * lipschitz
    # The prox of μw²/2 is bw/(μ + b), inside the ball, so f_b(w) = μb/(μ + b) w²/2.
    w = 0.8
    v = b * w / (mu + b)
    value = 0.5 * mu * v * v + 0.5 * b * (w - v) ** 2
    kept = envelope_strong_convexity(strong_convexity=mu, envelope_smoothness=b)
    assert math.isclose(value, 0.5 * kept * w * w, rel_tol=1e-14)
    assert kept < mu
    # The readings that hold: 2L is a bound too, and where b ≥ μ the strong convexity is μ/2 at least.
    assert envelope_lipschitz(lipschitz=lipschitz) <= envelope_lipschitz(lipschitz=lipschitz, reading="printed")
    for smoothness in (mu, 2 * mu, 1e3 * mu):
        assert envelope_strong_convexity(strong_convexity=mu, envelope_smoothness=smoothness) >= 0.5 * mu


def test_the_gap_is_attained() -> None:
    """f(w) = L|w| at w = L/b: f − f_b = L²/(2b) exactly."""
    lipschitz, b = 3.0, 7.0
    w = lipschitz / b
    assert math.isclose(
        lipschitz * w - 0.5 * b * w * w, envelope_gap(lipschitz=lipschitz, envelope_smoothness=b), rel_tol=1e-14
    )


@pytest.mark.compares("lowy.lemma-e.10")
def test_both_readings() -> None:
    inputs = LEMMA_E10.request(lipschitz=1.0, envelope_smoothness=50.0, strong_convexity=0.5)
    printed, corrected = (LEMMA_E10.evaluate(inputs, reading).outputs for reading in LEMMA_E10.readings)
    assert printed["lipschitz"] == 2.0 * corrected["lipschitz"]
    assert printed["strong_convexity"] == 0.5
    assert corrected["strong_convexity"] == 0.5 * 50.0 / 50.5
    assert printed["smoothing_gap"] == corrected["smoothing_gap"] == 0.01
