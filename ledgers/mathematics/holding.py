"""Charges that slots hold for reservations, from their reservation to their commit."""

from __future__ import annotations

from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import LedgerExhausted
from epsilond.accountants.verdict import Verdict
from epsilond.ledgers.mathematics.mixture import may_go_on
from epsilond.ledgers.mathematics.state import Amounts, LedgerState, Reservation, Slot, minus, plus


def hold_charge(state: LedgerState, reservation: Reservation, slot: Slot) -> LedgerState:
    """Return the state in which a slot's amounts are reserved for a reservation, which is added or replaced.

    The caller must have certified that the charge is large enough.

    Args:
        state: the ledger before the reservation.
        reservation: the reservation with its charge, which must not be None.
        slot: the slot that pays. It replaces the state's slot of the same kind, from which it may differ.

    Raises:
        LedgerExhausted: less is free than the charge.
    """
    assert reservation.charge is not None
    require_free(slot, reservation.charge.parts)
    updated = replace(slot, reserved=plus(slot.reserved, reservation.charge.parts))
    return state.with_slot(updated).with_reservation(reservation)


def release_charge(slot: Slot, reservation: Reservation) -> Slot:
    """Return the slot without the charge of a reservation of which nothing was committed."""
    assert reservation.charge is not None
    return replace(slot, reserved=minus(slot.reserved, reservation.charge.parts))


def use_reserved(slot: Slot, amounts: Amounts) -> Slot:
    """Move amounts of a slot from reserved to used."""
    return replace(slot, reserved=minus(slot.reserved, amounts), used=plus(slot.used, amounts))


def require_free(slot: Slot, parts: Amounts) -> None:
    """Raise LedgerExhausted if the slot has less free than these amounts."""
    if slot.kind == "rdp":
        if not may_go_on(slot, parts):
            raise LedgerExhausted("no mean of the slot's Rényi orders has room for the job")
        if len(slot.orders) > 1:
            return
    for part, amount in parts.items():
        if amount > slot.free(part):
            raise LedgerExhausted(
                f"less of {part} is free in the slot {slot.kind} than the job costs",
                violated_condition(
                    "epsilond.ledger-slot", f"the cost in {part} is at most the free amount", amount, slot.free(part)
                ),
            )


def violated_condition(condition: str, text: str, lhs: object, rhs: object) -> ConditionResult:
    """Return a violated condition with the values of both sides.

    Args:
        condition: id of the condition, such as `epsilond.ledger-slot`.
        text: the condition as a sentence.
        lhs: value that exceeds `rhs`.
        rhs: upper bound on the value that the condition demands.
    """
    return ConditionResult(condition, text, Verdict.NO, float(lhs), float(rhs))  # type: ignore[arg-type]
