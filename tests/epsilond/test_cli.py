"""The command line: generated options, the service's bytes, and exit codes that scripts can rely on."""

import json
from dataclasses import MISSING, fields

import pytest
from typer.testing import CliRunner

import epsilond
from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.theorems import THEOREMS
from epsilond.app.workers.work import render
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.commands.line import line
from epsilond.options import option_name
from epsilond.questions.calibrate import calibrator as named_calibrator
from epsilond.reading import read
from tests.answers import example_answer

CASES = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda each: each.name)


def run(*arguments, **options):
    return CliRunner().invoke(line, list(arguments), **options)


@pytest.fixture
def solved(monkeypatch):
    """Answers known examples at once, and remembers the problems it was asked."""
    asked = []

    def calibrate(name, /, **given):
        chosen = named_calibrator(name)
        asked.append(read(chosen.problem, given))
        return example_answer(name)

    monkeypatch.setattr("epsilond.questions.calibrate.calibrate", calibrate)
    return asked


def as_options(example):
    for name, value in example.items():
        yield option_name(name)
        yield value if isinstance(value, str) else json.dumps(value)


@CASES
def test_every_field_has_an_option_with_its_symbol_and_range(calibrator):
    shown = run("calibrate", calibrator.name, "--help", env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"}).output
    for field in fields(calibrator.problem):
        assert option_name(field.name) in shown
    least = "> 0" if calibrator.name in ("qtdl", "norm-fedavg") else "≥ 0"
    assert f"ε of the (ε, δ) guarantee (ε, in nat, {least} and ≤ 1e+09)" in shown


def panels(command):
    """Return the panels of a command's help with the options in each, in order."""
    shown = run(*command, "--help", env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert shown.exit_code == 0
    options_by_panel = {}
    for text in shown.output.splitlines():
        if text.startswith("╭─ "):
            options = options_by_panel.setdefault(text.removeprefix("╭─ ").rpartition(" ─")[0].rstrip("─ "), [])
        elif text.removeprefix("│ *  ").removeprefix("│ ").lstrip().startswith("--"):
            options.append(next(word for word in text.split() if word.startswith("--")))
    return options_by_panel


@pytest.mark.parametrize(
    ("command", "problem"),
    [(("calibrate", each.name), each.problem) for each in CALIBRATORS]
    + [(("risk-bound", each.name), each.problem) for each in RISK_BOUNDS]
    + [(("plan",), PlanProblem)],
    ids=str,
)
def test_required_options_come_first_in_a_panel_of_their_own(command, problem):
    required = [
        option_name(each.name)
        for each in fields(problem)
        if each.default is MISSING and each.default_factory is MISSING
    ]
    shown = panels(command)
    assert shown.get("Required", []) == required
    assert list(shown)[: bool(required)] == ["Required"] * bool(required)
    assert set(shown["Optional"]) == {option_name(each.name) for each in fields(problem)} - set(required)


def test_required_options_of_other_commands_come_first_too():
    assert list(panels(("account",)))[1] == "Required"
    assert {"--spec", "--relation"} <= set(panels(("account",))["Required"])
    shown = panels(("ledger", "open"))
    assert list(shown)[1] == "Required"
    assert set(shown["Required"]) == {"--dataset", "--unit", "--relation", "--observer"}


@CASES
def test_options_and_request_file_ask_the_same(calibrator, solved, tmp_path):
    body = json.dumps(dict(calibrator.example))
    (tmp_path / "request.json").write_text(body, encoding="utf-8")
    ways = [
        run("calibrate", calibrator.name, *as_options(calibrator.example), "--json"),
        run("calibrate", calibrator.name, "--request", str(tmp_path / "request.json"), "--json"),
        run("calibrate", calibrator.name, "--request", "-", "--json", input=body),
    ]
    assert [each.exit_code for each in ways] == [0, 0, 0]
    assert len({each.stdout for each in ways}) == 1
    assert solved == [read(calibrator.problem, calibrator.example)] * 3


@CASES
def test_json_is_the_body_of_the_service(calibrator, solved):
    shown = run("calibrate", calibrator.name, *as_options(calibrator.example), "--json")
    assert shown.stdout_bytes == render(example_answer(calibrator.name)) + b"\n"


@CASES
def test_the_table_shows_parameters_in_full_and_every_warning(calibrator, solved):
    answer = example_answer(calibrator.name)
    shown = run("calibrate", calibrator.name, *as_options(calibrator.example)).stdout
    for value in epsilond.as_json(answer.parameters).values():
        if isinstance(value, float | int):
            assert str(value) in shown
    for text in [*(warning.message for warning in answer.warnings), *(each.reading for each in answer.readings)]:
        assert text.split("\n")[0][:60] in shown


def test_an_option_overrides_the_request_file(solved):
    calibrator = CALIBRATORS[0]
    shown = run(
        "calibrate", calibrator.name, "--request", "-", "--epsilon", "0.5", input=json.dumps(dict(calibrator.example))
    )
    assert shown.exit_code == 0
    assert solved[0].epsilon == 0.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--epsilon", "-1"], "--epsilon is out of range (allowed: ≥ 0 and ≤ 1e+09)"),
        (["--epsilon", "one"], "--epsilon must be a number (allowed: ≥ 0 and ≤ 1e+09)"),
        (["--sampling", "lucky"], "(allowed: poisson, without-replacement, with-replacement, full)"),
        (["--request", "/no/such/file"], "error: the request cannot be read"),
        (["--no-such-option", "1"], "--no-such-option is not an option of this command"),
    ],
)
def test_bad_input_exits_with_2_and_names_the_field(arguments, said):
    shown = run("calibrate", "mb-sgd", *as_options(dict(CALIBRATORS[0].example)), *arguments)
    assert shown.exit_code == 2
    assert said in shown.stderr
    assert shown.stdout == ""


FAULTY = [
    "--epsilon", "-1", "--delta", "nope", "--samples-per-clients", "3", "--client-groups", "{", "--frobnicate=2",
    "--sampling", "lucky", "--clients",
]  # fmt: skip
FAULTS = {
    "--epsilon is out of range",
    "--delta must be a number",
    "--samples-per-clients is not an option of this command; did you mean --samples-per-client",
    "--client-groups is not JSON",
    "--frobnicate is not an option of this command",
    "--sampling is not one of the allowed values",
    "--clients needs a value",
    "--samples-per-client is required",
    "--lipschitz is required",
    "--dimension is required",
    "--diameter is required",
}


@pytest.mark.parametrize("group", ["calibrate", "risk-bound"])
def test_all_faults_are_in_one_report(group):
    shown = run(group, "mb-sgd", *FAULTY)
    assert shown.exit_code == 2
    assert shown.stdout == ""
    lines = shown.stderr.splitlines()
    for fault in FAULTS:
        assert sum(line.startswith(f"error: {fault}") for line in lines) == 1, fault
    named = {line.split()[1] for line in lines}
    assert len(named) == len(lines), "an option is named twice"
    assert shown.stderr.count("did you mean --samples-per-client") == 1


def test_faults_of_typed_options_are_in_one_report_too():
    shown = run("ledger", "open", "--epsilon", "one", "--unit", "record", "--oberver", "server", "--delta", "two")
    assert shown.exit_code == 2
    for fault in ("NAME is required", "--epsilon is not valid", "--delta is not valid", "--dataset is required",
                  "--relation is required", "--oberver is not an option of this command; did you mean --observer?"):  # fmt: skip
        assert shown.stderr.count(f"error: {fault}") == 1, fault
    assert "--unit is" not in shown.stderr


def test_a_sweep_and_an_account_report_their_faults_at_once():
    swept = run("calibrate", "mb-sgd", "--sweep", "epsilon=1,2", "--lipschitz", "-1").stderr
    assert "--lipschitz is out of range" in swept
    assert "--epsilon" not in swept
    asked = run("account", '{"kind": "gaussian", "noise_multiplier": -2.0}', "--delta", "2", "--relations", "x").stderr
    for fault in (
        "SPEC at noise_multiplier is out of range",
        "--delta is out of range",
        "--relations is not an option",
    ):
        assert asked.count(f"error: {fault}") == 1, asked


@pytest.mark.parametrize(
    ("fields", "unknown"),
    [
        ({"epsilon": 1.0, "delta": 1e-5, "sampling": "full", "rounds": 3}, "noise_multiplier"),
        ({"epsilon": 1.0, "delta": 1e-5, "sampling": "full", "noise_multiplier": 40.0}, "rounds"),
        ({"epsilon": 1.0, "sampling": "full", "noise_multiplier": 40.0, "rounds": 3}, "delta"),
        ({"log10_delta": -5.0, "sampling": "poisson", "rate": 0.1, "noise_multiplier": 9.0, "rounds": 3}, "epsilon"),
        ({"epsilon": 1.0, "delta": 1e-5, "sampling": "poisson", "noise_multiplier": 4.0, "rounds": 3}, "rate"),
    ],
)
def test_gaussian_solves_for_the_number_that_is_missing(fields, unknown, monkeypatch):
    asked = {}

    def calibrate(name, /, **given):
        asked.update(given)
        return example_answer(name)

    monkeypatch.setattr("epsilond.questions.calibrate.calibrate", calibrate)
    shown = run("calibrate", "gaussian", *as_options({**fields, "relation": "replace-one"}))
    assert shown.exit_code == 0, shown.stderr
    assert asked["solve_for"] == unknown


def test_gaussian_names_the_numbers_that_are_missing_where_there_are_two():
    setting = ["--relation", "replace-one", "--unit", "record", "--observer", "released-models"]
    shown = run("calibrate", "gaussian", "--epsilon", "1", "--sampling", "full", *setting)
    assert shown.exit_code == 2
    assert "--rounds is needed" in shown.stderr
    assert "--delta is needed" in shown.stderr


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"epsilon": NaN}', '{"epsilon": 1, "epsilon": 2}', '{"delta": null}', "3"]
)
def test_a_request_that_the_service_would_refuse_exits_with_2(text):
    assert run("calibrate", "mb-sgd", "--request", "-", input=text).exit_code == 2


def test_what_cannot_be_certified_exits_with_3_and_shows_both_sides(monkeypatch):
    def refuse(*_, **__):
        condition = ConditionResult("noise-offered", "the noise that is needed is offered", False, 3.5, 1.25)
        raise ConditionViolated("no noise will do", condition, {"epsilon": 0.125})

    monkeypatch.setattr("epsilond.questions.calibrate.calibrate", refuse)
    shown = run("calibrate", "mb-sgd")
    assert shown.exit_code == 3
    for part in ("condition-violated", "no noise will do", "3.5", "1.25", "nearest epsilon: 0.125"):
        assert part in shown.stderr


def test_theorems_are_listed_and_shown():
    listed = run("theorems").stdout
    for theorem in THEOREMS:
        assert theorem.id in listed
        shown = run("theorems", theorem.id)
        assert shown.exit_code == 0
        assert " ".join(theorem.statement.split())[:40] in " ".join(shown.stdout.split())
        for erratum in theorem.errata:
            assert erratum.id in shown.stdout
    assert run("theorems", "nowhere.1").exit_code == 2


def test_evaluate_prints_outputs_or_the_body():
    arguments = ["--input", "epsilon=1", "--input", "noise-multiplier=4", "--input", "relation=add-or-remove-one"]
    body = json.loads(run("evaluate", "balle-wang-2018.8", *arguments, "--json").stdout)
    assert body["outputs"]["gaussian_dp_mu"] == 0.25
    assert "gaussian_dp_mu" in run("evaluate", "balle-wang-2018.8", *arguments).stdout
    assert run("evaluate", "balle-wang-2018.8", "--input", "epsilon").exit_code == 2
    assert "--input sigma=… is not a field" in run("evaluate", "balle-wang-2018.8", "--input", "sigma=1").stderr


def test_evaluate_names_the_option_of_each_input():
    missing = run("evaluate", "lowy.2.1", "--input", "epsilon=-1")
    assert missing.exit_code == 2
    assert "error: --input epsilon=… is out of range" in missing.stderr
    assert "error: --input samples_per_client=… is required" in missing.stderr
    assert "--epsilon" not in missing.stderr
    unnamed = run("evaluate", "lowy.2.1", "--input", "epsilon")
    assert "error: --input must be NAME=VALUE" in unnamed.stderr


def test_version():
    assert run("version").stdout.strip() == ENGINE_VERSION


def test_serve_passes_host_and_port_on(monkeypatch):
    calls = []
    monkeypatch.setattr("epsilond.app.serve.serve", lambda **options: calls.append(options))
    assert run("serve", "--host", "127.0.0.9", "--port", "8123").exit_code == 0
    assert calls == [{"host": "127.0.0.9", "port": 8123, "dask": None}]


def test_a_setting_that_cannot_be_read_exits_with_2():
    shown = run("serve", env={"EPSILOND_PORT": "eighty"})
    assert shown.exit_code == 2
    assert "EPSILOND_PORT" in shown.stderr
