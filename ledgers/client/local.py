"""Ledgers in an SQLite file of the user, with signing keys in a folder next to it. One process at a time has it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary, finalize

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book import answers, reports
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import BookError
from epsilond.ledgers.book.owning import near_names
from epsilond.ledgers.book.restore import ACCOUNTED_FOR, CheckpointFile
from epsilond.ledgers.calibrating.within import calibrate_within
from epsilond.ledgers.client.errors import Refused, Unanswered
from epsilond.ledgers.client.file_answers import (
    OWNER,
    find_log_trouble,
    ledger_answer,
    list_ledgers,
    move_answer,
    open_file_keys,
    pending_answer,
    read_entries,
    read_log,
    read_person,
    refusal_message,
    require_person,
    reservation_answer,
)
from epsilond.ledgers.client.place import Answer, Body
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.correction_requests import AmendAsked, ContradictAsked, VoidAsked
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.pages.page import page
from epsilond.ledgers.requests import CalibrateAsked, CommitAsked, OpenLedger, Order, ReserveAsked, WhatIfAsked
from epsilond.ledgers.store.opening import open_store
from epsilond.reading import read
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

T = TypeVar("T")

_OPEN_PLACES: WeakValueDictionary[Path, FilePlace] = WeakValueDictionary()
"""Open files of this process by their resolved paths."""
_OPENING = threading.Lock()  # lets only one thread at a time open a file


def file_place(path: Path, runs: RunNotes) -> FilePlace:
    """Open the ledgers of a file, which is created if it does not exist.

    Args:
        path: the file with the database of the ledgers.
        runs: notes on used receipts.

    Returns:
        The open ledgers of the file. Calls with the same file return the same object until it is closed.

    Raises:
        InvalidInput: another process has the file, or the file cannot be read or written.
        KeysUnusable: the keys next to the file cannot sign.
    """
    resolved_path = path.expanduser().resolve()
    with _OPENING:
        place = _OPEN_PLACES.get(resolved_path)
        if place is None or place.closed:
            place = FilePlace(resolved_path, runs)
            _OPEN_PLACES[resolved_path] = place
    return place


class FilePlace:
    """The ledgers in one file on this computer, with the same methods as the ledgers of a service.

    Attributes:
        closed: whether the file was released.
        warnings: messages of the warnings in the answers so far, by the codes of the warnings.
    """

    def __init__(self, path: Path, runs: RunNotes) -> None:
        """Open a file of ledgers. Signing keys are made in the folder FILE.keys if there are none.

        Args:
            path: path of the file, with links resolved.
            runs: notes on used receipts, in a folder that also has the newest signed head of the log.

        Raises:
            InvalidInput: another process has the file, or a file cannot be read or written.
            KeysUnusable: the keys next to the file cannot sign.
        """
        try:
            self._database: Database = open_store(path, name=str(path))
        except ValueError as error:
            raise InvalidInput.at("/place", str(error)) from None
        try:
            self._keyring = open_file_keys(path.with_name(f"{path.name}.keys"))
            self._head_file = CheckpointFile(runs.head, self._keys)
            self._book = Book(self._database, self._keys, file=self._head_file)
            # Ledgers that a service wrote keep their organisation, which the keys of the service determine.
            self._book.assign_organisations(lambda name: OWNER if name == OWNER else None)
            self._book.continuity.begin(self._book.root, self._book.sign_as_it_is)
        except OSError as error:
            self._database.close()
            raise InvalidInput.at("/place", f"its keys or its notes cannot be written: {error.strerror}") from None
        except BaseException:
            self._database.close()
            raise
        self.closed = False
        self.warnings: dict[str, str] = {}
        finalize(self, self._database.close)

    def open(self, body: Body, key: str, *, by: str | None = None) -> Answer:
        request = read(OpenLedger, body)
        name = read_person(by)
        row = self._call_and_note(lambda book: book.open(OWNER, request, key, by=name))
        similar_names = self._call(lambda book: book.near_names(row))
        name_warnings = as_json(near_names(similar_names))
        answer = self.ledger(row.id)
        self._note(name_warnings)
        return {**answer, "warnings": [*name_warnings, *answer["warnings"]]}

    def ledgers(self) -> list[Answer]:
        """Return summaries of all ledgers."""
        rows = self._call(list_ledgers)
        return [as_json(answers.summary(row)) for row in rows]

    def ledger(self, identifier: str) -> Answer:
        """Return a ledger with its balances, its privacy curve and its conditions."""
        answer: Answer = self._call(lambda book: as_json(ledger_answer(book, identifier)))
        self._note(answer["warnings"])
        return answer

    def entries(self, identifier: str, start: int, order: Order = "oldest", limit: int | None = None) -> list[Answer]:
        """Return log entries of a ledger, as JSON objects.

        Args:
            identifier: id of the ledger.
            start: number of the log from which on entries are returned.
            order: whether the oldest or the newest come first.
            limit: largest number of entries; None means all.

        Returns:
            The entries, which have the number `start` or a larger one.
        """
        return self._call(lambda book: read_entries(book, identifier, start, order, limit))

    def what_if(self, identifier: str, body: Body) -> Answer:
        """Return the charge of the requested runs, and whether it fits into a ledger. Nothing is changed."""
        request = read(WhatIfAsked, body)
        evaluation = self._call(lambda book: book.what_if(OWNER, identifier, request))
        answer: Answer = as_json(answers.what_if(evaluation))
        return answer

    def calibrate(self, identifier: str, algorithm: str, body: Body) -> Answer:
        request = read(CalibrateAsked, body)
        find = partial(calibrate_within, algorithm=algorithm, given=request.fields, charge_target=request.charge_target)
        run = self._call(lambda book: book.evaluate(OWNER, identifier, find))
        answer: Answer = as_json(answers.within_record(run))
        return answer

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        request = read(ReserveAsked, body)
        row = self._call_and_note(lambda book: book.reserve(OWNER, ledgers, request, key))
        answer: Answer = as_json(answers.reservation(row))
        return answer

    def reservation(self, identifier: str) -> Answer:
        """Return a reservation as it is now."""
        return self._call(lambda book: reservation_answer(book, book.reservation(OWNER, identifier)))

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        request = read(CommitAsked, body)
        answer: Any = self._call_and_note(lambda book: book.commit(OWNER, identifier, request, key))
        return [Receipt.of_record(record) for record in answer["receipts"]]

    def cancel(self, identifier: str) -> Answer:
        """Return the reserved runs that were not committed to the budget, and describe the reservation."""
        return self._call_and_note(lambda book: reservation_answer(book, book.cancel(OWNER, identifier)))

    def seal(self, identifier: str, key: str) -> None:
        """Declare that it is fixed from now on which records belong to the block of the ledger."""
        self._call_and_note(lambda book: book.seal(OWNER, identifier, key))

    def close_ledger(self, identifier: str, key: str) -> None:
        """Close a ledger: from now on no runs can be reserved in it."""
        self._call_and_note(lambda book: book.close(OWNER, identifier, key))

    def amend(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        request = read(AmendAsked, body)
        name = read_person(by)
        row = self._call_and_note(lambda book: book.amend(OWNER, identifier, request, key, by=name))
        return pending_answer(row)

    def void(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        request = read(VoidAsked, body)
        name = read_person(by)
        row = self._call_and_note(lambda book: book.void(OWNER, identifier, request, key, by=name))
        return pending_answer(row)

    def pending(self, identifier: str) -> list[Answer]:
        """Return the changes of a ledger that wait for a second person."""
        rows = self._call(lambda book: book.pending(OWNER, identifier))
        return [move_answer(row) for row in rows]

    def approve(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """Approve a change of a ledger that another person requested, so that it is made.

        Args:
            identifier: id of the ledger.
            move: id of the pending change.
            by: name of the approver, which the log records. It is required, because a file does not know its callers.

        Returns:
            The approved change as a JSON object.

        Raises:
            SamePerson: the approver requested the change.
            MoveEnded: it was rejected or withdrawn, or has expired.
        """
        name = require_person(by)
        row = self._call_and_note(lambda book: book.approve(OWNER, identifier, move, by=name))
        return move_answer(row)

    def reject(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """End a pending change of a ledger without making it, as its requester or as another person.

        Args:
            identifier: id of the ledger.
            move: id of the pending change.
            by: name of the caller. It is required, because a file does not know its callers.

        Returns:
            The ended change as a JSON object.

        Raises:
            MoveEnded: the change was approved, or has expired.
        """
        name = require_person(by)
        row = self._call(lambda book: book.reject(OWNER, identifier, move, by=name))
        return move_answer(row)

    def contradict(self, identifier: str, body: Body, key: str) -> None:
        """Block all further commits, because a run was observed to differ from the mechanism that was paid for.

        Args:
            identifier: id of the ledger.
            body: `observations` of differences, and `reservations` of the run; without these, all with committed runs.
            key: idempotency key of the request.
        """
        contradiction = read(ContradictAsked, body)
        self._call_and_note(lambda book: book.contradict(OWNER, identifier, contradiction, key))

    def report(self, identifier: str) -> str:
        """Return the ledger as a page of HTML, with the log's signed head (size and Merkle root) and a signature."""

        def make_report(book: Book) -> str:
            """Make the page, which contains the present head of the log."""
            ledger = ledger_answer(book, identifier)
            summary = book.written(OWNER, identifier)
            report = reports.report(ledger, book.checkpoint(), summary, time.time())
            return page(report, self._keyring.signing)

        return self._call(make_report)

    def checkpoint(self) -> str:
        """Return the signed head of the log."""
        return self._call(lambda book: book.checkpoint())

    def keys(self) -> Answer:
        """Return the public keys of the log."""
        return self._keyring.document()

    def bundle(self, identifier: str | None) -> Bundle:  # noqa: ARG002  the log is one: all of it shows each ledger
        """Return the whole log with its signed head, which is evidence of the entries of every ledger."""
        return self._bundle(Book.checkpoint)

    def bundle_as_it_is(self) -> Bundle:
        """Return the whole log for an audit, even if it does not continue a known head."""
        return self._bundle(Book.sign_as_it_is)

    def _bundle(self, sign: Callable[[Book], str]) -> Bundle:
        """Return all entries of the log with its signed head (size and Merkle root), for a verifier.

        Args:
            sign: returns the signed head of the log, with or without a check that the log continues the known heads.
        """

        def make_bundle(book: Book) -> Bundle:
            """Sign the head, and read the entries that it covers."""
            note = sign(book)
            head = checkpoints.verify(note, self._keyring.signing.name, self._keyring.keys)
            return Bundle(entries=read_log(self._database, head.size), checkpoints=[note])

        return self._call(make_bundle)

    def reconcile(self, checkpoint: str | None, declared: str | None, *, by: str | None = None) -> Answer:
        """Compare the log with a signed head that was stored earlier, and accept the log if that is allowed.

        A log that continues the older heads is accepted. A log that lacks entries is accepted only with a declaration.
        Ledgers in which a second person approves changes are then blocked until that person approves.

        Args:
            checkpoint: the signed head to compare with; None means the newest one next to the file.
            declared: the declaration of the operator that the missing entries are accounted for; None if there is none.
            by: name of the operator, which is needed if a second person must approve.

        Returns:
            `checkpoint`, the new signed head. If the log lacks entries, also `accepted`, what was found. If ledgers are
            blocked, also `waiting`, their number.

        Raises:
            Refused: the log does not continue an older head, and the declaration is missing.
        """
        name = read_person(by)

        def compare(book: Book) -> Answer:
            """Accept the log if it continues the older heads, or if its missing entries are accounted for."""
            trouble = find_log_trouble(book, self._head_file, self._keyring, checkpoint)
            if trouble is not None and declared != ACCOUNTED_FOR:
                raise Refused(f"{trouble} Nothing was changed: find the missing moves, then declare {ACCOUNTED_FOR}")
            waiting = 0 if trouble is None else book.request_reconciliations(name, trouble)
            # The log must continue this head from now on.
            note = book.sign_as_it_is()
            book.continuity.accept(note)
            answer: Answer = {"checkpoint": note}
            if trouble is not None:
                answer["accepted"] = trouble
            if waiting:
                answer["waiting"] = waiting
            return answer

        return self._call(compare)

    def close(self) -> None:
        """Release the file, so that another process may open it."""
        if not self.closed:
            self.closed = True
            self._database.close()

    def _keys(self) -> SigningKeys:
        """Return the keys that sign the log at present."""
        return self._keyring

    def _note(self, warnings: Iterable[JsonObject]) -> None:
        """Add the warnings of an answer to the attribute `warnings`."""
        self.warnings |= {warning["code"]: warning["message"] for warning in warnings}

    def _call_and_note(self, call: Callable[[Book], T]) -> T:
        """Change the ledgers, store the log's new head (size and Merkle root) in its file, and return the result.

        Args:
            call: function that changes the book, that is, the ledgers in the database.

        Raises:
            Unanswered: the head cannot be stored, or the database fails. Sending the same request with its key again
                shows the outcome.
            Refused: the file was closed, or the book rejects the change.
        """
        answer = self._call(call)
        try:
            self._call(lambda book: book.continuity.keep(book.checkpoint(), book.root))
        except OSError as error:
            message = f"the head of the log cannot be noted: {error.strerror}; ask again with the same key"
            raise Unanswered(message) from None
        return answer

    def _call(self, call: Callable[[Book], T]) -> T:
        """Call a function of the book, that is, of the ledgers in the database, and translate its errors.

        Args:
            call: the function that gives the returned result.

        Raises:
            Refused: the file was closed, or the function raised `BookError`.
            Unanswered: the database cannot be used (`StoreFault`). All other errors pass unchanged.
        """
        if self.closed:
            raise Refused("the ledgers were closed; open the file again")
        try:
            return call(self._book)
        except BookError as error:
            raise Refused(refusal_message(error)) from None
        except StoreFault as error:
            raise Unanswered(f"the ledgers cannot be used: {error}") from None
