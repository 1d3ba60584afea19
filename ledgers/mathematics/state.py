"""What a ledger is at one moment: its target, its plan, its slots, and what is reserved. Data that never changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, less, multiple, total

SlotKind = Literal["gdp", "zcdp", "rdp", "pure"]
Status = Literal["open", "closed", "contradicted"]
JOB = "job "
"""What the names of items begin with that residue charges bring."""
ReservationState = Literal["reserved", "committed", "cancelled", "expired"]
Amounts = Mapping[str, Amount]


@dataclass(frozen=True, kw_only=True)
class LedgerTarget:
    """(ε*, δ*): what everything that the ledger ever allows is, together.

    Attributes:
        epsilon: ε*, in nats.
        log_delta: log δ*.
    """

    epsilon: float
    log_delta: float

    @property
    def delta(self) -> Amount:
        """δ* as an amount, rounded down: zero below 10^-18, where slots can add nothing to it."""
        return down(max(math.exp(self.log_delta) * (1.0 - 1e-15), 0.0))


@dataclass(frozen=True, kw_only=True)
class PlanItem:
    """A mechanism that may be run `planned` times, whatever the outputs are: part of the ledger's product of profiles.

    Attributes:
        name: how requests call it; one of its kind in a ledger.
        spec: one run, or one step of a job that can be stepped.
        planned: runs that the ledger accounts for.
        reserved: runs that somebody holds.
        committed: runs that may have been released.
        credit: runs of jobs that were begun and stopped; as good as runs that nobody has reserved yet.
        job: the reservation whose residue charge brought it, if one did.
    """

    name: str
    spec: Spec
    planned: int
    reserved: int = 0
    committed: int = 0
    credit: int = 0
    job: str | None = None

    @property
    def free(self) -> int:
        """Runs that nobody holds, credit included."""
        return self.planned - self.reserved - self.committed


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A compartment whose charges are numbers: what it holds, by the names of its parts.

    Parts are `mu_squared` and `eta` of a Gaussian slot, `rho` and `delta` of a zero-concentrated one, `order:a` for
    each Rényi order a, `epsilon` and `delta` of a pure one.
    """

    kind: SlotKind
    capacity: Amounts
    used: Amounts = field(default_factory=dict)
    reserved: Amounts = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    """Of the Rényi orders, in the order of `capacity`; they sum to one."""

    def left(self, part: str) -> Amount:
        """Return the unused amount: capacity less committed charges. Reservations are not taken off."""
        return less(self.capacity[part], self.used.get(part, ZERO))

    def free(self, part: str) -> Amount:
        """Return the amount that is neither used nor reserved."""
        return less(self.left(part), self.reserved.get(part, ZERO))

    @property
    def orders(self) -> tuple[float, ...]:
        """Of a Rényi slot."""
        return tuple(float(part.removeprefix("order:")) for part in self.capacity if part.startswith("order:"))


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a job costs in a slot.

    Attributes:
        parts: the amounts, rounded up.
        each: the amounts of one run, where charges of runs add up; empty where the job is charged as a whole.
        remaining: μ² that was left when a residue charge was computed; it holds at that much or more.
        theorem: the id of the theorem that gives it.
    """

    parts: Amounts
    each: Amounts = field(default_factory=dict)
    remaining: Amount | None = None
    theorem: str

    @property
    def additive(self) -> bool:
        """Whether what is not run may return to the slot."""
        return bool(self.each)


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """Runs of one mechanism that somebody holds, and what was committed of them.

    Attributes:
        item: the plan item that is drawn on; None while a slot is.
        slot: the slot that is drawn on.
        spec: one run.
        committed: runs that may have been released; it never falls.
        voided: runs of these that were taken back, as it is declared that nobody saw any output of them.
        contradicted: whether an observation contradicts the run that was paid with it.
    """

    id: str
    spec: Spec
    count: int
    item: str | None = None
    slot: SlotKind | None = None
    charge: Charge | None = None
    committed: int = 0
    voided: int = 0
    contradicted: bool = False
    state: ReservationState = "reserved"


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What the ledger's owner declares, and no computation can check."""

    inputs: Literal["functions-of-releases", "independent-of-outputs"] = "functions-of-releases"
    sealed: bool = False
    released_before: bool = False


@dataclass(frozen=True, kw_only=True)
class LedgerState:
    """A ledger.

    `conditional` once runs were voided, or its plan amended after a commit, on a declaration; `amended` once its plan
    is another than it was opened with. `approval` says that a second person approves amendments, voids and
    reconciliations. `observations` contradict runs that were paid from it: it has some if, and only if, its status is
    `contradicted`, and then there is no ε of its releases.
    """

    setting: Setting
    target: LedgerTarget
    declared: Declared
    plan: tuple[PlanItem, ...] = ()
    slots: tuple[Slot, ...] = ()
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    status: Status = "open"
    sealed: bool = False
    conditional: bool = False
    amended: bool = False
    approval: bool = False
    observations: tuple[Observation, ...] = ()

    def __post_init__(self) -> None:
        """Names of items and kinds of slots are each one of a kind."""
        for pointer, names in (
            ("/plan", [item.name for item in self.plan]),
            ("/slots", [slot.kind for slot in self.slots]),
        ):
            if len(set(names)) != len(names):
                raise InvalidInput.at(pointer, "has two entries of one name")

    def item(self, name: str) -> PlanItem | None:
        """Return the plan item with this name, or None."""
        return next((item for item in self.plan if item.name == name), None)

    def slot(self, kind: str) -> Slot | None:
        """Return the slot of this kind, or None."""
        return next((slot for slot in self.slots if slot.kind == kind), None)

    def with_item(self, item: PlanItem) -> LedgerState:
        """Return the state with this item in place of its namesake, or at the end."""
        if self.item(item.name) is None:
            return replace(self, plan=(*self.plan, item))
        return replace(self, plan=tuple(item if one.name == item.name else one for one in self.plan))

    def with_slot(self, slot: Slot) -> LedgerState:
        """Return the state with this slot in place of the slot of its kind."""
        return replace(self, slots=tuple(slot if one.kind == slot.kind else one for one in self.slots))

    def with_reservation(self, reservation: Reservation) -> LedgerState:
        """Return the state with this reservation in place of the reservation with its id."""
        return replace(self, reservations={**self.reservations, reservation.id: reservation})

    @property
    def released(self) -> bool:
        """True if anything was committed, so that an output may have been seen."""
        return any(reservation.committed for reservation in self.reservations.values())


def plus(some: Amounts, more: Amounts) -> Amounts:
    """Return the sum, part by part."""
    return {part: total(some.get(part, ZERO), more.get(part, ZERO)) for part in {**some, **more}}


def minus(some: Amounts, other: Amounts) -> Amounts:
    """Return the difference, part by part. A negative difference is a fault of the caller."""
    found = {part: less(some.get(part, ZERO), other.get(part, ZERO)) for part in {**some, **other}}
    if any(amount < 0 for amount in found.values()):
        raise ValueError("more would be taken back than there is")
    return found


def times(each: Amounts, count: int) -> Amounts:
    """So many of it."""
    return {part: multiple(amount, count) for part, amount in each.items()}
