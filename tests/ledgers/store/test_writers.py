"""Writers at the same time: how budgets are overspent, and that these never are."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal

import psycopg
import pytest

from epsilond.ledgers.store import entries, keys, ledgers
from epsilond.ledgers.store.exact import format_exact
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.transactions import Again, looking, moving
from epsilond.storage.transactions import Database
from tests.ledgers.store.samples import CENT, answer, enter, kept, ledger, loaded, spend

WRITERS = 8
INTEGRITY = (sqlite3.IntegrityError, psycopg.IntegrityError)


class Raw:
    """A connection of a caller of their own; a transaction on PostgreSQL, statement by statement on SQLite."""

    def __init__(self, place: str) -> None:
        self.shared = "://" in place
        self.connection = psycopg.connect(place) if self.shared else sqlite3.connect(place, isolation_level=None)

    def run(self, statement: str) -> list[tuple]:
        cursor = self.connection.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def amount(self, value: Decimal) -> str:
        """A literal."""
        return f"{value:.18f}" if self.shared else f"'{format_exact(value)}'"


@contextmanager
def writers(place: str) -> Iterator[list[Raw]]:
    """Eight of them."""
    with ExitStack() as stack:
        yield [stack.enter_context(raw(place)) for _ in range(WRITERS)]


@contextmanager
def raw(place: str) -> Iterator[Raw]:
    """One, closed at the end whatever it left."""
    made = Raw(place)
    try:
        yield made
    finally:
        made.connection.close()


def test_check_then_add_overspends_where_no_constraint_stands(place):
    """READ COMMITTED, eight writers, 0.99 of 1.00 used: each sees room for one more, and 107 are granted."""
    open_store(place).close()
    with writers(place) as eight:
        eight[0].run("CREATE TABLE balance (cents INTEGER)")
        eight[0].run("INSERT INTO balance VALUES (99)")
        eight[0].connection.commit()
        seen = [each.run("SELECT cents FROM balance") for each in eight]
        granted = 99
        for each, [(cents,)] in zip(eight, seen, strict=True):
            if cents + 1 <= 100:
                each.run("UPDATE balance SET cents = cents + 1")
                each.connection.commit()
                granted += 1
        assert granted == 107
        assert eight[0].run("SELECT cents FROM balance") == [(107,)]


def test_check_then_write_overspends_and_the_balance_does_not_tell(place):
    """Eight writers who write what they computed: 200 are granted of 25, and the constraint sees nothing of it."""
    database = open_store(place)
    kept(database, ledger(capacity="0.25"))
    database.close()
    granted = 0
    with writers(place) as eight:
        for cents in range(25):
            seen = [each.run("SELECT held FROM ledger_slots WHERE part = 'mu_squared'") for each in eight]
            for each, [(held,)] in zip(eight, seen, strict=True):
                assert Decimal(held) == CENT * cents
                after = each.amount(Decimal(held) + CENT)
                each.run(f"UPDATE ledger_slots SET held = {after}, used = {after} WHERE part = 'mu_squared'")
                each.connection.commit()
                granted += 1
    assert granted == 200
    database = open_store(place)
    assert loaded(database).parts[0].used == loaded(database).parts[0].capacity
    database.close()


def test_a_constraint_stops_who_checks_and_then_adds(place):
    database = open_store(place)
    kept(database, ledger())
    spend(database, "a", amount=Decimal("0.99"))
    database.close()
    refused = 0
    with writers(place) as eight:
        seen = [each.run("SELECT held FROM ledger_slots WHERE part = 'mu_squared'") for each in eight]
        assert {Decimal(held) for [(held,)] in seen} == {Decimal("0.99")}
        for each in eight:
            [(held,)] = each.run("SELECT held FROM ledger_slots WHERE part = 'mu_squared'")
            try:
                each.run(
                    f"UPDATE ledger_slots SET held = {each.amount(Decimal(held) + CENT)} WHERE part = 'mu_squared'"
                )
            except INTEGRITY:
                refused += 1
                each.connection.rollback()
            else:
                each.connection.commit()
    assert refused == 7


@pytest.fixture
def replicas(place: str) -> Iterator[list[Database]]:
    """Two services on one PostgreSQL database; one on a file."""
    made = [open_store(place) for _ in range(2 if "://" in place else 1)]
    yield made
    for each in made:
        each.close()


def together(replicas, *calls):
    """What calls answer that are made at the same time, of one replica and another in turn."""
    start = threading.Barrier(len(calls))

    def call(number):
        start.wait()
        return calls[number](replicas[number % len(replicas)])

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, range(len(calls))))


def in_order(database):
    """The log's entries, checked to be complete."""
    with looking(database) as connection:
        found = entries.page(connection, limit=10_000)
        assert [each.seq for each in found] == list(range(entries.size(connection)))
    return found


def test_eight_writers_never_overspend(replicas):
    kept(replicas[0], ledger())
    answers = together(replicas, *[lambda database: [spend(database, "a") for _ in range(16)] for _ in range(WRITERS)])
    granted = [seq for each in answers for seq in each if seq is not None]
    assert len(granted) == 100
    row = loaded(replicas[0])
    assert (row.parts[0].used, row.parts[0].held, row.version) == (1, 1, 100)
    assert sorted(granted) == [each.seq for each in in_order(replicas[0]) if each.kind == "commit"]


def test_writers_of_several_ledgers_do_not_wait_in_a_circle(replicas):
    kept(replicas[0], *(ledger(name, "0.1") for name in "abc"))
    orders = ["ab", "ba", "bc", "cb", "ca", "ac", "abc", "cba"]
    answers = together(
        replicas, *[lambda database, names=names: [spend(database, *names) for _ in range(4)] for names in orders]
    )
    spent = dict.fromkeys("abc", 0)
    for names, seqs in zip(orders, answers, strict=True):
        for name in names:
            spent[name] += sum(seq is not None for seq in seqs)
    rows = {name: loaded(replicas[0], name) for name in "abc"}
    assert {name: row.parts[0].used / CENT for name, row in rows.items()} == spent
    assert max(spent.values()) == 10
    told = [each.ledger for each in in_order(replicas[0]) if each.kind == "commit"]
    assert {name: told.count(name) for name in "abc"} == spent


def test_equal_requests_at_the_same_time_are_debited_once(replicas):
    kept(replicas[0], ledger("a"), ledger("b"))
    calls = [lambda database, name=name: spend(database, name, key="k") for name in "abababab"]
    answers = together(replicas, *calls)
    assert len(set(answers)) == 1
    assert sum(loaded(replicas[0], name).parts[0].used for name in "ab") == CENT
    assert [each.kind for each in in_order(replicas[0])] == ["open", "open", "commit"]


def test_equal_openings_at_the_same_time_make_one_ledger(replicas):
    def opens(database):
        try:
            with moving(database, {}) as connection:
                made = ledger(f"l{threading.get_ident()}", dataset="d")
                ledgers.add(connection, made)
                enter(connection, made.id, kind="open")
                keys.keep(connection, [answer("k")])
        except (ledgers.BlockTaken, Again):
            return 0
        return 1

    assert sum(together(replicas, *[opens] * WRITERS)) == 1
    with looking(replicas[0]) as connection:
        assert len(ledgers.page(connection, "t", limit=9)) == 1
    assert len(in_order(replicas[0])) == 1


def test_who_looks_sees_one_moment(replicas):
    """Each commit changes the ledger, its slot and the counter; who looks never sees a part of that."""
    kept(replicas[0], ledger())

    def looks(database):
        seen = []
        for _ in range(60):
            with looking(database) as connection:
                row = ledgers.load(connection, "a")["a"]
                seen.append((row.version, row.parts[0].used / CENT, entries.size(connection) - 1))
        return seen

    def spends(database):
        return [spend(database, "a") for _ in range(15)]

    for seen in together(replicas, looks, spends, looks, spends)[::2]:
        assert all(len(set(each)) == 1 for each in seen)
