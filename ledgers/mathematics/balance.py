"""Digests of a ledger's balance, which reveal a database row that was changed outside a move.

Each entry has the digest of the balance after its move. The next move, an auditor and a start of the service compute
it again, from the rows of the database or from the entries.
"""

from __future__ import annotations

from collections.abc import Callable

from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.amounts import ZERO, format_amount
from epsilond.ledgers.mathematics.entries import charge_record
from epsilond.ledgers.mathematics.state import LedgerState, Reservation, Slot
from epsilond.witness.reports.canonical import canonical, digest

SpecText = Callable[[Spec], str]
BALANCE = "balance"
"""Member of an entry that holds the digest of the balance after its move."""
SHA256 = "sha256:"
"""Prefix of a digest."""


def balance_of(state: LedgerState, text: SpecText) -> JsonRecord:
    """Return the balance of a ledger as a JSON object.

    The balance is everything that a move (a reservation, a commit or another change) may alter: amounts, numbers of
    runs, status and open reservations. Each log entry has the digest of the balance after its move, so that later
    changes of the database are detected. Amounts are decimal strings, and numbers of runs are integers.

    Args:
        state: the ledger. It must contain at least the reservations with runs that are not committed yet.
        text: function that returns the canonical JSON text of a mechanism.

    Returns:
        The JSON object. An item of `plan` is [name, mechanism, planned, reserved, committed, credit], where credit is
        the number of free runs of jobs that were stopped. `held` has the reservations with uncommitted runs, by id.
    """
    plan = [
        [item.name, text(item.spec), item.planned, item.reserved, item.committed, item.credit] for item in state.plan
    ]
    slots = [{"kind": slot.kind, "parts": _part_records(slot)} for slot in state.slots]

    held = []
    for _, reservation in sorted(state.reservations.items()):
        if is_live(reservation):
            held.append(_reservation_record(reservation, text))
    return {
        "status": state.status,
        "sealed": state.sealed,
        "approval": state.approval,
        "slots": slots,
        "plan": plan,
        "held": held,
    }


def _part_records(slot: Slot) -> list[list[str]]:
    """Return the capacity, the used and the reserved amount of each part of a slot (a privacy budget) as texts.

    Args:
        slot: the slot. An amount that is absent in `used` or `reserved` is zero.

    Returns:
        One list [name, capacity, used, reserved] for each amount, such as μ² or ρ, ordered by name.
    """
    records = []
    for part, capacity in sorted(slot.capacity.items()):
        used = slot.used.get(part, ZERO)
        reserved = slot.reserved.get(part, ZERO)
        records.append([part, format_amount(capacity), format_amount(used), format_amount(reserved)])
    return records


def digest_of(state: LedgerState, text: SpecText) -> str:
    """Return the digest of a ledger's balance: SHA-256 of its canonical JSON text (RFC 8785).

    Args:
        state: the ledger. It must contain at least the reservations with runs that are not committed yet.
        text: returns the canonical JSON text of a mechanism.

    Returns:
        The digest as text, with the name of the hash function before it.
    """
    balance_text = canonical(balance_of(state, text))
    return SHA256 + digest(balance_text)


def is_live(reservation: Reservation) -> bool:
    """Return whether a reservation still holds runs that are not committed.

    Args:
        reservation: reservation of some runs of a mechanism.

    Returns:
        False if all its runs were committed, or if it was cancelled or has expired.
    """
    has_ended = reservation.state not in ("reserved", "committed")
    return not has_ended and reservation.committed < reservation.count


def _reservation_record(reservation: Reservation, text: SpecText) -> JsonRecord:
    """Return a reservation of runs as a JSON object, as the balance of a ledger contains it.

    A slot (a budget for runs outside the plan) pays for the runs by a charge. An item of the plan pays in runs, so that
    `charge` is then None.

    Args:
        reservation: the reservation.
        text: returns the canonical JSON text of a mechanism.
    """
    charge = None
    if reservation.charge is not None:
        charge = charge_record(reservation.charge)
    return {
        "id": reservation.id,
        "spec": text(reservation.spec),
        "item": reservation.item,
        "slot": reservation.slot,
        "charge": charge,
        "count": reservation.count,
        "committed": reservation.committed,
    }
