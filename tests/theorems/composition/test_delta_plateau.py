"""Test (ε, δ) guarantees at exactly their own δ, where δ(ε) has a plateau."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath as mp
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.specs import Approximate, Composed, Gaussian, Repeated, Subsampled
from epsilond.accountants.target import LogDelta, asks_for, natural_log_delta
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.reading import read
from tests.oracles.finite import black_box, hockey_stick, joint, mixture

DELTAS = [1e-300, 1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.9]


def epsilon_of(spec: object, delta: float, relation: str = "replace-one") -> float:
    curve = account(spec, relation=relation).guarantee.curve  # type: ignore[arg-type]
    return curve.epsilon(natural_log_delta(delta, None)).upper


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 30.0])
def test_a_guarantee_is_found_again_at_its_own_delta_and_not_a_double_below(epsilon: float, delta: float) -> None:
    spec = Approximate(epsilon=epsilon, delta=delta)
    assert epsilon_of(spec, delta) == epsilon
    assert epsilon_of(spec, math.nextafter(delta, 0.0)) == math.inf
    assert epsilon_of(spec, math.nextafter(delta, 1.0)) <= epsilon


@pytest.mark.parametrize("delta", DELTAS)
def test_a_plain_logarithm_stands_for_its_exponential(delta: float) -> None:
    asked = math.log(delta)
    with mp.workdps(60):
        meets = mp.exp(mp.mpf(asked)) >= mp.mpf(delta)
    found = account(Approximate(epsilon=1.0, delta=delta), relation="replace-one").guarantee.curve.epsilon(asked)
    assert found.upper == (1.0 if meets else math.inf)


@pytest.mark.parametrize("log10_delta", [-1.0, -3.0, -6.0, -12.0, -300.0, -2.5, -0.1])
def test_a_power_of_ten_is_compared_as_that_power(log10_delta: float) -> None:
    delta = 10.0**log10_delta
    with mp.workdps(60):
        meets = mp.mpf(10) ** mp.mpf(log10_delta) >= mp.mpf(delta)
    curve = account(Approximate(epsilon=1.0, delta=delta), relation="replace-one").guarantee.curve
    assert curve.epsilon(natural_log_delta(None, log10_delta)).upper == (1.0 if meets else math.inf)


def test_what_was_asked_survives_pickling_and_depths_beyond_doubles() -> None:
    asked = pickle.loads(pickle.dumps(LogDelta.of_delta(0.1)))
    assert asked.lower_bound == Fraction(0.1)
    assert asked == math.log(0.1)
    deep = LogDelta.of_log10(-1e9)
    assert not asks_for(deep, Fraction(1, 10**400))
    assert not asks_for(-1e9, Fraction(1, 10**400))
    assert asks_for(LogDelta.of_log10(-399.5), Fraction(1, 10**400))


@pytest.mark.parametrize("times", [2, 5])
def test_several_are_found_at_what_they_compose_to(times: int) -> None:
    delta = Fraction(1, 4)
    whole = float(1 - (1 - delta) ** times)
    assert Fraction(whole) == 1 - (1 - delta) ** times
    spec = Repeated(times=times, mechanism=Approximate(epsilon=math.log(3), delta=0.25))
    assert epsilon_of(spec, whole) == pytest.approx(times * math.log(3), rel=1e-12)
    assert epsilon_of(spec, math.nextafter(whole, 0.0)) == math.inf
    p, q = (joint([black_box(Fraction(3), delta, side)] * times) for side in (0, 1))
    assert hockey_stick(p, q, Fraction(3) ** times) == 1 - (1 - delta) ** times


def test_with_something_else_beside_it_there_is_no_finite_epsilon_at_its_delta() -> None:
    parts = (Approximate(epsilon=1.0, delta=1e-6), Gaussian(noise_multiplier=5.0))
    assert epsilon_of(Composed(mechanisms=parts), 1e-6) == math.inf
    assert epsilon_of(Composed(mechanisms=parts), 1.01e-6) < math.inf


def test_pure_guarantees_compose_to_their_sum_at_any_delta() -> None:
    spec = Repeated(times=10, mechanism=Approximate(epsilon=0.1, delta=0.0))
    assert epsilon_of(spec, 1e-300) <= math.nextafter(1.0, 2.0)


@pytest.mark.parametrize("rate", [0.5, 0.125])
def test_a_batch_of_fixed_size_keeps_its_share(rate: float) -> None:
    spec = Subsampled(
        sampling="without-replacement", rate=rate, level="records", mechanism=Approximate(epsilon=1.0, delta=1e-6)
    )
    moved = math.log1p(rate * math.expm1(1.0))
    assert moved <= epsilon_of(spec, rate * 1e-6) <= moved * (1 + 1e-13)
    assert epsilon_of(spec, math.nextafter(rate * 1e-6, 0.0)) == math.inf
    base = [black_box(Fraction(3), Fraction(1, 100), side) for side in (0, 1)]
    share = Fraction(rate)
    drawn = mixture([1 - share, share], [base[1], base[0]])
    assert hockey_stick(drawn, base[1], 1 + share * 2) == share / 100


def test_the_service_says_that_the_claim_holds() -> None:
    body = {
        "spec": {"kind": "approximate", "epsilon": 1.0, "delta": 1e-6},
        "relation": "replace-one",
        "query": {"deltas": [1e-6, 2e-6]},
        "claim": {"epsilon": 1.0, "delta": 1e-6},
        "unit": "record",
        "observer": "server",
    }
    found = answer(read(AccountProblem, body))
    assert found.guarantee.epsilon.upper == 1.0
    assert found.claim is not None
    assert found.claim.holds == "yes"
    assert not found.warnings
