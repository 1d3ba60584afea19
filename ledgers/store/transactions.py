"""Transactions of ledgers: rows that were read before are compared under a lock, or read and judged again.

A move reads a ledger and its version, and computes with nothing locked. Then it locks its ledgers in the order of their
ids, and writes if their versions are the same. The counter of entries is locked after all ledgers, so that no deadlock
can occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Executable, Update, select, text
from sqlalchemy.exc import IntegrityError

from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.store.tables import LEDGERS
from epsilond.storage.transactions import Database

_DURABLE = text(
    "SELECT set_config('synchronous_commit', 'on', true)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local')"
)


class Again(Exception):
    """Another process moved in between, and nothing was written. Read, judge and try again."""


class Unknown(LookupError):
    """There is no such ledger. The message is its id."""


@contextmanager
def durably(database: Database) -> Iterator[Connection]:
    """Yield a transaction that is on the disk once it is left without an error.

    PostgreSQL also waits for a standby if the server has one to wait for, whatever `synchronous_commit` is, so that a
    receipt survives a failover.

    Raises:
        StoreFault: the database cannot be used, or rejects the writes; nothing was written.
    """
    with database.writing() as connection:
        if database.shared:
            connection.execute(_DURABLE)
        yield connection


@contextmanager
def moving(database: Database, versions: Mapping[str, int | None]) -> Iterator[Connection]:
    """Yield a transaction with these ledgers locked and their versions checked, where a version is passed.

    A caller who passes None loads the ledger inside, and makes quick judgements there. All is written or nothing, as
    durably as in `durably`.

    Raises:
        Again: a ledger has another version by now.
        Unknown: there is no such ledger.
        StoreFault: the database cannot be used, or rejects the writes; nothing was written.
    """
    with durably(database) as connection:
        present = lock_ledgers(connection, *versions)
        for identifier, version in versions.items():
            if version is not None and present[identifier] != version:
                raise Again(identifier)
        yield connection


def lock_ledgers(connection: Connection, *identifiers: str) -> dict[str, int]:
    """Lock ledgers in the order of their ids until the transaction ends, and return their versions.

    An SQLite transaction that writes has the whole database exclusively already.

    Raises:
        Unknown: there is no such ledger.
    """
    if not identifiers:
        return {}
    wanted = select(LEDGERS.c.id, LEDGERS.c.version).where(LEDGERS.c.id.in_(set(identifiers))).order_by(LEDGERS.c.id)
    versions = {row.id: row.version for row in connection.execute(wanted.with_for_update())}
    for identifier in identifiers:
        if identifier not in versions:
            raise Unknown(identifier)
    return versions


@contextmanager
def looking(database: Database) -> Iterator[Connection]:
    """Yield a connection for reading, on which every statement sees the same moment.

    Raises:
        StoreFault: the database cannot be used.
    """
    with database.reading() as connection:
        yield connection.execution_options(isolation_level="REPEATABLE READ") if database.shared else connection


def change_rows(connection: Connection, change: Update, rows: Sequence[JsonObject], whose: str) -> None:
    """Change rows that the parameters of an update name, each exactly once.

    Args:
        connection: connection of a transaction that writes.
        change: the update; its conditions are bound parameters.
        rows: the parameters of each row; none if nothing changes.
        whose: owner of the rows, for the error.

    Raises:
        Again: a row does not meet its conditions.
    """
    if rows and connection.execute(change, rows).rowcount != len(rows):
        raise Again(whose)


def try_insert(connection: Connection, statement: Executable) -> bool:
    """Insert rows, and return whether no constraint rejects them. The transaction goes on either way."""
    try:
        with connection.begin_nested():
            connection.execute(statement)
    except IntegrityError:
        return False
    return True
