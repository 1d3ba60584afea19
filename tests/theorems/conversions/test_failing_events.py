"""Test events outside the guarantee, exact or bounded, that are added to δ."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.conversions.escape import escape_bound, escape_guarantee, with_failure

SPEC = TruncatedDiscreteLaplace(noise_levels=40, decay_rate=0.125, dimension=3, l1_sensitivity=5, linf_sensitivity=2)


@pytest.mark.parametrize("rounds", [1, 7])
def test_escapes_agree_with_the_engine(rounds: int) -> None:
    run = Repeated(times=rounds, mechanism=SPEC)
    guarantee = account(run, relation="replace-one").guarantee
    ours = escape_guarantee(SPEC, guarantee.setting, rounds).curve
    threshold = 0.125 * 5 * rounds
    for epsilon in (threshold, 2 * threshold):
        known, exact = guarantee.curve.log_delta(epsilon), ours.log_delta(epsilon)
        assert known.lower <= exact.upper
        assert exact.lower <= known.upper
        assert exact.upper - exact.lower <= 1e-14
    below = ours.log_delta(0.5 * threshold)
    known = guarantee.curve.log_delta(0.5 * threshold)
    assert below.lower <= known.lower
    assert below.upper == 0.0
    assert ours.epsilon(ours.log_delta(threshold).upper).upper == pytest.approx(threshold, rel=1e-7)
    assert escape_bound(SPEC, rounds).log_bound(math.nextafter(threshold, 0.0)).upper == 0.0


def test_an_event_adds_its_probability() -> None:
    guarantee = account(SPEC, relation="replace-one").guarantee
    failing = with_failure(guarantee, math.log(1e-3))
    for epsilon in (0.0, 0.3, 5.0):
        inner = math.exp(guarantee.curve.log_delta(epsilon).upper)
        assert math.exp(failing.curve.log_delta(epsilon).upper) == pytest.approx(1e-3 + (1 - 1e-3) * inner, rel=1e-12)
        assert failing.curve.log_delta(epsilon).lower == -math.inf
    assert with_failure(guarantee, -math.inf) is guarantee
    tails, inside = (one.curve.upper.forward.log_tails(0.3) for one in (failing, guarantee))
    assert float(tails.log_p) > float(inside.log_p)
    assert failing.curve.upper.forward.log_infinite_mass > guarantee.curve.upper.forward.log_infinite_mass


@pytest.mark.parametrize("rounds", [1, 7])
def test_epsilon_is_the_threshold_where_delta_covers_what_escapes(rounds: int) -> None:
    spec = TruncatedDiscreteLaplace(
        noise_levels=60, decay_rate=0.3, dimension=4, l1_sensitivity=5.0, linf_sensitivity=2.0
    )
    bound = escape_bound(spec, rounds)
    pair = escape_guarantee(spec, Setting(relation="replace-one"), rounds).curve.upper
    for asked in (bound.upper, 0.5 * bound.upper):
        found = pair.epsilon(asked)
        assert Fraction(found.lower) < bound.threshold <= Fraction(found.upper)
        assert found.upper == math.nextafter(found.lower, math.inf)
    assert pair.epsilon(2.0 * bound.upper).upper == math.inf
