"""The library's and the command line's plans and sweeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

import epsilond
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import as_json
from epsilond.commands.line import line

GAUSSIAN: dict[str, Any] = {
    "solve_for": "noise_multiplier",
    "sampling": "full",
    "rounds": 10,
    "relation": "replace-one",
    "delta": 1e-5,
    "unit": "record",
    "observer": "server",
}
PLAN: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "clients": 20,
    "samples_per_client": 400,
    "dimension": 5,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "algorithms": ["one-pass-accelerated-mb-sgd", "mu2-sgd"],
    "relation": "replace-one",
    "unit": "record",
    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
}


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(line, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.output


def options(given: dict[str, Any]) -> list[str]:
    texts = {name: ",".join(value) if isinstance(value, list) else str(value) for name, value in given.items()}
    return [part for name, text in texts.items() for part in ("--" + name.replace("_", "-"), text)]


def test_a_sweep_is_its_single_calls() -> None:
    values = [0.5, 1, 1e9, -1.0, "x"]
    found = epsilond.sweep("gaussian", "epsilon", values, **GAUSSIAN)
    assert [each.value for each in found.answers] == values
    for each in found.answers[:3]:
        assert each.answer == epsilond.calibrate("gaussian", **GAUSSIAN, epsilon=each.value)
    for each in found.answers[3:]:
        assert isinstance(each.error, InvalidInput)
        assert each.error.faults[0].pointer == "/epsilon"


def test_the_swept_field_may_be_given_and_does_not_count() -> None:
    one = epsilond.sweep("gaussian", "rounds", [1, 2], **GAUSSIAN, epsilon=1.0)
    other = epsilond.sweep("gaussian", "rounds", [1, 2], **{**GAUSSIAN, "rounds": 77}, epsilon=1.0)
    assert one == other


def test_a_value_that_nothing_certifies_is_its_own_error() -> None:
    found = epsilond.sweep(
        "gaussian", "noise_multiplier", [20.0, 1e-6], **{**GAUSSIAN, "solve_for": "rounds", "rounds": None}, epsilon=1.0
    )
    assert found.answers[0].answer is not None
    assert isinstance(found.answers[1].error, Infeasible)
    told = json.loads(json.dumps(as_json(found.body)))["answers"][1]["problem"]
    assert told["type"] == "/problems/infeasible"


@pytest.mark.parametrize(
    ("field", "values", "fields", "pointer"),
    [
        ("noise", [1.0], GAUSSIAN, "/sweep/field"),
        ("epsilon", [], GAUSSIAN, "/sweep/values"),
        ("epsilon", [1.0] * 201, GAUSSIAN, "/sweep/values"),
        ("epsilon", [1.0, 2.0], {**GAUSSIAN, "rounds": 0}, "/rounds"),
        ("epsilon", [1.0], {**GAUSSIAN, "round": 1}, "/round"),
        ("epsilon", [1.0], {"solve_for": "noise_multiplier"}, "/relation"),
    ],
)
def test_sweeps_that_cannot_be(field: str, values: list[Any], fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        epsilond.sweep("gaussian", field, values, **fields)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_a_plan_takes_the_body_of_the_service() -> None:
    seen: list[tuple[int, int]] = []
    found = epsilond.plan(**PLAN, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 3)
    assert seen[-1] == (3, 3)
    assert json.loads(run("plan", "--json", *options(PLAN))) == json.loads(json.dumps(as_json(found)))
    with pytest.raises(InvalidInput):
        epsilond.plan(**PLAN, sigma=1.0)  # type: ignore[call-arg]


def ranked(text: str) -> list[list[str]]:
    """Rank and algorithm of the rows that have a rank; a sentence that is wrapped may begin with a number too."""
    names = {calibrator.name for calibrator in CALIBRATORS}
    rows = (line.split()[:2] for line in text.splitlines() if line[:1].isdigit())
    return [row for row in rows if row[-1] in names]


def test_the_plans_table_says_first_what_to_run() -> None:
    text = run("plan", *options(PLAN | {"trust": ["local"]}))
    found = epsilond.plan(**PLAN | {"trust": ["local"]})
    assert " ".join(text.split()).startswith(f"Run {found.recommended.entry} {found.recommended.why}")
    assert "Other numbers of rounds" in text
    (chosen,) = (line for line in text.splitlines() if line.rstrip().endswith("recommended"))
    entry = next(each for each in found.entries if each.algorithm == found.recommended.entry)
    assert chosen.split()[0] == str(entry.rounds)
    (price,) = found.trusts
    assert price.best == found.recommended.entry
    over = run("plan", *options(PLAN | {"algorithms": ["one-pass-accelerated-mb-sgd"]}), "--max-bytes-per-client", "1")
    assert over.startswith("Run nothing of these")


def test_the_plans_table_ranks_and_says_why_not() -> None:
    text = run("plan", *options(PLAN | {"trust": ["local"]}))
    assert ranked(text) == [["1", "one-pass-accelerated-mb-sgd"], ["2", "mu2-sgd"]]
    assert "its guarantee is central, which the plan does not accept" in text
    assert "as many rounds as a client has records" in text


def test_the_plans_table_marks_what_says_nothing_and_leaves_out_empty_columns() -> None:
    text = run("plan", *options(PLAN | {"dimension": 5000}))
    assert "no better than the start (L·D = 2)" in text
    assert ranked(text) == [["1", "one-pass-accelerated-mb-sgd"]]
    assert "reached at" not in text
    learnt = run("plan", *options(PLAN | {"algorithms": ["one-pass-accelerated-mb-sgd"]}))
    assert "says" not in learnt.split()
    assert "no better than the start" not in learnt


def test_the_plans_table_of_what_reaches_a_risk() -> None:
    given = {name: value for name, value in PLAN.items() if name != "epsilon"}
    text = run("plan", *options(given), "--reach", '{"risk": 0.3, "solve_for": "epsilon"}')
    found = epsilond.plan(**given, reach={"risk": 0.3, "solve_for": "epsilon"})
    reached = [entry.reach for entry in found.entries if entry.reach is not None]
    assert reached
    assert all(f"epsilon {one.value:g}" in text for one in reached)
    assert "reached at" in text


def test_a_plan_that_cannot_be_names_its_option() -> None:
    setting = ["--relation", "replace-one", "--unit", "record", "--observers", '["server"]']
    assert "--epsilon" in run("plan", "--clients", "3", "--delta", "1e-5", *setting, code=2)
    assert "--observers is required" in run("plan", "--clients", "3", "--delta", "1e-5", *setting[:4], code=2)


def test_a_sweep_on_the_command_line() -> None:
    given = options(GAUSSIAN)
    text = run("calibrate", "gaussian", "--sweep", "epsilon=0.5,1,-2", *given)
    rows = [line.split() for line in text.splitlines() if line[:3] in ("0.5", "1  ", "-2 ")]
    noise = epsilond.calibrate("gaussian", **GAUSSIAN, epsilon=0.5).parameters.noise_multiplier
    assert [row[0] for row in rows] == ["0.5", "1", "-2"]
    assert rows[0][1] == str(noise)
    assert "out of range" in text
    body = json.loads(run("calibrate", "gaussian", "--sweep", "epsilon=0.5,1", "--json", *given))
    found = epsilond.sweep("gaussian", "epsilon", [0.5, 1], **GAUSSIAN)
    assert body == json.loads(json.dumps(as_json(found.body)))
    run("calibrate", "gaussian", "--sweep", "epsilon", *given, code=2)
    run("calibrate", "gaussian", "--sweep", "sigma=1", *given, code=2)


def test_open_rounds_are_chosen_anew_at_each_value_of_a_sweep():
    problem = {
        "delta": 1e-6,
        "samples_per_client": 300,
        "clients": 50,
        "dimension": 10,
        "relation": "replace-one",
        "unit": "record",
        "observer": "server",
    }
    problem |= {"lipschitz": 1.0, "diameter": 2.0, "smoothness": 1.0, "readings": []}
    found = epsilond.sweep("one-pass-accelerated-mb-sgd", "epsilon", [0.2, 1.0, 20.0], **problem)
    answers = [each.answer for each in found.answers]
    for value, answer in zip([0.2, 1.0, 20.0], answers, strict=True):
        alone = epsilond.calibrate("one-pass-accelerated-mb-sgd", epsilon=value, **problem)
        assert (answer.parameters, answer.frontier) == (alone.parameters, alone.frontier)
    rounds = [answer.parameters.rounds for answer in answers]
    assert rounds == sorted(rounds)
    assert rounds[0] < rounds[-1]


@pytest.mark.parametrize("name", ["mb-sgd", "accelerated-mb-sgd", "projected-sgd", "shuffled-mb-sgd"])
def test_a_sweep_for_a_picture_has_all_but_the_true_figures(name: str) -> None:
    (example,) = (one.example for one in epsilond.CALIBRATORS if one.name == name)
    whole, drawn = (
        as_json(epsilond.sweep(name, "epsilon", [example["epsilon"]], true_figures=told, **example).answers[0].answer)
        for told in (True, False)
    )
    readings, without = whole.pop("as_printed"), drawn.pop("as_printed")
    assert any("true" in one for one in readings)
    assert [{key: part for key, part in one.items() if key != "true"} for one in readings] == without
    warnings, fewer = ({one["code"] for one in each.pop("warnings", ())} for each in (whole, drawn))
    assert fewer <= warnings
    assert drawn == whole


@pytest.mark.parametrize(
    "target",
    [
        {"advantage": 0.1},
        {"true-positive-rate": 0.3, "false-positive-rate": 0.1},
        {"gaussian-dp-mu": 0.5},
        {"rho": 0.1},
        {"epsilon": 0.0, "delta": 0.01},
    ],
)
def test_the_command_line_takes_targets_of_risk(target: dict[str, float]) -> None:
    run_fields = {
        name: value for name, value in PLAN.items() if name not in ("epsilon", "delta", "algorithms", "observers")
    }
    fields = run_fields | {"batch_size": 10, "rounds": 20, "observer": "server"} | target
    shown = json.loads(run("calibrate", "mb-sgd", *options(fields), "--json"))
    expected = epsilond.calibrate("mb-sgd", **{name.replace("-", "_"): value for name, value in fields.items()})
    assert shown["parameters"]["noise_multiplier"] == expected.parameters.noise_multiplier
    planned = json.loads(
        run("plan", *options(run_fields | target | {"algorithms": ["mb-sgd"], "observers": ["server"]}), "--json")
    )
    assert planned["entries"][0]["applies"] == "yes"
