"""Ledgers in a file of one's own: a book in SQLite, with the keys that sign in a folder beside it.

One process at a time has the file, whose threads share it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary, finalize

from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import BookError, KeyReused, NotFound, NotReconciled
from epsilond.ledgers.client import documents
from epsilond.ledgers.client.errors import Refused, Unanswered
from epsilond.ledgers.client.place import Answer, Body
from epsilond.ledgers.client.runs import Runs
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.canonical import parse
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.key_files import PUBLISHED, open_keyring
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import Keyring, published_keys
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.requests import CommitAsked, OpenLedger, ReserveAsked, VoidAsked, WhatIfAsked
from epsilond.ledgers.storage import entries
from epsilond.ledgers.storage.nodes import StoredNodes
from epsilond.ledgers.storage.opening import opened
from epsilond.ledgers.storage.records import EntryRow
from epsilond.ledgers.storage.transactions import looking
from epsilond.reading import read
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

T = TypeVar("T")
OWNER: Final = "local"
"""Whose the ledgers of a file are: everybody's who has the file."""
_PAGE: Final = 100
_ENTRIES: Final = 1000
_OPEN: WeakValueDictionary[Path, FilePlace] = WeakValueDictionary()
_OPENING = threading.Lock()


def file_place(path: Path, runs: Runs) -> FilePlace:
    """The place of a file, made if it is not there; the one that this process has open, if it has.

    Raises:
        InvalidInput: another process has it, or it cannot be read or written.
        KeysUnusable: the keys beside it cannot sign.
    """
    where = path.expanduser().resolve()
    with _OPENING:
        found = _OPEN.get(where)
        if found is None or found.closed:
            found = _OPEN[where] = FilePlace(where, runs)
    return found


class FilePlace:
    """`place.Place` on a file."""

    def __init__(self, path: Path, runs: Runs) -> None:
        """Open it. Keys are made beside a file that has none."""
        try:
            self._database: Database = opened(path, name=str(path))
        except ValueError as error:
            raise InvalidInput.at("/place", str(error)) from None
        try:
            folder = path.with_name(f"{path.name}.keys")
            self._keyring = open_keyring(folder, _origin(folder), datetime.now(UTC))
            self._head = runs.head()
            self._book = Book(self._database, self._keys, reconciled=self._reconciled)
        except BaseException:
            self._database.close()
            raise
        self.closed = False
        finalize(self, self._database.close)

    def open(self, body: Body, key: str) -> Answer:
        asked = read(OpenLedger, body)
        return self.ledger(self._asked(lambda book: book.open(OWNER, asked, key)).id)

    def ledgers(self) -> list[Answer]:
        def every(book: Book) -> list[Answer]:
            found = page = book.ledgers(OWNER, limit=_PAGE)
            while len(page) == _PAGE:
                page = book.ledgers(OWNER, limit=_PAGE, after=page[-1].id)
                found = found + page
            return [documents.summary(row) for row in found]

        return self._asked(every)

    def ledger(self, identifier: str) -> Answer:
        return self._asked(lambda book: documents.ledger(book.ledger(OWNER, identifier), book.state(OWNER, identifier)))

    def entries(self, identifier: str, start: int) -> list[Answer]:
        def every(book: Book) -> list[Answer]:
            found: list[Answer] = []
            begin = start
            while page := book.entries(OWNER, identifier, start=begin, limit=_ENTRIES):
                found += page
                begin = page[-1]["seq"] + 1
            return found

        return self._asked(every)

    def what_if(self, identifier: str, body: Body) -> Answer:
        asked = read(WhatIfAsked, body)
        return documents.what_if(self._asked(lambda book: book.what_if(OWNER, identifier, asked)))

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        asked = read(ReserveAsked, body)
        return documents.reservation(self._asked(lambda book: book.reserve(OWNER, ledgers, asked, key)))

    def reservation(self, identifier: str) -> Answer:
        return documents.reservation(self._asked(lambda book: book.reservation(OWNER, identifier)))

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        asked = read(CommitAsked, body)
        answer: Any = self._asked(lambda book: book.commit(OWNER, identifier, asked, key))
        return [Receipt.of_record(each) for each in answer["receipts"]]

    def cancel(self, identifier: str) -> Answer:
        return documents.reservation(self._asked(lambda book: book.cancel(OWNER, identifier)))

    def seal(self, identifier: str, key: str) -> None:
        self._asked(lambda book: book.seal(OWNER, identifier, key))

    def close_ledger(self, identifier: str, key: str) -> None:
        self._asked(lambda book: book.close(OWNER, identifier, key))

    def void(self, identifier: str, body: Body, key: str) -> None:
        asked = read(VoidAsked, body)
        self._asked(lambda book: book.void(OWNER, identifier, asked, key))

    def checkpoint(self) -> str:
        return self._asked(lambda book: book.checkpoint())

    def keys(self) -> Answer:
        return self._keyring.document()

    def bundle(self, identifier: str | None) -> Bundle:  # noqa: ARG002  the log is one: all of it shows each ledger
        def whole(book: Book) -> Bundle:
            note = book.checkpoint()
            size = checkpoints.verify(note, self._keyring.signing.name, self._keyring.keys).size
            with looking(self._database) as connection:
                found: list[EntryRow] = []
                while len(found) < size and (page := entries.page(connection, start=len(found), limit=_ENTRIES)):
                    found += page
            return Bundle(entries=[parse(row.leaf) for row in found[:size]], checkpoints=[note])

        return self._asked(whole)

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            self.closed = True
            self._database.close()

    def _keys(self) -> Keyring:
        return self._keyring

    def _reconciled(self) -> bool:
        """Whether the log goes on from the last head that came with a receipt: else the file is an older copy."""
        if self._head is None:
            return True
        try:
            head = checkpoints.verify(self._head, self._keyring.signing.name, self._keyring.keys)
        except NotVerified:
            return False
        with looking(self._database) as connection:
            there = entries.size(connection) >= head.size
            holds = there and Tree(StoredNodes(connection), head.size).root() == head.root
        if holds:  # it stays so: the log only grows
            self._head = None
        return holds

    def _asked(self, call: Callable[[Book], T]) -> T:
        if self.closed:
            raise Refused("the ledgers were closed; open the file again")
        try:
            return call(self._book)
        except BookError as error:
            raise Refused(_said(error)) from None
        except StoreFault as error:
            raise Unanswered(f"the ledgers cannot be used: {error}") from None


def _said(error: BookError) -> str:
    if isinstance(error, NotFound):
        return f"there is no such ledger, reservation or entry: {error}"
    if isinstance(error, KeyReused):
        return f"the idempotency key came with another request before: {error}"
    if isinstance(error, NotReconciled):
        return f"{error}; if the file is a copy from a backup, put the newest one in its place"
    return str(error)


def _origin(folder: Path) -> str:
    """The name of the log: the one that its keys have, or a new one."""
    path = folder / PUBLISHED
    if path.exists():
        return published_keys(parse(path.read_bytes()))[0].key.name
    return f"ledgers.local/{secrets.token_hex(8)}"
