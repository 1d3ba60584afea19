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
    """Return the ledger after a slot has set aside the cost of a reservation, which is added or replaced.

    A slot is a privacy budget of the ledger. The caller must have certified that the charge is large enough.

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
    """Return a slot after the amounts that it holds for a reservation were given back.

    A slot is a part of the ledger's privacy budget. No run of the reservation may be committed yet.

    Args:
        slot: the slot. Its reserved amounts include the charge.
        reservation: the reservation with its charge, which must not be None.

    Returns:
        The new slot; the given one is not changed.
    """
    assert reservation.charge is not None  # the slot holds it
    return replace(slot, reserved=minus(slot.reserved, reservation.charge.parts))


def renew_charge(setting: Setting, slot: Slot, reservation: Reservation) -> tuple[Slot, Charge]:
    """Make sure at the first commit of a job that its reserved charge is still valid, or compute a new one.

    The job is charged as a whole in a Gaussian slot, a privacy budget in μ². A charge is valid at the remaining μ² for
    which it was computed, and at every larger one. If less is left now, the charge is certified again at the smaller
    amount. If it does not suffice there, it is computed anew.

    Args:
        setting: neighbouring relation, unit of privacy and observer of the ledger.
        slot: the slot, which holds the charge of the reservation.
        reservation: the reservation of the whole job.

    Returns:
        The slot, which holds the valid charge in place of the former one, and the charge.

    Raises:
        LedgerExhausted: the slot has less free than the job now costs.
    """
    price = reservation.charge
    assert price is not None  # the slot holds it
    assert price.remaining is not None  # charges of whole jobs state it
    remaining = slot.remainder("mu_squared")
    if remaining >= price.remaining:
        return slot, price
    # Less is left now: try to certify the same charge at the smaller μ².
    eta = price.parts["eta"]
    request = ChargeRequest(setting=setting, spec=reservation.spec, count=reservation.count, eta=eta)
    if holds(request.parts, remaining=remaining, cost=price.parts["mu_squared"], eta=eta):
        return slot, replace(price, remaining=remaining)
    # The charge does not suffice any more: give it back and compute a new one.
    freed = release_charge(slot, reservation)
    price = charge(request, freed)
    require_free(freed, price.parts)
    return replace(freed, reserved=plus(freed.reserved, price.parts)), price


def use_reserved(slot: Slot, amounts: Amounts) -> Slot:
    """Return a slot after reserved amounts became used amounts, as a commit makes them.

    A slot is a part of the ledger's privacy budget.

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
    # Several Rényi orders count together, so that one of them may be overdrawn.
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
    """Return a violated condition with the values of both sides.

    An error shows the condition, so that the caller sees by how much the request is too large.

    Args:
        condition: id of the condition, such as `epsilond.ledger-slot`.
        text: the condition as a sentence.
        lhs: value that exceeds `rhs`.
        rhs: upper bound on the value that the condition demands.

    Returns:
        The condition's id, sentence and verdict NO, and both sides as floats.
    """
    return ConditionResult(condition, text, Verdict.NO, float(lhs), float(rhs))  # type: ignore[arg-type]
