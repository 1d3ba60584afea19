"""The rule of a Rényi slot: a sum over its orders that must stay the profile of something.

A slot with orders a, weights w_a and budgets B_a is the profile below Σ w_a C(a) e^{(a−1)(B_a − S_a)} γ^−(a−1), with
S_a what was spent at a. A move is legal while that sum stays above 1 − γ for all γ in (0, 1), which a single order does
as long as S_a ≤ B_a. With several, an order may be overdrawn while the others bear the sum (docs/ledger.md, "Slots").
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from epsilond.accountants.profiles.powers import PowerProfile, log_conversion
from epsilond.ledgers.mathematics.amounts import ZERO, less, total

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.state import Amounts, Slot

_SLACK = 1e-13


def log_coefficients(slot: Slot) -> list[float]:
    """Return the log of w_a C(a) e^{(a−1) B_a} of a slot to which nothing was charged, rounded up."""
    return [value + _SLACK * (1.0 + abs(value)) for value in _values(slot, dict.fromkeys(slot.capacity, ZERO))]


def may_go_on(slot: Slot, parts: Amounts) -> bool:
    """Return whether the slot stays a valid privacy profile after its used, reserved and requested amounts."""
    spent = {part: less(total(slot.capacity[part], parts.get(part, ZERO)), slot.free(part)) for part in slot.capacity}
    values = [value - _SLACK * (1.0 + abs(value)) for value in _values(slot, spent)]
    return PowerProfile(slot.orders, tuple(values)).legal


def _values(slot: Slot, spent: Amounts) -> list[float]:
    weights = slot.weights or (1.0 / len(slot.orders),) * len(slot.orders)
    return [
        math.log(weight) + log_conversion(order) + float(Decimal(order - 1.0) * less(budget, spent[part]))
        for weight, order, (part, budget) in zip(weights, slot.orders, slot.capacity.items(), strict=True)
    ]
