"""Ledgers from before there were organisations are given to those of their keys, and refuse moves if they collide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import select

import epsilond
from epsilond.accountants.errors import BlockHasLedger, LedgerClosed
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import NotFound
from epsilond.ledgers.book.logged.entries import entry
from epsilond.ledgers.client.replays import replay
from epsilond.ledgers.correction_requests import AmendAsked, ContradictAsked
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.verify import verify
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store import entries, reservations
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.tables import LEDGERS
from epsilond.ledgers.store.transactions import looking
from epsilond.reading import read
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import KEYS, ORIGIN, Clock, book, key, opening, query
from tests.ledgers.earlier import take_organisations_away

ALL = CommitAsked()


@contextmanager
def kept_at(place: str, **more: Any) -> Iterator[tuple[Book, Database]]:
    database = open_store(place)
    try:
        yield book(database, **more), database
    finally:
        database.close()


@pytest.fixture
def earlier(place: str) -> dict[str, Any]:
    """Ledgers of keys on one data set in two spellings, each with a commit and a reservation, before organisations."""
    with kept_at(place) as (made, _):
        told: dict[str, Any] = {}
        for name, dataset in (("alice", "Visits"), ("bob", "visits"), ("carol", "tests")):
            ledger = made.open(name, opening(dataset=dataset), key()).id
            spent, held = (made.reserve(name, [ledger], query(), key()).id for _ in range(2))
            told[name] = {"ledger": ledger, "held": held, "key": key()}
            told[name]["answer"] = made.commit(name, spent, ALL, told[name]["key"])
            told[name]["spent"] = spent
    take_organisations_away(place)
    return told


def refused(other: str, move: Callable[..., object], *arguments: object) -> None:
    with pytest.raises(BlockHasLedger) as refusal:
        move(*arguments)
    assert refusal.value.nearest == {"ledger": other}


def test_two_keys_of_one_organisation_are_refused_moves_until_one_ledger_is_closed(place, earlier):
    with kept_at(place) as (found, database):
        first, second = earlier["alice"], earlier["bob"]
        (collision,) = found.assign_organisations({"alice": "acme", "bob": "acme", "carol": "acme"}.__getitem__)
        assert (collision.organisation, collision.dataset, collision.open) == ("acme", "Visits", 2)
        assert collision.ledgers == (first["ledger"], second["ledger"])
        assert found.assign_organisations(str) == [collision]  # ledgers of a named organisation stay
        for mine, other in ((first, second["ledger"]), (second, first["ledger"])):
            assert found.written("acme", mine["ledger"])["count"] == 4
            refused(other, found.reserve, "acme", [mine["ledger"]], query(), key())
            refused(other, found.commit, "acme", mine["held"], ALL, key())
            lower = read(AmendAsked, {"lower": [{"name": "train", "planned": 1}], "declared": "independent-of-outputs"})
            refused(other, found.amend, "acme", mine["ledger"], lower, key())
        refused(first["ledger"], found.open, "acme", opening(dataset="VISITS"), key())
        third = earlier["carol"]["ledger"]
        assert found.reserve("acme", [third], query(), key()).state == "reserved"
        found.close("acme", first["ledger"], key(), by="alice")
        assert found.reserve("acme", [second["ledger"]], query(), key()).state == "reserved"
        refused(second["ledger"], found.commit, "acme", first["held"], ALL, key())
        assert found.cancel("acme", first["held"], by="bob").state == "cancelled"
        found.close("acme", second["ledger"], key())
        with pytest.raises(LedgerClosed):
            found.reserve("acme", [second["ledger"]], query(), key())
        with looking(database) as connection:
            leaves = [row.leaf for row in entries.page(connection, limit=100)]
        assert b'"tenant":"alice"' in leaves[0]
        assert b'"requested_by":"bob"' in b"".join(leaves)


def test_an_answer_of_before_is_answered_again_to_its_caller(place, earlier):
    with kept_at(place) as (found, _):
        found.assign_organisations(lambda name: "other" if name == "bob" else "acme")
        mine = earlier["alice"]
        assert found.commit("acme", mine["spent"], ALL, mine["key"], by="alice") == mine["answer"]
        with pytest.raises(NotFound):
            found.commit("other", mine["spent"], ALL, mine["key"], by="bob")


def test_the_log_of_before_and_after_verifies(place, earlier):
    with kept_at(place) as (found, database):
        found.assign_organisations(lambda name: "acme" if name == "alice" else "other")
        found.commit("acme", earlier["alice"]["held"], ALL, key(), by="dora")
        with looking(database) as connection:
            records = [entry(row) for row in entries.page(connection, limit=100)]
        bundle = Bundle(entries=records, checkpoints=[found.checkpoint()])
        verified = verify(bundle, origin=ORIGIN, keys=KEYS.keys, replay=replay)
        assert verified.complete, verified.sentences()
        assert found.inclusion("acme", 0).entry["tenant"] == "alice"
        with pytest.raises(NotFound):
            found.inclusion("other", 0)


def test_ledgers_without_an_organisation_follow_their_key_and_bar_their_data_set(place, earlier):
    with kept_at(place) as (found, _):
        found.assign_organisations(lambda name: "other" if name == "bob" else "")
        with pytest.raises(BlockHasLedger) as barred:
            found.open("acme", opening(dataset="TESTS"), key())
        assert not barred.value.nearest
        assert found.open("acme", opening(dataset="Scans", block="2026"), key()).tenant == "acme"
        with pytest.raises(BlockHasLedger):
            found.open("", opening(dataset="scans", block="2026"), key())
        assert found.open("", opening(dataset="scans", block="2027"), key(), by="alice").tenant == ""
        assert found.ledger("", earlier["carol"]["ledger"]).dataset == "tests"
        assert found.assign_organisations({"alice": "", "carol": "acme"}.__getitem__) == []
        assert found.ledger("acme", earlier["carol"]["ledger"]).dataset == "tests"
        refused(earlier["carol"]["ledger"], found.open, "acme", opening(dataset="TESTS"), key())


def test_a_key_that_spent_without_an_organisation_finds_no_fresh_budget_in_its_own(place):
    with kept_at(place) as (made, _):
        ledger = made.open("", opening(dataset="visits"), key(), by="alice").id
        made.commit("", made.reserve("", [ledger], query(), key(), by="bob").id, ALL, key(), by="bob")
        made.assign_organisations({"alice": "acme"}.__getitem__)
        for name in ("Visits", "visits"):
            with pytest.raises(BlockHasLedger) as barred:
                made.open("other", opening(dataset=name, block="2026"), key(), by="bob")
            assert not barred.value.nearest
        refused(ledger, made.open, "acme", opening(dataset="Visits"), key())
        made.close("acme", ledger, key(), by="alice")
        with pytest.raises(BlockHasLedger):
            made.open("other", opening(dataset="visits"), key(), by="new name of bob")
        assert made.open("other", opening(dataset="tests"), key(), by="bob").tenant == "other"


def test_a_ledger_of_before_bars_others_once_callers_without_an_organisation_moved_it(place, earlier):
    with kept_at(place) as (made, _):
        made.assign_organisations(lambda _: "")
        third = earlier["carol"]["ledger"]
        made.commit("", earlier["carol"]["held"], ALL, key(), by="bob")
        made.close("", earlier["bob"]["ledger"], key())
        made.assign_organisations(lambda _: "acme")
        with pytest.raises(BlockHasLedger):
            made.open("other", opening(dataset="tests"), key(), by="bob")
        refused(third, made.open, "acme", opening(dataset="tests"), key())


def test_a_ledger_that_only_its_own_key_moved_bars_nobody(place, earlier):
    with kept_at(place) as (made, _):
        made.assign_organisations(lambda _: "acme")
        assert made.open("other", opening(dataset="tests"), key()).tenant == "other"


def test_blocks_do_not_collide_next_to_a_closed_ledger_of_the_whole(place):
    with kept_at(place) as (made, _):
        whole = made.open("whole", opening(), key()).id
        made.close("whole", whole, key())
        blocks = [made.open("blocks", opening(block=name), key()).id for name in ("2025", "2026")]
    take_organisations_away(place)
    with kept_at(place) as (made, _):
        collisions = made.assign_organisations(lambda _: "acme")
        assert [(each.ledgers, each.open) for each in collisions] == [((whole, block), 1) for block in blocks]
        for block in blocks:
            assert made.reserve("acme", [block], query(), key()).state == "reserved"


def test_one_key_of_one_caller_in_two_organisations_is_two_requests(place):
    with kept_at(place) as (made, _):
        same = key()
        ids = [made.open(name, opening(), same, by="token:ada").id for name in ("acme", "other")]
        assert len(set(ids)) == 2
        assert made.open("acme", opening(), same, by="token:ada").id == ids[0]
        held = [
            made.reserve(name, [own], query(), same, by="ada").id
            for name, own in zip(("acme", "other"), ids, strict=True)
        ]
        assert len(set(held)) == 2


def test_the_database_refuses_commits_of_an_earlier_version_to_colliding_ledgers(place, earlier):
    with kept_at(place) as (made, database):
        made.assign_organisations({"alice": "acme", "bob": "acme", "carol": "acme"}.__getitem__)
        commit = "UPDATE ledger_holdings SET committed = 1 WHERE reservation = '{}'"
        for name in ("alice", "bob"):
            with (
                pytest.raises(StoreFault, match=r"another of its people|SQLSTATE 23"),
                database.writing() as connection,
            ):
                connection.exec_driver_sql(commit.format(earlier[name]["held"]))
        assert made.commit("acme", earlier["carol"]["held"], ALL, key())["receipts"]
        made.close("acme", earlier["alice"]["ledger"], key())
        with pytest.raises(StoreFault), database.writing() as connection:
            connection.exec_driver_sql(commit.format(earlier["alice"]["held"]))
        assert made.commit("acme", earlier["bob"]["held"], ALL, key())["receipts"]


def test_an_organisation_that_is_called_like_a_former_key_opens_the_data_set_of_that_key(place, earlier):
    with kept_at(place) as (made, _):
        made.assign_organisations(lambda _: "acme")
        ledger = made.open("alice", opening(dataset="Visits"), key())
        assert ledger.tenant == "alice"
        refused(ledger.id, made.open, "alice", opening(dataset="visits"), key())
        assert ledger.id != earlier["alice"]["ledger"]


def test_a_reservation_over_ledgers_of_two_organisations_still_ends(place):
    clock = Clock()
    with kept_at(place, clock=clock) as (made, database):
        ledgers = [made.open("", opening(dataset=name), key(), by=name).id for name in ("a", "b")]
        held = made.reserve("", ledgers, query(expires_in=0.001), key()).id
        made.assign_organisations(lambda name: name)
        for name in ("a", "b"):
            with pytest.raises(NotFound):
                made.reservation(name, held)
        clock.now += 1.0
        assert made.expire() == 1
        for name, ledger in zip("ab", ledgers, strict=True):
            assert made.state(name, ledger).reservations[held].state == "expired"
            assert [each["tenant"] for each in made.entries(name, ledger)] == ["", "", name]
        with looking(database) as connection:
            assert [row.tenant for row in entries.page(connection, limit=100)][-2:] == ["a", "b"]
        assert made.checkpoint()


def test_a_contradicted_ledger_does_not_keep_the_other_from_moving(place, earlier):
    with kept_at(place) as (found, _):
        first, second = earlier["alice"], earlier["bob"]
        found.assign_organisations({"alice": "acme", "bob": "acme", "carol": "acme"}.__getitem__)
        observed = {"observations": [{"premise": "batches", "message": "m", "remedy": "r", "count": 1}]}
        found.contradict("acme", first["ledger"], read(ContradictAsked, observed), key())
        assert found.reserve("acme", [second["ledger"]], query(), key()).state == "reserved"
        commits = [each for each in found.log_entries("acme") if each["kind"] == "committed"]
        assert [each.get("contradicted", False) for each in commits if each["ledger"] == first["ledger"]] == [True]
        assert not any(each.get("contradicted") for each in commits if each["ledger"] != first["ledger"])


def test_a_local_client_leaves_the_ledgers_of_a_service_to_it(tmp_path):
    file = tmp_path / "ledgers.db"
    clock = Clock()
    with kept_at(str(file), clock=clock) as (made, _):
        ledger = made.open("alice", opening(dataset="visits"), key()).id
        held = made.reserve("alice", [ledger], query(expires_in=0.001), key()).id
    take_organisations_away(str(file))
    clock.now += 1.0
    with kept_at(str(file), clock=clock) as (made, database):
        assert made.expire() == 0
        with looking(database) as connection:
            reservation = reservations.get(connection, held)
        assert reservation is not None
        assert reservation.state == "reserved"
    books = epsilond.ledger(file)
    assert books.ledgers() == []
    books.close()
    with kept_at(str(file)) as (found, database):
        with looking(database) as connection:
            (row,) = connection.execute(select(LEDGERS.c.organisation)).all()
        assert row.organisation is None
        found.assign_organisations({"alice": "acme"}.__getitem__)
        assert len(found.ledgers("acme")) == 1
