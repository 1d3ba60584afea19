"""The database of jobs that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store.tables import JOBS, TABLES
from epsilond.storage import opening
from epsilond.storage.faults import StoreUnavailable
from epsilond.storage.migrating import Chain
from epsilond.storage.transactions import Database

CHAIN: Final = Chain(
    scripts=Path(__file__).parent / "migrations",
    version_table="alembic_version",
    tables=TABLES,
    probe=update(JOBS).where(JOBS.c.sequence < 0).values(size=0),
)


def open_database(settings: Settings) -> Database:
    """Open the database of jobs that the settings name, or create it.

    Args:
        settings: settings of the service. A URL of a database takes precedence over the path of a file.

    Returns:
        The open database with the tables of jobs.

    Raises:
        StoreLocked: another service uses the file of the database.
        StoreUnavailable: the database cannot be read or written, or its URL is invalid.
    """
    name = f"{PREFIX}STORE_URL" if settings.store_url else f"{PREFIX}STORE_PATH"
    try:
        url = url_of(settings)
    except (ArgumentError, ValueError):
        raise StoreUnavailable(f"{name} is not a database's URL") from None
    return opening.open_database(url, [CHAIN], name=name, what="jobs")


def url_of(settings: Settings) -> URL:
    """Return the URL of the database of jobs that the settings name.

    Args:
        settings: settings of the service. Without a URL, the path of an SQLite file is used.

    Returns:
        The URL with its password, which must not be printed.

    Raises:
        ArgumentError: EPSILOND_STORE_URL is not a URL.
    """
    if settings.store_url:
        return make_url(settings.store_url)
    return URL.create("sqlite", database=settings.store_path)
