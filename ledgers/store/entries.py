"""Entries of the log as rows, which are numbered from 0 without gaps and never change."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from epsilond.ledgers.requests import Order
from epsilond.ledgers.store.owners import entries_of
from epsilond.ledgers.store.records import EntryRow
from epsilond.ledgers.store.tables import COUNTER, ENTRIES, RARE

_COLUMNS = tuple(ENTRIES.c[name] for name in EntryRow.__dataclass_fields__)


def take(connection: Connection, count: int) -> int:
    """Reserve the next numbers of log entries. Other writers wait until the transaction ends.

    Call this last in a transaction, after all ledgers are locked and other rows are written. If the transaction is
    rolled back, the numbers are free again.

    Args:
        connection: connection of a transaction that writes.
        count: how many numbers are reserved, at least 1.

    Returns:
        The first of the numbers.

    Raises:
        ValueError: the count is below 1.
    """
    if count < 1:
        raise ValueError("at least one entry is taken")
    increase = update(COUNTER).values(size=COUNTER.c.size + count).returning(COUNTER.c.size)
    size: int = connection.execute(increase).scalar_one()
    return size - count


def append(connection: Connection, entries: Sequence[EntryRow]) -> None:
    """Store entries under the numbers that `take` reserved in this transaction.

    Args:
        connection: connection of a transaction that writes.
        entries: rows of the entries, in the order of their numbers.

    Raises:
        IntegrityError: their numbers are not the next ones. The transaction must be rolled back.
    """
    connection.execute(insert(ENTRIES), [{**vars(entry), "digest": digest(entry.leaf)} for entry in entries])


def digest(leaf: bytes) -> bytes:
    """Return the hash of an entry in the log's Merkle tree: SHA-256 of 0x00 and the leaf (RFC 9162).

    Args:
        leaf: canonical JSON text of the entry.

    Returns:
        The hash, 32 bytes.
    """
    return hashlib.sha256(b"\x00" + leaf).digest()


def size(connection: Connection) -> int:
    """Return the number of entries of the log."""
    number: int = connection.execute(select(COUNTER.c.size)).scalar_one()
    return number


def get(connection: Connection, seq: int) -> EntryRow | None:
    """Return the log entry with a given number.

    Args:
        connection: connection to read on.
        seq: number of the entry, from 0.

    Returns:
        The entry; None if the log has no entry with this number.
    """
    query = select(*_COLUMNS).where(ENTRIES.c.seq == seq)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    return EntryRow(**row)


def page(
    connection: Connection,
    *,
    start: int | None = None,
    limit: int,
    ledger: str | None = None,
    kind: str | None = None,
    organisation: str | None = None,
    order: Order = "oldest",
) -> list[EntryRow]:
    """Return a page of log entries that meet all given conditions.

    An entry records a change of a ledger. The log numbers all entries from 0, so that a page can be continued after the
    number of its last entry.

    Args:
        connection: connection to read on.
        start: number of the first entry; None means the oldest, or the newest if the newest come first.
        limit: largest number of entries.
        ledger: id of the entries' ledger; None means any.
        kind: kind of the entries; None means any.
        organisation: owner of the entries' ledgers; None means any.
        order: whether the oldest or the newest entries come first.

    Returns:
        The entries in the requested order. Fewer than `limit` entries mean that there are no further ones.
    """
    newest_first = order == "newest"
    query = select(*_COLUMNS)
    if start is not None and newest_first:
        query = query.where(ENTRIES.c.seq <= start)
    elif start is not None:
        query = query.where(ENTRIES.c.seq >= start)
    if ledger is not None:
        query = query.where(ENTRIES.c.ledger == ledger)
    if kind is not None:
        query = query.where(ENTRIES.c.kind == kind)
    if organisation is not None:
        query = query.where(entries_of(organisation))
    in_order = ENTRIES.c.seq.desc() if newest_first else ENTRIES.c.seq
    rows = connection.execute(query.order_by(in_order).limit(limit)).mappings()
    return [EntryRow(**row) for row in rows]


def of_rare_kind(
    connection: Connection, ledgers: Collection[str], kind: Literal["voided", "contradicted"]
) -> list[EntryRow]:
    """Return the entries of a rare kind in some ledgers, in the order of the log. They have an index of their own.

    These entries say that runs were declared void, or were observed to differ from their mechanism.

    Args:
        connection: connection to read on.
        ledgers: ids of the ledgers.
        kind: kind of the entries.

    Returns:
        The rows of the entries.
    """
    condition = ENTRIES.c.ledger.in_(ledgers) & (ENTRIES.c.kind == kind)
    query = select(*_COLUMNS).where(RARE, condition).order_by(ENTRIES.c.seq)
    return [EntryRow(**row) for row in connection.execute(query).mappings()]


def newest(connection: Connection, ledgers: Collection[str]) -> dict[str, EntryRow]:
    """Return the newest log entry of each of several ledgers.

    Args:
        connection: connection to read on.
        ledgers: ids of the ledgers.

    Returns:
        The entries by the ids of the ledgers. A ledger without entries is left out.
    """
    last = select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.ledger.in_(ledgers)).group_by(ENTRIES.c.ledger)
    rows = connection.execute(select(*_COLUMNS).where(ENTRIES.c.seq.in_(last))).mappings()
    return {row["ledger"]: EntryRow(**row) for row in rows}


class KindCount(NamedTuple):
    """Entries of one kind in the log of a ledger.

    A kind says how the entry changed the ledger, such as `opened`, `reserved` or `committed`. Entries of all ledgers
    are numbered together from 0.

    Attributes:
        entries: number of entries.
        first: number of the first one in the log.
        last: number of the last one.
    """

    entries: int
    first: int
    last: int


def count_kinds(connection: Connection, ledger: str) -> dict[str, KindCount]:
    """Count the entries of a ledger by their kinds.

    Args:
        connection: connection to read on.
        ledger: id of the ledger.

    Returns:
        Number of entries, and first and last number in the log, by the kind of the entries.
    """
    number = ENTRIES.c.seq
    query = select(ENTRIES.c.kind, func.count(), func.min(number), func.max(number))
    rows = connection.execute(query.where(ENTRIES.c.ledger == ledger).group_by(ENTRIES.c.kind))
    return {kind: KindCount(count, first, last) for kind, count, first, last in rows}
