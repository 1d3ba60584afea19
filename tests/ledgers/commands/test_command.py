"""The command line of ledgers, from open to verify, and what each refusal exits with."""

import json

import pytest
from typer.testing import CliRunner

from epsilond import connection
from epsilond.commands.exits import BAD_INPUT, NOT_CERTIFIED, UNANSWERED
from epsilond.commands.line import line
from epsilond.ledgers.commands.audit import DOES_NOT_HOLD, NOT_SHOWN

STEP = '{"kind":"subsampled","sampling":"poisson","rate":0.01,"mechanism":{"kind":"gaussian","noise_multiplier":1.0}}'
PLAN = f'train={{"kind":"repeated","times":1000,"mechanism":{STEP}}}'
SETTING = ["--unit", "record", "--relation", "add-or-remove-one", "--observer", "server"]
OPEN = ["open", "hospital", "--dataset", "images", *SETTING, "--epsilon", 3, "--delta", "1e-6", "--slot", "gdp"]
QUERY = '{"kind":"gaussian","noise_multiplier":10}'


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("EPSILOND_LEDGER", str(tmp_path / "ledger.db"))

    def run(*arguments, code=0, **options):
        answer = CliRunner().invoke(line, ["ledger", *map(str, arguments)], **options)
        assert answer.exit_code == code, answer.output
        return answer

    return run


@pytest.fixture
def opened(run):
    run(*OPEN, "--plan", PLAN, "--sealed")
    return run


def reserved(run, *arguments):
    return json.loads(run("reserve", "hospital", *arguments, "--json").stdout)["id"]


def shown(run):
    return json.loads(run("show", "hospital", "--json").stdout)


def test_calibrations_and_plans_within_a_ledger(run, monkeypatch):
    run(*OPEN, "--sealed")

    def asked(*arguments, code=0):
        answer = CliRunner().invoke(line, [*map(str, arguments)])
        assert answer.exit_code == code, answer.output
        return answer

    rounds = ["calibrate", "gaussian", "--given", "hospital", "--sampling", "full", "--rounds", 4]
    noise = json.loads(asked(*rounds, "--json").stdout)["parameters"]["noise_multiplier"]
    run(
        "reserve",
        "hospital",
        "--slot",
        "gdp",
        "--count",
        4,
        "--spec",
        f'{{"kind":"gaussian","noise_multiplier":{noise}}}',
    )
    assert "--epsilon is set by the ledger" in asked(*rounds, "--epsilon", 1, code=BAD_INPUT).stderr
    assert "does not go with --given" in asked(*rounds, "--sweep", "rounds=1,2", code=BAD_INPUT).stderr
    assert "--slot" in asked(*rounds, "--slot", "pure", code=BAD_INPUT).stderr
    assert "there is no such ledger" in asked(*rounds[:2], "--given", "nobody", code=BAD_INPUT).stderr
    asked(*rounds, code=NOT_CERTIFIED)
    told = asked("plan", "--given", "hospital", "--clients", 5, "--algorithms", "mb-sgd,ppsgd", "--json").stdout
    assert [entry["applies"] for entry in json.loads(told)["entries"]] == ["no", "no"]


def test_a_plan_is_amended(opened):
    run = opened
    run("commit", reserved(run, "train", "--count", 500))
    change = ["amend", "hospital", "--lower", "train=600", "--add", f"query={QUERY}"]
    assert "independent-of-outputs" in run(*change, code=NOT_CERTIFIED).stderr
    assert "must be NAME=COUNT" in run(*change[:2], "--lower", "train=few", code=BAD_INPUT).stderr
    run(*change, "--declare", "independent-of-outputs")
    assert shown(run)["conditional"] is True
    assert [(item["name"], item["planned"]) for item in shown(run)["plan"]] == [("train", 600), ("query", 1)]


def test_from_open_to_verify(opened, tmp_path):
    run = opened
    assert "1000 of 1000 left" in run("show", "hospital").stdout
    assert "hospital" in run("list").stdout
    asked_about = run("what-if", "hospital", "train", "--count", 10).stdout
    assert "It fits" in asked_about
    assert "held_by_others.gdp.mu_squared" in asked_about
    for answer in (asked_about, run("show", "hospital").stdout):
        assert "% used or held" in answer
    held = reserved(run, "train", "--count", 500)
    told = run("commit", held, "--count", 100, "--out", tmp_path / "receipt").stdout
    assert "good for one run" in told
    assert "cancelled" in run("cancel", held).stdout
    assert shown(run)["plan"][0] | {"spec": 0} == {
        "name": "train", "spec": 0, "planned": 1000, "reserved": 0, "committed": 100, "credit": 400,
    }  # fmt: skip
    run("commit", reserved(run, "--slot", "gdp", "--spec", QUERY))
    assert "committed" in run("entries", "hospital").stdout
    run("keys", "--out", tmp_path / "keys")
    run("export", "--out", tmp_path / "bundle")
    for what in ("bundle", "ledger.db"):
        assert run("verify", tmp_path / what, "--keys", tmp_path / "keys").stdout.endswith("Verified.\n")
    alone = run("verify", tmp_path / "receipt", "--keys", tmp_path / "keys", code=NOT_SHOWN)
    assert "Verified.\n" not in alone.stdout
    assert "something is not shown" in alone.stderr
    kept = ["--checkpoint", tmp_path / "receipt", "--json"]
    told = json.loads(run("verify", tmp_path / "bundle", "--keys", tmp_path / "keys", *kept).stdout)
    assert told["holds"]
    assert {each["outcome"] for each in told["findings"]} == {"verified"}
    whole = (tmp_path / "bundle").read_bytes()
    (tmp_path / "bundle").write_bytes(whole.replace(b'"count":100', b'"count":101'))
    failed = run("verify", tmp_path / "bundle", "--keys", tmp_path / "keys", code=DOES_NOT_HOLD)
    assert "not those of the checkpoint" in failed.stdout
    (tmp_path / "bundle").write_bytes(b"{}")
    assert "BUNDLE" in run("verify", tmp_path / "bundle", "--keys", tmp_path / "keys", code=BAD_INPUT).stderr


def test_sealed_voided_and_closed(run):
    run(*OPEN, "--plan", PLAN)
    assert "not-sealed" in run("reserve", "hospital", "train", code=NOT_CERTIFIED).stderr
    run("seal", "hospital")
    held = reserved(run, "train", "--count", 5)
    run("commit", held)
    assert (
        "no-output-observed" in run("void", "hospital", held, "--count", 5, "--declare", "yes", code=BAD_INPUT).stderr
    )
    run("void", "hospital", held, "--count", 5, "--declare", "no-output-observed")
    assert shown(run)["conditional"]
    run("close", "hospital")
    assert "ledger-closed" in run("reserve", "hospital", "train", code=NOT_CERTIFIED).stderr
    assert "block-already-has-ledger" in run(*OPEN, code=NOT_CERTIFIED).stderr


def test_a_refusal_says_what_would_fit(opened):
    loud = ["--slot", "gdp", "--spec", '{"kind":"gaussian","noise_multiplier":0.5}']
    refused = opened("reserve", "hospital", *loud, code=NOT_CERTIFIED)
    assert "ledger-exhausted" in refused.stderr
    assert "nearest smallest_noise_multiplier" in refused.stderr
    assert "It does not fit" in opened("what-if", "hospital", *loud).stdout


def test_the_same_key_gives_its_receipt_to_one_process_only(opened):
    held = reserved(opened, "train", "--count", 5, "--key", "mine")
    assert reserved(opened, "train", "--count", 5, "--key", "mine") == held
    opened("commit", held, "--key", "commit")
    assert "receipt-used" in opened("commit", held, "--key", "commit", code=NOT_CERTIFIED).stderr
    assert shown(opened)["plan"][0]["committed"] == 5


def test_specs_from_files_and_standard_input(opened, tmp_path):
    (tmp_path / "spec").write_text(QUERY)
    from_file = opened("what-if", "hospital", "--slot", "gdp", "--spec", tmp_path / "spec", "--json")
    from_input = opened("what-if", "hospital", "--slot", "gdp", "--spec", "-", "--json", input=QUERY)
    assert json.loads(from_file.stdout) == json.loads(from_input.stdout)
    assert json.loads(from_file.stdout)["charge"]["parts"]["mu_squared"].startswith("0.01")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "hospice"], "LEDGER: there is no such ledger"),
        (["commit", "nobody"], "no such"),
        (["reserve", "hospital", "train", "--slot", "pure", "--spec", QUERY], "--slot is not a slot of this ledger"),
        (["reserve", "hospital", "--slot", "gdp", "--spec", "{"], "is not JSON"),
        ([*OPEN[:-2], "--slot", 'gdp={"rho": 1}'], "is not a part of such a slot"),
        ([*OPEN[:-4], "--delta", "2"], "--delta"),
        (["list", "--at", "ftp://nowhere"], "must be a URL"),
    ],
)
def test_bad_input_names_the_option(opened, arguments, said):
    assert said in opened(*arguments, code=BAD_INPUT).stderr


def test_nothing_is_committed_where_the_receipt_has_no_place(opened, tmp_path):
    held = reserved(opened, "train", "--count", 5)
    opened("commit", held, "--out", tmp_path / "nowhere" / "receipt", code=BAD_INPUT)
    assert shown(opened)["plan"][0]["committed"] == 0


def test_a_service_that_is_not_there(run, monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.001)
    assert "does not answer" in run("list", "--at", "http://127.0.0.1:9", code=UNANSWERED).stderr
