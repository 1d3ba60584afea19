"""Calibration of an algorithm to a target (ε, δ)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator
from epsilond.questions.requests import read_question
from epsilond.spelling import choose_by_name

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.mathematics.state import SlotKind


def calibrator(name: str) -> Calibrator:
    """Return the calibrator of an algorithm, which computes the algorithm's parameters for a privacy target.

    Args:
        name: name of the algorithm, such as `mb-sgd`.

    Returns:
        The calibrator, which the registry of algorithms contains.

    Raises:
        InvalidInput: there is no such algorithm; the message proposes similar names.
    """
    choices = {choice.name: choice for choice in CALIBRATORS}
    return choose_by_name(name, choices, at="/algorithm", noun="algorithm")


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
    """Return parameters of `algorithm` at which the target (ε, δ) is certified.

    With a ledger, the noise is the smallest at which the run fits into the budget that is left. Without `slot` and
    `item`, this is the budget of the slot for Gaussian differential privacy. Leave out ε, δ, the unit, the relation and
    the observer, which the ledger sets. The guarantee of the answer is that of only this run, without earlier ones, at
    the ledger's δ. No budget is reserved. To reserve it, pass the spec that `given.calibrate(…)` returns to
    `given.reserve`.

    Args:
        algorithm: name of an algorithm, or a request, one of `epsilond.requests`.
        given: a ledger that pays for the run; None without one.
        slot: kind of slot. A slot is the part of the ledger's budget that counts in one notion of privacy: gdp, zcdp,
            rdp or pure.
        item: name of an item of the ledger's plan: a mechanism with its number of runs, for which budget is set aside.
        eta: η, the largest amount that the charge may add to δ in a Gaussian slot; None for the slot's default.
        **fields: fields of the HTTP body and of the command line. They replace fields of a request.

    Guarantees: the upper bound of the answer's guarantee meets the target at the returned parameters.

    Returns:
        The calibration: the parameters, the certified guarantee, and the bounds on risk and traffic that are known.

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
        InvalidInput: unknown algorithm, or fields out of range; every fault has a JSON pointer.
        NoCertificate: nothing can be certified; the error has the condition with both sides and the nearest values.
    """
    payment = {"slot": slot, "item": item, "eta": eta}
    if given is not None:
        from epsilond.questions.given import calibrate_within  # noqa: PLC0415  few calibrations are within a ledger

        return calibrate_within(given, algorithm, fields, slot=slot, item=item, eta=eta)
    # Without a ledger, these are rejected as unknown fields: no algorithm has them.
    fields |= {name: value for name, value in payment.items() if value is not None}
    chosen, problem = read_question(algorithm, CALIBRATORS, fields)
    answer = chosen.solve(problem)
    assert isinstance(answer, Calibration)
    return answer
