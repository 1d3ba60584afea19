"""The best test between two Gaussian distributions, against Φ(Φ⁻¹(α) + μ) in sixty digits."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import erfc, exp, log, mp, mpf, pi, sqrt

import epsilond
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.meaning import gaussian_true_positives

RATES = [5e-324, 1e-310, 1e-300, 1e-100, 1e-15, 1e-3, 0.3, 0.5, 0.7, 0.999, 1 - 1e-12, 1 - 2.0**-53]
MEANS = [1e-14, 1e-9, 1e-6, 1e-3, 0.3, 1.0, 6.0, 30.0, 45.0, 1e4]


def normal_cdf(value: Any) -> Any:
    return erfc(-value / sqrt(2)) / 2


def quantile(probability: Any) -> Any:
    """Φ⁻¹ by Newton's method on the logarithm, which converges in the far tail."""
    if probability > 0.5:
        return -quantile(1 - probability)
    value = -sqrt(-2 * log(probability)) if probability < 0.5 else mpf(0)
    for _ in range(100):
        tail = normal_cdf(value)
        step = (log(tail) - log(probability)) * tail * sqrt(2 * pi) * exp(value**2 / 2)
        value -= step
        if abs(step) <= mpf(10) ** -50 * abs(value):
            break
    return value


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mu", MEANS)
def test_the_rate_of_a_gaussian_is_enclosed(rate: float, mu: float) -> None:
    lower, upper = gaussian_true_positives(rate, mu)
    with mp.workdps(60):
        exact = normal_cdf(quantile(mpf(rate)) + mpf(mu))
        assert lower <= exact <= upper
        if rate >= 1e-300:
            # Close in the rate, in one less the rate, and in the rate less α, up to a unit of the doubles there.
            by_density = (exact - mpf(rate)) * (4e-12 + 40 * mpf(mu))
            width = min(4e-12 * exact, 4e-12 * (1 - exact), by_density)
            assert upper - lower <= width + 4 * mpf(2) ** -53 * exact


@pytest.mark.parametrize("rate", [0.0, 5e-324, 1e-301, 1.0])
def test_a_false_positive_rate_without_relative_bounds_is_rejected(rate: float) -> None:
    setting = {"relation": "replace-one", "unit": "record", "observer": "server"}
    for question in (
        lambda: epsilond.account(epsilond.Laplace(scale_multiplier=1.0), **setting, false_positive_rates=[rate]),
        lambda: epsilond.calibrate(
            "gaussian", **setting, sampling="full", rounds=1, true_positive_rate=0.5, false_positive_rate=rate
        ),
    ):
        with pytest.raises(InvalidInput, match="false_positive_rate") as error:
            question()
        assert "1e-300" in str(error.value.faults[0].allowed)
