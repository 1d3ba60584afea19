"""Moves of a ledger: each takes a state and returns the next one, or raises an error that says why it is not possible.

A reservation holds runs or amounts, so that no other job takes them. The commit spends them (docs/ledger.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from epsilond.accountants.errors import (
    InvalidInput,
    LedgerExhausted,
    Observation,
    ReservationEnded,
)
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.amounts import Amount, require_amounts
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.charges.stepped import check_count, steps_of
from epsilond.ledgers.mathematics.checks.readiness import (
    check_commit_count,
    find_reservation,
    require_consistent,
    require_open,
)
from epsilond.ledgers.mathematics.exchange import choose_item
from epsilond.ledgers.mathematics.holding import hold_charge, renew_charge, use_reserved, violated_condition
from epsilond.ledgers.mathematics.state import (
    JOB,
    LedgerState,
    PlanItem,
    Reservation,
    Slot,
    SlotKind,
    minus,
    times,
)


def reserve(
    state: LedgerState,
    identifier: str,
    *,
    spec: Spec | None = None,
    item: str | None = None,
    slot: SlotKind | None = None,
    count: int | None = None,
    eta: Amount | None = None,
    delta: Amount | None = None,
    rough: bool = False,
) -> LedgerState:
    """Reserve a part of a ledger's privacy budget for some runs of a mechanism.

    The runs are paid for by an item of the plan, that is, a mechanism with a number of planned runs; or by a slot, a
    part of the budget for mechanisms outside the plan. If neither is named, the item with exactly this mechanism pays.
    If an item and a spec are given, a run of the spec must provably lose no more privacy than one of the item.

    Args:
        state: the ledger before the reservation.
        identifier: id of the new reservation.
        spec: mechanism of the runs, of which equal steps count as runs. None takes the item's mechanism.
        item: name of the item that pays.
        slot: kind of the slot that pays. Only one of `item` and `slot` may be given.
        count: number of runs. None means all steps of the spec or, without a spec, all free runs of the item.
        eta: η, the δ that the runs may take from a Gaussian slot. None takes the slot's default.
        delta: δ that each run may take from a pure or zero-concentrated slot. None means 0.
        rough: whether to charge a certified price that is quick to compute and slightly too high.

    Returns:
        The ledger after the reservation, in which the runs of the item or the amounts of the slot are reserved.

    Raises:
        LedgerClosed: the ledger was closed.
        NotSealed: the membership of the data set's block is not fixed yet.
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
        NotInPlan: the plan has no such item, or a run of the spec is not proved to lose as little.
        LedgerExhausted: the item or the slot has less free than the runs need; `condition` has both amounts.
        ConditionViolated: no charge is proved for this mechanism in this slot, or no theorem covers it here.
        InvalidInput: the id exists, an item and a slot are named, or the mechanism or the number of runs is not valid.
    """
    require_open(state)
    require_amounts(eta, delta)
    if identifier in state.reservations:
        raise InvalidInput.at("/id", "names a reservation that exists")
    if item is not None and slot is not None:
        raise InvalidInput.at("/slot", "give an item of the plan or a slot, not both")
    if slot is not None:
        return _reserve_of_slot(state, identifier, kind=slot, spec=spec, count=count, eta=eta, delta=delta, rough=rough)
    return _reserve_of_plan(state, identifier, item_name=item, spec=spec, count=count)


def commit(state: LedgerState, identifier: str, count: int | None = None) -> LedgerState:
    """Spend the budget of reserved runs. Their outputs may be released afterwards.

    If a Gaussian slot charges all runs of a reservation together, the whole charge is spent at the first commit. It is
    then certified for the μ² that the slot has left.

    Args:
        state: the ledger before the commit.
        identifier: id of the reservation.
        count: number of runs. None means all reserved runs that are not committed.

    Returns:
        The new state; the given one is not changed.

    Raises:
        InvalidInput: the reservation does not hold so many runs.
        ReservationEnded: the reservation was cancelled or has expired.
        LedgerExhausted: other commits have left less in the slot than the runs now cost.
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
    """
    require_consistent(state)
    reservation = find_reservation(state, identifier)
    run_count = check_commit_count(reservation, count)

    # This adds the runs as an item of the plan, which pays for them below.
    if reservation.is_charged_at_commit:
        state = _spend_whole_charge(state, reservation)
        reservation = state.reservations[identifier]

    if reservation.item is not None:
        state = state.with_runs(reservation.item, reserved=-run_count, committed=run_count)
    elif reservation.slot is not None and reservation.charge is not None:
        slot = _require_slot(state, reservation.slot)
        spent_amounts = times(reservation.charge.each, run_count)
        state = state.with_slot(use_reserved(slot, spent_amounts))
    committed = reservation.committed + run_count
    return state.with_reservation(replace(reservation, committed=committed, state="committed"))


def release(state: LedgerState, identifier: str, outcome: Literal["cancelled", "expired"] = "cancelled") -> LedgerState:
    """End a reservation, so that its uncommitted runs are free again, and return the new state.

    - Runs of the plan can be reserved again. If some runs of the reservation were committed, the others are a credit,
      that is, runs that are paid.
    - A slot is a budget for unplanned runs. If it was charged for each run, it gets back the amounts of these runs.
    - If it was charged for all runs together, it gets back the charge before the first commit. After it, these runs are
      a credit.

    Args:
        state: the ledger before the end of the reservation.
        identifier: id of the reservation.
        outcome: new state of the reservation.

    Returns:
        The new state; the given one is not changed.

    Raises:
        ReservationEnded: the reservation has ended before, or all of its runs were committed.
    """
    reservation = find_reservation(state, identifier)
    uncommitted = reservation.count - reservation.committed
    if uncommitted == 0:
        raise ReservationEnded("All of the reservation was committed: nothing of it returns.")
    if reservation.item is not None:
        credit = uncommitted if reservation.committed else 0
        state = state.with_runs(reservation.item, reserved=-uncommitted, credit=credit)
    elif reservation.slot is not None and reservation.charge is not None:
        # A charge for all runs together is reserved only until the first commit, so it returns completely.
        returned_amounts = reservation.charge.parts
        if reservation.charge.additive:
            returned_amounts = times(reservation.charge.each, uncommitted)
        slot = _require_slot(state, reservation.slot)
        state = state.with_slot(replace(slot, reserved=minus(slot.reserved, returned_amounts)))
    return state.with_reservation(replace(reservation, state=outcome))


def seal(state: LedgerState) -> LedgerState:
    """Fix which records belong to a ledger's block of data. Runs can be reserved only afterwards.

    Args:
        state: the ledger before.

    Returns:
        The new state; the given one is not changed.

    Raises:
        RunDiffers: a run was observed to differ from the mechanism that the ledger paid for.
    """
    require_consistent(state)
    return replace(state, sealed=True)


def close(state: LedgerState) -> LedgerState:
    """Close a ledger, so that it accepts no further reservations. Existing ones may still be committed.

    Args:
        state: the ledger before.

    Returns:
        The new state. A ledger with the status "contradicted", because a run differed from its mechanism, is returned
        unchanged.
    """
    if state.status == "contradicted":
        return state
    return replace(state, status="closed")


def contradict(
    state: LedgerState, observations: Sequence[Observation], reservations: Sequence[str] | None = None
) -> LedgerState:
    """Block all further reservations and commits of a ledger, because a run differed from the paid mechanism.

    Args:
        state: the ledger before the observations.
        observations: at least one observation of such a difference.
        reservations: ids of the reservations that paid for the run; None means all with committed runs.

    Returns:
        The new state, which has no guarantee.

    Raises:
        InvalidInput: no observation is given, or a reservation is not of this ledger.
    """
    if not observations:
        raise InvalidInput.at("/observations", "must not be empty")
    for index, identifier in enumerate(reservations or ()):
        if identifier not in state.reservations:
            raise InvalidInput.at(f"/reservations/{index}", "is not a reservation of this ledger")

    paying = reservations
    if paying is None:
        paying = [reservation.id for reservation in state.reservations.values() if reservation.committed]
    updated = dict(state.reservations)
    for identifier in paying:
        updated[identifier] = replace(updated[identifier], contradicted=True)
    all_observations = (*state.observations, *observations)
    return replace(state, status="contradicted", observations=all_observations, reservations=updated)


def void(state: LedgerState, identifier: str, count: int) -> LedgerState:
    """Take committed runs back, because the ledger's owner declares that no person saw an output of them.

    The guarantee then depends on the declaration, which `conditional` of the new state records. If a slot (a budget for
    unplanned runs) was charged for each run, its amounts return. All other runs return as credit: paid runs that can be
    reserved again.

    Args:
        state: the ledger before the runs are voided.
        identifier: id of the reservation.
        count: number of runs, at least 1.

    Returns:
        The new state; the given one is not changed.

    Raises:
        InvalidInput: the count is below 1, fewer runs were committed, or there is no such reservation.
    """
    reservation = state.reservations.get(identifier)
    committed_count = 0 if reservation is None else reservation.committed - reservation.voided
    if reservation is None or not 1 <= count <= committed_count:
        allowed = f"1 to {committed_count}" if committed_count else "none"
        raise InvalidInput.at("/count", "is not a number of runs that were committed", allowed=allowed)
    if reservation.item is not None:
        state = state.with_runs(reservation.item, committed=-count, credit=count)
    elif reservation.slot is not None and reservation.charge is not None:
        slot = _require_slot(state, reservation.slot)
        returned_amounts = times(reservation.charge.each, count)
        state = state.with_slot(replace(slot, used=minus(slot.used, returned_amounts)))
    updated = replace(reservation, voided=reservation.voided + count)
    return replace(state.with_reservation(updated), conditional=True)


def _reserve_of_plan(
    state: LedgerState, identifier: str, *, item_name: str | None, spec: Spec | None, count: int | None
) -> LedgerState:
    """Reserve planned runs of a ledger, and return the new state.

    Credit, that is, free runs that were paid for before, is used last.

    Args:
        state: the ledger before the reservation.
        identifier: id of the new reservation.
        item_name: name of the item of the plan that pays. None takes the item with exactly this mechanism.
        spec: mechanism of the runs. None takes the item's mechanism.
        count: number of runs. None means all steps of the spec or, without a spec, all free runs of the item.

    Returns:
        The new state, with the reservation.

    Raises:
        NotInPlan, LedgerExhausted, ConditionViolated, InvalidInput: as `reserve`.
    """
    item = choose_item(state, spec, item_name)
    if spec is not None:
        step, steps = steps_of(spec)
        run_count = check_count(count, steps)
    elif count is not None:
        step, run_count = item.spec, check_count(count, steps=1)
    else:
        step, run_count = item.spec, max(item.free, 1)  # without free runs, 1 is rejected below

    # Another mechanism than the item's must have a guarantee of its own in the ledger's setting, or an error is raised.
    if step != item.spec:
        ChargeRequest(setting=state.setting, spec=step, count=1).guarantee(step)
    if run_count > item.free:
        statement = "the requested runs are at most those left"
        condition = violated_condition("epsilond.ledger-plan", statement, run_count, item.free)
        message = f"the plan's item {item.name} has fewer runs left"
        raise LedgerExhausted(message, condition, {"largest_count": float(item.free)})

    free_without_credit = item.free - item.credit
    from_credit = max(0, run_count - free_without_credit)
    updated = replace(item, reserved=item.reserved + run_count, credit=item.credit - from_credit)
    reservation = Reservation(id=identifier, spec=step, count=run_count, item=item.name)
    return state.with_item(updated).with_reservation(reservation)


def _reserve_of_slot(
    state: LedgerState,
    identifier: str,
    *,
    kind: SlotKind,
    spec: Spec | None,
    count: int | None,
    eta: Amount | None,
    delta: Amount | None,
    rough: bool,
) -> LedgerState:
    """Reserve runs that a slot, a budget for mechanisms outside the plan, pays for, and return the new state.

    Args:
        state: the ledger before the reservation.
        identifier: id of the new reservation.
        kind: kind of the slot.
        spec: mechanism of the runs, which is required.
        count: number of runs; None means all steps of the spec.
        eta: η, the δ that the runs may add to the profile of a Gaussian slot; None means the slot's default.
        delta: δ that each run may take from a pure or zero-concentrated slot; None means 0.
        rough: whether to charge a certified price that is quick to compute and slightly too high.

    Returns:
        The new state, with the reservation and its charge.

    Raises:
        LedgerExhausted, ConditionViolated, InvalidInput: as `reserve`.
    """
    slot = state.slot(kind)
    if slot is None:
        kinds = ", ".join(present.kind for present in state.slots)
        allowed = kinds or "no slot: the ledger has only a plan"
        raise InvalidInput.at("/slot", "is not a slot of this ledger", allowed=allowed)
    if spec is None:
        raise InvalidInput.at("/spec", "is needed: a slot is charged for a mechanism")
    step, steps = steps_of(spec)
    run_count = check_count(count, steps)
    request = ChargeRequest(setting=state.setting, spec=step, count=run_count, eta=eta, delta=delta, rough=rough)
    price = charge(request, slot)
    reservation = Reservation(id=identifier, spec=step, count=run_count, slot=kind, charge=price)
    return hold_charge(state, reservation, slot)


def _spend_whole_charge(state: LedgerState, reservation: Reservation) -> LedgerState:
    """Spend the charge for all runs of a reservation at its first commit, and add the runs to the ledger's plan.

    A Gaussian slot pays, a privacy budget in μ². The charge is certified for the μ² that the slot has left now. It is
    spent at once, because it is not the sum of charges for single runs.

    Args:
        state: the ledger before the commit.
        reservation: the reservation, with a charge that is reserved in the slot.

    Returns:
        The new state, in which the charge is spent.

    Raises:
        LedgerExhausted: the slot has less free than the runs now cost.
    """
    assert reservation.slot is not None  # only a slot charges runs together
    slot, price = renew_charge(state.setting, _require_slot(state, reservation.slot), reservation)
    runs = reservation.count
    item = PlanItem(
        name=f"{JOB}{reservation.id}", spec=reservation.spec, planned=runs, reserved=runs, job=reservation.id
    )
    charged = replace(reservation, charge=price, item=item.name)
    paid = state.with_slot(use_reserved(slot, price.parts))
    return paid.with_item(item).with_reservation(charged)


def _require_slot(state: LedgerState, kind: SlotKind) -> Slot:
    """Return the slot (part of a ledger's budget) of a kind, which must exist because slots are never removed."""
    slot = state.slot(kind)
    assert slot is not None
    return slot
