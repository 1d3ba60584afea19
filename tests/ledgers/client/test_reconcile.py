"""A file of ledgers that was restored refuses moves until its log is reconciled with what was kept elsewhere."""

import shutil

import pytest

import epsilond
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client.errors import Refused
from epsilond.ledgers.client.evidence import newest
from epsilond.ledgers.log.checkpoints import parse
from epsilond.ledgers.log.notes import parse as parse_note
from tests.ledgers.client.places import opened


def size(note):
    return parse(parse_note(note).text).size


def kept(folder):
    return (folder / "ledger.db.runs" / "head").read_text()


def test_every_move_is_kept(tmp_path):
    books = epsilond.ledger(tmp_path / "ledger.db")
    assert size(kept(tmp_path)) == 0  # an empty log is a beginning, and from then on a file that is gone shows
    with books:
        _, ledger = opened(tmp_path, sealed=False)
        moves = [
            ledger.seal,
            lambda: ledger.reserve("train", count=5, key="held"),
            lambda: books.run(ledger.reserve("train", count=5, key="held").id).commit(1),
            lambda: ledger.void(ledger.reserve("train", count=5, key="held"), 1, declared="no-output-observed"),
            lambda: ledger.reserve("train", count=5, key="held").cancel(),
            ledger.close,
        ]
        for count, move in enumerate(moves, start=1):
            assert size(kept(tmp_path)) == count
            move()
        assert kept(tmp_path) == books.checkpoint()
        assert size(kept(tmp_path)) == len(moves) + 1


@pytest.fixture
def restored(tmp_path):
    """A folder whose file is an older copy: a cancelled reservation is all that it lacks. Its newest head is `late`."""
    books, ledger = opened(tmp_path)
    with books:
        run = ledger.reserve("train", count=5)
        (tmp_path / "early").write_text(books.checkpoint())
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy")
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        books.run(run.id).cancel()
        (tmp_path / "late").write_text(books.checkpoint())
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy", tmp_path / "ledger.db")
    return tmp_path


def moved(books):
    return books.ledger("hospital").reserve("train", count=1)


def test_an_older_copy_is_refused_until_what_it_lacks_is_accounted_for(restored):
    with epsilond.ledger(restored / "ledger.db") as books:
        for refused in (
            lambda: moved(books),
            books.reconcile,
            lambda: books.reconcile(newest(restored / "late")),
        ):
            with pytest.raises(Refused):
                refused()
        with pytest.raises(
            Refused, match="has 3 entries, and the log has fewer"
        ):  # an older checkpoint is not an excuse
            books.reconcile(newest(restored / "early"))
        with pytest.raises(epsilond.InvalidInput):
            books.reconcile(declared="yes")
        assert books.ledger("hospital").show().plan[0]["reserved"] == 5
        told = books.reconcile(newest(restored / "late"), declared=ACCOUNTED_FOR)
        assert "has fewer" in told.accepted
        assert kept(restored) == told.checkpoint == books.checkpoint() or size(told.checkpoint) == 2
        moved(books)
    with epsilond.ledger(restored / "ledger.db") as books:
        assert "accepted" not in books.reconcile()
        with pytest.raises(Refused, match="not the first of the log"):  # it went on otherwise: two logs of one size
            books.reconcile(newest(restored / "late"))


@pytest.mark.parametrize("lost", ["file", "folder"])
def test_a_note_that_is_gone_is_a_trouble_and_one_kept_elsewhere_settles_it(tmp_path, lost):
    books, ledger = opened(tmp_path)
    with books:
        ledger.reserve("train", count=5)
        (tmp_path / "bundle").write_bytes(books.bundle().to_bytes())
    shutil.rmtree(tmp_path / "ledger.db.runs")
    if lost == "file":
        (tmp_path / "ledger.db.runs").mkdir()
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        with pytest.raises(Refused, match="no checkpoint kept elsewhere"):
            moved(books)
        with pytest.raises(Refused, match="no checkpoint kept elsewhere"):
            books.reconcile()
        assert "accepted" not in books.reconcile(newest(tmp_path / "bundle"))
        moved(books)


def test_a_checkpoint_of_another_log_settles_nothing(tmp_path):
    (tmp_path / "other").mkdir()
    other, _ = opened(tmp_path / "other")
    with other:
        note = other.checkpoint()
    books, _ = opened(tmp_path)
    with books, pytest.raises(Refused, match="not this log's"):
        books.reconcile(note)


def test_what_holds_no_checkpoint_is_bad_input(tmp_path):
    (tmp_path / "nothing").write_text("nothing")
    with pytest.raises(epsilond.InvalidInput, match="checkpoint"):
        newest(tmp_path / "nothing")


def test_a_checkpoint_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(epsilond.InvalidInput, match=r"cannot be read: .*absent"):
        newest(tmp_path / "absent")
