"""Charges that are the sum of a number of each run: ε in a pure slot, ρ in a zero-concentrated slot.

Both rules are fully adaptive. The sum of ε is basic composition.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, float_below, up
from epsilond.ledgers.mathematics.charges.gaussian import mu_squared
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

PURE = "epsilond.ledger-pure-slot"
CONCENTRATED = "epsilond.ledger-concentrated-slot"


def charge_pure(asked: ChargeRequest, _: Slot) -> Charge:
    """Return the charge in ε: each run costs its ε at the δ that the job names for each run, 0 by default.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    delta = ZERO if asked.delta is None else asked.delta
    epsilon = _epsilon_of_run(asked, delta)
    if math.isinf(epsilon):
        raise ConditionViolated(f"one run has no finite ε at δ = {delta:f}: a pure slot takes none such")
    each = {"epsilon": up(epsilon), "delta": delta}
    return Charge(parts=times(each, asked.count), each=each, theorem=PURE)


def charge_concentrated(asked: ChargeRequest, _: Slot) -> Charge:
    """Return the charge in ρ: each run costs μ²/2 if Gaussian, and ε²/2 at the δ that the job names otherwise.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    squared = mu_squared(asked)
    delta = ZERO if asked.delta is None else asked.delta
    if squared is not None:
        each = {"rho": up(Fraction(squared) / 2), "delta": ZERO}
    else:
        epsilon = _epsilon_of_run(asked, delta)
        if math.isinf(epsilon):
            raise ConditionViolated(f"ρ is known of Gaussian and pure mechanisms; this one has no ε at δ = {delta:f}")
        each = {"rho": up(Fraction(epsilon) ** 2 / 2), "delta": delta}
    return Charge(parts=times(each, asked.count), each=each, theorem=CONCENTRATED)


def _epsilon_of_run(asked: ChargeRequest, delta: Amount) -> float:
    """Return an upper bound of ε of one run at δ."""
    return asked.one.epsilon(math.log(float_below(delta)) if delta > 0 else -math.inf).upper
