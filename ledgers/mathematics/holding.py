"""Charges that slots hold for reservations, from their reservation to their commit."""

from __future__ import annotations

from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import LedgerExhausted
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.mixture import may_go_on
from epsilond.ledgers.mathematics.residue import holds
from epsilond.ledgers.mathematics.state import Amounts, Charge, LedgerState, Reservation, Slot, minus, plus


def hold_charge(state: LedgerState, reservation: Reservation, slot: Slot) -> LedgerState:
    """Return the ledger after a slot, a part of its privacy budget, has set aside the cost of a reservation.

    The reservation is added, or replaces the one with its id. Its charge must have been certified as large enough.

    Args:
        state: the ledger before the reservation.
        reservation: the reservation with its charge, which must not be None.
        slot: the slot that pays. It replaces the state's slot of the same kind, from which it may differ.

    Returns:
        The new state; the given one is not changed.

    Raises:
        LedgerExhausted: less is free than the charge.
    """
    assert reservation.charge is not None  # required of the caller
    require_free(slot, reservation.charge.parts)
    updated = replace(slot, reserved=plus(slot.reserved, reservation.charge.parts))
    return state.with_slot(updated).with_reservation(reservation)


def release_charge(slot: Slot, reservation: Reservation) -> Slot:
    """Return a slot, a part of the privacy budget, after its amounts for a reservation were made free again.

    No run of the reservation may be committed yet.

    Args:
        slot: the slot. Its reserved amounts include the charge.
        reservation: the reservation with its charge, which must not be None.

    Returns:
        The new slot; the given one is not changed.
    """
    assert reservation.charge is not None  # the slot holds it
    return replace(slot, reserved=minus(slot.reserved, reservation.charge.parts))


def renew_charge(setting: Setting, slot: Slot, reservation: Reservation) -> tuple[Slot, Charge]:
    """Return a charge for reserved runs that is valid at their first commit: the reserved one, or a new one.

    The runs are charged together in a Gaussian slot, a privacy budget in μ². A charge is valid at the remaining μ² for
    which it was computed, and at every larger one. If less is left now, the charge is checked at the smaller amount. If
    it does not suffice there, it is computed anew.

    Args:
        setting: neighbouring relation, unit of privacy and observer of the ledger.
        slot: the slot, which holds the charge of the reservation.
        reservation: the reservation of the runs.

    Returns:
        The slot, in which the valid charge is reserved in place of the former one, and the charge.

    Raises:
        LedgerExhausted: the slot has less free than the runs now cost.
    """
    price = reservation.charge
    assert price is not None  # the slot holds it
    assert price.remaining is not None  # a charge for several runs together states it
    remaining = slot.remainder("mu_squared")
    if remaining >= price.remaining:
        return slot, price
    eta = price.parts["eta"]
    request = ChargeRequest(setting=setting, spec=reservation.spec, count=reservation.count, eta=eta)
    if holds(request.parts, remaining=remaining, cost=price.parts["mu_squared"], eta=eta):
        return slot, replace(price, remaining=remaining)
    # Compute the new charge from a slot in which the former one is free again.
    freed = release_charge(slot, reservation)
    price = charge(request, freed)
    require_free(freed, price.parts)
    return replace(freed, reserved=plus(freed.reserved, price.parts)), price


def use_reserved(slot: Slot, amounts: Amounts) -> Slot:
    """Return a slot, a part of the privacy budget, after a commit has spent amounts that were reserved in it.

    Args:
        slot: the slot, which has reserved at least these amounts.
        amounts: amounts by the names of the slot's parts, such as `rho` and `delta`.

    Returns:
        The new slot; the given one is not changed.
    """
    return replace(slot, reserved=minus(slot.reserved, amounts), used=plus(slot.used, amounts))


def require_free(slot: Slot, parts: Amounts) -> None:
    """Check that a slot, a part of the privacy budget, has enough left for the requested amounts.

    Several Rényi orders of a slot count together. Single orders may be overdrawn as long as `may_go_on` accepts all
    orders together.

    Args:
        slot: the slot, with amounts such as μ², ρ, ε or one for each Rényi order.
        parts: requested amounts by the names of the slot's parts, such as `mu_squared`.

    Raises:
        LedgerExhausted: less is free than requested. Its condition has both amounts, except if `may_go_on` does not
            accept the Rényi orders.
    """
    if slot.kind == "rdp":
        if not may_go_on(slot, parts):
            raise LedgerExhausted("no mean of the slot's Rényi orders has room for the job")
        if len(slot.orders) > 1:
            return
    for part, amount in parts.items():
        free = slot.free(part)
        if amount > free:
            statement = f"the cost in {part} is at most the free amount"
            condition = violated_condition("epsilond.ledger-slot", statement, amount, free)
            raise LedgerExhausted(f"less of {part} is free in the slot {slot.kind} than the job costs", condition)


def violated_condition(condition: str, text: str, lhs: object, rhs: object) -> ConditionResult:
    """Return a violated condition with the values of both sides, which an error shows to the caller.

    Args:
        condition: id of the condition, such as `epsilond.ledger-slot`.
        text: the condition as a sentence.
        lhs: value that exceeds `rhs`.
        rhs: upper bound on the value that the condition demands.

    Returns:
        The condition's id, sentence and verdict NO, and both sides as floats.
    """
    return ConditionResult(condition, text, Verdict.NO, float(lhs), float(rhs))  # type: ignore[arg-type]
