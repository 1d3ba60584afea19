"""Faults of a store, described without secrets: no password, and no value that a client sent."""

from __future__ import annotations

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError


class StoreUnavailable(ValueError):
    """The store cannot be opened. The message names the setting and the reason."""


class StoreLocked(StoreUnavailable):
    """Another service on this machine has the store's file."""


class StoreFault(Exception):
    """The store cannot carry out a request at present.

    Nothing was changed, unless the connection broke while a transaction ended. The message is short and for operators.
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
"""Meaning of the first two characters of an SQLSTATE here."""


def describe_error(error: SQLAlchemyError) -> str:
    """Return a description of a database's error that contains no data.

    A message of SQLite is returned as it is, because it names only tables and columns. A message of PostgreSQL may have
    values, so only the class of the error is described.

    Args:
        error: the error that the database or its driver raised.

    Returns:
        A clause such as "its database cannot be reached", or the message of SQLite.
    """
    driver_error = error.orig if isinstance(error, DBAPIError) else None
    if driver_error is None:
        return "its database does not answer"
    if type(driver_error).__module__ == "sqlite3":
        return str(driver_error)
    sqlstate: str | None = getattr(driver_error, "sqlstate", None)
    if sqlstate is None:
        return "its database cannot be reached"
    # The first two characters of an SQLSTATE name the class of the error.
    error_class = sqlstate[:2]
    return CLASSES.get(error_class, f"its database refuses (SQLSTATE {sqlstate})")


def public_url(url: URL) -> str:
    """Return a database's URL without its password and its options, which may have another password.

    For SQLite it is the path of the file.

    Args:
        url: URL of the database.

    Returns:
        The text, which may be printed and logged.
    """
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    return url.set(query={}).render_as_string(hide_password=True)


def remove_secrets(reason: object, url: URL) -> str:
    """Return a text in one line, with the password and the query values of a database's URL replaced by `***`.

    Args:
        reason: any value; its text may contain parts of the URL, as messages of drivers do.
        url: URL of the database.

    Returns:
        The text, in which white space and line breaks are single spaces.
    """
    secrets = [] if url.password is None else [str(url.password)]
    for value in url.query.values():
        secrets += [value] if isinstance(value, str) else value
    text = " ".join(str(reason).split())
    for secret in secrets:
        if secret:  # an empty text would be replaced everywhere
            text = text.replace(secret, "***")
    return text
