"""Calibrations and plans within the remaining budget of a ledger: the smallest noise at which a run fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from epsilond.accountants.errors import EpsilondError, Fault, InvalidInput
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer
from epsilond.accountants.structure import POSSIBLE
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.drafts import Draft
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import Outcome, answer_of, drafts, outcome_of_calibration
from epsilond.ledgers.calibrating.setting import SETTING, TARGET, require_possible
from epsilond.questions.requests import read_question
from epsilond.reading import read

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.mathematics.state import SlotKind
    from epsilond.progress import Progress

LEFT_OUT: Final = (*TARGET, "reach", "observers")
"""Fields of a plan that a ledger sets, or that do not go with a ledger."""


def calibrate_within(
    ledger: Ledger,
    algorithm: object,
    fields: Mapping[str, object],
    *,
    slot: SlotKind | None = None,
    item: str | None = None,
    eta: AmountTold | None = None,
) -> Calibration:
    """Return the calibration with the least noise at which a ledger can still pay for the run.

    The run takes all that is left of a slot, or of an item of the ledger's plan. The ledger computes the target ε for
    which the run just fits, and the calibration is the answer for that target.

    Args:
        ledger: the ledger that pays for the run.
        algorithm: name of the algorithm.
        fields: fields of the request, without those that the ledger sets.
        slot: kind of slot. A slot is the part of the ledger's budget that counts in one notion of privacy: gdp, zcdp,
            rdp or pure. Without slot and item it is gdp.
        item: name of an item of the ledger's plan: a mechanism with its number of runs, for which budget is set aside.
        eta: η, the largest amount that the charge may add to δ in a Gaussian slot; None for the slot's default.

    Returns:
        The calibration for the target that the ledger has determined.

    Raises:
        InvalidInput: unknown algorithm, or a field is out of range or set by the ledger.
        ConditionViolated: the ledger cannot hold the kind of guarantee of this algorithm.
        LedgerExhausted: at no noise does the remaining budget pay for the run.
        Refused: the service has another version of the engine, which computes other parameters.
    """
    if not isinstance(algorithm, str):
        message = "is given by its name within a ledger: a request has a target of its own"
        raise InvalidInput.at("/algorithm", message, allowed=", ".join(choice.name for choice in CALIBRATORS))
    fit = ledger.calibrate(algorithm, fields, slot=slot, item=item, eta=eta)
    chosen, problem = read_question(algorithm, CALIBRATORS, fit["request"])
    answer: Calibration = chosen.solve(problem)
    # A service that computes other figures would charge another amount than this answer says.
    remote = fit.get("calibration")  # the answer of a service; a local ledger returns none
    if remote is not None and remote["parameters"] != as_json(answer)["parameters"]:
        from epsilond.ledgers.client.errors import Refused  # noqa: PLC0415  only services are of another version

        raise Refused("the service calibrates otherwise than this version of the library, so nothing is certified here")
    return answer


def plan_within(
    ledger: Ledger, fields: Mapping[str, object], payment: Mapping[str, object], progress: Progress
) -> PlanAnswer:
    """Rank several algorithms for one learning problem, each calibrated to the remaining budget of a ledger.

    Args:
        ledger: the ledger that pays for the run.
        fields: fields of the request: the learning problem, without the fields that the ledger sets.
        payment: the arguments of `calibrate_within` named `slot`, `item` and `eta`, if the caller gave them.
        progress: called with the number of algorithms that are done, and the number of algorithms.

    Returns:
        The ranked algorithms, each with its calibration or with the reason why there is none.

    Raises:
        InvalidInput: fields that are out of range, or that the ledger sets.
    """
    body = ledger.show()
    setting = Setting(**{name: body[name] for name in SETTING})
    _require_free_fields(fields, setting)
    problem = read(
        PlanProblem,
        {
            **fields,
            "unit": setting.unit,
            "relation": setting.relation,
            "observers": list(get_args(Observer)),  # each draft gets the ledger's observer later, if it is possible
            "epsilon": body["target"]["epsilon"] or 1.0,  # a draft needs an ε, which its calibration replaces
            "log10_delta": body["target"]["log10_delta"],
        },
    )
    # A draft is the request that one variant of an algorithm makes from the plan, or the reasons why there is none.
    outcomes: list[tuple[Draft, Outcome | None]] = []
    entries = drafts(PLANNERS, problem)
    for done, draft in enumerate(entries):
        progress(done, len(entries))
        outcome = _calibrate_draft(ledger, draft, setting, payment)
        outcomes.append((_with_observer(draft, setting), outcome))
    progress(len(entries), len(entries))
    return answer_of(problem, outcomes)


def _require_free_fields(fields: Mapping[str, object], setting: Setting) -> None:
    """Check that a request to compare algorithms within a ledger has no field that the ledger sets.

    The unit and the relation may be given if they are the same as in the ledger.

    Args:
        fields: fields of the plan.
        setting: protected unit and neighbouring relation of the ledger.

    Raises:
        InvalidInput: there are such fields. The error has a fault for each.
    """
    faults = [
        Fault(f"/{name}", "is set by the ledger: leave it out") for name in LEFT_OUT if fields.get(name) is not None
    ]
    for name, value in (("unit", setting.unit), ("relation", setting.relation)):
        if fields.get(name) not in (None, value):
            faults.append(Fault(f"/{name}", "is not the ledger's", value))
    if faults:
        raise InvalidInput(*faults)


def _with_observer(draft: Draft, setting: Setting) -> Draft:
    """Return a draft with the observer of a ledger, if the draft's trust model allows this observer.

    A draft is the request that one algorithm makes from a common learning problem.

    Args:
        draft: the draft.
        setting: relation, unit and observer of the ledger.

    Returns:
        The changed draft. The draft itself if this observer is not possible for the algorithm.
    """
    if setting.observer not in POSSIBLE[draft.adapter.definition]:
        return draft
    return replace(draft, guarantee=replace(draft.guarantee, observer=setting.observer))


def _calibrate_draft(ledger: Ledger, draft: Draft, setting: Setting, payment: JsonObject) -> Outcome | None:
    """Calibrate one of several algorithms that are compared, to the remaining budget of a ledger.

    Args:
        ledger: the ledger that pays for the run.
        draft: the algorithm, with the request that was made for it from the common learning problem. It has no request
            if the problem does not fit the algorithm.
        setting: relation, unit and observer of the ledger.
        payment: the arguments of `calibrate_within` named `slot`, `item` and `eta`, if the caller gave them.

    Returns:
        The calibration, or the error that rejects it; None if the problem does not fit the algorithm.
    """
    if draft.request is None:
        return None
    try:
        require_possible(draft.name, draft.adapter.definition, setting)
        # The ledger adds its own target, relation, unit and observer to the request.
        set_by_ledger = {*TARGET, *SETTING}
        request_fields = as_json(draft.request)
        fields = {name: value for name, value in request_fields.items() if name not in set_by_ledger}
        fit = ledger.calibrate(draft.calibrator.name, fields, **payment)
        request: object = read(draft.calibrator.problem, fit["request"])
        return outcome_of_calibration(draft.calibrator.solve(request), request)
    except EpsilondError as error:
        return error
