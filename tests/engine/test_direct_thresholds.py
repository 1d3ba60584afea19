"""Tests of given sizes on a few steps: against the tails of one step in closed form, and lattices of their own."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.direct.profile import DirectProfile
from epsilond.accountants.engine.direct.thresholds import direct_tests

SIZES = (1e-3, 1e-2, 1e-5)
FEW = [
    [(SampledGaussianLaw(rate=0.01, shift=1.0, direction="remove"), 10)],
    [(SampledGaussianLaw(rate=0.01, shift=2.0, direction="remove"), 10)],
    [(SampledGaussianLaw(rate=0.2, shift=0.7, direction="remove"), 4)],
    [(SampledGaussianLaw(rate=0.005 + 0.002 * k, shift=1.0 - 0.05 * k, direction="remove"), 1) for k in range(6)],
]


def profile_of(laws: list[tuple[SampledGaussianLaw, int]]) -> DirectProfile:
    found = DirectProfile.of(laws)
    assert found is not None
    return found


@pytest.mark.parametrize("laws", FEW)
def test_the_sizes_are_those_of_simulated_runs(laws: list[tuple[SampledGaussianLaw, int]]) -> None:
    """Q(S > ε) of a few hundred thousand runs under the law without the contribution."""
    random, runs = np.random.default_rng(3), 400_000
    total = np.zeros(runs)
    for law, count in laws:
        noise = random.standard_normal((count, runs))
        ratio = law.rate * np.exp(law.shift * noise - 0.5 * law.shift**2)
        total += np.log1p(ratio - law.rate).sum(axis=0)
    for size, test in zip(SIZES[:2], direct_tests(profile_of(laws), SIZES[:2], lambda _: False), strict=True):
        assert test is not None
        share = float((total > test.epsilon).mean())
        assert share == pytest.approx(size, abs=5.0 * math.sqrt(size / runs) + 0.01 * size)


@pytest.mark.parametrize("laws", FEW)
def test_shared_lattices_agree_with_those_of_each_epsilon(laws: list[tuple[SampledGaussianLaw, int]]) -> None:
    """Both enclose one δ; a shared one shows in γ α + E_γ by no more than it says."""
    alone = profile_of(laws)
    for size, test in zip(SIZES, direct_tests(profile_of(laws), SIZES, lambda _: False), strict=True):
        assert test is not None
        shared, own = test.lattice.log_delta(test.epsilon), alone.log_delta(test.epsilon)
        assert max(shared.lower, own.lower) <= min(shared.upper, own.upper)
        value = size * math.exp(test.epsilon) + math.exp(shared.upper)
        assert math.exp(shared.upper) - math.exp(shared.lower) <= test.width * value * (1.0 + 1e-6)


def test_the_steepness_is_that_of_one_step_and_more() -> None:
    """Of one kind of two steps of rate near one: nearly N(2 s, …), whose tail falls by x φ(x)/Φ(−x) each deviation."""
    shift = 0.5
    laws = [(SampledGaussianLaw(rate=0.999999, shift=shift, direction="remove"), 2)]
    (test,) = direct_tests(profile_of(laws), (1e-3,), lambda _: False)
    assert test is not None
    total = shift * math.sqrt(2.0)
    at = test.epsilon / total + 0.5 * total
    assert ndtr(-at) == pytest.approx(1e-3, rel=1e-2)
    slope = math.exp(-0.5 * at * at) / math.sqrt(2.0 * math.pi) / ndtr(-at) / total
    assert slope <= test.steepness <= 3.0 * slope


def test_a_range_that_another_engine_serves_has_no_test_here() -> None:
    assert direct_tests(profile_of(FEW[0]), SIZES, lambda _: True) == [None] * len(SIZES)
