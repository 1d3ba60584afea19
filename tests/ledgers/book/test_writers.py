"""Thirty-two writers at once: what they are granted together is what one alone would be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal

import pytest

from epsilond.accountants.errors import LedgerExhausted, ReservationEnded
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.logged.attempts import TRIES_OUTSIDE
from epsilond.ledgers.mathematics.replay import balances, replay_entries
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.specs import spec_of, text_of
from tests.ledgers.book.books import STEP, TENANT, Clock, book, key, opening, query

WRITERS = 32
EACH = 2
SENDERS = 8
FITTING = 10
"""Queries that the slot of 0.1 pays for, if each costs a little less than 0.01 of it."""


@contextmanager
def books(place: str, clock: Clock | None = None) -> Iterator[list[Book]]:
    """Two on a shared database, as two replicas have; one on a file."""
    with ExitStack() as stack:
        made = []
        for _ in range(2 if "://" in place else 1):
            database = open_store(place)
            stack.callback(database.close)
            made.append(book(database, **({} if clock is None else {"clock": clock})))
        yield made


def granted(kept: Book, ledger: str) -> int:
    """How many queries one writer is granted of those it asks for."""
    count = 0
    for _ in range(EACH):
        try:
            made = kept.reserve(TENANT, [ledger], query(spec={"kind": "gaussian", "noise_multiplier": 10.001}), key())
            kept.commit(TENANT, made.id, CommitAsked(), key())
            count += 1
        except LedgerExhausted:
            continue
    return count


def test_thirty_two_writers_never_pass_the_capacity(place: str) -> None:
    with books(place) as kept, ThreadPoolExecutor(WRITERS) as pool:
        ledger = kept[0].open(TENANT, opening(), key())
        counts = list(pool.map(lambda one: granted(kept[one % len(kept)], ledger.id), range(WRITERS)))
        assert sum(counts) == FITTING
        row = kept[0].ledger(TENANT, ledger.id)
        (spent,) = (part for part in row.parts if part.part == "mu_squared")
        assert Decimal("0.099") < spent.used == spent.held <= spent.capacity
        entries = kept[-1].entries(TENANT, ledger.id)
        assert [entry["seq"] for entry in entries] == list(range(1 + 2 * FITTING))
        assert balances(replay_entries(entries, spec_of, text_of)) == balances(kept[0].state(TENANT, ledger.id))


def test_a_commit_and_an_expiry_do_not_both_win(place: str) -> None:
    clock = Clock()
    with books(place, clock) as kept, ThreadPoolExecutor(2) as pool:
        ledger = kept[0].open(TENANT, opening(), key())
        for _ in range(5):
            made = kept[0].reserve(TENANT, [ledger.id], query(expires_in=10.0), key())
            clock.now += 11.0
            ended = pool.submit(kept[-1].expire)
            try:
                kept[0].commit(TENANT, made.id, CommitAsked(), key())
                committed = True
            except ReservationEnded:
                committed = False
            ended.result()
            row = kept[0].reservation(TENANT, made.id)
            assert (row.state == "expired") is not committed
        spent = next(part for part in kept[0].ledger(TENANT, ledger.id).parts if part.part == "mu_squared")
        assert spent.used == spent.held
        entries = kept[0].entries(TENANT, ledger.id)
        assert balances(replay_entries(entries, spec_of, text_of)) == balances(kept[0].state(TENANT, ledger.id))


@pytest.mark.parametrize("same", [True, False])
def test_one_request_that_is_sent_by_many_is_one(place: str, same: bool) -> None:
    with books(place) as kept, ThreadPoolExecutor(SENDERS) as pool:
        ledger = kept[0].open(TENANT, opening(), key())
        keys = [key()] * SENDERS if same else [key() for _ in range(SENDERS)]
        made = list(
            pool.map(lambda one: kept[one % len(kept)].reserve(TENANT, [ledger.id], query(), keys[one]), range(SENDERS))
        )
        assert len({one.id for one in made}) == (1 if same else SENDERS)


def test_a_charge_that_takes_time_is_not_starved_by_quick_ones(place: str) -> None:
    """While its price is computed outside the lock, somebody always moves the ledger; under the lock nobody can."""
    with books(place) as kept, ThreadPoolExecutor(1) as pool:
        other = kept[-1]
        ledger = other.open(TENANT, opening(), key())
        moved: list[object] = []

        def evaluate(call: Callable[[], object]) -> object:
            """Price a charge, while another writer tries to move the ledger."""
            tried = pool.submit(other.reserve, TENANT, [ledger.id], query(), key())
            if len(moved) < TRIES_OUTSIDE:
                moved.append(tried.result())
            return call()

        slow = book(kept[0]._database, evaluate=evaluate)
        held = slow.reserve(TENANT, [ledger.id], query(spec=STEP), key())
        assert held.state == "reserved"
        assert len(moved) == TRIES_OUTSIDE
