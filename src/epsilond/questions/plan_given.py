"""A plan within what is left of a ledger: every algorithm with the least noise that fits, or why it cannot be."""

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
"""Fields of a plan that a ledger says, or that it cannot be asked for."""


def within(ledger: Ledger, fields: Mapping[str, object], place: Mapping[str, object], progress: Progress) -> PlanAnswer:
    """Every algorithm that the plan considers, calibrated one after the other within what is left, and ranked.

    Raises:
        InvalidInput: fields that no run can have, or that are the ledger's to say.
    """
    told = ledger.show()
    setting = Setting(**{name: told[name] for name in SETTING})
    own = {name: getattr(setting, name) for name in ("unit", "relation")}
    adversaries = {"observers": list(get_args(Observer))}
    faults = [
        Fault(f"/{name}", "is what the ledger says: leave it out") for name in LEFT_OUT if fields.get(name) is not None
    ]
    faults += [
        Fault(f"/{name}", "is not the ledger's", value)
        for name, value in own.items()
        if fields.get(name) not in (None, value)
    ]
    if faults:
        raise InvalidInput(*faults)
    target = {"epsilon": told["target"]["epsilon"], "log10_delta": told["target"]["log10_delta"]}
    problem = read(PlanProblem, {**fields, **own, **adversaries, **target})
    settled: list[tuple[Draft, Outcome | None]] = []
    drafted = drafts(PLANNERS, problem)
    for done, each in enumerate(drafted):
        progress(done, len(drafted))
        settled.append((_against(each, setting), _settled(ledger, each, setting, place)))
    progress(len(drafted), len(drafted))
    return answer_of(problem, settled)


def _against(each: Draft, setting: Setting) -> Draft:
    """The draft against the ledger's observer, where its trust model allows for that one."""
    if setting.observer not in POSSIBLE[each.adapter.definition]:
        return each
    return replace(each, guarantee=replace(each.guarantee, observer=setting.observer))


def _settled(ledger: Ledger, each: Draft, setting: Setting, place: JsonObject) -> Outcome | None:
    if each.request is None:
        return None
    try:
        require_possible(each.name, each.adapter.definition, setting)
        asked = {name: value for name, value in as_json(each.request).items() if name not in (*TARGET, *SETTING)}
        found = ledger.calibrate(each.calibrator.name, asked, **place)
        request: object = read(each.calibrator.problem, found["request"])
        return found_of(each.calibrator.solve(request), request)
    except EpsilondError as refusal:
        return refusal
