"""Charges of a zero-concentrated slot: ρ of each run, added up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated
from epsilond.ledgers.mathematics.amounts import ZERO, float_below, up
from epsilond.ledgers.mathematics.charges.gaussian import mu_squared
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-concentrated-slot"


def charge(asked: ChargeRequest, _: Slot) -> Charge:
    """Return the charge in ρ: each run costs μ²/2 if Gaussian, and ε²/2 at the δ that the job names otherwise.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    squared = mu_squared(asked)
    delta = ZERO if asked.delta is None else asked.delta
    if squared is not None:
        each = {"rho": up(Fraction(squared) / 2), "delta": ZERO}
    else:
        epsilon = asked.one.epsilon(math.log(float_below(delta)) if delta > 0 else -math.inf).upper
        if math.isinf(epsilon):
            raise ConditionViolated(f"ρ is known of Gaussian and pure mechanisms; this one has no ε at δ = {delta:f}")
        each = {"rho": up(Fraction(epsilon) ** 2 / 2), "delta": delta}
    return Charge(parts=times(each, asked.count), each=each, theorem=THEOREM)
