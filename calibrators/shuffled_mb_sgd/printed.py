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
from epsilond.calibrators.shuffled_mb_sgd.problem import READINGS, ShuffledMbSgdProblem
from epsilond.calibrators.shuffled_mb_sgd.schedule import contribution_norm

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Theorem
    from epsilond.calibrators.certificates import Truth


def printed_readings(problem: ShuffledMbSgdProblem, run: Run, truth: Truth[Run]) -> tuple[PrintedReading, ...]:
    """Return the noise that Theorem 4.1 of Lowy and Razaviyayn prints, and the explicit noise that replaces it here.

    They are two interpretations ("readings"), `statement` and `corrected`. The statement uses the request's rounds or,
    for smooth losses, the rounds that it prescribes. The explicit noise prescribes no rounds, so the run's are used.

    Args:
        problem: the request, which may select readings and names the protected unit.
        run: the run of the answer.
        truth: function that certifies the ε and δ of a run at a printed noise multiplier.

    Returns:
        The readings. Empty if whole clients are protected, because both statements are about records.
    """
    if problem.unit == "client":
        return ()
    requested = READINGS if problem.readings is None else problem.readings
    readings = []
    if "statement" in requested:
        readings.append(_statement(problem, run, truth))
    if "corrected" in requested:
        readings.append(_explicit(problem, run, truth))
    return tuple(readings)


def _statement(problem: ShuffledMbSgdProblem, run: Run, truth: Truth[Run]) -> PrintedReading:
    """Evaluate Theorem 4.1 of Lowy and Razaviyayn for the request.

    The theorem leaves a constant of the noise open. Unless the request states `noise_constant`, there is no σ, and no
    true ε and δ. The theorem's order of the risk and its rounds are only for smooth losses.

    Args:
        problem: the request; its rounds are used if given, and otherwise those that the theorem prescribes.
        run: the run, with the batch size, and with the rounds if losses are not smooth.
        truth: function that certifies the ε and δ of a run at a printed noise multiplier.

    Returns:
        The interpretation ("reading") named `statement`, with the parameters that the theorem prescribes.
    """
    is_smooth = problem.smoothness is not None
    inputs = inputs_of(
        ShuffledInputs,
        problem,
        participants=problem.reporting,
        # The noise does not depend on the smoothness, but the inputs need a positive one.
        smoothness=max(problem.smoothness or problem.strong_convexity, 1e-100),
        rounds=problem.rounds if is_smooth else run.rounds,
    )
    theorem_at_inputs = TheoremAtInputs(THEOREM_4_1, inputs)
    outputs = theorem_at_inputs.outputs

    # The parameters that the theorem prescribes.
    printed_run = Run(batch_size=run.batch_size, rounds=outputs["rounds"])
    noise_std = outputs.get("noise_std")
    names = ["noise_std_over_root_constant"]
    if is_smooth:
        names += ["excess_risk_scale", "prescribed_rounds"]
    parameters = {name: float(outputs[name]) for name in names if name in outputs}

    # The guarantee that is certified at the printed noise.
    true = None
    if noise_std is not None and printed_run.rounds <= LARGEST_COUNT:
        true = truth(printed_run, noise_std / contribution_norm(problem, run))

    results = theorem_at_inputs.evaluation.conditions
    conditions = _decidable_conditions(THEOREM_4_1, results, without=_excluded_conditions(problem))
    return make_reading(
        theorem_at_inputs,
        reading="statement",
        parameters=_parameters_of(problem, printed_run, noise_std) | parameters,
        claims=claims(problem.target),
        true=true,
        conditions=(*conditions, _single_record_condition(run)),
    )


def _excluded_conditions(problem: ShuffledMbSgdProblem) -> list[str]:
    """Return the ids of the conditions of Theorem 4.1 on the risk that do not apply to the losses of a request.

    Args:
        problem: the request. Its losses are smooth if `smoothness` is given.

    Returns:
        The ids, some of which may be repeated.
    """
    excluded = []
    if problem.strong_convexity == 0.0:
        excluded.append("logarithm")
    if problem.smoothness is None:
        excluded += ["prescribed-rounds", "logarithm"]
    return excluded


def _explicit(problem: ShuffledMbSgdProblem, run: Run, truth: Truth[Run]) -> PrintedReading:
    """Evaluate the theorem with explicit constants that replaces Theorem 4.1 of Lowy and Razaviyayn here.

    The result ("reading") has the status `proved` if all its conditions hold, among them batches of a single record.

    Args:
        problem: the request, with the clients, their records and the privacy target.
        run: the run of the answer, with its batch size and rounds.
        truth: function that certifies the ε and δ of a run at a printed noise multiplier.

    Returns:
        The reading `corrected`, with the noise at the run's rounds.
    """
    inputs = inputs_of(ExplicitNoiseInputs, problem, participants=problem.reporting, rounds=run.rounds)
    theorem_at_inputs = TheoremAtInputs(EXPLICIT_NOISE, inputs)
    evaluation = theorem_at_inputs.evaluation
    noise_std = evaluation.outputs["noise_std"]
    # The theorem is proved for the run if all its conditions hold.
    conditions = (*_decidable_conditions(EXPLICIT_NOISE, evaluation.conditions), _single_record_condition(run))
    is_proved = all(condition.holds == Verdict.YES for condition in conditions)
    return make_reading(
        theorem_at_inputs,
        reading="corrected",
        status=Status.PROVED if is_proved else Status.UNPROVED,
        parameters=_parameters_of(problem, run, noise_std),
        claims=claims(problem.target),
        true=truth(run, noise_std / contribution_norm(problem, run)),
        conditions=conditions,
    )


def _parameters_of(problem: ShuffledMbSgdProblem, run: Run, noise_std: float | None) -> dict[str, float]:
    """Return the parameters of a run by their names in the answer.

    Args:
        problem: the request, with the Lipschitz constant by which the noise multiplier is defined.
        run: the batch size, and the rounds: a float in the answer if they are too large for an integer field.
        noise_std: standard deviation of the noise; None if it is not known, and then left out.

    Returns:
        Batch size and rounds, with the noise and its multiplier if the noise is known.
    """
    rounds = run.rounds if run.rounds < LARGEST_COUNT else float(run.rounds)
    shape: dict[str, float] = {"batch_size": run.batch_size, "rounds": rounds}
    if noise_std is None:
        return shape
    noise_multiplier = noise_std * run.batch_size / problem.lipschitz
    return {"noise_std": noise_std, "noise_multiplier": noise_multiplier, **shape}


def _single_record_condition(run: Run) -> ConditionResult:
    """Return the condition of the proofs that every report uses a single record, evaluated for a run."""
    sides = Sides.at_most(run.batch_size, 1)
    return ConditionResult("one-record", "every report is on one record (K ≤ 1)", sides.holds, sides.left, sides.right)


def _decidable_conditions(
    theorem: Theorem, results: tuple[ConditionResult, ...], without: Sequence[str] = ()
) -> tuple[ConditionResult, ...]:
    """Select the conditions of a theorem that are checked, or that can never be decided.

    Conditions that a caller declares are left out.

    Args:
        theorem: the theorem, which says how each condition is decided.
        results: its evaluated conditions.
        without: ids of further conditions that are left out.

    Returns:
        The selected conditions, in their order.
    """
    decidable = {condition.id for condition in theorem.conditions if condition.checked or condition.undecidable}
    decidable -= set(without)
    return tuple(condition for condition in results if condition.id in decidable)
