"""Charges of a pure slot: ε and δ of each run, added up (basic composition, fully adaptive)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated
from epsilond.ledgers.mathematics.amounts import ZERO, float_below, up
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-pure-slot"


def charge(asked: ChargeRequest, _: Slot) -> Charge:
    """Return the charge in ε: each run costs its ε at the δ that the job names for each run, 0 by default.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    delta = ZERO if asked.delta is None else asked.delta
    log_delta = math.log(float_below(delta)) if delta > 0 else -math.inf
    epsilon = asked.one.epsilon(log_delta).upper
    if math.isinf(epsilon):
        raise ConditionViolated(f"one run has no finite ε at δ = {delta:f}: a pure slot takes none such")
    each = {"epsilon": up(epsilon), "delta": delta}
    return Charge(parts=times(each, asked.count), each=each, theorem=THEOREM)
