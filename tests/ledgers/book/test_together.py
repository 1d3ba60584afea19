"""Commits that are made together: each is what it would be alone, and one that fails fails for its caller only."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput, ReservationEnded
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.commits import CommitRequest, commit_together
from epsilond.ledgers.book.errors import KeyReused, NotFound
from epsilond.ledgers.book.logged.fingerprints import fingerprint_of
from epsilond.ledgers.correction_requests import VoidAsked
from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.keys import RequestKey
from epsilond.storage.together import Together
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import KEYS, ORIGIN, TENANT, Clock, book, key, opening, query, runs


def request_of(reservation: str, *, count: int | None = 1, named: str | None = None, **changed: Any) -> CommitRequest:
    """A commit of a reservation, under a new key unless one is named."""
    fingerprint = fingerprint_of("commit", [reservation, CommitAsked(count=count)])
    parts = {"tenant": TENANT, "by": "", "value": named or key(), "fingerprint": fingerprint}
    return CommitRequest(RequestKey(**parts | changed), reservation, count)


@pytest.fixture
def kept(database: Database) -> Book:
    return book(database, clock=Clock())


def reservations_of(kept: Book, count: int = 3) -> list[str]:
    """Reservations of two runs each, in ledgers of their own."""
    ledgers = [kept.open(TENANT, opening(dataset=f"people {number}"), key()).id for number in range(count)]
    return [kept.reserve(TENANT, [ledger], query(count=2), key()).id for ledger in ledgers]


def test_each_commit_of_a_group_has_a_receipt_that_verifies(kept: Book) -> None:
    first, second, third = reservations_of(kept)
    answers = kept._commit_together([request_of(each) for each in (first, second, first, third)])
    records = [receipt for answer in answers if answer for receipt in answer["receipts"]]
    assert [record["entry"]["reservation"] for record in records] == [first, second, first, third]
    numbers = [record["entry"]["seq"] for record in records]
    assert numbers == list(range(numbers[0], numbers[0] + 4))
    heads = {receipts.verify(Receipt.of_record(record), ORIGIN, KEYS.keys).size for record in records}
    assert heads == {numbers[-1] + 1}


def test_a_group_leaves_the_amounts_and_entries_that_single_commits_leave(database: Database) -> None:
    clock, results = Clock(), []
    for tenant, together in (("group", True), ("single", False)):
        kept = book(database, clock=clock)
        ledger = kept.open(tenant, opening(dataset="people"), key()).id
        slot = kept.reserve(tenant, [ledger], query(count=2), key()).id
        plan = kept.reserve(tenant, [ledger], runs(item="train", count=3), key()).id
        if together:
            asked = [request_of(slot, tenant=tenant), request_of(plan, count=2, tenant=tenant)]
            assert all(kept._commit_together(asked))
        else:
            kept.commit(tenant, slot, CommitAsked(count=1), key())
            kept.commit(tenant, plan, CommitAsked(count=2), key())
        row = kept.ledger(tenant, ledger)
        kinds = [(entry["kind"], entry.get("count")) for entry in kept.entries(tenant, ledger)]
        results.append((row.parts, [(item.reserved, item.committed) for item in row.items], kinds))
    assert results[0] == results[1]


def test_commits_that_cannot_be_made_together_are_left_and_hear_why(kept: Book) -> None:
    good, ended, voided = reservations_of(kept)
    kept.cancel(TENANT, ended)
    kept.commit(TENANT, voided, CommitAsked(count=1), key())
    ledger = kept.reservation(TENANT, voided).holdings[0].ledger
    declared = "no-output-observed"
    kept.void(TENANT, ledger, VoidAsked(reservation=voided, count=1, declared=declared), key())  # type: ignore[arg-type]
    left = {
        "ended": (request_of(ended), ReservationEnded),
        "unknown": (request_of("reservation_none"), NotFound),
        "of another tenant": (request_of(good, tenant="another"), NotFound),
        "too many": (request_of(good, count=3), InvalidInput),
    }
    asked = [request for request, _ in left.values()]
    answers = kept._commit_together([*asked, request_of(voided), request_of(good)])
    assert answers[:-1] == [None] * (len(left) + 1)
    assert answers[-1] is not None
    for request, refusal in left.values():
        with pytest.raises(refusal):
            kept.commit(
                request.key.tenant, request.reservation, CommitAsked(count=request.count), str(request.key.value)
            )


def test_one_key_in_a_group_twice_debits_once(kept: Book) -> None:
    (only,) = reservations_of(kept, 1)
    twice = request_of(only, named="same")
    first, second = kept._commit_together([twice, twice])
    assert first is not None
    assert second is None
    assert kept.commit(TENANT, only, CommitAsked(count=1), "same") == first
    assert kept.reservation(TENANT, only).holdings[0].committed == 1
    with pytest.raises(KeyReused):
        kept.commit(TENANT, only, CommitAsked(), "same")


def test_an_expired_reservation_is_not_committed_in_a_group(database: Database) -> None:
    clock = Clock()
    kept = book(database, clock=clock)
    ledger = kept.open(TENANT, opening(), key()).id
    held = kept.reserve(TENANT, [ledger], query(expires_in=60.0), key())
    clock.now += 60.0
    assert kept._commit_together([request_of(held.id)]) == [None]
    with pytest.raises(ReservationEnded, match="expired"):
        kept.commit(TENANT, held.id, CommitAsked(), key())


def test_callers_who_wait_are_served_by_one(database: Database) -> None:
    kept = book(database)
    held = reservations_of(kept, 1)[0]
    sizes: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(requests: Sequence[CommitRequest]) -> list[Any]:
        sizes.append(len(requests))
        if len(sizes) == 1:
            begun.set()
            assert go_on.wait(60)
        return [request.key.value for request in requests]

    queue = Together(work, most=3)
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(queue.submit, request_of(held, named="0"))
        assert begun.wait(60)
        rest = [pool.submit(queue.submit, request_of(held, named=str(number))) for number in range(1, 6)]
        while len(queue._pending) < len(rest):
            threading.Event().wait(0.001)
        go_on.set()
        assert [each.result() for each in (first, *rest)] == [str(number) for number in range(6)]
    assert sizes == [1, 3, 2]


def test_an_error_of_a_group_is_each_callers_and_the_next_group_works() -> None:
    def work(numbers: Sequence[int]) -> Sequence[int]:
        if 13 in numbers:
            raise ValueError("unlucky")
        return numbers

    queue = Together(work, most=2)
    with pytest.raises(ValueError, match="unlucky"):
        queue.submit(13)
    assert queue.submit(12) == 12


def test_a_reservation_of_others_is_not_even_locked(kept: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ledgers would keep their owner waiting, and the answer would take longer than for one that nobody has."""
    (held,) = reservations_of(kept, 1)
    monkeypatch.setattr("epsilond.ledgers.book.commits.lock_ledgers", None)
    with kept._database.writing() as connection:
        for name in (held, "reservation_none"):
            assert commit_together(connection, kept._desk, [request_of(name, tenant="another")], 0.0) == [None]


class Interrupted(threading.Event):
    """An event of which the wait is interrupted."""

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 (of the base class)
        raise KeyboardInterrupt


def test_a_caller_who_is_interrupted_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(names: Sequence[str]) -> Sequence[str]:
        if "first" in names:
            begun.set()
            assert go_on.wait(60)
        return names

    queue = Together(work, most=1)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(queue.submit, "first")
        assert begun.wait(60)
        with monkeypatch.context() as patch:
            patch.setattr("epsilond.storage.together.threading.Event", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                queue.submit("second")
        go_on.set()
        assert first.result(60) == "first"
        assert pool.submit(queue.submit, "third").result(60) == "third"


def test_an_interrupted_worker_leaves_the_others_to_the_next() -> None:
    begun, go_on = threading.Event(), threading.Event()
    groups: list[list[str]] = []

    def work(names: Sequence[str]) -> Sequence[str]:
        groups.append([*names])
        if len(groups) == 1:
            begun.set()
            assert go_on.wait(60)
        if len(groups) == 2:
            raise KeyboardInterrupt
        return names

    queue = Together(work, most=3)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(queue.submit, "first")
        assert begun.wait(60)
        rest = {name: pool.submit(queue.submit, name) for name in ("a", "b", "c")}
        while len(queue._pending) < len(rest):
            threading.Event().wait(0.001)
        go_on.set()
        assert first.result(60) == "first"
        leader = next(name for name in rest if isinstance(rest[name].exception(60), KeyboardInterrupt))
        assert {name: each.result(60) for name, each in rest.items() if name != leader} == {
            name: name for name in rest if name != leader
        }
    assert groups[1][0] == leader
    assert groups[2] == groups[1][1:]
