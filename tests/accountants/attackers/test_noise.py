"""Figures of an attacker on Gaussian and Laplace noise, against closed forms and integrals in many digits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mpmath import exp, inf, log, mp, mpf, ncdf, npdf, quad

from epsilond.accountants.account import account
from epsilond.accountants.attackers.bayes_error import bayes_error
from epsilond.accountants.attackers.directions import directed_delta
from epsilond.accountants.attackers.gaussian_chords import gaussian_mu_at
from epsilond.accountants.attackers.renyi import renyi_divergence
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.attackers.trade_off_curve import trade_off_curve
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Composed, Gaussian, Laplace, Repeated, Subsampled

NOISES = (1e-3, 0.1, 1.0, 30.0, 1e6)


def curve_of(spec: Any, relation: Any = "add-or-remove-one") -> Curve:
    return account(spec, relation=relation).guarantee.curve


def poisson(rate: float, noise: float) -> Subsampled:
    return Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))


@pytest.mark.parametrize("noise", NOISES)
def test_a_gaussian_is_the_smallest_above_itself(noise: float) -> None:
    curve = curve_of(Gaussian(noise_multiplier=noise))
    lower, upper = smallest_gaussian(curve)
    with mp.workdps(40):
        assert lower <= 1 / mpf(noise) <= upper
    assert upper == pytest.approx(lower, rel=1e-13)
    for order in (1.5, 2.0, 64.0):
        divergence = renyi_divergence(curve, order)
        with mp.workdps(40):
            assert divergence.lower <= mpf(order) / (2 * mpf(noise) ** 2) <= divergence.upper


@pytest.mark.parametrize("rate", [1e-9, 0.02, 0.5, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("noise", [0.1, 1.0, 30.0])
def test_the_trade_off_of_a_gaussian_is_a_threshold(noise: float, rate: float) -> None:
    (point,) = trade_off_curve(curve_of(Gaussian(noise_multiplier=noise)), (rate,))
    with mp.workdps(50):
        start = mp.findroot(lambda x: ncdf(x) - mpf(rate), float_quantile(rate))
        exact = ncdf(start + 1 / mpf(noise))
        assert point.true_positive_rate.lower <= exact <= point.true_positive_rate.upper


def float_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))


@pytest.mark.parametrize("prior", [1e-4, 0.2, 0.5, 0.8])
def test_the_error_on_a_gaussian_is_that_of_the_likelihood_ratio(prior: float) -> None:
    lower, upper = bayes_error(curve_of(Gaussian(noise_multiplier=2.0)), prior)
    with mp.workdps(30):
        mu, pi = mpf("0.5"), mpf(prior)
        threshold = mu / 2 + log((1 - pi) / pi) / mu
        exact = pi * ncdf(threshold - mu) + (1 - pi) * ncdf(-threshold)
        assert lower <= exact <= upper
    assert upper - lower <= 1e-12


@pytest.mark.parametrize("shift", [1e-7, 0.05, 1.0, 20.0, 400.0])
@pytest.mark.parametrize("order", [1.01, 2.0, 33.0])
def test_the_renyi_divergence_of_laplace_noise(shift: float, order: float) -> None:
    lower, upper = renyi_divergence(curve_of(Laplace(scale_multiplier=1.0 / shift)), order)
    with mp.workdps(60):
        s, a = mpf(1.0) / mpf(1.0 / shift), mpf(order)
        moment = (a * exp((a - 1) * s) + (a - 1) * exp(-a * s)) / (2 * a - 1)
        exact = log(moment) / (a - 1)
        assert lower <= exact * (1 + mpf("1e-14"))
        assert exact <= upper * (1 + mpf("1e-14"))
    assert upper - lower <= 1e-6 * upper


@pytest.mark.parametrize(("rate", "noise", "order"), [(0.01, 1.0, 1.5), (0.01, 1.0, 4.0), (0.5, 2.0, 8.0)])
def test_the_renyi_divergence_of_replaced_records(rate: float, noise: float, order: float) -> None:
    lower, upper = renyi_divergence(curve_of(poisson(rate, noise), "replace-one"), order)
    with mp.workdps(30):
        q, s, a = mpf(rate), 1 / mpf(noise), mpf(order)

        def density(x: Any, sign: int) -> Any:
            return (1 - q) * npdf(x) + q * npdf(x, sign * s)

        moment = quad(
            lambda x: density(x, -1) * ((density(x, 1) / density(x, -1)) ** a - 1), [-20, -4, 0, 4, 10, 20, 40]
        )
        exact = log(1 + moment) / (a - 1)
        assert lower <= exact <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("epsilon", [-3.0, -0.2, 0.0, 0.4])
def test_the_directions_of_a_sampled_gaussian_keep_their_names(epsilon: float) -> None:
    q, s = 0.3, 1.25
    curve = curve_of(poisson(q, 1 / s))
    with mp.workdps(30):

        def with_it(x: Any) -> Any:
            return (1 - mpf(q)) * npdf(x) + mpf(q) * npdf(x, 1 / mpf(1 / s))

        gamma = exp(mpf(epsilon))
        pieces = [-inf, *(mpf(k) / 4 for k in range(-24, 33)), inf]
        forward = quad(lambda x: max(with_it(x) - gamma * npdf(x), 0), pieces)
        backward = quad(lambda x: max(npdf(x) - gamma * with_it(x), 0), pieces)
    for direction, exact in (("with-against-without", forward), ("without-against-with", backward)):
        bounds = directed_delta(curve, epsilon, direction)  # type: ignore[arg-type]
        assert math.exp(bounds.log_delta.upper) == pytest.approx(float(exact), rel=1e-5, abs=1e-9)
        assert math.exp(bounds.log_delta.lower) == pytest.approx(float(exact), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("shift", [1e-15, 1e-9, 1e-3])
def test_the_smallest_gaussian_above_little_laplace_noise(shift: float) -> None:
    """As s approaches 0, δ(0) is about s/2, and a Gaussian with this advantage has μ = s √(2π)/2."""
    lower, upper = smallest_gaussian(curve_of(Laplace(scale_multiplier=1.0 / shift)))
    scale = shift * math.sqrt(2.0 * math.pi) / 2.0
    assert lower <= scale * (1 + 1e-3)
    assert scale * (1 - 1e-3) <= upper
    assert upper <= scale * (1 + 1e-2)


def test_sampling_does_not_lower_the_smallest_gaussian() -> None:
    """Far losses are those of records that are drawn in every round."""
    lower, upper = smallest_gaussian(curve_of(Repeated(times=100, mechanism=poisson(0.1, 1.0))))
    assert 9.9 <= lower <= upper <= 10.0 * (1 + 1e-12)


def test_parts_of_several_kinds_add_their_squares() -> None:
    parts = [Gaussian(noise_multiplier=2.0), Laplace(scale_multiplier=2.0)]
    whole = smallest_gaussian(curve_of(Composed(mechanisms=tuple(parts))))
    single = [smallest_gaussian(curve_of(part)) for part in parts]
    assert max(bound.lower for bound in single) * (1 - 1e-6) <= whole.upper
    assert whole.upper == pytest.approx(math.hypot(*(bound.upper for bound in single)), rel=1e-4)
    assert whole.lower <= whole.upper


@pytest.mark.parametrize("mu", [1e-3, 0.3, 2.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 3.0, 50.0])
def test_the_inverse_is_below_the_gaussian(mu: float, epsilon: float) -> None:
    log_delta = gaussian_pair(mu).log_delta_bounds(epsilon).lower
    inverse = gaussian_mu_at(epsilon, log_delta)
    assert inverse <= mu
    if -1e8 < log_delta < -1e-12:
        assert inverse == pytest.approx(mu, rel=1e-6)
