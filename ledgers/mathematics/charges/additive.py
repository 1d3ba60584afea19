"""Charges of a pure slot (ε) and of a zero-concentrated slot (ρ): the charges of runs add up.

Both rules hold under fully adaptive composition. The rule for ε is basic composition.
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
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

PURE = "epsilond.ledger-pure-slot"
CONCENTRATED = "epsilond.ledger-concentrated-slot"


def charge_pure(request: ChargeRequest, _: Slot) -> Charge:
    """Return the charge of a job in a slot for pure ε. The charges of runs add up.

    A run costs its ε at the request's δ for one run, which is 0 by default, and this δ.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    delta = ZERO if request.delta is None else request.delta
    epsilon = _epsilon_of_run(request, delta)
    if math.isinf(epsilon):
        raise ConditionViolated(f"one run has no finite ε at δ = {delta:f}: a pure slot takes none such")
    run_charge = {"epsilon": up(epsilon), "delta": delta}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=PURE)


def charge_concentrated(request: ChargeRequest, _: Slot) -> Charge:
    """Return the charge of a job in a slot for zero-concentrated privacy. The charges of runs add up.

    A Gaussian run with parameter μ costs ρ = μ²/2. Another run costs ρ = ε²/2, where ε is its loss at the request's δ
    for one run, and this δ.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    squared = mu_squared(request)
    delta = ZERO if request.delta is None else request.delta
    if squared is not None:
        run_charge = {"rho": up(Fraction(squared) / 2), "delta": ZERO}
    else:
        epsilon = _epsilon_of_run(request, delta)
        if math.isinf(epsilon):
            raise ConditionViolated(f"ρ is known of Gaussian and pure mechanisms; this one has no ε at δ = {delta:f}")
        run_charge = {"rho": up(Fraction(epsilon) ** 2 / 2), "delta": delta}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=CONCENTRATED)


def _epsilon_of_run(request: ChargeRequest, delta: Amount) -> float:
    """Return an upper bound of ε of one run at δ."""
    return request.one.epsilon(math.log(float_below(delta)) if delta > 0 else -math.inf).upper
