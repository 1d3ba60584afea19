"""Cells of an experiment's table: one for each simulation, or the best of several that differ only in a tuned value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from epsilond.calibrators.answer import Ends, GuaranteeAnswer, Number, Served
from epsilond.simulators.algorithms.kinds import algorithm_of
from epsilond.witness.audits.answer import AuditAnswer, ClaimChecked
from epsilond.witness.experiment import Cell, Place, Preset
from epsilond.witness.joins import find_join
from epsilond.witness.memberships.answer import MembershipAnswer
from epsilond.witness.risks.answer import BoundAnswer, Measured, RiskAnswer
from epsilond.witness.risks.measurement import build

Scores = Mapping[str, Measured]


@dataclass(frozen=True, kw_only=True)
class CellAnswer:
    """One simulation of the grid. Parts that its kind does not have are absent."""

    place: Annotated[Place, Served("a value for each axis")]
    kind: Literal["risk", "audit", "membership"]
    algorithm: Annotated[str | None, Served("that was run")] = None
    epsilon: Annotated[Ends | None, Served("certified, at the δ of the target, of the claim or of the audit")] = None
    claimed_epsilon: Annotated[float | None, Served("that a paper claims of the noise, where that is as printed")] = (
        None
    )
    rounds: Annotated[int | None, Served("of the run")] = None
    final_excess: Annotated[Measured | None, Served("of the private run's output")] = None
    scores: Annotated[Scores | None, Served("of its output on records held out, by name")] = None
    beside: Annotated[Mapping[str, Measured] | None, Served("final excess of the comparison runs")] = None
    scores_beside: Annotated[Mapping[str, Scores] | None, Served("their scores on records held out")] = None
    tuned: Annotated[Mapping[str, float | int | str] | None, Served("chosen value, by run")] = None
    bounds: Annotated[tuple[BoundAnswer, ...] | None, Served("on the final excess")] = None
    epsilon_lower: Annotated[Number | None, Served("that an audit proves, with its confidence")] = None
    test_epsilon_lower: Annotated[float | None, Served("bound that its test proves, without impossible outputs")] = None
    claim: Annotated[ClaimChecked | None, Served("that an audit checks")] = None
    attacks: Annotated[
        Mapping[str, float] | None, Served("lower bounds on ε that attacks on trained models prove, by attack")
    ] = None
    log10_deltas: Annotated[
        Mapping[str, Number] | None, Served("of formulas at the ε of this place, by the reading they are of")
    ] = None
    published: Annotated[
        Mapping[str, float] | None, Served("scores that the paper prints at this place, on its own data, by run")
    ] = None
    parameters: Annotated[Any, Served("parameters of the run")] = None


def table_cells(preset: Preset, answers: Sequence[tuple[Cell, Any]]) -> tuple[CellAnswer, ...]:
    """Return the table of an experiment.

    Args:
        preset: the experiment.
        answers: each cell with the answer of its simulation.

    Returns:
        One cell for each simulation. If the experiment tunes an axis, one for each group that differs only in that
        axis.
    """
    cells = [CELL_MAKERS[answer.kind](cell, answer) for cell, answer in answers]
    if preset.tuned is None:
        return tuple(cells)
    groups: dict[tuple[object, ...], list[CellAnswer]] = {}
    for cell in cells:
        fixed_values = tuple(value for name, value in cell.place.items() if name != preset.tuned.name)
        groups.setdefault(fixed_values, []).append(cell)
    return tuple(_best(group, preset.tuned.name) for group in groups.values())


def _best(cells: Sequence[CellAnswer], tuned: str) -> CellAnswer:
    """Merge cells that differ only in a tuned value, such as the step size, into one with the best value of each run.

    The result is the cell in which the private run has the least mean excess risk. Each compared run is replaced by
    that of the cell in which its own mean is least. The chosen values are stated in `tuned`.

    Args:
        cells: cells that differ only in the tuned value.
        tuned: name of the tuned axis.
    """
    best = min(cells, key=_excess)
    chosen = {"private": best.place[tuned]}
    excess, scores = {}, {}
    for run in best.beside or {}:
        best_of_run = min(cells, key=lambda cell: _mean((cell.beside or {})[run]))
        excess[run] = (best_of_run.beside or {})[run]
        chosen[run] = best_of_run.place[tuned]
        if best_of_run.scores_beside is not None:
            scores[run] = best_of_run.scores_beside[run]
    return replace(
        best,
        place={name: value for name, value in best.place.items() if name != tuned},
        beside=excess,
        scores_beside=scores or None,
        tuned=chosen,
    )


def _excess(cell: CellAnswer) -> float:
    """Return the mean final excess, infinite if it was not measured."""
    return math.inf if cell.final_excess is None else _mean(cell.final_excess)


def _mean(measured: Measured) -> float:
    """Return the mean, infinite instead of NaN so that it is never least."""
    return math.inf if math.isnan(measured.mean) else measured.mean


def _risk_cell(cell: Cell, answer: RiskAnswer) -> CellAnswer:
    private, *comparisons = answer.series
    scores = {run.name: run.scores for run in comparisons if run.scores is not None}
    return CellAnswer(
        place=cell.place,
        kind="risk",
        algorithm=answer.algorithm,
        epsilon=_epsilon(cell, answer),
        claimed_epsilon=None if cell.claimed is None else cell.claimed.epsilon,
        rounds=answer.rounds,
        final_excess=answer.final_excess,
        scores=private.scores,
        beside={run.name: run.final for run in comparisons},
        scores_beside=scores or None,
        bounds=answer.bounds,
        published=cell.published,
        parameters=answer.parameters,
    )


def _epsilon(cell: Cell, answer: RiskAnswer) -> Ends | None:
    """Return the certified ε of the noise of a cell's private run.

    Calibrated noise has the ε of its calibration. Given noise is accounted for if a paper claims an ε for it, at the δ
    of the claim. The result is None for all other noise.

    Raises:
        NoCertificate: no theorem certifies the given noise.
    """
    guarantee: GuaranteeAnswer | None = answer.guarantee
    if guarantee is not None:
        return guarantee.epsilon
    if cell.claimed is None:
        return None
    run = cell.simulation.run
    account = find_join(algorithm_of(run).name).account
    assert account is not None, "a claim requires an algorithm that can account for given noise"
    return Ends.of(account(build(cell.simulation.problem, run), run, math.log(cell.claimed.delta)))


def _audit_cell(cell: Cell, answer: AuditAnswer) -> CellAnswer:
    return CellAnswer(
        place=cell.place,
        kind="audit",
        epsilon=answer.certified,
        epsilon_lower=answer.escape.epsilon_lower if answer.evidence == "escape" else answer.epsilon.lower,
        test_epsilon_lower=answer.epsilon.lower,
        claim=answer.claim,
        log10_deltas=cell.log10_deltas,
    )


def _membership_cell(cell: Cell, answer: MembershipAnswer) -> CellAnswer:
    lower = max(attack.epsilon_lower for attack in answer.attacks)
    return CellAnswer(
        place=cell.place,
        kind="membership",
        rounds=answer.training.rounds,
        epsilon=answer.certified,
        epsilon_lower=lower,
        test_epsilon_lower=lower,
        attacks={attack.attack: attack.epsilon_lower for attack in answer.attacks},
        parameters=answer.training,
    )


CELL_MAKERS: Mapping[str, Callable[[Cell, Any], CellAnswer]] = {
    "risk": _risk_cell,
    "audit": _audit_cell,
    "membership": _membership_cell,
}
"""Functions that turn the answer of a simulation into a cell, by kind of simulation."""
