"""The Binomial mechanism: within its proof by enumeration, and beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from epsilond.accountants.theorems.mechanisms.binomial import (
    BINOMIAL,
    GIVEN,
    BinomialInputs,
    binomial_bits,
    binomial_epsilon,
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
    assert BINOMIAL.evaluate(one).conditions[0].holds is True


def test_beyond_one_the_formula_promises_too_much() -> None:
    one = inputs(epsilon=10.0, delta=3e-6, size=1e5)
    trials = least_trials(one)
    assert trials is not None
    assert exact_delta(trials, 10**5, 10.0) == pytest.approx(6.07e-6, rel=2e-3)
    assert BINOMIAL.evaluate(one).conditions[0].holds is False


def test_each_condition_violated_once() -> None:
    good = GIVEN.evaluate(GIVEN.inputs(**GIVEN.examples[0]))
    assert [one.holds for one in good.conditions] == [True, True]
    few = GIVEN.evaluate(GIVEN.inputs(**{**GIVEN.examples[0], "trials": 10_000_000}))
    assert [one.holds for one in few.conditions] == [True, False]
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
    assert [one.holds for one in wide.conditions] == [False, True]


def test_bits_count_outcomes() -> None:
    for trials in (1, 7, 8, 12106543048):
        bits = binomial_bits(4, trials)
        assert 2 ** (bits - 1) < 2 * 4 + trials + 1 <= 2**bits


def test_no_number_of_trials_is_enough() -> None:
    assert least_trials(inputs(epsilon=1e-6, size=1e12)) is None
    assert BINOMIAL.evaluate(inputs(epsilon=1e-6, size=1e12)).outputs == {"trials": "unbounded"}
