"""log θ and log(1 − θ) against mpmath, where it hurts: small shifts, far tails, the seams between the regimes."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.numerics.special import (
    LOG_ACCURACY,
    log1m_exp,
    log1m_exp_at,
    log_difference,
    log_one_minus_exp,
    log_sum,
    log_theta,
    log_theta_complement,
)
from tests.oracles.hockey_stick import theta

SHIFTS = (1e-290, 1e-12, 1e-5, 0.3, 0.4999, 0.5001, 1.0, 2.0, 7.3, 40.0, 293.04119671117854)
THRESHOLDS = (-30.0, -1.0001, -0.9999, -1e-9, 0.0, 0.4, 0.99, 1.01, 3.0, 12.0, 37.0)
"""Values of a = ε/r − r/2; −1, r/2 = max(1, a)/4 and c = 1 are the seams."""


def cases() -> list[tuple[float, float]]:
    points = [(shift * (a + 0.5 * shift), shift) for shift, a in itertools.product(SHIFTS, THRESHOLDS)]
    return [(epsilon, shift) for epsilon, shift in points if epsilon >= 0]


@pytest.mark.parametrize(("epsilon", "shift"), cases())
def test_theta_and_its_complement_are_within_the_stated_accuracy(epsilon: float, shift: float) -> None:
    value, rest = theta(epsilon, shift)
    for ours, truth in ((log_theta(epsilon, shift), value), (log_theta_complement(epsilon, shift), rest)):
        with mp.workdps(50):
            exact = mp.log(truth)
            assert abs(mp.mpf(float(ours)) - exact) <= LOG_ACCURACY * (1 + abs(exact))


def test_many_at_once_are_within_the_stated_accuracy() -> None:
    """Few numbers are computed one by one, many as arrays."""
    epsilons, shifts = (np.asarray(side) for side in zip(*cases(), strict=True))
    values, rests = log_theta(epsilons, shifts), log_theta_complement(epsilons, shifts)
    for place, (epsilon, shift) in enumerate(cases()):
        for ours, truth in zip((values[place], rests[place]), theta(epsilon, shift), strict=True):
            with mp.workdps(50):
                exact = mp.log(truth)
                assert abs(mp.mpf(float(ours)) - exact) <= LOG_ACCURACY * (1 + abs(exact))


@pytest.mark.parametrize("shift", [1e-9, 1e-4, 4.479313481578082e-05])
def test_a_small_theta_leaves_a_complement_with_relative_accuracy(shift: float) -> None:
    with mp.workdps(60):
        exact = mp.log(theta(0.0, shift)[1])
        assert float(abs(mp.mpf(float(log_theta_complement(0.0, shift))) / exact - 1)) < 1e-14


def test_a_large_epsilon_does_not_lose_the_threshold() -> None:
    # a = ε/r − r/2 cancels from 4e4 to about 1 here; the plain quotient would be off by 1e-11.
    epsilon, shift = 1e9, 44721.8
    with mp.workdps(80):
        exact = mp.log(theta(epsilon, shift)[0])
        assert abs(mp.mpf(float(log_theta(epsilon, shift))) - exact) <= LOG_ACCURACY * (1 + abs(exact))


def test_ends_of_the_domain() -> None:
    assert float(log_theta(1.0, 0.0)) == -math.inf
    assert float(log_theta_complement(1.0, 0.0)) == 0.0
    assert float(log_theta(1.0, math.inf)) == 0.0
    assert float(log_theta_complement(1.0, math.inf)) == -math.inf
    assert float(log_theta(math.inf, 3.0)) == -math.inf
    few = [(1.0, 0.0), (1.0, math.inf), (math.inf, 3.0), (1e300, 1e-3), (1.0, 1e200)]
    epsilons, shifts = (np.asarray(side) for side in zip(*few, strict=True))
    for function in (log_theta, log_theta_complement):
        many = function(np.tile(epsilons, 8), np.tile(shifts, 8))
        assert many.tolist() == function(epsilons, shifts).tolist() * 8


def test_far_tail_of_a_tiny_shift() -> None:
    # ε/r = 1e9: θ ~ φ(c) r/c², beyond every double but not beyond its logarithm.
    value = float(log_theta(1.0, 1e-9))
    assert math.isfinite(value)
    assert value == pytest.approx(-0.5e18, rel=1e-8)


def test_log_difference_keeps_digits_for_wide_and_narrow_gaps() -> None:
    larger = np.zeros(4)
    smaller = np.asarray([-1e-12, -0.5, -50.0, -np.inf])
    with mp.workdps(60):
        exact = [float(mp.log(1 - mp.e ** mp.mpf(s))) if s > -np.inf else 0.0 for s in smaller]
    assert np.allclose(log_difference(larger, smaller), exact, rtol=4e-16, atol=0)
    assert float(log1m_exp(0.0)) == -math.inf


def test_one_minus_an_exponential_of_one_number_or_many() -> None:
    places = (-1e-300, -1e-9, -0.69, -0.7, -0.71, -5.0, -40.0, -800.0)
    many = log_one_minus_exp(np.asarray(places))
    with mp.workdps(60):
        for x, value in zip(places, many.tolist(), strict=True):
            exact = float(mp.log(-mp.expm1(mp.mpf(x))))
            alone = log_one_minus_exp(np.asarray([[x]]))
            assert alone.shape == (1, 1)
            assert float(alone[0, 0]) == pytest.approx(exact, rel=4e-16)
            assert value == pytest.approx(exact, rel=4e-16)
            assert float(log_one_minus_exp(np.asarray(x))) == float(alone[0, 0])
    assert [float(log_one_minus_exp(np.asarray(x))) for x in (0.0, 1e-9)] == [-math.inf, -math.inf]
    assert float(log_one_minus_exp(np.asarray(-math.inf))) == 0.0


def test_logarithms_of_single_numbers_are_those_of_arrays() -> None:
    with mp.workdps(60):
        for x in (-1e-300, -1e-9, -0.69, -0.7, -5.0, -40.0):
            assert log1m_exp_at(x) == pytest.approx(float(mp.log(-mp.expm1(mp.mpf(x)))), rel=4e-16)
        for first, second in ((-3.0, -3.0), (-3.0, -40.0), (2.0, -800.0), (-1e4, -1e4 - 1.0)):
            exact = float(mp.log(mp.exp(mp.mpf(first)) + mp.exp(mp.mpf(second))))
            assert log_sum(first, second) == log_sum(second, first) == pytest.approx(exact, rel=4e-16)
    assert log1m_exp_at(0.0) == -math.inf
    assert log_sum(-math.inf, -math.inf) == -math.inf
    assert log_sum(-math.inf, -7.0) == -7.0
