"""Limits on δ that keep a true positive rate, against the best tests of one sampled round from their definition."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mpmath import erf, erfinv, exp, findroot, mp, mpf, sqrt

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.attackers.aimed_tests import AimedTests, gaussian_threshold, largest_log_delta
from epsilond.accountants.composition.exact_laws import ExactProfile
from epsilond.accountants.target import RiskTarget

SETTING: dict[str, Any] = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
RATES = ((0.3, 0.1), (0.15, 0.1), (0.02, 0.001), (0.7, 0.6))


def cdf(x: Any) -> Any:
    return (1 + erf(x / sqrt(2))) / 2


def quantile(probability: Any) -> Any:
    return sqrt(2) * erfinv(2 * mpf(probability) - 1)


def best_true_positives(noise: float, rate: float, false_positives: float) -> Any:
    """The larger rate of both directions for one Poisson-sampled Gaussian: thresholds, as its likelihood ratio rises."""
    shift, q, alpha = 1 / mpf(noise), mpf(rate), mpf(false_positives)
    removed = (1 - q) * alpha + q * cdf(quantile(alpha) + shift)
    threshold = findroot(lambda c: (1 - q) * cdf(c) + q * cdf(c - shift) - alpha, quantile(alpha))
    return max(removed, cdf(threshold))


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("rate", [0.3, 0.9])
def test_the_noise_of_one_sampled_round_is_that_of_the_best_tests(rates: tuple[float, float], rate: float) -> None:
    limit, false_positives = rates
    answer = epsilond.calibrate(
        "gaussian",
        **SETTING,
        sampling="poisson",
        rate=rate,
        rounds=1,
        true_positive_rate=limit,
        false_positive_rate=false_positives,
    )
    noise = answer.parameters.noise_multiplier
    with mp.workdps(40):
        assert best_true_positives(noise, rate, false_positives) <= limit
        assert best_true_positives(noise * (1 - 1e-5), rate, false_positives) > limit


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0])
def test_a_curve_passes_only_if_the_best_test_keeps_the_rate(rates: tuple[float, float], noise: float) -> None:
    _, false_positives = rates
    step = epsilond.Subsampled(sampling="poisson", rate=0.3, mechanism=epsilond.Gaussian(noise_multiplier=noise))
    curve = account(step, relation="add-or-remove-one").guarantee.curve
    with mp.workdps(40):
        exact = float(best_true_positives(noise, 0.3, false_positives))
    assert not AimedTests(RiskTarget("true_positive_rate", exact * (1 - 1e-9), false_positives)).meets(curve)
    assert AimedTests(RiskTarget("true_positive_rate", exact * (1 + 3e-6), false_positives)).meets(curve)


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("place", [-0.4, -1e-3, 0.0, 1e-9, 0.3, 2.0, 5.0])
def test_the_largest_delta_is_rounded_down_and_close(rates: tuple[float, float], place: float) -> None:
    limit, false_positives = rates
    found = largest_log_delta(RiskTarget("true_positive_rate", limit, false_positives), place)
    with mp.workdps(60):
        beta, alpha, gamma = mpf(limit), mpf(false_positives), exp(mpf(place))
        # The rate is kept by E_γ of the direction, or by that of the other one at 1/γ, from the definition.
        delta = beta - gamma * alpha if place >= 0 else (beta - (1 - gamma) - gamma * alpha) / gamma
        assert exp(mpf(found)) <= max(delta, 0)
        if delta > 1e-6:
            assert exp(mpf(found)) >= delta * (1 - mpf("1e-9"))


@pytest.mark.parametrize("rates", RATES)
def test_the_first_threshold_is_that_of_the_gaussian_pair(rates: tuple[float, float]) -> None:
    limit, false_positives = rates
    place = gaussian_threshold(RiskTarget("true_positive_rate", limit, false_positives))
    with mp.workdps(40):
        mu = quantile(limit) - quantile(false_positives)
        cut = -quantile(false_positives)  # reject above it
        assert place == pytest.approx(float(mu * cut - mu**2 / 2), rel=1e-9, abs=1e-9)


def test_a_search_at_low_noise_evaluates_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most steps do not include the record and its noise is small: a point of the curve takes a twentieth of a second."""
    evaluated = 0
    original = ExactProfile.log_delta_bounds

    def counted(self: ExactProfile, epsilon: float) -> Any:
        nonlocal evaluated
        evaluated += 1
        return original(self, epsilon)

    monkeypatch.setattr(ExactProfile, "log_delta_bounds", counted)
    answer = epsilond.calibrate(
        "gaussian",
        **SETTING,
        sampling="poisson",
        rate=0.01,
        rounds=1000,
        true_positive_rate=0.9,
        false_positive_rate=0.01,
    )
    assert answer.guarantee.minimal == "proved"
    assert math.isfinite(answer.parameters.noise_multiplier)
    assert 20 <= evaluated <= 150  # a trade-off at every noise takes more than 600
