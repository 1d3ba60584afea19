"""The papers' experiments by name: each is a grid of simulations, and answers with a table of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.quantities import Quantity, request
from epsilond.calibrators.answer import Caution, Ends, GuaranteeAnswer, Number, Served
from epsilond.witness.audits.answer import AuditAnswer, ClaimChecked
from epsilond.witness.experiment import Axis, Cell, Place, Preset
from epsilond.witness.experiments import (
    mb_sgd_bound,
    mu2_against_noisy_sgd,
    ppsgd_synthetic,
    qtdl_against_printed,
    tdl_as_printed_audit,
)
from epsilond.witness.risks.answer import BoundAnswer, Measured, RiskAnswer
from epsilond.witness.risks.measurement import KIND, REPETITIONS, SEED
from epsilond.witness.simulation import Kind, Plan, Prepared, kind_of

PRESETS: tuple[Preset, ...] = (
    mb_sgd_bound.PRESET,
    ppsgd_synthetic.PRESET,
    ppsgd_synthetic.FULL_PRESET,
    mu2_against_noisy_sgd.PRESET,
    qtdl_against_printed.PRESET,
    tdl_as_printed_audit.PRESET,
)
"""THE list of presets."""

PresetName = Literal[
    "mb-sgd-bound",
    "ppsgd-synthetic",
    "ppsgd-synthetic-full",
    "mu2-against-noisy-sgd",
    "qtdl-against-printed",
    "tdl-as-printed-audit",
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
class CellAnswer:
    """One simulation of the grid. Parts that its kind does not have are absent."""

    place: Annotated[Place, Served("a value for each axis")]
    kind: Literal["risk", "audit"]
    algorithm: Annotated[str | None, Served("that was run")] = None
    epsilon: Annotated[Ends | None, Served("certified, at the δ of the target or of the audit")] = None
    rounds: Annotated[int | None, Served("of the run")] = None
    final_excess: Annotated[Measured | None, Served("of the private run's output")] = None
    beside: Annotated[Mapping[str, Measured] | None, Served("final excess of the runs set beside it")] = None
    bounds: Annotated[tuple[BoundAnswer, ...] | None, Served("on the final excess")] = None
    epsilon_lower: Annotated[Number | None, Served("that an audit proves, with its confidence")] = None
    test_epsilon_lower: Annotated[float | None, Served("what its test proves, without impossible outputs")] = None
    claim: Annotated[ClaimChecked | None, Served("that an audit checks")] = None
    parameters: Annotated[Any, Served("what it was run with")] = None


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


def plan(request: PresetSimulation) -> Plan:
    """All cells, one after another."""
    plans = [kind_of(cell.simulation).plan(cell.simulation) for cell in cells_of(request)]
    return Plan(
        blocks=sum(each.blocks for each in plans),
        seconds=sum(each.seconds for each in plans),
        bytes=max(each.bytes for each in plans),
    )


def prepare(request: PresetSimulation) -> tuple[Prepared, ...]:
    """Every cell, ready to run."""
    return tuple(
        Prepared(each, kind_of(each).plan(each), kind_of(each).prepare(each))
        for each in (cell.simulation for cell in cells_of(request))
    )


def run_block(resolved: Sequence[Prepared], index: int) -> Any:
    """A block of one of the cells; blocks are counted through them."""
    for cell in resolved:
        if index < cell.plan.blocks:
            return kind_of(cell.request).run_block(cell.resolved, index)
        index -= cell.plan.blocks
    raise IndexError(index)


def assemble(request: PresetSimulation, resolved: Sequence[Prepared], blocks: Sequence[Any]) -> PresetAnswer:
    """Every cell's own answer, of which the table keeps what the grid is about."""
    preset = preset_of(request)
    ends = list(accumulate((cell.plan.blocks for cell in resolved), initial=0))
    answers = [
        kind_of(cell.request).assemble(cell.request, cell.resolved, blocks[first:last])
        for cell, (first, last) in zip(resolved, pairwise(ends), strict=True)
    ]
    placed = list(zip(cells_of(request), answers, strict=True))
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
        cells=tuple(TABLED[answer.kind](cell.place, answer) for cell, answer in placed),
        warnings=tuple(_placed(cell, each) for cell, answer in placed for each in getattr(answer, "warnings", ())),
        seed=request.seed,
        engine_version=ENGINE_VERSION,
    )


def _placed(cell: Cell, warning: Caution) -> Caution:
    where = ", ".join(f"{name} {value}" for name, value in cell.place.items())
    return Caution(code=warning.code, message=f"{where}: {warning.message}")


def _risk_cell(place: Place, answer: RiskAnswer) -> CellAnswer:
    guarantee: GuaranteeAnswer | None = answer.guarantee
    return CellAnswer(
        place=place,
        kind="risk",
        algorithm=answer.algorithm,
        epsilon=None if guarantee is None else guarantee.epsilon,
        rounds=answer.rounds,
        final_excess=answer.final_excess,
        beside={each.name: each.final for each in answer.series[1:]},
        bounds=answer.bounds,
        parameters=answer.parameters,
    )


def _audit_cell(place: Place, answer: AuditAnswer) -> CellAnswer:
    return CellAnswer(
        place=place,
        kind="audit",
        epsilon=answer.certified,
        epsilon_lower=answer.escape.epsilon_lower if answer.evidence == "escape" else answer.epsilon.lower,
        test_epsilon_lower=answer.epsilon.lower,
        claim=answer.claim,
    )


TABLED: Mapping[str, Callable[[Place, Any], CellAnswer]] = {"risk": _risk_cell, "audit": _audit_cell}
"""How the answer of each kind of simulation becomes a cell."""

PRESET = Kind(
    request=PresetSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    answer=PresetAnswer,
    size="repetitions",
    example={"kind": "preset", "preset": "mb-sgd-bound", "repetitions": 5},
)
