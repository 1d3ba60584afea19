"""Estimates of δ of many batches of fixed size: near what is certified, and a guess that spares trials."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.estimates.batch_noise import likely_noise_of_batches, likely_slope_of_batches
from epsilond.accountants.estimates.delta import likely_log_delta_of_batches
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.calibrators.search import smallest_noise

TARGET = Target.of(1.0, 1e-5, None)


def composed(noise: float, batch: int, population: int, rounds: int, effort: Effort = "default") -> Guarantee:
    release = Gaussian(noise_multiplier=noise)
    drawn = Subsampled(sampling="without-replacement", batch_size=batch, population=population, mechanism=release)
    return account(Repeated(times=rounds, mechanism=drawn), relation="replace-one", effort=effort).guarantee


def one_round(epsilon: float, mu: float, rate: float) -> float:
    """log of q δ₀(log(1 + (e^ε − 1)/q)), from the definition."""
    with mpmath.workdps(30):
        drawn = mpmath.log1p(mpmath.expm1(epsilon) / rate)
        theta = mpmath.ncdf(mu / 2 - drawn / mu) - mpmath.exp(drawn) * mpmath.ncdf(-mu / 2 - drawn / mu)
        return float(mpmath.log(rate * theta))


@pytest.mark.parametrize(("epsilon", "mu", "rate"), [(1.0, 2.0 / 3.0, 0.5), (0.3, 2.0, 0.1), (2.0, 1.0, 0.9)])
def test_one_round_is_that_of_the_definition(epsilon: float, mu: float, rate: float) -> None:
    found, _ = likely_log_delta_of_batches(epsilon, mu=mu, rate=rate, rounds=1)
    assert found == pytest.approx(one_round(epsilon, mu, rate), abs=1e-4)


@pytest.mark.parametrize("rate", [0.01, 0.4])
def test_two_rounds_are_their_convolution(rate: float) -> None:
    """δ of two rounds is E[δ(ε − L)], with L of one round on a fine grid of the noise."""
    mu, epsilon = 1.5, 0.8

    def ratio(x: mpmath.mpf) -> mpmath.mpf:
        return 1 - rate + rate * mpmath.exp(mu * x - mu * mu / 2)

    def single(level: mpmath.mpf) -> mpmath.mpf:
        """E_{e^level} of one round, of any sign."""
        if level < 0:
            return 1 - mpmath.exp(level) + mpmath.exp(level) * single(-level)
        return (
            mpmath.exp(one_round(float(level), mu, rate))
            if level > 0
            else mpmath.mpf(rate) * (2 * mpmath.ncdf(mu / 2) - 1)
        )

    with mpmath.workdps(15):
        ends = [mu / 2 + step for step in (0, 0.5, 1, 2, 3, 4, 6, 9)]

        def moved(x: mpmath.mpf) -> mpmath.mpf:
            loss = mpmath.log(ratio(x))
            return mpmath.npdf(x) * (ratio(x) * single(epsilon - loss) + single(epsilon + loss))

        inside = mpmath.quad(moved, ends, maxdegree=5)
        outside = 1 - mpmath.quad(lambda x: mpmath.npdf(x) * (ratio(x) + 1), ends, maxdegree=5)
        wanted = float(mpmath.log(inside + outside * single(mpmath.mpf(epsilon))))
    found, _ = likely_log_delta_of_batches(epsilon, mu=mu, rate=rate, rounds=2)
    assert found == pytest.approx(wanted, abs=3e-4)


@pytest.mark.parametrize(
    ("epsilon", "noise", "batch", "population", "rounds", "near"),
    [
        (1.0, 1.94, 100, 1000, 100, 1e-4),
        (0.1, 15.0, 100, 1000, 100, 1e-4),
        (1.0, 0.85, 100, 10**6, 100, 2e-3),
        (500.0, 0.1, 1, 1000, 100, 1e-4),
        (2.0, 1.0, 900, 1000, 5, 1e-4),
        (0.1, 0.75, 1, 10**6, 2000, 0.05),
    ],
)
def test_it_is_near_what_is_certified(
    epsilon: float, noise: float, batch: int, population: int, rounds: int, near: float
) -> None:
    found, _ = likely_log_delta_of_batches(epsilon, mu=2.0 / noise, rate=batch / population, rounds=rounds)
    lower, upper = composed(noise, batch, population, rounds).curve.bound_log_delta(epsilon)
    assert lower - near <= found <= upper + near


def test_it_falls_with_epsilon() -> None:
    values = [likely_log_delta_of_batches(e, mu=1.0, rate=0.1, rounds=50)[0] for e in (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)]
    assert all(after < before for before, after in pairwise(values))


@pytest.mark.parametrize(
    ("target", "batch", "population", "rounds"),
    [
        (TARGET, 100, 1000, 100),
        (Target.of(10.0, 1e-5, None), 100, 1000, 100),
        (TARGET, 100, 10**6, 100),
        (Target.of(500.0, 1e-6, None), 1, 1000, 100),
        (Target.of(0.1, 1e-6, None), 1, 10**6, 2000),
    ],
)
def test_a_search_from_there_takes_three_trials_at_most(
    target: Target, batch: int, population: int, rounds: int
) -> None:
    tried: list[float] = []

    def family(noise: float, effort: Effort) -> Guarantee:
        tried.append(noise)
        return composed(noise, batch, population, rounds, effort)

    drawn = {"rate": batch / population, "rounds": rounds, "distance": 2.0}
    guess = likely_noise_of_batches(target, **drawn)  # type: ignore[arg-type]
    slope = likely_slope_of_batches(target, noise=guess, **drawn)  # type: ignore[arg-type]
    found = smallest_noise(family, target, guess=guess, slope=slope)
    assert len(set(tried)) <= 3
    assert found.minimal == "proved"
    assert found.guarantee.curve.upper_log_delta(target.epsilon) <= target.log_delta
    assert math.isfinite(slope)
