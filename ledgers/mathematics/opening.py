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
"""Divisor of the target's δ* that gives the default η of a Gaussian slot: the slot may add a quarter of δ*."""
PARTS: Mapping[SlotKind, tuple[str, ...]] = {
    "gdp": ("mu_squared", "eta"),
    "zcdp": ("rho", "delta"),
    "rdp": ("orders", "weights", "budget"),
    "pure": ("epsilon", "delta"),
}
"""Names of the parts of a requested slot, by its kind."""
LARGEST = "largest"
"""Requested amount that is computed as the largest with which the ledger stays within its target."""
_WEIGHTS_SUM = 1e-9
"""Largest difference of 1 and the sum of the weights of Rényi orders, which allows for rounded decimals."""


@dataclass(frozen=True, kw_only=True)
class RequestedSlot:
    """Request for a slot, a part of a new ledger's privacy budget that pays for mechanisms outside its plan.

    Attributes:
        kind: kind of the slot: gdp (Gaussian), zcdp (zero-concentrated), rdp (Rényi) or pure.
        capacity: amounts by name, as numbers or decimal strings. If it is the word "largest", or if its main amount is,
            the main amount is computed as the largest with which the ledger stays within its target.
    """

    kind: SlotKind
    capacity: str | JsonObject


@dataclass(frozen=True, kw_only=True)
class RequestedItem:
    """Request for an item of a ledger's plan: a mechanism that is accounted for from the start.

    Attributes:
        name: name of the item, unique in the ledger.
        spec: the mechanism. If it consists of equal steps, the item has one step and the number of steps.
    """

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
    """Open a new ledger, with a certificate that everything it allows stays within its privacy target.

    All planned runs are composed with all slots, as if the slots were used up. The ledger is valid if the δ of this
    composition at ε*, plus the δ that slots may add, is at most δ*. A risk as the target is compared in the same way.

    Args:
        setting: relation, unit and observer of the guarantee.
        target: (ε*, δ*), or the risk, of everything that the ledger allows.
        declared: declarations of the owner, of which `released_before` must be False.
        plan: mechanisms that may be run, each with its number of runs.
        slots: parts of the budget for mechanisms outside the plan. At most one has the capacity "largest", which is
            then computed.
        approval: whether a second person approves amendments and voids.

    Returns:
        The state of the new ledger, and its certificate: upper bounds on δ at ε*, and on ε at δ*.

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

    # A slot with the capacity "largest" has the main amount 0 until the other slots are known.
    searched_slots = [index for index, slot in enumerate(slots) if _is_searched(slot)]
    if len(searched_slots) > 1:
        _, second_index, *_ = searched_slots
        raise InvalidInput.at(f"/slots/{second_index}/capacity", "only one slot can be the largest that fits")
    plan_items = [item_of(item, f"/plan/{index}") for index, item in enumerate(plan)]
    new_slots = [_build_slot(slot, f"/slots/{index}/capacity", target) for index, slot in enumerate(slots)]
    state = LedgerState(
        setting=setting,
        target=target,
        declared=declared,
        plan=tuple(plan_items),
        slots=tuple(new_slots),
        sealed=declared.sealed,
        approval=approval,
    )

    # This slot gets as much as the plan and the other slots leave of the target.
    for index in searched_slots:
        state = state.with_slot(largest(state, slots[index].kind))
    return state, opening(state)


def item_of(planned: RequestedItem, pointer: str) -> PlanItem:
    """Build a new item of a ledger's plan: a mechanism with the number of runs that the ledger accounts for.

    Args:
        planned: name and mechanism of the item. A mechanism of equal steps becomes one step and a number of runs.
        pointer: JSON Pointer of the item, for errors.

    Returns:
        The item, with no reserved and no committed runs.

    Raises:
        InvalidInput: the name begins with `JOB`, which is reserved for runs outside the plan, or the item has more than
            `LARGEST_COUNT` runs.
    """
    if planned.name.startswith(JOB):
        raise InvalidInput.at(f"{pointer}/name", f'begins with "{JOB}", as items of charged jobs do')
    step, count = steps_of(planned.spec)
    if count > LARGEST_COUNT:
        raise InvalidInput.at(f"{pointer}/spec", "has too many runs", allowed=f"at most {LARGEST_COUNT}")
    return PlanItem(name=planned.name, spec=step, planned=count)


def _is_searched(slot: RequestedSlot) -> bool:
    """Return whether the main amount of a requested slot (μ², ρ, ε …) must be computed as the largest that fits.

    This is so if the capacity is a single word, or if its main amount is absent or "largest".

    Args:
        slot: kind and requested capacity of the slot, a part of the privacy budget.
    """
    if isinstance(slot.capacity, str):
        return True
    main_part = "budget"
    if slot.kind != "rdp":
        main_part, _ = PARTS[slot.kind]
    return bool(slot.capacity.get(main_part, LARGEST) == LARGEST)


def _build_slot(request: RequestedSlot, pointer: str, target: LedgerTarget) -> Slot:
    """Build a slot, a budget for mechanisms outside a ledger's plan, with the requested amounts.

    An amount that is to be computed as the largest is 0 for now. A δ that is not stated is 0, except in a Gaussian slot
    if the ledger's target admits one.

    Args:
        request: kind and capacity of the slot.
        pointer: JSON Pointer of the capacity, for errors.
        target: target of the ledger. A share of its δ is the default η of a Gaussian slot.

    Returns:
        The slot, of which nothing is used or reserved.

    Raises:
        InvalidInput: an amount is missing, unknown or not valid; or the target is a μ or ρ, which requires δ = 0 and a
            limit at every Rényi order, but the slot adds a δ or limits few orders.
    """
    parts = _requested_parts(request, pointer)
    # A target on μ or ρ, which an added δ would make false.
    excluding_risk = None if target.admits_delta else target.risk
    if request.kind == "rdp":
        if excluding_risk is not None:
            message = f"limits few Rényi orders, so nothing follows for the target {excluding_risk.kind}"
            raise InvalidInput.at(pointer.replace("/capacity", "/kind"), message, allowed="gdp, zcdp, pure")
        return _build_renyi_slot(parts, pointer)

    # Every other slot has a main amount, such as ρ, and a δ that it may add.
    main_part, delta_part = PARTS[request.kind]
    main_amount = _read_amount(parts[main_part], f"{pointer}/{main_part}")
    if delta_part in parts:
        delta = exact(parts[delta_part], f"{pointer}/{delta_part}")
        if excluding_risk is not None and delta > 0:
            message = f"adds to δ, so that no {excluding_risk.kind} holds for the whole"
            raise InvalidInput.at(f"{pointer}/{delta_part}", message, allowed="0")
    else:
        delta = _default_delta(request.kind, target)
    return Slot(kind=request.kind, capacity={main_part: main_amount, delta_part: delta})


def _default_delta(kind: SlotKind, target: LedgerTarget) -> Amount:
    """Return the δ that a slot, a part of the privacy budget, may add if the request does not state it.

    Args:
        kind: kind of the slot. Only a Gaussian slot needs a δ, for mechanisms that are not Gaussian.
        target: privacy target of the ledger.

    Returns:
        A quarter of the largest δ that slots could add, rounded down. It is 0 for a slot of another kind, and if the
        target admits no δ.
    """
    if kind != "gdp" or not target.admits_delta:
        return down(ZERO)
    return down(target.largest_added_delta / SHARE_OF_DELTA)


def _requested_parts(request: RequestedSlot, pointer: str) -> JsonObject:
    """Return the requested amounts of a slot, a part of a privacy budget, by their names, such as `rho` and `delta`.

    The word "largest" in place of the amounts requests the largest possible main amount.

    Args:
        request: kind and capacity of the slot.
        pointer: JSON Pointer of the capacity, for errors.

    Returns:
        The requested values by name; empty for a Rényi slot that is requested by the word.

    Raises:
        InvalidInput: the word or a name is not known, or the main amount is missing.
    """
    names = PARTS[request.kind]
    main_part, *_ = names
    # A Rényi slot has a default budget for its orders, so its main amount need not be given.
    is_renyi = request.kind == "rdp"
    if isinstance(request.capacity, str):
        if request.capacity != LARGEST:
            raise InvalidInput.at(pointer, "is neither parts nor a known word", allowed=LARGEST)
        return {} if is_renyi else {main_part: LARGEST}
    for part in request.capacity:
        if part not in names:
            raise InvalidInput.at(f"{pointer}/{part}", "is not a part of such a slot", allowed=", ".join(names))
    if not is_renyi and main_part not in request.capacity:
        raise InvalidInput.at(f"{pointer}/{main_part}", "is missing")
    return request.capacity


def _build_renyi_slot(parts: JsonObject, pointer: str) -> Slot:
    """Build a Rényi slot, that is, a budget of Rényi divergence at several orders. All orders get the same budget.

    Args:
        parts: `orders`, their `weights` (equal by default) and one `budget` for all orders ("largest" by default).
        pointer: JSON Pointer of the capacity, for errors.

    Returns:
        The slot, of which nothing is used or reserved.

    Raises:
        InvalidInput: orders are missing, equal or not above 1, or weights are not positive with sum 1.
    """
    orders = _read_orders(parts, pointer)
    weights = _read_weights(parts, len(orders), pointer)
    budget = _read_amount(parts.get("budget", LARGEST), f"{pointer}/budget")
    # The canonical text of a log entry has the amounts sorted by name. The weights must be in the same order.
    weighted_parts = sorted(zip(map(_order_part, orders), weights, strict=True))
    capacity = {part: budget for part, _ in weighted_parts}
    return Slot(kind="rdp", capacity=capacity, weights=tuple(weight for _, weight in weighted_parts))


def _read_orders(parts: JsonObject, pointer: str) -> tuple[float, ...]:
    """Read the requested orders of a Rényi slot, that is, of a budget of Rényi divergence at several orders.

    Args:
        parts: requested values of the slot. The member `orders` is a list of numbers.
        pointer: JSON Pointer of the capacity, for errors.

    Returns:
        The orders as requested, all different.

    Raises:
        InvalidInput: there are none, two are equal, or one is not in (1, 10⁶].
    """
    orders = tuple(float(order) for order in parts.get("orders", ()))
    are_in_range = all(1.0 < order <= 1e6 for order in orders)
    if not orders or not are_in_range or len(set(orders)) != len(orders):
        raise InvalidInput.at(f"{pointer}/orders", "is not a list of different orders", allowed="each > 1 and ≤ 1e6")
    return orders


def _read_weights(parts: JsonObject, count: int, pointer: str) -> tuple[float, ...]:
    """Read the requested weights of the orders of a Rényi budget; equal weights by default.

    Args:
        parts: requested values of the slot. The member `weights` is a list of numbers, or absent.
        count: number of orders.
        pointer: JSON Pointer of the capacity, for errors.

    Returns:
        One weight for each order.

    Raises:
        InvalidInput: there is not one positive weight for each order, or the sum of the weights is not 1.
    """
    weights = tuple(float(weight) for weight in parts.get("weights", ()))
    if not weights:
        weights = (1.0 / count,) * count
    if len(weights) != count or not all(weight > 0 for weight in weights):
        raise InvalidInput.at(f"{pointer}/weights", "has not one positive weight for each order")
    if abs(math.fsum(weights) - 1.0) > _WEIGHTS_SUM:
        raise InvalidInput.at(f"{pointer}/weights", "do not sum to 1", allowed="1 in all")
    return weights


def _order_part(order: float) -> str:
    """Return the name of the amount of a Rényi slot at an order, such as `order:2` or `order:1.5`.

    Args:
        order: Rényi order, above 1. A whole number is written without decimal point.
    """
    number = int(order) if order.is_integer() else repr(order)
    return f"order:{number}"


def _read_amount(value: float | str | Decimal, pointer: str) -> Amount:
    """Read a requested amount of a budget as an exact decimal number.

    Args:
        value: number, decimal string, or "largest".
        pointer: JSON Pointer of the amount, for the error.

    Returns:
        The amount. For "largest" it is 0, as a placeholder until it is computed.

    Raises:
        InvalidInput: the value is not an amount.
    """
    if value == LARGEST:
        return ZERO
    return exact(value, pointer)
