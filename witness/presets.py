"""The papers' experiments by name: each is a grid of simulations, and answers with a table of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.quantities import Quantity, request
from epsilond.calibrators.answer import Caution, Served
from epsilond.witness.audits.audit import AUDIT
from epsilond.witness.cells import CellAnswer, tabled
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.experiments import (
    asoodeh_figure_2,
    das_digits,
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
from epsilond.witness.kind import Prepared, SimulationKind, SimulationPlan, kind_of
from epsilond.witness.memberships.membership import MEMBERSHIP
from epsilond.witness.risks.measurement import KIND, REPETITIONS, RISK, SEED

CELL_KINDS: tuple[SimulationKind, ...] = (RISK, AUDIT, MEMBERSHIP)
"""Kinds of simulation that a cell of a preset may be of: all except the presets themselves."""

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
)
"""THE list of presets."""

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
]
NAME = Quantity(description="which experiment")


@request
class PresetSimulation:
    """An experiment by its name. What is absent is as the experiment has it."""

    kind: Annotated[Literal["preset"], KIND] = "preset"
    preset: Annotated[PresetName, NAME]
    repetitions: Annotated[int | None, REPETITIONS] = None
    seed: Annotated[int, SEED] = 0


@dataclass(frozen=True, kw_only=True)
class PresetAnswer:
    """The whole answer: the grid, cell by cell."""

    kind: Literal["preset"] = "preset"
    preset: str
    title: str
    summary: str
    source: str
    across: Axis
    lines: Annotated[Axis | None, Served("absent if there is one line")] = None
    panels: Annotated[Axis | None, Served("absent if there is one panel")] = None
    stands_in_for: Annotated[str | None, Served("the paper's data and sizes, and what was run instead")] = None
    measure: Annotated[str | None, Served("the score that it is about; absent: the excess risk")] = None
    findings: Annotated[tuple[Finding, ...] | None, Served("the paper's claims, and what was found of each")] = None
    repetitions: int
    beside: Annotated[Mapping[str, str], Served("what the runs set beside are, in a few words, by name")]
    cells: tuple[CellAnswer, ...]
    warnings: tuple[Caution, ...]
    seed: int
    engine_version: str


def preset_of(request: PresetSimulation) -> Preset:
    """The experiment of that name."""
    return next(each for each in PRESETS if each.name == request.preset)


def cells_of(request: PresetSimulation) -> tuple[Cell, ...]:
    """Its simulations."""
    preset = preset_of(request)
    return preset.cells(request.repetitions or preset.repetitions, request.seed)


def plan(request: PresetSimulation) -> SimulationPlan:
    """All cells, one after another."""
    plans = [kind_of(cell.simulation, CELL_KINDS).plan(cell.simulation) for cell in cells_of(request)]
    return SimulationPlan(
        blocks=sum(each.blocks for each in plans),
        seconds=sum(each.seconds for each in plans),
        bytes=max(each.bytes for each in plans),
    )


def prepare(request: PresetSimulation) -> tuple[Prepared, ...]:
    """Every cell, ready to run."""
    return tuple(
        Prepared(each, kind_of(each, CELL_KINDS).plan(each), kind_of(each, CELL_KINDS).prepare(each))
        for each in (cell.simulation for cell in cells_of(request))
    )


def run_block(resolved: Sequence[Prepared], index: int) -> object:
    """A block of one of the cells; blocks are counted through them."""
    for cell in resolved:
        if index < cell.plan.blocks:
            return kind_of(cell.request, CELL_KINDS).run_block(cell.resolved, index)
        index -= cell.plan.blocks
    raise IndexError(index)


def assemble(request: PresetSimulation, resolved: Sequence[Prepared], blocks: Sequence[object]) -> PresetAnswer:
    """Every cell's own answer, of which the table keeps what the grid is about."""
    preset = preset_of(request)
    ends = list(accumulate((cell.plan.blocks for cell in resolved), initial=0))
    answers = [
        kind_of(cell.request, CELL_KINDS).assemble(cell.request, cell.resolved, blocks[first:last])
        for cell, (first, last) in zip(resolved, pairwise(ends), strict=True)
    ]
    placed = list(zip(cells_of(request), answers, strict=True))
    cells = tabled(preset, placed)
    return PresetAnswer(
        preset=preset.name,
        title=preset.title,
        summary=preset.summary,
        source=preset.source,
        across=preset.across,
        lines=preset.lines,
        panels=preset.panels,
        repetitions=request.repetitions or preset.repetitions,
        beside={each.name: each.title for answer in answers for each in getattr(answer, "series", ())[1:]},
        cells=cells,
        stands_in_for=preset.stands_in_for,
        measure=preset.measure,
        findings=None if preset.judge is None else tuple(preset.judge(cells)),
        warnings=(*_tuning(preset), *_placed_all(placed)),
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _tuning(preset: Preset) -> tuple[Caution, ...]:
    if preset.tuned is None:
        return ()
    message = (
        f"{preset.tuned.title}: the best was chosen for each run by its excess risk on these very runs, as papers do; "
        "choosing on private data costs privacy, which is not counted here"
    )
    return (Caution(code="tuned-on-data", message=message),)


def _placed_all(placed: Sequence[tuple[Cell, object]]) -> Iterator[Caution]:
    """Warnings that cells share stand once, with their number."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell, answer in placed:
        for each in getattr(answer, "warnings", ()):
            found.setdefault((each.code, each.message), []).append(cell)
    for (code, message), cells in found.items():
        if len(cells) > 3:
            yield Caution(code=code, message=f"{len(cells)} cells: {message}")
        else:
            yield from (_placed(cell, Caution(code=code, message=message)) for cell in cells)


def _placed(cell: Cell, warning: Caution) -> Caution:
    where = ", ".join(f"{name} {value}" for name, value in cell.place.items())
    return Caution(code=warning.code, message=f"{where}: {warning.message}")


PRESET = SimulationKind(
    request=PresetSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    answer=PresetAnswer,
    size="repetitions",
    example={"kind": "preset", "preset": "mb-sgd-bound", "repetitions": 5},
)
