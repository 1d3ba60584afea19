"""Guesses at the noise of batches of fixed size, and noises that are shared by algorithms of one plan."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.estimates.batch_noise import likely_noise_of_batches, likely_slope_of_batches
from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.mb_sgd.members import FAMILY, members_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Run
from epsilond.calibrators.search import smallest_noise

POPULATION = 1000
TARGET = Target.of(1.0, 1e-5, None)


@pytest.mark.parametrize(("batch_size", "rounds"), [(100, 100), (8, 20_000), (500, 50)])
def test_the_guess_is_nearer_than_that_of_the_central_limit(batch_size: int, rounds: int) -> None:
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        release = Gaussian(noise_multiplier=noise_multiplier)
        batch = Subsampled(
            sampling="without-replacement", batch_size=batch_size, population=POPULATION, mechanism=release
        )
        run = Repeated(times=rounds, mechanism=batch)
        return account(run, relation="replace-one", effort=effort).guarantee

    drawn = {"rate": batch_size / POPULATION, "rounds": rounds, "distance": 2.0}
    guess = likely_noise_of_batches(TARGET, **drawn)  # type: ignore[arg-type]
    found = smallest_noise(family, TARGET, guess=guess).noise
    usual = likely_noise(TARGET, **drawn)  # type: ignore[arg-type]
    assert abs(math.log(guess / found)) <= min(0.005, 0.25 * abs(math.log(usual / found)))


@pytest.mark.parametrize("rate", [1e-6, 0.1, 0.999])
@pytest.mark.parametrize("rounds", [1, 10**9])
def test_guesses_are_finite_and_slopes_fall(rate: float, rounds: int) -> None:
    noise = likely_noise_of_batches(TARGET, rate=rate, rounds=rounds, distance=2.0)
    assert 0.0 < noise < math.inf
    assert -math.inf < likely_slope_of_batches(TARGET, rate=rate, rounds=rounds, noise=noise, distance=2.0) < 0.0


def test_a_full_batch_is_guessed_as_ever() -> None:
    full = {"rate": 1.0, "rounds": 7, "distance": 2.0}
    assert likely_noise_of_batches(TARGET, **full) == likely_noise(TARGET, **full)  # type: ignore[arg-type]


def test_the_noise_of_a_run_is_searched_once_for_all_that_ask_for_it() -> None:
    searched = []

    def search(*arguments: Any, **named: Any) -> Any:
        searched.append(named)
        return smallest_noise(*arguments, **named)

    family = replace(FAMILY, search=search)
    problem = MbSgdProblem(
        epsilon=0.731,
        delta=1e-5,
        samples_per_client=POPULATION,
        clients=5,
        dimension=2,
        lipschitz=1.0,
        diameter=1.0,
        smoothness=1.0,
        relation="replace-one",
        unit="record",
        observer="server",
    )
    (member,) = members_of(problem, Run(batch_size=50, rounds=20))
    first, second = Certificates(family, problem), Certificates(family, problem)
    assert first.noise(member) == second.noise(member) == first.of(member).noise
    assert len(searched) == 1
    stricter = replace(problem, epsilon=0.7)
    (other,) = members_of(stricter, Run(batch_size=50, rounds=20))
    assert Certificates(family, stricter).noise(other) > first.noise(member)
    assert len(searched) == 2


@pytest.mark.parametrize("above", [1e-7, 1e-3])
def test_where_delta_hardly_falls_a_smaller_epsilon_is_told(above: float) -> None:
    """One record of a thousand, twice: with δ just above the chance of being drawn ε = 0, whatever the noise."""
    delta = (1.0 - (1.0 - 1e-3) ** 2) * (1.0 + above)
    asked = {
        "samples_per_client": 1000,
        "clients": 50,
        "participants": 10,
        "rounds": 2,
        "batch_size": 1,
        "relation": "replace-one",
        "unit": "record",
        "observer": "server",
    }
    problem = {"dimension": 100, "lipschitz": 1.0, "diameter": 10.0, "smoothness": 1.0}
    found = epsilond.calibrate("mb-sgd", epsilon=1.0, delta=delta, **asked, **problem)
    assert found.guarantee.epsilon.upper == 0.0
