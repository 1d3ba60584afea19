"""The temporary store of one drill: a database with copies, a folder of keys, and a file for the log's head."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Final
from uuid import uuid4

from sqlalchemy import Connection, Engine, Executable, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.tables import SLOTS
from epsilond.storage import shared
from epsilond.storage.faults import remove_secrets
from epsilond.storage.transactions import Database

MAINTENANCE: Final = "postgres"
"""Database of a server to which a connection is made if the URL names none."""
COPY_SECONDS: Final = 600
"""Longest time for a copy of a database [s]; a busy server waits for its checkpoint first."""
SUFFIXES: Final = ("", "-wal", "-shm")
"""Ends of the names of an SQLite database's files."""


class DrillStore(ABC):
    """A temporary database for a drill, a rehearsal of a fault, with copies of it.

    Attributes:
        folder: temporary folder of the drill.
        keys: folder of the keys that sign the log.
        head: file of the log's newest head (size and Merkle root), outside the database, so that no copy has it.
        trigger_error_text: text by which an error shows that a trigger rejected a statement.
    """

    trigger_error_text: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        """Set the paths of the keys and of the head in a folder. Nothing is created.

        Args:
            folder: temporary folder of the drill.
        """
        self.folder = folder
        self.keys = folder / "keys"
        self.head = folder / "elsewhere" / "head"

    @abstractmethod
    def open(self) -> Database:
        """Return the database, opened."""

    @abstractmethod
    def copy(self, name: str) -> None:
        """Copy the database under a name. No process may write to it meanwhile."""

    @abstractmethod
    def restore(self, name: str) -> None:
        """Replace the database by the copy of a name, even if a process has the database open."""

    @abstractmethod
    def change_behind(self, connection: Connection, change: Executable) -> None:
        """Change rows of slots, the budgets of ledgers, without the triggers that forbid it.

        The owner of a database can do so. The drill then tests whether the change is noticed.

        Args:
            connection: connection of a transaction that writes.
            change: the SQL statement.
        """


class SqliteStore(DrillStore):
    """Temporary SQLite database of a drill (a rehearsal of a fault): one file in a folder of its own.

    Attributes:
        trigger_error_text: text in the error of a statement that a trigger rejects.
    """

    trigger_error_text = "no move changes"

    def __init__(self, folder: Path) -> None:
        """Set the paths of the database, the keys and the head in a temporary folder."""
        super().__init__(folder)
        self._path = folder / "database" / "ledgers.sqlite"

    def open(self) -> Database:
        """Return the database, opened."""
        return open_store(self._path)

    def copy(self, name: str) -> None:
        """Copy the database to a file with SQLite's backup function.

        Args:
            name: name of the copy.
        """
        with closing(sqlite3.connect(self._path)) as source, closing(sqlite3.connect(self._copy_path(name))) as copy:
            source.backup(copy)

    def restore(self, name: str) -> None:
        """Remove the database's files, and copy the content of a copy to its path.

        Args:
            name: name of the copy.
        """
        for suffix in SUFFIXES:
            self._path.with_name(f"{self._path.name}{suffix}").unlink(missing_ok=True)
        self._path.write_bytes(self._copy_path(name).read_bytes())

    def change_behind(self, connection: Connection, change: Executable) -> None:
        """Drop the triggers of the slots, execute the statement, and create the triggers again.

        Slots are the budgets of ledgers. SQLite cannot disable a trigger.

        Args:
            connection: connection of a transaction that writes.
            change: the SQL statement.
        """
        query = text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :table")
        triggers = connection.execute(query, {"table": SLOTS.name}).all()
        for trigger in triggers:
            connection.execute(text(f"DROP TRIGGER {trigger.name}"))
        connection.execute(change)
        for trigger in triggers:
            connection.exec_driver_sql(trigger.sql)

    def _copy_path(self, name: str) -> Path:
        """Return the path of the copy of the database that has a name."""
        return self._path.with_name(f"{name}.copy")


class PostgresqlStore(DrillStore):
    """Temporary database of a drill (a rehearsal of a fault) on a PostgreSQL server.

    The database and its copies have random names, so that no other database on the server is touched.

    Attributes:
        trigger_error_text: text in the error of a statement that a trigger rejects, namely the SQL state of a broken
            constraint.
    """

    trigger_error_text = "SQLSTATE 23000"

    def __init__(self, folder: Path, server: Engine) -> None:
        """Set the paths in a folder, and create an empty database on a server.

        Args:
            folder: temporary folder of the drill.
            server: engine of a PostgreSQL server on which databases may be created.
        """
        super().__init__(folder)
        self._server = server
        self._name = f"epsilond_drill_{uuid4().hex}"
        self._databases: list[str] = []
        self._create(self._name, "template0")

    def open(self) -> Database:
        """Return the database, opened."""
        return open_store(self._server.url.set(database=self._name))

    def copy(self, name: str) -> None:
        """Create a database with this one as its template. This ends open connections, which a template may not have.

        Args:
            name: name of the copy.
        """
        terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"
        self._execute(terminate, name=self._name)
        self._create(self._copy_name(name), self._name)

    def restore(self, name: str) -> None:
        """Drop the database, and create it again with a copy as its template.

        Args:
            name: name of the copy.
        """
        self._execute(f"DROP DATABASE {self._name} WITH (FORCE)")
        self._databases.remove(self._name)
        self._create(self._name, self._copy_name(name))

    def change_behind(self, connection: Connection, change: Executable) -> None:
        """Disable the triggers of the slots, execute the statement, and enable them again.

        Args:
            connection: connection of a transaction that writes.
            change: the SQL statement.
        """
        connection.execute(text(f"ALTER TABLE {SLOTS.name} DISABLE TRIGGER USER"))
        connection.execute(change)
        connection.execute(text(f"ALTER TABLE {SLOTS.name} ENABLE TRIGGER USER"))

    def drop(self) -> None:
        """Drop the database and its copies."""
        for name in self._databases:
            self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _copy_name(self, name: str) -> str:
        """Return the full name of the database that is the copy with a name."""
        return f"{self._name}_{name}"

    def _create(self, name: str, template: str) -> None:
        """Create a database as a copy of another one, and remember it for `drop`.

        Args:
            name: name of the new database.
            template: name of the database that is copied.
        """
        self._databases.append(name)
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")

    def _execute(self, statement: str, **values: str) -> None:
        """Execute an SQL statement outside of a transaction, as statements on whole databases require.

        Args:
            statement: text of the statement.
            **values: values of its parameters, by name.
        """
        with self._server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"SET statement_timeout = '{COPY_SECONDS}s'"))
            connection.execute(text(statement), values)


@contextmanager
def make_store(server: str | None = None) -> Iterator[DrillStore]:
    """Create a temporary database for a drill, the rehearsal of a fault, as a context manager.

    The database and its copies are removed at the end, also after an error.

    Args:
        server: URL of a PostgreSQL server. Its existing databases are not changed. None for an SQLite file.

    Yields:
        The empty store.

    Raises:
        InvalidInput: the text is not the URL of a PostgreSQL server, the server cannot be used, or its user may not
            create databases.
        MissingExtra: psycopg is not installed.
    """
    with TemporaryDirectory(prefix="epsilond-drill-") as folder, ExitStack() as undo:
        if server is None:
            yield SqliteStore(Path(folder))
            return
        url = _server_url(server)
        engine = shared.engine_of(url)
        undo.callback(engine.dispose)
        try:
            store = PostgresqlStore(Path(folder), engine)
        except SQLAlchemyError as error:
            # The message of the driver may contain the password of the URL.
            reason = remove_secrets(getattr(error, "orig", error), url)
            raise InvalidInput.at("/store", f"no database can be made there: {reason}") from None
        undo.callback(store.drop)
        yield store


def _server_url(server: str) -> URL:
    """Return the URL of an existing database on a server. Only a connection to one can create others.

    Args:
        server: URL of the server. It may name a database; otherwise `MAINTENANCE` is used.

    Returns:
        The URL with the name of a database.

    Raises:
        InvalidInput: the text is not a URL of a PostgreSQL server.
    """
    try:
        url = make_url(server)
    except ArgumentError:
        url = None
    if url is None or url.drivername not in shared.NAMES:
        raise InvalidInput.at("/store", "is not a URL of a PostgreSQL server", allowed="postgresql://…")
    if url.database:
        return url
    return url.set(database=MAINTENANCE)
