"""Rows of ledgers as data: what is loaded, and what is written back. They never change."""

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
    """One part of a slot: μ² or η of a Gaussian one, ρ or δ of a concentrated one, a Rényi order, ε or δ of a pure one.

    Attributes:
        kind: of the slot.
        part: its name in the slot.
        capacity: it may fall, never rise.
        used: by what was committed.
        held: used or reserved; at most the capacity, unless `mixed`.
        mixed: it is one of several Rényi orders that bear their budget together, of which some may be overdrawn: that
            these may go on is a rule that no constraint can state.
    """

    kind: str
    part: str
    capacity: Decimal
    used: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    mixed: bool = False

    @property
    def reserved(self) -> Decimal:
        """Held and not used."""
        return less(self.held, self.used)


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """One item of a plan: runs by what became of them; reserved, committed and credit are at most planned.

    Attributes:
        name: one of its kind in the ledger.
        spec: one run, as canonical text.
        job: the reservation whose residue charge brought it, if one did.
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
    """A ledger with its slots and its plan, each in the order in which it was opened with them.

    Attributes:
        tenant: the organisation that owns the ledger.
        block: empty for a dataset of one block. No two ledgers have the same tenant, dataset and block, closed or not,
            except for some that were opened before there were organisations.
        conditional: a decision in it was declared to be independent of every output.
        record: what it was opened with, as canonical text; never changed.
        created: seconds since 1970.
        version: how many moves it has made.
        released: whether anything was ever committed; told by the reservations, and not written.
        approval_from: version from which on a second person approves amendments and voids; None where nobody does.
        contradicted: whether an observation contradicts a run that was paid from it, whatever its status.
        contradictions: the entries of the log that say so, as canonical text, in their order; not written.
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
    """What a reservation holds in one ledger: runs of an item of its plan, or an amount of one of its slots.

    Attributes:
        item: the item that is drawn on, if one is; a residue charge that was committed has one of its own.
        slot: the kind of the slot that is drawn on, if one is.
        spec: one run, as canonical text.
        charge: the amounts, as canonical text.
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
    """A reservation, in one ledger or in several at once. Times are seconds since 1970; None never expires."""

    id: str
    tenant: str
    state: ReservationState = "reserved"
    created: float
    expires: float | None = None
    holdings: tuple[HoldingRow, ...]


@dataclass(frozen=True, kw_only=True)
class PendingRow:
    """A move that a second person approves. Times are seconds since 1970.

    Attributes:
        body: what was requested, as JSON text; never changed.
        expires: None never expires.
        closed_by: name of the person who approved, rejected or withdrew it.
        applied: version of the ledger that the approved move made.
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
    """One entry of the log. `leaf` is its canonical text as bytes, of which it is a leaf of the log's tree.

    Attributes:
        seq: its number in the log, from 0, without gaps.
        at: seconds since 1970.
        ledger: whose move it is; None for what is of the log as a whole.
    """

    seq: int
    at: float
    tenant: str
    kind: str
    ledger: str | None
    leaf: bytes


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """What was answered to a request with an idempotency key; `fingerprint` is equal for equal requests."""

    tenant: str
    key: str
    fingerprint: str
    answer: bytes
    at: float
