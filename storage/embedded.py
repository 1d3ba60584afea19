"""SQLite databases, which one service has exclusively: a file, or memory."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import StaticPool

from epsilond.storage.file import MEMORY


def engine_of(url: URL) -> Engine:
    """Return an engine for an SQLite database with durable transactions, of which only one writes at a time.

    A database in memory has a single connection, and is lost when that is closed.

    Args:
        url: URL of an SQLite database: a file, or a database in memory.

    Returns:
        The engine, which connects at its first use. Its messages never contain the values of statements.
    """
    in_memory = url.database in MEMORY
    if in_memory:
        # All threads share the single connection, because another one would open another, empty database.
        engine = create_engine(
            url, hide_parameters=True, poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
    else:
        engine = create_engine(url, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def configure(connection: DBAPIConnection, _: object) -> None:
        """Make transactions durable and check foreign keys."""
        connection.isolation_level = None  # `begin` below starts transactions, because the driver excludes CREATE TABLE
        connection.execute("PRAGMA foreign_keys=ON")
        if not in_memory:
            for pragma in ("journal_mode=WAL", "synchronous=FULL"):
                connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        """Begin a transaction, which excludes other writers if it writes."""
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
