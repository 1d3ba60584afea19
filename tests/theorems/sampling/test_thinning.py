"""Batches of what may tell who was drawn: by enumeration of mechanisms that count a zeroed record."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.quantities import Relation
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    ProjectedSgd,
    RandomizedResponse,
    Repeated,
    Subsampled,
)
from epsilond.accountants.structure import ANY_INTEGERS, FRESH_DRAW, NO_ORDER, ONE_SUM, SECRET_DRAW
from tests.oracles.enclosure import log_of
from tests.oracles.finite import Law, black_box, hockey_stick, joint, mixture

PURE = Approximate(epsilon=1.0, delta=0.0)
LOOSE = Approximate(epsilon=math.log(3.0), delta=0.125)
INTEGERS = DiscreteLaplace(decay_rate=1.0, sensitivity=1)


def poisson(mechanism: Any, rate: float = 0.1, **level: Any) -> Any:
    return Subsampled(sampling="poisson", rate=rate, mechanism=mechanism, **level)


def fixed(taken: int, of: int, mechanism: Any) -> Any:
    return Subsampled(sampling="without-replacement", batch_size=taken, population=of, mechanism=mechanism)


def counted(side: int, rate: Fraction) -> Law:
    """The count of those drawn, of one, and a loosest (log 3, 1/8) answer of whoever is drawn."""
    return mixture([1 - rate, rate], [{"nobody": Fraction(1)}, black_box(Fraction(3), Fraction(1, 8), side)])


@pytest.mark.parametrize("rate", [0.1, 0.01])
@pytest.mark.parametrize("mechanism", [PURE, INTEGERS])
@pytest.mark.parametrize("setting", [{}, {"unit": "client", "observer": "released-models"}])
def test_a_zeroed_record_that_is_counted_keeps_its_loss(rate: float, mechanism: Any, setting: Any) -> None:
    """ε at δ of q E_γ = δ, E_γ of a randomised response and of geometric noise moved by one."""
    guarantee = account(poisson(mechanism, rate), relation="zero-out-one", **setting).guarantee
    share = 1e-6 / rate
    truths = {
        PURE: math.log(math.e - share * (math.e + 1)),
        INTEGERS: math.log(math.e - share * (math.e + 1)),
    }
    assert guarantee.theorems()[0] == "epsilond.drawn-or-not"
    assert guarantee.curve.epsilon(math.log(1e-6)).upper == pytest.approx(truths[mechanism], rel=1e-8)
    assert guarantee.tight == ("unknown" if mechanism is PURE else "proved")


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(2), Fraction(3), Fraction(5), Fraction(9)])
@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(1, 3)])
def test_two_rounds_by_enumeration(gamma: Fraction, rate: Fraction) -> None:
    laws = [joint([counted(side, rate)] * 2) for side in (0, 1)]
    truth = log_of(max(hockey_stick(laws[0], laws[1], gamma), hockey_stick(laws[1], laws[0], gamma)))
    drawn = Subsampled(sampling="poisson", batch_size=rate.numerator, population=rate.denominator, mechanism=LOOSE)
    for relation in ("zero-out-one", "replace-one"):
        spec = Repeated(times=2, mechanism=drawn)
        known = account(spec, relation=relation).guarantee.curve.bound_log_delta(math.log(gamma))  # type: ignore[arg-type]
        assert truth <= known.upper + 1e-12
        assert known.upper == pytest.approx(truth, abs=1e-3)


@pytest.mark.parametrize(
    ("spec", "relation", "conditions"),
    [
        (poisson(Gaussian(noise_multiplier=1.0)), "add-or-remove-one", {ONE_SUM, SECRET_DRAW}),
        (poisson(Gaussian(noise_multiplier=1.0)), "zero-out-one", {ONE_SUM, SECRET_DRAW}),
        (fixed(1, 3, INTEGERS), "replace-one", {ANY_INTEGERS, SECRET_DRAW, NO_ORDER}),
        (poisson(INTEGERS), "add-or-remove-one", {ANY_INTEGERS, SECRET_DRAW}),
        (poisson(INTEGERS), "zero-out-one", {ANY_INTEGERS, FRESH_DRAW}),
        (fixed(2, 3, Composed(mechanisms=(INTEGERS, INTEGERS))), "zero-out-one", {ANY_INTEGERS, FRESH_DRAW}),
        (fixed(2, 3, Gaussian(noise_multiplier=1.0)), "replace-one", {ONE_SUM, SECRET_DRAW}),
    ],
)
def test_an_answer_declares_what_its_words_demand(spec: Any, relation: Relation, conditions: set[Any]) -> None:
    assert set(account(spec, relation=relation).guarantee.declared) == conditions


def test_whatever_hides_a_place_is_asked_for_or_thinned() -> None:
    """A black box on a set amplifies, and says that it is one; reports by name and a known order do not."""
    descent = ProjectedSgd(
        clients=2,
        participants=1,
        batches="cyclic",
        lipschitz=1.0,
        radius=1.0,
        step_schedule=Constant(value=0.1),
        noise_schedule=Constant(value=1.0),
    )
    response = RandomizedResponse(epsilon=1.0, categories=2)
    for mechanism, theorem in (
        (PURE, "balle-barthe-gaboardi-2018.9"),
        (response, "epsilond.drawn-or-not"),
        (Composed(mechanisms=(Gaussian(noise_multiplier=1.0), response)), "epsilond.drawn-or-not"),
        (descent, "epsilond.drawn-or-not"),
    ):
        guarantee = account(fixed(2, 4, mechanism), relation="replace-one", observer="final-model").guarantee
        assert guarantee.theorems()[0] == theorem
        assert (NO_ORDER in guarantee.declared) == (mechanism is PURE)
