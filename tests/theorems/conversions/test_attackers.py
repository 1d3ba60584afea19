"""What a guarantee says of an attacker, against the extremal laws in exact fractions and in 50 digits."""

from fractions import Fraction

import pytest
from mpmath import erfinv, exp, log, mp, mpf, sqrt

from epsilond.accountants.theorems.conversions.attackers import BAYES_ERROR, GAUSSIAN_ABOVE_PURE, TRUE_POSITIVE_RATE
from tests.oracles.finite import black_box
from tests.oracles.tests_of_laws import best_true_positive_rate, least_error


@pytest.mark.compares("kairouz-oh-viswanath-2015.hypothesis-testing")
@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(8)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 64), Fraction(3, 8)])
@pytest.mark.parametrize("rate", [1e-6, 0.1, 0.3, 0.7, 0.999])
def test_the_extremal_pair_attains_the_rate(odds: Fraction, delta: Fraction, rate: float) -> None:
    epsilon = float(log(mpf(odds.numerator) / odds.denominator))
    inputs = TRUE_POSITIVE_RATE.request(epsilon=epsilon, delta=float(delta), false_positive_rate=rate)
    bound = TRUE_POSITIVE_RATE.evaluate(inputs).outputs["true_positive_rate"]
    exact = best_true_positive_rate(black_box(odds, delta, 0), black_box(odds, delta, 1), Fraction(rate))
    assert exact * (1 - Fraction(1, 10**15)) <= Fraction(bound)
    assert bound == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.compares("epsilond.bayes-error")
@pytest.mark.parametrize("prior", [Fraction(1, 2), Fraction(1, 4), Fraction(7, 8), Fraction(1, 1024)])
def test_no_test_errs_less(prior: Fraction) -> None:
    odds, delta = Fraction(3), Fraction(1, 16)
    with_it, without = black_box(odds, delta, 0), black_box(odds, delta, 1)
    at_epsilon = BAYES_ERROR.evaluate(BAYES_ERROR.request(prior=float(prior), delta=0.0)).outputs["at_epsilon"]
    smaller = min(prior, 1 - prior)
    with mp.workdps(40):
        assert at_epsilon == pytest.approx(float(log(mpf((1 - smaller).numerator) / smaller.numerator)), abs=1e-14)
    gamma = (1 - smaller) / smaller
    largest = max(
        sum(max(p.get(x, Fraction(0)) - gamma * q.get(x, Fraction(0)), Fraction(0)) for x in {*p, *q})
        for p, q in ((with_it, without), (without, with_it))
    )
    error = BAYES_ERROR.evaluate(BAYES_ERROR.request(prior=float(prior), delta=float(largest))).outputs["error"]
    assert error == pytest.approx(float(least_error(with_it, without, prior)), rel=1e-14)


@pytest.mark.compares("epsilond.gaussian-above-pure")
@pytest.mark.parametrize("epsilon", [1e-300, 1e-15, 1e-9, 0.1, 1.0, 8.0, 60.0])
def test_randomized_response_needs_that_gaussian(epsilon: float) -> None:
    bound = GAUSSIAN_ABOVE_PURE.evaluate(GAUSSIAN_ABOVE_PURE.request(epsilon=epsilon)).outputs["gaussian_dp_mu"]
    with mp.workdps(400):
        kept = exp(mpf(epsilon)) / (1 + exp(mpf(epsilon)))
        exact = 2 * sqrt(2) * erfinv(2 * kept - 1)
        assert exact <= bound
        assert bound == pytest.approx(float(exact), rel=1e-11, abs=0.0)
