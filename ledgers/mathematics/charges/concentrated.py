"""Charges of a zero-concentrated slot (ρ, δ): the least proved ρ of a run. The charges of runs add up.

The rule holds under fully adaptive composition (docs/ledger.md, Slots). In a run of several mechanisms their ρ and
their δ add up too.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.renyi import concentration
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.kinds import concentration_of
from epsilond.accountants.kinds.kind import Concentration
from epsilond.accountants.theorems.composition.rounds import flatten
from epsilond.ledgers.mathematics.amounts import LARGEST, ZERO, Amount, float_above, format_amount, up
from epsilond.ledgers.mathematics.charges.additive import epsilon_of_run
from epsilond.ledgers.mathematics.charges.gaussian import mu_squared
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

THEOREM = "epsilond.ledger-concentrated-slot"


def charge(request: ChargeRequest, _: Slot) -> Charge:
    """Return the charge of a job to a slot for zero-concentrated privacy, a part of the budget with amounts of ρ and δ.

    A Gaussian run with parameter μ costs ρ = μ²/2 and no δ. Any other run costs the least ρ that is proved at
    a δ of at most that of the request.

    Args:
        request: the mechanism, its number of runs, and the δ of each run; None means δ = 0.

    Raises:
        ConditionViolated: no ρ is proved of the mechanism at that δ, or ρ is larger than any amount.
    """
    squared = mu_squared(request)
    least = _least(request) if squared is None else Concentration(rho=Fraction(squared) / 2)
    if least.rho > Fraction(LARGEST) - 1:
        raise ConditionViolated(f"one run costs ρ = {float(least.rho):g}, which is larger than the largest amount")
    run_charge = {"rho": up(least.rho), "delta": up(least.delta)}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=THEOREM)


def _least(request: ChargeRequest) -> Concentration:
    """Return the least ρ of one run that is proved at the δ of the request, with the δ that it needs.

    Args:
        request: the job.

    Raises:
        ConditionViolated: no ρ is proved at this δ.
    """
    delta = ZERO if request.delta is None else request.delta
    of_parts = [(_of_part(request, spec), count) for spec, count in flatten(request.spec)]
    proved_parts = [(part, count) for part, count in of_parts if part is not None]
    bounds = [_by_epsilon(request, delta)]
    if len(proved_parts) == len(of_parts):
        bounds.append(
            Concentration(
                rho=sum((count * part.rho for part, count in proved_parts), Fraction(0)),
                delta=sum((count * part.delta for part, count in proved_parts), Fraction(0)),
            )
        )
    proved = [bound for bound in bounds if bound is not None]
    # The decimal δ of the job counts as the next double, since a declared δ is one. The charge is the exact δ.
    allowed = [bound for bound in proved if bound.delta <= Fraction(float_above(delta))]
    if allowed:
        return min(allowed, key=lambda bound: (bound.rho, bound.delta))
    if proved:
        needed = format_amount(up(proved[0].delta))
        raise ConditionViolated(
            f"ρ of the mechanism holds except with probability δ = {needed}: the job must state a delta of at least "
            f"that for each run, and allows {format_amount(delta)}"
        )
    raise ConditionViolated(
        f"no ρ of zero-concentrated privacy is proved of the mechanism, and it has no finite ε at δ = "
        f"{format_amount(delta)}"
    )


def _of_part(request: ChargeRequest, spec: Spec) -> Concentration | None:
    """Return zero-concentrated privacy of a mechanism, with the least δ; None if none is proved.

    It is that of a theorem of the mechanism's kind, or that of a dominating pair: of Gaussian noise, or pure.

    Args:
        request: the job, for its setting.
        spec: the mechanism, a part of one run.
    """
    rho = concentration(request.guarantee(spec).curve.upper)
    bounds = [] if math.isinf(rho) else [Concentration(rho=Fraction(rho))]
    by_kind = concentration_of(spec)
    if by_kind is not None:
        bounds.append(by_kind)
    return min(bounds, key=lambda bound: (bound.delta, bound.rho), default=None)


def _by_epsilon(request: ChargeRequest, delta: Amount) -> Concentration | None:
    """Return ρ = ε²/2 at δ, where ε is the loss of one run at δ; None if ε is infinite.

    Args:
        request: the job.
        delta: δ of a run.
    """
    epsilon = epsilon_of_run(request, delta)
    return None if math.isinf(epsilon) else Concentration(rho=Fraction(epsilon) ** 2 / 2, delta=Fraction(delta))
