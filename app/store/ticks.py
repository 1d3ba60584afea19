"""Seconds of service, which retention uses: unlike a clock, they never go back and never leap."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, case, select, update

from epsilond.app.store.tables import TICKS
from epsilond.storage.transactions import Database

# Duration of a day in seconds.
DAY: Final = 86_400.0
MOST_STEP: Final = 3600.0
"""Most seconds that one count adds. The sweep of each service counts more often than once an hour."""


def ticks(database: Database) -> ColumnElement[float]:
    """Return the seconds during which the service has run until now, as an SQL expression."""
    return select(TICKS.c.seconds + _since(database)).scalar_subquery()


def count(database: Database, connection: Connection) -> None:
    """Count the seconds since the last count; several replicas together count each second once."""
    connection.execute(update(TICKS).values(seconds=TICKS.c.seconds + _since(database), counted=database.now()))


def _since(database: Database) -> ColumnElement[float]:
    """Return the seconds since the last count as an SQL expression, between 0 and `MOST_STEP`."""
    since = database.now() - TICKS.c.counted
    return case((since < 0.0, 0.0), (since > MOST_STEP, MOST_STEP), else_=since)
