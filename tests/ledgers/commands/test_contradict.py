# ruff: noqa: F811  (fixtures have the names of their parameters)
"""`epsilond ledger contradict` on the command line, what is shown since, and what the offline verifier says."""

import json

import pytest

import epsilond
from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED
from tests.ledgers.commands.test_command import opened, reserved, run, shown  # noqa: F401 (fixtures)

SEEN = {"premise": "fresh-draw", "message": "batches repeat", "remedy": "Use the loader.", "count": 3}
SENTENCE = "fresh-draw: batches repeat (3 times). Use the loader."


def plain(text):
    """The words without the lines and frames of a table."""
    return " ".join(text.replace("│", " ").split())


@pytest.fixture
def contradicted(opened, tmp_path):
    run = opened
    run("keys", "--out", tmp_path / "keys")
    held, other = (reserved(run, "train", "--count", 5) for _ in range(2))
    for each, name in ((held, "bad"), (other, "good")):
        run("commit", each, "--count", 2, "--out", tmp_path / name)
    run("contradict", "hospital", "--observation", json.dumps(SEEN), "--reservation", held)
    run("export", "--out", tmp_path / "bundle")
    return run


def test_it_is_shown_without_a_promise(contradicted):
    text = plain(contradicted("show", "hospital").stdout)
    assert SENTENCE in text
    assert "there is no ε" in text
    assert "Promised" not in text
    answer = shown(contradicted)
    assert (answer["state"], answer["observations"]) == ("contradicted", [SEEN])
    entries = plain(contradicted("entries", "hospital").stdout)
    assert "committed, contradicted" in entries
    assert "contradicted" in plain(contradicted("list").stdout)


def test_further_runs_are_refused_with_the_observations(contradicted):
    for arguments in (["reserve", "hospital", "train", "--count", 1], ["seal", "hospital"]):
        refused = contradicted(*arguments, code=NOT_CERTIFIED).stderr
        assert "run-differs" in refused
        assert SENTENCE in refused
    assert SENTENCE in plain(contradicted("what-if", "hospital", "train").stdout)


def test_what_is_no_observation_is_named(opened):
    for wrong, name in (({"premise": "noise"}, "message"), (SEEN | {"count": -1}, "count"), (SEEN | {"sum": 1}, "sum")):
        refused = opened("contradict", "hospital", "--observation", json.dumps(wrong), code=BAD_INPUT).stderr
        assert name in refused


def test_the_log_is_verified_and_shows_the_contradiction(contradicted, tmp_path):
    found = contradicted("verify", tmp_path / "bundle", "--keys", tmp_path / "keys").stdout
    assert found.endswith("Verified, and contradicted: there is no ε.\n")
    assert SENTENCE in plain(found)
    assert "all that it allows is within" not in plain(found)


def test_receipts_of_the_run_fail_and_others_hold(contradicted, tmp_path):
    log = ["--keys", tmp_path / "keys", "--log", tmp_path / "bundle"]
    bad = contradicted("verify", tmp_path / "bad", *log, code=1).stdout
    assert "is of a run that differs from its record" in plain(bad)
    good = plain(contradicted("verify", tmp_path / "good", *log).stdout)
    assert "is of a run that differs from its record" not in good


def test_a_flag_that_was_taken_back_in_the_file_is_found(contradicted, tmp_path):
    import sqlite3

    def verified(code=0):
        return plain(contradicted("verify", tmp_path / "ledger.db", "--keys", tmp_path / "keys", code=code).stdout)

    assert "are those that its entries give" in verified()
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("DROP TRIGGER ledgers_one_way")
        connection.execute("UPDATE ledgers SET version = version + 1, contradicted = 0")
    connection.close()
    assert "are not those that its entries give" in verified(1)


def test_the_page_has_the_reasons_in_the_place_of_the_figure(contradicted, tmp_path):
    contradicted("report", "hospital", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert SENTENCE in page
    assert "ε at most" not in page
    found = epsilond.verify(page, keys=tmp_path / "keys")
    assert found.outcome == "signed"
    assert "there is no ε" in found.headline[0]
    assert found.headline[1:] == (SENTENCE,)
