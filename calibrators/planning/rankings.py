"""Assembly of a plan's answer from drafts and their outcomes, with rankings within one kind of guarantee only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

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
from epsilond.calibrators.planning.limits import exceeded, share_drawn
from epsilond.calibrators.planning.problem import PlanProblem, RankBy, Trust
from epsilond.calibrators.planning.reach import Found, first_value, reach
from epsilond.calibrators.planning.recommendation import (
    name_of,
    recommended,
    remaining,
    says_something,
    signal_of,
    trusts,
)
from epsilond.calibrators.risk.baseline import no_better


@dataclass(frozen=True)
class Undecided:
    """The outcome of a draft without an answer, for a reason that may not occur on another attempt."""

    message: str


Outcome = Found | EpsilondError | Undecided
"""The outcome of a draft's request."""


def drafts(calibrators: Iterable[Calibrator], plan: PlanProblem) -> tuple[Draft, ...]:
    """Return a draft of every adapter of every algorithm in the plan. A draft that fails does not affect the others.

    If the plan is to reach a risk, the unknown has an arbitrary value in the drafts.

    Raises:
        InvalidInput: the plan names an algorithm that does not exist.
    """
    return tuple(draft(*each) for each in _drafted(calibrators, plan))


def draft_at(calibrators: Iterable[Calibrator], plan: PlanProblem, place: int) -> Draft:
    """Return the draft at one place among all drafts.

    Args:
        calibrators: the algorithms.
        plan: the plan.
        place: index of the draft in the result of `drafts`.

    Raises:
        InvalidInput: the plan names an algorithm that does not exist.
    """
    return draft(*_drafted(calibrators, plan)[place])


def _drafted(
    calibrators: Iterable[Calibrator], plan: PlanProblem
) -> tuple[tuple[Calibrator, PlanAdapter, PlanProblem], ...]:
    """Return the calibrator, the adapter and the plan of each draft."""
    listed = tuple(calibrators)
    names = [calibrator.name for calibrator in listed]
    for place, wanted in enumerate(plan.algorithms or ()):
        if wanted not in names:
            message = "there is no such algorithm"
            raise InvalidInput.at(f"/algorithms/{place}", message, allowed=", ".join(names))
    concrete = plan if plan.unknown is None else _begun(plan)
    return tuple(
        (calibrator, adapter, concrete)
        for calibrator in listed
        if plan.algorithms is None or calibrator.name in plan.algorithms
        for adapter in calibrator.plans
    )


def _begun(plan: PlanProblem) -> PlanProblem:
    return _with(plan, first_value(plan))


def found_of(answer: Calibration | JsonObject, request: object) -> Found:
    """Return the outcome of a single calibration."""
    return Found(request=as_json(request), calibration=answer)


def settle(each: Draft, plan: PlanProblem) -> Outcome | None:
    """Compute the outcome of a draft; None if it has no request."""
    if each.request is None:
        return None
    try:
        if plan.unknown is not None:
            return reach(each.calibrator, each.adapter, plan)
        return found_of(each.calibrator.solve(each.request), each.request)
    except EpsilondError as refusal:
        return refusal


def answer_of(plan: PlanProblem, settled: Sequence[tuple[Draft, Outcome | None]]) -> PlanAnswer:
    """Return the plan's answer.

    Args:
        plan: the plan.
        settled: each draft with its outcome, None for a draft without a request.
    """
    entries = [_entry(each, outcome, plan) for each, outcome in settled]
    groups: dict[tuple[GuaranteeKind, str], list[PlanEntry]] = {}
    for entry in entries:
        if entry.applies == Verdict.YES:
            groups.setdefault((entry.guarantee, _compares(plan, entry)), []).append(entry)
    ordered: list[PlanEntry] = []
    made = []
    for (kind, compares), members in sorted(groups.items(), key=lambda item: _by_trust(item[0])):
        ranked, unranked = _ranked(plan, members)
        ordered += [*ranked, *unranked]
        made.append(
            PlanGroup(
                guarantee=kind,
                compares=compares,
                ranked=tuple(name_of(entry) for entry in ranked),
                unranked=tuple(name_of(entry) for entry in unranked),
            )
        )
    rest = [entry for entry in entries if entry.applies != Verdict.YES]
    ordered += sorted(rest, key=lambda entry: entry.applies == Verdict.NO)
    return PlanAnswer(
        rank_by=plan.rank_by,
        recommended=recommended(plan, ordered),
        trusts=trusts(plan, ordered),
        groups=tuple(made),
        entries=tuple(ordered),
        engine_version=ENGINE_VERSION,
    )


def _entry(each: Draft, outcome: Outcome | None, plan: PlanProblem) -> PlanEntry:
    entry = PlanEntry(
        algorithm=each.calibrator.name,
        variant=each.adapter.variant,
        title=each.calibrator.title,
        applies=Verdict.NO,
        why=each.why,
        guarantee=each.guarantee,
        objective=each.adapter.objective,
        noise_added_to=each.adapter.noise_added_to,
        unused=each.unused,
        request=None if each.request is None else as_json(each.request),
    )
    if outcome is None:
        return entry
    if isinstance(outcome, Undecided):
        return replace(entry, applies=Verdict.UNDECIDABLE, why=(Reason(message=outcome.message),))
    if isinstance(outcome, EpsilondError):
        return replace(entry, why=reasons_of(outcome))
    return _applying(entry, outcome, each.adapter, plan)


def _applying(entry: PlanEntry, found: Found, adapter: PlanAdapter, plan: PlanProblem) -> PlanEntry:
    answer = as_json(found.calibration)
    kind = GuaranteeKind(**{name: answer["guarantee"][name] for name in GuaranteeKind.__dataclass_fields__})
    risk = PlannedRisk.read(answer.get("risk", {}))
    vacuous, said = _worth(risk, answer["parameters"].get("convergence"))
    parameters = answer["parameters"]
    noise_std = parameters.get("noise_std", parameters.get("noise_std_of_mean"))
    rounds, bits = parameters.get("rounds", found.request.get("rounds")), _bits(answer.get("communication", {}))
    asked = plan if found.reached is None else _with(plan, found.reached.value)
    signal = signal_of(adapter, asked, parameters)
    share, basis = remaining(risk, signal, rounds)
    over = tuple(exceeded(asked, rounds=rounds, bits=bits))
    limits = (Reason(message=f"it does not keep to {name}", pointer=f"/{name}") for name in over)
    return replace(
        entry,
        applies=Verdict.YES,
        why=(*entry.why, *said, *limits),
        guarantee=kind,
        objective=entry.objective if risk is None or risk.objective is None else risk.objective,
        vacuous=vacuous,
        noise_std=noise_std,
        rounds=rounds,
        bits=bits,
        bytes_per_client=None if bits is None or not asked.clients else bits / 8 / asked.clients,
        reports_per_client=None if rounds is None or not asked.clients else float(rounds * share_drawn(asked)),
        noise_norm=None if signal is None else signal.noise_norm,
        noise_to_signal=None if signal is None else signal.ratio,
        remaining_share=share,
        basis=basis,
        exceeds=over,
        risk=risk,
        reach=found.reached,
        request=found.request,
        calibration=cast("Calibration", found.calibration),  # or its JSON form, which renders the same
    )


def _bits(told: JsonObject) -> int | None:
    """Return the bits of all clients: the expectation if their number is random, and the exact integer otherwise."""
    if "expected_total_bits" in told:
        return math.ceil(float(told["expected_total_bits"]))
    exact: str | int | None = told.get("total_bits_exact", told.get("total_bits"))
    return None if exact is None else int(exact)


def _with(plan: PlanProblem, value: float) -> PlanProblem:
    """Return the plan with a value for the unknown."""
    assert plan.unknown is not None
    values: Fields = {plan.unknown: value, "reach": None}
    return replace(plan, **values)


def _worth(risk: PlannedRisk | None, convergence: JsonObject | None) -> tuple[bool | None, tuple[Reason, ...]]:
    """Return whether the bound is no better than the start, with a reason in words; None without a bound."""
    if risk is not None and risk.baseline is not None:
        what, vacuous, baseline = "risk", risk.vacuous, risk.baseline
    elif convergence is not None:
        what, vacuous, baseline = "gradient norm", convergence["vacuous"], Baseline.read(convergence["baseline"])
    else:
        return None, ()
    return vacuous, (Reason(message=f"its bound on the {what} is {no_better(baseline)}"),) if vacuous else ()


def reasons_of(refusal: EpsilondError) -> tuple[Reason, ...]:
    """Return an error of a calibration in words, with both sides of the failed condition if it has them."""
    if isinstance(refusal, InvalidInput):
        return tuple(map(Reason.of, refusal.faults))
    if not isinstance(refusal, NoCertificate):
        return (Reason(message=str(refusal)),)
    failed = refusal.condition
    condition = (
        None
        if failed is None
        else ConditionAnswer(
            id=failed.id, statement=failed.statement, holds=failed.holds, left=failed.left, right=failed.right
        )
    )
    return (Reason(message=refusal.message, condition=condition, nearest=refusal.nearest or None),)


FIGURES: Mapping[RankBy, Callable[[PlanEntry], object]] = {
    "risk": lambda entry: entry.risk.value if entry.risk is not None and entry.risk.constant == "explicit" else None,
    "noise": lambda entry: entry.noise_std,
    "signal": lambda entry: entry.noise_to_signal,
    "bits": lambda entry: entry.bits,
    "rounds": lambda entry: entry.rounds,
}
"""Figures that entries are ranked by, None if an entry has none; a rate with a hidden constant is not a figure."""


def figure_of(plan: PlanProblem, entry: PlanEntry) -> float | None:
    """Return the figure that an entry is ranked by, or None if it is absent or infinite."""
    value = entry.reach.value if entry.reach is not None else FIGURES[plan.rank_by](entry)
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def _compares(plan: PlanProblem, entry: PlanEntry) -> str:
    """Return the quantity that figures measure, in words; figures of different quantities are never compared."""
    risk = f"the bound on the excess risk ({entry.objective or 'none is known'})"
    if plan.unknown is not None:
        return f"the {plan.unknown} that takes {risk} to the target"
    words: Mapping[RankBy, str] = {
        "risk": risk,
        "noise": f"noise_std per coordinate, added to {entry.noise_added_to}",
        "signal": "noise in the mean of a round, over the bound on that mean",
        "bits": "bits that all clients send over the run",
        "rounds": "rounds",
    }
    return words[plan.rank_by]


def _by_trust(key: tuple[GuaranteeKind, str]) -> tuple[int, str]:
    return get_args(Trust).index(key[0].definition), repr(key)


def _ranked(plan: PlanProblem, members: Sequence[PlanEntry]) -> tuple[list[PlanEntry], list[PlanEntry]]:
    """Return the ranked entries, best first with equal ranks for equal figures, and the unranked entries.

    An entry is not ranked if it is no better than the start, drowned by its noise, or beyond the plan's limits. The
    figure does not matter then. Unranked entries of these kinds come first, by their figures.
    """
    figures = {name_of(entry): figure_of(plan, entry) for entry in members}
    saying = {
        name_of(entry): value
        for entry in members
        if says_something(entry) and (value := figures[name_of(entry)]) is not None
    }
    known = sorted(saying.values())
    ranked = [
        replace(entry, rank=known.index(saying[name_of(entry)]) + 1) for entry in members if name_of(entry) in saying
    ]
    ranked.sort(key=lambda entry: (entry.rank, name_of(entry)))

    def place(entry: PlanEntry) -> tuple[bool, float]:
        value = figures[name_of(entry)]
        return says_something(entry), math.inf if value is None else value

    return ranked, sorted((entry for entry in members if name_of(entry) not in saying), key=place)
