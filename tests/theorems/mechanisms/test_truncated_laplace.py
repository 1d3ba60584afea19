"""Laplace noise that is cut off: its δ and moments by integration in many digits."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import exp, mp, mpf, quad

from epsilond.accountants.theorems.mechanisms.truncated_laplace import TRUNCATED_LAPLACE, cut_moment


def found(**fields: Any) -> Any:
    return TRUNCATED_LAPLACE.evaluate(TRUNCATED_LAPLACE.request(sensitivity=2.0, **fields))


@pytest.mark.compares("geng-2020.truncated-laplace")
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 60.0])
@pytest.mark.parametrize("log10_delta", [-0.30102999566398125, -6.0, -60.0])
def test_the_reach_is_the_least_with_this_delta(epsilon: float, log10_delta: float) -> None:
    """δ is what leaves the support, e^ε times the neighbour's density covering the rest: integrals of the density."""
    answer = found(epsilon=epsilon, log10_delta=log10_delta).outputs
    with mp.workdps(90):
        rate, reach, delta = mpf(epsilon) / 2, mpf(answer["reach"]), mpf(10) ** mpf(log10_delta)

        def integral(power: int, low: Any, high: Any) -> Any:
            cuts = [low + (high - low) * k / 8 for k in range(9)]
            return quad(lambda x: x**power * exp(-rate * x), cuts)

        half = integral(0, mpf(0), reach)
        escaped = integral(0, reach - 2, reach) / (2 * half)
        assert abs(escaped / delta - 1) < mpf(10) ** -11
        assert escaped <= delta * (1 + mpf(10) ** -25)
        assert answer["scale"] == pytest.approx(2.0 / epsilon, rel=1e-15)
        assert answer["mean_absolute_noise"] == pytest.approx(float(integral(1, mpf(0), reach) / half), rel=1e-11)
        assert answer["variance"] == pytest.approx(float(integral(2, mpf(0), reach) / half), rel=1e-11)


def test_inside_the_support_no_loss_exceeds_epsilon() -> None:
    answer = found(epsilon=0.7, delta=1e-4).outputs
    with mp.workdps(30):
        for place in range(101):
            x = mpf(answer["reach"]) * (place / 50 - 1)
            if abs(x - 2) <= answer["reach"]:
                loss = (abs(x - 2) - abs(x)) * mpf("0.35")
                assert loss <= mpf("0.7") * (1 + mpf(10) ** -15)


def test_beyond_one_half_the_reach_is_too_short() -> None:
    assert found(epsilon=1.0, delta=0.5).conditions[0].holds == "yes"
    beyond = found(epsilon=1.0, delta=0.6)
    assert beyond.conditions[0].holds == "no"
    assert beyond.outputs["reach"] < 2.0


def test_moments_where_the_closed_form_cancels() -> None:
    for order in (1, 2):
        low, high = cut_moment(order, 1.0), cut_moment(order, 1.0 + 1e-12)
        assert low == pytest.approx(high, rel=1e-11)
    assert cut_moment(1, 1e-12) == pytest.approx(0.5e-12, rel=1e-11)
    assert cut_moment(2, 1e-12) == pytest.approx(1e-24 / 3, rel=1e-11)
