"""A process that dies between any two steps never runs twice on one receipt, and what was committed stays spent."""

import json
import signal
import subprocess
import sys
import textwrap

import pytest

import epsilond
from epsilond.ledgers.client.errors import ReceiptUsed
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.receipts import Receipt
from tests.ledgers.client.places import book_of, opened

PROGRAM = """
    import json, os, signal, sys
    import epsilond
    from epsilond.ledgers.book.restore import CheckpointFile
    from epsilond.ledgers.client import runs
    from epsilond.ledgers.client.running import HeldRun

    def dies(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    {patch}
    books = epsilond.ledger(sys.argv[1])
    run = books.ledger("hospital").reserve("train", count=10, key="reservation")
    open(sys.argv[2], "w").write(run.id)
    receipt = run.commit(4)
    open(sys.argv[3], "ab").write(receipt.to_bytes() + b"\\n")  # the work
    dies()
"""
HEAD_OF_COMMIT = """
keep = CheckpointFile.keep
CheckpointFile.keep = lambda self, note: dies() if note.split()[1] == '3' else keep(self, note)
"""
BETWEEN = {
    "before the commit": ("HeldRun.commit = dies", 0, False),
    "before the head is kept": (HEAD_OF_COMMIT, 4, False),
    "between commit and begin": ("runs.RunNotes.begin = dies", 4, False),
    "while the note is written": ("json.dump = dies", 4, True),
    "after the note": ("runs._synced = dies", 4, True),
    "after the work": ("", 4, True),
}


def killed(folder, patch):
    program = textwrap.dedent(PROGRAM).format(patch=patch)
    arguments = [str(folder / name) for name in ("ledger.db", "id", "worked")]
    ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == -signal.SIGKILL, ran.stderr


@pytest.mark.parametrize("when", BETWEEN)
def test_killed(tmp_path, when):
    patch, committed, noted = BETWEEN[when]
    opened(tmp_path)[0].close()
    killed(tmp_path, patch)
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = books.ledger("hospital")
        (item,) = ledger.show().plan
        assert (item["committed"], item["reserved"]) == (committed, 10 - committed)
        notes = list((tmp_path / "ledger.db.runs").glob("*.json"))
        assert bool(notes) == noted
        worked = (tmp_path / "worked").exists()
        assert worked == (when == "after the work")
        for entry in ledger.entries():
            if entry.kind == "committed":  # the receipt that was on its way
                receipt = book_of(books).inclusion("local", entry.seq)
                assert books._runs.used(receipt) == noted
        run = books.run((tmp_path / "id").read_text())
        receipt = run.commit(1)  # a restart has a key of its own, and is debited anew
        assert receipt.entry["count"] == 1
        (item,) = ledger.show().plan
        assert item["committed"] == committed + 1


def test_a_restart_does_not_run_on_the_receipt_that_it_finds(tmp_path):
    opened(tmp_path)[0].close()
    killed(tmp_path, "")
    (line,) = (tmp_path / "worked").read_bytes().splitlines()
    with epsilond.ledger(tmp_path / "ledger.db") as books, pytest.raises(ReceiptUsed):
        books.begin(Receipt.of_bytes(line))


def test_of_many_that_get_one_receipt_one_begins(tmp_path):
    books, ledger = opened(tmp_path)
    with books, ledger.reserve("train", count=1) as run:
        receipt = run.commit(begin=False)
    (tmp_path / "receipt").write_bytes(receipt.to_bytes())
    program = textwrap.dedent("""
        import sys, pathlib
        from epsilond.ledgers.client.errors import ReceiptUsed
        from epsilond.ledgers.client.runs import RunNotes
        from epsilond.ledgers.log.receipts import Receipt
        receipt = Receipt.of_bytes(pathlib.Path(sys.argv[1]).read_bytes())
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            RunNotes(pathlib.Path(sys.argv[2])).begin([receipt])
            print("begins")
        except ReceiptUsed:
            print("refused")
    """)
    words = [sys.executable, "-c", program, str(tmp_path / "receipt"), str(tmp_path / "runs")]
    several = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for each in several:
        assert each.stdout.readline() == "ready\n"
    for each in several:
        each.stdin.write("\n")
        each.stdin.flush()
    said = [each.communicate()[0].strip() for each in several]
    assert sorted(said) == ["begins", "refused", "refused", "refused"]


def test_a_note_says_of_what_it_is(tmp_path):
    books, ledger = opened(tmp_path)
    with books, ledger.reserve("train", count=2) as run:
        run.commit()
    (note,) = (tmp_path / "ledger.db.runs").glob("*.json")
    told = json.loads(note.read_text())
    assert (told["seq"], told["reservation"], told["count"]) == (2, run.id, 2)
    assert RunNotes(tmp_path / "ledger.db.runs").head.read_text() == run.receipts[0].checkpoint
