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
    """Yield a message for each event and each endpoint (HTTP address) that is configured to get it.

    Args:
        events: events of ledgers or of the log. An event that a fraction of a budget was reached has this `fraction`.
        endpoints: endpoints, each with its kinds of events and its fractions.

    Yields:
        The messages, which are due at once.
    """
    for event in events:
        for endpoint in endpoints:
            has_wanted_fraction = event.fraction is None or event.fraction in endpoint.fractions
            if has_wanted_fraction and endpoint.gets(event.kind, event.organisation):
                yield _build_message(event, endpoint)


def _build_message(event: LedgerEvent, endpoint: WebhookEndpoint) -> MessageRow:
    """Return the message about an event to an endpoint, which is due at once.

    Its id depends only on the event and the endpoint, so that no second message is stored for a repeated event.

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
    """Yield an event for each log entry by which a reservation expired, and its uncommitted runs became free again.

    Args:
        rows: entries of the log.
        organisations: owner of each ledger, by the ledger's id. Entries of other ledgers are skipped.

    Yields:
        The events, in the order of the log.
    """
    for row in rows:
        if row.kind != "expired" or row.ledger not in organisations:
            continue
        record = json.loads(row.leaf)
        data = {"ledger": row.ledger, "reservation": record["reservation"], "count": record["count"]}
        key = hashlib.sha256(row.leaf).hexdigest()  # no other event has it
        yield LedgerEvent(kind="expired", key=key, at=row.at, organisation=organisations[row.ledger], data=data)


def passed_fractions(row: LedgerRow, fractions: Iterable[float], at: float) -> Iterator[LedgerEvent]:
    """Yield an event for each given fraction of its capacity that the committed part of a ledger's budget has reached.

    A budget in Rényi orders counts as one amount. Its fraction is the smallest of its orders, because the other orders
    may be overdrawn.

    Args:
        row: the ledger.
        fractions: fractions above 0 and at most 1.
        at: time of the ledger's change, in seconds since 1970.

    Yields:
        The events, also those that were yielded at an earlier change. Their keys are then the same.
    """
    distinct_fractions = sorted(set(fractions))
    for part in _part_shares(row.parts):
        for fraction in distinct_fractions:
            if part.used < Decimal(repr(fraction)):
                continue
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
    """Fractions of one amount of a slot, a part of a ledger's privacy budget, that are committed or reserved.

    Attributes:
        slot: kind of the slot, such as `gdp`.
        name: name of the amount, such as `mu_squared`; `ORDERS` for all Rényi orders of a slot together.
        used: committed fraction of the capacity.
        held: committed or reserved fraction of the capacity, at least `used`.
    """

    slot: str
    name: str
    used: Decimal
    held: Decimal


def _part_shares(parts: Sequence[PartRow]) -> Iterator[_PartShare]:
    """Yield the committed and the reserved fraction of each amount of a ledger's slots (parts of its privacy budget).

    The Rényi orders of one slot (`mixed`) count as one amount. Its fractions are the smallest ones of its orders,
    because the others may be overdrawn.

    Args:
        parts: amounts of all slots. Those without capacity are skipped.

    Yields:
        The name of each amount with its fractions.
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

    Equal requests have the same key until one of the ledgers changes, so that repeated rejections give one message.

    Args:
        organisation: owner of the ledgers.
        versions: version of each ledger of the request, by the ledger's id.
        slot: kind of the slot (a budget) that was requested, if one was.
        item: item of the plan that was requested, if one was.
        at: time of the rejection, in seconds since 1970.

    Returns:
        The event of the kind `exhausted`, with the ids of the ledgers.
    """
    data: JsonRecord = {"ledgers": sorted(versions)}
    if slot is not None:
        data["slot"] = slot
    if item is not None:
        data["item"] = item
    # A ledger gets another version whenever it changes.
    ledgers_and_versions = "\n".join(f"{name} {version}" for name, version in sorted(versions.items()))
    key = f"{ledgers_and_versions}\n{slot}\n{item}"
    return LedgerEvent(kind="exhausted", key=key, at=at, organisation=organisation, data=data)


def broken_head(reason: str, size: int, at: float) -> LedgerEvent:
    """Return the event that the log of ledgers lacks entries which it had before, or has others in their place.

    Such a log does not continue a head (size and Merkle root) that was signed before.

    Args:
        reason: description of the difference, as a sentence.
        size: number of entries of the log.
        at: time of the observation, in seconds since 1970.

    Returns:
        The event of the kind `head`, with the reason and the size. It concerns all organisations.
    """
    data: JsonRecord = {"reason": reason, "size": size}
    return LedgerEvent(kind="head", key=f"{size}\n{reason}", at=at, organisation=None, data=data)
