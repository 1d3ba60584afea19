"""Tests of given sizes on shared nodes, and the quick bounds that spare an evaluation."""

from __future__ import annotations

import math

import pytest

from epsilond.accountants.curve.facts import GaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.thresholds import thresholds

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
    found = thresholds(COMPOSITIONS[name], [math.log(size) for size in SIZES])
    for size, near in zip(SIZES, found, strict=True):
        assert near is not None
        left, here, right = (near.profile.log_delta(near.epsilon + step) for step in (-1e-4, 0.0, 1e-4))
        gamma, rise = math.exp(near.epsilon), math.expm1(1e-4)
        assert math.exp(here.lower) - math.exp(right.upper) <= 1.01 * size * gamma * rise
        assert math.exp(left.upper) - math.exp(here.lower) >= 0.99 * size * gamma * rise
        assert near.width <= 1e-6


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 2.0])
def test_a_quick_bound_is_a_bound(name: str, epsilon: float) -> None:
    truth = contour.log_delta(COMPOSITIONS[name], epsilon)
    for enough in (-math.inf, truth.upper, truth.upper + 3.0, 0.0):
        assert contour.upper_log_delta(COMPOSITIONS[name], epsilon, enough=enough) >= truth.lower


def test_nodes_beyond_the_budget_give_way_to_those_of_a_lower_tilt() -> None:
    """At a tilt on the brink of giant losses the integrand decays slowly; a little below it does not."""
    laws = [(SampledGaussianLaw(0.01 + 0.001 * k, 1.0 / (1.0 + 0.1 * k), "remove"), 1) for k in range(10)]
    found = contour.epsilon(laws, math.log(1e-6))
    assert found.upper - found.lower <= 1e-7
    # On nodes of its own, which need not be those that ε was solved on.
    ends = contour.log_delta(laws, found.upper)
    assert ends.lower <= math.log(1e-6) <= ends.upper + 1e-6
