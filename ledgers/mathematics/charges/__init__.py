"""Charges of a job in each kind of slot: the table of the rules by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from epsilond.ledgers.mathematics.charges import additive, concentrated, gaussian, renyi

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Charge, Slot, SlotKind

CHARGES: Mapping[SlotKind, Callable[[ChargeRequest, Slot], Charge]] = {
    "gdp": gaussian.charge,
    "zcdp": concentrated.charge,
    "rdp": renyi.charge,
    "pure": additive.charge_pure,
}


def charge(request: ChargeRequest, slot: Slot) -> Charge:
    """Return the charge for a job in a slot, even if the slot does not have enough left.

    A slot is a part of a ledger's privacy budget, and a job is a number of runs of one mechanism.

    Args:
        request: the job, with the relation, unit and observer of the ledger.
        slot: the slot that would pay.

    Returns:
        The amounts of the slot that the job takes, with the theorem by which they suffice.

    Raises:
        NoCertificate: the mechanism has no proved guarantee for this relation, unit and observer.
        ConditionViolated: no charge is proved for such a mechanism in such a slot.
        LedgerExhausted: all that a Gaussian slot has left does not pay for the job.
    """
    return CHARGES[slot.kind](request, slot)
