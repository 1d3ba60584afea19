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
_MOST_SUMS = 64
"""Largest number of sums of bounds that are kept, so that the work does not grow exponentially with the parts."""


def charge(request: ChargeRequest, _: Slot) -> Charge:
    """Return the cost of a job in a zcdp slot, a privacy budget in ρ (zero-concentrated DP) and δ.

    A job is a number of runs of one mechanism. Their costs add up. A Gaussian run with parameter μ costs ρ = μ²/2 and
    no δ. Any other run costs the least ρ that is proved at a δ of at most the requested one.

    Args:
        request: the mechanism, its number of runs, and the δ of each run; None means δ = 0.

    Returns:
        The charge for all runs of the job, rounded up.

    Raises:
        ConditionViolated: no ρ is proved of the mechanism at that δ, or ρ is larger than any amount.
    """
    gaussian_cost = mu_squared(request)
    bound = _least_bound(request) if gaussian_cost is None else Concentration(rho=Fraction(gaussian_cost) / 2)
    if bound.rho > Fraction(LARGEST) - 1:  # 1 leaves room for rounding up, as amounts are below `LARGEST`
        raise ConditionViolated(f"one run costs ρ = {float(bound.rho):g}, which is larger than the largest amount")
    run_charge = {"rho": up(bound.rho), "delta": up(bound.delta)}
    return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=THEOREM)


def _least_bound(request: ChargeRequest) -> Concentration:
    """Return the proved bound (ρ, δ) on one run with the least ρ, at a δ of at most the requested one.

    (ρ, δ) means ρ-zero-concentrated privacy, except with probability δ. The candidates are the bound from ε at this δ,
    and the sums of bounds on the mechanisms of which a run is composed.

    Args:
        request: the job, with the δ that is requested for each run.

    Raises:
        ConditionViolated: no ρ is proved at this δ.
    """
    delta = ZERO if request.delta is None else request.delta
    by_epsilon = _bound_by_epsilon(request, delta)
    proved = [] if by_epsilon is None else [by_epsilon]
    bounds_of_parts = [(_bounds_of_part(request, spec), count) for spec, count in flatten(request.spec)]
    proved += _sums(bounds_of_parts)

    # A mechanism may state its δ as a double, which can be slightly above the same decimal number. So the limit is the
    # double above the job's δ. The slot is charged with the exact δ of the bound, which can then exceed the job's.
    largest_delta = Fraction(float_above(delta)) if delta > 0 else Fraction(0)
    allowed = [bound for bound in proved if bound.delta <= largest_delta]
    if allowed:
        return min(allowed, key=lambda bound: (bound.rho, bound.delta))

    if proved:
        least_delta = min(bound.delta for bound in proved)
        raise ConditionViolated(
            f"ρ of the mechanism holds except with probability δ = {format_amount(up(least_delta))}: the job must "
            f"state a delta of at least that for each run, and allows {format_amount(delta)}"
        )
    raise ConditionViolated(
        f"no ρ of zero-concentrated privacy is proved of the mechanism, and it has no finite ε at δ = "
        f"{format_amount(delta)}"
    )


def _sums(parts: list[tuple[list[Concentration], int]]) -> list[Concentration]:
    """Return bounds (ρ, δ) on a composition, as sums of one chosen bound for each of its parts.

    (ρ, δ) means ρ-zero-concentrated privacy, except with probability δ. A sum is left out if another has neither a
    larger ρ nor a larger δ. While more than `_MOST_SUMS` are left, every second is dropped, but never the first one.

    Args:
        parts: bounds of each part, with the number of times that the part is run.

    Returns:
        The sums by increasing δ; an empty list if a part has no bound.
    """
    totals = [Concentration(rho=Fraction(0))]
    for bounds, count in parts:
        sums = []
        for total in totals:
            for bound in bounds:
                rho = total.rho + count * bound.rho
                delta = total.delta + count * bound.delta
                sums.append(Concentration(rho=rho, delta=delta))
        # By increasing δ, a sum is worth keeping only if its ρ is below that of every sum before it.
        totals = []
        for candidate in sorted(sums, key=lambda bound: (bound.delta, bound.rho)):
            if not totals or candidate.rho < totals[-1].rho:
                totals.append(candidate)
        while len(totals) > _MOST_SUMS:
            totals = totals[::2]
    return totals


def _bounds_of_part(request: ChargeRequest, spec: Spec) -> list[Concentration]:
    """Return proved bounds (ρ, δ) on one mechanism: ρ-zero-concentrated privacy, except with probability δ.

    Args:
        request: the job, for its neighbouring relation, unit and observer.
        spec: the mechanism, a part of one run.

    Returns:
        Zero, one or two bounds, each of which is valid. One follows from the dominating pair and has δ = 0. The other
        follows from a theorem on this kind of mechanism, and may need a δ.
    """
    rho = concentration(request.guarantee(spec).curve.upper)
    bounds = [] if math.isinf(rho) else [Concentration(rho=Fraction(rho))]
    by_kind = concentration_of(spec)
    if by_kind is not None:
        bounds.append(by_kind)
    return bounds


def _bound_by_epsilon(request: ChargeRequest, delta: Amount) -> Concentration | None:
    """Return the bound (ρ, δ) on one run that follows from its ε at δ: ρ = ε²/2.

    (ρ, δ) means ρ-zero-concentrated privacy, except with probability δ.

    Args:
        request: the job.
        delta: δ of a run.

    Returns:
        The bound; None if one run has no finite ε at δ.
    """
    epsilon = epsilon_of_run(request, delta)
    if math.isinf(epsilon):
        return None
    return Concentration(rho=Fraction(epsilon) ** 2 / 2, delta=Fraction(delta))
