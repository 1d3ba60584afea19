# ruff: noqa: F811  (fixtures have the names of their parameters)
"""`epsilond ledger witness` and `verify --witness`: keys, refusals, and a witness that is killed and started again."""

import json
import re
import subprocess
import sys

import httpx

from epsilond.commands.exits import BAD_INPUT
from epsilond.ledgers.commands.audit import DOES_NOT_HOLD, NOT_SHOWN
from epsilond.ledgers.cosigning.submissions import Submission
from epsilond.ledgers.log import notes
from epsilond.ledgers.log.cosignatures import CosignerKey, CosigningKey
from tests.ledgers.commands.test_command import opened, run  # noqa: F401 (fixtures)
from tests.ledgers.log.keys import FIRST, ORIGIN, SECOND
from tests.ledgers.log.logs import REWRITTEN, consistency, note
from tests.ledgers.log.test_cosignatures import cosigned

NAME = "witness.example/w1"


def test_the_key_is_made_once_and_printed(run, tmp_path):
    made = run("witness", tmp_path / "w", "--name", NAME, "--make").stdout
    assert CosignerKey.of_vkey(made.strip()).name == NAME
    assert run("witness", tmp_path / "w", "--name", NAME, "--make").stdout == made
    assert "one name for ever" in run("witness", tmp_path / "w", "--name", "other", "--make", code=BAD_INPUT).stderr


def test_a_witness_of_no_log_is_rejected(run, tmp_path):
    for more, said in (
        ([], "at least one log"),
        (["--log", "x"], "--log is not"),
        (["--forget", ORIGIN], "no head of"),
    ):
        assert said in run("witness", tmp_path / "w", "--name", NAME, *more, code=BAD_INPUT).stderr
    (tmp_path / "file").touch()
    run("witness", tmp_path / "file", "--name", NAME, "--make", code=BAD_INPUT)


def started(folder):
    """A witness in a process of its own, its vkey and its URL."""
    words = [sys.executable, "-m", "epsilond", "ledger", "witness", folder, "--name", NAME, "--port", "0"]
    process = subprocess.Popen(
        [*words, "--log", FIRST.public.note_key], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    vkey = process.stdout.readline().strip()
    url = re.search(r"http://\S+", process.stderr.readline())[0]
    return process, vkey, url


def ended(process):
    process.wait()
    process.stdout.close()
    process.stderr.close()


def test_a_witness_that_is_killed_remembers_what_it_cosigned(run, tmp_path):
    process, vkey, url = started(tmp_path / "w")
    with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as client:
        answer = client.post(f"{url}/add-checkpoint", content=Submission(0, (), note(9)).to_bytes())
    assert answer.status_code == 200
    assert CosignerKey.of_vkey(vkey).verify(notes.parse(f"{notes.parse(note(9)).text}\n{answer.text}"))
    process.kill()
    ended(process)
    process, again, url = started(tmp_path / "w")
    assert again == vkey
    with httpx.Client(transport=httpx.HTTPTransport(retries=10)) as client:
        path = consistency(9, 23).path
        for body, status in (
            (Submission(0, (), note(23)), 409),
            (Submission(9, path, note(23, entries=REWRITTEN)), 422),
            (Submission(9, path, note(23)), 200),
        ):
            assert client.post(f"{url}/add-checkpoint", content=body.to_bytes()).status_code == status
    process.terminate()
    ended(process)
    assert run("witness", tmp_path / "w", "--name", NAME, "--forget", ORIGIN).stdout == notes.parse(note(23)).text


def test_verify_counts_cosignatures_with_its_exit_codes(opened, tmp_path):
    run, bundle, keys = opened, tmp_path / "bundle", tmp_path / "keys"
    run("export", "--out", bundle)
    run("keys", "--out", keys)
    witness, other = CosigningKey(NAME, SECOND.private), CosigningKey("witness.example/w2", FIRST.private)
    (head,) = json.loads(bundle.read_text())["checkpoints"]
    shown, false = tmp_path / "shown", tmp_path / "false"
    shown.write_text(cosigned(head, witness))
    parsed = notes.parse(head)
    line = other.cosign(parsed.text, 1_800_000_000)
    forged = notes.NoteSignature(NAME, witness.public.note_id, line.signature)
    false.write_text(str(notes.Note(parsed.text, (*parsed.signatures, forged))))
    common = ["verify", bundle, "--keys", keys]
    run(*common, "--checkpoint", shown, "--witness", witness.public.vkey)
    run(*common, "--witness", witness.public.vkey, code=NOT_SHOWN)
    two = ["--witness", witness.public.vkey, "--witness", other.public.vkey]
    assert NAME in run(*common, "--checkpoint", shown, *two, code=NOT_SHOWN).stdout
    run(*common, "--checkpoint", false, "--witness", witness.public.vkey, code=DOES_NOT_HOLD)
    assert "--witness is not a key" in run(*common, "--witness", "nonsense", code=BAD_INPUT).stderr
