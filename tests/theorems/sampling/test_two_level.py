"""Clients who draw among their own records: by enumeration, and who is told what (docs/decisions/0004)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.quantities import Level, Observer, Unit
from epsilond.accountants.specs import Composed, Gaussian, Laplace, RandomizedResponse, Repeated, Subsampled
from epsilond.accountants.structure import ONE_SUM, SECRET_DRAW
from epsilond.accountants.theorems.sampling.two_level import FRESH_SELECTION
from tests.oracles.enclosure import log_of
from tests.oracles.finite import hockey_stick, joint, mixture, response

GAUSSIAN = Gaussian(noise_multiplier=1.0)
NAMES = ("own", "next")


def drawn(
    taken: int, of: int, mechanism: Any, level: Level | None = None, sampling: Any = "without-replacement"
) -> Any:
    return Subsampled(sampling=sampling, batch_size=taken, population=of, level=level, mechanism=mechanism)


def log_delta(spec: Any, epsilon: float, **setting: Any) -> Any:
    return account(spec, **{"relation": "replace-one", **setting}).guarantee.curve.log_delta(epsilon)


LOCAL = drawn(5, 50, GAUSSIAN)


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(5, 4), Fraction(2)])
@pytest.mark.parametrize("other", [0, 1, 2])
def test_one_of_three_clients_reports_one_of_its_two_records(gamma: Fraction, other: int) -> None:
    """Three categories; the record that differs is the first of the first client's; every other record is `other`.

    A server sees who takes part, and reports carry the name of the record that they are of.
    """
    report = {category: response(category, 3, Fraction(4)) for category in range(3)}
    half, third = Fraction(1, 2), Fraction(1, 3)

    def hidden(own: int) -> dict[Any, Fraction]:
        local = mixture([half, half], [report[own], report[other]])
        return dict(mixture([third, 1 - third], [local, report[other]]))

    def visible(own: int) -> dict[Any, Fraction]:
        named = [
            {(name, outcome): w for outcome, w in report[own if name == "own" else other].items()} for name in NAMES
        ]
        local = mixture([half, half], named)
        absent = {("absent", outcome): weight * (1 - third) for outcome, weight in report[other].items()}
        return {("present", outcome): weight * third for outcome, weight in local.items()} | absent

    inner = drawn(1, 2, RandomizedResponse(epsilon=math.log(4.0), categories=3))
    spec = drawn(1, 3, inner, level="clients")
    upper = log_delta(spec, math.log(gamma)).upper
    for ours, theirs in itertools.permutations(range(3), 2):
        secret = log_of(hockey_stick(hidden(ours), hidden(theirs), gamma))
        seen = log_of(hockey_stick(visible(ours), visible(theirs), gamma))
        assert secret <= seen + 1e-12
        assert seen <= upper + 1e-12
        if other == theirs:  # the local bound is attained there
            assert seen == pytest.approx(upper, abs=1e-12)


def test_two_rounds_compose_as_the_thinned_pair() -> None:
    third = Fraction(1, 3)
    laws = []
    for own in (0, 1):
        present = {("present", outcome): weight * third for outcome, weight in response(own, 2, Fraction(4)).items()}
        laws.append(present | {"absent": 1 - third})
    local = RandomizedResponse(epsilon=math.log(4.0), categories=2)
    spec = Repeated(times=2, mechanism=drawn(1, 3, local, level="clients"))
    for gamma in (Fraction(1), Fraction(2), Fraction(5)):
        truth = log_of(hockey_stick(joint([laws[0]] * 2), joint([laws[1]] * 2), gamma))
        known = log_delta(spec, math.log(gamma))
        assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
        assert known.upper == pytest.approx(truth, abs=1e-4)


def test_drawing_clients_thins_and_does_not_shrink() -> None:
    spec = drawn(3, 30, LOCAL, level="clients")
    for epsilon in (0.0, 0.5, 2.0):
        expected = log_delta(LOCAL, epsilon).upper + math.log(0.1)
        assert log_delta(spec, epsilon).upper == pytest.approx(expected, abs=1e-12)
    guarantee = account(spec, relation="replace-one").guarantee
    assert guarantee.theorems()[0] == "epsilond.clients-then-records"
    assert guarantee.declared == (ONE_SUM, SECRET_DRAW, FRESH_SELECTION)
    assert guarantee.tight == "witnessed"


def test_an_open_level_covers_both_readings() -> None:
    spec = drawn(3, 30, LOCAL)
    clients, records = drawn(3, 30, LOCAL, level="clients"), drawn(3, 30, drawn(1, 3, GAUSSIAN), level="records")
    for epsilon in (0.1, 1.0):
        assert log_delta(spec, epsilon).upper == log_delta(clients, epsilon).upper
        assert log_delta(spec, epsilon).lower == -math.inf
        open_batch = log_delta(drawn(3, 30, drawn(1, 3, GAUSSIAN)), epsilon)
        assert log_delta(records, epsilon).upper < open_batch.upper


def test_a_batch_of_a_batch_is_the_smaller_batch() -> None:
    nested = Subsampled(
        sampling="poisson",
        rate=0.2,
        level="records",
        mechanism=Subsampled(sampling="poisson", rate=0.1, mechanism=GAUSSIAN),
    )
    once = Subsampled(sampling="poisson", rate=0.02, mechanism=GAUSSIAN)
    for epsilon in (0.0, 0.3, 1.0):
        ours, theirs = (log_delta(spec, epsilon, relation="add-or-remove-one") for spec in (nested, once))
        assert ours.upper == pytest.approx(theirs.upper, abs=1e-10)
    fixed, at_once = drawn(10, 100, drawn(2, 10, GAUSSIAN), level="records"), drawn(2, 100, GAUSSIAN)
    assert log_delta(fixed, 0.3).upper == pytest.approx(log_delta(at_once, 0.3).upper, abs=1e-10)


def test_rounds_inside_a_client() -> None:
    local = Repeated(
        times=3, mechanism=Subsampled(sampling="poisson", rate=0.1, mechanism=Laplace(scale_multiplier=2.0))
    )
    once = log_delta(drawn(1, 4, local, level="clients"), 0.2, relation="add-or-remove-one")
    assert once.upper == pytest.approx(
        log_delta(local, 0.2, relation="add-or-remove-one").upper + math.log(0.25), abs=1e-9
    )


def test_clients_among_other_mechanisms() -> None:
    local = Subsampled(sampling="poisson", rate=0.1, mechanism=Laplace(scale_multiplier=2.0))
    spec = Composed(
        mechanisms=(Repeated(times=2, mechanism=drawn(1, 4, local, level="clients")), Laplace(scale_multiplier=1.0))
    )
    known = log_delta(spec, 0.5, relation="add-or-remove-one")
    assert log_delta(Laplace(scale_multiplier=1.0), 0.5, relation="add-or-remove-one").upper <= known.upper
    assert known.lower <= known.upper


@pytest.mark.parametrize(
    ("observer", "sampling", "theorem"),
    [
        ("server", "without-replacement", "epsilond.visible-selection"),
        ("other-clients", "without-replacement", "epsilond.visible-selection"),
        ("released-models", "without-replacement", "balle-barthe-gaboardi-2018.9"),
        ("final-model", "without-replacement", "balle-barthe-gaboardi-2018.9"),
        ("server", "poisson", "epsilond.visible-selection"),
        ("other-clients", "poisson", "epsilond.poisson-replace-one"),
    ],
)
def test_who_sees_the_clients_drawn_decides_what_amplifies(observer: Observer, sampling: Any, theorem: str) -> None:
    spec = drawn(3, 30, GAUSSIAN, sampling=sampling)
    guarantee = account(spec, relation="replace-one", unit="client", observer=observer).guarantee
    assert guarantee.theorems()[0] == theorem


def test_a_clients_own_draw_does_not_protect_it() -> None:
    for spec in (drawn(5, 50, GAUSSIAN, level="records"), Subsampled(sampling="full", mechanism=LOCAL)):
        known = log_delta(spec, 0.5, unit="client")
        assert known.upper == log_delta(GAUSSIAN, 0.5, unit="client").upper
    amplified = log_delta(drawn(3, 30, LOCAL), 0.5, unit="client", observer="released-models")
    assert amplified.upper == log_delta(drawn(3, 30, GAUSSIAN), 0.5, unit="client", observer="released-models").upper


def test_a_client_whose_absence_shows_has_no_bound() -> None:
    spec = drawn(3, 30, GAUSSIAN, sampling="poisson")
    with pytest.raises(ConditionViolated, match="whether a client is there at all"):
        account(spec, relation="add-or-remove-one", unit="client")
    assert account(spec, relation="add-or-remove-one", unit="client", observer="released-models")
    assert account(spec, relation="zero-out-one", unit="client")


def test_clients_drawn_with_replacement_are_refused() -> None:
    with pytest.raises(ConditionViolated, match="takes part twice"):
        account(drawn(3, 30, LOCAL, level="clients", sampling="with-replacement"), relation="replace-one")


@pytest.mark.parametrize(
    ("inner", "pointer"),
    [
        (drawn(2, 9, GAUSSIAN), "/mechanism/population"),
        (drawn(2, 10, GAUSSIAN, level="clients"), "/mechanism/level"),
    ],
)
def test_batches_of_batches_that_no_run_can_have(inner: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        drawn(10, 100, inner, level="records")
    assert caught.value.faults[0].pointer == pointer


def full(mechanism: Any) -> Any:
    return Subsampled(sampling="full", mechanism=mechanism)


@pytest.mark.parametrize("unit", ["record", "client"])
def test_a_full_batch_between_two_draws_of_clients_changes_nothing(unit: Unit) -> None:
    inner = drawn(5, 10, LOCAL, level="clients")
    plain, between = (drawn(10, 20, each, level="clients") for each in (inner, full(inner)))
    setting = {"unit": unit, "observer": "released-models"}
    assert log_delta(between, 0.3, **setting) == log_delta(plain, 0.3, **setting)


@pytest.mark.parametrize("between", [lambda spec: spec, full])
def test_what_cannot_be_a_batch_of_records_is_one_of_clients(between: Any) -> None:
    """Five records of 50 are not drawn from a batch of 10 of 20; nor are clients from a batch of records."""
    for inner in (LOCAL, drawn(5, 50, LOCAL.mechanism, level="records")):
        left_open = drawn(20, 30, between(drawn(10, 20, between(inner))), level="clients")
        said = drawn(20, 30, drawn(10, 20, LOCAL, level="clients"), level="clients")
        assert log_delta(left_open, 0.3).upper == log_delta(said, 0.3).upper
        assert math.isfinite(log_delta(full(left_open), 0.3, unit="client").upper)


@pytest.mark.parametrize(
    ("inner", "pointer"),
    [(LOCAL, "/mechanism/mechanism/population"), (drawn(5, 10, GAUSSIAN, "clients"), "/mechanism/mechanism/level")],
)
def test_a_full_batch_hides_no_contradiction(inner: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        drawn(10, 20, full(inner), level="records")
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement"])
def test_a_fixed_number_of_everyones_records_is_refused_where_a_client_may_be_absent(sampling) -> None:
    """One of two records, +C of client A and −C of B: with A half N(C) and half N(−C), without it N(−C) alone.

    At σ = C and δ = 1e-3 that costs ε = 6.45, twice what the client's own contribution does.
    """
    pooled = Subsampled(
        sampling=sampling, batch_size=1, population=2, level="records", mechanism=Gaussian(noise_multiplier=1.0)
    )
    for spec in (pooled, Repeated(times=3, mechanism=pooled), Composed(mechanisms=(pooled,))):
        with pytest.raises(ConditionViolated):
            account(spec, relation="add-or-remove-one", unit="client", observer="released-models")
        if sampling == "without-replacement":
            account(spec, relation="replace-one", unit="client", observer="released-models")
            continue
        with pytest.raises(ConditionViolated):  # a record that is drawn twice counts twice
            account(spec, relation="replace-one", unit="client", observer="released-models")
    # Below a draw of clients, each draws among its own records: what it contributes is bounded all the same.
    own = Subsampled(sampling="poisson", rate=0.1, level="clients", mechanism=pooled)
    account(own, relation="add-or-remove-one", unit="client", observer="released-models")
