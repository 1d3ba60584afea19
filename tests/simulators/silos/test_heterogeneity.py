"""v*² of silos at the minimiser of the logistic loss: in closed form, and by another minimiser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from epsilond.simulators.silos.heterogeneity import heterogeneity_at_minimiser
from epsilond.simulators.silos.silos import SiloRecords


def silos_of(features: Any, targets: Any) -> SiloRecords:
    return SiloRecords(tuple(features), tuple(targets), features[0], targets[0])


def test_silos_with_one_feature_in_closed_form() -> None:
    """With x = 1, silo i has the gradient σ(w) − p_i for its share p_i of positive targets, and σ(w*) is their mean."""
    positives, records = [3, 10, 14, 18], 20
    targets = [np.repeat([1.0, -1.0], [count, records - count]) for count in positives]
    found = heterogeneity_at_minimiser(silos_of([np.ones((records, 1))] * 4, targets))
    assert found == pytest.approx(np.var([count / records for count in positives]), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_silos_by_another_minimiser(seed: int) -> None:
    """A quasi-Newton method on the mean loss, and gradients by differences."""
    rng = np.random.default_rng(seed)
    features = [rng.normal(size=(30 + 5 * i, 3)) + 0.5 * i for i in range(3)]
    targets = [np.where(rng.random(len(x)) < 0.6, 1.0, -1.0) for x in features]

    def losses(model: Any) -> Any:
        return np.array([np.mean(np.logaddexp(0, -y * (x @ model))) for x, y in zip(features, targets, strict=True)])

    best = minimize(lambda model: float(losses(model).mean()), np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    gradients = approx_fprime(best, losses, 1e-7)
    exact = float(np.mean(np.sum(gradients**2, axis=1)))
    assert heterogeneity_at_minimiser(silos_of(features, targets)) == pytest.approx(exact, rel=1e-5, abs=1e-12)


def test_equal_silos_have_none() -> None:
    rng = np.random.default_rng(0)
    features, targets = rng.normal(size=(40, 2)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    assert heterogeneity_at_minimiser(silos_of([features] * 3, [targets] * 3)) < 1e-20
