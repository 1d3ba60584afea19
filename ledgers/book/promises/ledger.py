"""The conditions of a ledger's guarantee, the privacy curve of its plan, and its ε and δ after a change of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from epsilond.calibrators.answer import DeclaredCondition
from epsilond.ledgers.mathematics.invariant import opening
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.view import PlanCurve, conditions, plan_curve


@dataclass(frozen=True)
class LedgerPromise:
    """Those parts of the service's answer about a ledger that take long to compute.

    Attributes:
        conditions: conditions of the guarantee that no computation can check, each once.
        curve: points (δ, ε) of the privacy curve of all planned runs.
        certified: certified `epsilon` and `log_delta` of all runs that an amended ledger allows. None if it was not
            amended, because the record of its opening has both.
    """

    conditions: tuple[DeclaredCondition, ...]
    curve: tuple[PlanCurve, ...]
    certified: Mapping[str, float] | None = None


def compute_promise(state: LedgerState, *, of_block: bool) -> LedgerPromise:
    """Compute the parts of the service's answer about a ledger that take long, to be called before anything is locked.

    These are the conditions of the guarantee, the ε of the plan at several δ, and a new certificate if the ledger was
    amended.

    Args:
        state: the ledger.
        of_block: whether the ledger is of one block of a data set, which adds a condition about the block's membership.

    Returns:
        The three parts. `certified` is None if the ledger was not amended: its opening record has the certificate then.
    """
    all_conditions = conditions(state, of_block=of_block)
    declared = [DeclaredCondition(id=condition.id, statement=condition.statement) for condition in all_conditions]
    each_once = tuple(dict.fromkeys(declared))
    # The guarantee at the opening is in the database. After a change of the plan it is certified anew.
    certified = None
    if state.amended:
        certificate = opening(state)
        certified = {"epsilon": certificate.epsilon, "log_delta": certificate.log_delta}
    return LedgerPromise(each_once, plan_curve(state), certified)
