"""Events as messages, read from the log and from the balances of the ledgers that moved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.answers import when
from epsilond.ledgers.http.webhooks.endpoints import EventKind, WebhookEndpoint
from epsilond.ledgers.store.messages import MessageRow
from epsilond.ledgers.store.records import EntryRow, LedgerRow, PartRow

TYPES: Final[dict[EventKind, str]] = {
    "fraction": "ledger.fraction_passed",
    "expired": "ledger.hold_expired",
    "exhausted": "ledger.exhausted",
    "head": "ledger.head_not_continued",
}
"""`type` of a message by the kind of its event."""
ORDERS: Final = "orders"
"""Name of the parts of a Rényi slot together."""


@dataclass(frozen=True, kw_only=True)
class LedgerEvent:
    """An event of a ledger or of the log about which webhook messages are sent.

    Attributes:
        kind: kind of the event, such as `exhausted`.
        key: text that only this event has, so that its messages are stored once.
        at: time of the event, in seconds since 1970.
        organisation: owner of the ledgers; None for an event of the log as a whole.
        data: content of the message, a JSON object without names of data sets.
        fraction: fraction of a budget's capacity that was reached, between 0 and 1; None for other kinds of events.
    """

    kind: EventKind
    key: str
    at: float
    organisation: str | None
    data: JsonRecord
    fraction: float | None = None


def messages_of(events: Iterable[LedgerEvent], endpoints: Sequence[WebhookEndpoint]) -> Iterator[MessageRow]:
    """Yield one message for each event and each endpoint that is configured to get it.

    An endpoint is an HTTP address that gets messages about some kinds of events.

    Args:
        events: events of ledgers or of the log. If the committed part of a slot reached a fraction of its capacity, the
            event has this `fraction`.
        endpoints: endpoints with the kinds of events and the fractions that they are sent.

    Yields:
        The messages, which are due at once.
    """
    for event in events:
        for endpoint in endpoints:
            wants_fraction = event.fraction is None or event.fraction in endpoint.fractions
            if wants_fraction and endpoint.gets(event.kind, event.organisation):
                yield _message(event, endpoint)


def _message(event: LedgerEvent, endpoint: WebhookEndpoint) -> MessageRow:
    """Return the message about an event to an endpoint, which is due at once.

    The message's id depends only on the event and the endpoint, so that a repeated event gives no second message.

    Args:
        event: the event.
        endpoint: the endpoint that gets the message.

    Returns:
        The message, which is not stored yet.
    """
    identity = f"{endpoint.id}\n{event.kind}\n{event.key}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:32]
    body = json.dumps({"type": TYPES[event.kind], "timestamp": when(event.at), "data": event.data})
    return MessageRow(
        id=f"msg_{digest}", endpoint=endpoint.id, kind=event.kind, body=body, created=event.at, due=event.at
    )


def expiries(rows: Iterable[EntryRow], organisations: dict[str, str]) -> Iterator[LedgerEvent]:
    """Yield an event for each entry of a reservation that has expired.

    The uncommitted runs of an expired reservation have returned to the ledger. The digest of the entry is the key of
    the event, so that it is sent once.

    Args:
        rows: entries of the log.
        organisations: owner of each ledger.

    Yields:
        The events, in the order of the log.
    """
    for row in rows:
        if row.kind != "expired" or row.ledger not in organisations:
            continue
        record = json.loads(row.leaf)
        data = {"ledger": row.ledger, "reservation": record["reservation"], "count": record["count"]}
        key = hashlib.sha256(row.leaf).hexdigest()
        yield LedgerEvent(kind="expired", key=key, at=row.at, organisation=organisations[row.ledger], data=data)


def passed_fractions(row: LedgerRow, fractions: Iterable[float], at: float) -> Iterator[LedgerEvent]:
    """Yield an event for each given fraction of its capacity that an amount of a ledger's budget has reached.

    A Rényi slot counts as one part. Its used fraction is the smallest of its orders, because the other orders may be
    overdrawn.

    A slot is a budget of a ledger in one notion of privacy. The key of an event identifies it, so that each is sent
    once.

    Args:
        row: the ledger.
        fractions: fractions from 0 to 1, at which somebody wants a message.
        at: when the ledger moved, in seconds since 1970.

    Yields:
        The events.
    """
    distinct_fractions = sorted(set(fractions))
    for part in _part_shares(row.parts):
        for fraction in distinct_fractions:
            if part.used < Decimal(repr(fraction)):
                continue
            # The fraction was reached: describe the part with its used and its used or reserved share.
            data: JsonRecord = {
                "ledger": row.id,
                "slot": part.slot,
                "part": part.name,
                "fraction": fraction,
                "used": float(part.used),
                "held": float(part.held),
            }
            key = f"{row.id}\n{part.slot}\n{part.name}\n{fraction!r}"
            yield LedgerEvent(kind="fraction", key=key, at=at, organisation=row.tenant, data=data, fraction=fraction)


@dataclass(frozen=True)
class _PartShare:
    """How much of a part of a slot is taken, as fractions of its capacity.

    A slot is a budget of a ledger for runs that are not planned. Its parts are amounts, such as μ² and δ.

    Attributes:
        slot: kind of the slot, such as `gdp`.
        name: name of the part, such as `mu_squared`.
        used: committed fraction.
        held: committed or reserved fraction, so at least `used`.
    """

    slot: str
    name: str
    used: Decimal
    held: Decimal


def _part_shares(parts: Sequence[PartRow]) -> Iterator[_PartShare]:
    """Yield for each amount of a ledger's slots (budgets) the fractions of its capacity that are taken.

    The Rényi orders of one slot (`mixed`) count as one part. It has the smallest fractions of its orders, because the
    others may be overdrawn. Parts without capacity are left out.

    Args:
        parts: parts of all slots.

    Yields:
        The amount with both fractions.
    """
    orders: dict[str, list[PartRow]] = {}  # by kind of the slot
    for part in parts:
        if part.capacity <= 0:
            continue
        if part.mixed:
            orders.setdefault(part.kind, []).append(part)
        else:
            yield _PartShare(part.kind, part.part, part.used / part.capacity, part.held / part.capacity)
    for kind, orders_of_slot in orders.items():
        used = min(order.used / order.capacity for order in orders_of_slot)
        held = min(order.held / order.capacity for order in orders_of_slot)
        yield _PartShare(kind, ORDERS, used, held)


def exhaustion(
    organisation: str, versions: dict[str, int], slot: str | None, item: str | None, at: float
) -> LedgerEvent:
    """Return the event that a request was rejected because too little was left in a ledger.

    The event's key is the same for equal requests until one of the ledgers changes. So repeated rejections give one
    message.

    Args:
        organisation: owner of the ledgers.
        versions: version of each ledger of the request, by the ledger's id.
        slot: kind of the slot (a budget) that was requested, if one was.
        item: item of the plan that was requested, if one was.
        at: seconds since 1970.

    Returns:
        The event of the kind `exhausted`, with the ids of the ledgers.
    """
    data: JsonRecord = {"ledgers": sorted(versions)}
    if slot is not None:
        data["slot"] = slot
    if item is not None:
        data["item"] = item
    # The key changes when a ledger changes, because its version then does.
    ledgers_and_versions = "\n".join(f"{name} {version}" for name, version in sorted(versions.items()))
    key = f"{ledgers_and_versions}\n{slot}\n{item}"
    return LedgerEvent(kind="exhausted", key=key, at=at, organisation=organisation, data=data)


def broken_head(reason: str, size: int, at: float) -> LedgerEvent:
    """Return the event for webhooks that the log of ledgers lacks entries which it had before, or has others.

    Such a log does not continue a head (size and Merkle root) that was signed before. The event concerns all
    organisations.

    Args:
        reason: description of the difference, as a sentence.
        size: number of entries of the log.
        at: seconds since 1970.

    Returns:
        The event of the kind `head`, with the reason and the size.
    """
    data: JsonRecord = {"reason": reason, "size": size}
    return LedgerEvent(kind="head", key=f"{size}\n{reason}", at=at, organisation=None, data=data)
