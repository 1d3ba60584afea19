"""Moves that a second person approves, as rows: added, listed, and closed once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, Select, func, insert, or_, select, update

from epsilond.ledgers.store.records import PendingRow
from epsilond.ledgers.store.tables import LEDGERS, PENDING
from epsilond.ledgers.store.transactions import Again

_COLUMNS: Final = tuple(PENDING.c[name] for name in PendingRow.__dataclass_fields__)
_ENDING: Final = ("state", "closed_by", "closed_at", "applied")


def add(connection: Connection, move: PendingRow) -> None:
    """Store a requested change of a ledger that waits for approval. The caller must have locked the ledger.

    Args:
        connection: connection of a transaction that writes.
        move: row of the requested change.
    """
    connection.execute(insert(PENDING).values(vars(move)))


def get(connection: Connection, ledger: str, identifier: str) -> PendingRow | None:
    """Return a requested change of a ledger that needs a second person's approval, in any state.

    Args:
        connection: connection to read on.
        ledger: id of the ledger.
        identifier: id of the request.

    Returns:
        The row of the request; None if the ledger has none with this id.
    """
    query = select(*_COLUMNS).where(PENDING.c.id == identifier, PENDING.c.ledger == ledger)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    return PendingRow(**row)


def live(connection: Connection, ledger: str, now: float) -> list[PendingRow]:
    """Return the requested changes of a ledger that wait for a second person's approval, oldest first.

    A request waits until it is approved, rejected or withdrawn, or until it expires.

    Args:
        connection: connection to read on.
        ledger: id of the ledger.
        now: present time in seconds since 1970. Requests that have expired are left out.
    """
    ordered = _live(ledger, now).order_by(PENDING.c.requested_at, PENDING.c.id)
    return [PendingRow(**row) for row in connection.execute(ordered).mappings()]


def count_live(connection: Connection, ledger: str, now: float) -> int:
    """Count the requested changes of a ledger that wait for a second person's approval and have not expired.

    Args:
        connection: connection to read on.
        ledger: id of the ledger.
        now: present time in seconds since 1970.
    """
    query = select(func.count()).select_from(_live(ledger, now).subquery())
    number: int = connection.execute(query).scalar_one()
    return number


def awaiting_reconciliation(connection: Connection, ledgers: Collection[str]) -> set[str]:
    """Return the ids of those ledgers in which a reconciliation waits for approval.

    A reconciliation is the acceptance of a log that may lack entries.

    Args:
        connection: connection to read on.
        ledgers: ids of the ledgers that are examined.

    Returns:
        A subset of `ledgers`.
    """
    waiting = (PENDING.c.kind == "reconcile") & (PENDING.c.state == "pending")
    query = select(PENDING.c.ledger).where(PENDING.c.ledger.in_(ledgers), waiting)
    return set(connection.execute(query).scalars())


def ledgers_with_approval(connection: Connection) -> list[str]:
    """Return the ids of all ledgers in which a second person must approve some changes.

    Args:
        connection: connection to read on.

    Returns:
        The ids, in increasing order.
    """
    query = select(LEDGERS.c.id).where(LEDGERS.c.approval_from.is_not(None)).order_by(LEDGERS.c.id)
    return list(connection.execute(query).scalars())


def close(connection: Connection, before: PendingRow, after: PendingRow) -> None:
    """Store that a requested change of a ledger has ended: approved, rejected, withdrawn or expired.

    A request ends only once. Its row is kept as a record of the decision.

    Args:
        connection: connection of a transaction that writes.
        before: the request before; only its id is used.
        after: the request with its final state.

    Raises:
        Again: the request is not pending any more.
    """
    is_pending = (PENDING.c.id == before.id) & (PENDING.c.state == "pending")
    new_values = {name: getattr(after, name) for name in _ENDING}
    result = connection.execute(update(PENDING).where(is_pending).values(new_values))
    if result.rowcount != 1:
        raise Again(before.id)


def _live(ledger: str, now: float) -> Select[tuple[object, ...]]:
    """Return the query for the requested changes of a ledger that wait for approval and have not expired.

    Args:
        ledger: id of the ledger.
        now: present time in seconds since 1970.
    """
    in_time = or_(PENDING.c.expires.is_(None), PENDING.c.expires > now)
    return select(*_COLUMNS).where(PENDING.c.ledger == ledger, PENDING.c.state == "pending", in_time)
