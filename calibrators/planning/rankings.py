"""Assembly of a plan's answer from drafts and their outcomes, with rankings within one kind of guarantee only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import EpsilondError, InvalidInput, NoCertificate
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Baseline, Calibration, ConditionAnswer, as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import (
    GuaranteeKind,
    PlanAnswer,
    PlanEntry,
    PlanGroup,
    PlannedRisk,
    Reason,
)
from epsilond.calibrators.planning.drafts import Draft, draft
from epsilond.calibrators.planning.groups import group_entries, rank_entries
from epsilond.calibrators.planning.limits import exceeded_limits
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.reach import Found, first_value, reach
from epsilond.calibrators.planning.recommendation import name_of, recommend, trusts
from epsilond.calibrators.planning.signals import share_and_basis, signal_of
from epsilond.calibrators.planning.traffic import bytes_per_client, reports_per_client, total_bits
from epsilond.calibrators.risk.baseline import no_better


@dataclass(frozen=True)
class Undecided:
    """The outcome of a calibration that was not completed, for a reason that may not occur on another attempt.

    Attributes:
        message: the reason in words.
    """

    message: str


Outcome = Found | EpsilondError | Undecided
"""The outcome of a draft's request."""


def drafts(calibrators: Iterable[Calibrator], plan: PlanProblem) -> tuple[Draft, ...]:
    """Translate a plan into requests of the selected algorithms, one for each variant of each algorithm.

    Args:
        calibrators: all algorithms; the plan may select some of them.
        plan: the plan: a learning problem with its privacy target, described without an algorithm.

    Returns:
        The drafts, in the order of the algorithms. The draft of an algorithm that does not fit the plan has reasons
        instead of a request.

    Raises:
        InvalidInput: the plan names an algorithm that does not exist.
    """
    return tuple(draft(*inputs) for inputs in _draft_inputs(calibrators, plan))


def draft_at(calibrators: Iterable[Calibrator], plan: PlanProblem, index: int) -> Draft:
    """Translate a plan into the request of one algorithm and variant, selected by an index.

    Args:
        calibrators: all algorithms; the plan may select some of them.
        plan: the plan: a learning problem with its privacy target, described without an algorithm.
        index: index of the algorithm and variant in the order of `drafts`.

    Returns:
        The draft, with the request or with the reasons why there is none.

    Raises:
        InvalidInput: the plan names an algorithm that does not exist.
    """
    return draft(*_draft_inputs(calibrators, plan)[index])


def _draft_inputs(
    calibrators: Iterable[Calibrator], plan: PlanProblem
) -> tuple[tuple[Calibrator, PlanAdapter, PlanProblem], ...]:
    """List the combinations of algorithm, variant and plan for which a request is drafted.

    Args:
        calibrators: all algorithms; the plan may select some of them.
        plan: the plan. If it solves for a field, the field gets its first trial value.

    Returns:
        For each combination the arguments of `draft`: the algorithm, the adapter of a variant, and the plan.

    Raises:
        InvalidInput: the plan names an algorithm that does not exist.
    """
    all_calibrators = tuple(calibrators)
    names = [calibrator.name for calibrator in all_calibrators]
    for index, name in enumerate(plan.algorithms or ()):
        if name not in names:
            message = "there is no such algorithm"
            raise InvalidInput.at(f"/algorithms/{index}", message, allowed=", ".join(names))

    concrete_plan = plan if plan.unknown is None else _with_solved_value(plan, first_value(plan))
    selected_names = names if plan.algorithms is None else plan.algorithms
    inputs: list[tuple[Calibrator, PlanAdapter, PlanProblem]] = []
    for calibrator in all_calibrators:
        if calibrator.name in selected_names:
            inputs += [(calibrator, adapter, concrete_plan) for adapter in calibrator.plans]
    return tuple(inputs)


def outcome_of_calibration(answer: Calibration | JsonObject, request: object) -> Found:
    """Combine a calibration (or its JSON form) with the JSON form of the request that it answers."""
    return Found(request=as_json(request), calibration=answer)


def settle(entry_draft: Draft, plan: PlanProblem) -> Outcome | None:
    """Calibrate an algorithm with the request that was made for it from a plan.

    If the plan solves for a field, the algorithm is calibrated at the smallest sufficient value of this field.

    Args:
        entry_draft: the algorithm with its request, which is None if the algorithm does not apply.
        plan: the plan, which may solve for one of its fields.

    Returns:
        The calibration with its request, or the error that it raised. None if the draft has no request.
    """
    request = entry_draft.request
    if request is None:
        return None
    calibrator = entry_draft.calibrator
    try:
        if plan.unknown is not None:
            return reach(calibrator, entry_draft.adapter, plan)
        return outcome_of_calibration(calibrator.solve(request), request)
    except EpsilondError as error:
        return error


def answer_of(plan: PlanProblem, settled: Sequence[tuple[Draft, Outcome | None]]) -> PlanAnswer:
    """Combine the calibrations of all algorithms into the answer to a plan, in groups with ranked entries.

    The entries of a group have the same kind of guarantee, and numbers that can be compared. Groups are ordered by the
    trust that they require, the least first. After the groups come entries with a calibration that was not completed,
    and then those of algorithms that do not apply.

    Args:
        plan: the plan: a learning problem with its privacy target, described without an algorithm.
        settled: each draft with its outcome; None for a draft without a request.

    Returns:
        The answer, with the recommended entry and the price of each kind of trust.
    """
    entries = [_entry(entry_draft, outcome, plan) for entry_draft, outcome in settled]

    ordered: list[PlanEntry] = []
    plan_groups = []
    for (kind, compares), members in group_entries(plan, entries):
        ranked, unranked = rank_entries(plan, members)
        ordered += [*ranked, *unranked]
        group = PlanGroup(
            guarantee=kind,
            compares=compares,
            ranked=tuple(name_of(entry) for entry in ranked),
            unranked=tuple(name_of(entry) for entry in unranked),
        )
        plan_groups.append(group)

    # Undecided entries come before those that do not apply.
    rest = [entry for entry in entries if entry.applies != Verdict.YES]
    ordered += sorted(rest, key=lambda entry: entry.applies == Verdict.NO)
    return PlanAnswer(
        rank_by=plan.rank_by,
        recommended=recommend(plan, ordered),
        trusts=trusts(plan, ordered),
        groups=tuple(plan_groups),
        entries=tuple(ordered),
        engine_version=ENGINE_VERSION,
    )


def _entry(entry_draft: Draft, outcome: Outcome | None, plan: PlanProblem) -> PlanEntry:
    """Build the entry for one algorithm in the answer to a plan: whether it applies, why, and its results.

    Args:
        entry_draft: request of an algorithm, or the reasons why it has none.
        outcome: result of the request; None without a request, because the algorithm does not apply.
        plan: the plan.

    Returns:
        The entry, with results if the calibration succeeded, and otherwise with the reasons.
    """
    entry = PlanEntry(
        algorithm=entry_draft.calibrator.name,
        variant=entry_draft.adapter.variant,
        title=entry_draft.calibrator.title,
        applies=Verdict.NO,
        why=entry_draft.why,
        guarantee=entry_draft.guarantee,
        objective=entry_draft.adapter.objective,
        noise_added_to=entry_draft.adapter.noise_added_to,
        unused=entry_draft.unused,
        request=None if entry_draft.request is None else as_json(entry_draft.request),
    )
    if outcome is None:
        return entry
    if isinstance(outcome, Undecided):
        return replace(entry, applies=Verdict.UNDECIDABLE, why=(Reason(message=outcome.message),))
    if isinstance(outcome, EpsilondError):
        return replace(entry, why=reasons_of(outcome))
    return _applicable_entry(entry, outcome, entry_draft.adapter, plan)


def _applicable_entry(entry: PlanEntry, outcome: Found, adapter: PlanAdapter, plan: PlanProblem) -> PlanEntry:
    """Add to an entry the results of its calibration: noise, traffic, risk, and the limits that it exceeds.

    The results are read from the JSON form of the calibration, because its structure is the same for all algorithms.

    Args:
        entry: the entry without results.
        outcome: the calibration and its request.
        adapter: the adapter that made the request from the plan.
        plan: the plan. A field that was solved for gets the solved value.

    Returns:
        A copy of the entry with the results. Those that the algorithm does not have are None.
    """
    solved_plan = plan if outcome.reached is None else _with_solved_value(plan, outcome.reached.value)
    answer = as_json(outcome.calibration)
    parameters = answer["parameters"]
    rounds = parameters.get("rounds", outcome.request.get("rounds"))
    bits = total_bits(answer.get("communication", {}))

    risk = PlannedRisk.from_json(answer.get("risk", {}))
    is_vacuous, reasons_if_vacuous = _compare_with_start(risk, parameters.get("convergence"))
    objective = entry.objective if risk is None or risk.objective is None else risk.objective
    signal = signal_of(adapter, solved_plan, parameters)
    share, basis = share_and_basis(risk, signal, rounds)

    exceeded = tuple(exceeded_limits(solved_plan, rounds=rounds, bits=bits))
    excesses = [Reason(message=f"it does not keep to {name}", pointer=f"/{name}") for name in exceeded]

    return replace(
        entry,
        applies=Verdict.YES,
        why=entry.why + reasons_if_vacuous + tuple(excesses),
        guarantee=GuaranteeKind.from_json(answer["guarantee"]),
        objective=objective,
        vacuous=is_vacuous,
        noise_std=parameters.get("noise_std", parameters.get("noise_std_of_mean")),
        rounds=rounds,
        bits=bits,
        bytes_per_client=bytes_per_client(solved_plan, bits),
        reports_per_client=reports_per_client(solved_plan, rounds),
        noise_norm=signal.noise_norm if signal else None,
        noise_to_signal=signal.ratio if signal else None,
        remaining_share=share,
        basis=basis,
        exceeds=exceeded,
        risk=risk,
        reach=outcome.reached,
        request=outcome.request,
        calibration=cast("Calibration", outcome.calibration),  # or its JSON form, which renders the same
    )


def _with_solved_value(plan: PlanProblem, value: float) -> PlanProblem:
    """Return the plan with a value for the field that it solves for, and without a target risk.

    Args:
        plan: a plan that solves for a field.
        value: value of that field.

    Returns:
        A copy of the plan that can be translated into requests.
    """
    assert plan.unknown is not None  # only plans that solve for a field have a solved value
    values: Fields = {plan.unknown: value, "reach": None}
    return replace(plan, **values)


def _compare_with_start(
    risk: PlannedRisk | None, convergence: JsonObject | None
) -> tuple[bool | None, tuple[Reason, ...]]:
    """Decide whether an entry's bound is vacuous: no better than the bound on the initial model.

    Args:
        risk: the bound on the excess risk. Its `baseline` is the bound on the risk of the initial model.
        convergence: JSON form of the bound on the gradient norm, which is used if there is no comparable risk.

    Returns:
        Whether the bound is vacuous, None without a bound; and the reason in words if it is vacuous.
    """
    if risk is not None and risk.baseline is not None:
        quantity = "risk"
        is_vacuous = risk.vacuous
        baseline = risk.baseline
    elif convergence is not None:
        quantity = "gradient norm"
        is_vacuous = convergence["vacuous"]
        baseline = Baseline.from_json(convergence["baseline"])
    else:
        return None, ()
    if not is_vacuous:
        return is_vacuous, ()
    return is_vacuous, (Reason(message=f"its bound on the {quantity} is {no_better(baseline)}"),)


def reasons_of(error: EpsilondError) -> tuple[Reason, ...]:
    """Return the reasons why a calibration failed, in the form of the answer to a plan.

    Args:
        error: the error of the calibration. An invalid input has a reason for each fault. A missing certificate has one
            reason, with both sides of the failed condition if it is known.

    Returns:
        The reasons in words, at least one; a reason may point to a field of the plan.
    """
    if isinstance(error, InvalidInput):
        return tuple(Reason.of(fault) for fault in error.faults)
    if not isinstance(error, NoCertificate):
        return (Reason(message=str(error)),)
    failed = error.condition
    condition = None
    if failed is not None:
        condition = ConditionAnswer(
            id=failed.id, statement=failed.statement, holds=failed.holds, left=failed.left, right=failed.right
        )
    return (Reason(message=error.message, condition=condition, nearest=error.nearest or None),)
