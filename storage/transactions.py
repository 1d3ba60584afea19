"""An open database: its transactions, its clock, and its errors in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from sqlalchemy import ColumnElement, Connection, Double, Engine, cast, func, literal
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from epsilond.storage.faults import StoreFault, describe_error
from epsilond.storage.file import WatchedFile


class Database:
    """Open database that rejects the use of a replaced file. Every method blocks and may be called in any thread."""

    def __init__(self, engine: Engine, held: ExitStack, watched: WatchedFile | None) -> None:
        """Make a database of an SQLAlchemy engine, with the resources that must be released at the end.

        Args:
            engine: SQLAlchemy's engine of the database.
            held: resources that are released when the database is closed.
            watched: file of an SQLite database; None in memory or for PostgreSQL.
        """
        self.shared = engine.dialect.name == "postgresql"
        """True if other replicas of the service may use the database at the same time."""
        self.durable = self.shared or watched is not None
        """True if the content of the database is kept when this process ends."""
        self._engine = engine
        self._writer = engine.execution_options(writes=True)
        self._held = held
        self._watched = watched
        self._closed = False
        self._writing: AbstractContextManager[object] = nullcontext() if self.shared else threading.RLock()
        one_connection = not self.shared and watched is None
        self._reading = self._writing if one_connection else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection for reading, as a context manager.

        Yields:
            The connection, which is closed at the end of the context.

        Raises:
            StoreFault: the database was closed or replaced, or cannot be reached.
        """
        with _as_store_faults(), self._reading:
            self._require_open()
            if self._watched:
                self._watched.require_there()
            with self._engine.connect() as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes, as a context manager. After success its writes survive a power failure.

        Yields:
            The connection. The transaction is committed at the end of the context, or undone after an error.

        Raises:
            StoreFault: the database cannot be used. Nothing was written, unless the connection broke while the
                transaction ended.
        """
        with _as_store_faults(), self._writing:
            self._require_open()
            # Another program must not have written the file since the last transaction.
            if self._watched:
                self._watched.require_unwritten()
            try:
                with self._writer.begin() as connection:
                    yield connection
            finally:
                if self._watched:
                    self._watched.note()
            if self._watched:
                self._watched.require_there()

    def now(self) -> ColumnElement[float]:
        """Return the seconds since 1970, by the clock of a shared database or by this machine's.

        All replicas see the clock of a shared database.

        Returns:
            The time as an SQL expression, which the database evaluates in a statement.
        """
        if not self.shared:
            return literal(time.time())
        return cast(func.extract("epoch", func.clock_timestamp()), Double)

    def close(self) -> None:
        """Release the database and its lock, after the present writer."""
        with self._writing:
            self._closed = True
            self._held.close()

    def _require_open(self) -> None:
        """Raise StoreFault if the database was closed."""
        if self._closed:
            raise StoreFault("it is closed")


@contextmanager
def _as_store_faults() -> Iterator[None]:
    """Translate the database's errors in a block to StoreFault, with messages without data, as a context manager.

    Yields:
        None, once, for the block.

    Raises:
        StoreFault: the database raised an error.
        Exception: the conversion of a value for its column failed; the error is raised as it is.
    """
    try:
        yield
    except SQLAlchemyError as error:
        is_conversion_error = isinstance(error, StatementError) and not isinstance(error, DBAPIError)
        original = getattr(error, "orig", None)
        if is_conversion_error and original is not None:  # nothing was sent to the database
            raise original from None
        raise StoreFault(describe_error(error)) from None
