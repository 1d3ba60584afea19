"""Opening of the store of ledgers: a database of their own, or the database of the jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from epsilond.ledgers.store.tables import COUNTER, TABLES
from epsilond.storage import opening
from epsilond.storage.faults import StoreUnavailable
from epsilond.storage.migrating import Chain, migrate
from epsilond.storage.transactions import Database

CHAIN: Final = Chain(
    scripts=Path(__file__).parent / "migrations",
    version_table="ledger_version",
    tables=TABLES,
    probe=update(COUNTER).where(COUNTER.c.id < 0).values(size=0),
)
"""Revisions of the ledgers' tables, which are independent of those of the jobs."""


def open_store(place: Path | URL | str, *, name: str = "the ledgers' place") -> Database:
    """Open the database of ledgers, an SQLite file or a PostgreSQL database.

    A file is created if it does not exist. Only one process at a time can open it; the threads of the process share it.

    Args:
        place: path of the file, or URL of the database.
        name: name of the place in error messages.

    Returns:
        The open database, which the caller must close.

    Raises:
        StoreLocked: the file is already open, in this process or another one.
        StoreUnavailable: the URL is of another kind, its driver is missing, the database cannot be read or written, or
            it has tables of a later version.
    """
    return opening.open_database(_url(place), [CHAIN], name=name, what="ledgers")


def add_tables(database: Database) -> Database:
    """Add the tables of ledgers to an open database that has other tables, or migrate them to the present version.

    Args:
        database: the open database. It is changed in place.

    Returns:
        The given database.

    Raises:
        StoreUnavailable: the database has tables of ledgers of a later version.
        StoreFault: the database cannot be used.
    """
    try:
        with database.writing() as connection:
            migrate(connection, CHAIN)
    except OSError as error:
        raise StoreUnavailable(f"ledgers cannot be kept: {error.strerror}") from None
    return database


def _url(place: Path | URL | str) -> URL:
    """Return the URL of a database of ledgers.

    Args:
        place: URL, or path of an SQLite file. A text without `://` is a path.

    Returns:
        The URL, of SQLite for a path.

    Raises:
        StoreUnavailable: the text contains `://` and is not a URL.
    """
    if isinstance(place, URL):
        return place
    if isinstance(place, str) and "://" in place:
        try:
            return make_url(place)
        except ArgumentError:
            raise StoreUnavailable("the URL of the database of ledgers cannot be read") from None
    return URL.create("sqlite", database=str(place))
