"""What to run an algorithm with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import asked
from epsilond.spelling import named

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.mathematics.state import SlotKind


def calibrator(name: str) -> Calibrator:
    """The calibrator of that name.

    Raises:
        InvalidInput: there is none; the message proposes near names.
    """
    return named(name, {each.name: each for each in CALIBRATORS}, at="/algorithm", noun="algorithm")


def calibrate(
    algorithm: object,
    /,
    *,
    given: Ledger | None = None,
    slot: SlotKind | None = None,
    item: str | None = None,
    eta: AmountTold | None = None,
    **fields: object,
) -> Calibration:
    """What to run `algorithm` with, so that the target (ε, δ) is certified.

    The fields are those of the HTTP body and of the command line. Instead of a name and fields a request may be given,
    one of `epsilond.requests`; fields then take the place of its own.

    With a ledger that is `given`, the noise is the least with which the run fits into what is left of the ledger: of
    its Gaussian slot, of the `slot` that is named, or of the plan's `item`. ε and δ, the unit, the relation and the
    observer are then the ledger's, and are left out; `eta` is what the charge may add to δ. The guarantee of the answer
    is of this run alone, at the ledger's δ. Nothing is reserved by that: reserve the run's spec, which
    `given.calibrate` tells.

    Guarantees: the upper end of the answer's guarantee meets the target at the parameters returned.

    Example:
        >>> import epsilond
        >>> answer = epsilond.calibrate(
        ...     "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=10,
        ...     dimension=100, lipschitz=1.0, diameter=1.0, rounds=50, batch_size=100,
        ...     relation="replace-one", unit="record", observer="server",
        ... )
        >>> answer.guarantee.epsilon.upper <= 1.0
        True

    Raises:
        InvalidInput: no such algorithm, or fields that no run can have; every fault carries a JSON pointer.
        NoCertificate: nothing can be certified; the error holds the condition with both sides and what is nearest.
    """
    place = {"slot": slot, "item": item, "eta": eta}
    if given is not None:
        from epsilond.questions.given import within  # noqa: PLC0415  few calibrations are within a ledger

        return within(given, algorithm, fields, slot=slot, item=item, eta=eta)
    fields |= {name: value for name, value in place.items() if value is not None}  # no algorithm has such fields
    chosen, problem = asked(algorithm, CALIBRATORS, fields)
    answer = chosen.solve(problem)
    assert isinstance(answer, Calibration)
    return answer
