"""Functions that requests on ledgers call in a thread: each calls the book, and makes the answer of the service."""

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
from epsilond.ledgers.book import answers, figures, reports
from epsilond.ledgers.book.contradictions import cautions
from epsilond.ledgers.book.owning import collisions, near_names
from epsilond.ledgers.book.pending import PendingMove
from epsilond.ledgers.book.pending import pending_move as pending_answer
from epsilond.ledgers.calibrating.within import calibrate_and_solve
from epsilond.ledgers.http.asking import LEDGERS
from epsilond.ledgers.http.documents import EntryList
from epsilond.ledgers.http.proving import add_warnings
from epsilond.ledgers.http.service import Ledgers
from epsilond.ledgers.pages.page import page
from epsilond.ledgers.requests import CalibrateAsked, CommitAsked, OpenLedger, Order, ReserveAsked
from epsilond.ledgers.store.records import LedgerRow, PendingRow, ReservationRow


def open_ledger(ledgers: Ledgers, caller: Caller, request: OpenLedger, key: str) -> answers.LedgerAnswer:
    """Open a ledger, and return it with warnings of data sets and blocks that have almost the same name.

    A ledger is a privacy budget of a data set, or of a block (part) of one.

    Args:
        ledgers: ledgers of the service.
        caller: owner of the new ledger.
        request: the ledger.
        key: idempotency key of the request.

    Returns:
        The ledger, as the service answers it.
    """
    row = ledgers.book.open(caller.organisation, request, key, by=caller.name)
    ledgers.log_opening(row.id)
    answer = ledger_answer(ledgers, caller.organisation, row.id)
    return replace(answer, warnings=(*near_names(ledgers.book.near_names(row)), *answer.warnings))


def ledger_answer(ledgers: Ledgers, tenant: str, identifier: str) -> answers.LedgerAnswer:
    """Return a ledger, with its conditions, the privacy curve of its plan, and warnings.

    The first warnings name other ledgers that cover the same people, because privacy losses add up. The warnings of the
    service follow.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.

    Returns:
        The ledger as the service answers it.

    Raises:
        NotFound: this tenant has no such ledger.
    """
    # The promise has the conditions, the privacy curve and the certificate of the ledger's plan.
    row, state, promise = ledgers.promise(tenant, identifier)
    other_ledgers = ledgers.book.colliding(row.id)
    warnings = collisions(other_ledgers)
    return answers.answer(row, state, promise, (*warnings, *ledgers.warnings))


def list_ledgers(ledgers: Ledgers, tenant: str, limit: int, cursor: str | None) -> answers.LedgerList:
    """Return a page of the list of ledgers, with warnings about ledgers that cover the same people.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledgers.
        limit: largest number of ledgers.
        cursor: id of the last ledger of the page before; None for the first page.

    Returns:
        The page, with a link to the next page if there is one.
    """
    # One ledger more than the page shows whether there is a next page.
    rows = ledgers.book.ledgers(tenant, limit=limit + 1, after=cursor)
    shown = rows[:limit]
    next_link = None
    if len(rows) > limit:
        last_shown = shown[-1]
        next_link = page_link(LEDGERS, {"cursor": last_shown.id, "limit": limit})
    ids = [row.id for row in shown]
    colliding = ledgers.book.colliding(*ids)
    warnings = (*collisions(colliding), *ledgers.warnings)
    return answers.LedgerList(ledgers=tuple(map(answers.summary, shown)), next=next_link, warnings=warnings or None)


def list_entries(
    ledgers: Ledgers, tenant: str, identifier: str, start: int | None, limit: int, order: Order
) -> EntryList:
    """Return a page of the log entries of a ledger.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        start: number in the log of the first entry of the page; None means the first entry in this order.
        limit: largest number of entries.
        order: whether the oldest or the newest entry comes first.

    Returns:
        The page, with a link to the next page if there is one.
    """
    # One entry more than the page shows whether there is a next page, and where it begins.
    records = ledgers.book.entries(tenant, identifier, start=start, limit=limit + 1, order=order)
    next_link = None
    if len(records) > limit:
        next_record = records[limit]
        # The default order is left out of the link.
        linked_order = None if order == "oldest" else order
        query = {"order": linked_order, "from": next_record["seq"], "limit": limit}
        next_link = page_link(f"{LEDGERS}/{identifier}/entries", query)
    return EntryList(entries=tuple(records[:limit]), next=next_link, warnings=ledgers.warnings or None)


def report(ledgers: Ledgers, tenant: str, identifier: str, *, as_page: bool) -> JsonRecord | str:
    """Return the signed report of a ledger, with the signed head (size and root) of the log.

    The report can be verified later without the service, with the public keys of the log.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        as_page: whether to return a page of HTML instead of the record.

    Returns:
        The page as text, or the report as a JSON object.
    """
    book = ledgers.book
    ledger = ledger_answer(ledgers, tenant, identifier)
    record = reports.report(ledger, book.checkpoint(), book.written(tenant, identifier), time.time())
    signing = book.keyring.signing
    if as_page:
        return page(record, signing)
    return reports.sign_report(record, signing)


def calibrate(
    ledgers: Ledgers, tenant: str, identifier: str, algorithm: str, request: CalibrateAsked
) -> answers.WithinAnswer:
    """Compute the least noise with which an algorithm's run fits the remaining budget. Nothing is reserved.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        algorithm: name of the algorithm.
        request: fields of the algorithm, and the item of the plan or the slot (a budget for unplanned runs) that pays.

    Returns:
        The run, its cost and the complete calibration, as the service answers them.

    Raises:
        InvalidInput, ConditionViolated, LedgerExhausted, RunDiffers: as `calibrate_within`.
    """
    solve = partial(calibrate_and_solve, algorithm=algorithm, given=request.fields, charge_target=request.charge_target)
    result, calibration = ledgers.book.evaluate(tenant, identifier, solve)
    return answers.within(result, calibration, ledgers.warnings)


def change_ledger(ledgers: Ledgers, tenant: str, identifier: str, change: Callable[[], object]) -> answers.LedgerAnswer:
    """Make a change of a ledger, and return the service's answer about the ledger after it.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        change: function that makes the change.

    Returns:
        The ledger as the service answers it.
    """
    change()
    return ledger_answer(ledgers, tenant, identifier)


def make_or_request(
    ledgers: Ledgers, tenant: str, identifier: str, change: Callable[[], LedgerRow | PendingRow]
) -> answers.LedgerAnswer | PendingMove:
    """Make a change, or store it for approval, and return the outcome.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        change: function that makes the change, or stores it as pending.

    Returns:
        The ledger after the change. The pending change if a second person must approve the change.
    """
    row = change()
    if isinstance(row, PendingRow):
        return pending_answer(row, time.time(), ledgers.warnings)
    return ledger_answer(ledgers, tenant, identifier)


def list_pending(ledgers: Ledgers, tenant: str, identifier: str) -> list[PendingMove]:
    """Return the requested changes of a ledger that wait for a second person's approval.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.

    Returns:
        The changes as the service answers them.
    """
    now = time.time()
    return [pending_answer(row, now, ledgers.warnings) for row in ledgers.book.pending(tenant, identifier)]


def pending_move(ledgers: Ledgers, tenant: str, identifier: str, move: str) -> PendingMove:
    """Return a requested change of a ledger that waits for a second person's approval, or that has ended.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the ledger.
        identifier: id of the ledger.
        move: id of the change.

    Returns:
        The change as the service answers it.
    """
    return pending_answer(ledgers.book.pending_move(tenant, identifier, move), time.time(), ledgers.warnings)


def approve_move(ledgers: Ledgers, caller: Caller, identifier: str, move: str) -> PendingMove:
    """Approve a change of a ledger that another person requested, so that it is made, and return it.

    Args:
        ledgers: ledgers of the service.
        caller: the approver.
        identifier: id of the ledger.
        move: id of the change.

    Returns:
        The change as the service answers it.
    """
    row = ledgers.book.approve(caller.organisation, identifier, move, by=caller.name)
    return pending_answer(row, time.time(), ledgers.warnings)


def reject_move(ledgers: Ledgers, caller: Caller, identifier: str, move: str) -> PendingMove:
    """Reject or withdraw a requested change of a ledger, and return it. The ledger does not change.

    Args:
        ledgers: ledgers of the service.
        caller: an approver, or the person who requested the change.
        identifier: id of the ledger.
        move: id of the change.

    Returns:
        The change as the service answers it.
    """
    is_approver = "approver" in caller.roles
    row = ledgers.book.reject(caller.organisation, identifier, move, by=caller.name, is_approver=is_approver)
    return pending_answer(row, time.time(), ledgers.warnings)


def reserve(
    ledgers: Ledgers, caller: Caller, identifiers: tuple[str, ...], request: ReserveAsked, key: str
) -> figures.ReservationAnswer:
    """Reserve runs for a caller, until they are committed, cancelled or expired, and return the reservation.

    If the budget does not suffice, webhooks get a message.

    Args:
        ledgers: ledgers of the service.
        caller: the person who reserves.
        identifiers: ids of the ledgers, in all of which runs are reserved.
        request: the mechanism, the number of runs, and the item or slot that pays.
        key: idempotency key of the request.

    Returns:
        The reservation as the service answers it.

    Raises:
        LedgerExhausted: a ledger has too little budget left.
    """
    try:
        row = ledgers.book.reserve(caller.organisation, identifiers, request, key, by=caller.name)
    except LedgerExhausted:
        ledgers.webhooks.note_refusal(caller.organisation, identifiers, request.slot, request.item)
        raise
    return answers.reservation(row, warnings=_warnings(ledgers, row))


def reservation(ledgers: Ledgers, tenant: str, identifier: str) -> figures.ReservationAnswer:
    """Return a reservation with the receipts of its newest commits.

    A reservation holds runs for one caller. A receipt proves that the log contains a commit.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the reservation.
        identifier: id of the reservation.

    Returns:
        The reservation as the service answers it.
    """
    book = ledgers.book
    row = book.reservation(tenant, identifier)
    receipts = [receipt.record for receipt in book.receipts(tenant, identifier)]
    return answers.reservation(row, receipts, _warnings(ledgers, row))


def commit(ledgers: Ledgers, caller: Caller, identifier: str, request: CommitAsked, key: str) -> JsonRecord:
    """Commit runs of a reservation: spend their budget so that their outputs may be released.

    A receipt proves that the log contains the commit in one ledger.

    Args:
        ledgers: ledgers of the service.
        caller: the person who commits.
        identifier: id of the reservation.
        request: number of runs to commit; None means all that are left.
        key: idempotency key of the request.

    Returns:
        The receipts, one for each ledger of the reservation.
    """
    answer = ledgers.book.commit(caller.organisation, identifier, request, key, by=caller.name)
    return add_warnings(ledgers, figures.commit_answer(answer["receipts"]))


def cancel(ledgers: Ledgers, caller: Caller, identifier: str) -> figures.ReservationAnswer:
    """Cancel a reservation, and return it.

    Its uncommitted runs return to the ledgers. Committed runs stay spent.

    Args:
        ledgers: ledgers of the service.
        caller: the person who cancels.
        identifier: id of the reservation.

    Returns:
        The reservation as the service answers it.
    """
    row = ledgers.book.cancel(caller.organisation, identifier, by=caller.name)
    return answers.reservation(row, warnings=_warnings(ledgers, row))


def _warnings(ledgers: Ledgers, row: ReservationRow) -> tuple[Caution, ...]:
    """Return the warnings about a reservation, followed by the warnings of the service.

    Args:
        ledgers: ledgers of the service.
        row: row of the reservation.

    Returns:
        Warnings of runs that were observed to differ from the mechanism that was paid for, of other ledgers that cover
        the same people, and of the service, in this order.
    """
    contradicted = cautions(ledgers.book.contradicting_ledgers(row))
    ids = [holding.ledger for holding in row.holdings]
    colliding = ledgers.book.colliding(*ids)
    return contradicted + collisions(colliding) + ledgers.warnings
