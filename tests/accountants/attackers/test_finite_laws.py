"""Figures of an attacker on compositions of finite laws, against all outcomes in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from mpmath import log, mp, mpf, ncdf

from epsilond.accountants.account import account
from epsilond.accountants.attackers.bayes_error import bayes_error
from epsilond.accountants.attackers.directions import directed_delta
from epsilond.accountants.attackers.renyi import renyi_divergence
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.attackers.trade_off_curve import trade_off_curve
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.specs import Composed, DiscreteLaplace, RandomizedResponse, Repeated, TruncatedDiscreteLaplace
from tests.oracles.finite import joint, response, truncated_laplace
from tests.oracles.tests_of_laws import best_true_positive_rate, least_error

LOG_3 = math.log(3.0)
RATES = (1e-6, 1e-3, 0.05, 0.1, 0.3, 0.5, 0.7, 0.95, 0.999)
RESPONSE = RandomizedResponse(epsilon=LOG_3, categories=3)
TRUNCATED = TruncatedDiscreteLaplace(
    noise_levels=2, decay_rate=LOG_3, dimension=1, l1_sensitivity=1.0, linf_sensitivity=1.0
)


def two_laws(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    return joint([first for first, _ in parts]), joint([second for _, second in parts])


ODDS = Fraction(3)
RESPONSES = (response(0, 3, ODDS), response(1, 3, ODDS))
TRUNCATEDS = (truncated_laplace(1 / ODDS, 2), truncated_laplace(1 / ODDS, 2, 1))
CASES = {
    "response": (RESPONSE, two_laws([RESPONSES])),
    "three responses": (Repeated(times=3, mechanism=RESPONSE), two_laws([RESPONSES] * 3)),
    "truncated": (TRUNCATED, two_laws([TRUNCATEDS])),
    "truncated and response": (Composed(mechanisms=(TRUNCATED, RESPONSE)), two_laws([TRUNCATEDS, RESPONSES])),
}
each_case = pytest.mark.parametrize("case", CASES)


def curve_of(spec: Any) -> Curve:
    return account(spec, relation="replace-one").guarantee.curve


def both_ways(laws: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    return [laws, laws[::-1]]


@each_case
def test_true_positive_rates_enclose_the_best_test(case: str) -> None:
    spec, laws = CASES[case]
    for point in trade_off_curve(curve_of(spec), RATES):
        rate = Fraction(point.false_positive_rate)
        exact = float(max(best_true_positive_rate(p, q, rate) for p, q in both_ways(laws)))
        lower, upper = point.true_positive_rate
        assert lower <= exact * (1 + 1e-12)
        assert exact <= upper * (1 + 1e-12)
        assert upper - lower <= 2e-6 * exact


@each_case
def test_errors_enclose_the_least_error(case: str) -> None:
    spec, laws = CASES[case]
    for prior in (1e-6, 0.03, 0.25, 0.5, 0.6, 0.99):
        exact = float(least_error(*laws, Fraction(prior)))
        lower, upper = bayes_error(curve_of(spec), prior)
        assert lower <= exact * (1 + 1e-12)
        assert exact <= upper * (1 + 1e-12)
        assert upper - lower <= 1e-9 * exact


@each_case
@pytest.mark.parametrize("epsilon", [-40.0, -2.0, -0.3, -1e-9, 0.0, 0.5, 1.0])
def test_directed_deltas_enclose_the_sum(case: str, epsilon: float) -> None:
    spec, laws = CASES[case]
    gamma = Fraction(math.exp(epsilon))
    exact = max(
        sum(max(p.get(x, Fraction(0)) - gamma * q.get(x, Fraction(0)), Fraction(0)) for x in {*p, *q})
        for p, q in both_ways(laws)
    )
    for direction in ("with-against-without", "without-against-with"):
        bounds = directed_delta(curve_of(spec), epsilon, direction)  # type: ignore[arg-type]
        lower, upper = (math.exp(end) for end in bounds.log_delta)
        assert lower <= float(exact) * (1 + 1e-12)
        assert float(exact) <= upper * (1 + 1e-12)
        assert upper - lower <= 1e-11 * upper


@each_case
@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 17.0, 300.0])
def test_renyi_divergences_enclose_the_sum(case: str, order: float) -> None:
    spec, (p, q) = CASES[case]
    lower, upper = renyi_divergence(curve_of(spec), order)
    if any(x not in q for x in p):
        assert lower == upper == math.inf
        return
    with mp.workdps(60):
        moment = sum(fraction(q[x]) * (fraction(p[x]) / fraction(q[x])) ** mpf(order) for x in p)
        exact = log(moment) / (mpf(order) - 1)
        assert lower <= exact * (1 + mpf("1e-13"))
        assert exact <= upper * (1 + mpf("1e-13"))
    assert upper - lower <= 1e-10 * upper


def fraction(value: Fraction) -> Any:
    return mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("times", [1, 3, 7])
def test_the_smallest_gaussian_touches_the_trade_off_at_a_corner(times: int) -> None:
    """A trade-off of straight pieces is above a convex function if its corners are."""
    spec = Repeated(times=times, mechanism=RandomizedResponse(epsilon=LOG_3, categories=2))
    p, q = two_laws([(response(0, 2, ODDS), response(1, 2, ODDS))] * times)
    ratios = sorted({p[x] / q[x] for x in p}, reverse=True)
    needed = []
    with mp.workdps(40):
        for ratio in ratios[:-1]:
            size = fraction(sum((q[x] for x in p if p[x] / q[x] >= ratio), Fraction(0)))
            power = fraction(sum((p[x] for x in p if p[x] / q[x] >= ratio), Fraction(0)))
            needed.append(quantile(power) - quantile(size))
        lower, upper = smallest_gaussian(curve_of(spec))
        assert lower <= max(needed) * (1 + mpf("1e-12"))
        assert max(needed) <= upper * (1 + mpf("1e-12"))
    assert upper - lower <= 1e-4 * upper


def quantile(probability: Any) -> Any:
    return mp.findroot(lambda x: ncdf(x) - probability, 0)


@pytest.mark.parametrize("case", ["truncated", "truncated and response"])
def test_no_gaussian_is_above_an_output_that_reveals_the_neighbour(case: str) -> None:
    assert smallest_gaussian(curve_of(CASES[case][0])) == (math.inf, math.inf)


def test_every_gaussian_is_above_equal_outputs() -> None:
    spec = DiscreteLaplace(decay_rate=1e-12, sensitivity=1)
    lower, upper = smallest_gaussian(curve_of(spec))
    assert 0.0 <= lower <= upper <= 1e-11
