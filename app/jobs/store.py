"""Simulations and their results, where a restart finds them again: a table, in an SQLite file unless told otherwise.

A file belongs to one service process at a time. It holds a lock beside the file, which the system takes away when the
process ends, however it ends; so whatever stands there unfinished at start was left by a process that is gone. Another
database (EPSILOND_STORE_URL) has no such lock: give each service its own.

Every method blocks, and is called in a thread.
"""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Engine,
    RowMapping,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from epsilond.app.jobs.records import LARGE, NAMES, TABLE, UNFINISHED, End, Record, Status
from epsilond.app.settings import PREFIX, Settings

MEMORY = (None, "", ":memory:")


class StoreUnavailable(ValueError):
    """The store cannot be used. Its text names the setting and the reason."""


class Store:
    """The table, open."""

    def __init__(self, engine: Engine, held: ExitStack) -> None:
        self._engine = engine
        self._held = held

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """The store of these settings, made if it is not there.

        Raises:
            StoreUnavailable: it cannot be read or written, or another service has it.
        """
        name = f"{PREFIX}STORE_URL" if settings.store_url else f"{PREFIX}STORE_PATH"
        try:
            file = URL.create("sqlite", database=settings.store_path)
            url = make_url(settings.store_url) if settings.store_url else file
        except ArgumentError:
            raise StoreUnavailable(f"{name} is not a database's URL") from None
        shown = url.render_as_string(hide_password=True)
        with ExitStack() as undo:
            try:
                url = _located(url)
                undo.enter_context(_locked(url))
                engine = _engine(url)
                undo.callback(engine.dispose)
                TABLE.metadata.create_all(engine)
                _require_columns(engine)
                with engine.begin() as connection:  # a file that is only readable is found out here
                    connection.execute(update(TABLE).where(TABLE.c.sequence < 0).values(size=0))
            except BlockingIOError:
                raise StoreUnavailable(f"{name}: another service keeps its simulations in {shown}") from None
            except (OSError, SQLAlchemyError, ImportError) as error:
                reason = getattr(error, "orig", None) or getattr(error, "strerror", None) or error
                raise StoreUnavailable(f"{name}: simulations cannot be kept in {shown}: {reason}") from None
            return cls(engine, undo.pop_all())

    def close(self) -> None:
        """Let go of the database and its lock."""
        self._held.close()

    def add(self, record: Record) -> Record:
        """Keep a new simulation; answers it as kept, or else the earlier one with the same idempotency key.

        An earlier one that was interrupted lets go of its key to an equal request, so that it can be posted again.
        """
        values = {name: getattr(record, name) for name in NAMES if name != "sequence"}
        try:
            with self._engine.begin() as connection:
                if record.idempotency_key is not None:
                    of_it = _keyed(record.owner, record.idempotency_key) & (TABLE.c.fingerprint == record.fingerprint)
                    let_go = update(TABLE).where(of_it, TABLE.c.status == "interrupted")
                    connection.execute(let_go.values(idempotency_key=None))
                made = connection.execute(insert(TABLE).values(**values, size=len(record.request)))
                assert made.inserted_primary_key is not None
                return Record(sequence=made.inserted_primary_key[0], **values)
        except IntegrityError:
            key = record.idempotency_key
            earlier = self.with_key(record.owner, key) if key is not None else None
            if earlier is None:
                raise
            return earlier

    def get(self, owner: str, identifier: str) -> Record | None:
        """This owner's simulation of this id, with everything."""
        return self._one((TABLE.c.owner == owner) & (TABLE.c.id == identifier))

    def with_key(self, owner: str, key: str) -> Record | None:
        """The simulation that this owner posted with this idempotency key."""
        return self._one(_keyed(owner, key))

    def page(self, owner: str, status: Status | None, before: int | None, limit: int) -> Sequence[Record]:
        """This owner's newest, of this status and made before the one of this sequence, without large parts."""
        chosen = select(*(TABLE.c[name] for name in NAMES if name not in LARGE)).where(TABLE.c.owner == owner)
        chosen = chosen.order_by(TABLE.c.sequence.desc()).limit(limit)
        chosen = chosen if status is None else chosen.where(TABLE.c.status == status)
        chosen = chosen if before is None else chosen.where(TABLE.c.sequence < before)
        with self._engine.connect() as connection:
            return [_record(row) for row in connection.execute(chosen).mappings()]

    def start(self, identifier: str, when: float) -> None:
        """It runs from now on."""
        with self._engine.begin() as connection:
            connection.execute(update(TABLE).where(TABLE.c.id == identifier).values(status="running", started=when))

    def end(self, identifier: str, end: End, when: float) -> bool:
        """It has ended. Once this returns, not even a power failure loses its result.

        False if it had ended before, or is not there. A result goes before `interrupted`, which only says that nobody
        was known to have one.
        """
        size = len(end.result or b"") + len(end.problem or b"")
        values = {"status": end.status, "blocks_done": end.blocks_done, "result": end.result, "problem": end.problem}
        with self._engine.begin() as connection:
            open_to_it = (*UNFINISHED, "interrupted") if end.status == "done" else UNFINISHED
            changed = update(TABLE).where(TABLE.c.id == identifier, TABLE.c.status.in_(open_to_it))
            return connection.execute(changed.values(**values, ended=when, size=TABLE.c.size + size)).rowcount > 0

    def interrupt(self, problem: bytes, when: float) -> int:
        """Everything unfinished was left by a service that is gone; answers how many there were."""
        with self._engine.begin() as connection:
            left = update(TABLE).where(TABLE.c.status.in_(UNFINISHED))
            return connection.execute(left.values(status="interrupted", ended=when, problem=problem)).rowcount

    def remove(self, owner: str, identifier: str) -> bool:
        """Forget a simulation that has ended; False if this owner has none of this id."""
        with self._engine.begin() as connection:
            gone = delete(TABLE).where(TABLE.c.owner == owner, TABLE.c.id == identifier, TABLE.c.ended.is_not(None))
            return connection.execute(gone).rowcount > 0

    def prune(self, *, ended_before: float, jobs: int, size: int) -> int:
        """Forget those that ended before a time, and the oldest beyond so many, or beyond so many bytes in all."""
        newest_first = (TABLE.c.ended.desc(), TABLE.c.sequence.desc())
        ranked = (
            select(
                TABLE.c.sequence,
                TABLE.c.ended,
                func.row_number().over(order_by=newest_first).label("place"),
                func.sum(TABLE.c.size).over(order_by=newest_first).label("total"),
            )
            .where(TABLE.c.ended.is_not(None))
            .subquery()
        )
        old = (ranked.c.ended < ended_before) | (ranked.c.place > jobs) | (ranked.c.total > size)
        with self._engine.begin() as connection:
            gone = delete(TABLE).where(TABLE.c.sequence.in_(select(ranked.c.sequence).where(old)))
            return connection.execute(gone).rowcount

    def _one(self, condition: Any) -> Record | None:
        with self._engine.connect() as connection:
            row = connection.execute(select(*(TABLE.c[name] for name in NAMES)).where(condition)).mappings().first()
        return None if row is None else _record(row)


def _keyed(owner: str, key: str) -> ColumnElement[bool]:
    """The simulation of an owner with an idempotency key."""
    return (TABLE.c.owner == owner) & (TABLE.c.idempotency_key == key)


def _require_columns(engine: Engine) -> None:
    """A table that is there already has to be one of ours.

    Raises:
        OSError: it lacks a column.
    """
    there = {str(column["name"]) for column in inspect(engine).get_columns(TABLE.name)}
    missing = sorted(set(TABLE.c.keys()) - there)
    if missing:
        version = f"its table is of another version (no {', '.join(missing)})"
        raise OSError(errno.EINVAL, f"{version}; name another place, as in EPSILOND_STORE_PATH=./jobs.sqlite")


def _record(row: RowMapping) -> Record:
    return Record(**{"request": b"", **row})


def _located(url: URL) -> URL:
    """The URL with the one name of its SQLite file: links are followed, so that the lock goes by the file.

    Raises:
        OSError: the file cannot be told apart by its name.
    """
    if url.get_backend_name() != "sqlite" or url.database in MEMORY:
        return url
    if str(url.database).startswith("file:") or "uri" in url.query:
        raise OSError(errno.EINVAL, "a file: URI is not taken; give the path of the file")
    path = Path(str(url.database)).resolve()
    if path.exists() and not path.is_dir() and path.stat().st_nlink > 1:
        raise OSError(errno.EMLINK, "the file has several names (hard links), and its journal would have as many")
    return url.set(database=str(path))


@contextmanager
def _locked(url: URL) -> Iterator[None]:
    """Hold the lock of an SQLite file.

    Raises:
        BlockingIOError: another process has it.
        OSError: there is no place for the file.
    """
    if url.get_backend_name() != "sqlite" or url.database in MEMORY:
        yield
        return
    path = Path(str(url.database))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    if url.database in MEMORY:  # it lives as long as its one connection
        return create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def durable(connection: Any, _: Any) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")

    return engine
