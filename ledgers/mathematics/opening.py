"""Opening of a ledger: its plan and slots are combined, the largest slot is computed, and the invariant certified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, down, exact
from epsilond.ledgers.mathematics.charges.stepped import steps_of
from epsilond.ledgers.mathematics.invariant import Opening, largest, opening
from epsilond.ledgers.mathematics.state import JOB, Declared, LedgerState, LedgerTarget, PlanItem, Slot, SlotKind

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Setting

SHARE_OF_DELTA = 4
"""Divisor of δ* for the η of a Gaussian slot that states none: it may add a quarter of δ*."""
PARTS: Mapping[SlotKind, tuple[str, ...]] = {
    "gdp": ("mu_squared", "eta"),
    "zcdp": ("rho", "delta"),
    "rdp": ("orders", "weights", "budget"),
    "pure": ("epsilon", "delta"),
}
LARGEST = "largest"
_WEIGHTS_SUM = 1e-9


@dataclass(frozen=True, kw_only=True)
class RequestedSlot:
    """Requested slot, which is a part of the budget for mechanisms outside the plan.

    `capacity` has the amount of each part of the kind, as a number or a decimal string. If it is "largest", or if its
    first part is, that amount is computed as the largest with which the ledger stays within its target.
    """

    kind: SlotKind
    capacity: str | JsonObject


@dataclass(frozen=True, kw_only=True)
class RequestedItem:
    """A requested item of the plan."""

    name: str
    spec: Spec


def open_ledger(
    *,
    setting: Setting,
    target: LedgerTarget,
    declared: Declared,
    plan: Sequence[RequestedItem] = (),
    slots: Sequence[RequestedSlot] = (),
    approval: bool = False,
) -> tuple[LedgerState, Opening]:
    """Return a new ledger, and the certificate that it stays within its target.

    Args:
        setting: relation, unit and observer of the guarantee.
        target: (ε*, δ*) of everything that the ledger allows.
        declared: declarations of the owner, of which `released_before` must be False.
        plan: mechanisms that may be run, each with its number of runs.
        slots: parts of the budget for other mechanisms. At most one has the capacity "largest".
        approval: whether a second person approves amendments and voids.

    Raises:
        InvalidInput: the ledger is empty, something was released before, or a part of a slot is missing or unknown.
        Infeasible: plan and slots exceed the target, or nothing is left for the largest slot.
        ConditionViolated: no theorem covers a mechanism of the plan under the ledger's setting.
    """
    if declared.released_before:
        message = "a ledger is opened before the first release: its product does not contain earlier releases"
        raise InvalidInput.at("/declared/released_before", message, allowed="false")
    if not plan and not slots:
        raise InvalidInput.at("/plan", "give a plan, slots, or both")
    sought = [place for place, slot in enumerate(slots) if _is_sought(slot)]
    if len(sought) > 1:
        raise InvalidInput.at(f"/slots/{sought[1]}/capacity", "only one slot can be the largest that fits")
    state = LedgerState(
        setting=setting,
        target=target,
        declared=declared,
        plan=tuple(item_of(item, f"/plan/{place}") for place, item in enumerate(plan)),
        slots=tuple(_slot(slot, place, target) for place, slot in enumerate(slots)),
        sealed=declared.sealed,
        approval=approval,
    )
    for place in sought:
        state = state.with_slot(largest(state, slots[place].kind))
    return state, opening(state)


def item_of(planned: RequestedItem, at: str) -> PlanItem:
    """Return an item of a plan with no reserved or committed runs.

    Args:
        planned: name and mechanism of the item. A mechanism of equal steps becomes one step and a number of runs.
        at: JSON Pointer of the item, for errors.

    Raises:
        InvalidInput: the name begins like the names of jobs that slots pay for, or the item has too many runs.
    """
    if planned.name.startswith(JOB):
        raise InvalidInput.at(f"{at}/name", f'begins with "{JOB}", as items of charged jobs do')
    step, count = steps_of(planned.spec)
    if count > LARGEST_COUNT:
        raise InvalidInput.at(f"{at}/spec", "has too many runs", allowed=f"at most {LARGEST_COUNT}")
    return PlanItem(name=planned.name, spec=step, planned=count)


def _is_sought(slot: RequestedSlot) -> bool:
    """Return whether the slot's capacity, or its first part, is requested as the largest that fits."""
    if isinstance(slot.capacity, str):
        return True
    first = "budget" if slot.kind == "rdp" else PARTS[slot.kind][0]
    return bool(slot.capacity.get(first, LARGEST) == LARGEST)


def _slot(request: RequestedSlot, place: int, target: LedgerTarget) -> Slot:
    """Return a slot from its request, with capacity zero in a part that is to be computed.

    Args:
        request: kind and capacity of the slot.
        place: index of the slot in the request, for errors.
        target: target of the ledger. A share of its δ is the default η of a Gaussian slot.

    Raises:
        InvalidInput: a part is missing or unknown, or an amount is not valid.
    """
    pointer = f"/slots/{place}/capacity"
    if isinstance(request.capacity, str) and request.capacity != LARGEST:
        raise InvalidInput.at(pointer, "is neither parts nor a known word", allowed=LARGEST)
    parts: JsonObject = {} if isinstance(request.capacity, str) else request.capacity
    for part in parts:
        if part not in PARTS[request.kind]:
            raise InvalidInput.at(
                f"{pointer}/{part}", "is no part of such a slot", allowed=", ".join(PARTS[request.kind])
            )
    if request.kind == "rdp":
        return _renyi(parts, pointer)
    first, second = PARTS[request.kind]
    if first not in parts and not isinstance(request.capacity, str):
        raise InvalidInput.at(f"{pointer}/{first}", "is missing")
    amounts = {first: _amount(parts.get(first, LARGEST), f"{pointer}/{first}")}
    default = target.delta / SHARE_OF_DELTA if request.kind == "gdp" else ZERO
    amounts[second] = exact(parts[second], f"{pointer}/{second}") if second in parts else down(default)
    return Slot(kind=request.kind, capacity=amounts)


def _renyi(parts: JsonObject, pointer: str) -> Slot:
    """Return a Rényi slot from the requested parts, with orders sorted by the names of their parts.

    Args:
        parts: `orders`, their `weights` (equal by default) and one `budget` for all orders ("largest" by default).
        pointer: JSON Pointer of the capacity, for errors.

    Raises:
        InvalidInput: orders are missing, equal or not above 1, or weights are not positive with sum 1.
    """
    orders = tuple(float(order) for order in parts.get("orders", ()))
    if not orders or not all(1.0 < order <= 1e6 for order in orders) or len(set(orders)) != len(orders):
        raise InvalidInput.at(f"{pointer}/orders", "is not a list of different orders", allowed="each > 1 and ≤ 1e6")
    weights = tuple(float(weight) for weight in parts.get("weights", ())) or (1.0 / len(orders),) * len(orders)
    if len(weights) != len(orders) or not all(weight > 0 for weight in weights):
        raise InvalidInput.at(f"{pointer}/weights", "has not one positive weight for each order")
    if abs(math.fsum(weights) - 1.0) > _WEIGHTS_SUM:
        raise InvalidInput.at(f"{pointer}/weights", "do not sum to 1", allowed="1 in all")
    budget = _amount(parts.get("budget", LARGEST), f"{pointer}/budget")
    # Sorted by name, like the parts in the canonical text of an entry, so that weights and parts correspond.
    weighed = sorted(zip(map(_order_part, orders), weights, strict=True))
    capacity = dict.fromkeys((part for part, _ in weighed), budget)
    return Slot(kind="rdp", capacity=capacity, weights=tuple(weight for _, weight in weighed))


def _order_part(order: float) -> str:
    """Return the name of a Rényi order's part of a slot."""
    return f"order:{int(order) if order.is_integer() else repr(order)}"


def _amount(value: float | str | Decimal, pointer: str) -> Amount:
    """Return an amount, or zero if it is to be computed."""
    return ZERO if value == LARGEST else exact(value, pointer)
