"""Opening of a database: it is located, locked and opened, and its tables are migrated to this version."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from contextlib import ExitStack

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

    Raises:
        StoreLocked: another service has opened the file.
        StoreUnavailable: the database cannot be read or written, or its tables are of a later version.
    """
    try:
        return _database(url, chains)
    except BlockingIOError:
        raise StoreLocked(f"{name}: another service keeps its {what} in {public_url(url)}") from None
    except (OSError, SQLAlchemyError, ImportError) as error:
        reason = getattr(error, "strerror", None) or (error.orig if isinstance(error, DBAPIError) else error)
        raise StoreUnavailable(
            f"{name}: {what} cannot be kept in {public_url(url)}: {remove_secrets(reason, url)}"
        ) from None


def _database(url: URL, chains: Sequence[Chain]) -> Database:
    """Return the open database, with its lock and its migrated tables.

    Args:
        url: URL of an SQLite file or of a PostgreSQL database.
        chains: chains of tables in the database.

    Raises:
        BlockingIOError: another service has the lock of the file.
        OSError: the URL is of another kind, the file cannot be used, or its tables are of a later version.
        SQLAlchemyError: the database cannot be reached, or rejects a statement.
        MissingExtra: the driver of PostgreSQL is not installed.
    """
    with ExitStack() as undo:
        backend = url.get_backend_name()
        path = None
        if backend == "sqlite":
            path = file_of(url)
            if path is not None:
                url = url.set(database=str(path))
                undo.enter_context(lock_file(path))
            engine = embedded.engine_of(url)
        elif backend in ("postgresql", "postgres"):
            engine = shared.engine_of(url)
        else:
            raise OSError(errno.EINVAL, "a store is an SQLite file or a PostgreSQL database")
        undo.callback(engine.dispose)
        writer = engine.execution_options(writes=True)
        for chain in chains:
            with writer.begin() as connection:
                migrate(connection, chain)
        if path is not None:  # as long as one connection is open, the journal is the same file
            undo.enter_context(engine.connect())
        with writer.begin() as connection:  # a database that can only be read fails here
            for chain in chains:
                connection.execute(chain.probe)
        watched = None if path is None else WatchedFile(path)
        return Database(engine, undo.pop_all(), watched)
