"""The coordinates of a search: μ of a δ against 40 digits, and the chart of drawn noise against its definition."""

import math
from typing import Any

import mpmath
import pytest

from epsilond.accountants.estimates.charts import Chart
from epsilond.accountants.estimates.noise import (
    central_log_delta,
    central_log_mu,
    central_mu,
    likely_noise,
    likely_rate,
    likely_rounds,
)
from epsilond.accountants.target import Target


def exact(epsilon: float, mu: float) -> Any:
    """log δ of two unit normal laws whose means are μ apart."""
    with mpmath.workdps(60):
        far = mpmath.mpf(epsilon) / mpmath.mpf(mu) - mpmath.mpf(mu) / 2
        upper, lower = mpmath.erfc(far / mpmath.sqrt(2)) / 2, mpmath.erfc((far + mu) / mpmath.sqrt(2)) / 2
        return mpmath.log(upper - mpmath.exp(epsilon) * lower)


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("mu", [1e-2, 0.5, 3.0, 12.0])
def test_delta_of_a_mu_on_both_sides_of_the_mean_loss(epsilon: float, mu: float) -> None:
    wanted = exact(epsilon, mu)
    assert central_log_delta(epsilon, mu) == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 30.0, 1e8])
@pytest.mark.parametrize("log_delta", [-1e5, -700.0, -13.8, -1.0, -1e-3, -1e-9])
def test_the_mu_that_is_found_has_the_delta(epsilon: float, log_delta: float) -> None:
    found = central_log_mu(epsilon, log_delta, 0.0)
    assert central_log_delta(epsilon, math.exp(found)) == pytest.approx(log_delta, rel=1e-6)


@pytest.mark.parametrize("share", [1e-2, 0.3, 1.0, 4.0, 20.0])
def test_a_chart_is_that_of_its_fall_and_goes_back(share: float) -> None:
    start, square = 0.7, share**2
    chart = Chart.of_fall(start, square / -math.expm1(-square))
    assert chart.square == pytest.approx(square, rel=1e-6)
    for log_noise in (start - 1.0, start, start + 0.5, start + 9.0):
        there = square * math.exp(-2.0 * (log_noise - start))
        with mpmath.workdps(40):
            wanted = -mpmath.log(mpmath.expm1(mpmath.mpf(there))) / 2
        assert chart.of(log_noise) == pytest.approx(float(wanted), rel=1e-6, abs=1e-6)
        assert chart.back(chart.of(log_noise)) == pytest.approx(log_noise, abs=1e-9)
        step = (chart.of(log_noise + 1e-5) - chart.of(log_noise - 1e-5)) / 2e-5
        assert chart.fall(log_noise) == pytest.approx(step, rel=1e-6)


def test_noise_that_is_not_drawn_needs_no_chart() -> None:
    chart = Chart.of_fall(0.3, 1.0)
    assert chart.of(2.5) == chart.back(2.5) == 2.5
    assert chart.fall(2.5) == 1.0


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("noise", [1e-300, 0.5, 1e6, 1e300])
@pytest.mark.parametrize("rate", [1e-300, 1e-20, 0.5])
def test_guesses_are_finite_and_as_defined(epsilon: float, noise: float, rate: float) -> None:
    target = Target.of(epsilon, 1e-9, None)
    with mpmath.workdps(60):
        square = min((1 / mpmath.mpf(noise)) ** 2, 500)
        variance = mpmath.expm1(square) if square > 1e-40 else square
        mu = mpmath.mpf(central_mu(target))
        rounds = min(max((mu / rate) ** 2 / variance, 1), mpmath.exp(709))
        needed = 1 / mpmath.sqrt(mpmath.log1p((mu / rate) ** 2 / 1000))
        drawn = min(mu / mpmath.sqrt(1000 * variance), 1)
    assert likely_rounds(target, noise=noise, rate=rate, distance=1.0) == pytest.approx(float(rounds), rel=1e-9)
    assert likely_noise(target, rate=rate, rounds=1000, distance=1.0) == pytest.approx(float(needed), rel=1e-9)
    assert likely_rate(target, noise=noise, rounds=1000, distance=1.0) == pytest.approx(float(drawn), rel=1e-9)
