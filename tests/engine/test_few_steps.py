"""A few steps of the sampled Gaussian, alike or not: against an integral of their own, closed forms and simulated runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.meaning import FALSE_POSITIVE_RATES, meaning
from epsilond.accountants.specs import Composed, Gaussian, Repeated, Subsampled
from tests.engine.pairs import poisson
from tests.oracles.two_steps import log_delta_of_two

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.facts import SampledGaussianLaw
    from epsilond.accountants.quantities import Relation

Step = tuple[float, float]
"""Rate and noise multiplier."""

PAIRS = [
    ((0.01, 1.0), (0.013, 1.25)),
    ((0.3, 2.0), (0.05, 0.5)),
    ((0.001, 0.4), (0.9, 3.0)),
    ((1e-5, 0.25), (0.02, 1.0)),
]
TRUTH = 1e-8
"""What the integral over two steps' noise may be wrong by, in log δ."""


def sampled(step: Step, times: int = 1) -> Repeated:
    rate, noise = step
    drawn = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))
    return Repeated(times=times, mechanism=drawn)


def curve_of(*steps: Repeated, relation: Relation = "add-or-remove-one") -> Curve:
    return account(Composed(mechanisms=steps), relation=relation).guarantee.curve


@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
@pytest.mark.parametrize("pair", PAIRS)
def test_two_steps_are_enclosed(relation: Relation, pair: tuple[Step, Step]) -> None:
    composed = curve_of(*map(sampled, pair), relation=relation).upper
    for profile, backward in ((composed.forward, False), (composed.backward, True)):
        laws: list[SampledGaussianLaw] = [part.law.reverse() if backward else part.law for part, _ in composed.parts]
        for epsilon in (0.0, 0.3, 2.6):
            lower, upper = profile.log_delta_bounds(epsilon)
            if epsilon >= profile.supremum:
                assert upper == -math.inf
                continue
            truth = log_delta_of_two(laws[0], laws[1], epsilon)
            assert lower - TRUTH <= truth <= upper + TRUTH
            assert upper - lower <= (1e-3 if pair in PAIRS[:2] else 0.02)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-15])
def test_epsilon_is_where_delta_is_as_asked(delta: float) -> None:
    curve = curve_of(*map(sampled, PAIRS[0]))
    found = curve.epsilon(math.log(delta))
    laws = [part.law for part, _ in curve.upper.parts]
    assert found.upper - found.lower <= 2e-4 * found.upper
    assert log_delta_of_two(laws[0], laws[1], found.lower) >= math.log(delta) - TRUTH
    assert log_delta_of_two(laws[0], laws[1], found.upper) <= math.log(delta) + TRUTH


def test_epsilon_is_zero_where_delta_is_large() -> None:
    assert curve_of(*map(sampled, PAIRS[0])).epsilon(math.log(0.5)).upper == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.1])
def test_hardly_any_noise(epsilon: float) -> None:
    """An included contribution is seen, so δ of removing is the probability that any step includes it.

    Adding has the smaller δ, 1 − e^ε times the probability that none does.
    """
    exact = math.log1p(-math.exp(10.0 * (math.log(0.5) + math.log(0.7))))
    known = curve_of(sampled((0.5, 0.05), 10), sampled((0.3, 1.0 / 17.0), 10)).log_delta(epsilon)
    assert known.lower <= exact + 1e-6
    assert exact - 1e-6 <= known.upper <= known.lower + 2e-5


FEW = [
    [sampled((0.01, 1.0), 10)],
    [sampled((0.2, 1.4), 4)],
    [sampled((0.00385, 0.5328), 5)],
    [sampled((0.1, 1.0)), sampled((0.2, 1.3)), sampled((0.3, 0.9))],
]


@pytest.mark.parametrize("steps", FEW)
def test_rates_hold_those_of_simulated_runs(steps: list[Repeated]) -> None:
    """The best test between runs with and without a contribution, by its rates in simulations of both."""
    random, runs = np.random.default_rng(3), 100_000
    kept, removed = np.zeros(runs), np.zeros(runs)
    for step in steps:
        rate, shift = step.mechanism.rate, 1.0 / step.mechanism.mechanism.noise_multiplier
        for total, drawn in ((kept, rate), (removed, 0.0)):
            noise = random.standard_normal((step.times, runs)) + shift * (random.random((step.times, runs)) < drawn)
            total += np.log1p(rate * np.expm1(shift * noise - 0.5 * shift**2)).sum(axis=0)
    rates = meaning(curve_of(*steps)).true_positives
    assert [rate.false_positive_rate for rate in rates] == list(FALSE_POSITIVE_RATES)
    for each in rates:
        if each.false_positive_rate * runs < 50.0:
            continue
        threshold = np.quantile(removed, 1.0 - each.false_positive_rate)
        share = float((kept > threshold).mean())
        deviation = math.sqrt(share / runs) + share / math.sqrt(each.false_positive_rate * runs)
        assert each.true_positive_rate.upper >= share - 5.0 * deviation
        assert each.true_positive_rate.upper - each.true_positive_rate.lower <= 2e-3 * each.true_positive_rate.upper


@pytest.mark.parametrize(("rate", "times", "log10_delta"), [(1e-4, 10, -9), (1e-4, 100, -9), (1e-3, 100, -6)])
def test_a_certified_epsilon_is_kept_where_a_second_enclosure_knows_less(
    rate: float, times: int, log10_delta: int
) -> None:
    """Of rare steps at low noise δ at one ε is known roughly, and the ε of a δ closely; the lattice encloses the same."""
    log_delta = log10_delta * math.log(10.0)
    certified = curve_of(sampled((rate, 0.6), times)).epsilon(log_delta)
    laid = compose([(poisson(rate, 0.6), times)]).epsilon(log_delta)
    assert laid.lower <= certified.upper
    assert certified.lower <= laid.upper
    assert certified.upper - certified.lower <= 1e-3 * certified.upper
