"""Every endpoint has a command, and each command answers by table and JSON, names its options and exits as it says."""

import json
import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import epsilond
from epsilond.accountants.theorems import THEOREMS
from epsilond.app.catalogue import Algorithm
from epsilond.app.document import document
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.app.theorem_detail import TheoremDetail
from epsilond.app.workers.work import render
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.commands.exits import MEANINGS
from epsilond.commands.line import line
from epsilond.ledgers.log.bundles import Bundle
from epsilond.questions.verification import Verification
from epsilond.reading import read
from epsilond.witness.reports import page as report_page
from epsilond.witness.reports.record import LARGEST_PAGE, open_page, seal_page

GAUSSIAN = next(dict(each.example) for each in CALIBRATORS if each.name == "gaussian")
SPEC = '{"kind": "gaussian", "noise_multiplier": 2.0}'
SETTING = ["--relation", "replace-one", "--unit", "record", "--observer", "server"]
ASKED = ["account", SPEC, *SETTING]
COMMANDS = {
    r"/v1/calibrations/(?P<name>[\w-]+)": ["calibrate", "{name}"],
    r"/v1/calibrations/\{algorithm\}/sweeps": ["calibrate", "mb-sgd"],
    r"/v1/risk-bounds/(?P<name>[\w-]+)": ["risk-bound", "{name}"],
    r"/v1/algorithms": ["algorithms"],
    r"/v1/accounts": ["account"],
    r"/v1/theorems(/\{id\})?": ["theorems"],
    r"/v1/theorems/\{id\}/evaluations": ["evaluate"],
    r"/v1/reports": ["report"],
    r"/v1/plans(/.*)?": ["plan"],
    r"/v1/simulations(/.*)?": ["simulate"],
    r"/v1/jobs(/.*)?": ["jobs"],
    r"/v1/api-keys(/.*)?": ["keys"],
    r"/v1/(ledgers|reservations|log|keys)(/.*)?": ["ledger"],
    r"/(healthz|readyz|metrics|openapi\.json|docs.*|problems.*)?": ["serve"],
}
"""What asks the same as an endpoint: simulations are run by `simulate`, what a service says of itself by `serve`."""


def run(*arguments, **options):
    return CliRunner().invoke(line, list(map(str, arguments)), **options)


def paths():
    return sorted(document(create_app(settings=Settings(store_path=":memory:")))["paths"])


def test_every_route_has_a_command():
    helped = {}
    for path in paths():
        found = [(re.fullmatch(pattern, path), words) for pattern, words in COMMANDS.items()]
        (matched, words) = next(((match, words) for match, words in found if match), (None, None))
        assert matched is not None, path
        command = tuple(word.format(**matched.groupdict()) for word in words)
        if command not in helped:
            helped[command] = run(*command, "--help").exit_code
        assert helped[command] == 0, path


def every_command(words, group):
    """Yield each command below a group, with its words."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*words, name), command
        if hasattr(command, "list_commands"):
            yield from every_command((*words, name), command)


def test_help_ends_before_the_arguments_of_the_function():
    commands = dict(every_command((), get_command(line)))
    with_arguments = [words for words, command in commands.items() if "Args:" in (command.callback.__doc__ or "")]
    assert ("ledger", "open") in with_arguments
    for words in with_arguments:
        assert not re.search(r"Args:|\f|\n$", commands[words].help or ""), words
        assert "Args:" not in run(*words, "--help").output, words


def test_the_exit_codes_are_in_the_help_and_in_the_documents():
    shown = " ".join(run("--help", env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"}).output.split())
    page = (Path(__file__).parents[2] / "docs/command-line.md").read_text(encoding="utf-8").replace("`", "")
    for code, meaning in MEANINGS.items():
        assert f"{code} {meaning}" in shown
        assert f"| {code} | {meaning} |" in page


def test_an_account_is_the_body_of_the_service():
    example = EXAMPLES["sampled-gaussian"]
    wanted = render(answer(read(AccountProblem, example))) + b"\n"
    claim = ["--claim-epsilon", "2.2", "--claim-delta", "1e-6"]
    setting = [word for name in ("relation", "unit", "observer") for word in (f"--{name}", example[name])]
    options = [*setting, "--delta", "1e-6", *claim, "--json"]
    assert run("account", json.dumps(example["spec"]), *options).stdout_bytes == wanted
    assert run("account", "-", *options, input=json.dumps(example["spec"])).stdout_bytes == wanted
    assert run("account", "--spec", json.dumps(example["spec"]), *options).stdout_bytes == wanted
    assert run("account", "--request", "-", "--json", input=json.dumps(example)).stdout_bytes == wanted


@pytest.mark.parametrize(
    ("options", "query"),
    [
        (["--epsilon", 1], {"epsilon": 1.0}),
        (["--delta", 1e-5], {"delta": 1e-5}),
        (["--log10-delta", -5, "--log10-delta", -300], {"log10_deltas": [-5.0, -300.0]}),
        (["--epsilon", 0, "--epsilon", 2], {"epsilons": [0.0, 2.0]}),
        (
            ["--delta", 1e-5, "--false-positive-rate", 0.1, "--prior", 0.5, "--prior", 0.1],
            {"delta": 1e-5, "false_positive_rates": [0.1], "priors": [0.5, 0.1]},
        ),
        (["--order", 2, "--signed-epsilon", -0.5], {"orders": [2.0], "signed_epsilons": [-0.5]}),
    ],
)
def test_points_of_an_account(options, query, tmp_path):
    (tmp_path / "spec.json").write_text(SPEC)
    given = run("account", tmp_path / "spec.json", *SETTING, *options, "--json")
    body = {"spec": json.loads(SPEC), "relation": "replace-one", "query": query, "unit": "record", "observer": "server"}
    assert given.stdout_bytes == render(answer(read(AccountProblem, body))) + b"\n"
    table = run(*ASKED, *options)
    assert table.exit_code == 0
    for part in ("Guaranteed", "Meaning", "advantage", "balle-wang-2018.8", "against server"):
        assert part in table.stdout


@pytest.mark.parametrize(("epsilon", "verdict"), [(9.0, "yes"), (1.0, "no")])
def test_a_claim_is_judged(epsilon, verdict):
    shown = run(*ASKED, "--delta", "1e-5", "--claim-epsilon", epsilon, "--claim-delta", "1e-5").stdout
    assert re.search(rf"^holds +{verdict} *$", shown, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["account", SPEC, "--delta", "1e-5"], "--relation is required"),
        (["account", SPEC, *SETTING[:4], "--delta", "1e-5"], "--observer is required (allowed: server: The server"),
        (["account", SPEC, *SETTING[2:], "--delta", "1e-5"], "--relation is required (allowed: replace-one: One unit"),
        ([*ASKED, "--delta", "2"], "--delta is out of range (allowed: > 0 and < 1)"),
        ([*ASKED, "--delta", "0.1", "--delta", "2"], "--delta at 1 is out of range"),
        ([*ASKED], "--epsilon, --delta or --log10-delta"),
        ([*ASKED, "--epsilon", "1", "--delta", "0.1"], "--epsilon, --delta or --log10-delta"),
        ([*ASKED, "--delta", "0.1", "--claim-epsilon", "1"], "--claim-delta"),
        ([*ASKED, "--delta", "0.1", "--claim-delta", "0.1"], "--claim-epsilon is required"),
        (["account", "{", *SETTING], "SPEC is not JSON"),
        (["account", "/no/such/file"], "SPEC cannot be read"),
        ([*ASKED, "--spec", SPEC, "--delta", "0.1"], "SPEC is given twice"),
        (["account", json.dumps(EXAMPLES["several-deltas"])], "SPEC is a request and no spec: use --request FILE"),
        (["account", '{"kind": "gausian"}', *SETTING, "--delta", "0.1"], "SPEC at kind"),
        (["report", "calibration", "gaussian", "--request", '{"epsilon": -1}'], "the request at"),
        (["report", "calibration", "gausian", "--request", "{}"], "there is no such algorithm"),
        (["report", "account", "--request", "{}", "--out", "/no/such/folder/x.html"], "--out is in a folder"),
        (
            ["report", "account", "--request", json.dumps(EXAMPLES["several-deltas"]), "--date", "soon"],
            "--date is not a date",
        ),
        (
            ["report", "account", "--request", json.dumps(EXAMPLES["several-deltas"]), "--out", "/proc"],
            "--out cannot be written",
        ),
        (["verify", "/no/such/file"], "REPORT cannot be read"),
        (["algorithms", "mb-sdg"], "did you mean mb-sgd"),
        (["theorems", "lowy.2.11", "--json"], "did you mean"),
    ],
)
def test_bad_input_exits_with_2_and_names_the_option(arguments, said):
    shown = run(*arguments)
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert shown.stdout == ""


def test_a_request_and_a_spec_in_each_others_place_are_named(tmp_path):
    (tmp_path / "request.json").write_text(json.dumps(EXAMPLES["several-deltas"]))
    (tmp_path / "spec.json").write_text(SPEC)
    said = run("account", tmp_path / "request.json").stderr
    assert f"SPEC is a request and no spec: use --request {tmp_path / 'request.json'}" in said
    said = run("account", "--request", tmp_path / "spec.json", "--relation", "replace-one", "--delta", "0.1").stderr
    assert "the request holds a spec and no request: give it as SPEC" in said


def test_an_account_that_no_theorem_covers_exits_with_3():
    shuffled = {"kind": "shuffled", "clients": 10, "mechanism": json.loads(SPEC)}
    asked = ["--relation", "zero-out-one", "--unit", "record", "--observer", "final-model", "--delta", "1e-5"]
    shown = run("account", json.dumps(shuffled), *asked)
    assert shown.exit_code == 3
    assert "not certified" in shown.stderr


def test_lists_are_those_of_the_service_without_links_and_schemas():
    listed = json.loads(run("algorithms", "--json").stdout)["algorithms"]
    for calibrator, shown in zip(CALIBRATORS, listed, strict=True):
        wanted = json.loads(render(Algorithm.of(calibrator)))
        del wanted["links"]
        assert shown == wanted
    by_name = {each["name"]: each for each in listed}
    assert json.loads(run("algorithms", "gaussian", "--json").stdout) == by_name["gaussian"]
    assert [each["id"] for each in json.loads(run("theorems", "--json").stdout)["theorems"]] == [t.id for t in THEOREMS]
    for theorem in THEOREMS[::20]:
        wanted = json.loads(render(TheoremDetail.of(theorem)))
        assert json.loads(run("theorems", theorem.id, "--json").stdout) == {
            name: item for name, item in wanted.items() if name not in ("links", "inputs_schema", "outputs_schema")
        }


def test_algorithms_are_listed_and_shown():
    shown = run("algorithms").stdout
    for calibrator in CALIBRATORS:
        assert calibrator.name in shown
    one = run("algorithms", "gaussian").stdout
    assert all(name in one for name in GAUSSIAN)


def test_a_report_is_written_and_verified(tmp_path):
    file = tmp_path / "report.html"
    asked = ["report", "calibration", "gaussian", "--request", json.dumps(GAUSSIAN)]
    assert run(*asked, "--out", file, "--date", "2026-01-31").stdout.strip() == f"report: {file}"
    page = file.read_text(encoding="utf-8")
    assert page == epsilond.report("calibration", "gaussian", request=GAUSSIAN, date="2026-01-31")
    assert run(*asked, "--out", "-", "--date", "2026-01-31").stdout == page
    assert open_page(run(*asked, "--out", "-", "--date", "none").stdout)["date"] == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", open_page(run(*asked, "--out", "-").stdout)["date"])
    shown = run("verify", file)
    assert shown.exit_code == 0
    noise = open_page(page)["answer"]["parameters"]["noise_multiplier"]
    for said in ("exactly", f"{noise}", "0.9999998", "clipping norm", "a hash is not a signature"):
        assert said in shown.stdout, said
    body = json.loads(run("verify", file, "--json").stdout)
    assert (body["agrees"], body["outcome"], body["hash"]) == (True, "exactly", open_page(page)["hash"])


def test_an_account_is_reported_from_standard_input():
    shown = run("report", "account", "--request", "-", "--out", "-", input=json.dumps(EXAMPLES["several-deltas"]))
    assert open_page(shown.stdout)["kind"] == "account"


@pytest.mark.parametrize(
    ("change", "code", "outcome"),
    [
        (lambda page: page.replace("is protected", "is not protected", 1), 4, "broken"),
        (lambda page: page.replace('"noise_multiplier":', '"noise_multiplier":1', 1), 4, "broken"),
        (lambda page: page[:5000], 4, "broken"),
        (lambda _: "", 4, "broken"),
    ],
)
def test_a_broken_report_exits_with_4(change, code, outcome, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(change(epsilond.report("calibration", "gaussian", request=GAUSSIAN)), encoding="utf-8")
    shown = run("verify", file, "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["outcome"]) == (code, outcome)


def test_an_engine_that_does_not_agree_exits_with_5(tmp_path, monkeypatch):
    file = tmp_path / "report.html"
    file.write_text(epsilond.report("calibration", "gaussian", request=GAUSSIAN), encoding="utf-8")
    found = Verification(outcome="contradicts", reason="x", differences=("/answer/parameters/rounds",))
    monkeypatch.setattr("epsilond.questions.report.verify", lambda _, **_given: found)
    shown = run("verify", file)
    assert shown.exit_code == 5
    assert "/answer/parameters/rounds" in shown.stdout


def test_another_engines_report_exits_with_6_and_shows_todays_figures(tmp_path):
    page = epsilond.report("calibration", "gaussian", request=GAUSSIAN)
    record = {name: item for name, item in open_page(page).items() if name not in ("hash", "page")}
    record["engine_version"] = record["answer"]["engine_version"] = "0.0.9"
    file = tmp_path / "report.html"
    file.write_text(seal_page(record, report_page.render), encoding="utf-8")
    shown = run("verify", file)
    assert shown.exit_code == 6
    assert "0.9999998" in shown.stdout
    body = json.loads(run("verify", file, "--json").stdout)
    assert (body["agrees"], body["outcome"], body["report_engine"]) == (False, "another-engine", "0.0.9")
    file.write_text(
        seal_page(record, lambda *given: report_page.render(*given).replace("0.9999998", "0.0000001")), encoding="utf-8"
    )
    forged = run("verify", file)
    assert forged.exit_code == 4
    assert "0.0000001" not in forged.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lambda: run("calibrate", "gaussian", "--request", "-", "--json", input=json.dumps(GAUSSIAN)).stdout,
         "REPORT is the answer of a calibration as JSON"),
        (lambda: run(*ASKED, "--delta", "1e-5", "--json").stdout, "REPORT is the answer of an account as JSON"),
        (lambda: SPEC, "REPORT is a spec"),
        (lambda: json.dumps(EXAMPLES["several-deltas"]), "REPORT is a request for an account"),
        (lambda: Bundle().to_bytes().decode(), "it is verified by `epsilond ledger verify`"),
        (lambda: "{", "REPORT begins like JSON but is not valid JSON"),
    ],
)  # fmt: skip
def test_verify_says_what_a_json_file_is_and_what_it_wants(text, said, tmp_path):
    file = tmp_path / "file.json"
    file.write_text(text(), encoding="utf-8")
    shown = run("verify", file)
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert "epsilond report" in shown.stderr or "epsilond ledger verify" in shown.stderr


def test_a_huge_file_exits_with_2(tmp_path):
    file = tmp_path / "report.html"
    with file.open("wb") as huge:
        huge.truncate(50 * LARGEST_PAGE)
    shown = run("verify", file)
    assert shown.exit_code == 2
    assert "too large" in shown.stderr
