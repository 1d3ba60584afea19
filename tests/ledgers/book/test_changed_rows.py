"""Rows that the digest of a balance does not have: each is compared with the log in another way, or stops nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.correction_requests import VoidAsked
from epsilond.ledgers.mathematics.replay import replay_entries
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.specs import spec_of, text_of
from epsilond.reading import read
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import TENANT, Clock, book, key, opening, query, runs
from tests.ledgers.book.test_balances import change_behind, spent
from tests.ledgers.book.test_together import request_of

CHANGES = {
    "the target": """UPDATE ledgers SET record = replace(record, '"epsilon":"8.0"', '"epsilon":"80.0"')""",
    "the relation": "UPDATE ledgers SET record = replace(record, 'add-or-remove-one', 'zero-out-one')",
    "a record that nobody reads": "UPDATE ledgers SET record = 'none'",
    "the data set": "UPDATE ledgers SET dataset = 'another'",
    "the key of the data set": "UPDATE ledgers SET dataset_key = 'another'",
    "an item of a charged job": "UPDATE ledger_items SET job = 'reservation_another'",
}
"""Statements of the owner of the database, each by what it changes."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(database: Database, clock: Clock) -> Book:
    return book(database, clock=clock)


def void_of(reservation: str, count: int = 1) -> VoidAsked:
    return read(VoidAsked, {"reservation": reservation, "count": count, "declared": "no-output-observed"})


def renyi(orders: list[int], weights: list[float]) -> list[Any]:
    """A Rényi slot of the largest budget."""
    return [{"kind": "rdp", "capacity": {"orders": orders, "weights": weights}}]


@pytest.mark.parametrize("changed", CHANGES)
def test_what_a_ledger_was_opened_with_cannot_be_changed(kept: Book, database: Database, changed: str) -> None:
    ledger, slot, _ = spent(kept)
    assert kept.unbalanced_ledgers() == []
    change_behind(database, CHANGES[changed])
    with pytest.raises(NotReconciled, match=ledger):
        kept.commit(TENANT, slot, CommitAsked(count=1), key())
    (sentence,) = kept.unbalanced_ledgers()
    assert ledger in sentence


def test_a_ledger_that_is_given_to_another_organisation_moves_for_nobody(kept: Book, database: Database) -> None:
    _, slot, _ = spent(kept)
    change_behind(database, "UPDATE ledgers SET organisation = 'another'")
    with pytest.raises(NotReconciled, match="opened for"):
        kept.commit("another", slot, CommitAsked(count=1), key())


@pytest.mark.parametrize("column", ["organisation", "dataset_key"])
def test_no_ledger_is_opened_next_to_one_that_is_hidden(kept: Book, database: Database, column: str) -> None:
    """Without the check the same people would have a second budget under another spelling of their data set's name."""
    spent(kept)
    change_behind(database, f"UPDATE ledgers SET {column} = 'another'")
    with pytest.raises(NotReconciled, match="opened for"):
        kept.open(TENANT, opening(dataset="PEOPLE"), key())


def test_the_orders_of_a_renyi_slot_keep_their_weights(kept: Book, database: Database) -> None:
    """Exchanging their places would give each order the other's weight."""
    ledger = kept.open(TENANT, opening(plan=[], slots=renyi([2, 16], [1e-5, 0.99999])), key()).id
    held = kept.reserve(TENANT, [ledger], query(slot="rdp", count=2), key()).id
    kept.commit(TENANT, held, CommitAsked(count=1), key())
    assert replay_entries(kept.entries(TENANT, ledger), spec_of, text_of).slots == kept.state(TENANT, ledger).slots
    change_behind(database, "UPDATE ledger_slots SET position = 1 - position")
    with pytest.raises(NotReconciled, match=ledger):
        kept.commit(TENANT, held, CommitAsked(count=1), key())


def test_a_finished_reservation_is_voided_for_what_it_paid(kept: Book, database: Database) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    held, _ = (kept.reserve(TENANT, [ledger], query(), key()).id for _ in range(2))
    kept.commit(TENANT, held, CommitAsked(), key())
    change_behind(database, f"UPDATE ledger_holdings SET count = 2, committed = 2 WHERE reservation = '{held}'")
    with pytest.raises(NotReconciled, match=held):
        kept.void(TENANT, ledger, void_of(held, 2), key())
    change_behind(database, f"UPDATE ledger_holdings SET count = 1, committed = 1 WHERE reservation = '{held}'")
    kept.void(TENANT, ledger, void_of(held), key())


def test_a_charged_job_that_was_stopped_is_voided(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key()).id
    step = {"kind": "subsampled", "sampling": "poisson", "rate": 0.001, "mechanism": {"kind": "gaussian"}}
    step["mechanism"] |= {"noise_multiplier": 1.0}
    job = {"kind": "repeated", "times": 200, "mechanism": step}
    held = kept.reserve(TENANT, [ledger], runs(slot="gdp", spec=job), key()).id
    kept.commit(TENANT, held, CommitAsked(count=3), key())
    kept.cancel(TENANT, held)
    kept.void(TENANT, ledger, void_of(held, 2), key())
    assert kept.unbalanced_ledgers() == []


def test_reservations_of_a_changed_ledger_do_not_keep_those_of_others(
    kept: Book, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epsilond.ledgers.book.changes.MOST_DUE", 3)
    bad = kept.open(TENANT, opening(), key()).id
    for _ in range(4):
        kept.reserve(TENANT, [bad], runs(item="train", count=1, expires_in=60.0), key())
    good = kept.open("another", opening(), key()).id
    held = kept.reserve("another", [good], runs(item="train", count=1, expires_in=61.0), key()).id
    change_behind(database, f"UPDATE ledgers SET sealed = NOT sealed WHERE id = '{bad}'")
    clock.now += 100.0
    assert kept.expire() == 1
    assert kept.reservation("another", held).state == "expired"


def test_rows_that_nobody_reads_keep_only_their_own_ledger(kept: Book, database: Database) -> None:
    bad, slot, _ = spent(kept)
    _, good, _ = spent(kept, "others")
    change_behind(database, f"UPDATE ledgers SET record = 'none' WHERE id = '{bad}'")
    assert kept._commit_together([request_of(slot), request_of(good)]) == [None, None]
    assert kept.commit(TENANT, good, CommitAsked(count=1), key())["receipts"]


def test_nobody_without_a_name_approves(kept: Book) -> None:
    """A service that has lost its keys has callers without names."""
    ledger = kept.open(TENANT, opening(approval=True), key(), by="ann").id
    held = kept.reserve(TENANT, [ledger], query(), key(), by="ann").id
    kept.commit(TENANT, held, CommitAsked(), key(), by="ann")
    move = kept.void(TENANT, ledger, void_of(held), key(), by="ann")
    for nobody in ("", " "):
        with pytest.raises(InvalidInput, match="records who approves"):
            kept.approve(TENANT, ledger, move.id, by=nobody)
    assert kept.pending(TENANT, ledger) == [move]
