"""PostgreSQL databases, which replicas share: URLs, connections, and one migration at a time."""

from __future__ import annotations

import errno
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection

from epsilond.extras import extra

NAMES: Final = ("postgresql", "postgres", "postgresql+psycopg")
# Number of connections that are kept open for reuse.
CONNECTIONS: Final = 5
SECONDS: Final = 5
"""Longest time to connect, to wait for a connection of the pool, or to wait for a lock, in seconds."""
STATEMENT_SECONDS: Final = 20
"""Longest time of one statement, in seconds: enough to write a large result, and shorter than a client waits."""
# Longest duration of a statement or of a wait for a lock while tables are migrated, in seconds.
MIGRATION_SECONDS: Final = 600
MIGRATIONS: Final = 0x6570_7369_6C6F_6E64
"""Advisory lock of a migration: `epsilond` in ASCII."""


def engine_of(url: URL) -> Engine:
    """Return an engine for PostgreSQL with short time limits, so that a lost server is noticed within seconds.

    Limits in the URL's query have priority.

    Args:
        url: URL of a PostgreSQL database.

    Returns:
        The engine, which connects at its first use. Each of its connections has the time limits.

    Raises:
        MissingExtra: psycopg is not installed.
        OSError: the URL names another driver.
    """
    if url.drivername not in NAMES:
        raise OSError(errno.EINVAL, "the driver is psycopg; write postgresql://… without another driver")
    with extra("postgresql", "a store on PostgreSQL"):
        import psycopg  # noqa: F401, PLC0415 (an extra)
    options: dict[str, object] = {
        "connect_timeout": SECONDS,
        "application_name": "epsilond",
        "keepalives_idle": SECONDS,
        "keepalives_interval": SECONDS,
        "keepalives_count": 2,
        "tcp_user_timeout": 3 * SECONDS * 1000,
    }
    options = {name: value for name, value in options.items() if name not in url.query}
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={
            **options,
            "prepare_threshold": None,  # a connection pooler may use another server for each transaction
        },
        isolation_level="READ COMMITTED",  # a locked row is read again after the wait
        hide_parameters=True,
        pool_size=CONNECTIONS,
        pool_timeout=SECONDS,
        pool_pre_ping=True,
    )

    @event.listens_for(engine, "connect")
    def set_limits(connection: DBAPIConnection, _: object) -> None:
        """Set the time limits of a new connection."""
        connection.autocommit = True
        connection.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
        connection.execute(f"SET lock_timeout = '{SECONDS}s'")
        connection.execute(f"SET idle_in_transaction_session_timeout = '{STATEMENT_SECONDS}s'")
        connection.autocommit = False

    return engine


def alone_with_tables(connection: Connection) -> None:
    """Wait until no other replica migrates, and keep the others waiting until this transaction ends."""
    connection.execute(text(f"SET LOCAL statement_timeout = '{MIGRATION_SECONDS}s'"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{MIGRATION_SECONDS}s'"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATIONS})"))
