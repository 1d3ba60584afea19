"""Figures of all ledgers are what their rows say, in both kinds of database."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from epsilond.ledgers.store import ledgers, reservations
from epsilond.ledgers.store.figures import Fullness, figures
from epsilond.ledgers.store.records import PartRow
from epsilond.ledgers.store.transactions import looking, moving
from tests.ledgers.store.samples import kept, ledger, loaded, reservation


def read(database, limit=20):
    with looking(database) as connection:
        return figures(connection, limit=limit)


def part(kind, name, used, held, **more):
    amounts = {"capacity": Decimal(10), "used": Decimal(used), "held": Decimal(held)}
    return PartRow(kind=kind, part=name, **(amounts | more))


def test_an_empty_database_has_no_figures(database):
    empty = read(database)
    assert (empty.open, empty.fullest, empty.oldest_hold, empty.size, empty.written) == (0, (), None, 0, None)


def test_a_ledger_is_as_full_as_its_fullest_slot(database):
    by_part = (part("gdp", "mu_squared", "1", "2"), part("gdp", "eta", "3", "5"))
    orders = tuple(
        part("rdp", f"order:{order}", used, used, mixed=True) for order, used in ((2, "9"), (4, "7"), (8, "12"))
    )
    pure = (part("pure", "epsilon", "2.5", "10"), part("pure", "delta", "0", "0", capacity=Decimal(0)))
    kept(database, ledger("a", parts=by_part), ledger("b", parts=orders), ledger("c", parts=pure), ledger("d"))
    found = read(database)
    assert (found.open, found.size, found.written) == (4, 4, 10.5)
    assert [each.ledger for each in found.fullest] == ["c", "b", "a", "d"]
    fractions = [each.used for each in found.fullest], [each.held for each in found.fullest]
    assert fractions == (pytest.approx([0.25, 0.7, 0.3, 0.0]), pytest.approx([1.0, 0.7, 0.5, 0.0]))
    assert [each.ledger for each in read(database, limit=2).fullest] == ["c", "b"]


@pytest.mark.parametrize("change", [{"status": "closed"}, {"contradicted": True}])
def test_a_ledger_that_reserves_nothing_more_is_left_out(database, change):
    kept(database, ledger("a"), ledger("b"))
    before = loaded(database)
    with moving(database, {"a": 0}) as connection:
        ledgers.write(connection, before, replace(before, **change))
    assert read(database).fullest == (Fullness(ledger="b", used=0.0, held=0.0),)
    assert read(database).open == 1


def test_the_oldest_hold_is_one_that_still_holds_something(database):
    kept(database, ledger())
    rows = [reservation(f"r{created}", created=float(created)) for created in (30, 10, 20)]
    with moving(database, {}) as connection:
        for row in rows:
            reservations.add(connection, row)
    assert read(database).oldest_hold == 10.0
    by_time = sorted(rows, key=lambda row: row.created)
    cancelled = replace(by_time[0], state="cancelled")
    holdings = tuple(replace(each, committed=10) for each in by_time[1].holdings)
    committed = replace(by_time[1], state="committed", holdings=holdings)
    with moving(database, {}) as connection:
        reservations.write(connection, [(by_time[0], cancelled), (by_time[1], committed)])
    assert read(database).oldest_hold == 30.0
