"""What is written is what differs, from the state that is locked, all or nothing."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from epsilond.ledgers.store import entries, keys, ledgers, reservations
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import ItemRow, PartRow
from epsilond.ledgers.store.tables import SLOTS
from epsilond.ledgers.store.transactions import Again, Unknown, lock_ledgers, looking, moving
from epsilond.storage.faults import StoreFault
from tests.ledgers.store.samples import answer, enter, kept, ledger, loaded, reservation, spend, spent


def moved(database, before, after):
    """Write one ledger."""
    with moving(database, {before.id: before.version}) as connection:
        return ledgers.write(connection, before, after)


def test_what_is_loaded_is_what_was_added(database):
    orders = tuple(
        PartRow(kind="rdp", part=f"order:{order}", capacity=Decimal(order), mixed=True) for order in (32, 8, 4)
    )
    plan = tuple(ItemRow(name=name, spec=f'{{"name":"{name}"}}', planned=3) for name in "zay")
    made = ledger("a", parts=orders, items=plan, block="b", conditional=True), ledger("b", parts=(), items=())
    kept(database, *made)
    with looking(database) as connection:
        assert ledgers.load(connection, "b", "a") == {"b": made[1], "a": made[0]}
        assert ledgers.load(connection) == {}
        with pytest.raises(Unknown, match=r"^c$"):
            ledgers.load(connection, "a", "c")


def test_every_difference_is_written(database):
    kept(database, ledger())
    before = loaded(database)
    part = replace(before.parts[0], capacity=Decimal("0.9"), used=Decimal("0.2"), held=Decimal("0.5"))
    item = replace(before.items[0], planned=9, reserved=2, committed=3, credit=4)
    job = ItemRow(name="job r", spec="{}", planned=7, reserved=7, job="r")
    after = replace(
        before,
        status="closed",
        sealed=True,
        conditional=True,
        parts=(part, before.parts[1]),
        items=(item, job),
    )
    assert moved(database, before, after) == replace(after, version=1) == loaded(database)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tenant": "u"},
        {"dataset": "u"},
        {"record": "{}"},
        {"version": 7},
        {"parts": ()},
        {"items": ()},
        {"items": (ItemRow(name="training", spec="{}", planned=10),)},
    ],
)
def test_what_a_ledger_was_opened_with_stays(database, wrong):
    kept(database, ledger())
    before = loaded(database)
    with pytest.raises(ValueError, match="ledger"):
        moved(database, before, replace(before, **wrong))
    assert loaded(database) == before


def test_who_read_an_earlier_version_reads_again(database):
    kept(database, ledger())
    before = loaded(database)
    moved(database, before, spent(before))
    for attempt in (
        lambda: moved(database, before, spent(before)),
        lambda: wrote_without_looking_at_the_version(database, before),
    ):
        with pytest.raises(Again):
            attempt()
    assert loaded(database) == replace(spent(before), version=1)


def wrote_without_looking_at_the_version(database, before):
    """As a caller would who loads nothing inside and gives no version."""
    with moving(database, {"a": None}) as connection:
        ledgers.write(connection, before, spent(before))


def test_rows_that_somebody_else_changed_are_not_written_over(database):
    kept(database, ledger())
    before = loaded(database)
    for column in ("ledger_slots SET used = held", "ledger_items SET reserved = 1"):
        with database.writing() as connection:
            connection.exec_driver_sql(f"UPDATE {column}")
    with database.writing() as connection:
        connection.execute(  # no move: the version is as it was
            SLOTS.update().where(SLOTS.c.part == "mu_squared").values(held=Decimal("0.3"))
        )
    item = replace(before, items=(replace(before.items[0], reserved=2),))
    for after in (spent(before), item):
        with pytest.raises(Again):
            moved(database, before, after)
    assert loaded(database).version == 0


def test_several_ledgers_are_all_or_nothing(database):
    kept(database, ledger("b"), ledger("a"), ledger("c", "0.005"))
    assert spend(database, "b", "a") == 3
    assert spend(database, "a", "c", "b") is None
    before = loaded(database, "a"), loaded(database, "b")
    over = loaded(database, "c")
    with pytest.raises(StoreFault):
        spend_blindly(database, *before, over)
    assert (loaded(database, "a"), loaded(database, "b")) == before
    with looking(database) as connection:
        assert entries.size(connection) == 5


def spend_blindly(database, *before):
    """As a caller does who does not look at what is free."""
    with moving(database, {each.id: each.version for each in before}) as connection:
        enter(connection, *(each.id for each in before))
        for each in before:
            ledgers.write(connection, each, spent(each))


def test_a_block_has_one_ledger_for_ever(database):
    kept(database, ledger("a", dataset="d", block="b"))
    before = loaded(database)
    moved(database, before, replace(before, status="closed"))
    with moving(database, {}) as connection:
        with pytest.raises(ledgers.BlockTaken, match=r"^a$"):
            ledgers.add(connection, ledger("b", dataset="d", block="b"))
        for other in (
            ledger("b", dataset="d", block="c"),
            ledger("c", dataset="d"),
            ledger("d", dataset="d", block="b", tenant="u"),
        ):
            ledgers.add(connection, other)  # the transaction goes on
        assert ledgers.of_block(connection, "t", "d", "b") == "a"
        assert ledgers.of_block(connection, "t", "d", "x") is None
    with pytest.raises(ValueError, match="version 0"), moving(database, {}) as connection:
        ledgers.add(connection, ledger("z", version=1))


def test_ledgers_are_listed_by_tenant_in_the_order_of_opening(database):
    made = [ledger(name, created=created) for name, created in (("c", 1.0), ("a", 2.0), ("b", 2.0), ("d", 3.0))]
    kept(database, *made, ledger("e", tenant="u", created=0.5))
    with looking(database) as connection:
        first = ledgers.page(connection, "t", limit=2)
        rest = ledgers.page(connection, "t", limit=9, after=first[-1])
        assert (first, rest) == (made[:2], made[2:])
        assert ledgers.page(connection, "t", limit=9, after=made[-1]) == []


def test_a_lock_names_what_is_not_there(database):
    kept(database, ledger("b"), ledger("a"))
    with moving(database, {}) as connection:
        assert list(lock_ledgers(connection, "b", "a").items()) == [("a", 0), ("b", 0)]
    with pytest.raises(Unknown, match=r"^c$"), moving(database, {"a": 0, "c": None}):
        pass


def test_reservations_are_kept_changed_and_found(database):
    kept(database, ledger("a"), ledger("b"))
    one = reservation("r", "a", "b", expires=20.5)
    two = reservation("s", "b", created=11.0, expires=None)
    with moving(database, {"a": None, "b": None}) as connection:
        for each in (two, one):
            reservations.add(connection, each)
        assert reservations.get(connection, "r") == one
        assert reservations.get(connection, "x") is None
        assert reservations.of_ledgers(connection, ["a"], ()) == [one]
        assert reservations.of_ledgers(connection, ["b"], ()) == [one, two]
        assert reservations.due(connection, 20.0, limit=9) == []
        assert reservations.due(connection, 20.5, limit=9) == [one]
        assert not loaded_inside(connection, "a").released
        half = replace(one, state="committed", holdings=tuple(replace(each, committed=4) for each in one.holdings))
        reservations.write(connection, [(one, half)])
        assert reservations.get(connection, "r") == half
        assert reservations.due(connection, 20.5, limit=9) == [half]
        assert loaded_inside(connection, "a").released
        whole = tuple(replace(each, committed=10, item="job r", charge="{}") for each in one.holdings)
        done = replace(half, holdings=whole)
        reservations.write(connection, [(half, done)])
        assert reservations.of_ledgers(connection, ["b"], ()) == [two]
        assert reservations.due(connection, 20.5, limit=9) == []
        assert reservations.of_ledger(connection, "b") == [done, two]


def loaded_inside(connection, identifier):
    """A ledger as the transaction sees it."""
    return ledgers.load(connection, identifier)[identifier]


def test_a_reservation_that_has_ended_is_not_committed(database):
    kept(database, ledger())
    made = reservation()
    with moving(database, {"a": None}) as connection:
        reservations.add(connection, made)
        reservations.write(connection, [(made, replace(made, state="expired"))])
    with pytest.raises(Again), moving(database, {"a": None}) as connection:  # who read it before
        reservations.write(connection, [(made, replace(made, state="committed"))])
    ended = replace(made, state="expired")
    with pytest.raises(StoreFault), moving(database, {"a": None}) as connection:  # who read it after
        reservations.write(connection, [(ended, replace(ended, state="committed"))])
    with pytest.raises(ValueError, match="ledgers"), moving(database, {"a": None}) as connection:
        reservations.write(connection, [(ended, replace(ended, holdings=()))])


def test_entries_are_numbered_without_gaps_whatever_is_rolled_back(database):
    kept(database, ledger("a"), ledger("b"))
    for attempt in range(12):
        if attempt % 3:
            with pytest.raises(ZeroDivisionError), moving(database, {"a": None}) as connection:
                1 / enter(connection, "a", "b", body=f"rolled back {attempt}") / 0
        else:
            with moving(database, {"a": None}) as connection:
                enter(connection, "b", "a", body=f"kept {attempt}")
    with looking(database) as connection:
        assert entries.size(connection) == 10
        whole = entries.page(connection, limit=99)
        assert [each.seq for each in whole] == list(range(10))
        assert entries.page(connection, start=4, limit=2) == whole[4:6]
        assert entries.page(connection, start=3, limit=2, ledger="a") == [whole[3], whole[5]]
        assert entries.get(connection, 7) == whole[7]
        assert entries.get(connection, 10) is None
        nodes = StoredNodes(connection).read_hashes([(0, seq) for seq in range(11)])
        assert nodes == {(0, each.seq): entries.digest(each.leaf) for each in whole}
    with (
        pytest.raises(ValueError, match="at least one"),
        moving(database, {}) as connection,
    ):
        entries.take(connection, 0)


def test_nodes_are_written_once(database):
    with moving(database, {}) as connection:
        stored = StoredNodes(connection)
        stored.write({})
        stored.write({(0, 0): b"x" * 32, (1, 0): b"y" * 32})
        assert stored.read_hashes([]) == {}
        assert stored.read_hashes([(1, 0), (0, 1)]) == {(1, 0): b"y" * 32}
    for wrong in ({(0, 1): b"z" * 32, (0, 0): b"z" * 32}, {(0, 1): b"short"}, {(-1, 0): b"z" * 32}):
        with pytest.raises(ValueError, match="node"), moving(database, {}) as connection:
            StoredNodes(connection).write(wrong)
    with looking(database) as connection:
        stored = StoredNodes(connection)
        assert stored.read_hashes([(0, 0), (0, 1)]) == {(0, 0): b"x" * 32}


def test_keys_are_kept_by_tenant_and_taken_once(database):
    first = answer("k", b"\x00\xff", "f")
    with moving(database, {}) as connection:
        assert keys.find(connection, "t", "k") is None
        keys.keep(connection, [first])
        keys.keep(connection, [replace(first, tenant="u", fingerprint="g")])
    with pytest.raises(Again), moving(database, {}) as connection:
        keys.keep(connection, [replace(first, answer=b"other")])
    with looking(database) as connection:
        assert keys.find(connection, "t", "k") == first
        assert keys.find(connection, "u", "k").fingerprint == "g"
