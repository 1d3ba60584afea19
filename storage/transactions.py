"""A database that is open: transactions on it, its clock, and its errors told in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from sqlalchemy import ColumnElement, Connection, Double, Engine, cast, func, literal
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from epsilond.storage.faults import StoreFault, said
from epsilond.storage.file import Watched


class Database:
    """An engine, and what belongs to it. Every method may be called in any thread, and blocks."""

    def __init__(self, engine: Engine, held: ExitStack, watched: Watched | None) -> None:
        """Of an engine and what is let go with it; `watched` is the file of an SQLite database that has one."""
        self.shared = engine.dialect.name == "postgresql"
        """Whether other replicas may work on it: then what is running is its replica's by a lease."""
        self.durable = self.shared or watched is not None
        """Whether it is there after this process."""
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
        """A connection to read on.

        Raises:
            StoreFault: the database cannot be used.
        """
        with _in_words(), self._reading:
            self._require_open()
            if self._watched:
                self._watched.require_there()
            with self._engine.connect() as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction. Once it is left without an error, not even a power failure loses what was written in it.

        Raises:
            StoreFault: the database cannot be used; nothing was written, unless the connection broke while it ended.
        """
        with _in_words(), self._writing:
            self._require_open()
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
        """Seconds since 1970: by the clock of a shared database, which all replicas see, else by this machine's."""
        return cast(func.extract("epoch", func.clock_timestamp()), Double) if self.shared else literal(time.time())

    def close(self) -> None:
        """Let go of the database and of its lock, after whoever writes."""
        with self._writing:
            self._closed = True
            self._held.close()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreFault("it is closed")


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        if isinstance(error, StatementError) and not isinstance(error, DBAPIError) and error.orig is not None:
            raise error.orig from None  # a value that its column refuses never came to the database
        raise StoreFault(said(error)) from None
