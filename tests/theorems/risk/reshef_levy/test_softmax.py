"""The constants of softmax regression, by derivatives of the loss in many digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.theorems.risk.reshef_levy.softmax import SOFTMAX


def gradient(weights: np.ndarray, features: np.ndarray, label: int) -> np.ndarray:
    logits = weights @ features
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    shares[label] -= 1.0
    return np.outer(shares, features)


@pytest.mark.compares("reshef.experiments")
def test_the_constants_are_reached_and_not_exceeded() -> None:
    rng = np.random.default_rng(2)
    features = rng.uniform(size=6)
    norm = float(np.linalg.norm(features))
    found = SOFTMAX.evaluate(SOFTMAX.request(feature_norm=norm, diameter=0.5)).outputs
    sure = np.zeros((4, 6))
    sure[1] = 2000.0 * features / norm**2  # all mass on a class that is not the label
    steepest = np.linalg.norm(gradient(sure, features, 0))
    torn = np.zeros((4, 6))
    torn[:2] = 2000.0 * features / norm**2  # two classes alike, where the Hessian is largest
    shift = np.zeros((4, 6))
    shift[0], shift[1] = features, -features
    shift *= 1e-6 / np.linalg.norm(shift)
    curved = np.linalg.norm(gradient(torn + shift, features, 0) - gradient(torn - shift, features, 0)) / 2e-6
    assert found["lipschitz"] == pytest.approx(float(steepest), rel=1e-12)
    assert found["smoothness"] == pytest.approx(float(curved), rel=1e-6)
    assert found["smoothness"] == pytest.approx(norm * norm / 2.0, rel=1e-14)
    assert found["clipping_norm"] == pytest.approx(steepest + norm * norm / 2.0, rel=1e-12)
    for _ in range(200):
        one, other = rng.normal(size=(2, 4, 6)) * rng.uniform(0.1, 5.0)
        apart = np.linalg.norm(gradient(one, features, 2) - gradient(other, features, 2))
        assert np.linalg.norm(gradient(one, features, 2)) <= found["lipschitz"] * (1 + 1e-12)
        assert apart <= found["smoothness"] * np.linalg.norm(one - other) * (1 + 1e-12)


def test_the_figures_of_the_paper() -> None:
    found = SOFTMAX.evaluate(SOFTMAX.request(feature_norm=math.sqrt(785), diameter=0.1)).outputs
    assert found["lipschitz"] == pytest.approx(math.sqrt(1570))
    assert found["smoothness"] == pytest.approx(785 / 2)
    assert found["clipping_norm"] == pytest.approx(118.12, abs=5e-3)
