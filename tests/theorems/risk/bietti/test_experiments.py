"""The synthetic data of Bietti et al.: by drawing it, and in rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.bietti.experiments import SQUARED_LOSS, SYNTHETIC


@pytest.mark.compares("bietti.squared-loss")
def test_the_largest_eigenvalue_of_the_joint_hessian() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=5)
    hessian = np.outer(np.concatenate([x, x]), np.concatenate([x, x]))
    found = SQUARED_LOSS.evaluate(SQUARED_LOSS.request(feature_norm=float(np.linalg.norm(x)))).outputs
    assert found["smoothness"] == pytest.approx(float(np.linalg.eigvalsh(hessian)[-1]), rel=1e-12)
    assert found["smoothness_of_a_part"] == pytest.approx(float(np.linalg.eigvalsh(np.outer(x, x))[-1]), rel=1e-12)


@pytest.mark.compares("bietti.appendix-a")
def test_the_constants_in_rationals() -> None:
    found = dict(SYNTHETIC.evaluate(SYNTHETIC.request()).outputs)
    weights = [Fraction(1, k) for k in range(1, 101)]
    own = Fraction(1, 10**4) * sum(weights[-5:])
    wanted = {
        "covariance_trace": sum(weights),
        "squared_common_norm": Fraction(100 * 100),
        "initial_risk": 100 * sum(weights) + own,
        "global_risk": Fraction(999, 1000) * own,
        "gradient_variance": Fraction(1, 10**4) * sum(weights) / 10,
    }
    for name, value in wanted.items():
        assert found.pop(name) == pytest.approx(float(value), rel=1e-13), name
    grids = {
        "step_sizes": "0.01 0.02 0.05 0.1 0.2 0.4 0.7 1 1.2 1.5 1.8",
        "scaled_personalizations": "0 0.1 0.3 1 3 10 30 100",
        "noise_multipliers": "0 0.1 0.3 1 3 10 30 100 300 1000",
    }
    for name, text in grids.items():
        assert [one for one in found.pop(name) if one != "unbounded"] == [float(word) for word in text.split()]
    assert not found
    with pytest.raises(InvalidInput, match="cannot exceed"):
        SYNTHETIC.request(dimension=4)


@pytest.mark.erratum("E-B10")
def test_the_risk_is_twice_the_excess_of_the_loss() -> None:
    """Drawn data: E ½(y − wᵀx)² less its least value is half of ‖w − θ‖²_Σ; other figures in the mean over draws."""
    rng = np.random.default_rng(7)
    d, clients, own, tau = 6, 40, 2, 0.3
    fields = {
        "clients": clients, "dimension": d, "own_coordinates": own, "common_std": 2.0, "own_std": 1.5,
        "label_std": tau, "batch_size": 4,
    }  # fmt: skip
    found = SYNTHETIC.evaluate(SYNTHETIC.request(**fields)).outputs
    spectrum = 1.0 / np.arange(1, d + 1)
    x = rng.normal(size=(400_000, d)) * np.sqrt(spectrum)
    theta, w = rng.normal(size=d), rng.normal(size=d)
    y = x @ theta + tau * rng.normal(size=len(x))
    excess = np.mean(0.5 * (y - x @ w) ** 2) - np.mean(0.5 * (y - x @ theta) ** 2)
    assert 2.0 * excess == pytest.approx(float(spectrum @ (w - theta) ** 2), rel=0.02)
    gradient = (x @ theta - y)[:, None] * x
    assert np.mean(np.sum(gradient**2, axis=1)) / 4 == pytest.approx(found["gradient_variance"], rel=0.02)
    models = np.repeat(2.0 * rng.normal(size=(20_000, 1, d)), clients, axis=1)
    models[..., -own:] += 1.5 * rng.normal(size=(20_000, clients, own))
    assert np.mean(models**2 @ spectrum) == pytest.approx(found["initial_risk"], rel=0.03)
    apart = models - models.mean(axis=1, keepdims=True)
    assert np.mean(apart**2 @ spectrum) == pytest.approx(found["global_risk"], rel=0.03)
