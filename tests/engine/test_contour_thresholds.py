"""Tests of given sizes, and the quick bounds that spare an evaluation."""

from __future__ import annotations

import math

import pytest

from epsilond.accountants.curve.facts import GaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine import exact
from epsilond.accountants.engine.contour import composition as contour

SIZES = (1e-2, 1e-3, 1e-5)
COMPOSITIONS = {
    "remove": [(SampledGaussianLaw(0.01, 1.0, "remove"), 1000)],
    "add": [(SampledGaussianLaw(0.01, 1.0, "add"), 1000)],
    "rare": [(SampledGaussianLaw(1e-4, 1.0, "add"), 1000)],
    "certain": [(SampledGaussianLaw(0.3, 1.0, "remove"), 1000)],
    "mixed": [(SampledGaussianLaw(0.02, 0.7, "replace"), 300), (GaussianLaw(0.3), 1)],
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_a_test_has_about_the_size_that_was_asked(name: str) -> None:
    """By difference quotients of δ, which is convex in e^ε."""
    for size in SIZES:
        epsilon, integrand = contour.threshold(COMPOSITIONS[name], math.log(size))
        left, here, right = (integrand.enclosure(epsilon + step) for step in (-1e-4, 0.0, 1e-4))
        gamma, rise = math.exp(epsilon), math.expm1(1e-4)
        assert math.exp(here.lower) - math.exp(right.upper) <= 1.01 * size * gamma * rise
        assert math.exp(left.upper) - math.exp(here.lower) >= 0.99 * size * gamma * rise
        assert here.upper - here.lower <= 1e-6


def test_a_test_that_is_refused_is_none() -> None:
    laws = [(SampledGaussianLaw(1e-120, 1.0, "remove"), 5)]
    assert exact.thresholds(laws, [math.log(size) for size in SIZES]) == [None] * len(SIZES)
    assert exact.thresholds([], [-3.0]) == [None]


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 2.0])
def test_a_quick_bound_is_a_bound(name: str, epsilon: float) -> None:
    truth = contour.log_delta(COMPOSITIONS[name], epsilon)
    assert contour.upper_log_delta(COMPOSITIONS[name], epsilon) >= truth.lower


def test_a_list_on_the_brink_of_giant_losses_is_answered() -> None:
    """At a tilt on the brink of giant losses the integrand decays slowly; a little below it does not."""
    laws = [(SampledGaussianLaw(0.01 + 0.001 * k, 1.0 / (1.0 + 0.1 * k), "remove"), 1) for k in range(10)]
    found = contour.epsilon(laws, math.log(1e-6))
    assert found.upper - found.lower <= 1e-7
    # On a line of its own, which need not be that on which ε was solved.
    ends = contour.log_delta(laws, found.upper)
    assert ends.lower <= math.log(1e-6) <= ends.upper + 1e-6
