"""Ledgers in a file of one's own: a book in SQLite, with the keys that sign in a folder beside it.

One process at a time has the file, whose threads share it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary, finalize

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book import answers, reports
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.continuity import KEPT, discontinuity
from epsilond.ledgers.book.contradictions import cautions
from epsilond.ledgers.book.errors import BookError, KeyReused, NotFound, NotReconciled
from epsilond.ledgers.book.owning import collisions, near_names
from epsilond.ledgers.book.pending import pending_move
from epsilond.ledgers.book.restore import ACCOUNTED_FOR, CheckpointFile, UnreadableCheckpoint, read_checkpoint
from epsilond.ledgers.calibrating.within import calibrated
from epsilond.ledgers.client.errors import Refused, Unanswered
from epsilond.ledgers.client.place import Answer, Body
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import parse
from epsilond.ledgers.log.key_files import open_keyring, origin_of
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.pages.page import page
from epsilond.ledgers.requests import (
    AmendAsked,
    CalibrateAsked,
    CommitAsked,
    ContradictAsked,
    OpenLedger,
    Order,
    ReserveAsked,
    VoidAsked,
    WhatIfAsked,
)
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.opening import opened
from epsilond.ledgers.store.records import EntryRow, LedgerRow, PendingRow, ReservationRow
from epsilond.ledgers.store.transactions import looking
from epsilond.reading import read
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

T = TypeVar("T")
OWNER: Final = "local"
"""Whose the ledgers of a file are: everybody's who has the file."""
LONGEST_PERSON: Final = 64
"""Largest number of characters of a declared name, as of the name of a key."""
_PAGE: Final = 100
_ENTRIES: Final = 1000
_OPEN: WeakValueDictionary[Path, FilePlace] = WeakValueDictionary()
_OPENING = threading.Lock()


def file_place(path: Path, runs: RunNotes) -> FilePlace:
    """Return the place of a file. Create a missing file, and reuse a place that this process has open.

    Raises:
        InvalidInput: another process has the file, or the file cannot be read or written.
        KeysUnusable: the keys next to the file cannot sign.
    """
    where = path.expanduser().resolve()
    with _OPENING:
        found = _OPEN.get(where)
        if found is None or found.closed:
            found = _OPEN[where] = FilePlace(where, runs)
    return found


class FilePlace:
    """`place.Place` on a file."""

    def __init__(self, path: Path, runs: RunNotes) -> None:
        """Open it. Keys are made beside a file that has none."""
        try:
            self._database: Database = opened(path, name=str(path))
        except ValueError as error:
            raise InvalidInput.at("/place", str(error)) from None
        try:
            folder = path.with_name(f"{path.name}.keys")
            origin = origin_of(folder) or f"ledgers.local/{secrets.token_hex(8)}"
            self._keyring = open_keyring(folder, origin, datetime.now(UTC))
            self._file = CheckpointFile(runs.head, self._keys)
            self._book = Book(self._database, self._keys, file=self._file)
            # A service's ledgers stay as they are: which organisation has them, its file of keys says.
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
        asked, name = read(OpenLedger, body), _read_name(by)
        row = self._moved(lambda book: book.open(OWNER, asked, key, by=name))
        near = as_json(near_names(self._asked(lambda book: book.near_names(row))))
        answer = self.ledger(row.id)
        self.warnings |= {warning["code"]: warning["message"] for warning in near}
        return {**answer, "warnings": [*near, *answer["warnings"]]}

    def ledgers(self) -> list[Answer]:
        def every(book: Book) -> list[Answer]:
            found = page = book.ledgers(OWNER, limit=_PAGE)
            while len(page) == _PAGE:
                page = book.ledgers(OWNER, limit=_PAGE, after=page[-1].id)
                found = found + page
            return [as_json(answers.summary(row)) for row in found]

        return self._asked(every)

    def ledger(self, identifier: str) -> Answer:
        answer: Answer = self._asked(lambda book: as_json(_ledger(book, identifier)))
        self.warnings |= {warning["code"]: warning["message"] for warning in answer["warnings"]}
        return answer

    def entries(self, identifier: str, start: int, order: Order = "oldest", limit: int | None = None) -> list[Answer]:
        def every(book: Book) -> list[Answer]:
            found: list[Answer] = []
            begin, newest = (start, False) if order == "oldest" else (None, True)
            while limit is None or len(found) < limit:
                page = book.entries(OWNER, identifier, start=begin, limit=_ENTRIES, order=order)
                found += [each for each in page if each["seq"] >= start]
                if len(page) < _ENTRIES:
                    break
                begin = page[-1]["seq"] + (-1 if newest else 1)
            return found[:limit]

        return self._asked(every)

    def what_if(self, identifier: str, body: Body) -> Answer:
        asked = read(WhatIfAsked, body)
        return self._asked(lambda book: as_json(answers.what_if(book.what_if(OWNER, identifier, asked))))

    def calibrate(self, identifier: str, algorithm: str, body: Body) -> Answer:
        asked = read(CalibrateAsked, body)
        find = partial(calibrated, algorithm=algorithm, given=asked.fields, place=asked.place)
        return self._asked(lambda book: as_json(answers.found_within(book.evaluated(OWNER, identifier, find))))

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        asked = read(ReserveAsked, body)
        return self._moved(lambda book: as_json(answers.reservation(book.reserve(OWNER, ledgers, asked, key))))

    def reservation(self, identifier: str) -> Answer:
        return self._asked(lambda book: _reservation(book, book.reservation(OWNER, identifier)))

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        asked = read(CommitAsked, body)
        answer: Any = self._moved(lambda book: book.commit(OWNER, identifier, asked, key))
        return [Receipt.of_record(each) for each in answer["receipts"]]

    def cancel(self, identifier: str) -> Answer:
        return self._moved(lambda book: _reservation(book, book.cancel(OWNER, identifier)))

    def seal(self, identifier: str, key: str) -> None:
        self._moved(lambda book: book.seal(OWNER, identifier, key))

    def close_ledger(self, identifier: str, key: str) -> None:
        self._moved(lambda book: book.close(OWNER, identifier, key))

    def amend(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        asked, name = read(AmendAsked, body), _read_name(by)
        return _pending(self._moved(lambda book: book.amend(OWNER, identifier, asked, key, by=name)))

    def void(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        asked, name = read(VoidAsked, body), _read_name(by)
        return _pending(self._moved(lambda book: book.void(OWNER, identifier, asked, key, by=name)))

    def pending(self, identifier: str) -> list[Answer]:
        """Return the moves of a ledger that wait for a second person."""
        return [_move(row) for row in self._asked(lambda book: book.pending(OWNER, identifier))]

    def approve(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """Make a pending move as the person of this name.

        Args:
            identifier: id of the ledger.
            move: id of the move.
            by: name of the person; it is needed.
        """
        name = _require_name(by)
        return _move(self._moved(lambda book: book.approve(OWNER, identifier, move, by=name)))

    def reject(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """End a pending move as the person of this name.

        Args:
            identifier: id of the ledger.
            move: id of the move.
            by: name of the person; it is needed.
        """
        name = _require_name(by)
        return _move(self._asked(lambda book: book.reject(OWNER, identifier, move, by=name)))

    def contradict(self, identifier: str, body: Body, key: str) -> None:
        """Let nothing more be committed, because observations contradict a run.

        Args:
            identifier: id of the ledger.
            body: `observations`, and `reservations` that paid for the run.
            key: idempotency key of the request.
        """
        contradiction = read(ContradictAsked, body)
        self._moved(lambda book: book.contradict(OWNER, identifier, contradiction, key))

    def report(self, identifier: str) -> str:
        def made(book: Book) -> str:
            ledger, summary = _ledger(book, identifier), book.written(OWNER, identifier)
            told = reports.report(ledger, book.checkpoint(), summary, time.time())
            return page(told, self._keyring.signing)

        return self._asked(made)

    def checkpoint(self) -> str:
        return self._asked(lambda book: book.checkpoint())

    def keys(self) -> Answer:
        return self._keyring.document()

    def bundle(self, identifier: str | None) -> Bundle:  # noqa: ARG002  the log is one: all of it shows each ledger
        return self._bundle(Book.checkpoint)

    def bundle_as_it_is(self) -> Bundle:
        """Return the whole log, also where it does not continue a head that is known: for whoever audits it."""
        return self._bundle(Book.sign_as_it_is)

    def _bundle(self, sign: Callable[[Book], str]) -> Bundle:
        def whole(book: Book) -> Bundle:
            note = sign(book)
            size = checkpoints.verify(note, self._keyring.signing.name, self._keyring.keys).size
            with looking(self._database) as connection:
                found: list[EntryRow] = []
                while len(found) < size and (page := entries.page(connection, start=len(found), limit=_ENTRIES)):
                    found += page
            return Bundle(entries=[parse(row.leaf) for row in found[:size]], checkpoints=[note])

        return self._asked(whole)

    def reconcile(self, checkpoint: str | None, declared: str | None, *, by: str | None = None) -> Answer:
        name = _read_name(by)

        def compared(book: Book) -> Answer:
            trouble = None if checkpoint is None else self._not_continued(checkpoint, book)
            if trouble is None and not (self._file.missing and checkpoint is not None):
                with suppress(NotReconciled):
                    book.require_continued()
                trouble = book.continuity.trouble
            if trouble is not None and declared != ACCOUNTED_FOR:
                raise Refused(f"{trouble} Nothing was changed: find out what is missing, then declare {ACCOUNTED_FOR}")
            waiting = 0 if trouble is None else book.request_reconciliations(name, trouble)
            note = book.sign_as_it_is()
            book.continuity.accept(note)
            accepted = {} if trouble is None else {"accepted": trouble}
            return {"checkpoint": note, **accepted} | ({"waiting": waiting} if waiting else {})

        return self._asked(compared)

    def _not_continued(self, note: str, book: Book) -> str | None:
        try:
            head = read_checkpoint(note, self._keyring)
        except UnreadableCheckpoint as error:
            return str(error)
        return discontinuity(head, book.root, KEPT)

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            self.closed = True
            self._database.close()

    def _keys(self) -> SigningKeys:
        return self._keyring

    def _moved(self, call: Callable[[Book], T]) -> T:
        """Make a move on the book. The log's head is noted before the answer is returned."""
        answer = self._asked(call)
        try:
            self._asked(lambda book: book.continuity.keep(book.checkpoint(), book.root))
        except OSError as error:
            message = f"the head of the log cannot be noted: {error.strerror}; ask again with the same key"
            raise Unanswered(message) from None
        return answer

    def _asked(self, call: Callable[[Book], T]) -> T:
        if self.closed:
            raise Refused("the ledgers were closed; open the file again")
        try:
            return call(self._book)
        except BookError as error:
            raise Refused(_said(error)) from None
        except StoreFault as error:
            raise Unanswered(f"the ledgers cannot be used: {error}") from None


def _ledger(book: Book, identifier: str) -> answers.LedgerAnswer:
    row, state = book.whole(OWNER, identifier)
    warnings = collisions(book.colliding(row.id))
    return answers.answer(row, state, answers.promised(state, of_block=bool(row.block)), warnings)


def _reservation(book: Book, row: ReservationRow) -> Answer:
    answer: Answer = as_json(answers.reservation(row, warnings=cautions(book.contradicting_ledgers(row))))
    return answer


def _read_name(by: str | None) -> str:
    """Return a declared name, empty where none is declared.

    Raises:
        InvalidInput: it is empty or too long, or cannot be printed.
    """
    if by is not None and not (by.strip() and len(by) <= LONGEST_PERSON and by.isprintable()):
        allowed = f"1 to {LONGEST_PERSON} printable characters"
        raise InvalidInput.at("/by", "is empty or too long, or cannot be printed", allowed=allowed)
    return "" if by is None else by


def _require_name(by: str | None) -> str:
    """Return a declared name.

    Raises:
        InvalidInput: none is declared, or it is no name.
    """
    name = _read_name(by)
    if not name:
        raise InvalidInput.at("/by", "is needed: a file knows nobody, so declare who you are")
    return name


def _move(row: PendingRow) -> Answer:
    answer: Answer = as_json(pending_move(row, time.time()))
    return answer


def _pending(made: LedgerRow | PendingRow) -> Answer | None:
    """Return a move that waits for a second person, None if the ledger was changed at once."""
    return _move(made) if isinstance(made, PendingRow) else None


def _said(error: BookError) -> str:
    if isinstance(error, NotFound):
        return f"there is no such ledger, reservation or entry: {error}"
    if isinstance(error, KeyReused):
        return f"the idempotency key came with another request before: {error}"
    if isinstance(error, NotReconciled):
        return f"{error} If the file is a copy from a backup, put the newest one in its place, or see ledger reconcile."
    return str(error)
