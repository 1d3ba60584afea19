"""The command line of a ledger with approval: a request, its list, its approval and its rejection."""

import json

import pytest
from typer.testing import CliRunner

from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED
from epsilond.commands.line import line

STEP = '{"kind":"gaussian","noise_multiplier":10}'
PLAN = f'train={{"kind":"repeated","times":100,"mechanism":{STEP}}}'
OPEN = [
    *("open", "hospital", "--dataset", "images", "--unit", "record", "--relation", "add-or-remove-one"),
    *("--observer", "server", "--epsilon", 8, "--delta", "1e-6", "--plan", PLAN, "--sealed"),
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("EPSILOND_LEDGER", str(tmp_path / "ledger.db"))

    def run(*arguments, code=0):
        answer = CliRunner().invoke(line, ["ledger", *map(str, arguments)])
        assert answer.exit_code == code, answer.output
        return answer

    return run


def body(answer):
    return json.loads(answer.stdout)


def test_a_move_is_requested_listed_and_approved(run):
    run(*OPEN, "--approval", "--as", "alice")
    assert body(run("show", "hospital", "--json"))["approval"] is True
    assert "approval" in run("show", "hospital").stdout
    assert "--as" in run("amend", "hospital", "--lower", "train=50", code=BAD_INPUT).stderr
    move = body(run("amend", "hospital", "--lower", "train=50", "--as", "alice", "--json"))
    assert move["state"] == "pending"
    listed = body(run("pending", "hospital", "--json"))["moves"]
    assert [each["id"] for each in listed] == [move["id"]]
    assert "alice" in run("pending", "hospital").stdout
    refused = run("approve", "hospital", move["id"], "--as", "alice", code=NOT_CERTIFIED).stderr
    assert "same-person" in refused
    assert "alice cannot approve" in refused
    assert "--as" in run("approve", "hospital", move["id"], code=BAD_INPUT).stderr
    assert "approved" in run("approve", "hospital", move["id"], "--as", "vera").stdout
    assert body(run("show", "hospital", "--json"))["plan"][0]["planned"] == 50


def test_a_move_is_rejected_and_approval_is_turned_on_and_off(run):
    run(*OPEN)
    run("amend", "hospital", "--approval", "--as", "alice")
    move = body(run("amend", "hospital", "--no-approval", "--as", "alice", "--json"))
    assert body(run("reject", "hospital", move["id"], "--as", "vera", "--json"))["state"] == "rejected"
    assert "move-ended" in run("approve", "hospital", move["id"], "--as", "vera", code=NOT_CERTIFIED).stderr
    again = body(run("amend", "hospital", "--no-approval", "--as", "alice", "--json"))
    run("approve", "hospital", again["id"], "--as", "vera")
    assert body(run("show", "hospital", "--json"))["approval"] is False


def test_a_void_waits(run):
    run(*OPEN, "--approval", "--as", "alice")
    held = body(run("reserve", "hospital", "train", "--count", 2, "--json"))["id"]
    run("commit", held)
    declared = ("--count", 1, "--declare", "no-output-observed", "--as", "alice")
    move = body(run("void", "hospital", held, *declared, "--json"))
    run("approve", "hospital", move["id"], "--as", "vera")
    assert body(run("show", "hospital", "--json"))["plan"][0]["committed"] == 1
