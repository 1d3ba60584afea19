"""Calibration within the rest of a ledger: the smallest noise at which the run fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.questions.requests import read_question

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.mathematics.state import SlotKind


def within(
    ledger: Ledger,
    algorithm: object,
    fields: Mapping[str, object],
    *,
    slot: SlotKind | None = None,
    item: str | None = None,
    eta: AmountTold | None = None,
) -> Calibration:
    """Return the calibration of a run that takes the rest of the ledger's slot, or costs at most the plan's item.

    The ledger certifies the request by its own rule, and the calibration is the answer to that request.

    Args:
        ledger: the ledger that pays for the run.
        algorithm: name of the algorithm.
        fields: fields of the request, without those that the ledger sets.
        slot: kind of slot; the Gaussian slot if absent.
        item: item of the ledger's plan.
        eta: amount that the charge may add to δ.

    Raises:
        InvalidInput: unknown algorithm, or a field is out of range or set by the ledger.
        ConditionViolated: the ledger cannot hold the kind of guarantee of this algorithm.
        LedgerExhausted: the run fits at no noise.
        Refused: the service has another version of the engine, with other figures.
    """
    if not isinstance(algorithm, str):
        message = "is given by its name within a ledger: a request has a target of its own"
        raise InvalidInput.at("/algorithm", message, allowed=", ".join(choice.name for choice in CALIBRATORS))
    fit = ledger.calibrate(algorithm, fields, slot=slot, item=item, eta=eta)
    chosen, problem = read_question(algorithm, CALIBRATORS, fit["request"])
    answer = chosen.solve(problem)
    assert isinstance(answer, Calibration)
    remote = fit.get("calibration")
    if remote is not None and remote["parameters"] != as_json(answer)["parameters"]:
        from epsilond.ledgers.client.errors import Refused  # noqa: PLC0415  only services are of another version

        raise Refused("the service calibrates otherwise than this version of the library, so nothing is certified here")
    return answer
