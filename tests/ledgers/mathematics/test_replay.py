"""An auditor's reading gives the balances, and finds whatever was changed."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import pytest

from epsilond.accountants import specs
from epsilond.ledgers.mathematics import entries, moves
from epsilond.ledgers.mathematics.opening import RequestedItem, RequestedSlot, open_ledger
from epsilond.ledgers.mathematics.replay import DoesNotReplay, balances, replay_entries
from epsilond.ledgers.mathematics.state import LedgerState
from tests.ledgers.mathematics.setups import SEALED, SETTING, TARGET, gaussian_slot, job, spec_of, step, text_of

Entries = list[dict[str, Any]]


CLOSED = specs.Gaussian(noise_multiplier=60.0)
"""A step whose plan no engine composes, so that a replay takes little time."""


def history(planned: specs.Gaussian | specs.Subsampled) -> tuple[LedgerState, Entries]:
    """A ledger with a plan of 200 steps and two slots, in which something of every kind has happened."""
    slots = [gaussian_slot(eta="1e-7", mu_squared="0.5"), RequestedSlot(kind="zcdp", capacity={"rho": "0.05"})]
    plan = [RequestedItem(name="train", spec=specs.Repeated(times=200, mechanism=planned))]
    state, certified = open_ledger(setting=SETTING, target=TARGET, declared=SEALED, plan=plan, slots=slots)
    found: Entries = [entries.opening_record(state, certified, {"train": text_of(planned)})]

    def reserve(name: str, **asked: Any) -> None:
        nonlocal state
        state = moves.reserve(state, name, **asked)
        held = state.reservations[name]
        found.append(entries.reservation_record(held, text_of(held.spec)))

    def commit(name: str, count: int) -> None:
        nonlocal state
        state = moves.commit(state, name, count)
        found.append(entries.commit_record(state.reservations[name], count))

    def release(name: str, how: Any = "cancelled") -> None:
        nonlocal state
        state = moves.release(state, name, how)
        held = state.reservations[name]
        found.append(entries.end_record(held))

    reserve("p", item="train", count=100)
    commit("p", 60)
    reserve("late", slot="gdp", spec=job(steps=300), eta=Decimal("1e-8"))
    reserve("sum", slot="gdp", spec=specs.Gaussian(noise_multiplier=4.0), count=2)
    commit("sum", 1)
    commit("late", 10)
    reserve("query", slot="zcdp", spec=specs.Gaussian(noise_multiplier=9.0))
    commit("query", 1)
    release("late")
    release("p", "expired")
    release("sum")
    state = moves.void(state, "query", 1)
    found.append(entries.void_record(state.reservations["query"], 1))
    state = moves.close(state)
    found.append({"kind": "closed"})
    return state, found


@pytest.fixture(scope="module")
def told() -> tuple[LedgerState, Entries]:
    return history(CLOSED)


@pytest.mark.parametrize("planned", [CLOSED, step()], ids=lambda planned: planned.kind)
def test_replaying_gives_the_state(planned: specs.Gaussian | specs.Subsampled) -> None:
    state, found = history(planned)
    again = replay_entries(found, spec_of, text_of)
    assert balances(again) == balances(state)
    assert again == state


def change(found: Entries, place: int, change_to: Any, *keys: Any) -> Entries:
    changed = copy.deepcopy(found)
    record: Any = changed[place]
    for key in keys[:-1]:
        record = record[key]
    assert record[keys[-1]] != change_to
    record[keys[-1]] = change_to
    return changed


def test_what_was_changed_is_found(told: tuple[LedgerState, Entries]) -> None:
    _, found = told
    kinds = [entry["kind"] for entry in found]
    late = kinds.index("reserved", kinds.index("committed"))
    charged = next(
        i for i, entry in enumerate(found) if entry["kind"] == "committed" and entry["reservation"] == "late"
    )
    sums = next(i for i, entry in enumerate(found) if entry["kind"] == "reserved" and entry["reservation"] == "sum")
    for changed in (
        change(found, 0, "0.1", "target", "epsilon"),
        change(found, 0, "5", "slots", 0, "capacity", "mu_squared"),
        change(found, 0, 2_000_000, "plan", 0, "planned"),
        change(found, 1, 201, "count"),
        change(found, late, "0.001", "charge", "parts", "mu_squared"),
        change(found, charged, "0.001", "charge", "parts", "mu_squared"),
        change(found, charged, "0.5", "charge", "remaining"),
        change(found, sums, "0.0001", "charge", "each", "mu_squared"),
        found[1:],
        [found[0], *found],
        [*found[:3], *found[2:]],
        found[:2] + found[3:4] + found[5:],
        [],
        [*found, {"kind": "refunded"}],
    ):
        with pytest.raises(DoesNotReplay):
            replay_entries(changed, spec_of, text_of)


def forged(found: Entries, place: int, **changed: Any) -> Entries:
    """A history in which a charge says more than it said."""
    copied = copy.deepcopy(found)
    copied[place]["charge"] |= changed
    return copied


def test_forged_charges_and_gates_are_found(told: tuple[LedgerState, Entries]) -> None:
    _, found = told
    kinds = [(entry["kind"], entry.get("reservation")) for entry in found]
    late, charged = kinds.index(("reserved", "late")), kinds.index(("committed", "late"))
    sums = kinds.index(("reserved", "sum"))
    closed_first = [found[0], {"kind": "closed"}, *found[1:]]
    twice = [*found[: sums + 1], found[sums], *found[sums + 1 :]]
    negative = copy.deepcopy(found)
    negative[0]["slots"][1]["capacity"]["delta"] = "-1"
    earlier = copy.deepcopy(found)
    earlier[0]["declared"]["released_before"] = True
    unsealed = copy.deepcopy(found)
    unsealed[0]["declared"]["sealed"] = False
    named = copy.deepcopy(found)
    named[0]["plan"][0]["name"] = named[1]["item"] = "job late"
    for changed in (
        forged(found, late, each={"mu_squared": "0", "eta": "0"}),
        forged(found, charged, each={"mu_squared": "0", "eta": "0"}),
        forged(found, sums, each={"mu_squared": "NaN", "eta": "0"}),
        forged(found, sums, each={"mu_squared": "-1", "eta": "0"}),
        forged(found, sums, remaining="0.5"),
        forged(found, sums, parts={"mu_squared": "0.125"}),
        change(found, sums, 0, "count"),
        change(found, sums, -2, "count"),
        closed_first,
        twice,
        negative,
        earlier,
        unsealed,
        named,
    ):
        with pytest.raises(DoesNotReplay):
            replay_entries(changed, spec_of, text_of)
