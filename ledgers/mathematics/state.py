"""State of a ledger at one moment: its target, plan, slots and reservations, as data that never changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.specs import Spec
from epsilond.accountants.target import RiskTarget
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, less, multiple, total

SlotKind = Literal["gdp", "zcdp", "rdp", "pure"]
Status = Literal["open", "closed", "contradicted"]
JOB = "job "
"""Prefix of the names of items for whole jobs that a Gaussian slot has paid for."""
ReservationState = Literal["reserved", "committed", "cancelled", "expired"]
Amounts = Mapping[str, Amount]


@dataclass(frozen=True, kw_only=True)
class LedgerTarget:
    """Target of the guarantee for everything that a ledger ever allows: (ε*, δ*), or a bound on a risk that implies it.

    Attributes:
        epsilon: ε*, in nats.
        log_delta: natural logarithm of δ*.
        risk: the risk with its bound; None if (ε*, δ*) is the target.
    """

    epsilon: float
    log_delta: float
    risk: RiskTarget | None = None

    @property
    def largest_added_delta(self) -> Amount:
        """The largest δ that slots could add to the guarantee if the ledger allowed nothing but them, rounded down.

        Slots are parts of the privacy budget. An added δ raises an attacker's true positive rate at a given false
        positive rate by at most δ. So a target on that rate allows the difference of both rates. Any other target
        allows its δ*.
        """
        if self.risk is None or self.risk.kind != "true_positive_rate":
            return self.delta
        rate_difference = max(self.risk.bound - self.risk.false_positive_rate, 0.0)
        return down(rate_difference * (1.0 - 1e-15))  # 1e-15 exceeds the rounding of the difference and the product

    @property
    def admits_delta(self) -> bool:
        """True if slots may add a δ. A target on μ (Gaussian) or ρ (zero-concentrated privacy) admits none."""
        return self.risk is None or self.risk.kind in ("advantage", "true_positive_rate")

    @property
    def delta(self) -> Amount:
        """δ* as an amount, rounded down; 0 if δ* is below 10^-18, the smallest amount."""
        return down(max(math.exp(self.log_delta) * (1.0 - 1e-15), 0.0))  # 1e-15 exceeds the rounding of exp


@dataclass(frozen=True, kw_only=True)
class PlanItem:
    """Item of a ledger's plan: a mechanism that may be run `planned` times.

    The ledger's guarantee accounts for all these runs from the start.

    Attributes:
        name: name of the item in requests, unique in a ledger.
        spec: one run, or one step of a job that can be stepped.
        planned: number of runs that the ledger accounts for.
        reserved: number of runs that reservations hold.
        committed: number of runs that may have been released.
        credit: number of free runs that came back from stopped or voided jobs. They can be reserved like other runs.
        job: id of the reservation with the runs that became this item, because a Gaussian slot paid for all of them
            together; None for an item of the plan itself. A slot is a budget for mechanisms outside the plan.
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
        """Number of planned runs that are neither reserved nor committed. It includes the credit."""
        return self.planned - self.reserved - self.committed


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A part of a ledger's privacy budget that pays for mechanisms outside its plan of fixed mechanisms.

    It has several amounts, called parts. A Gaussian slot has the parts `mu_squared` and `eta`, a zero-concentrated slot
    `rho` and `delta`, and a pure slot `epsilon` and `delta`. A Rényi slot has `order:a` for each order a.

    Attributes:
        kind: gdp (Gaussian), zcdp (zero-concentrated), rdp (Rényi) or pure.
        capacity: largest amount of each part that may ever be used.
        used: committed charges of each part; an absent part is zero.
        reserved: charges that reservations hold; an absent part is zero.
        weights: weights of the Rényi orders, in the order of `capacity`, with sum one. Empty for other kinds.
    """

    kind: SlotKind
    capacity: Amounts
    used: Amounts = field(default_factory=dict)
    reserved: Amounts = field(default_factory=dict)
    weights: tuple[float, ...] = ()

    def remainder(self, part: str) -> Amount:
        """Return the amount of a part that is not used, such as for `rho`. It includes reserved amounts."""
        return less(self.capacity[part], self.used.get(part, ZERO))

    def free(self, part: str) -> Amount:
        """Return the amount of a part that is neither used nor reserved.

        It may be negative for an order of a Rényi slot, because some of its orders may be overdrawn.

        Args:
            part: name of the part, such as `rho` or `order:2`.
        """
        return less(self.remainder(part), self.reserved.get(part, ZERO))

    @property
    def orders(self) -> tuple[float, ...]:
        """Rényi orders of the slot."""
        return tuple(float(part.removeprefix("order:")) for part in self.capacity if part.startswith("order:"))


@dataclass(frozen=True, kw_only=True)
class Charge:
    """Cost of some runs of one mechanism in a slot, that is, in a part of a ledger's privacy budget.

    Attributes:
        parts: amounts for all runs by name, such as `rho` and `delta`, rounded up.
        each: amounts for one run, if charges of runs add up; empty if the runs are charged together.
        remaining: μ² that a Gaussian slot had left when the charge of all runs together was computed. The charge is
            valid if this much or more is left. None if charges of runs add up.
        theorem: id of the theorem that proves the charge.
    """

    parts: Amounts
    each: Amounts = field(default_factory=dict)
    remaining: Amount | None = None
    theorem: str

    @property
    def additive(self) -> bool:
        """True if charges of runs add up, so that the charge of runs that were not committed returns to the slot."""
        return bool(self.each)


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """Runs of one mechanism for which a ledger holds a budget until they are committed, that is, until it is spent.

    Attributes:
        id: id of the reservation, the same in all its ledgers.
        spec: one run.
        count: number of runs that were reserved.
        item: name of the plan item that the runs are taken from; None if a slot pays. Runs that are charged together
            get an item at their first commit.
        slot: kind of the slot, a budget for unplanned runs, that is charged; None if the plan pays.
        charge: charge of all `count` runs in the slot; None if the plan pays.
        committed: number of runs that may have been released; it never decreases.
        voided: number of committed runs that were taken back, on the declaration that nobody saw an output of them.
        contradicted: whether a run paid with it was observed to differ from the mechanism that was paid for.
        state: reserved before the first commit, committed afterwards; cancelled or expired once it has ended.
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

    @property
    def is_charged_at_commit(self) -> bool:
        """True if a Gaussian slot holds a charge of all runs together, which becomes final at the first commit."""
        if self.slot is None or self.charge is None:
            return False
        return self.item is None and not self.charge.additive


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Declarations of the ledger's owner that no computation can check.

    Attributes:
        inputs: how the mechanisms and numbers of runs in requests are chosen: from releases of this ledger, or
            independently of all outputs.
        sealed: whether it was fixed at the opening which records belong to the ledger's block of data.
        released_before: whether something that reads the block was released before.
    """

    inputs: Literal["functions-of-releases", "independent-of-outputs"] = "functions-of-releases"
    sealed: bool = False
    released_before: bool = False


@dataclass(frozen=True, kw_only=True)
class LedgerState:
    """State of a ledger.

    Attributes:
        setting: neighbouring relation, unit of privacy and observer of the guarantee.
        target: (ε*, δ*), or the risk, that everything released through the ledger stays within.
        declared: declarations of the owner at the opening.
        plan: mechanisms that the target accounts for, and whole jobs that a Gaussian slot has paid for.
        slots: parts of the budget for mechanisms that were not planned, at most one of each kind.
        reservations: reservations by their ids.
        status: open; closed, when nothing more is reserved; contradicted, when nothing more is committed.
        sealed: whether it is fixed which records belong to the block. Nothing is reserved before.
        conditional: whether the guarantee depends on a declaration, because runs were voided, or the plan was amended
            after a commit.
        amended: whether the plan differs from the plan at the opening.
        approval: whether a second person approves amendments, voids and reconciliations.
        observations: observations that contradict runs paid from the ledger. There are some if and only if the status
            is `contradicted`; then no ε is stated for its releases.
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
        """Check that the names of planned mechanisms and the kinds of slots are unique, because requests refer to them.

        Raises:
            InvalidInput: two items of the plan have one name, or two slots have one kind.
        """
        item_names = [item.name for item in self.plan]
        if len(set(item_names)) != len(item_names):
            raise InvalidInput.at("/plan", "has two entries of one name")
        slot_kinds = [slot.kind for slot in self.slots]
        if len(set(slot_kinds)) != len(slot_kinds):
            raise InvalidInput.at("/slots", "has two entries of one name")

    def item(self, name: str) -> PlanItem | None:
        """Return the plan item with this name, or None."""
        return next((item for item in self.plan if item.name == name), None)

    def slot(self, kind: str) -> Slot | None:
        """Return the slot of this kind, or None if the ledger has none."""
        return next((slot for slot in self.slots if slot.kind == kind), None)

    def with_item(self, item: PlanItem) -> LedgerState:
        """Return a state in which an item of the plan replaces the item of the same name, or is added at the end.

        Args:
            item: the item, a mechanism with its numbers of runs.
        """
        if self.item(item.name) is None:
            return replace(self, plan=(*self.plan, item))
        updated_plan = [item if present.name == item.name else present for present in self.plan]
        return replace(self, plan=tuple(updated_plan))

    def with_runs(self, name: str, *, reserved: int = 0, committed: int = 0, credit: int = 0) -> LedgerState:
        """Return a state in which the numbers of runs of an item of the plan are changed.

        Args:
            name: name of the item, which must exist.
            reserved: change of the number of reserved runs; may be negative, like the other changes.
            committed: change of the number of committed runs.
            credit: change of the number of free runs that were paid for before.
        """
        item = self.item(name)
        assert item is not None  # items are never removed from a ledger
        changed = replace(
            item,
            reserved=item.reserved + reserved,
            committed=item.committed + committed,
            credit=item.credit + credit,
        )
        return self.with_item(changed)

    def with_slot(self, slot: Slot) -> LedgerState:
        """Return a state in which a slot replaces the slot of the same kind.

        Args:
            slot: the slot, a part of the privacy budget.
        """
        updated_slots = [slot if present.kind == slot.kind else present for present in self.slots]
        return replace(self, slots=tuple(updated_slots))

    def without_slot(self, kind: str) -> LedgerState:
        """Return the state without the slot of this kind."""
        return replace(self, slots=tuple(slot for slot in self.slots if slot.kind != kind))

    def with_reservation(self, reservation: Reservation) -> LedgerState:
        """Return the state with this reservation, which replaces an earlier one with the same id."""
        return replace(self, reservations={**self.reservations, reservation.id: reservation})

    @property
    def released(self) -> bool:
        """True if anything was committed, so that an output may have been seen."""
        return any(reservation.committed for reservation in self.reservations.values())


def plus(amounts: Amounts, added: Amounts) -> Amounts:
    """Add amounts of privacy budgets, name by name. An absent amount is zero.

    Args:
        amounts: amounts by name, such as `rho` and `delta`.
        added: amounts to add.

    Returns:
        The exact sums, with every name that occurs in one of the mappings.
    """
    names = {**amounts, **added}
    return {name: total(amounts.get(name, ZERO), added.get(name, ZERO)) for name in names}


def minus(amounts: Amounts, subtracted: Amounts) -> Amounts:
    """Subtract amounts of privacy budgets, name by name. An absent amount is zero.

    Args:
        amounts: amounts by name, such as `rho` and `delta`.
        subtracted: amounts to subtract.

    Returns:
        The exact differences, with every name that occurs in one of the mappings.

    Raises:
        ValueError: a difference would be negative.
    """
    names = {**amounts, **subtracted}
    difference = {name: less(amounts.get(name, ZERO), subtracted.get(name, ZERO)) for name in names}
    if any(amount < 0 for amount in difference.values()):
        raise ValueError("more would be taken back than there is")
    return difference


def times(amounts: Amounts, count: int) -> Amounts:
    """Multiply each amount of a privacy budget by a number of runs, exactly.

    Args:
        amounts: amounts of one run by name, such as `rho` and `delta`.
        count: number of runs.
    """
    return {part: multiple(amount, count) for part, amount in amounts.items()}
