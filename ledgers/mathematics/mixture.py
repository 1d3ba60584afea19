"""The rule of a Rényi slot: a sum over its orders must stay above a privacy profile.

A slot has orders a with weights w_a, which sum to 1, and with budgets B_a of Rényi divergence. Let S_a be the charge at
order a so far, and C(a) = (a − 1)^{a−1}/a^a. The profile of the runs that may follow is below Σ w_a C(a) e^{(a−1)(B_a −
S_a)} γ^−(a−1), where γ = e^ε. A move is valid while that sum stays above 1 − γ for all γ in (0, 1). With a single order
this means S_a ≤ B_a. With several orders, one may be overdrawn if the others keep the sum large enough (docs/ledger.md,
"Slots").
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
"""Upper bound, with a margin, on the rounding error of a term of `_log_terms`, relative to 1 + |term|."""


def log_coefficients(slot: Slot) -> list[float]:
    """Return the log coefficients of a bound on δ(ε) of everything that a Rényi slot may pay for, rounded up.

    A Rényi slot is a privacy budget with Rényi divergences B_a at orders a, and with weights w_a of sum 1. If nothing
    is spent yet:

        δ(ε) ≤ Σ_a c_a e^{−(a−1) ε},   c_a = w_a C(a) e^{(a−1) B_a},   C(a) = (a − 1)^{a−1}/a^a.

    Args:
        slot: the Rényi slot. Amounts that were spent are ignored.

    Returns:
        Upper bounds on log c_a, in the order of the slot's orders.
    """
    nothing_spent = dict.fromkeys(slot.capacity, ZERO)
    return [term + _SLACK * (1.0 + abs(term)) for term in _log_terms(slot, nothing_spent)]


def may_go_on(slot: Slot, parts: Amounts) -> bool:
    """Return whether a Rényi slot, a budget at several Rényi orders, can also pay the requested amounts.

    The used, reserved and requested amounts are subtracted from the budget of each order. The remainders give a
    weighted sum of upper bounds on δ(ε). The slot can pay if this sum is at least 1 − e^ε at all ε < 0, as every
    privacy profile is. So single orders may be overdrawn.

    Args:
        slot: the Rényi slot.
        parts: requested Rényi divergences, by the name `order:a` of each order a. An absent order is 0.

    Returns:
        True if the condition is certified: each term of the sum is rounded down.
    """
    spent = {}
    for part, capacity in slot.capacity.items():
        # capacity − free is the sum of the used and the reserved amount.
        with_request = total(capacity, parts.get(part, ZERO))
        spent[part] = less(with_request, slot.free(part))
    lower_bounds = [term - _SLACK * (1.0 + abs(term)) for term in _log_terms(slot, spent)]
    return PowerProfile(slot.orders, tuple(lower_bounds)).legal


def _log_terms(slot: Slot, spent: Amounts) -> list[float]:
    """Return the log coefficients in a bound on δ(ε) of everything that a budget in Rényi divergences still allows.

    The bound is a sum of powers of e^ε over the Rényi orders a. The coefficient of order a is:

        w_a C(a) e^{(a−1)(B_a − S_a)},   C(a) = (a − 1)^{a−1}/a^a.

    Args:
        slot: the budget, with a largest divergence B_a and a weight w_a of each order; equal weights if none are given.
        spent: sum S_a of the charged divergences, by the name of each order.

    Returns:
        One natural logarithm for each order.
    """
    weights = slot.weights or (1.0 / len(slot.orders),) * len(slot.orders)
    log_terms = []
    for weight, order, (part, budget) in zip(weights, slot.orders, slot.capacity.items(), strict=True):
        exponent = float(Decimal(order - 1.0) * less(budget, spent[part]))
        log_terms.append(math.log(weight) + log_conversion(order) + exponent)
    return log_terms
