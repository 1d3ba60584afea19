"""Properties of every algorithm, join, kind and experiment in the lists."""

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
from epsilond.witness.joins import JOINS, find_join
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
"""Small runs with open noise, by algorithm; FedAvg has none."""
OPEN = pytest.mark.parametrize("name", RUNS)


def open_request(name, **more):
    run, problem = RUNS[name]
    body = {"kind": "risk", "run": {"algorithm": name, **run}, "problem": problem, "epsilon": 8.0, "delta": 1e-3}
    return read_value(SimulationRequest, body | {"repetitions": 3, "points": 4} | more, at="")


@pytest.fixture(scope="module")
def simulations():
    return {name: simulation.prepare(open_request(name)) for name in RUNS}


def test_every_algorithm_has_a_join_a_run_and_a_case():
    names = [algorithm.name for algorithm in ALGORITHMS]
    assert names == [join.algorithm for join in JOINS]
    assert {*names} == {*RUNS, "fedavg"}
    members = get_args(get_args(Run.__value__)[0])
    assert [algorithm.run for algorithm in ALGORITHMS] == list(members)
    problems = get_args(get_args(AnyProblem.__value__)[0])
    assert {problem for algorithm in ALGORITHMS for problem in algorithm.problems} == {*problems}


@EACH
def test_run_names_its_algorithm_and_has_the_noise_fields(algorithm):
    defaults = {field.name: field.default for field in fields(algorithm.run)}
    assert defaults["algorithm"] == algorithm.name
    assert {*find_join(algorithm.name).noise} <= {*defaults}
    assert {*algorithm.titles} == {*algorithm.alternative_names}


@OPEN
def test_alternatives_have_announced_names(name, simulations):
    runs = simulations[name].resolved.runs
    algorithm = next(each for each in ALGORITHMS if each.name == name)
    assert next(iter(runs)) == "private"
    assert {*runs} - {"private"} <= {*algorithm.alternative_names}
    assert "non-private" in runs


@OPEN
def test_open_noise_is_calibrated_to_the_target(name, simulations):
    guarantee = simulations[name].resolved.calibration.guarantee
    assert 0.0 < guarantee.epsilon.upper <= 8.0


@OPEN
def test_pickled_simulation_gives_the_same_answer(name, simulations):
    again = pickle.loads(pickle.dumps(simulations[name]))
    first = as_json(simulation.assemble(simulations[name], [simulation.run_block(simulations[name], 0)]))
    second = as_json(simulation.assemble(again, [simulation.run_block(again, 0)]))
    assert first == second
    json.dumps(first, allow_nan=False)
    assert first["series"][0]["name"] == "private"
    assert first["rounds"] == first["series"][0]["rounds"][-1]


@EACH
def test_answer_of_every_algorithm_is_drawn(algorithm, simulations):
    if algorithm.name == "fedavg":
        run = {"algorithm": "fedavg", "participants": 4, "rounds": 6, "local_steps": 2}
        body = {"kind": "risk", "run": run, "problem": PROBLEM, "repetitions": 3}
        ready_simulation = simulation.prepare(read_value(SimulationRequest, body, at=""))
    else:
        ready_simulation = simulations[algorithm.name]
    answer = as_json(
        simulation.assemble(
            ready_simulation, [simulation.run_block(ready_simulation, i) for i in range(ready_simulation.plan.blocks)]
        )
    )
    svg = draw(answer, "svg").decode()
    assert algorithm.name in svg
    assert ("fresh records" in svg) == ("samples_per_client" not in answer["problem"])


@OPEN
def test_plan_counts_all_runs_and_the_calibration(name, simulations):
    request = open_request(name)
    algorithm, problem = algorithm_of(request.run), request.problem.build()
    costs = algorithm.costs(problem, request.run, algorithm.alternative_names)
    runs = simulations[name].resolved.runs
    assert costs == tuple(algorithm.work(problem, run) for run in runs.values())
    per_block = simulation.plan(request).seconds - find_join(name).allowance.of(request.target)
    assert per_block == pytest.approx(sum(work.calls / 2e5 + 3 * work.operations / 1e8 for work in costs))
    assert find_join(name).allowance.of(request.target) > 0.0


def test_plan_of_noisy_sgd_counts_its_runs_only():
    run = {"algorithm": "mu2-sgd", "method": "noisy-sgd", "rounds": 6}
    body = {"kind": "risk", "run": run, "problem": PROBLEM, "epsilon": 8.0, "delta": 1e-3}
    request = read_value(SimulationRequest, body, at="")
    algorithm = algorithm_of(request.run)
    assert len(algorithm.costs(request.problem.build(), request.run, algorithm.alternative_names)) == 2


def test_plan_without_a_grid_counts_no_noise():
    run = {"participants": 4, "rounds": 6, "local_steps": 2}
    quiet = {"algorithm": "norm-fedavg", "noise_levels": 0}
    plans = [
        simulation.plan(read_value(SimulationRequest, {"kind": "risk", "run": run | fields, "problem": PROBLEM}, at=""))
        for fields in ({"algorithm": "fedavg"}, quiet, quiet | {"quantization_levels": 8})
    ]
    assert 2.0 * plans[0].seconds == pytest.approx(plans[1].seconds)
    assert plans[1].seconds < plans[2].seconds


def test_plan_grows_as_delta_falls():
    small, ordinary = (
        simulation.plan(open_request("mb-sgd", delta=None, log10_delta=log)).seconds for log in (-300.0, -5.0)
    )
    assert small > ordinary + 5.0


@OPEN
def test_repetitions_do_not_depend_on_their_block(name, simulations):
    resolved = simulations[name].resolved
    single = replace(simulations[name], resolved=replace(resolved, block=1))
    together: Any = simulation.run_block(simulations[name], 0)
    for run, (excess, diagnostics, *_) in together.items():
        for place in range(3):
            own_excess, own_diagnostics, *_ = simulation.run_block(single, place)[run]
            assert own_excess.tobytes() == excess[place : place + 1].tobytes(), run
            assert {key: value[place] for key, value in diagnostics.items()} == {
                key: value[0] for key, value in own_diagnostics.items()
            }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.request.__name__)
def test_example_of_a_kind_is_read_from_python_and_http(kind):
    request = read_value(SimulationRequest, kind.example, at="")
    assert isinstance(request, kind.request)
    assert read_body(SimulationRequest, dict(kind.example)) == request
    assert simulation.plan(request).seconds < 20.0
    assert kind.size in kind.request.__dataclass_fields__


@pytest.mark.parametrize("name", RUNS)
def test_request_is_read_equally_from_python_and_http(name):
    run, problem = RUNS[name]
    body = {"kind": "risk", "run": {"algorithm": name, **run}, "problem": problem, "epsilon": 8.0, "delta": 1e-3}
    assert read_body(SimulationRequest, body) == read_value(SimulationRequest, body, at="")
    assert isinstance(read_value(SimulationRequest, body, at=""), RiskSimulation)


def test_guide_names_every_algorithm_alternative_and_problem():
    names = {algorithm.name for algorithm in ALGORITHMS}
    names |= {name for algorithm in ALGORITHMS for name in algorithm.alternative_names}
    names |= {problem.kind for algorithm in ALGORITHMS for problem in algorithm.problems}  # type: ignore[attr-defined]
    assert {name for name in names if f"`{name}`" not in GUIDE} == set()


# Experiments ---------------------------------------------------------------------------------------------------------
PRESET = pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)


def test_names_of_presets_are_the_literal():
    assert [preset.name for preset in PRESETS] == list(get_args(PresetName))


@PRESET
def test_guide_has_the_command_of_every_preset(preset):
    assert f"| `epsilond simulate {preset.name}` |" in GUIDE


@PRESET
def test_cells_of_a_preset_fill_its_grid_once(preset):
    cells = preset.cells(preset.repetitions, 3)
    names = {axis.name for axis in preset.axes}
    assert all({*cell.place} == names for cell in cells)
    values = [{cell.place[name] for cell in cells} for name in names]
    assert len({tuple(sorted(cell.place.items(), key=str)) for cell in cells}) == len(cells)
    product = 1
    for values_of_axis in values:
        product *= len(values_of_axis)
    assert len(cells) == product
    assert all(cell.simulation.seed == 3 for cell in cells)


@PRESET
def test_plan_of_a_preset_is_the_sum_over_its_cells(preset):
    plan = simulation.plan(PresetSimulation(preset=preset.name, repetitions=2))
    parts = [simulation.plan(cell.simulation) for cell in preset.cells(2, 0)]
    assert plan.blocks == sum(part.blocks for part in parts)
    assert plan.seconds == pytest.approx(sum(part.seconds for part in parts))
    assert plan.bytes == max(part.bytes for part in parts) < 4e9
