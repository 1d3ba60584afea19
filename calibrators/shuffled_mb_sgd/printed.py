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
    """Return the noise of Theorem 4.1 of Lowy and Razaviyayn as printed, and the explicit noise that replaces it here.

    They are two interpretations ("readings") of the theorem, `statement` and `corrected`. The first has the rounds of
    the request or, if it has none and losses are smooth, the rounds that the theorem prescribes. The second has the
    rounds of the run.

    Args:
        problem: the request, which may select readings, and which states the protected unit.
        run: batch size and rounds of the answer.
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
        The interpretation ("reading") `statement` of the theorem, with the parameters that it prescribes.
    """
    is_smooth = problem.smoothness is not None
    inputs = inputs_of(
        ShuffledInputs,
        problem,
        participants=problem.reporting,
        # The noise does not depend on the smoothness, but the inputs need a positive one, at least the strong
        # convexity.
        smoothness=max(problem.smoothness or problem.strong_convexity, 1e-100),
        rounds=problem.rounds if is_smooth else run.rounds,
    )
    theorem_at_inputs = TheoremAtInputs(THEOREM_4_1, inputs)
    outputs = theorem_at_inputs.outputs

    printed_run = Run(batch_size=run.batch_size, rounds=outputs["rounds"])
    noise_std = outputs.get("noise_std")
    names = ["noise_std_over_root_constant"]
    if is_smooth:
        names += ["excess_risk_scale", "prescribed_rounds"]
    parameters = {name: float(outputs[name]) for name in names if name in outputs}

    true = None
    # The accountant takes at most `LARGEST_COUNT` rounds.
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

    `logarithm` is about the factor log(…) in the theorem's number of rounds, which only strongly convex and smooth
    losses have. `prescribed-rounds` is about that number itself, which only smooth losses have. An id may occur twice.

    Args:
        problem: the request. Its losses are smooth if `smoothness` is given.
    """
    excluded = []
    if problem.strong_convexity == 0.0:
        excluded.append("logarithm")
    if problem.smoothness is None:
        excluded += ["prescribed-rounds", "logarithm"]
    return excluded


def _explicit(problem: ShuffledMbSgdProblem, run: Run, truth: Truth[Run]) -> PrintedReading:
    """Evaluate the theorem with explicit constants that replaces Theorem 4.1 of Lowy and Razaviyayn here.

    The theorem is proved for batches of a single record. The result has the status `proved` if all conditions hold.

    Args:
        problem: the request, with the clients, their records and the privacy target.
        run: the run of the answer, with its batch size and rounds.
        truth: function that certifies the ε and δ of a run at a printed noise multiplier.

    Returns:
        The interpretation ("reading") `corrected` of the theorem, with the noise at the run's rounds.
    """
    inputs = inputs_of(ExplicitNoiseInputs, problem, participants=problem.reporting, rounds=run.rounds)
    theorem_at_inputs = TheoremAtInputs(EXPLICIT_NOISE, inputs)
    evaluation = theorem_at_inputs.evaluation
    noise_std = evaluation.outputs["noise_std"]
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
        problem: the request, with the Lipschitz constant L.
        run: batch size K and rounds. From `LARGEST_COUNT` on, the rounds become a float, because an integer field
            cannot hold them.
        noise_std: standard deviation σ of the noise; None if it is not known.

    Returns:
        Batch size and rounds, with σ and the noise multiplier σK/L if the noise is known.
    """
    rounds = run.rounds if run.rounds < LARGEST_COUNT else float(run.rounds)
    size_of_run: dict[str, float] = {"batch_size": run.batch_size, "rounds": rounds}
    if noise_std is None:
        return size_of_run
    noise_multiplier = noise_std * run.batch_size / problem.lipschitz
    return {"noise_std": noise_std, "noise_multiplier": noise_multiplier, **size_of_run}


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
        theorem: the theorem, which states how each condition is decided.
        results: evaluated conditions of the theorem.
        without: ids of further conditions that are left out.

    Returns:
        The selected conditions, in their order.
    """
    decidable = {condition.id for condition in theorem.conditions if condition.checked or condition.undecidable}
    decidable -= set(without)
    return tuple(condition for condition in results if condition.id in decidable)
