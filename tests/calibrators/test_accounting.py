"""Accounts: golden values, verdicts on claims, and what a guarantee means to an attacker."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import pytest
from scipy.special import ndtr, ndtri

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.meaning import meaning
from epsilond.accountants.specs import Gaussian, Repeated, Spec
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.accounting.claims import Claim
from epsilond.calibrators.accounting.query import Query
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.reading import read_body
from tests.oracles.golden import stored

GOLDEN = stored("accounting")
GAUSSIAN = Gaussian(noise_multiplier=1.0)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_golden_epsilons_lie_inside_the_enclosures(case: dict[str, Any]) -> None:
    curve = account(read_body(Spec, case["spec"]), relation=case["relation"]).guarantee.curve
    bound = curve.bound_epsilon(math.log(case["delta"]))
    digits = 1e-3 if "digits" in case.get("note", "") else 1e-9 * case["epsilon"]
    assert bound.lower - digits <= case["epsilon"] <= bound.upper + digits
    assert bound.upper - bound.lower <= 1e-4 * bound.upper


def posed(**changes: Any) -> AccountProblem:
    fields: dict[str, Any] = {
        "spec": GAUSSIAN,
        "relation": "add-or-remove-one",
        "query": Query(delta=1e-5),
        "unit": "record",
        "observer": "server",
    }
    return AccountProblem(**{**fields, **changes})


def test_what_was_asked_is_echoed_with_equal_ends() -> None:
    by_delta, by_epsilon = answer(posed()).guarantee, answer(posed(query=Query(epsilon=1.0))).guarantee
    assert by_delta.delta.lower == by_delta.delta.upper == 1e-5
    assert by_delta.log10_delta.upper == -5.0
    assert by_epsilon.epsilon.lower == by_epsilon.epsilon.upper == 1.0


def test_several_points_in_order() -> None:
    points = answer(posed(query=Query(log10_deltas=(-3.0, -6.0, -300.0)))).points
    assert points is not None
    assert [point.log10_delta.upper for point in points] == [-3.0, -6.0, -300.0]
    assert points[0].epsilon.upper < points[1].epsilon.upper < points[2].epsilon.upper


@pytest.mark.parametrize(("epsilon", "holds"), [(5.0, True), (4.0, False)])
def test_claims(epsilon: float, holds: bool) -> None:
    # One Gaussian release with unit noise: ε(1e-5) = 4.377.
    verdict = answer(posed(claim=Claim(epsilon=epsilon, delta=1e-5))).claim
    assert verdict is not None
    assert verdict.holds == Verdict.of(holds)
    assert (verdict.margin_epsilon.lower > 0) == holds
    assert (verdict.margin_log10_delta.upper > 0) == holds


def test_a_claim_between_bound_and_witness_is_undecidable() -> None:
    spec = read_body(
        Spec,
        {
            "kind": "repeated",
            "times": 20,
            "mechanism": {
                "kind": "subsampled",
                "sampling": "without-replacement",
                "batch_size": 10,
                "population": 100,
                "mechanism": {"kind": "gaussian", "noise_multiplier": 2.0},
            },
        },
    )
    known = account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(1e-6))
    assert known.lower < known.upper
    between = 0.5 * (known.lower + known.upper)
    verdict = answer(posed(spec=spec, relation="replace-one", claim=Claim(epsilon=between, delta=1e-6))).claim
    assert verdict is not None
    assert verdict.holds == "undecidable"


@pytest.mark.parametrize("rounds", [1, 9])
def test_meaning_encloses_the_exact_trade_off_of_a_gaussian(rounds: int) -> None:
    curve = account(Repeated(times=rounds, mechanism=GAUSSIAN), relation="add-or-remove-one").guarantee.curve
    mu = math.sqrt(rounds)
    sense = meaning(curve)
    assert sense.advantage.lower <= 2 * ndtr(mu / 2) - 1 <= sense.advantage.upper
    for one in sense.true_positives:
        exact = ndtr(mu + ndtri(one.false_positive_rate))
        assert one.true_positive_rate.lower <= exact <= one.true_positive_rate.upper
        assert one.true_positive_rate.upper <= one.true_positive_rate.lower * (1 + 1e-11)


def test_meaning_of_a_gaussian_in_forty_digits() -> None:
    """The best test of N(μ, 1) against N(0, 1) is a threshold: Φ(Φ⁻¹(α) + μ)."""
    for noise in (0.3, 1.0, 30.0):
        curve = account(Gaussian(noise_multiplier=noise), relation="replace-one").guarantee.curve
        for one in meaning(curve).true_positives:
            with mp.workdps(40):
                threshold = mp.findroot(lambda x, a=one.false_positive_rate: mp.erfc(x / mp.sqrt(2)) / 2 - mp.mpf(a), 3)
                exact = mp.erfc((threshold - 2 / mp.mpf(noise)) / mp.sqrt(2)) / 2
                assert one.true_positive_rate.lower <= exact <= one.true_positive_rate.upper


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, ""),
        ({"epsilon": 1.0, "delta": 1e-5}, ""),
        ({"epsilons": ()}, "/epsilons"),
        ({"deltas": (1e-5, 2.0)}, "/deltas/1"),
        ({"epsilons": (1.0,) * 1001}, "/epsilons"),
    ],
)
def test_queries_that_ask_nothing_or_too_much(fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Query(**fields)
    assert caught.value.faults[0].pointer == pointer


def test_the_relation_has_no_default_and_no_other_words() -> None:
    with pytest.raises(InvalidInput):
        account(GAUSSIAN, relation="swap-one")  # type: ignore[arg-type]


def test_examples_are_answered() -> None:
    for body in EXAMPLES.values():
        assert answer(read_body(AccountProblem, body)).derivation
