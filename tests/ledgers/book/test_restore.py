"""What is kept of a log elsewhere, on both databases: when moves are refused, and what an operator may accept."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.errors import NotFound, NotReconciled
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import KEYS, TENANT, book, key, opening, query


def kept_at(path: Path) -> CheckpointFile:
    return CheckpointFile(path, lambda: KEYS)


def opened(found: Book, block: str) -> str:
    return found.open(TENANT, opening(block=block), key()).id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "head"


def test_an_empty_log_begins_with_a_file_and_one_with_entries_needs_it(database: Database, path: Path) -> None:
    kept, found = kept_at(path), book(database)
    assert kept.missing
    assert kept.trouble(found.root) is None
    kept.begin(found.root, found.checkpoint)
    assert path.read_text() == found.checkpoint()
    opened(found, "a")
    kept.keep(found.checkpoint())
    path.unlink()
    kept.begin(found.root, found.checkpoint)
    assert kept.missing  # the log has entries: nobody makes up what was kept
    assert kept.trouble(found.root) == "There is no checkpoint kept elsewhere, and the log has entries."
    refusing = book(database, reconciled=lambda: kept_at(path).agrees(found.root))
    ledger = found.ledgers(TENANT)[0].id
    for move in (
        lambda: opened(refusing, "b"),
        lambda: refusing.reserve(TENANT, [ledger], query(), key()),
        lambda: refusing.close(TENANT, ledger, key()),
        lambda: refusing.cancel(TENANT, "any"),
    ):
        with pytest.raises(NotReconciled):
            move()
    assert refusing.expire() == 0
    kept.accept(found.checkpoint())
    assert refusing.reserve(TENANT, [ledger], query(), key()).state == "reserved"


def test_a_smaller_head_never_takes_the_place_of_a_larger(database: Database, path: Path) -> None:
    kept, found = kept_at(path), book(database)
    notes = [found.checkpoint()]
    for block in "ab":
        opened(found, block)
        notes.append(found.checkpoint())
    for note in (notes[1], notes[2], notes[0], notes[1]):
        kept.keep(note)
    assert path.read_text() == notes[2]
    assert kept.agrees(found.root)


def test_entries_are_summed_up(database: Database) -> None:
    found = book(database)
    first, second = opened(found, "a"), opened(found, "b")
    held = found.reserve(TENANT, [first, second], query(count=2), key())
    found.cancel(TENANT, held.id)
    told = [found.written(TENANT, each) for each in (first, second)]
    for each in told:
        assert each["kinds"] == {"cancelled": 1, "opened": 1, "reserved": 1}
        assert each["count"] == 3
    assert [each["first"] for each in told] == [0, 1]
    assert sorted(each["last"] for each in told) == [4, 5]  # those of one move are in the order of the ledgers' ids
    with pytest.raises(NotFound):
        found.written("another", first)
