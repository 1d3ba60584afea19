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
    import json, os, signal, sys, traceback
    import epsilond
    from epsilond.ledgers.book.continuity import Continuity
    from epsilond.ledgers.client import local, runs  # what a ledger in a file imports, before a process is forked
    from epsilond.ledgers.client.running import HeldRun

    def dies(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    def commits(folder):
        books = epsilond.ledger(os.path.join(folder, "ledger.db"))
        run = books.ledger("hospital").reserve("train", count=10, key="reservation")
        with open(os.path.join(folder, "id"), "w") as kept:
            kept.write(run.id)
        receipt = run.commit(4)
        with open(os.path.join(folder, "worked"), "ab") as work:
            work.write(receipt.to_bytes() + b"\\n")
        dies()

    for patch, folder in json.loads(sys.argv[1]):
        child = os.fork()
        if child == 0:
            try:
                exec(patch)
                commits(folder)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(1)  # it should have died by now
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
HEAD_OF_COMMIT = """
keep = Continuity.keep
Continuity.keep = lambda self, note, root: dies() if note.split()[1] == '3' else keep(self, note, root)
"""
HALF_A_NOTE = """
create = runs.create_file

def create_half(*arguments):
    os.fdopen = dies  # the file is there, and is empty
    create(*arguments)

runs.create_file = create_half
"""
BETWEEN = {
    "before the commit": ("HeldRun.commit = dies", 0, False),
    "before the head is kept": (HEAD_OF_COMMIT, 4, False),
    "between commit and begin": ("runs.RunNotes.begin = dies", 4, False),
    "while the note is written": (HALF_A_NOTE, 4, True),
    "after the note": ("runs._flush_folder = dies", 4, True),
    "after the work": ("", 4, True),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Let a process die at each place, over a ledger of its own; return the folder of each ledger.

    One program forks a process for each place, so that the library is imported once.
    """
    made = {when: tmp_path_factory.mktemp("killed") for when in BETWEEN}
    for folder in made.values():
        opened(folder)[0].close()
    deaths = json.dumps([(BETWEEN[when][0], str(folder)) for when, folder in made.items()])
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), deaths]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [int(code) for code in ran.stdout.split()] == [-signal.SIGKILL] * len(made), ran.stderr
    return made


@pytest.mark.parametrize("when", BETWEEN)
def test_killed(folders, when):
    folder, (_, committed, noted) = folders[when], BETWEEN[when]
    with epsilond.ledger(folder / "ledger.db") as books:
        ledger = books.ledger("hospital")
        (item,) = ledger.show().plan
        assert (item["committed"], item["reserved"]) == (committed, 10 - committed)
        notes = list((folder / "ledger.db.runs").glob("*.json"))
        assert bool(notes) == noted
        worked = (folder / "worked").exists()
        assert worked == (when == "after the work")
        for entry in ledger.entries():
            if entry.kind == "committed":  # the receipt that was on its way
                receipt = book_of(books).inclusion("local", entry.seq)
                assert books._runs._path(receipt).exists() == noted
        run = books.run((folder / "id").read_text())
        receipt = run.commit(1)  # a restart has a key of its own, and is debited anew
        assert receipt.entry["count"] == 1
        (item,) = ledger.show().plan
        assert item["committed"] == committed + 1


def test_a_restart_does_not_run_on_the_receipt_that_it_finds(folders):
    folder = folders["after the work"]
    (line,) = (folder / "worked").read_bytes().splitlines()
    with epsilond.ledger(folder / "ledger.db") as books, pytest.raises(ReceiptUsed):
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
