"""What the table of an experiment keeps of each simulation, and of several that differ in what was tuned, the best."""

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
    beside: Annotated[Mapping[str, Measured] | None, Served("final excess of the runs set beside it")] = None
    scores_beside: Annotated[Mapping[str, Scores] | None, Served("their scores on records held out")] = None
    tuned: Annotated[Mapping[str, float | int | str] | None, Served("what was chosen, by run")] = None
    bounds: Annotated[tuple[BoundAnswer, ...] | None, Served("on the final excess")] = None
    epsilon_lower: Annotated[Number | None, Served("that an audit proves, with its confidence")] = None
    test_epsilon_lower: Annotated[float | None, Served("what its test proves, without impossible outputs")] = None
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
    parameters: Annotated[Any, Served("what it was run with")] = None


def tabled(preset: Preset, placed: Sequence[tuple[Cell, Any]]) -> tuple[CellAnswer, ...]:
    """Every simulation's own answer as a cell; of those that differ in what was tuned alone, one."""
    cells = [TABLED[answer.kind](cell, answer) for cell, answer in placed]
    if preset.tuned is None:
        return tuple(cells)
    groups: dict[tuple[object, ...], list[CellAnswer]] = {}
    for cell in cells:
        rest = tuple(value for name, value in cell.place.items() if name != preset.tuned.name)
        groups.setdefault(rest, []).append(cell)
    return tuple(_best(group, preset.tuned.name) for group in groups.values())


def _best(cells: Sequence[CellAnswer], tuned: str) -> CellAnswer:
    """The cell of least mean excess; each run beside it is that of the cell where its own is least."""
    private = min(cells, key=_excess)
    chosen = {"private": private.place[tuned]}
    beside, scores = {}, {}
    for name in private.beside or {}:
        own = min(cells, key=lambda cell: _mean((cell.beside or {})[name]))
        beside[name] = (own.beside or {})[name]
        chosen[name] = own.place[tuned]
        if own.scores_beside is not None:
            scores[name] = own.scores_beside[name]
    return replace(
        private,
        place={name: value for name, value in private.place.items() if name != tuned},
        beside=beside,
        scores_beside=scores or None,
        tuned=chosen,
    )


def _excess(cell: CellAnswer) -> float:
    return math.inf if cell.final_excess is None else _mean(cell.final_excess)


def _mean(measured: Measured) -> float:
    return math.inf if math.isnan(measured.mean) else measured.mean


def _risk_cell(cell: Cell, answer: RiskAnswer) -> CellAnswer:
    scores = {each.name: each.scores for each in answer.series[1:] if each.scores is not None}
    return CellAnswer(
        place=cell.place,
        kind="risk",
        algorithm=answer.algorithm,
        epsilon=_epsilon(cell, answer),
        claimed_epsilon=None if cell.claimed is None else cell.claimed.epsilon,
        rounds=answer.rounds,
        final_excess=answer.final_excess,
        scores=answer.series[0].scores,
        beside={each.name: each.final for each in answer.series[1:]},
        scores_beside=scores or None,
        bounds=answer.bounds,
        published=cell.published,
        parameters=answer.parameters,
    )


def _epsilon(cell: Cell, answer: RiskAnswer) -> Ends | None:
    """Of calibrated noise as it was certified; of noise that comes with a claim, what is true of it."""
    guarantee: GuaranteeAnswer | None = answer.guarantee
    if guarantee is not None:
        return guarantee.epsilon
    if cell.claimed is None:
        return None
    run = cell.simulation.run
    account = find_join(algorithm_of(run).name).account
    assert account is not None, "noise with a claim is of an algorithm that can account for it"
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
    lower = max(each.epsilon_lower for each in answer.attacks)
    return CellAnswer(
        place=cell.place,
        kind="membership",
        rounds=answer.training.rounds,
        epsilon=answer.certified,
        epsilon_lower=lower,
        test_epsilon_lower=lower,
        attacks={each.attack: each.epsilon_lower for each in answer.attacks},
        parameters=answer.training,
    )


TABLED: Mapping[str, Callable[[Cell, Any], CellAnswer]] = {
    "risk": _risk_cell,
    "audit": _audit_cell,
    "membership": _membership_cell,
}
"""How the answer of each kind of simulation becomes a cell."""
