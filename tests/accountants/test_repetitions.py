"""Odds of a negative binomial number of runs: they enclose the odds that give the mean, computed with 80 digits."""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, NegativeBinomialRepetitions, SelectBest

SHAPES = (-0.999999999, -0.999, -0.5, -1e-10, 0.0, 1e-12, 1e-9, 0.5, 3.0, 1000.0)
MEANS = (1 + 2.0**-52, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1.001, 1.5, 10.0, 1e6, 1e9)


def mean_at(odds: float, shape: float) -> Any:
    """Return the mean of Papernot and Steinke 2022, Definition 1, for odds c = (1 − γ)/γ of going on after a run."""
    exact_odds, exact_shape = mp.mpf(odds), mp.mpf(shape)
    if odds == 0.0:
        return mp.mpf(1)
    if shape == 0.0:
        return exact_odds / mp.log1p(exact_odds)
    return -exact_shape * exact_odds / mp.expm1(-exact_shape * mp.log1p(exact_odds))


def possible_numbers() -> list[NegativeBinomialRepetitions]:
    """Return the numbers of runs of all means and shapes above that are accepted together."""
    numbers = []
    for mean, shape in itertools.product(MEANS, SHAPES):
        with contextlib.suppress(InvalidInput):
            numbers.append(NegativeBinomialRepetitions(mean=mean, shape=shape))
    return numbers


@pytest.mark.parametrize("number", possible_numbers(), ids=lambda number: f"{number.mean}-{number.shape}")
def test_odds_enclose_the_odds_of_the_mean(number: NegativeBinomialRepetitions) -> None:
    lower, upper = number.odds
    with mp.workdps(80):
        assert mean_at(lower, number.shape) <= number.mean <= mean_at(upper, number.shape)


@pytest.mark.parametrize("shape", [-0.5, 0.0, 0.5, 4.0])
@pytest.mark.parametrize("mean", [1 + 1e-6, 1.5, 10.0])
def test_the_mean_is_that_of_the_sum_over_numbers_of_runs(mean: float, shape: float) -> None:
    lower, upper = NegativeBinomialRepetitions(mean=mean, shape=shape).odds
    with mp.workdps(40):
        odds = (mp.mpf(lower) + mp.mpf(upper)) / 2
        # P(K = k) is proportional to (1 − γ)^k Γ(k + η)/k!, with 1 − γ = c/(1 + c): Definition 1.
        weight, total, moment = mp.mpf(1), mp.mpf(0), mp.mpf(0)
        for runs in itertools.count(1):
            total, moment = total + weight, moment + runs * weight
            if runs * weight < mp.mpf("1e-20"):
                break
            weight *= odds / (1 + odds) * (runs + mp.mpf(shape)) / (runs + 1)
        assert abs(moment / total - mean) <= 1e-11 * mean


def test_only_shapes_near_minus_one_limit_the_mean() -> None:
    rejected = set(itertools.product(MEANS, SHAPES)) - {(number.mean, number.shape) for number in possible_numbers()}
    assert {shape for _, shape in rejected} == {-0.999999999, -0.999}


@pytest.mark.parametrize("shape", SHAPES)
def test_one_run_and_hardly_more_need_almost_the_same_epsilon(shape: float) -> None:
    mechanism = Gaussian(noise_multiplier=2.0)
    log_delta = math.log(1e-5)

    def epsilon(mean: float) -> float:
        spec = SelectBest(mechanism=mechanism, repetitions=NegativeBinomialRepetitions(mean=mean, shape=shape))
        return account(spec, relation="replace-one").guarantee.curve.epsilon(log_delta).upper

    single = account(mechanism, relation="replace-one").guarantee.curve.epsilon(log_delta).upper
    assert epsilon(1.0) == pytest.approx(single, rel=1e-12)
    assert single <= epsilon(1 + 2.0**-52) <= 1.001 * single
