# ruff: noqa: F811  (fixtures have the names of their parameters)
"""`epsilond ledger keys` and `reconcile` on the command line: what each does, refuses, and exits with."""

import json
import shutil

from epsilond.commands.exits import BAD_INPUT
from tests.ledgers.commands.test_command import opened, reserved, run  # noqa: F401 (fixtures)


def told(run, *arguments):
    return json.loads(run("keys", *arguments, "--json").stdout)["keys"]


def test_keys_are_made_listed_rotated_and_retired(run, tmp_path):
    folder = tmp_path / "keys"
    (first,) = told(run, "make", folder, "--name", "ledgers.example.org")
    assert (first["name"], first["until"], first["private_key_here"]) == ("ledgers.example.org", None, True)
    assert "rotate it instead" in run("keys", "make", folder, code=BAD_INPUT).stderr
    old, new = told(run, "rotate", folder)
    assert (old["kid"], old["until"], new["name"]) == (first["kid"], new["from"], first["name"])
    assert (old["private_key_here"], new["private_key_here"]) == (False, True)
    assert "retired before" in run("keys", "retire", folder, old["kid"], code=BAD_INPUT).stderr
    assert told(run, "retire", folder, new["kid"])[-1]["until"] is not None
    assert "make another" in run("keys", "rotate", folder, code=BAD_INPUT).stderr
    assert len(told(run, "make", folder)) == 3
    shown = run("keys", "list", folder).stdout
    assert "signs from" in shown
    assert "has no keys" in run("keys", "list", tmp_path, code=BAD_INPUT).stderr
    assert "has no keys" in run("keys", "rotate", tmp_path, code=BAD_INPUT).stderr


def test_a_key_whose_id_looks_like_an_option_is_looked_up(run, tmp_path):
    told(run, "make", tmp_path / "keys")
    refusal = run("keys", "retire", tmp_path / "keys", "-QlZLHZT0KjaKcDb8I3tt9yCXpqFOZ4XSfR6UcHzWwk", code=BAD_INPUT)
    assert "is not an option" not in refusal.stderr
    assert "-QlZLHZT0" in refusal.stderr


def test_a_secret_is_written_apart(run, tmp_path):
    (made,) = told(run, "make", tmp_path / "keys", "--secret", tmp_path / "secret")
    assert not made["private_key_here"]
    assert b"PRIVATE KEY" in (tmp_path / "secret").read_bytes()
    assert len(told(run, "rotate", tmp_path / "keys", "--secret", tmp_path / "secret")) == 2


def test_what_was_signed_before_a_rotation_is_verified_after_it(opened, tmp_path):
    run = opened
    held = reserved(run, "train", "--count", 5)
    run("commit", held, "--count", 1, "--out", tmp_path / "old")
    run("keys", "--out", tmp_path / "before")
    run("keys", "rotate", tmp_path / "ledger.db.keys")
    run("commit", held, "--count", 1, "--out", tmp_path / "new")
    run("keys", "--out", tmp_path / "after")
    for receipt, keys, code in (("old", "before", 2), ("old", "after", 2), ("new", "after", 2), ("new", "before", 1)):
        run("verify", tmp_path / receipt, "--keys", tmp_path / keys, code=code)


def test_a_receipt_that_was_voided_later_is_told_by_the_log(opened, tmp_path):
    run, keys = opened, ["--keys", tmp_path / "keys"]
    run("keys", "--out", tmp_path / "keys")
    held = reserved(run, "train", "--count", 5)
    run("commit", held, "--out", tmp_path / "voided")
    run("commit", reserved(run, "train", "--count", 2), "--out", tmp_path / "good")
    assert "contradicted later is not shown" in " ".join(
        run("verify", tmp_path / "voided", *keys, code=2).stdout.split()
    )
    run("void", "hospital", held, "--count", 5, "--declare", "no-output-observed")
    run("export", "--out", tmp_path / "bundle")
    log = ["--log", tmp_path / "bundle"]
    assert run("verify", tmp_path / "good", *keys, *log).stdout.endswith("Verified.\n")
    assert "is void" in run("verify", tmp_path / "voided", *keys, *log, code=1).stdout
    run("verify", tmp_path / "bundle", *keys)
    assert "--log" in run("verify", tmp_path / "bundle", *keys, *log, code=BAD_INPUT).stderr


def test_a_restored_file_is_reconciled(opened, tmp_path):
    run = opened
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy")
    run("commit", reserved(run, "train", "--count", 5), "--out", tmp_path / "receipt")
    shutil.copy(tmp_path / "copy", tmp_path / "ledger.db")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    assert "ledger reconcile" in run("reserve", "hospital", "train", "--count", 1, code=BAD_INPUT).stderr
    kept = ["--checkpoint", tmp_path / "receipt"]
    for arguments in ([], kept):
        refused = run("reconcile", *arguments, code=BAD_INPUT).stderr
        assert "the log has fewer" in refused
        assert "missing-entries-are-accounted-for" in refused
    assert "differs from the declaration" in run("reconcile", *kept, "--declare", "yes", code=BAD_INPUT).stderr
    accepted = run("reconcile", *kept, "--declare", "missing-entries-are-accounted-for").stdout
    assert "Accepted as it is" in accepted
    run("commit", reserved(run, "train", "--count", 5))  # what was lost is committed anew
    assert "continues the kept log" in run("reconcile").stdout
    assert "no checkpoint" in run("reconcile", "--checkpoint", tmp_path / "copy", code=BAD_INPUT).stderr
