"""Test that a faulty caller with access to the tables cannot exceed a budget, rewrite the log or revive an ended ledger."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from epsilond.ledgers.store import ledgers, reservations
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.records import PartRow
from epsilond.ledgers.store.transactions import moving
from epsilond.storage.faults import StoreFault
from tests.ledgers.store.samples import enter, kept, ledger, loaded, reservation, spend

AMOUNTS = {
    "postgresql": lambda text: text,
    "sqlite": lambda text: f"{text.partition('.')[0]:0>18}.{text.partition('.')[2]:0<18}",
}
REFUSAL = r"constraint failed|never|no move|no gaps|SQLSTATE 23"
"""Of a constraint or a trigger, and of nothing else that is wrong with a statement."""
OVERRUN = [
    ("ledger_slots", "held", "1.000000000000000001"),
    ("ledger_slots", "held", "10"),
    ("ledger_slots", "used", "0.5"),  # more than is held
    ("ledger_slots", "capacity", "2"),
    ("ledger_slots", "capacity", "0"),
]
STATEMENTS = [
    "UPDATE ledger_slots SET held = 'NaN'",
    "UPDATE ledger_slots SET capacity = 'NaN', held = 'NaN'",
    "UPDATE ledger_slots SET used = '-1'",
    "UPDATE ledger_slots SET used = -0.5",
    "UPDATE ledger_slots SET mixed = NOT mixed",
    "DELETE FROM ledger_slots",
    "UPDATE ledger_items SET reserved = 11",
    "UPDATE ledger_items SET reserved = 5, committed = 5, credit = 1",
    "UPDATE ledger_items SET credit = -1",
    "UPDATE ledger_items SET planned = 11",
    "UPDATE ledger_items SET spec = 'other'",
    "DELETE FROM ledger_items",
    "UPDATE ledgers SET version = version",
    "UPDATE ledgers SET version = version + 2",
    "UPDATE ledgers SET version = version + 1, block = 'other'",
    "UPDATE ledgers SET version = version + 1, record = 'other'",
    "UPDATE ledgers SET version = version + 1, status = 'reopened'",
    "UPDATE ledgers SET version = version + 1, organisation = 'u'",
    "UPDATE ledgers SET version = version + 1, organisation = ''",
    "UPDATE ledgers SET version = version + 1, organisation = NULL",
    "UPDATE ledgers SET version = version + 1, dataset_key = 'other'",
    "UPDATE ledgers SET version = version + 1, block_key = 'other'",
    "UPDATE ledgers SET version = version + 1, opened_by = 'u'",
    "DELETE FROM ledgers",
    "UPDATE ledger_holdings SET committed = 11",
    "UPDATE ledger_holdings SET committed = -1",
    "DELETE FROM ledger_holdings",
    "UPDATE ledger_reservations SET state = 'reopened'",
    "UPDATE ledger_reservations SET tenant = 'u'",
    "DELETE FROM ledger_reservations",
    "UPDATE ledger_entries SET kind = 'other'",
    "UPDATE ledger_entries SET leaf = leaf",
    "DELETE FROM ledger_entries",
    "DELETE FROM ledger_entries WHERE seq = 1",
    "UPDATE ledger_nodes SET hash = hash",
    "DELETE FROM ledger_nodes",
    "UPDATE ledger_keys SET fingerprint = 'other'",
    "DELETE FROM ledger_keys",
    "UPDATE ledger_counter SET size = size - 1",
    "UPDATE ledger_counter SET size = size",
    "INSERT INTO ledger_counter (id, size) VALUES (2, 0)",
    "DELETE FROM ledger_counter",
]
REST = "name, status, sealed, conditional, record, created, 0, contradicted"
COLUMNS = (
    "(id, tenant, dataset, block, name, status, sealed, conditional, record, created, version, contradicted,"
    " organisation, opened_by, dataset_key, block_key, copy)"
)
COPIES = [
    "INTO ledger_entries SELECT seq + 2, at, tenant, kind, ledger, leaf, digest FROM ledger_entries WHERE seq = 1",
    "INTO ledger_entries SELECT seq + 1, at, tenant, kind, ledger, leaf, digest FROM ledger_entries WHERE seq = 1",
    "INTO ledger_entries SELECT * FROM ledger_entries",
    "INTO ledger_nodes SELECT * FROM ledger_nodes",
    "INTO ledger_keys SELECT * FROM ledger_keys",
    "INTO ledgers SELECT * FROM ledgers",
    f"INTO ledgers {COLUMNS} SELECT 'b', tenant, dataset, block, {REST}, 'o', opened_by, dataset_key, block_key, 0 FROM ledgers",
    f"INTO ledgers {COLUMNS} SELECT 'b', 'u', dataset, block, {REST}, organisation, opened_by, dataset_key, block_key, 0 FROM ledgers",
    f"INTO ledgers {COLUMNS} SELECT 'b', 'u', dataset, block, {REST}, NULL, opened_by, dataset_key, block_key, 0 FROM ledgers",
    f"INTO ledgers {COLUMNS} SELECT 'b', 'u', dataset, block, {REST}, 'o', opened_by, '', block_key, 0 FROM ledgers",
    "INTO ledger_slots SELECT * FROM ledger_slots",
    "INTO ledger_items SELECT * FROM ledger_items",
    "INTO ledger_reservations SELECT * FROM ledger_reservations",
    "INTO ledger_holdings SELECT * FROM ledger_holdings",
    "INTO ledger_counter SELECT * FROM ledger_counter",
]


@pytest.fixture
def used(database):
    """With a ledger, an entry, a key, a reservation."""
    kept(database, ledger())
    spend(database, "a", key="k")
    with moving(database, {"a": None}) as connection:
        reservations.add(connection, reservation())
    return database


def everything(database):
    """All rows."""
    names = ("ledgers", "slots", "items", "reservations", "holdings", "entries", "nodes", "keys", "counter")
    with database.reading() as connection:
        return [
            sorted(map(repr, connection.exec_driver_sql(f"SELECT * FROM {table}")))
            for table in (name if name == "ledgers" else f"ledger_{name}" for name in names)
        ]


def refused(database, statement):
    """Check that a statement is refused, and changes nothing."""
    before = everything(database)
    with pytest.raises(StoreFault, match=REFUSAL), database.writing() as connection:
        connection.exec_driver_sql(statement)
    assert everything(database) == before


def test_no_amount_passes_a_capacity(used):
    kind = "postgresql" if used.shared else "sqlite"
    for table, column, value in OVERRUN:
        refused(used, f"UPDATE {table} SET {column} = '{AMOUNTS[kind](value)}' WHERE part = 'mu_squared'")


def test_what_no_move_does_is_refused(used):
    for statement in STATEMENTS:
        refused(used, statement)


def test_rows_are_not_replaced_and_entries_have_no_gaps(used):
    for copy in COPIES:
        refused(used, f"INSERT {copy}")
        if not used.shared:
            refused(used, f"INSERT OR REPLACE {copy}")


def test_sqlite_takes_no_amount_that_it_would_compare_wrongly(tmp_path):
    database = open_store(tmp_path / "ledgers.sqlite")
    kept(database, ledger())
    good = f"{'0.5':0>20}{'0' * 17}"
    assert len(good) == 37
    with database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE ledger_slots SET held = '{good}' WHERE part = 'mu_squared'")
    for wrong in (
        "0",
        "0.5",
        0,
        0.5,
        good[1:],
        f"{good}0",
        f" {good[1:]}",
        good.replace(".", ","),
        f"{good[:-1]}.",
        f"{good[:-1]}e",
    ):
        refused(database, f"UPDATE ledger_slots SET held = {wrong!r} WHERE part = 'mu_squared'")
    for wrong in ("'x'", 1.5, "NULL", "x'00'"):
        refused(database, f"UPDATE ledger_items SET reserved = {wrong}")
    database.close()


def test_postgresql_does_not_truncate(shared):
    kept(shared, ledger())
    for table in ("ledgers", "ledger_slots", "ledger_entries", "ledger_nodes", "ledger_keys", "ledger_counter"):
        refused(shared, f"TRUNCATE {table} CASCADE")


def test_what_has_ended_stays_so(used):
    for statement in (
        (
            "UPDATE ledgers SET version = version + 1, status = 'closed', sealed = (1 = 1), conditional = (1 = 1),"
            " contradicted = (1 = 1)"
        ),
        "UPDATE ledger_reservations SET state = 'committed'",
    ):
        with used.writing() as connection:
            connection.exec_driver_sql(statement)
    for back in ("status = 'open'", "sealed = (1 = 0)", "conditional = (1 = 0)", "contradicted = (1 = 0)"):
        refused(used, f"UPDATE ledgers SET version = version + 1, {back}")
    refused(used, "UPDATE ledger_reservations SET state = 'reserved'")
    with used.writing() as connection:
        connection.exec_driver_sql("UPDATE ledger_reservations SET state = 'cancelled'")
    for state in ("committed", "expired", "reserved"):
        refused(used, f"UPDATE ledger_reservations SET state = '{state}'")


def test_nothing_is_committed_to_a_contradicted_ledger(used):
    with used.writing() as connection:
        connection.exec_driver_sql("UPDATE ledger_holdings SET committed = 3")
        connection.exec_driver_sql("UPDATE ledgers SET version = version + 1, contradicted = (1 = 1)")
    refused(used, "UPDATE ledger_holdings SET committed = 4")
    with used.writing() as connection:  # what is not committed may return
        connection.exec_driver_sql("UPDATE ledger_reservations SET state = 'cancelled'")


def test_one_of_several_renyi_orders_may_be_overdrawn_and_nothing_else(database):
    parts = (
        PartRow(kind="rdp", part="order:8", capacity=Decimal(1), mixed=True),
        PartRow(kind="gdp", part="mu_squared", capacity=Decimal(1)),
    )
    kept(database, ledger(parts=parts))
    before = loaded(database)
    for place, fine in ((0, True), (1, False)):
        over = replace(before.parts[place], held=Decimal(2))
        after = replace(before, parts=tuple(over if at == place else part for at, part in enumerate(before.parts)))
        if fine:
            with moving(database, {"a": None}) as connection:
                before = ledgers.write(connection, before, after)
        else:
            with pytest.raises(StoreFault), moving(database, {"a": None}) as connection:
                ledgers.write(connection, before, after)
    wrong = PartRow(kind="gdp", part="mu_squared", capacity=Decimal(1), held=Decimal(2), mixed=True)
    with pytest.raises(StoreFault), moving(database, {}) as connection:
        ledgers.add(connection, ledger("b", parts=(wrong,)))


def test_an_entry_needs_its_ledger(database):
    with pytest.raises(StoreFault), moving(database, {}) as connection:
        enter(connection, "nobody")
