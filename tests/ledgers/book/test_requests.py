"""What a book answers to one caller after another: opened, reserved, committed, given back, and refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from epsilond.accountants.errors import (
    BlockHasLedger,
    Infeasible,
    InvalidInput,
    LedgerClosed,
    LedgerExhausted,
    NotInPlan,
    NotSealed,
    ReservationEnded,
)
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import KeyReused, NotFound, NotReconciled
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.ledgers.correction_requests import VoidAsked
from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.mathematics.replay import balances, replay_entries
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.specs import spec_of, text_of
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import KEYS, ORIGIN, QUERY, RARE, TENANT, Clock, book, key, opening, query, runs

ALL = CommitAsked()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(database: Database, clock: Clock) -> Book:
    return book(database, clock=clock)


def used(kept: Book, ledger: str, part: str = "mu_squared") -> Decimal:
    return next(one.used for one in kept.ledger(TENANT, ledger).parts if one.part == part)


def held(kept: Book, ledger: str, part: str = "mu_squared") -> Decimal:
    return next(one.held for one in kept.ledger(TENANT, ledger).parts if one.part == part)


def test_a_request_that_is_sent_again_is_answered_again(kept: Book) -> None:
    first = key()
    ledger = kept.open(TENANT, opening(), first)
    assert kept.open(TENANT, opening(), first) == ledger
    with pytest.raises(KeyReused):
        kept.open(TENANT, opening(name="others"), first)
    second, third = key(), key()
    made = kept.reserve(TENANT, [ledger.id], query(), second)
    assert kept.reserve(TENANT, [ledger.id], query(), second) == made
    assert used(kept, ledger.id) == 0
    assert Decimal("0.01") <= held(kept, ledger.id) < Decimal("0.0100000000000001")
    receipt = kept.commit(TENANT, made.id, ALL, third)
    assert kept.commit(TENANT, made.id, ALL, third) == receipt
    assert used(kept, ledger.id) == held(kept, ledger.id)
    with pytest.raises(KeyReused):
        kept.commit(TENANT, made.id, CommitAsked(count=1), third)


def test_a_block_has_one_ledger_for_ever(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    with pytest.raises(BlockHasLedger):
        kept.open(TENANT, opening(relation="zero-out-one"), key())
    kept.close(TENANT, ledger.id, key())
    with pytest.raises(BlockHasLedger):
        kept.open(TENANT, opening(), key())
    assert kept.open("another", opening(), key()).id != ledger.id


@pytest.mark.parametrize(("first", "second"), [(None, "2026-11"), ("2026-11", None)])
def test_a_dataset_is_kept_whole_or_in_blocks(kept: Book, first: str | None, second: str | None) -> None:
    one = kept.open(TENANT, opening(block=first), key())
    with pytest.raises(BlockHasLedger) as refused:
        kept.open(TENANT, opening(block=second), key())
    assert refused.value.nearest == {"ledger": one.id}
    if first is not None:
        assert kept.open(TENANT, opening(block="2026-12"), key()).id != one.id


def test_receipts_are_verified_offline(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    made = kept.reserve(TENANT, [ledger.id], runs(item="train", count=50), key())
    (record,) = kept.commit(TENANT, made.id, CommitAsked(count=20), key())["receipts"]
    receipt = Receipt.of_record(record)
    checkpoint = receipts.verify(receipt, ORIGIN, KEYS.keys)
    assert (receipt.entry["kind"], receipt.entry["count"], checkpoint.size) == ("committed", 20, 3)
    kept.commit(TENANT, made.id, CommitAsked(count=30), key())
    kept.consistency(checkpoint.size).verify(
        checkpoint.root, receipts.verify(kept.inclusion(TENANT, 3), ORIGIN, KEYS.keys).root
    )
    with pytest.raises(NotFound):
        kept.inclusion("another", 2)


def test_tenants_see_nothing_of_each_other(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    made = kept.reserve(TENANT, [ledger.id], query(), key())
    for look in (
        lambda: kept.ledger("another", ledger.id),
        lambda: kept.entries("another", ledger.id),
        lambda: kept.reserve("another", [ledger.id], query(), key()),
        lambda: kept.commit("another", made.id, ALL, key()),
        lambda: kept.cancel("another", made.id),
        lambda: kept.reservation("another", made.id),
    ):
        with pytest.raises(NotFound):
            look()
    assert kept.ledgers("another") == []


def test_a_reservation_ends_by_itself_and_frees_what_it_held(kept: Book, clock: Clock) -> None:
    ledger = kept.open(TENANT, opening(), key())
    made = kept.reserve(TENANT, [ledger.id], query(count=10, expires_in=60.0), key())
    with pytest.raises(LedgerExhausted) as refused:
        kept.reserve(TENANT, [ledger.id], query(), key())
    assert refused.value.nearest["smallest_noise_multiplier"] > 95.0  # hardly anything is free
    clock.now += 61.0
    assert held(kept, ledger.id) > Decimal("0.09")  # a clock alone frees nothing
    again = kept.reserve(TENANT, [ledger.id], query(), key())
    assert again.state == "reserved"
    assert kept.reservation(TENANT, made.id).state == "expired"
    with pytest.raises(ReservationEnded):
        kept.commit(TENANT, made.id, ALL, key())


def test_what_was_committed_never_returns_and_the_rest_does(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    long = kept.reserve(TENANT, [ledger.id], runs(slot="gdp", spec=RARE), key())
    kept.commit(TENANT, long.id, CommitAsked(count=1), key())
    spent = used(kept, ledger.id)
    assert kept.cancel(TENANT, long.id).state == "cancelled"
    assert kept.cancel(TENANT, long.id).state == "cancelled"
    assert used(kept, ledger.id) == spent == held(kept, ledger.id)
    credit = kept.ledger(TENANT, ledger.id).items[-1]
    assert (credit.planned, credit.committed, credit.credit) == (200, 1, 199)
    voided = VoidAsked(reservation=long.id, count=1, declared="no-output-observed")
    row = kept.void(TENANT, ledger.id, voided, key())
    assert (row.conditional, row.items[-1].committed, row.items[-1].credit) == (True, 0, 200)
    with pytest.raises(InvalidInput):
        kept.void(TENANT, ledger.id, voided, key())
    again = kept.reserve(TENANT, [ledger.id], runs(item=credit.name, count=200), key())
    kept.commit(TENANT, again.id, ALL, key())
    state = replay_entries(kept.entries(TENANT, ledger.id), spec_of, text_of)
    assert balances(state) == balances(kept.state(TENANT, ledger.id))


def test_several_ledgers_are_reserved_in_all_or_in_none(kept: Book) -> None:
    wide = kept.open(TENANT, opening(block="a"), key())
    narrow = kept.open(TENANT, opening(block="b", slots=[{"kind": "gdp", "capacity": {"mu_squared": "0.005"}}]), key())
    with pytest.raises(LedgerExhausted):
        kept.reserve(TENANT, [wide.id, narrow.id], query(), key())
    assert held(kept, wide.id) == 0
    made = kept.reserve(TENANT, [narrow.id, wide.id], runs(item="train", count=7), key())
    answered = kept.commit(TENANT, made.id, CommitAsked(count=3), key())
    assert {record["entry"]["ledger"] for record in answered["receipts"]} == {wide.id, narrow.id}
    kept.cancel(TENANT, made.id)
    for ledger in (wide, narrow):
        (item,) = kept.ledger(TENANT, ledger.id).items
        assert (item.committed, item.credit, item.reserved) == (3, 4, 0)


def test_refusals_change_nothing_and_are_not_kept(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    again = key()
    with pytest.raises(LedgerExhausted) as refused:
        kept.reserve(TENANT, [ledger.id], query(count=11), again)
    assert refused.value.nearest["largest_count"] == 10.0
    assert kept.reserve(TENANT, [ledger.id], query(count=10), key()).state == "reserved"
    for asked, error in (
        (runs(item="other"), NotInPlan),
        (runs(item="train", count=201), LedgerExhausted),
        (query(relation="replace-one"), InvalidInput),
        (runs(slot="zcdp", spec=QUERY), InvalidInput),
    ):
        with pytest.raises(error):
            kept.reserve(TENANT, [ledger.id], asked, key())
    with pytest.raises(Infeasible):
        kept.open(TENANT, opening(block="b", target={"epsilon": 0.01, "delta": 1e-9}), key())
    assert [entry["kind"] for entry in kept.entries(TENANT, ledger.id)] == ["opened", "reserved"]
    assert not kept.what_if(TENANT, ledger.id, query()).fits


def test_membership_is_fixed_before_anything_reads(kept: Book) -> None:
    declared = {"inputs": "functions-of-releases", "sealed": False, "released_before": False}
    ledger = kept.open(TENANT, opening(declared=declared), key())
    with pytest.raises(NotSealed):
        kept.reserve(TENANT, [ledger.id], query(), key())
    assert kept.seal(TENANT, ledger.id, key()).sealed
    made = kept.reserve(TENANT, [ledger.id], query(), key())
    kept.close(TENANT, ledger.id, key())
    with pytest.raises(LedgerClosed):
        kept.reserve(TENANT, [ledger.id], query(), key())
    kept.commit(TENANT, made.id, ALL, key())
    kinds = [entry["kind"] for entry in kept.entries(TENANT, ledger.id)]
    assert kinds == ["opened", "sealed", "reserved", "closed", "committed"]


def test_a_log_that_is_not_reconciled_takes_no_moves(database: Database, tmp_path: Path) -> None:
    ledger = book(database).open(TENANT, opening(), key())
    restored = book(database, file=CheckpointFile(tmp_path / "absent", lambda: KEYS))
    with pytest.raises(NotReconciled):
        restored.reserve(TENANT, [ledger.id], query(), key())
    assert restored.ledger(TENANT, ledger.id) == ledger


def test_a_voided_commit_is_not_answered_again(kept: Book) -> None:
    ledger = kept.open(TENANT, opening(), key())
    made = kept.reserve(TENANT, [ledger.id], query(), key())
    again = key()
    kept.commit(TENANT, made.id, ALL, again)
    assert kept.receipts(TENANT, made.id)
    kept.void(TENANT, ledger.id, VoidAsked(reservation=made.id, count=1, declared="no-output-observed"), key())
    assert used(kept, ledger.id) == 0
    with pytest.raises(ReservationEnded):
        kept.commit(TENANT, made.id, ALL, again)
    assert kept.receipts(TENANT, made.id) == []


def test_a_commit_after_its_time_is_refused_though_nobody_has_looked(
    kept: Book, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = kept.open(TENANT, opening(), key())
    made = kept.reserve(TENANT, [ledger.id], query(expires_in=5.0), key())
    clock.now += 6.0
    monkeypatch.setattr(kept, "expire", lambda: 0)  # as if a hundred others were due first
    with pytest.raises(ReservationEnded):
        kept.commit(TENANT, made.id, ALL, key())
    assert kept.reservation(TENANT, made.id).state == "expired"
    assert held(kept, ledger.id) == 0
