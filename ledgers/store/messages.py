"""Messages to webhooks as rows: added once, claimed by one process at a time, and kept until they are delivered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from sqlalchemy import Connection, delete, func, insert, select, update

from epsilond.ledgers.store.tables import MESSAGES, MESSAGES_READ
from epsilond.ledgers.store.transactions import try_insert

MessageState = Literal["pending", "delivered", "dropped"]


@dataclass(frozen=True, kw_only=True)
class MessageRow:
    """Database row of one webhook message to one endpoint, an HTTP address of a user.

    Attributes:
        id: id of the message, equal for equal events and endpoints.
        endpoint: identifier of the endpoint.
        kind: kind of the event.
        body: JSON text of the message, which never changes.
        created: time of the event, in seconds since 1970, as all times here.
        state: pending; delivered; or dropped, if the receiver is gone or did not accept the message in time.
        attempts: number of deliveries that were begun.
        due: time before which no process sends it.
    """

    id: str
    endpoint: str
    kind: str
    body: str
    created: float
    state: MessageState = "pending"
    attempts: int = 0
    due: float = 0.0


def add(connection: Connection, rows: Iterable[MessageRow]) -> int:
    """Store the messages that are not stored yet. A stored message with the same id is not changed.

    A message tells one webhook, an HTTP address of a user, of one event of a ledger. Several processes may add the same
    message, because each computes the same id.

    Args:
        connection: connection of a transaction that writes.
        rows: the messages, in the order in which they are stored.

    Returns:
        The number of messages that this call stored.
    """
    count = 0
    for row in rows:
        if is_kept(connection, row.id):
            continue
        statement = insert(MESSAGES).values(asdict(row))
        if try_insert(connection, statement):  # another process may have added it meanwhile
            count += 1
    return count


def is_kept(connection: Connection, identifier: str) -> bool:
    """Return whether a message with a given id is stored, in any state.

    Args:
        connection: connection to read on.
        identifier: id of the message.
    """
    query = select(MESSAGES.c.id).where(MESSAGES.c.id == identifier)
    return connection.execute(query).scalar_one_or_none() is not None


def claim(connection: Connection, endpoint: str, now: float, lease: float) -> MessageRow | None:
    """Reserve the message to an endpoint that is due first, so that only this process sends it for some time.

    The number of attempts of the message is increased by one.

    Args:
        connection: connection of a transaction that writes.
        endpoint: identifier of the endpoint, an HTTP address that gets messages.
        now: present time in seconds since 1970.
        lease: seconds after which another process may send the message, in case that this process has stopped.

    Returns:
        The message; None if no message is due that other processes are not reserving at this moment.
    """
    is_due = (MESSAGES.c.state == "pending") & (MESSAGES.c.endpoint == endpoint) & (MESSAGES.c.due <= now)
    query = select(MESSAGES).where(is_due).order_by(MESSAGES.c.due, MESSAGES.c.created, MESSAGES.c.id).limit(1)
    message = connection.execute(query.with_for_update(skip_locked=True)).mappings().one_or_none()
    if message is None:
        return None
    row = replace(MessageRow(**message), attempts=message["attempts"] + 1, due=now + lease)
    write(connection, row)
    return row


def write(connection: Connection, row: MessageRow) -> None:
    """Write the members of a message that may change: its state, its attempts, and the time when it is due.

    Args:
        connection: connection of a transaction that writes.
        row: the message with its new values.
    """
    values = {"state": row.state, "attempts": row.attempts, "due": row.due}
    connection.execute(update(MESSAGES).where(MESSAGES.c.id == row.id).values(values))


def pending(connection: Connection, endpoints: Iterable[str]) -> int:
    """Return the number of messages to some endpoints that wait for their delivery.

    Args:
        connection: connection to read on.
        endpoints: identifiers of the endpoints, HTTP addresses that get messages.

    Returns:
        The number of messages.
    """
    waits = (MESSAGES.c.state == "pending") & MESSAGES.c.endpoint.in_([*endpoints])
    query = select(func.count()).select_from(MESSAGES).where(waits)
    count: int = connection.execute(query).scalar_one()
    return count


def prune(connection: Connection, before: float, kept_kind: str) -> None:
    """Delete messages that were created before a time.

    Args:
        connection: connection of a transaction that writes.
        before: time in seconds since 1970.
        kept_kind: kind of event of which no message is deleted, so that none is created a second time.
    """
    connection.execute(delete(MESSAGES).where(MESSAGES.c.created < before, MESSAGES.c.kind != kept_kind))


def read_size(connection: Connection, *, alone: bool = False) -> int | None:
    """Return the number of log entries from which messages were already made, that is, where to continue.

    Args:
        connection: connection to read on; it must be of a transaction that writes if `alone` is set.
        alone: whether to exclude other processes from making messages until the transaction ends.

    Returns:
        The number of entries. None if `begin` was never called, or if another process excludes this one.
    """
    query = select(MESSAGES_READ.c.size).where(MESSAGES_READ.c.id == 0)
    if alone:
        query = query.with_for_update(skip_locked=True)
    size: int | None = connection.execute(query).scalar_one_or_none()
    return size


def begin(connection: Connection, size: int) -> None:
    """Store the number of log entries after which messages are made, unless it was stored before.

    Args:
        connection: connection of a transaction that writes.
        size: number of first entries of the log, of which no messages are made.
    """
    if read_size(connection) is None:
        try_insert(connection, insert(MESSAGES_READ).values(id=0, size=size))


def advance(connection: Connection, size: int) -> None:
    """Replace the stored number of log entries from which messages were already made.

    Args:
        connection: connection of a transaction that writes.
        size: the new number.
    """
    connection.execute(update(MESSAGES_READ).where(MESSAGES_READ.c.id == 0).values(size=size))
