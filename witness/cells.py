"""Cells of an experiment's table: one for each simulation, or the best of several that differ only in a tuned value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from epsilond.witness.trials.curves import split_scores
from epsilond.witness.trials.trials import TrialsAnswer

Scores = Mapping[str, Measured]


@dataclass(frozen=True, kw_only=True)
class CellAnswer:
    """Result of one simulation of an experiment's grid. Fields that its kind of simulation does not have are None.

    A cell belongs to one place of the grid, that is, one value on each axis, such as ε and an algorithm. Simulations of
    kind `risk` measure excess risk. An `audit` attacks a mechanism, `membership` attacks trained models, and `trials`
    train an algorithm repeatedly. All fields except `kind` have a description of their own.
    """

    place: Annotated[Place, Served("its value on each axis of the grid")]
    kind: Literal["risk", "audit", "membership", "trials"]
    algorithm: Annotated[str | None, Served("name of the algorithm that was run")] = None
    epsilon: Annotated[Ends | None, Served("certified ε, at the δ of the target, of the claim or of the audit")] = None
    claimed_epsilon: Annotated[float | None, Served("ε that a paper claims for its printed noise, if that is used")] = (
        None
    )
    rounds: Annotated[int | None, Served("number of rounds of the run")] = None
    final_excess: Annotated[Measured | None, Served("excess risk of the private run's output")] = None
    scores: Annotated[Scores | None, Served("scores of its output on records held out, by name")] = None
    beside: Annotated[Mapping[str, Measured] | None, Served("excess risk of the comparison runs' outputs")] = None
    scores_beside: Annotated[Mapping[str, Scores] | None, Served("their scores on records held out")] = None
    tuned: Annotated[Mapping[str, float | int | str] | None, Served("chosen parameter value, by run")] = None
    bounds: Annotated[tuple[BoundAnswer, ...] | None, Served("theorems' bounds on the final excess risk")] = None
    epsilon_lower: Annotated[Number | None, Served("lower bound on ε that an audit proves, with its confidence")] = None
    test_epsilon_lower: Annotated[float | None, Served("bound that its test proves, without impossible outputs")] = None
    claim: Annotated[ClaimChecked | None, Served("claimed ε that an audit checks")] = None
    attacks: Annotated[
        Mapping[str, float] | None, Served("lower bounds on ε that attacks on trained models prove, by attack")
    ] = None
    log10_deltas: Annotated[
        Mapping[str, Number] | None, Served("log10 δ of a formula at the ε of this place, by its reading: printed, …")
    ] = None
    published: Annotated[
        Mapping[str, float] | None, Served("scores that the paper prints at this place, on its own data, by run")
    ] = None
    parameters: Annotated[Any, Served("parameters of the run")] = None


def table_cells(preset: Preset, answers: Sequence[tuple[Cell, Any]]) -> tuple[CellAnswer, ...]:
    """Return the result table of an experiment, from the answers of its simulations.

    A cell of the table is the result at one point of a parameter grid, that is, at one value on each axis, such as ε
    and an algorithm.

    Args:
        preset: the experiment.
        answers: each simulation of the experiment's grid with its answer.

    Returns:
        Usually one cell for each simulation. A simulation that measures a curve has one cell for each point of the
        curve. Simulations that differ only in a tuned value, such as the step size, share one cell with the best value.
    """
    cells = [CELL_MAKERS[answer.kind](cell, answer) for cell, answer in answers]
    if preset.curve:
        curves = [_split_curve(cell, preset.across.name) for cell in cells]
        return tuple(itertools.chain.from_iterable(curves))
    if preset.tuned is None:
        return tuple(cells)
    groups = _group_cells(cells, without=preset.tuned.name)
    return tuple(_merge_tuned(group, preset.tuned.name) for group in groups)


def _group_cells(cells: Sequence[CellAnswer], *, without: str) -> list[list[CellAnswer]]:
    """Group the cells of an experiment that differ only in the value of one parameter.

    Args:
        cells: results of simulations, each with a value for every parameter (axis) of the experiment.
        without: name of the axis that is ignored.

    Returns:
        The groups, in the order of their first cells.
    """
    groups: dict[tuple[object, ...], list[CellAnswer]] = {}
    for cell in cells:
        place = tuple(value for axis, value in cell.place.items() if axis != without)
        groups.setdefault(place, []).append(cell)
    return list(groups.values())


def _split_curve(cell: CellAnswer, axis: str) -> Iterator[CellAnswer]:
    """Split the result of a simulation that was measured repeatedly into one result for each measurement.

    An example is a training with a test error after several numbers of rounds. Only the last measurement gets the
    scores that the paper prints, because these are for the end of the run.

    Args:
        cell: result of the simulation, with the scores of all measurements.
        axis: name of the axis of the curve, such as the number of rounds.

    Yields:
        The results in the order of the curve, each with its value on the axis.
    """
    scores_by_place = split_scores(cell.scores or {})
    for place, scores in scores_by_place.items():
        is_last = place == max(scores_by_place)
        yield replace(
            cell,
            place={**cell.place, axis: place},
            scores=scores,
            published=cell.published if is_last else None,
        )


def _merge_tuned(cells: Sequence[CellAnswer], tuned: str) -> CellAnswer:
    """Merge results that differ only in a tuned parameter, such as the step size: each run gets its best value.

    A cell is the result of one simulation, with the private run and the runs that it is compared with. Each run is
    taken from the cell in which its mean excess risk is least.

    Args:
        cells: cells that differ only in the tuned value.
        tuned: name of the tuned axis.

    Returns:
        One cell without a value on the tuned axis. Its field `tuned` states the chosen value of each run.
    """
    best = min(cells, key=_private_excess)
    chosen_values = {"private": best.place[tuned]}

    excess_of_runs = {}
    scores_of_runs = {}
    for run in best.beside or {}:
        best_of_run = _best_cell_of_run(cells, run)
        excess_of_runs[run] = _compared_excess(best_of_run, run)
        chosen_values[run] = best_of_run.place[tuned]
        if best_of_run.scores_beside is not None:
            scores_of_runs[run] = best_of_run.scores_beside[run]

    remaining_place = {name: value for name, value in best.place.items() if name != tuned}
    return replace(
        best,
        place=remaining_place,
        beside=excess_of_runs,
        scores_beside=scores_of_runs or None,
        tuned=chosen_values,
    )


def _best_cell_of_run(cells: Sequence[CellAnswer], run: str) -> CellAnswer:
    """Return the result of the simulation in which a comparison run has the least mean excess risk.

    Args:
        cells: results that all have the run, at least one. The excess risk of a run that diverged counts as infinite.
        run: name of the run.
    """
    return min(cells, key=lambda cell: _mean(_compared_excess(cell, run)))


def _compared_excess(cell: CellAnswer, run: str) -> Measured:
    """Return the measured excess risk of a comparison run.

    Args:
        cell: result of a risk simulation, which must have the run.
        run: name of the run.

    Returns:
        The mean over repeated runs, in units of the loss, with its confidence interval.
    """
    assert cell.beside is not None  # cells that differ in a tuned value have the same runs
    return cell.beside[run]


def _private_excess(cell: CellAnswer) -> float:
    """Return the mean excess risk of the private run; math.inf if it was not measured or is not a number."""
    if cell.final_excess is None:
        return math.inf
    return _mean(cell.final_excess)


def _mean(measured: Measured) -> float:
    """Return a mean; math.inf in place of NaN, so that a run that diverged is never the best."""
    if math.isnan(measured.mean):
        return math.inf
    return measured.mean


def _risk_cell(cell: Cell, answer: RiskAnswer) -> CellAnswer:
    """Return the table cell of a risk simulation: the private run with its bounds, and the runs it is compared with.

    The private run is the one with noise. A score is measured on held-out records.

    Args:
        cell: the cell's place in the grid of the experiment, with the paper's claim if there is one.
        answer: the answer of its simulation. Its first series is the private run.

    Returns:
        The cell. A field is None if the experiment has no such number.
    """
    private, *comparisons = answer.series
    excess_of_runs = {run.name: run.final for run in comparisons}
    scores_of_runs = {run.name: run.scores for run in comparisons if run.scores is not None}
    return CellAnswer(
        place=cell.place,
        kind="risk",
        algorithm=answer.algorithm,
        epsilon=_epsilon(cell, answer),
        claimed_epsilon=_claimed_epsilon(cell),
        rounds=answer.rounds,
        final_excess=answer.final_excess,
        scores=private.scores,
        beside=excess_of_runs,
        scores_beside=scores_of_runs or None,
        bounds=answer.bounds,
        published=cell.published,
        parameters=answer.parameters,
    )


def _claimed_epsilon(cell: Cell) -> float | None:
    """Return the ε that a paper claims for the noise of a simulation; None without such a claim."""
    if cell.claimed is None:
        return None
    return cell.claimed.epsilon


def _epsilon(cell: Cell, answer: RiskAnswer) -> Ends | None:
    """Return the certified ε of the noise in the private run of a simulation.

    Calibrated noise has the ε of its calibration. Given noise is accounted for if a paper claims an ε for it, at the δ
    of the claim.

    Args:
        cell: the simulation, with the paper's claim if there is one.
        answer: its answer.

    Returns:
        The bounds on ε; None for given noise without a claim.

    Raises:
        NoCertificate: no theorem certifies the given noise.
    """
    guarantee: GuaranteeAnswer | None = answer.guarantee
    if guarantee is not None:
        return guarantee.epsilon
    if cell.claimed is None:
        return None

    # Certify the ε of the paper's own noise at the claimed δ.
    simulation = cell.simulation
    problem = build(simulation.problem, simulation.run)
    account = find_join(algorithm_of(simulation.run).name).account
    assert account is not None  # experiments state a claim only for algorithms that account for given noise
    log_delta = math.log(cell.claimed.delta)
    return Ends.of(account(problem, simulation.run, log_delta))


def _audit_cell(cell: Cell, answer: AuditAnswer) -> CellAnswer:
    """Return the table cell of an audit: the certified ε, and the lower bounds on ε that the audit proves.

    An audit attacks a mechanism, and its success proves a lower bound on ε. The evidence is an escape if outputs that
    are impossible on the other data set exclude the δ. Otherwise it is a threshold test of the attacker.

    Args:
        cell: the cell's place in the grid of the experiment.
        answer: the answer of its audit.

    Returns:
        The cell, with the lower bound by this evidence and the lower bound by the test.
    """
    lower_by_test = answer.epsilon.lower
    lower = lower_by_test
    if answer.evidence == "escape":
        lower = answer.escape.epsilon_lower
    return CellAnswer(
        place=cell.place,
        kind="audit",
        epsilon=answer.certified,
        epsilon_lower=lower,
        test_epsilon_lower=lower_by_test,
        claim=answer.claim,
        log10_deltas=cell.log10_deltas,
    )


def _membership_cell(cell: Cell, answer: MembershipAnswer) -> CellAnswer:
    """Return the table cell of a membership inference: the certified ε, and the lower bound on ε of each attack.

    An attack guesses which inserted records were in the training data. Its success proves a lower bound on ε.

    Args:
        cell: the cell's place in the grid of the experiment.
        answer: the answer of its simulation, with at least one attack.

    Returns:
        The cell; its lower bound is the largest of all attacks.
    """
    lower_bounds: dict[str, float] = {attack.attack: attack.epsilon_lower for attack in answer.attacks}
    largest_lower = max(attack.epsilon_lower for attack in answer.attacks)
    return CellAnswer(
        place=cell.place,
        kind="membership",
        rounds=answer.training.rounds,
        epsilon=answer.certified,
        epsilon_lower=largest_lower,
        test_epsilon_lower=largest_lower,
        attacks=lower_bounds,
        parameters=answer.training,
    )


def _trials_cell(cell: Cell, answer: TrialsAnswer) -> CellAnswer:
    """Return the table cell of repeated trainings: their mean scores, and the certified ε of the noise.

    A trial trains an algorithm once, with fixed noise, and scores it on test records. Fields that a paper does not
    state are None.

    Args:
        cell: the cell's place in the grid of the experiment, with the paper's claim and scores if there are any.
        answer: the answer of its trials.

    Returns:
        The cell, with the chosen parameter values if the trials tuned any.
    """
    return CellAnswer(
        place=cell.place,
        kind="trials",
        algorithm=answer.algorithm,
        epsilon=answer.epsilon,
        claimed_epsilon=_claimed_epsilon(cell),
        scores=answer.scores,
        tuned=answer.chosen or None,
        published=cell.published,
    )


CELL_MAKERS: Mapping[str, Callable[[Cell, Any], CellAnswer]] = {
    "risk": _risk_cell,
    "audit": _audit_cell,
    "membership": _membership_cell,
    "trials": _trials_cell,
}
"""Functions that turn the answer of a simulation into a cell, by kind of simulation."""
