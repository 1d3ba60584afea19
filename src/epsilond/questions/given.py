"""A calibration within what is left of a ledger: the least noise with which the run still fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.reading import asked

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
    """The calibration whose run takes what is left of the ledger's slot, or costs no more than the plan's item.

    The ledger finds the request, certified by its own rule, and the calibration is the answer to it.

    Raises:
        InvalidInput: there is no such algorithm, or a field is at fault or the ledger's to say.
        ConditionViolated: the algorithm's guarantee is not one that the ledger can hold.
        LedgerExhausted: no noise makes the run fit.
        Refused: the service has another version of the engine, so that its figures are not ours.
    """
    if not isinstance(algorithm, str):
        message = "is given by its name within a ledger: a request has a target of its own"
        raise InvalidInput.at("/algorithm", message, allowed=", ".join(each.name for each in CALIBRATORS))
    found = ledger.calibrate(algorithm, fields, slot=slot, item=item, eta=eta)
    chosen, problem = asked(algorithm, CALIBRATORS, found["request"])
    answer = chosen.solve(problem)
    assert isinstance(answer, Calibration)
    elsewhere = found.get("calibration")
    if elsewhere is not None and elsewhere["parameters"] != as_json(answer)["parameters"]:
        from epsilond.ledgers.client.errors import Refused  # noqa: PLC0415  only services are of another version

        raise Refused("the service calibrates otherwise than this version of the library, so nothing is certified here")
    return answer
