"""Answers about ledgers in a file, its keys, and the names of its users. The members are as in answers of a service."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book import answers
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.continuity import KEPT, discontinuity
from epsilond.ledgers.book.contradictions import cautions
from epsilond.ledgers.book.errors import BookError, KeyReused, NotFound, NotReconciled
from epsilond.ledgers.book.owning import collisions
from epsilond.ledgers.book.pending import pending_move
from epsilond.ledgers.book.promises.ledger import compute_promise
from epsilond.ledgers.book.restore import CheckpointFile, UnreadableCheckpoint, read_checkpoint
from epsilond.ledgers.client.place import Answer
from epsilond.ledgers.log.canonical import parse
from epsilond.ledgers.log.key_files import open_keyring, origin_of
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.mathematics.checks.people import normalise_person
from epsilond.ledgers.requests import Order
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.records import EntryRow, LedgerRow, PendingRow, ReservationRow
from epsilond.ledgers.store.transactions import looking
from epsilond.storage.transactions import Database

OWNER: Final = "local"
"""Owner of all ledgers in a file, which belong to everyone who has the file."""
LONGEST_PERSON: Final = 64
"""Largest number of characters of a declared name; names of API keys have the same limit."""
# Numbers of ledgers and of log entries that are read from the database at once.
_LEDGERS_PER_PAGE: Final = 100
_ENTRIES_PER_PAGE: Final = 1000


def list_ledgers(book: Book) -> list[LedgerRow]:
    """Return all ledgers of a file, in the order in which they were opened.

    Args:
        book: the ledgers in the database of the file.

    Returns:
        The rows of the ledgers.
    """
    rows: list[LedgerRow] = []
    last_id = None
    while True:
        page = book.ledgers(OWNER, limit=_LEDGERS_PER_PAGE, after=last_id)
        rows += page
        if len(page) < _LEDGERS_PER_PAGE:  # only the last page is not full
            return rows
        last_id = page[-1].id


def read_entries(book: Book, identifier: str, start: int, order: Order, limit: int | None) -> list[Answer]:
    """Read log entries of a ledger, page after page.

    The log is common to all ledgers of the file, so the numbers of a ledger's entries have gaps.

    Args:
        book: the ledgers of the file.
        identifier: id of the ledger.
        start: index in the log from which on entries are returned, in both orders.
        order: whether the oldest or the newest come first.
        limit: largest number of entries; None means all.

    Returns:
        The entries as JSON objects.
    """
    # A page that starts at None begins with the newest entry.
    step = 1 if order == "oldest" else -1
    page_start = start if order == "oldest" else None
    result: list[Answer] = []
    while limit is None or len(result) < limit:
        page = book.entries(OWNER, identifier, start=page_start, limit=_ENTRIES_PER_PAGE, order=order)
        result += [entry for entry in page if entry["seq"] >= start]
        if len(page) < _ENTRIES_PER_PAGE:  # only the last page is not full
            break
        last_entry = page[-1]
        page_start = last_entry["seq"] + step
    return result[:limit]


def read_log(database: Database, size: int) -> list[JsonObject]:
    """Read the first entries of the whole log of a file, page after page.

    Args:
        database: the database of the file.
        size: number of entries to read.

    Returns:
        The entries as JSON objects, in the order of the log; fewer than `size` if the database has fewer.
    """
    rows: list[EntryRow] = []
    with looking(database) as connection:
        while len(rows) < size:
            page = entries.page(connection, start=len(rows), limit=_ENTRIES_PER_PAGE)
            if not page:
                break
            rows += page
    return [parse(row.leaf) for row in rows[:size]]


def ledger_answer(book: Book, identifier: str) -> answers.LedgerAnswer:
    """Return the answer about a ledger in a file, in the same form as that of the service.

    Args:
        book: the ledgers of the file.
        identifier: id of the ledger.

    Returns:
        The answer, with the ledger's balances and guarantee. A warning names other ledgers of the same people.

    Raises:
        NotFound: the file has no such ledger.
    """
    row, state = book.row_and_state(OWNER, identifier)
    promise = compute_promise(state, of_block=bool(row.block))
    return answers.answer(row, state, promise, collisions(book.colliding(row.id)))


def reservation_answer(book: Book, row: ReservationRow) -> Answer:
    """Return a reservation in a file of ledgers as a JSON object.

    Args:
        book: the ledgers of the file.
        row: the reservation in the database.

    Returns:
        The state, the numbers of runs and the charge, as members. There is a warning if a run was observed to differ
        from the reserved mechanism.
    """
    warnings = cautions(book.contradicting_ledgers(row))
    answer: Answer = as_json(answers.reservation(row, warnings=warnings))
    return answer


def move_answer(row: PendingRow) -> Answer:
    """Return a change of a ledger that waits for a second person, or has ended, as a JSON object.

    Args:
        row: the change in the database. It is shown as expired from its time of expiry on.

    Returns:
        Kind, state, body, people and times of the change, as members.
    """
    answer: Answer = as_json(pending_move(row, time.time()))
    return answer


def pending_answer(row: LedgerRow | PendingRow) -> Answer | None:
    """Return the answer to a request that may need a second person.

    Args:
        row: the changed ledger, or the change that waits.

    Returns:
        The pending change as a JSON object; None if the ledger was changed at once, without a second person.
    """
    if not isinstance(row, PendingRow):
        return None
    return move_answer(row)


def read_person(name: str | None) -> str:
    """Return the name that the user of a file declares, after checking it.

    Args:
        name: name of a person as the user wrote it; None if the user declared no name.

    Returns:
        The name unchanged; an empty text if no name is declared.

    Raises:
        InvalidInput: the name is blank, is longer than `LONGEST_PERSON`, or has characters that cannot be printed.
    """
    if name is None:
        return ""
    has_visible_characters = bool(normalise_person(name))
    if not has_visible_characters or len(name) > LONGEST_PERSON or not name.isprintable():
        allowed = f"1 to {LONGEST_PERSON} printable characters"
        raise InvalidInput.at("/by", "is empty or too long, or cannot be printed", allowed=allowed)
    return name


def require_person(name: str | None) -> str:
    """Return the name that the user of a file declares, after checking that there is one.

    A service knows its callers by their API keys. A file does not, so its users must declare who requests or approves a
    change.

    Args:
        name: name of a person as the user wrote it; None if the user declared no name.

    Returns:
        The name unchanged.

    Raises:
        InvalidInput: no name is declared, or the name is not valid; see `read_person`.
    """
    person = read_person(name)
    if not person:
        raise InvalidInput.at("/by", "is needed: a file does not know its callers, so declare your name")
    return person


def refusal_message(error: BookError) -> str:
    """Return the message for users of a file about an error of the ledgers in its database.

    Args:
        error: the error. If something does not exist or a key was used twice, its own message is just an id or a key.

    Returns:
        The message.
    """
    if isinstance(error, NotFound):
        return f"there is no such ledger, reservation or entry: {error}"
    if isinstance(error, KeyReused):
        return f"the idempotency key came with another request before: {error}"
    if isinstance(error, NotReconciled):
        return f"{error} If the file is a copy from a backup, put the newest one in its place, or see ledger reconcile."
    return str(error)


def open_file_keys(folder: Path) -> SigningKeys:
    """Open the signing keys in a folder. If there are none, make a key for a log with a new random name.

    The keys sign the log of a file of ledgers. The name of the log is `ledgers.local/` and 16 hexadecimal digits.

    Args:
        folder: folder of the keys.

    Returns:
        The keys of the log, of which the last one signs.

    Raises:
        KeysUnusable: the keys cannot sign.
        OSError: the folder cannot be read or written.
    """
    new_name = f"ledgers.local/{secrets.token_hex(8)}"
    origin = origin_of(folder) or new_name
    return open_keyring(folder, origin, datetime.now(UTC))


def find_log_trouble(book: Book, head_file: CheckpointFile, keyring: SigningKeys, checkpoint: str | None) -> str | None:
    """Compare the log of a file with older heads, its size and Merkle root at earlier times.

    These are the given checkpoint, and the head in the file next to the ledgers. If that file is missing, the log is
    compared with the checkpoint only.

    Args:
        book: the ledgers of the file.
        head_file: file with the newest head, next to the ledgers.
        keyring: keys of the log.
        checkpoint: signed note of an older head; None if the caller has none.

    Returns:
        A sentence about the difference; None if the log continues all older heads.
    """
    if checkpoint is not None:
        trouble = _find_discontinuity(book, keyring, checkpoint)
        if trouble is not None or head_file.missing:
            return trouble
    with suppress(NotReconciled):  # the comparison stores its result in `trouble`
        book.require_continued()
    return book.continuity.trouble


def _find_discontinuity(book: Book, keyring: SigningKeys, checkpoint: str) -> str | None:
    """Compare the log of a file with a signed head, its size and Merkle root at an earlier time.

    Args:
        book: the ledgers of the file.
        keyring: keys of the log, one of which must have signed the head.
        checkpoint: signed note of the head.

    Returns:
        A sentence about the difference, or about a note that is not a valid head; None if the log continues the head.
    """
    try:
        head = read_checkpoint(checkpoint, keyring)
    except UnreadableCheckpoint as error:
        return str(error)
    return discontinuity(head, book.root, KEPT)
