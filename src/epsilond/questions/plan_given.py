"""Plan within the rest of a ledger: every algorithm at the smallest noise that fits, or the reason why none does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from epsilond.accountants.errors import EpsilondError, Fault, InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer
from epsilond.accountants.structure import POSSIBLE
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.drafts import Draft
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import Outcome, answer_of, drafts, found_of
from epsilond.ledgers.calibrating.setting import SETTING, TARGET, require_possible
from epsilond.reading import read

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.progress import Progress

LEFT_OUT: Final = (*TARGET, "reach", "observers")
"""Fields of a plan that a ledger sets, or that do not go with a ledger."""


def within(ledger: Ledger, fields: Mapping[str, object], place: Mapping[str, object], progress: Progress) -> PlanAnswer:
    """Calibrate each algorithm of a plan to the remaining budget of a ledger, and rank the results.

    Args:
        ledger: the ledger that pays for the run.
        fields: fields of the plan, without those that the ledger sets.
        place: `slot`, `item` and `eta` of the charge, as far as they are given.
        progress: called with the number of algorithms that are done, and the number of algorithms.

    Raises:
        InvalidInput: fields that are out of range, or that the ledger sets.
    """
    body = ledger.show()
    setting = Setting(**{name: body[name] for name in SETTING})
    own = {name: getattr(setting, name) for name in ("unit", "relation")}
    adversaries = {"observers": list(get_args(Observer))}
    faults = [
        Fault(f"/{name}", "is set by the ledger: leave it out") for name in LEFT_OUT if fields.get(name) is not None
    ]
    faults += [
        Fault(f"/{name}", "is not the ledger's", value)
        for name, value in own.items()
        if fields.get(name) not in (None, value)
    ]
    if faults:
        raise InvalidInput(*faults)
    target = {"epsilon": body["target"]["epsilon"], "log10_delta": body["target"]["log10_delta"]}
    problem = read(PlanProblem, {**fields, **own, **adversaries, **target})
    outcomes: list[tuple[Draft, Outcome | None]] = []
    entries = drafts(PLANNERS, problem)
    for done, draft in enumerate(entries):
        progress(done, len(entries))
        outcomes.append((_with_observer(draft, setting), _calibrate_draft(ledger, draft, setting, place)))
    progress(len(entries), len(entries))
    return answer_of(problem, outcomes)


def _with_observer(draft: Draft, setting: Setting) -> Draft:
    """Return the draft with the ledger's observer, if the draft's trust model allows this observer."""
    if setting.observer not in POSSIBLE[draft.adapter.definition]:
        return draft
    return replace(draft, guarantee=replace(draft.guarantee, observer=setting.observer))


def _calibrate_draft(ledger: Ledger, draft: Draft, setting: Setting, place: JsonObject) -> Outcome | None:
    """Calibrate one algorithm of a plan to the remaining budget of a ledger.

    Args:
        ledger: the ledger.
        draft: the problem of the plan as a request to the algorithm.
        setting: relation, unit and observer of the ledger.
        place: `slot`, `item` and `eta` of the charge, as far as they are given.

    Returns:
        The calibration, or the error that rejects it; None if the problem does not fit the algorithm.
    """
    if draft.request is None:
        return None
    try:
        require_possible(draft.name, draft.adapter.definition, setting)
        set_by_ledger = set(TARGET) | set(SETTING)
        fields = {name: value for name, value in as_json(draft.request).items() if name not in set_by_ledger}
        fit = ledger.calibrate(draft.calibrator.name, fields, **place)
        request: object = read(draft.calibrator.problem, fit["request"])
        return found_of(draft.calibrator.solve(request), request)
    except EpsilondError as error:
        return error
