"""Moves that wait for a second person: their requests, their expiry, and the answers about them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from sqlalchemy import Connection

from epsilond.accountants.errors import AwaitsApproval, InvalidInput
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import Caution, Served
from epsilond.ledgers.book.answers import when
from epsilond.ledgers.book.desk import Desk, States
from epsilond.ledgers.book.errors import NotFound, NotReconciled, RoleMissing
from epsilond.ledgers.book.owning import require_movable, require_reconciled
from epsilond.ledgers.correction_requests import AmendAsked, VoidAsked
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.amending import amend_plan
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import pending as pending_rows
from epsilond.ledgers.store.balances import find_misread
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import LedgerRow, PendingKind, PendingRow, PendingState
from epsilond.ledgers.store.specs import text_of
from epsilond.reading import read

Evaluate = Callable[[Callable[[], Any]], Any]
"""Function that runs a picklable call, in this or another process, and returns its result."""
MOST_PENDING: Final = 100
"""Largest number of pending moves of a ledger, so that its list stays short and no key fills the store."""
Gatable: TypeAlias = AmendAsked | VoidAsked
"""Request that needs approval in a ledger with approval."""


@dataclass(frozen=True, kw_only=True)
class GatedRequest:
    """A request for a change that a second person must approve, if the ledger has such approval.

    Attributes:
        key: idempotency key and sender of the request.
        ledger: id of the ledger.
        kind: kind of the change.
        body: the request.
        may_act: whether the caller may make the change in a ledger without such approval.
    """

    key: RequestKey
    ledger: str
    kind: PendingKind
    body: Gatable
    may_act: bool = True

    def require_permitted(self, *, has_approval: bool) -> None:
        """Check that the caller may request this change of a ledger.

        Args:
            has_approval: whether a second person must approve changes of the ledger.

        Raises:
            RoleMissing: no second person must approve, and the caller may not make the change.
            InvalidInput: the caller has no name, but the ledger has approval, or the request introduces it.
        """
        if not has_approval and not self.may_act:
            raise RoleMissing("approver")
        if self.key.by:
            return
        if isinstance(self.body, AmendAsked) and self.body.approval:
            raise InvalidInput.at("/approval", "needs callers with names", allowed="false")
        if has_approval:
            raise InvalidInput.at("/by", "is needed: a ledger with approval records who requests")


@dataclass(frozen=True, kw_only=True)
class PendingMove:
    """A move of a ledger with approval: requested by one person, and made once another person approves."""

    id: str
    ledger: Annotated[str, Served("id of the ledger")]
    kind: Annotated[PendingKind, Served("kind of the requested move")]
    state: Annotated[
        PendingState,
        Served(
            "state of the move. pending: nothing has changed yet. approved: the move was made. Otherwise "
            "it ended without being made"
        ),
    ]
    body: Annotated[
        JsonObject,
        Served("body of the request. For a reconciliation: size and root of the accepted log, and the reason"),
    ]
    requested_by: Annotated[str, Served("name of the caller who requested the move")]
    requested_at: Annotated[str, Served("time at which the move was requested (RFC 3339, UTC)")]
    expires_at: Annotated[
        str | None, Served("time after which the move cannot be approved any more; absent: it does not expire")
    ] = None
    closed_by: Annotated[
        str | None,
        Served(
            "name of the person who approved, rejected or withdrew the move; absent while it is pending, "
            "or if it expired"
        ),
    ] = None
    closed_at: Annotated[str | None, Served("time at which the move ended; absent while it is pending")] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


@dataclass(frozen=True)
class JudgedMove:
    """A permitted change of a ledger, which is computed but not written yet.

    The computation may be slow, so it is made before the ledger is locked.

    Attributes:
        after: state of the ledger after the change.
        record: record of the change for the log, a JSON object.
    """

    after: LedgerState
    record: JsonRecord


def pending_move(row: PendingRow, now: float, warnings: Sequence[Caution] = ()) -> PendingMove:
    """Convert the database row of a change that needs a second person's approval to the service's answer.

    Args:
        row: row of the change.
        now: present time in seconds since 1970. A pending change is shown as expired from its time of expiry on.
        warnings: warnings of the service for the answer, which has no such member if there are none.

    Returns:
        The change with its state, and with the names and times of its request and of the decision.
    """
    # A change that has expired may still be stored as pending.
    state = "expired" if is_over(row, now) else row.state
    expires_at = None if row.expires is None else when(row.expires)
    closed_at = None if row.closed_at is None else when(row.closed_at)
    return PendingMove(
        id=row.id,
        ledger=row.ledger,
        kind=row.kind,
        state=state,
        body=json.loads(row.body),
        requested_by=row.requested_by,
        requested_at=when(row.requested_at),
        expires_at=expires_at,
        closed_by=row.closed_by,
        closed_at=closed_at,
        warnings=tuple(warnings) or None,
    )


def waiting_ledgers(count: int) -> Caution:
    """Return the warning that ledgers are blocked until a second person approves.

    An operator has accepted a log that lacks entries. Ledgers without approval continue at once, the others must wait.

    Args:
        count: number of ledgers that wait, at least 1.

    Returns:
        A warning with the code `reconciliation-pending`.
    """
    subject = f"{count} ledgers with approval move"
    if count == 1:
        subject = "1 ledger with approval moves"
    message = f"{subject} again only once an approver of the organisation approves the pending reconciliation."
    return Caution(code="reconciliation-pending", message=message)


def read_request(move: PendingRow) -> Gatable | JsonRecord:
    """Read the request for a change of a ledger from the database row of the change.

    Args:
        move: row of the change, which waits for a second person's approval or has ended.

    Returns:
        The request to amend or to void. For a reconciliation, a JSON object: size and root of the log, and a reason.
    """
    body: JsonRecord = json.loads(move.body)
    if move.kind == "amend":
        return read(AmendAsked, body)
    if move.kind == "void":
        return read(VoidAsked, body)
    return body


def is_over(move: PendingRow, now: float) -> bool:
    """Return whether a change has expired, although it is still stored as pending.

    Args:
        move: row of the change, which needs a second person's approval.
        now: present time in seconds since 1970.

    Returns:
        True from the time of expiry on; False if the change never expires, or has ended in another way.
    """
    return move.state == "pending" and move.expires is not None and move.expires <= now


def judge_move(request: Gatable | JsonRecord, row: LedgerRow, state: LedgerState, evaluate: Evaluate) -> JudgedMove:
    """Compute a ledger after a requested change, and the change's log entry. Nothing is written.

    There are three kinds of changes: an amended plan, runs that are declared void, and the acceptance of a log that
    lacks entries.

    Args:
        request: the request to amend or to void; for a reconciliation, a record with the log's size and root.
        row: rows of the ledger.
        state: state of the ledger.
        evaluate: runs a slow, picklable computation and returns its result.

    Returns:
        The new state of the ledger, and the entry.

    Raises:
        EpsilondError: the ledger does not permit the change.
    """
    if isinstance(request, AmendAsked):
        parts = request.parts
        added = parts["add"]
        lowered = parts["lower"]
        after, certified = evaluate(partial(amend_plan, state, **parts, released=row.released))
        specs = [text_of(item.spec) for item in added]
        record = entry_records.amendment_record(added, lowered, request.declared, certified, specs, request.approval)
        return JudgedMove(after, record)
    if isinstance(request, VoidAsked):
        after = moves.void(state, identifier=request.reservation, count=request.count)
        reservation = after.reservations[request.reservation]
        return JudgedMove(after, entry_records.void_record(reservation, request.count))
    # A reconciliation changes no balance.
    return JudgedMove(state, entry_records.reconciliation_record(request["size"], request["root"]))


def store_pending(
    connection: Connection,
    row: LedgerRow,
    kind: PendingKind,
    body: JsonRecord,
    *,
    by: str,
    now: float,
    seconds: float | None,
) -> PendingRow:
    """Store a requested change of a ledger, which is made only after a second person's approval.

    Args:
        connection: connection of the transaction.
        row: rows of the ledger.
        kind: kind of the change.
        body: body of the request.
        by: name of the caller who requested the change.
        now: present time in seconds since 1970.
        seconds: time in seconds until the request expires; None means never.

    Returns:
        The row of the change in the database.

    Raises:
        AwaitsApproval: `MOST_PENDING` changes of the ledger wait already. A reconciliation, the acceptance of a log
            that lacks entries, is stored nevertheless.
    """
    if kind != "reconcile" and pending_rows.count_live(connection, row.id, now) >= MOST_PENDING:
        message = f"{MOST_PENDING} moves of the ledger wait for approval: approve or reject some of them first."
        raise AwaitsApproval(message)
    expires = None if seconds is None else now + seconds
    move = PendingRow(
        id=f"move_{secrets.token_urlsafe(12)}",
        ledger=row.id,
        kind=kind,
        body=json.dumps(body, ensure_ascii=False, sort_keys=True),
        requested_by=by,
        requested_at=now,
        expires=expires,
    )
    pending_rows.add(connection, move)
    return move


def require_unblocked(connection: Connection, kind: PendingKind, row: LedgerRow) -> None:
    """Check that nothing blocks a change of a ledger.

    A change is blocked while the ledger waits to be reconciled: a second person must approve it, because its log may
    lack entries. A change of its plan (amendment) is also blocked by other ledgers that cover the same people.

    Args:
        connection: connection of the transaction of the change.
        kind: kind of the change.
        row: rows of the ledger.

    Raises:
        AwaitsApproval: a reconciliation of the ledger waits for a second person.
        BlockHasLedger: the change is an amendment, and another ledger of the same people is open; or this one is closed
            and is not the only one.
    """
    if kind == "amend":
        require_movable(connection, [row])
    else:
        require_reconciled(connection, [row])


def find_move(connection: Connection, ledger: str, identifier: str) -> PendingRow:
    """Return a change of a ledger that waits for a second person's approval, or that has ended.

    Args:
        connection: database connection.
        ledger: id of the ledger.
        identifier: id of the change.

    Returns:
        The row of the change.

    Raises:
        NotFound: the ledger has no such change.
    """
    move = pending_rows.get(connection, ledger, identifier)
    if move is None:
        raise NotFound(identifier)
    return move


def load_states(
    desk: Desk, connection: Connection, tenant: str, identifier: str, request: Gatable | JsonRecord
) -> States:
    """Load the ledger of a requested change and, for runs that are to be declared void, their reservation.

    Args:
        desk: reads and checks the rows of ledgers.
        connection: database connection.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        request: the request to amend or to void; for a reconciliation, a record with the log's size and root.

    Returns:
        Rows and state of the ledger, by its id.

    Raises:
        NotFound: this tenant has no such ledger or reservation.
        NotReconciled: the rows of the ledger, or the number of the reservation's committed runs, differ from the log.
    """
    if not isinstance(request, VoidAsked):
        return desk.states(connection, tenant, [identifier])
    # The number of runs that are void already is needed, too. It is read from the log.
    held = desk.load_reservation(connection, tenant, request.reservation)
    states = desk.states(connection, tenant, [identifier], held)
    if identifier not in held.ledgers:
        return states
    trouble = find_misread(connection, identifier, held)
    if trouble is not None:
        raise NotReconciled(trouble, identifier)
    return states
