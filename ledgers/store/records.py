"""Rows of ledgers as data, as they are loaded and written back. They never change."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from epsilond.ledgers.mathematics.amounts import less

Status = Literal["open", "closed"]
ReservationState = Literal["reserved", "committed", "cancelled", "expired"]
PendingKind = Literal["amend", "void", "reconcile"]
PendingState = Literal["pending", "approved", "rejected", "withdrawn", "expired"]


@dataclass(frozen=True, kw_only=True)
class PartRow:
    """Database row of one amount of a slot, that is, of a ledger's budget for runs that are not planned yet.

    Most slots have a single amount, such as μ² or ρ. A Rényi slot has one for each order.

    Attributes:
        kind: kind of the slot.
        part: name of the amount in the slot.
        capacity: largest amount that may ever be used; it may fall and never rise.
        used: amount of committed runs, which is spent.
        held: amount that is used or reserved; at most the capacity, unless `mixed`.
        mixed: whether the slot has several orders. Some of these may be overdrawn, by a rule that a constraint of the
            database cannot express.
    """

    kind: str
    part: str
    capacity: Decimal
    used: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    mixed: bool = False

    @property
    def reserved(self) -> Decimal:
        """Amount of runs that are reserved and not committed."""
        return less(self.held, self.used)


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """Database row of one item of a ledger's plan: a mechanism with numbers of runs.

    Attributes:
        name: name of the item, unique in the ledger.
        spec: one run, as canonical text.
        planned: number of planned runs. The reserved, committed and credited runs together are at most as many.
        reserved: number of runs that reservations hold.
        committed: number of committed runs. Their outputs may have been released.
        credit: number of runs that were paid for and given back; they may be reserved again.
        job: id of the reservation with the runs that became this item, because a Gaussian slot paid for all of them
            together; None for an item of the plan itself.
    """

    name: str
    spec: str
    planned: int
    reserved: int = 0
    committed: int = 0
    credit: int = 0
    job: str | None = None


@dataclass(frozen=True, kw_only=True)
class LedgerRow:
    """Database rows of a ledger, of its slots and of its plan.

    A slot is a budget for runs that are not planned yet.

    Attributes:
        id: id of the ledger.
        tenant: organisation that owns the ledger.
        dataset: name of the data set.
        block: name of the block; empty for a data set of one block. No two ledgers have the same tenant, data set and
            block, closed or not, except for some that were opened before there were organisations.
        name: name of the ledger.
        record: JSON text of the log entry that opened the ledger, which never changes.
        created: time of the opening, in seconds since 1970.
        status: open or closed; nothing more is reserved in a closed ledger.
        sealed: whether the membership of the block is fixed. Runs can be reserved only then.
        conditional: whether the guarantee depends on a declaration of the owner, because runs were taken back (voided)
            or the plan was changed late.
        version: number of changes of the ledger so far, by which a concurrent change is noticed.
        parts: amounts of the slots, one row for each amount of each slot.
        items: items of the plan, mechanisms with numbers of runs.
        released: whether anything was ever committed; read from the reservations, and not written.
        approval_from: version from which on a second person approves changes of the plan and the return of runs; None
            without approval.
        contradicted: whether a run was observed to differ from the mechanism that was paid for.
        contradictions: log entries with such observations, as canonical text, in their order; not written.
    """

    id: str
    tenant: str
    dataset: str
    block: str = ""
    name: str
    record: str
    created: float
    status: Status = "open"
    sealed: bool = False
    conditional: bool = False
    version: int = 0
    parts: tuple[PartRow, ...] = ()
    items: tuple[ItemRow, ...] = ()
    released: bool = False
    approval_from: int | None = None
    contradicted: bool = False
    contradictions: tuple[bytes, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HoldingRow:
    """Database row of what a reservation holds in one ledger: planned runs, or amounts of a slot.

    A slot is a budget for runs that are not planned yet.

    Attributes:
        ledger: id of the ledger.
        item: item of the plan that the runs are taken from; None if a slot pays. Runs that a Gaussian slot pays for
            together get an item of their own at their first commit.
        slot: kind of the slot that is charged; None if the plan pays.
        spec: one run, as canonical text.
        charge: the amounts that the slot pays, as JSON text; None if the plan pays.
        count: number of reserved runs.
        committed: number of the reserved runs that were committed.
    """

    ledger: str
    item: str | None = None
    slot: str | None = None
    spec: str
    charge: str | None = None
    count: int
    committed: int = 0


@dataclass(frozen=True, kw_only=True)
class ReservationRow:
    """Database rows of a reservation of runs, in one ledger or in several at once.

    Attributes:
        id: id of the reservation.
        tenant: organisation that owns the ledgers.
        state: reserved, committed (in part or whole), cancelled or expired.
        created: time of the reservation, in seconds since 1970.
        expires: time of expiry, in seconds since 1970; None for a reservation that never expires.
        holdings: what each ledger sets aside, planned runs or amounts.
    """

    id: str
    tenant: str
    state: ReservationState = "reserved"
    created: float
    expires: float | None = None
    holdings: tuple[HoldingRow, ...]

    @property
    def ledgers(self) -> tuple[str, ...]:
        """Ids of the ledgers in which the reservation holds runs or amounts."""
        return tuple(holding.ledger for holding in self.holdings)


@dataclass(frozen=True, kw_only=True)
class PendingRow:
    """Database row of a requested change of a ledger that a second person must approve.

    Attributes:
        id: id of the request.
        ledger: id of the ledger.
        kind: amend (change the plan), void (take runs back) or reconcile (accept a log that lacks entries).
        body: JSON text of the request, which never changes.
        requested_by: name of the caller who requested the change.
        requested_at: time of the request, in seconds since 1970, as all times here.
        expires: time of expiry; None never expires.
        state: pending, or how the request ended.
        closed_by: name of the person who approved, rejected or withdrew it.
        closed_at: time at which it ended; None while it is pending.
        applied: version of the ledger, its number of changes, after the approved change; None if it was not made.
    """

    id: str
    ledger: str
    kind: PendingKind
    body: str
    requested_by: str
    requested_at: float
    expires: float | None
    state: PendingState = "pending"
    closed_by: str | None = None
    closed_at: float | None = None
    applied: int | None = None


@dataclass(frozen=True, kw_only=True)
class EntryRow:
    """Database row of one entry of the log of ledgers, which never changes.

    Attributes:
        seq: number in the log, from 0, without gaps.
        at: time of the change, in seconds since 1970.
        tenant: organisation on behalf of which the change was made.
        kind: kind of the change, such as `opened`, `reserved` or `committed`.
        ledger: id of the ledger; None for an entry of the log as a whole.
        leaf: canonical JSON text of the entry as bytes, which is a leaf of the log's Merkle tree.
    """

    seq: int
    at: float
    tenant: str
    kind: str
    ledger: str | None
    leaf: bytes


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """Database row of an answer to a request with an idempotency key, which a repeated request gets again.

    Attributes:
        tenant: owner of the key.
        key: idempotency key of the request.
        fingerprint: digest of the request, equal for equal requests.
        answer: JSON text from which the answer is made.
        at: time of the answer in seconds since 1970.
    """

    tenant: str
    key: str
    fingerprint: str
    answer: bytes
    at: float
