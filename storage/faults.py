"""What goes wrong with a store, in words that hold no secret: neither a password nor what a client sent."""

from __future__ import annotations

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError


class StoreUnavailable(ValueError):
    """The store cannot be opened. Its text names the setting and the reason."""


class StoreLocked(StoreUnavailable):
    """Another service on this machine has the store's file."""


class StoreFault(Exception):
    """The store cannot do what it was asked at present; nothing was changed unless the database said so and was gone.

    Its text is short and for operators.
    """


CLASSES = {
    "08": "the connection to its database is gone",
    "25": "its database takes nothing new: it is read-only, or the transaction took too long",
    "28": "its database does not know this service any more",
    "40": "its database gave up on a conflict; the next try may succeed",
    "42": "its tables are not what they were, or this service may not use them",
    "53": "its database has no room: no disk, no memory, or no connections",
    "55": "its database is held up by somebody else's lock",
    "57": "its database stopped the query: it took too long, or the database is shutting down",
    "58": "its database has trouble with its disk",
}
"""What the first two characters of an SQLSTATE mean here."""


def said(error: SQLAlchemyError) -> str:
    """What a database's error means.

    SQLite's own texts hold names of tables and columns alone. PostgreSQL's may hold values: only their class is told.
    """
    original = error.orig if isinstance(error, DBAPIError) else None
    if original is None:
        return "its database does not answer"
    if type(original).__module__ == "sqlite3":
        return str(original)
    state: str | None = getattr(original, "sqlstate", None)
    if state is None:
        return "its database cannot be reached"
    return CLASSES.get(state[:2], f"its database refuses (SQLSTATE {state})")


def shown(url: URL) -> str:
    """A database's URL without its password, and without its options, which may hold another; a file's path."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    return url.set(query={}).render_as_string(hide_password=True)


def scrubbed(reason: object, url: URL) -> str:
    """A text about a database without the secrets of its URL."""
    text = " ".join(str(reason).split())
    values = [value for each in url.query.values() for value in ((each,) if isinstance(each, str) else each)]
    for secret in filter(None, (url.password, *values)):
        text = text.replace(secret, "***")
    return text
