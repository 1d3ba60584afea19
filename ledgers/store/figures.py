"""Figures of all ledgers together, for operators: no name of a data set, and no amount, is read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Double, Select, case, cast, func, select

from epsilond.ledgers.store.tables import COUNTER, ENTRIES, HOLDINGS, LEDGERS, RESERVATIONS, SLOTS

_MAY_RESERVE: Final = (LEDGERS.c.status == "open") & LEDGERS.c.contradicted.is_(False)
"""Condition of a ledger in which runs may be reserved: neither closed nor blocked by an observation."""


@dataclass(frozen=True, kw_only=True)
class Fullness:
    """How much of a ledger's budget is taken, as a fraction of the capacity from 0 to 1.

    A ledger may have several slots, that is, parts of its budget. Each fraction is the largest over the slots.

    Attributes:
        ledger: id of the ledger.
        used: fraction that is spent by committed runs.
        held: fraction that is spent or reserved.
    """

    ledger: str
    used: float
    held: float


@dataclass(frozen=True, kw_only=True)
class LedgerFigures:
    """Summary of all ledgers of a database at one moment, for metrics.

    Attributes:
        open: number of ledgers in which runs may still be reserved.
        fullest: the open ledgers with the largest fraction spent or reserved, the fullest first.
        oldest_hold: time of the oldest reservation with uncommitted runs, in seconds since 1970; None if there is none.
        size: number of entries of the log.
        written: time of the newest entry of the log, in seconds since 1970; None for an empty log.
    """

    open: int
    fullest: tuple[Fullness, ...]
    oldest_hold: float | None
    size: int
    written: float | None


def figures(connection: Connection, *, limit: int) -> LedgerFigures:
    """Read a summary of all ledgers in the database, for metrics.

    Args:
        connection: connection to read on.
        limit: largest number of ledgers in `fullest`.

    Returns:
        Numbers and times of ledgers, reservations and log entries at the time of the call.
    """
    size = connection.execute(select(COUNTER.c.size)).scalar_one()
    time_query = select(ENTRIES.c.at).where(ENTRIES.c.seq == size - 1)
    time_of_newest = connection.execute(time_query).scalar_one_or_none()
    count_query = select(func.count()).select_from(LEDGERS).where(_MAY_RESERVE)
    open_count = connection.execute(count_query).scalar_one()
    fullest = [Fullness(**row) for row in connection.execute(_query_fullest(limit)).mappings()]
    oldest_hold = connection.execute(_query_oldest_hold()).scalar()
    return LedgerFigures(
        open=open_count,
        fullest=tuple(fullest),
        oldest_hold=oldest_hold,
        size=size,
        written=time_of_newest,
    )


def _query_fullest(limit: int) -> Select[Any]:
    """Build the query for the open ledgers with the largest fraction of their budget spent or reserved.

    A slot, that is, a part of a ledger's budget, has a capacity for each of several amounts, such as μ² and η. Its
    fraction is the largest of theirs. For a slot with several Rényi orders (`mixed`) it is the smallest, because it is
    enough that one order stays within its capacity. Amounts without capacity do not count.

    Args:
        limit: largest number of ledgers.

    Returns:
        The query, with a row for each ledger, the fullest first.
    """
    capacity = cast(SLOTS.c.capacity, Double)

    def fraction_of_slot(name: str) -> ColumnElement[float]:
        """Return the fraction of a slot's capacity that is in the column `name`, over the amounts of the slot."""
        fraction = cast(SLOTS.c[name], Double) / capacity
        return case((SLOTS.c.mixed, func.min(fraction)), else_=func.max(fraction)).label(name)

    slots = (
        select(SLOTS.c.ledger, fraction_of_slot("used"), fraction_of_slot("held"))
        .join(LEDGERS)
        .where(_MAY_RESERVE, SLOTS.c.capacity > Decimal(0))
        .group_by(SLOTS.c.ledger, SLOTS.c.kind, SLOTS.c.mixed)
        .subquery()
    )

    # The fraction of a ledger is the largest of its slots.
    held_of_ledger = func.max(slots.c.held)
    return (
        select(slots.c.ledger, func.max(slots.c.used).label("used"), held_of_ledger.label("held"))
        .group_by(slots.c.ledger)
        .order_by(held_of_ledger.desc(), slots.c.ledger)
        .limit(limit)
    )


def _query_oldest_hold() -> Select[Any]:
    """Build the query for the time of the oldest reservation with uncommitted runs, or NULL if there is none."""
    unfinished = select(HOLDINGS.c.reservation).where(HOLDINGS.c.committed < HOLDINGS.c.count)
    live = RESERVATIONS.c.state.in_(("reserved", "committed")) & RESERVATIONS.c.id.in_(unfinished)
    return select(func.min(RESERVATIONS.c.created)).where(live)
