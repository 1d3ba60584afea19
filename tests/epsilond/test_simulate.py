"""The simulate command and the library's function: the same answer by any number of workers, and exit codes."""

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import epsilond
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.commands.line import line
from epsilond.progress import in_silence
from epsilond.questions import blocks
from epsilond.questions import simulate as simulating
from epsilond.terminal import simulations
from epsilond.witness import simulation
from epsilond.witness.kind import Prepared
from epsilond.witness.presets import PRESETS, PresetSimulation
from epsilond.witness.risks.request import RiskSimulation

ROOT = Path(__file__).parents[2]
REQUEST = {
    "kind": "risk",
    "run": {"algorithm": "mb-sgd", "rounds": 6, "batch_size": 5, "step_size": 0.5, "noise_std": 0.1},
    "problem": {"kind": "mean-estimation", "clients": 3, "samples_per_client": 30, "dimension": 2},
    "repetitions": 4,
    "points": 3,
}
AUDIT = {
    "kind": "audit",
    "spec": {"kind": "gaussian", "noise_multiplier": 1.0},
    "relation": "add-or-remove-one",
    "unit": "record",
    "observer": "released-models",
    "delta": 1e-3,
    "samples": 140_000,
}
"""Of three blocks."""


def run(*arguments, **options):
    return CliRunner().invoke(line, ["simulate", *map(str, arguments)], **options)


def test_a_request_is_given_by_its_option_as_by_its_name(tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    by_option, by_argument = run("--request", path, "--json", "--workers", 1), run(path, "--json", "--workers", 1)
    assert by_option.exit_code == by_argument.exit_code == 0
    assert by_option.stdout == by_argument.stdout
    both = run(path, "--request", path)
    assert both.exit_code == 2
    assert "give one of them" in both.output


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    return path


@pytest.fixture
def tiny(monkeypatch):
    """The first preset with two small cells."""
    cells = PRESETS[0].cells

    def fewer(repetitions, seed):
        return cells(repetitions, seed)[:2]

    import dataclasses

    first = dataclasses.replace(PRESETS[0], cells=fewer)
    monkeypatch.setattr("epsilond.witness.presets.PRESETS", (first, *PRESETS[1:]))
    return first.name


@pytest.mark.parametrize("request_", [REQUEST, AUDIT], ids=["risk", "audit"])
def test_two_workers_give_the_same_bits_as_one(request_, monkeypatch):
    monkeypatch.setattr("epsilond.witness.risks.measurement.OPERATIONS_A_SECOND", 1.0)
    assert simulation.plan(simulating.simulation_request(request_)).blocks > 2
    answers = [epsilond.as_json(epsilond.simulate(request_, workers=workers)) for workers in (1, 2)]
    assert answers[0] == answers[1]
    assert multiprocessing.active_children() == []


def test_progress_counts_every_block():
    heard = []
    epsilond.simulate(AUDIT, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_request_may_be_an_object_a_mapping_or_a_name(tiny):
    request = simulating.simulation_request(REQUEST)
    assert isinstance(request, RiskSimulation)
    assert epsilond.as_json(epsilond.simulate(request)) == epsilond.as_json(epsilond.simulate(REQUEST))
    assert simulating.simulation_request(tiny, repetitions=3) == PresetSimulation(preset=tiny, repetitions=3)
    assert simulating.simulation_request(request, seed=7).seed == 7
    assert simulating.simulation_request(REQUEST, seed=7).seed == 7


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ("mb-sgd-bond", "/preset"),
        (REQUEST | {"kind": "poem"}, "/kind"),
        (REQUEST | {"run": {"algorithm": "sgd"}}, "/run/algorithm"),
        (
            REQUEST | {"problem": {"kind": "mean-estimation", "clients": 0, "samples_per_client": 30, "dimension": 2}},
            "/problem/clients",
        ),
        (REQUEST | {"epsilon": 1.0, "delta": 1e-5}, "/run/noise_std"),
        (REQUEST | {"problem": {"kind": "personalized-huber", "clients": 3, "dimension": 2}}, "/problem/kind"),
        (REQUEST | {"repetition": 3}, "/repetition"),
    ],
)
def test_faults_are_pointed_to(given, pointer):
    with pytest.raises(InvalidInput) as caught:
        epsilond.simulate(given)
    assert caught.value.faults[0].pointer == pointer


def test_workers_are_at_least_one():
    with pytest.raises(InvalidInput) as caught:
        epsilond.simulate(REQUEST, workers=0)
    assert caught.value.faults[0].pointer == "/workers"


def test_a_fault_in_a_worker_arrives_whole_and_ends_the_workers(monkeypatch):
    prepared = simulation.prepare(simulating.simulation_request(AUDIT))
    broken = Prepared(prepared.request, prepared.plan, resolved=None)
    with pytest.raises(AttributeError):
        blocks.run_blocks(broken, 2, in_silence)
    assert multiprocessing.active_children() == []


# The command ---------------------------------------------------------------------------------------------------------


def test_a_request_is_run_drawn_and_told(file, tmp_path):
    figure = tmp_path / "figure.svg"
    ran = run(file, "--out", figure, "--workers", "1")
    assert ran.exit_code == 0, ran.output
    assert figure.read_bytes().startswith(b"<?xml")
    for shown in (
        "Run with",
        "private",
        "non-private",
        "epsilond.mini-batch-sgd-excess-risk",
        "95% band",
        f"figure: {figure}",
    ):
        assert shown in ran.stdout


def test_each_group_of_unlike_clients_is_told_its_guarantee(tmp_path):
    groups = [{"clients": 2, "samples_per_client": 30}, {"clients": 1, "samples_per_client": 20, "epsilon": 1.5}]
    run_ = {"algorithm": "mb-sgd", "rounds": 6, "batch_size": 5, "client_groups": groups}
    path = tmp_path / "request.json"
    path.write_text(json.dumps({**REQUEST, "run": run_, "epsilon": 3.0, "delta": 1e-4}))
    found = run(path, "--out", tmp_path / "figure.png")
    assert found.exit_code == 0
    told = found.output.split("Guaranteed to each group")[1].split("Excess risk")[0]
    rows = [line.split() for line in told.splitlines() if line.strip()]
    assert [row[:2] for row in rows[1:]] == [["2", "30"], ["1", "20"]]
    assert [row[-2:] for row in rows[1:]] == [["3]", "-4"], ["1.5]", "-4"]]


def test_an_answer_is_told_before_its_figure_is_drawn(file, tmp_path, monkeypatch):
    def broken(_answer, _path):
        raise KeyError("no figure")

    monkeypatch.setattr("epsilond.simulating.write_figure", broken)
    ran = run(file, "--out", tmp_path / "figure.svg", "--workers", "1")
    assert isinstance(ran.exception, KeyError)
    assert "Excess risk" in ran.stdout


def test_the_body_is_what_the_library_answers(file):
    ran = run(file, "--json", "--workers", "1", "--seed", "5", "--repetitions", "3")
    assert ran.exit_code == 0
    body = json.loads(ran.stdout)
    assert body == json.loads(json.dumps(epsilond.as_json(epsilond.simulate(REQUEST, seed=5, repetitions=3))))
    assert (body["seed"], body["repetitions"]) == (5, 3)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_request_is_read_from_standard_input():
    assert json.loads(run("-", "--json", "--workers", "1", input=json.dumps(REQUEST)).stdout)["kind"] == "risk"


def test_a_preset_is_run_and_drawn_under_its_name(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run(tiny, "--repetitions", "3", "--workers", "1")
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / f"{tiny}.png").read_bytes().startswith(b"\x89PNG")
    assert "least bound" in ran.stdout
    assert "yes" in ran.stdout


def test_the_word_preset_may_stand_before_the_name(tiny):
    arguments = ["--repetitions", "3", "--workers", "1", "--json"]
    with_word, without_word = run("preset", tiny, *arguments), run(tiny, *arguments)
    assert with_word.exit_code == 0, with_word.output
    assert with_word.stdout == without_word.stdout


def test_an_audit_is_told_in_words(tmp_path):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT | {"samples": 2000, "claim": {"epsilon": 0.5}}))
    ran = run(path, "--workers", "1", "--out", tmp_path / "audit.png")
    assert ran.exit_code == 0, ran.output
    assert "violated: yes" in ran.stdout
    assert "ε ≥" in ran.stdout


def test_an_audit_tells_of_mu_and_of_impossible_outputs():
    spec = {
        "kind": "truncated_discrete_laplace",
        "noise_levels": 20,
        "decay_rate": 0.2,
        "dimension": 2,
        "l1_sensitivity": 4,
        "linf_sensitivity": 2,
    }
    asked = AUDIT | {"spec": spec, "relation": "replace-one", "samples": 5000, "claim": {"epsilon": 1.0}}
    answer = epsilond.as_json(epsilond.simulate(asked))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(simulations.simulation(epsilond.simulate(asked)))
    told = console.export_text()
    assert f"μ ≥ {answer['gaussian']['mu_lower']:.4g}" in told
    assert f"{answer['escape']['observed']} seen: probability ≥ {answer['escape']['probability_lower']:.4g}" in told
    assert "so that no ε holds" in told
    assert f"δ ≥ {answer['claim']['delta_lower']:.4g}" in told
    plain = epsilond.simulate(AUDIT | {"samples": 2000})
    console.print(simulations.simulation(plain))
    assert "none seen" in console.export_text()


def test_presets_are_listed():
    for arguments in (["--list"], []):
        shown = run(*arguments).stdout
        assert all(preset.name in shown for preset in PRESETS)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["mb-sgd-bond"], "error: there is no such preset; did you mean mb-sgd-bound"),
        (["mb-sgd-bound", "--repetitions", "1"], "--repetitions"),
        (["mb-sgd-bound", "--out", "figure.pdf"], "--out"),
        (["mb-sgd-bound", "--out", "no/such/folder/figure.png"], "--out"),
        (["nothing.json"], "error: the request cannot be read: [Errno 2] No such file"),
        (["preset", "mb-sgd-bond"], "error: there is no such preset; did you mean mb-sgd-bound"),
        (["preset"], "error: PRESET must be one name"),
        (["mb-sgd-bound", "unlike-clients"], "error: PRESET must be one name"),
    ],
)
def test_bad_input_exits_with_2_and_names_the_field(arguments, named):
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert named in ran.stderr


def test_a_request_that_is_no_json_is_called_so():
    ran = run("-", input="{")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: the request is not JSON: ")


def test_an_audit_has_no_repetitions(tmp_path):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT))
    ran = run(path, "--repetitions", "3")
    assert (ran.exit_code, ran.stderr) == (2, "error: --repetitions: an audit has samples, not repetitions\n")
    with pytest.raises(InvalidInput, match="samples, not repetitions"):
        simulating.simulation_request(simulating.simulation_request(AUDIT), repetitions=3)


def test_what_cannot_be_certified_exits_with_3(file, monkeypatch):
    def refuse(*given, **more):
        raise Infeasible("no noise is enough")

    monkeypatch.setattr("epsilond.questions.simulate.simulate", refuse)
    ran = run(file, "--workers", "1", "--json")
    assert ran.exit_code == 3
    assert "no noise is enough" in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process(number, tmp_path):
    path = tmp_path / "audit.json"
    path.write_text(
        json.dumps(
            AUDIT | {"samples": 2_000_000, "spec": {"kind": "repeated", "times": 1000, "mechanism": AUDIT["spec"]}}
        )
    )
    arguments = [sys.executable, "-m", "epsilond", "simulate", str(path), "--json", "--workers", "2"]
    # A shell starts what runs in its background with Ctrl-C ignored, and that is inherited; what is handled is not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        started = subprocess.Popen(
            arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    while len(members(started.pid)) < 3 and started.poll() is None:
        time.sleep(0.05)
    if number == signal.SIGINT:  # Ctrl-C reaches everybody
        os.killpg(started.pid, number)
    else:
        started.send_signal(number)
    started.communicate(timeout=600)
    assert started.returncode > 0  # it ended by itself, so that the terminal is as it was
    while members(started.pid):
        time.sleep(0.05)


def members(group):
    """Processes of that group that are not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                told = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(told[2]) == group and told[0] != "Z":
                found.append(int(entry.name))
    return found
