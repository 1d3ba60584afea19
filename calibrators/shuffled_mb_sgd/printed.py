"""Theorem 4.1 as printed, with an assumed constant if there is one, and the explicit noise that replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import LARGEST_COUNT
from epsilond.accountants.theorem import Sides, Status
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import THEOREM_4_1, ShuffledInputs
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_noise import (
    EXPLICIT_NOISE,
    ExplicitNoiseInputs,
)
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import PrintedReading
from epsilond.calibrators.envelope import TheoremAtInputs, claims, inputs_of, make_reading
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.shuffled_mb_sgd.problem import READINGS, Reading, ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.schedule import contribution_norm

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Theorem
    from epsilond.calibrators.certificates import Truth


def printed_readings(problem: ShuffledMbSgdProblem, run: Run, truth: Truth[Run]) -> tuple[PrintedReading, ...]:
    """Return every requested reading. The theorem is about records: the unit `client` has no readings.

    The statement is at the request's rounds or, for smooth losses, at those that it prescribes. Our own explicit noise
    prescribes no rounds, so the run's are used.

    Args:
        problem: the request.
        run: the run of the answer.
        truth: returns the figures certified of a run at a printed noise multiplier.
    """
    if problem.unit == "client":
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    made = {"statement": _statement, "corrected": _explicit}
    return tuple(made[reading](problem, run, reading, truth) for reading in READINGS if reading in requested)


def _statement(problem: ShuffledMbSgdProblem, run: Run, reading: Reading, truth: Truth[Run]) -> PrintedReading:
    """Return the statement: no σ and certified figures without `noise_constant`, and no risk without smoothness."""
    smooth = problem.smoothness is not None
    inputs = inputs_of(
        ShuffledInputs,
        problem,
        participants=problem.reporting,
        smoothness=max(problem.smoothness or problem.strong_convexity, 1e-100),
        rounds=problem.rounds if smooth else run.rounds,
    )
    question = TheoremAtInputs(THEOREM_4_1, inputs)
    evaluation = question.evaluation
    at = Run(batch_size=run.batch_size, rounds=evaluation.outputs["rounds"])
    names = ["noise_std_over_root_constant", *(["excess_risk_scale", "prescribed_rounds"] if smooth else [])]
    parameters = {name: float(evaluation.outputs[name]) for name in names if name in evaluation.outputs}
    noise_std = evaluation.outputs.get("noise_std")
    true = None
    if noise_std is not None and at.rounds <= LARGEST_COUNT:
        true = truth(at, noise_std / contribution_norm(problem, run))
    about_risk = ["logarithm"] if problem.strong_convexity == 0.0 else []
    about_risk += [] if smooth else ["prescribed-rounds", "logarithm"]
    conditions = _decidable_conditions(THEOREM_4_1, evaluation.conditions, without=about_risk)
    return make_reading(
        question,
        reading=reading,
        parameters=_run_with(problem, at, noise_std) | parameters,
        claims=claims(problem.target),
        true=true,
        conditions=(*conditions, _single_record_condition(run)),
    )


def _explicit(problem: ShuffledMbSgdProblem, run: Run, reading: Reading, truth: Truth[Run]) -> PrintedReading:
    inputs = inputs_of(ExplicitNoiseInputs, problem, participants=problem.reporting, rounds=run.rounds)
    question = TheoremAtInputs(EXPLICIT_NOISE, inputs)
    evaluation = question.evaluation
    noise_std = evaluation.outputs["noise_std"]
    conditions = (*_decidable_conditions(EXPLICIT_NOISE, evaluation.conditions), _single_record_condition(run))
    proved = all(condition.holds == Verdict.YES for condition in conditions)
    return make_reading(
        question,
        reading=reading,
        status=Status.PROVED if proved else Status.UNPROVED,
        parameters=_run_with(problem, run, noise_std),
        claims=claims(problem.target),
        true=truth(run, noise_std / contribution_norm(problem, run)),
        conditions=conditions,
    )


def _run_with(problem: ShuffledMbSgdProblem, run: Run, noise_std: float | None) -> dict[str, float]:
    rounds = run.rounds if run.rounds < LARGEST_COUNT else float(run.rounds)
    paced: dict[str, float] = {"batch_size": run.batch_size, "rounds": rounds}
    if noise_std is None:
        return paced
    return {"noise_std": noise_std, "noise_multiplier": noise_std * run.batch_size / problem.lipschitz, **paced}


def _single_record_condition(run: Run) -> ConditionResult:
    """Return the condition of the proofs that a report is on one record."""
    sides = Sides.at_most(run.batch_size, 1)
    return ConditionResult("one-record", "every report is on one record (K ≤ 1)", sides.holds, sides.left, sides.right)


def _decidable_conditions(
    theorem: Theorem, results: tuple[ConditionResult, ...], without: Sequence[str] = ()
) -> tuple[ConditionResult, ...]:
    """Return the conditions that are checked or can never be decided; declared conditions are left out."""
    decidable = {condition.id for condition in theorem.conditions if condition.checked or condition.undecidable} - set(
        without
    )
    return tuple(condition for condition in results if condition.id in decidable)
