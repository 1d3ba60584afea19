"""What every algorithm, join, kind and experiment of the lists keeps."""

import json
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from epsilond.calibrators.answer import as_json
from epsilond.reading import read_body, read_value
from epsilond.simulators.algorithms.kinds import ALGORITHMS, Run, algorithm_of
from epsilond.simulators.problems.problem_specs import AnyProblem
from epsilond.witness import simulation
from epsilond.witness.figures import draw
from epsilond.witness.joins import JOINS, join_of
from epsilond.witness.kinds import KINDS
from epsilond.witness.presets import PRESETS, PresetName, PresetSimulation
from epsilond.witness.requests import SimulationRequest
from epsilond.witness.risks.measurement import RiskSimulation

GUIDE = (Path(__file__).parents[2] / "docs" / "simulations.md").read_text(encoding="utf-8")
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)
PROBLEM = {"kind": "least-squares", "clients": 4, "samples_per_client": 6, "dimension": 2}
ONE_RECORD = PROBLEM | {"samples_per_client": 1, "clients": 8}
PERSONAL = {"kind": "personalized-huber", "clients": 4, "dimension": 2}
RUNS = {
    "mb-sgd": ({"rounds": 6, "batch_size": 2}, PROBLEM),
    "one-pass-accelerated-mb-sgd": ({"rounds": 3, "batch_size": 2}, PROBLEM),
    "accelerated-mb-sgd": ({"rounds": 6, "batch_size": 2}, PROBLEM),
    "shuffled-mb-sgd": ({"rounds": 6, "batch_size": 2}, PROBLEM),
    "local-sgd": ({"rounds": 3, "local_steps": 2, "batch_size": 2, "step_size": 0.1}, PROBLEM),
    "norm-fedavg": ({"participants": 4, "rounds": 6, "local_steps": 2, "quantization_levels": 8}, PROBLEM),
    "grid-fedavg": (
        {
            "participants": 4,
            "rounds": 6,
            "local_steps": 2,
            "local_step_size": 0.1,
            "server_step_size": 0.1,
            "quantization_levels": 8,
        },
        PROBLEM,
    ),
    "projected-sgd": ({"participants": 2, "step_schedule": {"kind": "constant", "value": 0.1}}, ONE_RECORD),
    "ppsgd": ({"rounds": 6}, PERSONAL),
    "mu2-sgd": ({"rounds": 6}, PROBLEM),
}
"""Small runs that leave their noise open. FedAvg has none."""
OPEN = pytest.mark.parametrize("name", RUNS)


def asked(name, **more):
    run, problem = RUNS[name]
    body = {"kind": "risk", "run": {"algorithm": name, **run}, "problem": problem, "epsilon": 8.0, "delta": 1e-3}
    return read_value(SimulationRequest, body | {"repetitions": 3, "points": 4} | more, at="")


@pytest.fixture(scope="module")
def prepared():
    return {name: simulation.prepare(asked(name)) for name in RUNS}


def test_every_algorithm_has_a_join_a_run_in_the_union_and_a_case_here():
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert names == [join.algorithm for join in JOINS]
    assert {*names} == {*RUNS, "fedavg"}
    members = get_args(get_args(Run.__value__)[0])
    assert [algorithm.run for algorithm in ALGORITHMS] == list(members)
    problems = get_args(get_args(AnyProblem.__value__)[0])
    assert {problem for algorithm in ALGORITHMS for problem in algorithm.problems} == {*problems}


@EACH
def test_an_algorithm_is_named_by_its_run_and_its_noise_is_a_field_of_it(algorithm):
    known = {field.name: field.default for field in fields(algorithm.run)}
    assert known["algorithm"] == algorithm.name
    assert {*join_of(algorithm.name).noise} <= {*known}
    assert {*algorithm.titles} == {*algorithm.alternative_names}


@OPEN
def test_runs_beside_a_calibrated_one_have_the_names_that_were_announced(name, prepared):
    runs = prepared[name].resolved.runs
    algorithm = next(each for each in ALGORITHMS if each.name == name)
    assert next(iter(runs)) == "private"
    assert {*runs} - {"private"} <= {*algorithm.alternative_names}
    assert "non-private" in runs


@OPEN
def test_open_noise_is_certified_for_the_target(name, prepared):
    guarantee = prepared[name].resolved.calibration.guarantee
    assert 0.0 < guarantee.epsilon.upper <= 8.0


@OPEN
def test_a_prepared_simulation_crosses_a_process_boundary_without_a_change(name, prepared):
    again = pickle.loads(pickle.dumps(prepared[name]))
    blocks, others = ([simulation.run_block(one, 0)] for one in (prepared[name], again))
    found = as_json(simulation.assemble(prepared[name], blocks))
    assert found == as_json(simulation.assemble(again, others))
    json.dumps(found, allow_nan=False)
    assert found["series"][0]["name"] == "private"
    assert found["rounds"] == found["series"][0]["rounds"][-1]


@EACH
def test_the_answer_of_every_algorithm_can_be_drawn(algorithm, prepared):
    if algorithm.name == "fedavg":
        run = {"algorithm": "fedavg", "participants": 4, "rounds": 6, "local_steps": 2}
        body = {"kind": "risk", "run": run, "problem": PROBLEM, "repetitions": 3}
        ready = simulation.prepare(read_value(SimulationRequest, body, at=""))
    else:
        ready = prepared[algorithm.name]
    answer = as_json(simulation.assemble(ready, [simulation.run_block(ready, i) for i in range(ready.plan.blocks)]))
    drawn = draw(answer, "svg").decode()
    assert algorithm.name in drawn
    assert ("fresh records" in drawn) == ("samples_per_client" not in answer["problem"])


@OPEN
def test_a_plan_counts_the_runs_that_will_be_made_and_the_calibration(name, prepared):
    request = asked(name)
    algorithm, problem = algorithm_of(request.run), request.problem.build()
    costs = algorithm.costs(problem, request.run, algorithm.alternative_names)
    runs = prepared[name].resolved.runs
    assert costs == tuple(algorithm.work(problem, run) for run in runs.values())
    per_block = simulation.plan(request).seconds - join_of(name).allowance.of(request.target)
    assert per_block == pytest.approx(sum(work.calls / 2e5 + 3 * work.operations / 1e8 for work in costs))
    assert join_of(name).allowance.of(request.target) > 0.0


def test_noise_cancellation_counts_no_run_that_noisy_sgd_has_not():
    run = {"algorithm": "mu2-sgd", "method": "noisy-sgd", "rounds": 6}
    body = {"kind": "risk", "run": run, "problem": PROBLEM, "epsilon": 8.0, "delta": 1e-3}
    request = read_value(SimulationRequest, body, at="")
    algorithm = algorithm_of(request.run)
    assert len(algorithm.costs(request.problem.build(), request.run, algorithm.alternative_names)) == 2


def test_normalised_updates_without_a_grid_cost_no_noise():
    run = {"participants": 4, "rounds": 6, "local_steps": 2}
    quiet = {"algorithm": "norm-fedavg", "noise_levels": 0}
    plans = [
        simulation.plan(read_value(SimulationRequest, {"kind": "risk", "run": run | told, "problem": PROBLEM}, at=""))
        for told in ({"algorithm": "fedavg"}, quiet, quiet | {"quantization_levels": 8})
    ]
    assert 2.0 * plans[0].seconds == pytest.approx(plans[1].seconds)
    assert plans[1].seconds < plans[2].seconds


def test_a_smaller_delta_is_given_more_time():
    small, ordinary = (simulation.plan(asked("mb-sgd", delta=None, log10_delta=log)).seconds for log in (-300.0, -5.0))
    assert small > ordinary + 5.0


@OPEN
def test_repetitions_do_not_depend_on_those_beside_them(name, prepared):
    resolved = prepared[name].resolved
    alone = replace(prepared[name], resolved=replace(resolved, block=1))
    together: Any = simulation.run_block(prepared[name], 0)
    for run, (excess, diagnostics, *_) in together.items():
        for place in range(3):
            one, told, *_ = simulation.run_block(alone, place)[run]
            assert one.tobytes() == excess[place : place + 1].tobytes(), run
            assert {key: value[place] for key, value in diagnostics.items()} == {
                key: value[0] for key, value in told.items()
            }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.request.__name__)
def test_the_example_of_a_kind_can_be_asked_here_and_over_http(kind):
    here = read_value(SimulationRequest, kind.example, at="")
    assert isinstance(here, kind.request)
    assert read_body(SimulationRequest, dict(kind.example)) == here
    assert simulation.plan(here).seconds < 20.0
    assert kind.size in kind.request.__dataclass_fields__


@pytest.mark.parametrize("name", RUNS)
def test_a_request_reads_the_same_here_and_over_http(name):
    run, problem = RUNS[name]
    body = {"kind": "risk", "run": {"algorithm": name, **run}, "problem": problem, "epsilon": 8.0, "delta": 1e-3}
    assert read_body(SimulationRequest, body) == read_value(SimulationRequest, body, at="")
    assert isinstance(read_value(SimulationRequest, body, at=""), RiskSimulation)


def test_the_guide_names_every_algorithm_run_beside_it_and_problem():
    known = {algorithm.name for algorithm in ALGORITHMS}
    known |= {name for algorithm in ALGORITHMS for name in algorithm.alternative_names}
    known |= {problem.kind for algorithm in ALGORITHMS for problem in algorithm.problems}  # type: ignore[attr-defined]
    assert {name for name in known if f"`{name}`" not in GUIDE} == set()


# Experiments ---------------------------------------------------------------------------------------------------------
PRESET = pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)


def test_every_preset_can_be_named():
    assert [preset.name for preset in PRESETS] == list(get_args(PresetName))


@PRESET
def test_the_guide_has_the_command_of_a_preset(preset):
    assert f"| `epsilond simulate {preset.name}` |" in GUIDE


@PRESET
def test_the_cells_of_a_preset_fill_its_grid_once(preset):
    cells = preset.cells(preset.repetitions, 3)
    names = {axis.name for axis in preset.axes}
    assert all({*cell.place} == names for cell in cells)
    values = [{cell.place[name] for cell in cells} for name in names]
    assert len({tuple(sorted(cell.place.items(), key=str)) for cell in cells}) == len(cells)
    product = 1
    for held in values:
        product *= len(held)
    assert len(cells) == product
    assert all(cell.simulation.seed == 3 for cell in cells)


@PRESET
def test_the_plan_of_a_preset_is_that_of_its_cells(preset):
    plan = simulation.plan(PresetSimulation(preset=preset.name, repetitions=2))
    parts = [simulation.plan(cell.simulation) for cell in preset.cells(2, 0)]
    assert plan.blocks == sum(part.blocks for part in parts)
    assert plan.seconds == pytest.approx(sum(part.seconds for part in parts))
    assert plan.bytes == max(part.bytes for part in parts) < 4e9
