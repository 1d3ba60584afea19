"""Answers about ledgers in a file, with the members of the answers of a service, and the names of its users."""

from __future__ import annotations

import time
from typing import Final

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book import answers
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.contradictions import cautions
from epsilond.ledgers.book.owning import collisions
from epsilond.ledgers.book.pending import pending_move
from epsilond.ledgers.client.place import Answer
from epsilond.ledgers.mathematics.entries import normalise_person
from epsilond.ledgers.store.records import LedgerRow, PendingRow, ReservationRow

OWNER: Final = "local"
"""Owner of all ledgers in a file, which belong to everyone who has the file."""
LONGEST_PERSON: Final = 64
"""Largest number of characters of a declared name; names of API keys have the same limit."""
_LEDGERS_PER_PAGE: Final = 100


def list_ledgers(book: Book) -> list[LedgerRow]:
    """Return all ledgers of a file, in the order in which they were opened."""
    rows: list[LedgerRow] = []
    last_id = None
    while True:
        page = book.ledgers(OWNER, limit=_LEDGERS_PER_PAGE, after=last_id)
        rows += page
        if len(page) < _LEDGERS_PER_PAGE:
            return rows
        last_id = page[-1].id


def ledger_answer(book: Book, identifier: str) -> answers.LedgerAnswer:
    """Return a ledger with its guarantee, and with warnings of other ledgers on the same people."""
    row, state = book.whole(OWNER, identifier)
    promise = answers.compute_promise(state, of_block=bool(row.block))
    return answers.answer(row, state, promise, collisions(book.colliding(row.id)))


def reservation_answer(book: Book, row: ReservationRow) -> Answer:
    """Return a reservation as a JSON object, with a warning if its run differed from the reserved mechanism."""
    answer: Answer = as_json(answers.reservation(row, warnings=cautions(book.contradicting_ledgers(row))))
    return answer


def move_answer(row: PendingRow) -> Answer:
    """Return as a JSON object a move that waits for a second person, or has ended."""
    answer: Answer = as_json(pending_move(row, time.time()))
    return answer


def pending_answer(row: LedgerRow | PendingRow) -> Answer | None:
    """Return a move that waits for a second person, or None if the ledger was changed at once."""
    return move_answer(row) if isinstance(row, PendingRow) else None


def read_person(name: str | None) -> str:
    """Return a declared name; empty if none is declared.

    Raises:
        InvalidInput: the name is blank, is too long, or cannot be printed.
    """
    if name is None:
        return ""
    is_blank = not normalise_person(name)
    if is_blank or len(name) > LONGEST_PERSON or not name.isprintable():
        allowed = f"1 to {LONGEST_PERSON} printable characters"
        raise InvalidInput.at("/by", "is empty or too long, or cannot be printed", allowed=allowed)
    return name


def require_person(name: str | None) -> str:
    """Return a declared name.

    Raises:
        InvalidInput: none is declared, or it is not valid.
    """
    person = read_person(name)
    if not person:
        raise InvalidInput.at("/by", "is needed: a file does not know its callers, so declare your name")
    return person
