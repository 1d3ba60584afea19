"""Charges of a Gaussian slot: μ² exactly for Gaussian mechanisms, the certified residue for anything else."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated, LedgerExhausted
from epsilond.ledgers.mathematics.amounts import ZERO, Amount, up
from epsilond.ledgers.mathematics.residue import LEAST_ETA, least_cost, rough_cost
from epsilond.ledgers.mathematics.state import Charge, times

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
    from epsilond.ledgers.mathematics.state import Slot

SHARE_OF_ETA = 16
"""Largest share of the slot's η that a job takes which does not say: one in so many."""
SMALLER_SHARES = (2**20, 2**10)
"""Smaller shares that a job may take instead, one in so many."""
_ROUNDING = Fraction(1) + Fraction(1, 2**50)
EXACT = "epsilond.ledger-gaussian-slot"
RESIDUE = "epsilond.ledger-residue"


def charge(asked: ChargeRequest, slot: Slot) -> Charge:
    """Return the charge for a job in μ² and η.

    Raises:
        ConditionViolated: no η is left for a job that is not Gaussian.
        LedgerExhausted: not even all of μ² that is left pays for it.
    """
    each = mu_squared(asked)
    if each is not None:
        one = {"mu_squared": each, "eta": ZERO}
        return Charge(parts=times(one, asked.count), each=one, theorem=EXACT)
    remaining = slot.left("mu_squared")
    find = rough_cost if asked.rough else least_cost
    for eta in _etas_by_room(asked, slot):
        found = find(asked.parts, remaining=remaining, eta=eta)
        if found is not None:
            return Charge(parts={"mu_squared": found.cost, "eta": eta}, remaining=remaining, theorem=RESIDUE)
    raise LedgerExhausted(f"not even all that is left, μ² = {remaining:f}, pays for the job at η = {eta:f}")


def _etas_by_room(asked: ChargeRequest, slot: Slot) -> list[Amount]:
    """Return the amounts of η that a job may take, first the one with which most such jobs fit, by a quick price.

    Less η costs more μ². A query that costs the same μ² at any η takes the smallest share, or else η would end the slot
    after `SHARE_OF_ETA` queries; a run of rare large losses saves μ² by the largest.

    Raises:
        ConditionViolated: as `eta_of`.
    """
    largest = eta_of(asked, slot)
    if asked.eta is not None:
        return [largest]
    remaining, free = slot.left("mu_squared"), slot.free("eta")
    room = {largest: Fraction(0)}
    for eta in (largest, *(up(slot.capacity["eta"] / share) for share in SMALLER_SHARES)):
        if LEAST_ETA <= eta <= largest:
            found = rough_cost(asked.parts, remaining=remaining, eta=eta)
            if found is not None:
                room[eta] = min(Fraction(remaining) / Fraction(found.cost), Fraction(free) / Fraction(eta))
    return sorted(room, key=lambda eta: -room[eta])


def mu_squared(asked: ChargeRequest) -> Amount | None:
    """Return μ² of one run, rounded up, if it is exactly a Gaussian mechanism; None otherwise."""
    mu = asked.one.gaussian_dp_mu
    if mu is None:
        return None
    return up((Fraction(mu) * _ROUNDING) ** 2)


def eta_of(asked: ChargeRequest, slot: Slot) -> Amount:
    """Return the most that a job may take of η: as asked, else a share of the slot's, or what is free if that is less.

    Raises:
        ConditionViolated: less than the smallest amount is free.
    """
    free = slot.free("eta")
    share = up(slot.capacity["eta"] / SHARE_OF_ETA) if asked.eta is None else asked.eta
    eta = min(share, free) if asked.eta is None else share
    if eta < LEAST_ETA:
        raise ConditionViolated(
            "the slot has no η left: only Gaussian mechanisms, whose charge is exact, can be run in it"
        )
    return eta
