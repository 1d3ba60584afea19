"""Opening of a database: it is located, locked and opened, and its tables are migrated to this version."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from contextlib import ExitStack

from sqlalchemy import Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from epsilond.storage import embedded, shared
from epsilond.storage.faults import StoreLocked, StoreUnavailable, public_url, remove_secrets
from epsilond.storage.file import WatchedFile, file_of, lock_file
from epsilond.storage.migrating import Chain, migrate
from epsilond.storage.transactions import Database


def open_database(url: URL, chains: Sequence[Chain], *, name: str, what: str) -> Database:
    """Open the database of a URL with the tables of these chains, and create it if it does not exist.

    Args:
        url: URL of an SQLite file or of a PostgreSQL database.
        chains: chains of tables in the database.
        name: name of the setting with the URL, for errors.
        what: content of the database as a plural noun, for errors.

    Returns:
        The open database. It holds the lock of its file until it is closed.

    Raises:
        StoreLocked: another service has opened the file.
        StoreUnavailable: the database cannot be read or written, or its tables are of a later version.
    """
    try:
        return _database(url, chains)
    except BlockingIOError:
        raise StoreLocked(f"{name}: another service keeps its {what} in {public_url(url)}") from None
    except (OSError, SQLAlchemyError, ImportError) as error:
        reason = remove_secrets(_reason_of(error), url)
        raise StoreUnavailable(f"{name}: {what} cannot be kept in {public_url(url)}: {reason}") from None


def _reason_of(error: Exception) -> object:
    """Return the shortest description of an error: of the system or of the driver, if they gave one."""
    description = getattr(error, "strerror", None)
    if description:
        return description
    return error.orig if isinstance(error, DBAPIError) else error


def _database(url: URL, chains: Sequence[Chain]) -> Database:
    """Open a database: lock its file, connect, and create or migrate its tables.

    Args:
        url: URL of an SQLite file or of a PostgreSQL database.
        chains: chains of tables in the database.

    Returns:
        The open database, which takes over the lock and the connections.

    Raises:
        BlockingIOError: another service has the lock of the file.
        OSError: the URL is of another kind, the file cannot be used, or its tables are of a later version.
        SQLAlchemyError: the database cannot be reached, or rejects a statement.
        MissingExtra: the driver of PostgreSQL is not installed.
    """
    path = file_of(url) if url.get_backend_name() == "sqlite" else None
    # If a step fails, the lock is released and the connections are closed.
    with ExitStack() as undo:
        if path is not None:
            url = url.set(database=str(path))
            undo.enter_context(lock_file(path))
        engine = _engine_of(url)
        undo.callback(engine.dispose)
        _prepare_tables(engine, chains)
        if path is not None:  # as long as one connection is open, the journal is the same file
            undo.enter_context(engine.connect())
        _require_writable(engine, chains)
        watched = None if path is None else WatchedFile(path)
        return Database(engine, undo.pop_all(), watched)


def _engine_of(url: URL) -> Engine:
    """Return an engine for the database of a URL.

    Args:
        url: URL of an SQLite file or of a PostgreSQL database.

    Returns:
        The engine, an object that makes connections. It does not connect yet.

    Raises:
        OSError: the URL is neither of SQLite nor of PostgreSQL.
        MissingExtra: the driver of PostgreSQL is not installed.
    """
    backend = url.get_backend_name()
    if backend == "sqlite":
        return embedded.engine_of(url)
    if backend in ("postgresql", "postgres"):
        return shared.engine_of(url)
    raise OSError(errno.EINVAL, "a store is an SQLite file or a PostgreSQL database")


def _prepare_tables(engine: Engine, chains: Sequence[Chain]) -> None:
    """Create the tables of each chain, or migrate them to this version, each chain in a transaction of its own.

    Args:
        engine: engine of the database.
        chains: chains of tables. A chain is a group of tables with the ordered list of their migrations.

    Raises:
        OSError: tables are of a later version.
        SQLAlchemyError: the database cannot be reached, or rejects a statement.
    """
    for chain in chains:
        with engine.execution_options(writes=True).begin() as connection:
            migrate(connection, chain)


def _require_writable(engine: Engine, chains: Sequence[Chain]) -> None:
    """Require that the tables of each chain can be written, by statements that change nothing.

    Args:
        engine: engine of the database.
        chains: chains of tables, each with a statement (`probe`) that writes nothing but needs the right to write.

    Raises:
        SQLAlchemyError: a table can only be read.
    """
    with engine.execution_options(writes=True).begin() as connection:
        for chain in chains:
            connection.execute(chain.probe)
