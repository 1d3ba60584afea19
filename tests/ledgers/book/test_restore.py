"""Heads that are known: when moves are refused, what replaces a head in a file, and what an operator may accept."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.continuity import ABSENT
from epsilond.ledgers.book.errors import HeadUnavailable, NotFound, NotReconciled
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.ledgers.requests import CommitAsked
from epsilond.ledgers.store.opening import open_store as opened_database
from epsilond.storage.transactions import Database
from tests.ledgers.book.books import KEYS, TENANT, book, key, opening, query


def file_at(path: Path) -> CheckpointFile:
    return CheckpointFile(path, lambda: KEYS)


def opened(found: Book, block: str) -> str:
    return found.open(TENANT, opening(block=block), key()).id


def keep(found: Book) -> None:
    found.continuity.keep(found.checkpoint(), found.root)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "head"


def test_an_empty_log_begins_with_a_file_and_one_with_entries_needs_it(database: Database, path: Path) -> None:
    found = book(database, file=file_at(path))
    found.continuity.begin(found.root, found.sign_as_it_is)
    assert path.read_text() == found.checkpoint()
    ledger = opened(found, "a")
    keep(found)
    path.unlink()
    found.continuity.begin(found.root, found.sign_as_it_is)
    assert not path.exists()  # the log has entries: nobody makes up what was kept
    for refused in (
        lambda: opened(found, "b"),
        lambda: found.reserve(TENANT, [ledger], query(), key()),
        lambda: found.close(TENANT, ledger, key()),
        found.checkpoint,
        lambda: found.inclusion(TENANT, 0),
        found.expire,
    ):
        with pytest.raises(NotReconciled, match=ABSENT):
            refused()
    assert found.continuity.trouble == ABSENT
    found.continuity.accept(found.sign_as_it_is())
    assert found.reserve(TENANT, [ledger], query(), key()).state == "reserved"
    assert found.continuity.trouble is None


def test_a_smaller_head_never_takes_the_place_of_a_larger(database: Database, path: Path) -> None:
    found = book(database, file=file_at(path))
    found.continuity.begin(found.root, found.sign_as_it_is)
    notes = [found.checkpoint()]
    for block in "ab":
        opened(found, block)
        notes.append(found.checkpoint())
    for note in (notes[1], notes[2], notes[0], notes[1]):
        found.continuity.keep(note, found.root)
    assert path.read_text() == notes[2]


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with a database, and a place for its copy."""
    return tmp_path / "here", tmp_path / "copy"


def spend(found: Book, ledger: str, runs: int) -> None:
    for _ in range(runs):
        found.commit(TENANT, found.reserve(TENANT, [ledger], query(), key()).id, CommitAsked(), key())


@pytest.mark.parametrize("kept_elsewhere", ["none", "file", "file that is restored too"])
def test_a_process_that_stays_up_refuses_moves_after_a_rollback(
    copied: tuple[Path, Path], path: Path, kept_elsewhere: str
) -> None:
    """A slot of ten runs pays for ten, though the database forgets seven of them."""
    here, copy = copied
    database = opened_database(here / "ledgers.sqlite")
    found = book(database, file=None if kept_elsewhere == "none" else file_at(path))
    found.continuity.begin(found.root, found.sign_as_it_is)
    ledger = opened(found, "a")
    spend(found, ledger, 2)
    keep(found)
    database.close()
    shutil.copytree(here, copy)
    old_head = path.read_text() if path.exists() else None
    database = opened_database(here / "ledgers.sqlite")
    found._database = database
    spend(found, ledger, 7)
    keep(found)
    reader = book(database)  # it writes nothing, and has signed a head that is lost
    reader.checkpoint()
    database.close()
    shutil.rmtree(here)
    shutil.copytree(copy, here)
    if kept_elsewhere == "file that is restored too" and old_head is not None:
        path.write_text(old_head)
    database = opened_database(here / "ledgers.sqlite")
    found._database = database
    with pytest.raises(NotReconciled, match="the log has fewer"):
        spend(found, ledger, 1)
    with pytest.raises(NotReconciled):
        found.checkpoint()
    reader._database = database
    with pytest.raises(NotReconciled):
        reader.checkpoint()
    with pytest.raises(NotReconciled):
        spend(reader, ledger, 1)
    other = book(database)  # a process that has seen nothing makes the log longer than it was
    spend(other, ledger, 8)
    with pytest.raises(NotReconciled, match="not the first of the log"):
        spend(found, ledger, 1)
    if kept_elsewhere == "file":
        with pytest.raises(NotReconciled):
            found.continuity.keep(other.checkpoint(), found.root)
    database.close()


def test_a_head_that_cannot_be_read_is_no_rollback(database: Database, path: Path) -> None:
    found = book(database, file=file_at(path))
    found.continuity.begin(found.root, found.sign_as_it_is)
    folder = path.parent
    folder.rename(folder.with_name("aside"))
    folder.write_text("no folder")
    with pytest.raises(HeadUnavailable):
        opened(found, "a")
    folder.unlink()
    folder.with_name("aside").rename(folder)
    assert opened(found, "a")
    assert found.continuity.trouble is None


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
