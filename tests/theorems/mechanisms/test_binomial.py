"""The Binomial mechanism: within its proof by enumeration, and beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import log, mp, mpf, sqrt
from scipy.special import gammaln

from epsilond.accountants.theorems.mechanisms.binomial import (
    BINOMIAL,
    GIVEN,
    BinomialInputs,
    binomial_bits,
    binomial_epsilon,
    constants_of,
    least_trials,
)


def exact_delta(trials: int, shift: int, epsilon: float) -> float:
    """E_ε of Bin(N, 1/2) against its shift, by the sum."""
    spread = 40 * int(math.sqrt(trials))
    low, high = max(0, trials // 2 - spread), min(trials, trials // 2 + spread)
    y = np.arange(low, high + 1, dtype=np.float64)

    def log_mass(x: Any) -> Any:
        inside = (x >= 0) & (x <= trials)
        at = np.where(inside, x, 0.0)
        value = gammaln(trials + 1.0) - gammaln(at + 1.0) - gammaln(trials - at + 1.0) - trials * math.log(2.0)
        return np.where(inside, value, -np.inf)

    p, q = np.exp(log_mass(y)), np.exp(epsilon + log_mass(y - shift))
    return float(np.maximum(p - q, 0.0).sum())


def inputs(**changes: Any) -> BinomialInputs:
    base = {"dimension": 1, "quantization_levels": 512, "epsilon": 1.0, "delta": 1e-5}
    size = changes.pop("size", 1000.0)
    sizes = {f"{norm}_sensitivity": size for norm in ("l1", "l2", "linf")}
    return BinomialInputs(**{**base, **sizes, **changes})


@pytest.mark.parametrize(("epsilon", "size"), [(0.1, 10.0), (0.5, 100.0), (1.0, 1000.0)])
def test_within_its_range_the_noise_is_private(epsilon: float, size: float) -> None:
    one = inputs(epsilon=epsilon, size=size)
    trials = least_trials(one)
    assert trials is not None
    assert exact_delta(trials, int(size), epsilon) <= one.delta
    assert binomial_epsilon(one, trials) <= epsilon < binomial_epsilon(one, trials - 1)
    assert BINOMIAL.evaluate(one).conditions[0].holds == "yes"


@pytest.mark.erratum("D-15")
def test_beyond_one_the_formula_promises_too_much() -> None:
    one = inputs(epsilon=10.0, delta=3e-6, size=1e5)
    trials = least_trials(one)
    assert trials is not None
    assert exact_delta(trials, 10**5, 10.0) == pytest.approx(6.07e-6, rel=2e-3)
    assert BINOMIAL.evaluate(one).conditions[0].holds == "no"


def test_each_condition_violated_once() -> None:
    good = GIVEN.evaluate(GIVEN.inputs(**GIVEN.examples[0]))
    assert [one.holds for one in good.conditions] == ["yes", "yes"]
    few = GIVEN.evaluate(GIVEN.inputs(**{**GIVEN.examples[0], "trials": 10_000_000}))
    assert [one.holds for one in few.conditions] == ["yes", "no"]
    wide = GIVEN.evaluate(
        GIVEN.inputs(
            **{
                **GIVEN.examples[0],
                "trials": 1000,
                "l1_sensitivity": 0.01,
                "l2_sensitivity": 0.01,
                "linf_sensitivity": 0.001,
            }
        )
    )
    assert [one.holds for one in wide.conditions] == ["no", "yes"]


def test_bits_count_outcomes() -> None:
    for trials in (1, 7, 8, 12106543048):
        bits = binomial_bits(4, trials)
        assert 2 ** (bits - 1) < 2 * 4 + trials + 1 <= 2**bits


def test_no_number_of_trials_is_enough() -> None:
    assert least_trials(inputs(epsilon=1e-6, size=1e12)) is None
    assert BINOMIAL.evaluate(inputs(epsilon=1e-6, size=1e12)).outputs == {"trials": "unbounded"}


def skewed_delta(trials: int, shift: int, epsilon: float, probability: float) -> float:
    """E_ε of Bin(N, p) against its shift, in both directions, by the sum; the larger."""
    centre, spread = trials * probability, 40 * int(math.sqrt(trials))
    y = np.arange(max(0, int(centre) - spread), min(trials, int(centre) + spread) + 1, dtype=np.float64)

    def mass(x: Any) -> Any:
        inside = (x >= 0) & (x <= trials)
        at = np.where(inside, x, 0.0)
        value = gammaln(trials + 1.0) - gammaln(at + 1.0) - gammaln(trials - at + 1.0)
        value += at * math.log(probability) + (trials - at) * math.log1p(-probability)
        return np.where(inside, np.exp(value), 0.0)

    return max(float(np.maximum(mass(y) - math.exp(epsilon) * mass(y - k), 0.0).sum()) for k in (shift, -shift))


@pytest.mark.parametrize("probability", [0.02, 0.125, 0.3])
@pytest.mark.parametrize(("epsilon", "size"), [(0.2, 10.0), (1.0, 300.0)])
def test_any_coin_is_private_within_its_range(epsilon: float, size: float, probability: float) -> None:
    one = inputs(epsilon=epsilon, size=size, success_probability=probability)
    trials = least_trials(one)
    assert trials is not None
    assert skewed_delta(trials, int(size), epsilon, probability) <= one.delta
    assert binomial_epsilon(one, trials) <= epsilon < binomial_epsilon(one, trials - 1)


@pytest.mark.compares("agarwal-2018.1", "agarwal-2018.1-epsilon")
def test_the_formula_of_any_coin_in_many_digits() -> None:
    body = dict(BINOMIAL.examples[1])
    answer = BINOMIAL.evaluate(BINOMIAL.request(**body), "corrected").outputs
    with mp.workdps(40):
        p, j, d = mpf(body["success_probability"]), body["trials_per_step"], body["dimension"]
        delta, q = mpf(body["delta"]), 1 - mpf(body["success_probability"])
        l1, l2, linf = (mpf(body[f"{norm}_sensitivity"]) * j for norm in ("l1", "l2", "linf"))
        b = 2 * (p * p + q * q) / 3 + 1 - 2 * p
        c = sqrt(mpf(2)) * (3 * p**3 + 3 * q**3 + 2 * p * p + 2 * q * q)
        dp = 4 * (p * p + q * q) / 3

        def epsilon(trials: int) -> Any:
            v = trials * p * q
            return (
                l2 * sqrt(2 * log(mpf("1.25") / delta)) / sqrt(v)
                + (l2 * c * sqrt(log(10 / delta)) + l1 * b) / (v * (1 - delta / 10))
                + linf * (2 * log(mpf("1.25") / delta) / 3 + dp * log(20 * d / delta) * log(10 / delta)) / v
            )

        trials = answer["trials"]
        assert epsilon(trials) <= body["epsilon"] < epsilon(trials - 1)
        variance = trials * p * q / j**2
        assert answer["variance"] == pytest.approx(float(variance), rel=1e-13)
        mean_square = d * variance / mpf(body["quantization_levels"]) ** 2
        assert answer["mean_squared_error"] == pytest.approx(float(mean_square), rel=1e-13)
        assert 2 ** (answer["bits_per_coordinate"] - 1) < 2 * body["quantization_levels"] * j + trials + 1
        assert 2 * body["quantization_levels"] * j + trials + 1 <= 2 ** answer["bits_per_coordinate"]
        given = GIVEN.evaluate(GIVEN.request(**body, trials=trials)).outputs
        assert given["bits_per_coordinate"] == answer["bits_per_coordinate"]
        assert given["epsilon"] == pytest.approx(float(epsilon(trials)), rel=1e-13)


def test_the_constants_of_a_fair_coin() -> None:
    assert constants_of(0.5) == pytest.approx((1 / 3, 1.75 * math.sqrt(2), 2 / 3), rel=1e-15)
