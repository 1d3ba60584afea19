"""Black boxes: the extremal pair, its compositions by enumeration, and the rules that forget more."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.kinds.declared.approximate import (
    AS_DECLARED,
    EXTREMAL,
    ApproximateInputs,
    approximate_pair,
)
from epsilond.accountants.specs import Approximate, Composed, Repeated, Subsampled
from epsilond.accountants.theorems.composition.classical import (
    DWORK_ROTH_COMPOSITION,
    KAIROUZ_COMPOSITION,
    CompositionInputs,
)
from epsilond.accountants.theorems.composition.optimal import (
    BASIC,
    OPTIMAL,
    OptimalInputs,
    log_binomial,
    optimal_log_delta,
)
from tests.oracles.enclosure import encloses, log_of
from tests.oracles.finite import black_box, hockey_stick, joint
from tests.oracles.peers import peer

DELTA = Fraction(1, 100)


@pytest.mark.parametrize("delta", [Fraction(0), DELTA, Fraction(9, 10)])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(2), Fraction(3), Fraction(50)])
def test_the_extremal_pair(delta: Fraction, gamma: Fraction) -> None:
    truth = hockey_stick(black_box(Fraction(3), delta, 0), black_box(Fraction(3), delta, 1), gamma)
    assert encloses(approximate_pair(math.log(3), float(delta)).forward, math.log(gamma), truth)


@pytest.mark.compares("kairouz-oh-viswanath-2015.extremal-pair")
def test_it_says_at_epsilon_what_it_was_told() -> None:
    for delta in (0.0, 1e-300, 1e-6, 0.5):
        evaluation = EXTREMAL.evaluate(ApproximateInputs(epsilon=0.7, delta=delta, at_epsilon=0.7))
        assert evaluation.outputs["delta"] == pytest.approx(delta, rel=1e-12)


def test_a_black_box_has_no_lower_end_and_declares_what_it_rests_on() -> None:
    guarantee = account(Approximate(epsilon=1.0, delta=1e-6), relation="zero-out-one").guarantee
    assert guarantee.curve.log_delta(0.5).lower == -math.inf
    assert guarantee.tight == "unknown"
    assert guarantee.declared == (AS_DECLARED,)
    assert account(Repeated(times=3, mechanism=Approximate(epsilon=1.0, delta=0.0)), relation="zero-out-one")


def test_two_black_boxes_agree_with_a_peer() -> None:
    case = peer(6)
    parts = tuple(Approximate(epsilon=epsilon, delta=delta) for epsilon, delta in case["params"]["mechs"])
    curve = account(Composed(mechanisms=parts), relation="replace-one").guarantee.curve
    known = curve.bound_log_delta(case["params"]["epsilon"])
    assert math.exp(known.upper) == pytest.approx(case["expected"], abs=case["tolerance"])


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(4), Fraction(9), Fraction(20)])
def test_three_black_boxes_by_enumeration(gamma: Fraction) -> None:
    p, q = (joint([black_box(Fraction(3), DELTA, side)] * 3) for side in (0, 1))
    spec = Repeated(times=3, mechanism=Approximate(epsilon=math.log(3), delta=0.01))
    known = account(spec, relation="replace-one").guarantee.curve.bound_log_delta(math.log(gamma))
    truth = log_of(hockey_stick(p, q, gamma))
    assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
    assert known.upper == pytest.approx(truth, abs=1e-4)


@pytest.mark.compares("kairouz-oh-viswanath-2015.3.3")
@pytest.mark.parametrize(("runs", "index"), [(1, 0), (2, 1), (5, 2), (9, 3), (9, 4)])
def test_optimal_composition_is_the_composed_pair(runs: int, index: int) -> None:
    p, q = (joint([black_box(Fraction(3), DELTA, side)] * min(runs, 5)) for side in (0, 1))
    if runs <= 5:
        truth = log_of(hockey_stick(p, q, Fraction(3) ** (runs - 2 * index)))
        ours = optimal_log_delta(epsilon=math.log(3), log_delta=math.log(0.01), runs=runs, index=index)
        assert ours == pytest.approx(truth, rel=1e-13)
    spec = Repeated(times=runs, mechanism=Approximate(epsilon=math.log(3), delta=0.01))
    bound = account(spec, relation="replace-one").guarantee.curve.bound_log_delta((runs - 2 * index) * math.log(3))
    outputs = OPTIMAL.evaluate(OptimalInputs(epsilon=math.log(3), delta=0.01, runs=runs, index=index)).outputs
    assert bound.lower - 1e-9 <= outputs["log10_delta"] * math.log(10) <= bound.upper + 1e-9


@pytest.mark.parametrize(
    ("runs", "epsilon", "index"), [(100, 0.1, 40), (100_000, 0.01, 49_000), (1_000_000, 1e-3, 490_000)]
)
def test_optimal_composition_in_forty_digits(runs: int, epsilon: float, index: int) -> None:
    ours = optimal_log_delta(epsilon=epsilon, log_delta=-math.inf, runs=runs, index=index)
    with mp.workdps(40):
        e = mp.mpf(epsilon)
        term = mp.exp(mp.loggamma(runs + 1) - mp.loggamma(index) - mp.loggamma(runs - index + 2))
        term *= mp.exp((runs - index + 1) * e - runs * mp.log1p(mp.exp(e)))
        total = mp.mpf(0)
        for misses in range(index - 1, max(index - 1 - 60_000, -1), -1):
            total += term * -mp.expm1(-2 * (index - misses) * e)
            if term < mp.mpf(10) ** -60 * total:
                break
            term *= mp.mpf(misses) / (runs - misses + 1) * mp.exp(e)
        assert ours == pytest.approx(float(mp.log(total)), rel=1e-12)


def test_probabilities_of_false_reports_sum_to_one() -> None:
    k = 61
    values = log_binomial(k, np.arange(0.0, k), epsilon=0.3)
    last = -k * math.log1p(math.exp(0.3))
    assert math.fsum([*map(math.exp, values), math.exp(last)]) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.compares("dwork-roth-2014.3.16")
def test_rules_that_forget_more_never_promise_more() -> None:
    inputs = CompositionInputs(epsilons=(0.1,), deltas=(1e-8,), slack_delta=1e-6, times=100)
    spec = Repeated(times=100, mechanism=Approximate(epsilon=0.1, delta=1e-8))
    curve = account(spec, relation="replace-one").guarantee.curve
    for theorem in (BASIC, DWORK_ROTH_COMPOSITION, KAIROUZ_COMPOSITION):
        outputs = theorem.evaluate(inputs).outputs
        assert curve.bound_log_delta(outputs["epsilon"]).upper <= outputs["log10_delta"] * math.log(10) + 1e-12
    assert BASIC.evaluate(inputs).outputs == pytest.approx(
        {"epsilon": 10.0, "delta": 1e-6, "log10_delta": -6.0}, rel=1e-12
    )


def test_numbers_given_for_one_relation_are_not_used_for_another() -> None:
    black = Approximate(epsilon=1.0, delta=1e-6)
    fixed = Subsampled(sampling="without-replacement", batch_size=1, population=10, mechanism=black)
    curve = account(fixed, relation="replace-one").guarantee.curve
    assert math.exp(curve.log_delta(math.log1p(0.1 * math.expm1(1.0))).upper) == pytest.approx(1e-7, rel=1e-9)
    zeroed = account(fixed, relation="zero-out-one").guarantee
    assert zeroed.theorems()[0] == "epsilond.drawn-or-not"
    assert math.exp(zeroed.curve.log_delta(1.0).upper) == pytest.approx(1e-7, rel=1e-9)
    drawn = Subsampled(sampling="with-replacement", batch_size=1, population=10, mechanism=black)
    with pytest.raises(ConditionViolated, match="every group size"):
        account(drawn, relation="replace-one")


@pytest.mark.parametrize(
    "fields", [{"epsilon": -0.1, "delta": 0.1}, {"epsilon": 1.0, "delta": 1.0}, {"epsilon": 1.0, "delta": -0.1}]
)
def test_guarantees_that_no_mechanism_can_have(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Approximate(**fields)


def test_epsilon_cannot_be_lowered_below_zero() -> None:
    with pytest.raises(InvalidInput) as caught:
        OptimalInputs(epsilon=1.0, delta=0.0, runs=3, index=2)
    assert caught.value.faults[0].pointer == "/index"
