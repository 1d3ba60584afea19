"""Charges of a pure slot (ε): the charges of runs add up, under fully adaptive composition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, float_below, up
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

PURE = "epsilond.ledger-pure-slot"


def charge_pure(request: ChargeRequest, _: Slot) -> Charge:
    """Return the cost of a job in a pure slot, that is, a privacy budget of amounts of ε and δ.

    A job is a number of runs of one mechanism. Each run costs the requested δ, and its ε at this δ. By basic
    composition, the costs of runs add up.

    Args:
        request: the mechanism, its number of runs, and the δ of each run; None means δ = 0.

    Returns:
        The charge for all runs of the job, rounded up.

    Raises:
        ConditionViolated: the mechanism has no finite ε at that δ.
    """
    delta = ZERO if request.delta is None else request.delta
    epsilon = epsilon_of_run(request, delta)
    if math.isinf(epsilon):
        raise ConditionViolated(f"one run has no finite ε at δ = {delta:f}: a pure slot cannot pay for such a run")
    run_charge = {"epsilon": up(epsilon), "delta": delta}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=PURE)


def epsilon_of_run(request: ChargeRequest, delta: Amount) -> float:
    """Return an upper bound on ε of one run of a job at a given δ.

    It is computed from the run's dominating pair: two distributions that are at least as easy to distinguish as the
    outputs on neighbouring data sets.

    Args:
        request: the job, of which one run is bounded.
        delta: δ of the run, or 0 for pure ε. It is rounded down to a float, which can only raise ε.

    Returns:
        ε in nats; math.inf if no finite ε holds at this δ.
    """
    log_delta = math.log(float_below(delta)) if delta > 0 else -math.inf
    return request.one.epsilon(log_delta).upper
