"""A ledger is opened: its plan and slots are put together, the largest slot is found, and the invariant certified."""

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
from epsilond.ledgers.mathematics.invariant import Opening, largest, opening
from epsilond.ledgers.mathematics.state import JOB, Declared, LedgerState, LedgerTarget, PlanItem, Slot, SlotKind
from epsilond.ledgers.mathematics.stepped import steps_of

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Setting

SHARE_OF_DELTA = 4
"""A Gaussian slot that does not say how much η it may add may add a quarter of δ*."""
PARTS: Mapping[SlotKind, tuple[str, ...]] = {
    "gdp": ("mu_squared", "eta"),
    "zcdp": ("rho", "delta"),
    "rdp": ("orders", "weights", "budget"),
    "pure": ("epsilon", "delta"),
}
LARGEST = "largest"
_WEIGHTS_SUM = 1e-9


@dataclass(frozen=True, kw_only=True)
class AskedSlot:
    """A slot as it is asked for: its kind, and its capacity by parts or the largest that fits.

    `capacity` is "largest", or has the parts of the kind: numbers or decimal strings. Where the first part of a kind is
    "largest" it is found, beside the others that are given.
    """

    kind: SlotKind
    capacity: str | JsonObject


@dataclass(frozen=True, kw_only=True)
class Planned:
    """An item of the plan as it is asked for."""

    name: str
    spec: Spec


def opened(
    *,
    setting: Setting,
    target: LedgerTarget,
    declared: Declared,
    plan: Sequence[Planned] = (),
    slots: Sequence[AskedSlot] = (),
    approval: bool = False,
) -> tuple[LedgerState, Opening]:
    """A new ledger, certified to stay within its target. `approval`: a second person approves amendments and voids.

    Raises:
        InvalidInput: nothing is in it; something was released before; a part of a slot is missing or unknown.
        Infeasible: plan and slots exceed the target, or nothing is left for the largest slot.
        ConditionViolated: no theorem covers a mechanism of the plan under the ledger's setting.
    """
    if declared.released_before:
        message = "a ledger holds only from before the first release: what was released is not in its product"
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
        plan=tuple(item_of(one, f"/plan/{place}") for place, one in enumerate(plan)),
        slots=tuple(_slot(slot, place, target) for place, slot in enumerate(slots)),
        sealed=declared.sealed,
        approval=approval,
    )
    for place in sought:
        state = state.with_slot(largest(state, slots[place].kind))
    return state, opening(state)


def item_of(planned: Planned, at: str) -> PlanItem:
    """An item of a plan as it begins.

    Raises:
        InvalidInput: its name is a charged job's, or it has too many runs.
    """
    if planned.name.startswith(JOB):
        raise InvalidInput.at(f"{at}/name", f'begins with "{JOB}", as items of charged jobs do')
    step, count = steps_of(planned.spec)
    if count > LARGEST_COUNT:
        raise InvalidInput.at(f"{at}/spec", "has too many runs", allowed=f"at most {LARGEST_COUNT}")
    return PlanItem(name=planned.name, spec=step, planned=count)


def _is_sought(slot: AskedSlot) -> bool:
    if isinstance(slot.capacity, str):
        return True
    first = "budget" if slot.kind == "rdp" else PARTS[slot.kind][0]
    return bool(slot.capacity.get(first, LARGEST) == LARGEST)


def _slot(asked: AskedSlot, place: int, target: LedgerTarget) -> Slot:
    pointer = f"/slots/{place}/capacity"
    if isinstance(asked.capacity, str) and asked.capacity != LARGEST:
        raise InvalidInput.at(pointer, "is neither parts nor a known word", allowed=LARGEST)
    given: JsonObject = {} if isinstance(asked.capacity, str) else asked.capacity
    for part in given:
        if part not in PARTS[asked.kind]:
            raise InvalidInput.at(
                f"{pointer}/{part}", "is no part of such a slot", allowed=", ".join(PARTS[asked.kind])
            )
    if asked.kind == "rdp":
        return _renyi(given, pointer)
    first, second = PARTS[asked.kind]
    if first not in given and not isinstance(asked.capacity, str):
        raise InvalidInput.at(f"{pointer}/{first}", "is missing")
    amounts = {first: _amount(given.get(first, LARGEST), f"{pointer}/{first}")}
    default = target.delta / SHARE_OF_DELTA if asked.kind == "gdp" else ZERO
    amounts[second] = exact(given[second], f"{pointer}/{second}") if second in given else down(default)
    return Slot(kind=asked.kind, capacity=amounts)


def _renyi(given: JsonObject, pointer: str) -> Slot:
    orders = tuple(float(order) for order in given.get("orders", ()))
    if not orders or not all(1.0 < order <= 1e6 for order in orders) or len(set(orders)) != len(orders):
        raise InvalidInput.at(f"{pointer}/orders", "is not a list of different orders", allowed="each > 1 and ≤ 1e6")
    weights = tuple(float(weight) for weight in given.get("weights", ())) or (1.0 / len(orders),) * len(orders)
    if len(weights) != len(orders) or not all(weight > 0 for weight in weights):
        raise InvalidInput.at(f"{pointer}/weights", "has not one positive weight for each order")
    if abs(math.fsum(weights) - 1.0) > _WEIGHTS_SUM:
        raise InvalidInput.at(f"{pointer}/weights", "do not sum to 1", allowed="1 in all")
    budget = _amount(given.get("budget", LARGEST), f"{pointer}/budget")
    # In the order of their names, in which the canonical text of an entry has them: a reader pairs them by place.
    weighed = sorted(zip(map(_order_part, orders), weights, strict=True))
    capacity = dict.fromkeys((part for part, _ in weighed), budget)
    return Slot(kind="rdp", capacity=capacity, weights=tuple(weight for _, weight in weighed))


def _order_part(order: float) -> str:
    """Return the name of a Rényi order's part of a slot."""
    return f"order:{int(order) if order.is_integer() else repr(order)}"


def _amount(value: float | str | Decimal, pointer: str) -> Amount:
    return ZERO if value == LARGEST else exact(value, pointer)
