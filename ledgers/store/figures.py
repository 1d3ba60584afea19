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
    """How full a ledger is: fractions, from 0 to 1, of the slot (budget) of which the largest fraction is taken.

    Attributes:
        ledger: id of the ledger.
        used: fraction that was committed.
        held: fraction that is used or reserved.
    """

    ledger: str
    used: float
    held: float


@dataclass(frozen=True, kw_only=True)
class LedgerFigures:
    """Figures of all ledgers of a database at one moment.

    Attributes:
        open: number of ledgers in which runs may still be reserved.
        fullest: the open ledgers with the largest fractions used or reserved, the fullest first.
        oldest_hold: time of the oldest reservation with uncommitted runs, in seconds since 1970; None if there is none.
        size: number of entries of the log.
        written: when the newest entry was written, in seconds since 1970; None for an empty log.
    """

    open: int
    fullest: tuple[Fullness, ...]
    oldest_hold: float | None
    size: int
    written: float | None


def figures(connection: Connection, *, limit: int) -> LedgerFigures:
    """Return summary figures of all ledgers in the database, for metrics.

    Args:
        connection: connection to read on.
        limit: largest number of ledgers in `fullest`.

    Returns:
        The figures at the time of the call.
    """
    # The log: its size, and the time of its newest entry.
    size = connection.execute(select(COUNTER.c.size)).scalar_one()
    time_query = select(ENTRIES.c.at).where(ENTRIES.c.seq == size - 1)
    time_of_newest = connection.execute(time_query).scalar_one_or_none()
    # The ledgers: how many are open, and which are the fullest.
    count_query = select(func.count()).select_from(LEDGERS).where(_MAY_RESERVE)
    open_count = connection.execute(count_query).scalar_one()
    fullest = [Fullness(**row) for row in connection.execute(_fullest(limit)).mappings()]
    # The reservations.
    oldest_hold = connection.execute(_oldest_hold()).scalar()
    return LedgerFigures(
        open=open_count,
        fullest=tuple(fullest),
        oldest_hold=oldest_hold,
        size=size,
        written=time_of_newest,
    )


def _fullest(limit: int) -> Select[Any]:
    """Return the query for the ledgers with the largest fractions used or reserved.

    A slot, a part of a ledger's budget, has amounts such as μ² and η. It is as full as the fullest of them. A slot with
    several Rényi orders (`mixed`) is as full as its emptiest order, because the others may be overdrawn. Amounts
    without capacity do not count.

    Args:
        limit: largest number of ledgers.

    Returns:
        The query, with a row for each ledger.
    """
    capacity = cast(SLOTS.c.capacity, Double)

    def fraction_of_slot(name: str) -> ColumnElement[float]:
        """Return the fraction of the capacity that the column `name` has, over the amounts of one slot."""
        fraction = cast(SLOTS.c[name], Double) / capacity
        return case((SLOTS.c.mixed, func.min(fraction)), else_=func.max(fraction)).label(name)

    # How full each slot of the open ledgers is.
    slots = (
        select(SLOTS.c.ledger, fraction_of_slot("used"), fraction_of_slot("held"))
        .join(LEDGERS)
        .where(_MAY_RESERVE, SLOTS.c.capacity > Decimal(0))
        .group_by(SLOTS.c.ledger, SLOTS.c.kind, SLOTS.c.mixed)
        .subquery()
    )

    # A ledger is as full as its fullest slot.
    held_of_ledger = func.max(slots.c.held)
    return (
        select(slots.c.ledger, func.max(slots.c.used).label("used"), held_of_ledger.label("held"))
        .group_by(slots.c.ledger)
        .order_by(held_of_ledger.desc(), slots.c.ledger)
        .limit(limit)
    )


def _oldest_hold() -> Select[Any]:
    """Return the query for the time at which the oldest reservation with uncommitted runs was made.

    The result of the query is NULL if there is no such reservation.
    """
    unfinished = select(HOLDINGS.c.reservation).where(HOLDINGS.c.committed < HOLDINGS.c.count)
    live = RESERVATIONS.c.state.in_(("reserved", "committed")) & RESERVATIONS.c.id.in_(unfinished)
    return select(func.min(RESERVATIONS.c.created)).where(live)
