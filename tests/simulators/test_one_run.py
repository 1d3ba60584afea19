"""Auditing in one run: error probabilities against their definition, and bounds against mechanisms that attain them."""

import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.simulators.memberships.one_run import epsilon_lower, guess, log_error
from tests.oracles.one_run import error_probability

CASES = [
    (canaries, guesses, right, epsilon, delta)
    for canaries, guesses, right in ((1, 1, 1), (1, 1, 0), (40, 20, 17), (200, 200, 130), (1000, 60, 60))
    for epsilon in (0.0, 0.7, 3.0)
    for delta in (0.0, 1e-9, 1e-4)
]


@pytest.mark.parametrize(("canaries", "guesses", "right", "epsilon", "delta"), CASES)
def test_an_error_probability_is_the_theorems_and_never_below_it(canaries, guesses, right, epsilon, delta):
    told = {"canaries": canaries, "guesses": guesses, "right": right, "epsilon": epsilon, "delta": delta}
    exact, found = error_probability(**told), math.exp(log_error(**told))
    assert found >= exact * (1 - mp.mpf(10) ** -13)
    assert found <= min(exact * (1 + mp.mpf(10) ** -8), 1)


def test_the_bound_is_where_the_error_probability_meets_the_error():
    told = {"canaries": 500, "guesses": 100, "right": 90, "delta": 1e-6}
    bound = epsilon_lower(**told, error=0.05)
    assert float(error_probability(**told, epsilon=bound)) == pytest.approx(0.05, rel=1e-6)
    assert float(error_probability(**told, epsilon=bound)) <= 0.05 * (1 + 1e-9)


def test_without_delta_one_guess_proves_what_clopper_and_pearson_prove():
    # All of r right: P = (e^ε/(1 + e^ε))^r.
    bound = epsilon_lower(canaries=30, guesses=30, right=30, delta=0.0, error=0.05)
    rate = 0.05 ** (1 / 30)
    assert bound == pytest.approx(math.log(rate / (1 - rate)), rel=1e-9)


@pytest.mark.parametrize(("right", "delta"), [(50, 0.0), (10, 0.0), (95, 0.5), (0, 0.0)])
def test_nothing_is_proved_by_chance_or_where_delta_explains_it(right, delta):
    assert epsilon_lower(canaries=100, guesses=100, right=right, delta=delta, error=0.05) == 0.0


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_randomized_response_on_every_canary_is_bounded_closely_and_not_beyond_its_error(epsilon):
    # Independent answers attain the theorem at δ = 0: 100 experiments, of which one in twenty may go wrong.
    generator, rate = np.random.default_rng(5), 1 / (1 + math.exp(-epsilon))
    bounds = []
    for _ in range(100):
        members = generator.random(400) < 0.5
        answers = np.where(generator.random(400) < rate, members, ~members)
        # Answers are scores of two values; ties are broken by the place of the canary.
        bounds.append(guess(answers.astype(float), members, delta=0.0, error=0.05).epsilon_lower)
    wrong = sum(bound > epsilon for bound in bounds)
    # More than 13 of 100 at one in twenty have probability 5e-4.
    assert wrong <= 13
    assert np.median(bounds) > 0.45 * epsilon


def test_a_mechanism_that_sometimes_tells_everything_is_charged_to_delta():
    # With probability δ all canaries are told, else nothing: (0, δ)-private, and the bound is 0 on nearly all runs.
    generator, delta, proved = np.random.default_rng(6), 0.02, 0
    for _ in range(300):
        members = generator.random(60) < 0.5
        told = generator.random() < delta
        scores = np.where(told, members.astype(float), generator.random(60))
        proved += guess(scores, members, delta=delta, error=0.05).epsilon_lower > 0.0
    assert proved <= 300 * 0.05
