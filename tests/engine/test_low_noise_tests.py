"""Best tests from the tables of steps with little noise: against formulas, an integral, and tests of one large loss."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from epsilond.accountants.composition.rounded_shifts import ROUNDED_SHIFT
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.near_tests import BestTest
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.low_noise.best_tests import best_tests
from tests.engine.pairs import poisson
from tests.oracles.two_steps import log_delta_of_two

STEPS = [(0.01, 10.0), (0.01, 5.0), (0.2, 3.0), (1e-4, 20.0), (0.7, 4.0), (1e-9, 6.0), (0.01, 2.2), (0.999, 3.5)]
"""Rates and shifts."""
RATES = [0.9, 0.4, 0.05, 1e-3, 1e-5, 1e-8]
"""False positive rates."""


def best_of(rate: float, shift: float, count: int, direction: str) -> dict[float, BestTest | None]:
    """Return the tests at `RATES`; they are answered wherever these functions are called."""
    law = SampledGaussianLaw(rate, shift, direction)  # type: ignore[arg-type]
    found = best_tests([(law, count)], RATES, ROUNDED_SHIFT)
    assert found is not None
    return dict(found.by_rate)


def of_one_step(rate: float, shift: float, direction: str, size: float) -> float:
    """Return the true positive rate of the test of one step with a false positive rate, by the Neyman-Pearson lemma."""
    with mp.workdps(40):
        q, s, alpha = mp.mpf(rate), mp.mpf(shift), mp.mpf(size)

        def normal(x: mp.mpf) -> mp.mpf:
            """Return Φ(x)."""
            return mp.erfc(-x / mp.sqrt(2)) / 2

        def mixture(x: mp.mpf) -> mp.mpf:
            """Return the mass below −x of (1 − q) N(0, 1) + q N(−s, 1), and so above x of the mixture with N(s, 1)."""
            return (1 - q) * normal(-x) + q * normal(s - x)

        null, alternative = (lambda x: normal(-x)), mixture
        if direction == "add":
            null, alternative = (lambda x: 1 - mixture(x)), normal
        low, high = mp.mpf(-60), mp.mpf(60)
        rises = direction == "add"
        for _ in range(140):
            middle = (low + high) / 2
            low, high = (middle, high) if (null(middle) < alpha) == rises else (low, middle)
        return float(alternative(low))


@pytest.mark.parametrize(("rate", "shift"), STEPS)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_step_has_the_test_of_the_neyman_pearson_lemma(rate: float, shift: float, direction: str) -> None:
    answered = 0
    for size, test in best_of(rate, shift, 1, direction).items():
        if test is not None:
            truth = of_one_step(rate, shift, direction, size)
            lower, upper = test.true_positive_rate
            assert lower * (1.0 - 1e-14) <= truth <= upper * (1.0 + 1e-14)
            answered += upper - lower <= 1e-3 * upper
    assert answered >= len(RATES) - 1


@pytest.mark.parametrize(("rate", "shift"), STEPS[:5])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_steps_have_the_least_value_of_the_divergence(rate: float, shift: float, direction: str) -> None:
    law = SampledGaussianLaw(rate, shift, direction)  # type: ignore[arg-type]
    for size, test in best_of(rate, shift, 2, direction).items():
        if test is None or size not in (0.4, 1e-3):
            continue

        def value(log_gamma: float, size: float = size) -> float:
            """Return γ α + E_γ."""
            with np.errstate(divide="ignore"):
                return size * math.exp(log_gamma) + math.exp(min(log_delta_of_two(law, law, log_gamma), 0.0))

        near = minimize_scalar(value, bounds=(test.epsilon - 0.5, test.epsilon + 0.5), options={"maxiter": 8})
        least = min(float(near.fun), value(test.epsilon))
        lower, upper = test.true_positive_rate
        assert lower <= least * (1.0 + 1e-7)
        assert least <= upper * (1.0 + 1e-3)


@pytest.mark.parametrize(("rate", "shift", "count"), [(0.01, 10.0, 100), (0.001, 5.0, 1000), (0.1, 4.0, 10)])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_the_bounds_enclose_those_of_the_lattice(rate: float, shift: float, count: int, direction: str) -> None:
    pair = compose([(poisson(rate, 1.0 / shift), count)])
    first, second = (pair.forward, pair.backward) if direction == "remove" else (pair.backward, pair.forward)
    for size, test in best_of(rate, shift, count, direction).items():
        assert test is not None
        for log_gamma in (test.epsilon - 0.01, test.epsilon, test.epsilon + 0.01):
            gamma = math.exp(log_gamma)
            divergence = (
                math.exp(first.log_delta_bounds(log_gamma).upper)
                if log_gamma >= 0.0
                else 1.0 - gamma + gamma * math.exp(second.log_delta_bounds(-log_gamma).upper)
            )
            assert test.true_positive_rate.lower <= size * gamma + divergence + 1e-12


@pytest.mark.parametrize(("rate", "shift", "count"), [(0.01, 10.0, 100), (0.001, 5.0, 1000), (0.1, 4.0, 10)])
def test_a_test_of_the_largest_loss_is_not_better(rate: float, shift: float, count: int) -> None:
    """Any step's noise above x proves an included contribution, about; the rest of α is spent at random."""
    with mp.workdps(40):
        for size, test in best_of(rate, shift, count, "remove").items():
            assert test is not None
            best = mp.mpf(size)
            for share in np.linspace(0.0, 1.0, 21):
                alarm = size * mp.mpf(float(share))
                below = (1 - alarm) ** (mp.mpf(1) / count)
                x = mp.sqrt(2) * mp.erfinv(2 * below - 1) if share > 0.0 else mp.mpf(60)
                quiet = ((1 - mp.mpf(rate)) * mp.ncdf(x) + mp.mpf(rate) * mp.ncdf(x - shift)) ** count
                best = max(best, 1 - quiet + (size - alarm) * quiet / (1 - alarm))
            assert best <= test.true_positive_rate.upper * (1.0 + 1e-12)


def test_hostile_questions_have_true_bounds_or_none() -> None:
    steps = [(1e-12, 200.0, 1), (1.0 - 2**-53, 2.0, 1), (1e-3, 199.0, 4000), (0.999, 150.0, 3), (0.5, 2.0, 9)]
    for rate, shift, count in steps:
        for direction in ("remove", "add"):
            law = SampledGaussianLaw(rate, shift, direction)  # type: ignore[arg-type]
            found = best_tests([(law, count)], [1e-300, 1e-12, 0.5, 1.0 - 1e-12], ROUNDED_SHIFT)
            for size, test in (found.by_rate if found is not None else {}).items():
                if test is not None:
                    included = -math.expm1(count * math.log1p(-rate))
                    lower, upper = test.true_positive_rate
                    assert size * (1.0 - 1e-9) <= lower <= upper <= 1.0
                    assert lower <= included + size + 1e-12


def test_other_losses_are_left_to_the_other_engines() -> None:
    for law in (SampledGaussianLaw(0.01, 10.0, "replace"), SampledGaussianLaw(0.01, 1.0, "remove")):
        assert best_tests([(law, 100)], [0.01], ROUNDED_SHIFT) is None
    assert best_tests([(SampledGaussianLaw(0.3, 10.0, "remove"), 1000)], [0.01], ROUNDED_SHIFT) is None
