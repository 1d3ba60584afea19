"""Charges of a Gaussian slot: exactly μ² for Gaussian mechanisms, and the certified residue for all others."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated, LedgerExhausted
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, up
from epsilond.ledgers.mathematics.residue import LEAST_ETA, least_cost, rough_cost
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.request import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

SHARE_OF_ETA = 16
"""Divisor of the slot's η for the largest share of a job that states no η."""
SMALLER_SHARES = (2**20, 2**10)
"""Divisors of the slot's η for the smaller shares that such a job may take instead."""
_ROUNDING = Fraction(1) + Fraction(1, 2**50)
EXACT = "epsilond.ledger-gaussian-slot"
RESIDUE = "epsilond.ledger-residue"


def charge(request: ChargeRequest, slot: Slot) -> Charge:
    """Return the charge for a job in μ² and η, the parts of a Gaussian slot.

    Gaussian runs cost exactly their μ², and the costs add up. Another job is charged as a whole: its cost in μ² reduces
    the Gaussian that is left in the slot, and its η is the δ that it may add beyond the profile of the slot.

    Raises:
        ConditionViolated: no η is left for a job that is not Gaussian.
        LedgerExhausted: all μ² that is left does not pay for the job.
    """
    run_cost = mu_squared(request)
    if run_cost is not None:
        run_charge = {"mu_squared": run_cost, "eta": ZERO}
        return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=EXACT)
    remaining = slot.remainder("mu_squared")
    find = rough_cost if request.rough else least_cost
    for eta in _etas_by_room(request, slot):
        residue = find(request.parts, remaining=remaining, eta=eta)
        if residue is not None:
            return Charge(parts={"mu_squared": residue.cost, "eta": eta}, remaining=remaining, theorem=RESIDUE)
    raise LedgerExhausted(f"not even all that is left, μ² = {remaining:f}, pays for the job at η = {eta:f}")


def _etas_by_room(request: ChargeRequest, slot: Slot) -> list[Amount]:
    """Return the amounts of η that a job may take, sorted so that most jobs of this kind fit with the first.

    A smaller η costs more μ². The order uses quick prices. A job that costs the same μ² at any η takes the smallest
    share, because otherwise η would be used up after `SHARE_OF_ETA` jobs. A job with rare large losses saves μ² by
    taking the largest share. If the request names an η, it is the only amount.

    Raises:
        ConditionViolated: less than the smallest η is free.
    """
    largest = eta_of(request, slot)
    if request.eta is not None:
        return [largest]
    remaining, free = slot.remainder("mu_squared"), slot.free("eta")
    room = {largest: Fraction(0)}
    for eta in (largest, *(up(slot.capacity["eta"] / share) for share in SMALLER_SHARES)):
        if LEAST_ETA <= eta <= largest:
            residue = rough_cost(request.parts, remaining=remaining, eta=eta)
            if residue is not None:
                room[eta] = min(Fraction(remaining) / Fraction(residue.cost), Fraction(free) / Fraction(eta))
    return sorted(room, key=lambda eta: -room[eta])


def mu_squared(request: ChargeRequest) -> Amount | None:
    """Return μ² of one run, rounded up, or None if it is not exactly a Gaussian mechanism."""
    mu = request.one.gaussian_dp_mu
    if mu is None:
        return None
    return up((Fraction(mu) * _ROUNDING) ** 2)


def eta_of(request: ChargeRequest, slot: Slot) -> Amount:
    """Return the largest η that a job may take.

    The requested η is taken as it is. Without one, it is a share of the slot's capacity, at most what is free.

    Raises:
        ConditionViolated: less than the smallest η is free.
    """
    free = slot.free("eta")
    share = up(slot.capacity["eta"] / SHARE_OF_ETA) if request.eta is None else request.eta
    eta = min(share, free) if request.eta is None else share
    if eta < LEAST_ETA:
        raise ConditionViolated(
            "the slot has no η left: only Gaussian mechanisms, with their exact charge, can be run in it"
        )
    return eta
