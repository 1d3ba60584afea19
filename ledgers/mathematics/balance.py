"""The digest of a ledger's balance, by which a row that was changed outside a move is noticed.

Each entry has the digest of the balance after its move. The next move, an auditor and a start of the service compute
it again: from the rows of the database, or from the entries.
"""

from __future__ import annotations

from collections.abc import Callable

from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.amounts import ZERO, shown
from epsilond.ledgers.mathematics.entries import charged
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.witness.reports.canonical import canonical, digest

SpecText = Callable[[Spec], str]
BALANCE = "balance"
"""Member of an entry that has the digest after its move."""
SHA256 = "sha256:"
"""Beginning of a digest."""


def balance_of(state: LedgerState, text: SpecText) -> JsonRecord:
    """Return everything of a ledger that moves change, as a record: amounts as texts, runs as whole numbers.

    Args:
        state: the ledger, with every reservation that still holds something.
        text: returns the canonical JSON text of a mechanism.
    """
    return {
        "status": state.status,
        "sealed": state.sealed,
        "approval": state.approval,
        "slots": [
            {
                "kind": slot.kind,
                "parts": [
                    [part, shown(capacity), shown(slot.used.get(part, ZERO)), shown(slot.reserved.get(part, ZERO))]
                    for part, capacity in sorted(slot.capacity.items())
                ],
            }
            for slot in state.slots
        ],
        "plan": [
            [item.name, text(item.spec), item.planned, item.reserved, item.committed, item.credit]
            for item in state.plan
        ],
        "held": [
            _reservation_record(state.reservations[identifier], text)
            for identifier in sorted(state.reservations)
            if is_live(state.reservations[identifier])
        ],
    }


def digest_of(state: LedgerState, text: SpecText) -> str:
    """Return the digest of a ledger's balance: SHA-256 of its canonical form (RFC 8785). Arguments as `balance_of`."""
    return SHA256 + digest(canonical(balance_of(state, text)))


def is_live(held: Reservation) -> bool:
    """Return whether a reservation still holds something."""
    return held.state in ("reserved", "committed") and held.committed < held.count


def _reservation_record(held: Reservation, text: SpecText) -> JsonRecord:
    """Return the record of a reservation that still holds something."""
    return {
        "id": held.id,
        "spec": text(held.spec),
        "item": held.item,
        "slot": held.slot,
        "charge": None if held.charge is None else charged(held.charge),
        "count": held.count,
        "committed": held.committed,
    }
