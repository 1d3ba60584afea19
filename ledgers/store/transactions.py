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
    """Another process changed the ledger meanwhile, and nothing was written. The caller reads it and tries again."""


class Unknown(LookupError):
    """There is no such ledger. The message is its id."""


@contextmanager
def durably(database: Database) -> Iterator[Connection]:
    """Open a transaction as a context manager. If its block ends without an error, its writes are on the disk.

    PostgreSQL also waits for a synchronous standby, if the server has one, so that a receipt survives a failover. The
    values `off` and `local` of its option `synchronous_commit`, which would prevent this, are replaced by `on`.

    Args:
        database: database of the ledgers.

    Yields:
        The connection of the transaction, which can write.

    Raises:
        StoreFault: the database cannot be used, or rejects the writes; nothing was written.
    """
    with database.writing() as connection:
        if database.shared:  # PostgreSQL
            connection.execute(_DURABLE)
        yield connection


@contextmanager
def moving(database: Database, versions: Mapping[str, int | None]) -> Iterator[Connection]:
    """Open a durable transaction that locks ledgers, as a context manager.

    The caller has computed a change from ledgers that it read earlier. Their versions show whether they have changed
    since then.

    Args:
        database: database of the ledgers.
        versions: required version of each ledger by its id; None accepts any, for callers that read the ledger inside
            the transaction.

    Yields:
        The connection of the transaction, which can write.

    Raises:
        Again: a ledger has another version, because it was changed meanwhile.
        Unknown: a ledger does not exist.
        StoreFault: the database cannot be used, or rejects the writes; nothing was written.
    """
    with durably(database) as connection:
        present_versions = lock_ledgers(connection, *versions)
        for identifier, version in versions.items():
            if version is not None and present_versions[identifier] != version:
                raise Again(identifier)
        yield connection


def lock_ledgers(connection: Connection, *identifiers: str) -> dict[str, int]:
    """Lock ledgers in the order of their ids until the transaction ends, and return their versions.

    In SQLite nothing more needs to be locked, because a transaction that writes excludes all other writers.

    Args:
        connection: connection of a transaction that writes.
        identifiers: ids of the ledgers; may be empty.

    Returns:
        The version of each ledger by its id. Every change of a ledger raises its version by one.

    Raises:
        Unknown: a ledger does not exist.
    """
    if not identifiers:
        return {}
    # All transactions lock in the same order, so that no two of them can wait for each other.
    query = select(LEDGERS.c.id, LEDGERS.c.version).where(LEDGERS.c.id.in_(set(identifiers))).order_by(LEDGERS.c.id)
    versions = {row.id: row.version for row in connection.execute(query.with_for_update())}
    for identifier in identifiers:
        if identifier not in versions:
            raise Unknown(identifier)
    return versions


@contextmanager
def looking(database: Database) -> Iterator[Connection]:
    """Open a connection for reading, as a context manager. All statements see the database at the same moment.

    Args:
        database: database of the ledgers.

    Yields:
        The connection, which cannot write.

    Raises:
        StoreFault: the database cannot be used.
    """
    with database.reading() as connection:
        if database.shared:  # PostgreSQL; a transaction of SQLite has this isolation anyway
            yield connection.execution_options(isolation_level="REPEATABLE READ")
        else:
            yield connection


def change_rows(connection: Connection, change: Update, rows: Sequence[JsonObject], kind: str) -> None:
    """Execute an update once for each set of parameters, and check that as many rows were changed.

    Args:
        connection: connection of a transaction that writes.
        change: the update. Its conditions select one row, and compare it with its earlier values.
        rows: parameters of each row; empty if nothing changes.
        kind: kind of the rows, for the error's message.

    Raises:
        Again: a row does not meet the conditions, because it was changed meanwhile.
    """
    if not rows:
        return
    result = connection.execute(change, rows)
    if result.rowcount != len(rows):
        raise Again(kind)


def try_insert(connection: Connection, statement: Executable) -> bool:
    """Insert rows, unless a constraint of the database rejects them. The transaction stays usable.

    Args:
        connection: connection of a transaction that writes.
        statement: the SQL statement.

    Returns:
        Whether the rows were inserted.
    """
    try:
        with connection.begin_nested():
            connection.execute(statement)
    except IntegrityError:
        return False
    return True
