"""The least levels at a given decay rate, by enumeration of every shift and outcome."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from mpmath import exp, log, mp, mpf

from epsilond.accountants.theorems.papers.das.levels_at_rate import LEVELS
from epsilond.accountants.verdict import Verdict


def delta(levels: int, rate: float, epsilon: float, l1: int, linf: int) -> Any:
    """The largest E_ε over shifts of two coordinates, by the sum over outcomes."""
    law = {y: exp(-mpf(rate) * abs(y)) for y in range(-levels, levels + 1)}
    total, gamma = sum(law.values()), exp(mpf(epsilon))
    worst = mpf(0)
    for k, j in itertools.product(range(linf + 1), repeat=2):
        if k + j <= l1 and k >= j:
            gaps = (law[x] * law[y] - gamma * law.get(x - k, 0) * law.get(y - j, 0) for x in law for y in law)
            worst = max(worst, sum(gap for gap in gaps if gap > 0) / total**2)
    return worst


@pytest.mark.compares("epsilond.levels-at-decay-rate")
@pytest.mark.parametrize(
    ("rate", "epsilon", "l1", "linf", "target", "alone"),
    [(0.25, 1.0, 3, 2, 0.1, True), (0.5, 1.25, 3, 2, 0.125, False), (0.6, 1.0, 2, 2, 0.2, False)],
)
def test_the_least_levels_by_enumeration(
    rate: float, epsilon: float, l1: int, linf: int, target: float, *, alone: bool
) -> None:
    fields = {"dimension": 2, "l1_sensitivity": l1 + 0.5, "linf_sensitivity": float(linf), "decay_rate": rate}
    answer = LEVELS.evaluate(LEVELS.request(**fields, epsilon=epsilon, delta=target))
    with mp.workdps(25):
        wanted = next(m for m in range(1, 40) if delta(m, rate, epsilon, l1, linf) <= target)
        exact = delta(wanted, rate, epsilon, l1, linf)
        weights = {y: exp(-mpf(rate) * abs(y)) for y in range(-wanted, wanted + 1)}
        variance = sum(w * y * y for y, w in weights.items()) / sum(weights.values())
        log10 = log(exact) / log(mpf(10))
    assert answer.outputs["noise_levels"] == wanted
    assert answer.outputs["escapes_alone"] is alone
    assert answer.conditions[-1].holds == Verdict.of(alone)
    assert answer.outputs["delta"] == pytest.approx(float(exact), rel=1e-7)
    assert answer.outputs["delta"] >= exact * (1 - mpf(10) ** -12)
    assert answer.outputs["log10_delta"] == pytest.approx(float(log10), rel=1e-7)
    assert answer.outputs["variance"] == pytest.approx(float(variance), rel=1e-12)


def test_a_larger_rate_needs_fewer_levels_until_none_is_enough() -> None:
    """d = 100 with trivial sensitivities: the plain rate needs 508 582 levels, 2.5 times it 229 327."""
    fields = {"epsilon": 0.3, "delta": 1e-6, "dimension": 100, "l1_sensitivity": 12800.0, "linf_sensitivity": 128.0}

    def at(multiple: float) -> Any:
        rate = multiple * 0.3 / 12800.0 * (1.0 - 1e-15)
        return LEVELS.evaluate(LEVELS.request(**fields, decay_rate=rate)).outputs["noise_levels"]

    assert at(1.0) == pytest.approx(508_582, abs=1)
    assert 229_327 <= at(2.45) <= 240_000
    assert at(40.0) == "unbounded"
    still = {**fields, "l1_sensitivity": 0.5, "linf_sensitivity": 0.5}
    assert LEVELS.evaluate(LEVELS.request(**still, decay_rate=0.5)).outputs["noise_levels"] == 1
