"""Moves of a ledger: what is reserved, committed and given back, and what the issue's jobs need."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from epsilond.accountants import specs
from epsilond.accountants.errors import (
    ConditionViolated,
    Infeasible,
    InvalidInput,
    LedgerClosed,
    LedgerExhausted,
    NotInPlan,
    NotSealed,
    ReservationEnded,
)
from epsilond.accountants.guarantee import Setting
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot, open_ledger
from epsilond.ledgers.mathematics.state import Declared, LedgerState
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import DIFFERENT, SEALED, SETTING, TARGET, gaussian_slot, job, ledger, step

ETA = Decimal("2e-8")
SMALL = specs.Gaussian(noise_multiplier=10.0)


def run(state: LedgerState, name: str, count: int | None = None, **asked: Any) -> LedgerState:
    """Reserve and commit."""
    return moves.commit(moves.reserve(state, name, **asked), name, count)


def test_twelve_training_jobs_chosen_adaptively_fit_in_eight() -> None:
    state = ledger(gaussian_slot())
    for place in range(12):
        eta = ETA if place < 11 else 2 * ETA
        state = run(state, f"job-{place}", spec=job(), slot="gdp", eta=eta)
    slot = state.slot("gdp")
    assert slot is not None
    assert slot.remainder("eta") == 0
    assert 0 < slot.remainder("mu_squared") < Decimal("0.05")
    with pytest.raises((LedgerExhausted, Exception)):
        run(state, "one-more", spec=job(), slot="gdp", eta=ETA)


def test_the_plan_of_twelve_different_jobs_is_as_good_as_their_exact_composition() -> None:
    plan = [RequestedItem(name=str(place), spec=job(*one)) for place, one in enumerate(DIFFERENT)]
    with pytest.raises(Infeasible) as refused:
        open_ledger(setting=SETTING, target=TARGET, declared=SEALED, plan=plan)
    assert refused.value.nearest["epsilon"] == pytest.approx(8.7725526, abs=1e-7)
    wider = replace(TARGET, epsilon=float(refused.value.nearest["epsilon"]))
    state, certified = open_ledger(setting=SETTING, target=wider, declared=SEALED, plan=plan)
    assert certified.epsilon <= wider.epsilon
    state = run(state, "a", 500, item="3")
    assert [item.committed for item in state.plan] == [0, 0, 0, 500, *[0] * 8]


def test_eight_of_them_leave_room_for_a_gaussian_slot() -> None:
    plan = tuple(job(*one) for one in DIFFERENT[:8])
    state = ledger(gaussian_slot(eta="0"), plan=plan)
    assert math.sqrt(state.slots[0].capacity["mu_squared"]) == pytest.approx(0.7528946, abs=1e-6)


def test_nothing_that_was_committed_returns() -> None:
    state = ledger(gaussian_slot(), plan=(job(steps=500),))
    state = moves.reserve(state, "plan", item="a", count=300)
    state = moves.commit(state, "plan", 100)
    state = moves.release(state, "plan")
    assert (state.plan[0].committed, state.plan[0].credit, state.plan[0].reserved) == (100, 200, 0)
    state = moves.reserve(state, "sum", slot="gdp", spec=SMALL, count=10)
    state = moves.release(moves.commit(state, "sum", 4), "sum")
    slot = state.slots[0]
    assert slot.used["mu_squared"] == pytest.approx(Decimal("0.04"), abs=Decimal("1e-15"))
    assert slot.reserved["mu_squared"] == 0
    with pytest.raises(ReservationEnded):
        moves.commit(state, "sum", 1)


def test_a_stopped_job_leaves_credit_of_itself_and_no_amount() -> None:
    before = moves.reserve(ledger(gaussian_slot()), "long", slot="gdp", spec=job(), eta=ETA)
    slot = before.slots[0]
    assert slot.used.get("mu_squared", 0) == 0
    begun = moves.commit(before, "long", 1)
    stopped = moves.release(begun, "long")
    assert stopped.slots[0].used == {"mu_squared": slot.reserved["mu_squared"], "eta": ETA}
    (credit,) = stopped.plan
    assert (credit.spec, credit.planned, credit.committed, credit.credit) == (step(), 1000, 1, 999)
    later = run(stopped, "softer", item=credit.name, spec=specs.Repeated(times=900, mechanism=step(0.009, 1.2)))
    assert later.plan[0].committed == 901
    with pytest.raises(NotInPlan):
        moves.reserve(stopped, "louder", item=credit.name, spec=step(0.011, 1.0))
    with pytest.raises(NotInPlan):
        moves.reserve(stopped, "other", item=credit.name, spec=SMALL)
    with pytest.raises(LedgerExhausted) as refused:
        moves.reserve(stopped, "more", item=credit.name, count=1000)
    assert refused.value.nearest == {"largest_count": 999.0}


def test_a_job_that_was_not_begun_gives_everything_back() -> None:
    fresh = ledger(gaussian_slot())
    held = moves.reserve(fresh, "one", slot="gdp", spec=job(), eta=ETA)
    freed = moves.release(held, "one", "expired")
    assert freed.slots[0].reserved == {"mu_squared": 0, "eta": 0}
    assert freed.slots[0].used.get("mu_squared", 0) == 0


def test_a_residue_is_charged_at_what_is_left_when_it_is_committed() -> None:
    state = ledger(gaussian_slot(mu_squared="0.64"))
    first = moves.reserve(state, "late", slot="gdp", spec=job(), eta=ETA)
    reserved = first.slots[0].reserved["mu_squared"]
    moved = run(first, "between", slot="gdp", spec=specs.Gaussian(noise_multiplier=2.0))
    committed = moves.commit(moved, "late")
    charged = committed.slots[0].used["mu_squared"] - Decimal("0.25")
    assert charged > reserved  # the price grew: the stale one would be no certificate
    full = run(
        first, "between", slot="gdp", spec=specs.Gaussian(noise_multiplier=(0.64 - float(reserved)) ** -0.5 * 1.0001)
    )
    with pytest.raises(LedgerExhausted):
        moves.commit(full, "late")


def test_order_of_commits_changes_nothing_for_charges_that_add_up() -> None:
    asked = {"a": 20.0, "b": 30.0, "c": 15.0}
    ends = []
    for order in itertools.permutations(asked):
        state = ledger(RequestedSlot(kind="zcdp", capacity={"rho": "0.1"}))
        for name in order:
            three = specs.Repeated(times=3, mechanism=specs.Gaussian(noise_multiplier=asked[name]))
            state = run(state, name, slot="zcdp", spec=three)
        ends.append(state.slots[0].used)
    assert all(end == ends[0] for end in ends)


@pytest.mark.parametrize(
    ("slot", "spec", "most"),
    [
        (RequestedSlot(kind="zcdp", capacity={"rho": "0.02"}), SMALL, 3),
        (
            RequestedSlot(kind="pure", capacity={"epsilon": "1"}),
            specs.DiscreteLaplace(decay_rate=0.3, sensitivity=1),
            3,
        ),
        (RequestedSlot(kind="rdp", capacity={"orders": [8], "budget": "0.1"}), SMALL, 2),
        (gaussian_slot(mu_squared="0.035"), SMALL, 3),
    ],
)
def test_each_slot_takes_what_its_rule_allows(slot: RequestedSlot, spec: Any, most: int) -> None:
    state = ledger(slot)
    for place in range(most):
        state = run(state, str(place), slot=slot.kind, spec=spec)
    with pytest.raises(LedgerExhausted):
        moves.reserve(state, "more", slot=slot.kind, spec=spec)
    found = what_if(state, slot=slot.kind, spec=spec)
    assert not found.fits
    assert found.nearest["smallest_noise_multiplier"] > 10.0 if spec is SMALL else not found.nearest
    fitting = replace(spec, noise_multiplier=found.nearest["smallest_noise_multiplier"]) if spec is SMALL else None
    assert fitting is None or what_if(state, slot=slot.kind, spec=fitting).fits


QUERY = specs.RandomizedResponse(epsilon=0.01, categories=2)


@pytest.mark.parametrize("spec", [QUERY, specs.Laplace(scale_multiplier=100.0), step(0.001, 3.0)])
def test_ten_thousand_queries_leave_eta_where_mu_squared_allows_them(spec: Any) -> None:
    setting = Setting(relation="replace-one") if spec is QUERY else SETTING
    slot = RequestedSlot(kind="gdp", capacity={"mu_squared": "largest"})
    state = ledger(slot, setting=setting, target=replace(TARGET, epsilon=3.0))
    price = what_if(state, slot="gdp", spec=spec).charge
    assert price is not None
    assert 10_000 * price.parts["eta"] <= state.slots[0].capacity["eta"]


def test_a_run_of_rare_large_losses_takes_more_eta_where_that_saves_mu_squared() -> None:
    state = ledger(RequestedSlot(kind="gdp", capacity={"mu_squared": "largest"}), target=replace(TARGET, epsilon=3.0))
    price = what_if(state, slot="gdp", spec=job(0.01, 1.0, 200)).charge
    assert price is not None
    assert price.parts["eta"] == pytest.approx(state.slots[0].capacity["eta"] / 16)


def test_a_mixture_of_orders_may_overdraw_one_while_the_others_bear_it() -> None:
    slot = RequestedSlot(kind="rdp", capacity={"orders": [4, 16], "weights": [0.5, 0.5], "budget": "0.2"})
    state = ledger(slot)
    for place in range(100):
        if not what_if(state, slot="rdp", spec=SMALL).fits:
            break
        state = run(state, str(place), slot="rdp", spec=SMALL)
    used = state.slots[0].used
    assert used["order:16"] > Decimal("0.2") > used["order:4"]


def test_a_closed_or_open_membership_refuses() -> None:
    slots = [gaussian_slot()]
    state, _ = open_ledger(setting=SETTING, target=TARGET, declared=Declared(), slots=slots)
    with pytest.raises(NotSealed):
        moves.reserve(state, "a", slot="gdp", spec=SMALL)
    state = moves.reserve(moves.seal(state), "a", slot="gdp", spec=SMALL)
    closed = moves.close(state)
    with pytest.raises(LedgerClosed):
        moves.reserve(closed, "b", slot="gdp", spec=SMALL)
    assert moves.commit(closed, "a").released
    with pytest.raises(InvalidInput):
        open_ledger(setting=SETTING, target=TARGET, declared=Declared(released_before=True), slots=slots)


def test_a_void_marks_the_ledger_as_conditional() -> None:
    state = run(ledger(gaussian_slot(), plan=(job(steps=10),)), "a", item="a", count=10)
    voided = moves.void(state, "a", 4)
    assert (voided.plan[0].committed, voided.plan[0].credit, voided.conditional) == (6, 4, True)
    with pytest.raises(InvalidInput):
        moves.void(voided, "a", 7)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"slot": "zcdp", "spec": SMALL}, InvalidInput),
        ({"slot": "gdp"}, InvalidInput),
        ({"slot": "gdp", "item": "a", "spec": SMALL}, InvalidInput),
        ({}, InvalidInput),
        ({"spec": SMALL}, NotInPlan),
        ({"item": "z"}, NotInPlan),
        ({"item": "a", "count": 0}, InvalidInput),
        ({"spec": job(steps=10), "count": 11}, InvalidInput),
    ],
)
def test_requests_that_contradict_themselves_are_refused(asked: dict[str, Any], error: type[Exception]) -> None:
    state = ledger(gaussian_slot(), plan=(job(steps=10),))
    with pytest.raises(error):
        moves.reserve(state, "x", **asked)


@pytest.mark.parametrize("weights", [[0.5], [1e-300], [2.0], [0.5, 0.25]])
def test_weights_that_do_not_sum_to_one_are_refused(weights: list[float]) -> None:
    orders = [8, 16][: len(weights)]
    with pytest.raises(InvalidInput):
        ledger(RequestedSlot(kind="rdp", capacity={"orders": orders, "weights": weights, "budget": "largest"}))


def test_what_no_theorem_covers_is_not_exchanged() -> None:
    """A server that sees who takes part is not hindered by a draw of clients: no theorem covers that draw against it."""
    clients = Setting(relation="add-or-remove-one", unit="client", observer="server")
    state = ledger(plan=(specs.Repeated(times=5, mechanism=specs.Gaussian(noise_multiplier=5.0)),), setting=clients)
    drawn = specs.Subsampled(sampling="poisson", rate=0.1, mechanism=specs.Gaussian(noise_multiplier=5.0))
    with pytest.raises(ConditionViolated):
        moves.reserve(state, "x", item="a", spec=drawn)
    assert moves.reserve(state, "x", item="a", spec=specs.Gaussian(noise_multiplier=6.0)).plan[0].reserved == 1


@pytest.mark.parametrize("amounts", [{"delta": Decimal(-1)}, {"eta": Decimal("NaN")}, {"delta": Decimal("Infinity")}])
def test_amounts_that_are_none_are_refused(amounts: dict[str, Decimal]) -> None:
    state = ledger(RequestedSlot(kind="zcdp", capacity={"rho": "0.1", "delta": "1e-7"}))
    with pytest.raises(InvalidInput):
        moves.reserve(state, "x", slot="zcdp", spec=SMALL, **amounts)


def test_names_of_charged_jobs_are_kept_for_them() -> None:
    with pytest.raises(InvalidInput):
        open_ledger(setting=SETTING, target=TARGET, declared=SEALED, plan=[RequestedItem(name="job r1", spec=SMALL)])
