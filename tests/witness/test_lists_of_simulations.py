"""Properties of every algorithm, join, kind and experiment in the lists."""

import json
import math
import pickle
import re
from collections import defaultdict
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from epsilond.calibrators.answer import as_json
from epsilond.reading import read_body, read_value
from epsilond.simulators.algorithms.kinds import ALGORITHMS, Run, algorithm_of
from epsilond.simulators.files import federated_emnist, medical_costs, stack_overflow
from epsilond.simulators.files.folders import DATA_NAMES
from epsilond.simulators.files.images import MNIST_FILES
from epsilond.simulators.problems.problem_specs import AnyProblem
from epsilond.witness import simulation
from epsilond.witness.experiments import lowy_silo_grid, lowy_silos
from epsilond.witness.experiments.own_data import bietti_figure_2
from epsilond.witness.experiments.own_data import bietti_users as users
from epsilond.witness.figures import draw
from epsilond.witness.joins import JOINS, find_join
from epsilond.witness.kind import kind_of
from epsilond.witness.kinds import KINDS
from epsilond.witness.presets import CELL_KINDS, PRESETS, PresetName, PresetSimulation, find_preset
from epsilond.witness.requests import SimulationRequest
from epsilond.witness.risks.request import RiskSimulation

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


GRIDS = {"lowy-regression": "arm", "bietti-figure-2": "data"}
"""Axis of an experiment, by its name, with a grid for each value: they differ in the values on another axis."""
WITH_EQUAL_TRIALS = ("lowy-mnist", "lowy-insurance")
"""Experiments with arms without noise, whose trials are the same at each ε."""


@PRESET
def test_guide_has_every_data_set_of_a_preset(preset):
    assert [name for name in preset.data if f"\n| `{name}` | " not in GUIDE] == []


def test_guide_has_every_data_set_with_the_names_of_its_files():
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", GUIDE.partition("| data set | files")[2], flags=re.MULTILINE))
    assert set(rows) == set(DATA_NAMES) == {name for preset in PRESETS for name in preset.data}
    known = {
        "mnist": [file for pair in MNIST_FILES for file in pair],
        "medical-costs": (medical_costs.FILE,),
        "federated-emnist": federated_emnist.DIGIT_FILES,
        "stack-overflow": (stack_overflow.DATABASE, stack_overflow.WORD_COUNTS, stack_overflow.TAG_COUNTS),
    }
    for name, files in known.items():
        assert [file.names[0] for file in files if f"`{file.names[0]}`" not in rows[name]] == [], name


@PRESET
def test_cells_of_a_preset_fill_its_grids_once(preset):
    cells = preset.cells(preset.repetitions, 3)
    names = {axis.name for axis in preset.axes} - ({preset.across.name} if preset.curve else set())
    assert all({*cell.place} == names for cell in cells)
    assert len({tuple(sorted(cell.place.items(), key=str)) for cell in cells}) == len(cells)
    grids = defaultdict(list)
    for cell in cells:
        grids[cell.place[GRIDS[preset.name]] if preset.name in GRIDS else None].append(cell)
    for grid in grids.values():
        assert len(grid) == math.prod(len({cell.place[name] for cell in grid}) for name in names)
    assert all(cell.simulation.seed == 3 for cell in cells)


def values_by(name, axis, other):
    """Return the values on an axis of an experiment, by the value on another axis."""
    preset = find_preset(PresetSimulation(preset=name))
    values = defaultdict(set)
    for cell in preset.cells(preset.repetitions, 0):
        values[cell.place[other]].add(cell.place[axis])
    return dict(values)


def test_larger_epsilons_of_the_regression_are_those_of_certified_noise_only():
    printed = set(lowy_silos.INSURANCE["epsilons"])
    epsilons = values_by("lowy-regression", "epsilon", "arm")
    assert epsilons.pop(lowy_silo_grid.PRINTED) == printed
    assert len(epsilons) == 3
    assert all(values == printed | {6.0, 12.0} for values in epsilons.values())


def test_each_data_set_of_figure_2_has_the_noises_of_its_study():
    noises = values_by("bietti-figure-2", "noise_multiplier", "data")
    studies = {panel: set(users.STUDIES[study].noise_multipliers) for panel, study in bietti_figure_2.PANELS.items()}
    assert noises == studies
    assert len({frozenset(values) for values in noises.values()}) == 2, "the data sets have unlike noises"


def repeated_seconds(cells):
    """Return the time of the trials that an earlier cell has, too. Trials are equal if their fields are."""
    trials = [cell.simulation for cell in cells if cell.simulation.kind == "trials"]
    repeated = [each for index, each in enumerate(trials) if each in trials[:index]]
    return sum(each.arm.seconds * each.repetitions for each in repeated)


@PRESET
def test_plan_of_a_preset_is_the_sum_over_its_cells_with_equal_trials_once(preset):
    plan = simulation.plan(PresetSimulation(preset=preset.name, repetitions=2))
    parts = [kind_of(cell.simulation, CELL_KINDS).plan(cell.simulation) for cell in preset.cells(2, 0)]
    assert plan.blocks == sum(part.blocks for part in parts)
    every_cell = sum(part.seconds for part in parts)
    assert (plan.seconds < 0.9 * every_cell) == (preset.name in WITH_EQUAL_TRIALS)
    assert plan.seconds == pytest.approx(every_cell - repeated_seconds(preset.cells(2, 0)))
    assert plan.bytes == max(part.bytes for part in parts) < 4e9
