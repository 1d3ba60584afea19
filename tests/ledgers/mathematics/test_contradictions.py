"""A contradicted ledger accepts no further runs, marks what was committed, and replays from its entries."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput, Observation, RunDiffers
from epsilond.ledgers.mathematics import entries, moves
from epsilond.ledgers.mathematics.amending import amend_plan
from epsilond.ledgers.mathematics.opening import RequestedItem, open_ledger
from epsilond.ledgers.mathematics.replay import DoesNotReplay, balances, replay_entries
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.view import plan_curve
from epsilond.ledgers.mathematics.what_if import what_if
from tests.ledgers.mathematics.setups import SEALED, SETTING, TARGET, job, spec_of, step, text_of

REPEATED = Observation("fresh-draw", "a step used the batch of an earlier step", remedy="Use the loader.", count=12)
QUIET = Observation("noise", "the sum of a step had no noise", remedy="Call the private optimizer.")


@cache
def history() -> tuple[LedgerState, list[dict[str, Any]]]:
    """A ledger with committed runs of one reservation, and runs of another that are only held; and its entries."""
    plan = [RequestedItem(name="a", spec=job(steps=100))]
    state, certified = open_ledger(setting=SETTING, target=TARGET, declared=SEALED, plan=plan, slots=())
    found = [entries.opening_record(state, certified, {"a": text_of(step())})]
    for name, count in (("paid", 10), ("held", 5)):
        state = moves.reserve(state, name, item="a", count=count)
        found.append(entries.reservation_record(state.reservations[name], text_of(step())))
    state = moves.commit(state, "paid", 4)
    return state, [*found, entries.commit_record(state.reservations["paid"], 4)]


def used() -> LedgerState:
    """Its state."""
    return history()[0]


@pytest.mark.parametrize(
    "move",
    [
        lambda state: moves.reserve(state, "more", item="a", count=1),
        lambda state: moves.commit(state, "paid", 1),
        lambda state: moves.commit(state, "held"),
        moves.seal,
        lambda state: amend_plan(state, lower={"a": 50}, declared="independent-of-outputs"),
    ],
)
def test_nothing_more_is_paid(move: Any) -> None:
    state = moves.contradict(used(), [REPEATED, QUIET])
    with pytest.raises(RunDiffers) as refused:
        move(state)
    assert refused.value.observations == (REPEATED, QUIET)
    assert "fresh-draw: a step used the batch of an earlier step (12 times). Use the loader." in str(refused.value)


def test_a_question_is_denied_with_the_reason() -> None:
    answer = what_if(moves.contradict(used(), [REPEATED]), item="a", count=1)
    assert not answer.fits
    assert answer.reason is not None
    assert str(REPEATED) in answer.reason
    assert (answer.charge, answer.nearest) == (None, {})


def test_the_plan_has_no_curve() -> None:
    assert plan_curve(used())
    assert plan_curve(moves.contradict(used(), [REPEATED])) == ()


@pytest.mark.parametrize(
    ("named", "marked"), [(None, {"paid"}), (["held"], {"held"}), (["paid", "held"], {"paid", "held"}), ([], set())]
)
def test_reservations_that_paid_are_marked(named: list[str] | None, marked: set[str]) -> None:
    state = moves.contradict(used(), [REPEATED], named)
    assert {each.id for each in state.reservations.values() if each.contradicted} == marked
    assert state.status == "contradicted"
    assert state.plan == used().plan


def test_it_stays_contradicted_and_what_is_held_returns() -> None:
    state = moves.contradict(used(), [REPEATED])
    state = moves.contradict(moves.close(state), [QUIET], [])
    state = moves.release(moves.release(state, "held"), "paid", "expired")
    assert (state.status, state.observations) == ("contradicted", (REPEATED, QUIET))
    assert (state.plan[0].reserved, state.plan[0].committed) == (0, 4)
    assert moves.contradict(moves.close(used()), [REPEATED]).status == "contradicted"


def test_what_is_no_contradiction_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="/observations"):
        moves.contradict(used(), [])
    with pytest.raises(InvalidInput, match="/reservations/1: is not a reservation"):
        moves.contradict(used(), [REPEATED], ["paid", "nobody"])


@pytest.mark.parametrize("named", [None, ["paid"], []])
def test_entries_give_the_state(named: list[str] | None) -> None:
    state, found = history()
    assert not state.observations
    state = moves.contradict(state, [REPEATED, QUIET], named)
    again = replay_entries([*found, entries.contradiction_record([REPEATED, QUIET], named)], spec_of, text_of)
    assert again == state
    assert balances(again) == balances(state)


@pytest.mark.parametrize(
    "changed",
    [
        {"observations": []},
        {"observations": [{"premise": "noise", "message": "none", "remedy": "", "count": 1}]},
        {"observations": [{"premise": "noise", "message": "none", "remedy": "add it", "count": -1}]},
        {"observations": [{"premise": "noise", "message": "none", "remedy": "add it", "count": "1"}]},
        {"observations": [{"premise": "noise", "message": "none", "remedy": "add it"} | {"sum": 1}]},
        {"reservations": ["nobody"]},
    ],
)
def test_an_entry_that_is_no_contradiction_does_not_replay(changed: dict[str, Any]) -> None:
    _, found = history()
    with pytest.raises(DoesNotReplay, match="contradicted"):
        replay_entries([*found, entries.contradiction_record([REPEATED], ["paid"]) | changed], spec_of, text_of)


def test_a_commit_after_a_contradiction_does_not_replay() -> None:
    _, found = history()
    first = [each["kind"] for each in found].index("committed")
    with pytest.raises(DoesNotReplay, match="committed"):
        replay_entries(
            [*found[:first], entries.contradiction_record([REPEATED], None), *found[first:]], spec_of, text_of
        )
