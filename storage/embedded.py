"""SQLite, which one service has for itself: a file, or memory."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import StaticPool

from epsilond.storage.file import MEMORY


def engine_of(url: URL) -> Engine:
    """Connections to an SQLite file, or the one connection as long as which a database in memory lives."""
    in_memory = url.database in MEMORY
    one = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}} if in_memory else {}
    engine = create_engine(url, hide_parameters=True, **one)

    @event.listens_for(engine, "connect")
    def durable(connection: DBAPIConnection, _: object) -> None:
        connection.isolation_level = None  # transactions are begun below: the driver would leave tables out of them
        connection.execute("PRAGMA foreign_keys=ON")
        if not in_memory:
            for pragma in ("journal_mode=WAL", "synchronous=FULL"):
                connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
