"""Charges of a Gaussian slot: μ² exactly for Gaussian mechanisms, the certified residue for anything else."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.errors import ConditionViolated, LedgerExhausted
from epsilond.accountants.ledger.amounts import ZERO, Amount, up
from epsilond.accountants.ledger.residue import LEAST_ETA, least_cost, rough_cost
from epsilond.accountants.ledger.state import Charge, times

if TYPE_CHECKING:
    from epsilond.accountants.ledger.charges.asked import ChargeRequest
    from epsilond.accountants.ledger.state import Slot

SHARE_OF_ETA = 16
"""A job that does not say what it may take of η may take a sixteenth of the slot's."""
_ROUNDING = Fraction(1) + Fraction(1, 2**50)
EXACT = "epsilond.ledger-gaussian-slot"
RESIDUE = "epsilond.ledger-residue"


def charge(asked: ChargeRequest, slot: Slot) -> Charge:
    """μ² and η of a job.

    Raises:
        ConditionViolated: no η is left for a job that is not Gaussian.
        LedgerExhausted: not even all of μ² that is left pays for it.
    """
    each = mu_squared(asked)
    if each is not None:
        one = {"mu_squared": each, "eta": ZERO}
        return Charge(parts=times(one, asked.count), each=one, theorem=EXACT)
    eta = eta_of(asked, slot)
    remaining = slot.left("mu_squared")
    find = rough_cost if asked.rough else least_cost
    found = find(asked.parts, remaining=remaining, eta=eta)
    if found is None:
        raise LedgerExhausted(f"not even all that is left, μ² = {remaining:f}, pays for the job at η = {eta:f}")
    return Charge(parts={"mu_squared": found.cost, "eta": eta}, remaining=remaining, theorem=RESIDUE)


def mu_squared(asked: ChargeRequest) -> Amount | None:
    """μ² of one run, rounded up, if it is exactly a Gaussian mechanism."""
    mu = asked.one.gaussian_dp_mu
    if mu is None:
        return None
    return up((Fraction(mu) * _ROUNDING) ** 2)


def eta_of(asked: ChargeRequest, slot: Slot) -> Amount:
    """What the job may take of η: as asked, else a share of the slot's, and what is free of it if that is less.

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
