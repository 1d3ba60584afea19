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
"""Factor above the rounding error of a computed μ."""
EXACT = "epsilond.ledger-gaussian-slot"
RESIDUE = "epsilond.ledger-residue"


def charge(request: ChargeRequest, slot: Slot) -> Charge:
    """Return the cost of a job in a Gaussian slot, a privacy budget in μ², as in Gaussian differential privacy.

    A job is one or more runs of a mechanism. The slot has amounts of μ² and of η, a δ in addition to that of a Gaussian
    mechanism. Each run of a Gaussian mechanism with sensitivity over noise μ costs μ². Any other job is charged once,
    for all its runs. Let G be the Gaussian mechanism with the μ² that is left before the charge, and G′ the one with
    the μ² that is left after it. The charge is so large that:

        δ of the job composed with G′ ≤ δ of G + η of the job,   at every ε.

    Args:
        request: the job, with its requested η, and whether a quick price is enough.
        slot: the slot that pays.

    Returns:
        The charged amounts by name: `mu_squared` and `eta`. For Gaussian runs, also the amounts of a single run.

    Raises:
        ConditionViolated: no η is left for a job that is not Gaussian.
        LedgerExhausted: all μ² that is left does not pay for such a job.
    """
    run_cost = mu_squared(request)
    if run_cost is not None:
        run_charge = {"mu_squared": run_cost, "eta": ZERO}
        return Charge(parts=times(run_charge, request.count), each=run_charge, theorem=EXACT)

    # The first η at which the job fits is taken.
    remaining = slot.remainder("mu_squared")
    find_cost = rough_cost if request.rough else least_cost
    for eta in _candidate_etas(request, slot):
        residue = find_cost(request.parts, remaining=remaining, eta=eta)  # the cost that leaves such a G′, if any
        if residue is not None:
            return Charge(parts={"mu_squared": residue.cost, "eta": eta}, remaining=remaining, theorem=RESIDUE)
    raise LedgerExhausted(f"not even all that is left, μ² = {remaining:f}, pays for the job at η = {eta:f}")


def _candidate_etas(request: ChargeRequest, slot: Slot) -> list[Amount]:
    """Return the amounts of η to try for a job that is not Gaussian, the most economical one first.

    η is the δ that the job may add to the profile of its Gaussian budget. A smaller η costs more μ². A small η suits
    jobs with a μ² that hardly depends on it, and the largest η suits jobs with rare large losses. The candidates are
    the largest allowed η, and the budget's η divided by each of `SMALLER_SHARES`. They are sorted by the number of
    equal jobs that the budget could pay, by approximate costs.

    Args:
        request: the job. Its η, if it states one, is the only candidate.
        slot: the slot that pays.

    Returns:
        The amounts of η, in the order in which they are tried.

    Raises:
        ConditionViolated: the largest allowed η is below `LEAST_ETA`.
    """
    largest = eta_of(request, slot)
    if request.eta is not None:
        return [largest]
    remaining = slot.remainder("mu_squared")
    free_eta = slot.free("eta")
    smaller = [up(slot.capacity["eta"] / divisor) for divisor in SMALLER_SHARES]

    # Count the equal jobs that fit for each η: as many as both the remaining μ² and the free η allow.
    jobs_that_fit = {largest: Fraction(0)}
    for eta in (largest, *smaller):
        if not LEAST_ETA <= eta <= largest:
            continue
        residue = rough_cost(request.parts, remaining=remaining, eta=eta)
        if residue is not None:
            jobs_by_mu_squared = Fraction(remaining) / Fraction(residue.cost)
            jobs_by_eta = Fraction(free_eta) / Fraction(eta)
            jobs_that_fit[eta] = min(jobs_by_mu_squared, jobs_by_eta)
    return sorted(jobs_that_fit, key=lambda eta: -jobs_that_fit[eta])


def mu_squared(request: ChargeRequest) -> Amount | None:
    """Return the cost μ² of one run, rounded up, if the run is a Gaussian mechanism: N(μ, 1) against N(0, 1).

    Args:
        request: the job.

    Returns:
        μ²; None if the run is not exactly a Gaussian mechanism.
    """
    mu = request.one.gaussian_dp_mu
    if mu is None:
        return None
    return up((Fraction(mu) * _ROUNDING) ** 2)


def eta_of(request: ChargeRequest, slot: Slot) -> Amount:
    """Return the largest η of a job, the δ that it may add to that of its slot, a Gaussian privacy budget.

    It is the requested η. Without a request, it is the slot's total η divided by `SHARE_OF_ETA` and rounded up, but at
    most the η that is neither used nor reserved.

    Args:
        request: the job.
        slot: the Gaussian slot, a privacy budget in μ² and η.

    Raises:
        ConditionViolated: the result is below `LEAST_ETA`.
    """
    eta = request.eta
    if eta is None:
        eta = min(up(slot.capacity["eta"] / SHARE_OF_ETA), slot.free("eta"))
    if eta < LEAST_ETA:
        raise ConditionViolated(
            "the slot has no η left: only Gaussian mechanisms, with their exact charge, can be run in it"
        )
    return eta
