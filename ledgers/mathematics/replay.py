"""Replay of a ledger by an auditor: every entry is applied again, and every charge is certified again.

It checks that the recorded charges suffice, and does not depend on how they were computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics import holding, moves
from epsilond.ledgers.mathematics.amending import INDEPENDENT, amend_plan
from epsilond.ledgers.mathematics.amounts import ZERO
from epsilond.ledgers.mathematics.balance import BALANCE, SpecText, digest_of
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.checks.people import has_two_people
from epsilond.ledgers.mathematics.checks.readiness import is_count, is_integer, require_open
from epsilond.ledgers.mathematics.entries import (
    APPROVED_KINDS,
    charge_of,
    observations_of,
    read_approval,
    state_of,
)
from epsilond.ledgers.mathematics.invariant import opening
from epsilond.ledgers.mathematics.opening import PARTS
from epsilond.ledgers.mathematics.residue import holds
from epsilond.ledgers.mathematics.state import JOB, Charge, LedgerState, PlanItem, Reservation, Slot, plus, times

SpecReader = Callable[[str], Spec]
_MALFORMED_ENTRY_ERRORS = (ArithmeticError, ValueError, KeyError, TypeError, AttributeError, AssertionError)
"""Exceptions that an entry raises if its members are missing, have another type, or contradict the state."""


class DoesNotReplay(EpsilondError):
    """Error that a log entry is not a valid change of the ledger, given the entries before it."""


def replay_entries(
    entries: Iterable[Mapping[str, object]], read: SpecReader, text: SpecText, *, certify: bool = True
) -> LedgerState:
    """Rebuild the state of a ledger from its log entries, and check that each entry is a valid change.

    With this function an auditor can check a log without trusting the service that wrote it.

    Args:
        entries: all entries, from the ledger's opening on.
        read: returns the mechanism that a canonical JSON text describes.
        text: returns the canonical JSON text of a mechanism.
        certify: whether to prove again that the recorded charges are large enough, which takes time.

    Returns:
        The state after the last entry.

    Raises:
        DoesNotReplay: there are no entries, or an entry is not a valid change. The message has the index of the first
            invalid entry, and the reason.
    """
    state: LedgerState | None = None
    for index, entry in enumerate(entries):
        try:
            state = apply_entry(state, entry, read, certify=certify)
            _require_balance(state, entry, text)
        except (EpsilondError, *_MALFORMED_ENTRY_ERRORS) as error:
            raise DoesNotReplay(f"entry {index}, {entry.get('kind')}: {error}") from error
    if state is None:
        raise DoesNotReplay("there are no entries")
    return state


def _require_balance(state: LedgerState, entry: JsonObject, text: SpecText) -> None:
    """Check that the digest in a log entry is that of the ledger's balance (its amounts and runs) after the entry.

    Entries of earlier versions have no digest, and pass.

    Args:
        state: the ledger after the entry.
        entry: record of the change.
        text: returns the canonical JSON text of a mechanism.

    Raises:
        DoesNotReplay: the digests differ.
    """
    if BALANCE in entry:
        _require(entry[BALANCE] == digest_of(state, text), "the balance is another than the entries give")


def apply_entry(state: LedgerState | None, entry: JsonObject, read: SpecReader, *, certify: bool = True) -> LedgerState:
    """Return the state of a ledger after one log entry, after checking that the entry is a possible change.

    Args:
        state: the ledger before the entry, or None before its opening.
        entry: record of one change: an opening, a reservation, a commit, or another kind.
        read: returns the mechanism that a canonical JSON text describes.
        certify: whether to prove again that a recorded charge is large enough.

    Returns:
        The ledger after the entry. A reconciliation changes nothing.

    Raises:
        DoesNotReplay: the recorded charge is too small, or the entry does not fit the state.
        EpsilondError: the change is not possible in this state.
    """
    kind = entry["kind"]
    if kind == "opened":
        _require(state is None, "a ledger is opened once")
        return _open(entry, read, certify=certify)
    if state is None:
        raise DoesNotReplay("the first entry must open the ledger")
    _require_people(state, entry)

    if kind == "reserved":
        return _reserve(state, entry, read, certify=certify)
    if kind == "committed":
        return _commit(state, entry, certify=certify)
    if kind in ("cancelled", "expired"):
        return moves.release(state, entry["reservation"], kind)
    if kind == "voided":
        return moves.void(state, entry["reservation"], entry["count"])
    if kind == "amended":
        return _amend(state, entry, read)
    if kind == "reconciled":
        return state
    if kind == "sealed":
        return moves.seal(state)
    if kind == "closed":
        return moves.close(state)
    if kind == "contradicted":
        return moves.contradict(state, observations_of(entry), entry.get("reservations"))
    raise DoesNotReplay(f"{kind} is not a kind of entry")


def _open(entry: JsonObject, read: SpecReader, *, certify: bool) -> LedgerState:
    """Read the log entry that opens a ledger, check it, and return the state of the new ledger.

    Args:
        entry: record of the opening.
        read: returns the mechanism that a canonical JSON text describes.
        certify: whether to prove again that all planned runs and full slots together are within the target.

    Returns:
        The state: its target, its plan (mechanisms with numbers of runs) and its slots (budgets for other runs).

    Raises:
        DoesNotReplay: a member of the entry is not valid.
        Infeasible: the plan and the slots exceed the target.
    """
    specs = {item["name"]: read(item["spec"]) for item in entry["plan"]}
    opened = state_of(entry, specs)
    _require_opened(opened)
    if certify:
        opening(opened)
    return opened


def _require_people(state: LedgerState, entry: JsonObject) -> None:
    """Check that a log entry names two people, requester and approver, if the ledger needs both for this kind.

    Args:
        state: the ledger before the entry. Its `approval` says whether a second person approves changes.
        entry: the log entry.

    Raises:
        DoesNotReplay: requester or approver is missing, or they are the same person. Also if a ledger without approval
            has a reconciliation.
    """
    if state.approval and entry["kind"] in APPROVED_KINDS:
        _require(has_two_people(entry), "the ledger needs a requester and another person who approves")
    _require(state.approval or entry["kind"] != "reconciled", "a ledger without approval has no reconciliations")


def _reserve(state: LedgerState, entry: JsonObject, read: SpecReader, *, certify: bool) -> LedgerState:
    """Check the log entry of a reservation, and return the state of the ledger after it.

    Runs of the plan are reserved for their item. Other runs are charged to a slot, a budget for unplanned runs. The
    recorded charge is used, which may exceed the computed cost.

    Args:
        state: the ledger before the reservation.
        entry: record of the reservation.
        read: returns the mechanism that a canonical JSON text describes.
        certify: whether to prove again that the charge is large enough.

    Returns:
        The state with the new reservation and the amounts or runs that it holds.

    Raises:
        DoesNotReplay: the entry does not fit the state, or the charge is too small.
    """
    spec = read(entry["spec"])
    count = entry["count"]
    identifier = entry["reservation"]
    require_open(state)
    _require(is_count(count), "the count is not a number of runs")
    _require(identifier not in state.reservations, "the reservation was made before")
    if "slot" not in entry:
        return moves.reserve(state, identifier, spec=spec, item=entry["item"], count=count)

    slot = state.slot(entry["slot"])
    if slot is None:
        raise DoesNotReplay("the ledger has no such slot")
    price = charge_of(entry["charge"])
    if certify:
        _require_enough(state, spec, count, slot, price)
    reservation = Reservation(id=identifier, spec=spec, count=count, slot=slot.kind, charge=price)
    return holding.hold_charge(state, reservation, slot)


def _commit(state: LedgerState, entry: JsonObject, *, certify: bool) -> LedgerState:
    """Check the log entry of a commit, and return the state of the ledger after it.

    A Gaussian slot, a budget in μ², charges a whole job at its first commit. The recorded charge is used, which was
    computed for the μ² that the slot then had left.

    Args:
        state: the ledger before the commit.
        entry: record of the commit.
        certify: whether to prove again that the charge is large enough.

    Returns:
        The state with these runs committed.

    Raises:
        DoesNotReplay: the charge was computed for more μ² than the slot has left, or is too small.
    """
    reservation = state.reservations[entry["reservation"]]
    if reservation.is_charged_at_commit:
        state = _replace_charge(state, reservation, charge_of(entry["charge"]), certify=certify)
    return moves.commit(state, entry["reservation"], entry["count"])


def _replace_charge(state: LedgerState, reservation: Reservation, price: Charge, *, certify: bool) -> LedgerState:
    """Return the ledger in which the recorded charge of a job's first commit replaces the reserved charge.

    Args:
        state: the ledger before the commit.
        reservation: the reservation, for which the slot holds an earlier charge.
        price: the recorded charge.
        certify: whether to prove again that the recorded charge is large enough.

    Returns:
        The state in which the slot, a Gaussian privacy budget in μ², holds the recorded charge.

    Raises:
        DoesNotReplay: the charge was computed for more μ² than the slot has left, or is too small.
        LedgerExhausted: less is free in the slot than the charge.
    """
    assert reservation.slot is not None  # only a slot charges a whole job
    slot = state.slot(reservation.slot)
    assert slot is not None  # slots are never removed from a ledger
    _require(price.remaining is not None and price.remaining <= slot.remainder("mu_squared"), "the charge is stale")
    if certify:
        _require_enough(state, reservation.spec, reservation.count, slot, price)
    freed = holding.release_charge(slot, reservation)
    return holding.hold_charge(state.with_slot(freed), replace(reservation, charge=price), freed)


def _amend(state: LedgerState, entry: JsonObject, read: SpecReader) -> LedgerState:
    """Check the log entry of a changed plan, certify the plan again, and return the ledger after it.

    Args:
        state: the ledger before the amendment.
        entry: record of the amendment: items (mechanisms with numbers of runs) to add, new numbers of runs of items
            that are lowered, and a declaration.
        read: returns the mechanism that a canonical JSON text describes.

    Returns:
        The state with the changed plan.

    Raises:
        DoesNotReplay: a number of runs or the declaration is not valid.
        EpsilondError: the amendment is not possible in this state, for example because the target is exceeded.
    """
    added = []
    for record in entry["add"]:
        item = PlanItem(name=record["name"], spec=read(record["spec"]), planned=record["planned"])
        added.append(item)
    lowered = {record["name"]: record["planned"] for record in entry["lower"]}
    _require(all(is_count(item.planned) for item in added), "an item has no valid number of runs")
    _require(all(is_integer(planned) for planned in lowered.values()), "an item has no valid number of runs")
    declared = entry.get("declared")
    _require(declared in (None, INDEPENDENT), "nothing such can be declared")
    approval = None
    if "approval" in entry:
        approval = read_approval(entry)
    amended, _ = amend_plan(state, add=added, lower=lowered, declared=declared, approval=approval)
    return amended


def _require_enough(state: LedgerState, spec: Spec, count: int, slot: Slot, price: Charge) -> None:
    """Check that the amounts which a log entry charges for a job are at least the job's cost.

    A job is a number of runs of a mechanism. It is charged to a slot, a privacy budget with named amounts such as
    `rho` and `delta`. Mostly the charge is a sum, and `price.each` has the charge of one run. Only a budget in μ², for
    Gaussian differential privacy, charges all runs of a non-Gaussian mechanism together. This charge depends on the
    μ² that was left before, which is `price.remaining`.

    Args:
        state: the ledger. Only its setting (relation, unit and observer) is used.
        spec: one run of the job.
        count: number of runs.
        slot: the budget.
        price: the recorded charge.

    Raises:
        DoesNotReplay: the charge is too small, or its parts are not those of the slot.
    """
    _require(set(price.parts) == set(slot.capacity), "the charge has other parts than its slot")
    request = ChargeRequest(setting=state.setting, spec=spec, count=count, delta=price.each.get("delta"))
    if price.remaining is None:
        _require_enough_each(request, slot, price)
        return
    _require(slot.kind == "gdp" and not price.each, "only a Gaussian slot charges residues, of whole jobs")
    cost = price.parts["mu_squared"]
    eta = price.parts["eta"]
    is_enough = holds(request.parts, remaining=price.remaining, cost=cost, eta=eta)
    _require(is_enough, f"μ² = {cost:f} and η = {eta:f} do not suffice for the job at μ² = {price.remaining:f}")


def _require_enough_each(request: ChargeRequest, slot: Slot, price: Charge) -> None:
    """Check a recorded cost that adds up over runs: one run pays enough, and the sums over runs are right.

    Entries are not trusted: an amount that is too small would make the ledger's guarantee false.

    Args:
        request: the job with its number of runs.
        slot: the slot that is charged, a part of the privacy budget.
        price: the recorded charge. Its amounts are named, such as `rho` and `delta`: `each` of one run, `parts` of all.

    Raises:
        DoesNotReplay: one run pays too little, its amounts have other names, or the sums are wrong.
    """
    computed = charge(request, slot)
    _require(computed.additive and set(price.each) == set(computed.each), "the charge has other parts than its slot")
    for part, amount in computed.each.items():
        _require(price.each[part] >= amount, f"{part} = {price.each[part]:f} is less than a run costs, {amount:f}")
    _require(price.parts == times(price.each, request.count), "the sums are wrong")


def _require_opened(state: LedgerState) -> None:
    """Check that the log's opening entry describes a valid new ledger. No privacy loss is computed.

    A slot is a budget for runs that are not planned. A Rényi slot has one amount for each order, and a weight for each.

    Args:
        state: state of the ledger that the opening entry describes.

    Raises:
        DoesNotReplay: something was released before, or the members of an item or a slot are not valid.
    """
    _require(not state.declared.released_before, "something was released before")  # a ledger cannot account for it
    for item in state.plan:
        _require(is_count(item.planned), "an item has no valid number of runs")
        _require(not item.name.startswith(JOB), "an item has the name of a charged job")
    for slot in state.slots:
        if slot.kind == "rdp":
            has_weights = len(slot.weights) == len(slot.orders) and all(weight > 0.0 for weight in slot.weights)
            has_orders = all(order > 1.0 for order in slot.orders)
            _require(has_weights and has_orders, "a Rényi slot has no valid orders or weights")
        else:
            _require(set(slot.capacity) == set(PARTS[slot.kind]), "a slot has other parts than its kind")


def _require(condition: bool, message: str) -> None:
    """Raise an error if a condition of a valid log entry is violated.

    Args:
        condition: whether the entry is valid in this respect.
        message: fault of the entry, as a clause.

    Raises:
        DoesNotReplay: the condition is false.
    """
    if not condition:
        raise DoesNotReplay(message)


def balances(state: LedgerState) -> Mapping[str, Mapping[str, JsonObject]]:
    """Return the amounts and numbers of runs of a ledger by name, for a comparison with a database.

    Args:
        state: state of the ledger. It has a plan (mechanisms with numbers of runs) and slots (budgets for other runs).

    Returns:
        `slots`: the `used` and `reserved` amounts of each slot, by its kind.
        `plan`: the `reserved` and `committed` numbers of runs and the `credit` of each item, by its name.
    """
    slots: dict[str, JsonObject] = {}
    for slot in state.slots:
        zero = dict.fromkeys(slot.capacity, ZERO)
        slots[slot.kind] = {"used": plus(zero, slot.used), "reserved": plus(zero, slot.reserved)}
    plan = {
        item.name: {"reserved": item.reserved, "committed": item.committed, "credit": item.credit}
        for item in state.plan
    }
    return {"slots": slots, "plan": plan}
