"""Moves that wait for a second person: their requests, their expiry, and the answers about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import Caution, Served
from epsilond.ledgers.book.answers import when
from epsilond.ledgers.requests import AmendAsked, VoidAsked
from epsilond.ledgers.store.records import PendingKind, PendingRow, PendingState
from epsilond.reading import read

Gatable: TypeAlias = AmendAsked | VoidAsked
"""Request that needs approval in a ledger with approval."""


@dataclass(frozen=True, kw_only=True)
class PendingMove:
    """A move of a ledger with approval: requested by one person, and made once another person approves."""

    id: str
    ledger: Annotated[str, Served("the ledger's id")]
    kind: Annotated[PendingKind, Served("requested move")]
    state: Annotated[PendingState, Served("pending: nothing has changed yet; approved: the move was made")]
    body: Annotated[
        JsonObject, Served("body of the request; of reconcile the accepted head of the log, and the reason")
    ]
    requested_by: Annotated[str, Served("name of the caller who requested it")]
    requested_at: Annotated[str, Served("date and time, RFC 3339, UTC")]
    expires_at: Annotated[str | None, Served("from then on it cannot be approved; absent: never")] = None
    closed_by: Annotated[str | None, Served("who approved, rejected or withdrew it")] = None
    closed_at: Annotated[str | None, Served("when; absent while it is pending")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("absent: none")] = None


def pending_move(row: PendingRow, now: float, warnings: Sequence[Caution] = ()) -> PendingMove:
    """Return the answer about a move.

    Args:
        row: the move.
        now: seconds since 1970; a pending move whose time has passed is shown as expired.
        warnings: of the service.
    """
    return PendingMove(
        id=row.id,
        ledger=row.ledger,
        kind=row.kind,
        state="expired" if is_over(row, now) else row.state,
        body=json.loads(row.body),
        requested_by=row.requested_by,
        requested_at=when(row.requested_at),
        expires_at=None if row.expires is None else when(row.expires),
        closed_by=row.closed_by,
        closed_at=None if row.closed_at is None else when(row.closed_at),
        warnings=tuple(warnings) or None,
    )


def waiting_ledgers(count: int) -> Caution:
    """Return the warning of an accepted log that ledgers wait for a second person.

    Args:
        count: number of these ledgers.
    """
    named = "1 ledger with approval moves" if count == 1 else f"{count} ledgers with approval move"
    message = f"{named} again only once an approver of the organisation approves the pending reconciliation."
    return Caution(code="reconciliation-pending", message=message)


def read_request(move: PendingRow) -> Gatable | JsonRecord:
    """Return the request of a pending move: of a reconciliation its body."""
    body: JsonRecord = json.loads(move.body)
    readers: dict[str, Callable[[], Gatable]] = {
        "amend": lambda: read(AmendAsked, body),
        "void": lambda: read(VoidAsked, body),
    }
    reader = readers.get(move.kind)
    return body if reader is None else reader()


def is_over(move: PendingRow, now: float) -> bool:
    """Return whether the time of a pending move has passed."""
    return move.state == "pending" and move.expires is not None and move.expires <= now
