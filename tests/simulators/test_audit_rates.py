"""Confidence bounds on a probability, against the binomial tails that define them."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from epsilond.simulators.audits.rates import joint_confidence, lower_rate, upper_rate

CASES = ((1, 10), (5, 10), (9, 10), (3, 1000), (500, 1000), (7, 500_000), (250_000, 500_000))


def at_most(successes: int, trials: int, probability: float) -> mp.mpf:
    """P(Bin(n, p) ≤ k), summed term by term."""
    p = mp.mpf(probability)
    return mp.fsum(mp.binomial(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(successes + 1))


@pytest.mark.parametrize(("successes", "trials"), [case for case in CASES if case[0] <= 1000])
@pytest.mark.parametrize("error", [0.025, 1e-6])
def test_each_end_makes_its_tail_exactly_as_likely_as_the_error(successes: int, trials: int, error: float) -> None:
    with mp.workdps(40):
        low = float(lower_rate(successes, trials, error))
        high = float(upper_rate(successes, trials, error))
        assert low < successes / trials < high
        assert abs((1 - at_most(successes - 1, trials, low)) / error - 1) < 1e-8
        assert abs(at_most(successes, trials, high) / error - 1) < 1e-8


@pytest.mark.parametrize("trials", [1, 100, 10**6])
def test_no_success_and_no_failure(trials: int) -> None:
    assert float(lower_rate(0, trials, 0.05)) == 0.0
    assert float(upper_rate(trials, trials, 0.05)) == 1.0
    assert float(upper_rate(0, trials, 0.05)) == pytest.approx(-np.expm1(np.log(0.05) / trials), rel=1e-12)
    assert float(lower_rate(trials, trials, 0.05)) == pytest.approx(np.exp(np.log(0.05) / trials), rel=1e-12)


def test_ends_mirror_each_other() -> None:
    for successes, trials in CASES:
        low = float(lower_rate(successes, trials, 0.01))
        assert float(upper_rate(trials - successes, trials, 0.01)) == pytest.approx(1 - low, rel=1e-10)


def test_coverage_of_many_experiments() -> None:
    generator = np.random.default_rng(3)
    counts = generator.binomial(400, 0.03, size=20_000)
    assert np.mean(lower_rate(counts, 400, 0.05) > 0.03) <= 0.05
    assert np.mean(upper_rate(counts, 400, 0.05) < 0.03) <= 0.05


def test_bonferroni() -> None:
    assert joint_confidence(200, 0.999) == pytest.approx(1 - 0.001 / 200, abs=1e-15)
