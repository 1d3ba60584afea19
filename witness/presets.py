"""The papers' experiments by name: grids of simulations that answer with a table of results."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.calibrators.answer import Caution, Served
from epsilond.simulators.files.folders import find_folder
from epsilond.witness.audits.audit import AUDIT
from epsilond.witness.cells import CellAnswer, table_cells
from epsilond.witness.data_files import DataFileAnswer, list_data_files
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.experiments import (
    asoodeh_figure_2,
    das_digits,
    das_normalised,
    lowy_silos,
    mb_sgd_bound,
    memberships,
    mu2_against_noisy_sgd,
    mu2_digits,
    ppsgd_digits,
    ppsgd_grid,
    ppsgd_synthetic,
    qtdl_against_printed,
    tdl_as_printed_audit,
    unlike_clients,
)
from epsilond.witness.experiments.networks import bietti_figure_1d, das_presets
from epsilond.witness.experiments.own_data import (
    bietti_figure_1a,
    bietti_figure_1b,
    bietti_figure_1c,
    bietti_figure_2,
    lowy_insurance,
    lowy_mnist,
    reshef_mnist,
)
from epsilond.witness.grid_ends import end_warnings
from epsilond.witness.kind import Prepared, SimulationKind, SimulationPlan, kind_of
from epsilond.witness.memberships.membership import MEMBERSHIP
from epsilond.witness.preset_warnings import cell_warnings, tuning_warnings
from epsilond.witness.risks.measurement import RISK
from epsilond.witness.risks.request import KIND, REPETITIONS, SEED
from epsilond.witness.trials.trials import TRIALS, TrialSimulation

CELL_KINDS: tuple[SimulationKind, ...] = (RISK, AUDIT, MEMBERSHIP, TRIALS)
"""Kinds of simulation for the cells of a preset; trials are of no other use."""

PRESETS: tuple[Preset, ...] = (
    mb_sgd_bound.PRESET,
    unlike_clients.PRESET,
    ppsgd_synthetic.PRESET,
    ppsgd_synthetic.FULL_PRESET,
    mu2_against_noisy_sgd.PRESET,
    qtdl_against_printed.PRESET,
    tdl_as_printed_audit.PRESET,
    *lowy_silos.PRESETS,
    asoodeh_figure_2.PRESET,
    ppsgd_digits.PRESET,
    ppsgd_grid.PRESET,
    mu2_digits.PRESET,
    mu2_digits.SHARED_PRESET,
    memberships.PRESET,
    memberships.SHORT_PRESET,
    *das_digits.PRESETS,
    das_normalised.PRESET,
    lowy_mnist.PRESET,
    lowy_insurance.PRESET,
    *reshef_mnist.PRESETS,
    bietti_figure_1a.PRESET,
    bietti_figure_1b.PRESET,
    bietti_figure_1c.PRESET,
    bietti_figure_2.PRESET,
    bietti_figure_1d.PRESET,
    *das_presets.PRESETS,
)
"""All experiments. `PresetName` has their names."""

PresetName = Literal[
    "mb-sgd-bound",
    "unlike-clients",
    "ppsgd-synthetic",
    "ppsgd-synthetic-full",
    "mu2-against-noisy-sgd",
    "qtdl-against-printed",
    "tdl-as-printed-audit",
    "lowy-logistic",
    "lowy-softmax",
    "lowy-regression",
    "lowy-logistic-short",
    "asoodeh-figure-2",
    "ppsgd-digits",
    "ppsgd-synthetic-grid",
    "mu2-digits",
    "mu2-digits-participants",
    "membership",
    "membership-short",
    "das-noise",
    "das-noise-short",
    "das-normalised",
    "lowy-mnist",
    "lowy-insurance",
    "reshef-table-1",
    "reshef-table-2",
    "bietti-figure-1a",
    "bietti-figure-1b",
    "bietti-figure-1c",
    "bietti-figure-2",
    "bietti-figure-1d",
    "das-table-2",
    "das-table-3",
    "das-table-4",
    "das-table-5",
    "das-table-6",
]
NAME = Quantity(description="name of the experiment")


@request
class PresetSimulation:
    """An experiment by its name. Absent fields take the values of the experiment."""

    kind: Annotated[Literal["preset"], KIND] = "preset"
    preset: Annotated[PresetName, NAME]
    repetitions: Annotated[int | None, REPETITIONS] = None
    seed: Annotated[int, SEED] = 0


@dataclass(frozen=True, kw_only=True)
class PresetAnswer:
    """The answer of an experiment: the result of every simulation, and the verdicts on the paper's claims.

    The simulations form a grid: an experiment varies one to three parameters, each of which is an axis of the figure.
    `cells` has one result for each point of the grid. `source` is the paper, with its section, figure or table.
    """

    kind: Literal["preset"] = "preset"
    preset: str
    title: str
    summary: str
    source: str
    across: Annotated[Axis, Served("horizontal axis of the figure")]
    lines: Annotated[Axis | None, Served("axis with a line for each value; absent if there is one line")] = None
    panels: Annotated[Axis | None, Served("axis with a panel for each value; absent if there is one panel")] = None
    stands_in_for: Annotated[str | None, Served("the paper's data and sizes, and their replacements here")] = None
    measure: Annotated[str | None, Served("name of the measured score; absent where it is the excess risk or ε")] = None
    findings: Annotated[
        tuple[Finding, ...] | None, Served("each claim of the paper on this experiment, with our verdict")
    ] = None
    repetitions: int
    beside: Annotated[Mapping[str, str], Served("short descriptions of the comparison runs, by name")]
    cells: tuple[CellAnswer, ...]
    data_files: Annotated[
        tuple[DataFileAnswer, ...] | None, Served("files that it read, with their checksums; absent if it reads none")
    ] = None
    warnings: tuple[Caution, ...]
    seed: int
    engine_version: str


def find_preset(request: PresetSimulation) -> Preset:
    """Return the definition of the experiment with the requested name."""
    return next(preset for preset in PRESETS if preset.name == request.preset)


def preset_cells(request: PresetSimulation) -> tuple[Cell, ...]:
    """Return the simulations of the requested experiment, each with its values of the varied parameters.

    Args:
        request: the request. Without a number of repetitions, the experiment's own number is used.

    Returns:
        The simulations, in the order of the grid.
    """
    preset = find_preset(request)
    return preset.cells(request.repetitions or preset.repetitions, request.seed)


def plan(request: PresetSimulation) -> SimulationPlan:
    """Estimate the cost of all simulations of an experiment, which run one after another.

    Equal trials take time only once, because their results are cached.

    Args:
        request: the request of the experiment.

    Returns:
        The number of blocks, the time in seconds on one core, and the memory of the largest block in bytes.
    """
    cells = preset_cells(request)
    plans = [_plan_cell(cell) for cell in cells]
    blocks = sum(cell_plan.blocks for cell_plan in plans)
    seconds = sum(plans[index].seconds for index in _first_of_equal_trials(cells))
    most_bytes = max(cell_plan.bytes for cell_plan in plans)
    return SimulationPlan(blocks=blocks, seconds=seconds, bytes=most_bytes)


def _first_of_equal_trials(cells: Sequence[Cell]) -> list[int]:
    """Return the indices of the simulations that take time, because no earlier simulation has the same trials.

    Trials are repeated trainings of one algorithm. Without noise they are the same at every ε, and run only once,
    because their results are cached.

    Args:
        cells: the simulations of the experiment.

    Returns:
        The indices in ascending order. All simulations that are not trials are included.
    """
    seen: set[TrialSimulation] = set()
    indices = []
    for index, cell in enumerate(cells):
        simulation = cell.simulation
        if isinstance(simulation, TrialSimulation):
            if simulation in seen:
                continue
            seen.add(simulation)
        indices.append(index)
    return indices


def _plan_cell(cell: Cell) -> SimulationPlan:
    """Estimate the cost of the simulation at one point of the grid."""
    return kind_of(cell.simulation, CELL_KINDS).plan(cell.simulation)


def check_data(request: PresetSimulation) -> None:
    """Check that each data set that the experiment reads has a folder on this machine.

    Args:
        request: the request of the experiment.

    Raises:
        InvalidInput: a data set has no folder. The fault is that of the field `preset`, because a request has no field
            for folders.
    """
    faults = []
    for name in find_preset(request).data:
        try:
            find_folder(name)
        except InvalidInput as error:
            faults += [Fault("/preset", f"reads the data set {name}, which {fault.message}") for fault in error.faults]
    if faults:
        raise InvalidInput(*faults)


def prepare(request: PresetSimulation) -> tuple[Prepared, ...]:
    """Prepare every simulation of the requested experiment to run.

    Args:
        request: the request of the experiment.

    Returns:
        The simulations with calibrated noise, in the order of the grid.

    Raises:
        NoCertificate: no noise can be certified for a simulation's target.
    """
    return tuple(_prepare_cell(cell) for cell in preset_cells(request))


def _prepare_cell(cell: Cell) -> Prepared:
    """Prepare one simulation of an experiment: calibrate its noise, and estimate its cost.

    Args:
        cell: the simulation, with its settings in the experiment's grid.

    Returns:
        The request with its estimated cost, and with the calibrated runs that its repetitions use.
    """
    simulation = cell.simulation
    kind = kind_of(simulation, CELL_KINDS)
    return Prepared(request=simulation, plan=kind.plan(simulation), resolved=kind.prepare(simulation))


def run_block(resolved: Sequence[Prepared], index: int) -> object:
    """Run one block of one simulation of an experiment.

    Args:
        resolved: the simulations, prepared.
        index: index of the block. Blocks are numbered through all simulations, in order.

    Returns:
        The results of the block as plain data, for `assemble`.

    Raises:
        IndexError: the simulations have fewer blocks.
    """
    first_block = 0
    for cell in resolved:
        # Blocks are numbered through all simulations: find the one with this block.
        next_first_block = first_block + cell.plan.blocks
        if index < next_first_block:
            kind = kind_of(cell.request, CELL_KINDS)
            return kind.run_block(cell.resolved, index - first_block)
        first_block = next_first_block
    raise IndexError(index)


def assemble(request: PresetSimulation, resolved: Sequence[Prepared], blocks: Sequence[object]) -> PresetAnswer:
    """Assemble the answer of an experiment: its table of results, and the verdicts on the paper's claims.

    An experiment (preset) runs one simulation for each point of a grid of parameters. The work of a simulation is split
    into blocks, which can run in other processes.

    Args:
        request: the request, which names the experiment, its seed and its repetitions.
        resolved: every simulation, prepared, in the order of the grid.
        blocks: results of the blocks of all simulations, one simulation after another.

    Returns:
        The answer, with a table cell for each simulation, warnings, and the data files that were read.
    """
    preset = find_preset(request)
    answers = _assemble_cells(resolved, blocks)
    answers_of_cells = list(zip(preset_cells(request), answers, strict=True))

    # The verdicts on the paper's claims follow from the cells of the table.
    cells = table_cells(preset, answers_of_cells)
    findings = None if preset.judge is None else tuple(preset.judge(cells))
    all_warnings = list(tuning_warnings(preset))
    all_warnings += end_warnings(preset, answers_of_cells, cells)
    all_warnings += cell_warnings(answers_of_cells)
    data_files = itertools.chain.from_iterable(getattr(answer, "data_files", ()) for answer in answers)
    return PresetAnswer(
        preset=preset.name,
        title=preset.title,
        summary=preset.summary,
        source=preset.source,
        across=preset.across,
        lines=preset.lines,
        panels=preset.panels,
        repetitions=request.repetitions or preset.repetitions,
        beside=_comparison_titles(answers),
        cells=cells,
        stands_in_for=preset.stands_in_for,
        measure=preset.measure,
        findings=findings,
        data_files=list_data_files(data_files),
        warnings=tuple(all_warnings),
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _assemble_cells(resolved: Sequence[Prepared], blocks: Sequence[object]) -> list[object]:
    """Assemble the answer of each simulation from its own blocks.

    Args:
        resolved: every simulation, prepared, in the order of the grid.
        blocks: results of the blocks of all simulations, one simulation after another.

    Returns:
        The answers in the same order.
    """
    # Indices at which the blocks of each simulation begin, and the end of the last one.
    bounds = itertools.accumulate((cell.plan.blocks for cell in resolved), initial=0)
    answers = []
    for cell, (first, last) in zip(resolved, itertools.pairwise(bounds), strict=True):
        kind = kind_of(cell.request, CELL_KINDS)
        answers.append(kind.assemble(cell.request, cell.resolved, blocks[first:last]))
    return answers


def _comparison_titles(answers: Sequence[object]) -> dict[str, str]:
    """Return the titles of the runs that private runs are compared with, by name.

    The first series of an answer is the private run; the remaining ones are comparisons.

    Args:
        answers: the answers of all simulations.

    Returns:
        The titles by the names of the runs.
    """
    titles = {}
    for answer in answers:
        for run in getattr(answer, "series", ())[1:]:
            titles[run.name] = run.title
    return titles


PRESET = SimulationKind(
    request=PresetSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    check_data=check_data,
    answer=PresetAnswer,
    size="repetitions",
    example={"kind": "preset", "preset": "mb-sgd-bound", "repetitions": 5},
)
