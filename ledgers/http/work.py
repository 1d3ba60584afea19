"""What a request of ledgers does, in a thread: a call of the book, and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from epsilond.accountants.errors import LedgerExhausted
from epsilond.accountants.json_types import JsonRecord
from epsilond.app.callers.caller import Caller
from epsilond.app.http.answers import page_link
from epsilond.calibrators.answer import Caution
from epsilond.ledgers.book import answers, reports
from epsilond.ledgers.book.contradictions import cautions
from epsilond.ledgers.book.owning import collisions, near_names
from epsilond.ledgers.book.pending import PendingMove
from epsilond.ledgers.book.pending import pending_move as pending_answer
from epsilond.ledgers.calibrating.within import answered
from epsilond.ledgers.http.asking import LEDGERS
from epsilond.ledgers.http.documents import EntryList
from epsilond.ledgers.http.proving import add_warnings
from epsilond.ledgers.http.service import Ledgers
from epsilond.ledgers.pages.page import page
from epsilond.ledgers.requests import CalibrateAsked, CommitAsked, OpenLedger, Order, ReserveAsked
from epsilond.ledgers.store.records import LedgerRow, PendingRow, ReservationRow


def opened(ledgers: Ledgers, caller: Caller, asked: OpenLedger, key: str) -> answers.LedgerAnswer:
    """Open a ledger; the answer warns of almost equal names."""
    row = ledgers.book.open(caller.organisation, asked, key, by=caller.name)
    ledgers.log_opening(row.id)
    answer = looked(ledgers, caller.organisation, row.id)
    return replace(answer, warnings=(*near_names(ledgers.book.near_names(row)), *answer.warnings))


def looked(ledgers: Ledgers, tenant: str, identifier: str) -> answers.LedgerAnswer:
    """Return a ledger with its promise, and with the other ledgers of the same people if there are any."""
    row, state, promise = ledgers.promised(tenant, identifier)
    warnings = collisions(ledgers.book.colliding(row.id))
    return answers.answer(row, state, promise, (*warnings, *ledgers.warnings))


def listed(ledgers: Ledgers, tenant: str, limit: int, cursor: str | None) -> answers.LedgerList:
    """Return a page of ledgers."""
    found = ledgers.book.ledgers(tenant, limit=limit + 1, after=cursor)
    shown = found[:limit]
    more = page_link(LEDGERS, {"cursor": shown[-1].id, "limit": limit}) if len(found) > limit else None
    ids = [row.id for row in shown]
    colliding = ledgers.book.colliding(*ids)
    warnings = (*collisions(colliding), *ledgers.warnings)
    return answers.LedgerList(ledgers=tuple(map(answers.summary, shown)), next=more, warnings=warnings or None)


def entries(ledgers: Ledgers, tenant: str, identifier: str, start: int | None, limit: int, order: Order) -> EntryList:
    """Return a page of a ledger's entries."""
    found = ledgers.book.entries(tenant, identifier, start=start, limit=limit + 1, order=order)
    more = None
    if len(found) > limit:
        place = {"order": None if order == "oldest" else order, "from": found[limit]["seq"], "limit": limit}
        more = page_link(f"{LEDGERS}/{identifier}/entries", place)
    return EntryList(entries=tuple(found[:limit]), next=more, warnings=ledgers.warnings or None)


def report(ledgers: Ledgers, tenant: str, identifier: str, *, as_page: bool) -> JsonRecord | str:
    """Return a ledger's report, signed under the log's head, as a page or as its record."""
    ledger, book = looked(ledgers, tenant, identifier), ledgers.book
    told = reports.report(ledger, book.checkpoint(), book.written(tenant, identifier), time.time())
    signing = book.keyring.signing
    return page(told, signing) if as_page else reports.signed(told, signing)


def calibrated(
    ledgers: Ledgers, tenant: str, identifier: str, algorithm: str, asked: CalibrateAsked
) -> answers.WithinAnswer:
    """Find the least noise with which an algorithm's run fits."""
    find = partial(answered, algorithm=algorithm, given=asked.fields, place=asked.place)
    return answers.within(*ledgers.book.evaluated(tenant, identifier, find), ledgers.warnings)


def changed(ledgers: Ledgers, tenant: str, identifier: str, change: Callable[[], object]) -> answers.LedgerAnswer:
    """Make a change, and return the ledger after it."""
    change()
    return looked(ledgers, tenant, identifier)


def make_or_request(
    ledgers: Ledgers, tenant: str, identifier: str, change: Callable[[], LedgerRow | PendingRow]
) -> answers.LedgerAnswer | PendingMove:
    """Make a change, and return the ledger after it; the pending move if a second person approves the change.

    Args:
        ledgers: of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        change: makes the change, or requests it.
    """
    made = change()
    if isinstance(made, PendingRow):
        return pending_answer(made, time.time(), ledgers.warnings)
    return looked(ledgers, tenant, identifier)


def pending(ledgers: Ledgers, tenant: str, identifier: str) -> list[PendingMove]:
    """Return the moves of a ledger that wait for approval."""
    now = time.time()
    return [pending_answer(row, now, ledgers.warnings) for row in ledgers.book.pending(tenant, identifier)]


def pending_move(ledgers: Ledgers, tenant: str, identifier: str, move: str) -> PendingMove:
    """Return a move that waits for approval, or did."""
    return pending_answer(ledgers.book.pending_move(tenant, identifier, move), time.time(), ledgers.warnings)


def approve_move(ledgers: Ledgers, caller: Caller, identifier: str, move: str) -> PendingMove:
    """Make a pending move; return it.

    Args:
        ledgers: of the service.
        caller: who decides.
        identifier: id of the ledger.
        move: id of the move.
    """
    row = ledgers.book.approve(caller.organisation, identifier, move, by=caller.name)
    return pending_answer(row, time.time(), ledgers.warnings)


def reject_move(ledgers: Ledgers, caller: Caller, identifier: str, move: str) -> PendingMove:
    """End a pending move without making it; return it.

    Args:
        ledgers: of the service.
        caller: who decides.
        identifier: id of the ledger.
        move: id of the move.
    """
    is_approver = "approver" in caller.roles
    row = ledgers.book.reject(caller.organisation, identifier, move, by=caller.name, is_approver=is_approver)
    return pending_answer(row, time.time(), ledgers.warnings)


def reserved(
    ledgers: Ledgers, caller: Caller, named: tuple[str, ...], asked: ReserveAsked, key: str
) -> answers.ReservationAnswer:
    """Hold runs; return the reservation."""
    try:
        made = ledgers.book.reserve(caller.organisation, named, asked, key, by=caller.name)
    except LedgerExhausted:
        ledgers.webhooks.note_refusal(caller.organisation, named, asked.slot, asked.item)
        raise
    return answers.reservation(made, warnings=_warnings(ledgers, made))


def reservation(ledgers: Ledgers, tenant: str, identifier: str) -> answers.ReservationAnswer:
    """Return a reservation with the receipts of its newest commits."""
    book = ledgers.book
    row = book.reservation(tenant, identifier)
    receipts = [receipt.record for receipt in book.receipts(tenant, identifier)]
    return answers.reservation(row, receipts, _warnings(ledgers, row))


def committed(ledgers: Ledgers, caller: Caller, identifier: str, asked: CommitAsked, key: str) -> JsonRecord:
    """Commit runs; return the receipts."""
    answer = ledgers.book.commit(caller.organisation, identifier, asked, key, by=caller.name)
    return add_warnings(ledgers, answers.commit(answer["receipts"]))


def cancelled(ledgers: Ledgers, caller: Caller, identifier: str) -> answers.ReservationAnswer:
    """Cancel a reservation; return it."""
    row = ledgers.book.cancel(caller.organisation, identifier, by=caller.name)
    return answers.reservation(row, warnings=_warnings(ledgers, row))


def _warnings(ledgers: Ledgers, held: ReservationRow) -> tuple[Caution, ...]:
    """Return the warnings of a reservation: contradicted runs, other ledgers of the same people, the service's own."""
    contradicted = cautions(ledgers.book.contradicting_ledgers(held))
    ids = [holding.ledger for holding in held.holdings]
    colliding = ledgers.book.colliding(*ids)
    return contradicted + collisions(colliding) + ledgers.warnings
