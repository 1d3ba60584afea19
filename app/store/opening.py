"""A store's database is found, locked, opened, and brought to this version."""

from __future__ import annotations

import errno
from contextlib import ExitStack

from sqlalchemy import update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store.database import embedded, shared
from epsilond.app.store.database.file import Watched, file_of, locked
from epsilond.app.store.database.transactions import Database
from epsilond.app.store.faults import StoreLocked, StoreUnavailable, scrubbed, shown
from epsilond.app.store.migrating import migrate
from epsilond.app.store.tables import JOBS


def opened(settings: Settings) -> Database:
    """The database of these settings, made if it is not there.

    Raises:
        StoreLocked: another service has its file.
        StoreUnavailable: it cannot be read or written.
    """
    name = f"{PREFIX}STORE_URL" if settings.store_url else f"{PREFIX}STORE_PATH"
    try:
        url = url_of(settings)
    except (ArgumentError, ValueError):
        raise StoreUnavailable(f"{name} is not a database's URL") from None
    try:
        return _database(url)
    except BlockingIOError:
        raise StoreLocked(f"{name}: another service keeps its jobs in {shown(url)}") from None
    except (OSError, SQLAlchemyError, ImportError) as error:
        reason = getattr(error, "strerror", None) or (error.orig if isinstance(error, DBAPIError) else error)
        raise StoreUnavailable(f"{name}: jobs cannot be kept in {shown(url)}: {scrubbed(reason, url)}") from None


def url_of(settings: Settings) -> URL:
    """Where these settings keep jobs.

    Raises:
        ArgumentError: EPSILOND_STORE_URL is no URL.
    """
    if settings.store_url:
        return make_url(settings.store_url)
    return URL.create("sqlite", database=settings.store_path)


def _database(url: URL) -> Database:
    with ExitStack() as undo:
        kind = url.get_backend_name()
        path = None
        if kind == "sqlite":
            path = file_of(url)
            if path is not None:
                url = url.set(database=str(path))
                undo.enter_context(locked(path))
            engine = embedded.engine_of(url)
        elif kind in ("postgresql", "postgres"):
            engine = shared.engine_of(url)
        else:
            raise OSError(errno.EINVAL, "a store is an SQLite file or a PostgreSQL database")
        undo.callback(engine.dispose)
        migrate(engine)
        if path is not None:  # as long as one connection is open, the journal is the same file
            undo.enter_context(engine.connect())
        with engine.execution_options(writes=True).begin() as connection:  # one that is only readable is found out here
            connection.execute(update(JOBS).where(JOBS.c.sequence < 0).values(size=0))
        watched = None if path is None else Watched(path)
        return Database(engine, undo.pop_all(), watched)
