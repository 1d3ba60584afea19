"""The drill of a row that somebody changes in the database."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from sqlalchemy import Update, select, update

from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.drills.processes import PART, start
from epsilond.ledgers.drills.reports import DrillRecorder
from epsilond.ledgers.drills.stores import DrillStore
from epsilond.ledgers.store.tables import SLOTS
from epsilond.ledgers.store.transactions import looking
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

RAISED: Final = Decimal(1000)
"""Capacity that somebody gives a slot; larger than any that a drill's ledger has."""


def change_row(store: DrillStore, record: DrillRecorder) -> None:
    """Rehearse a forged balance: change a budget by SQL, and expect that the change is rejected or noticed.

    A trigger must reject a larger capacity. The owner of the tables can remove the triggers and change the used amount.
    Then the next commit must be rejected, because the digest of the balance in the ledger's newest log entry differs.
    Commits in other ledgers must succeed, and also in this one after the row has its old value again.

    Args:
        store: the temporary ledgers.
        record: receives the outcome of each step.
    """
    with start(store) as process:
        ledger = process.open_ledger("people")
        other_ledger = process.open_ledger("others")
        process.commit(ledger)
        used_amount = _read_used_amount(process.database, ledger)
        record.expect_error(
            "The capacity of a slot is raised by SQL.",
            lambda: _execute(process.database, _slot_update(ledger).values(capacity=RAISED)),
            StoreFault,
            expected="Refused by a trigger.",
            containing=store.trigger_error_text,
        )
        _set_used_amount(store, process.database, ledger, Decimal(0))
        record.expect_error(
            "The owner of the tables sets the use of a slot to 0. A run is committed.",
            lambda: process.commit(ledger),
            NotReconciled,
            expected="Refused: the balance differs from the ledger's newest entry.",
            containing=ledger,
        )
        unbalanced = process.book.unbalanced_ledgers()
        record.compare(
            "All ledgers are compared with their entries.",
            expected="The changed ledger is named, and no other.",
            happened=" ".join(unbalanced) or "No ledger is named.",
            passed=len(unbalanced) == 1 and ledger in unbalanced[0],
        )
        record.expect_success("A run is committed in another ledger.", lambda: process.commit(other_ledger))
        _set_used_amount(store, process.database, ledger, used_amount)
        record.expect_success("The row is put back. A run is committed.", lambda: process.commit(ledger))


def _slot_update(ledger: str) -> Update:
    """Return an SQL update of one row: that with the amount `PART` of a budget (slot) of a ledger.

    Args:
        ledger: id of the ledger.

    Returns:
        The statement, without values.
    """
    return update(SLOTS).where(SLOTS.c.ledger == ledger, SLOTS.c.part == PART)


def _read_used_amount(database: Database, ledger: str) -> Decimal:
    """Return the used amount of a ledger's slot, a part of its privacy budget, from the database.

    Args:
        database: the open database.
        ledger: id of the ledger.

    Returns:
        The used amount of the slot's part `PART`.
    """
    with looking(database) as connection:
        query = select(SLOTS.c.used).where(SLOTS.c.ledger == ledger, SLOTS.c.part == PART)
        amount: Decimal = connection.execute(query).scalar_one()
        return amount


def _execute(database: Database, change: Update) -> None:
    """Execute a statement that changes rows outside the operations of ledgers.

    Args:
        database: the open database.
        change: the SQL update.
    """
    with database.writing() as connection:
        connection.execute(change)


def _set_used_amount(store: DrillStore, database: Database, ledger: str, used: Decimal) -> None:
    """Set the used amount of a ledger's slot (a budget) while the triggers that forbid it are off.

    The drill acts as the owner of the tables, who can remove triggers.

    Args:
        store: the temporary ledgers.
        database: the open database.
        ledger: id of the ledger.
        used: the new amount.
    """
    with database.writing() as connection:
        store.change_behind(connection, _slot_update(ledger).values(used=used))
