"""Charges of a mechanism in a Gaussian slot, by the residue that it leaves: certified at every ε, in both directions.

A slot with μ² = R left has the profile of G_√R, the Gaussian pair N(√R, 1) against N(0, 1). A mechanism with the
dominating pair g may be run at the cost c if the profile of g ⊗ G_√(R−c) is everywhere at most that of G_√R plus η.
Here ⊗ is composition, and R − c is the residue. This is the rule of the ledger's theorem (docs/ledger.md, "The ledger
theorem"). A cost that is valid at R is valid at every larger R; at a smaller R it must be computed again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.mathematics.amounts import (
    QUANTUM,
    Amount,
    float_below,
    up,
)
from epsilond.ledgers.mathematics.checks.composition import (
    cannot_fit,
    is_quick_to_compose,
    is_worth_composing,
    may_be_composed,
)
from epsilond.ledgers.mathematics.comparison.slot_trial import TOLERANCE, SlotTrial
from epsilond.ledgers.mathematics.steps import StepPrices, step_prices

if TYPE_CHECKING:
    from collections.abc import Sequence


LEAST_ETA = Decimal("1e-18")
"""Smallest η, because amounts have 18 places."""
LARGEST_SLOTS = Decimal(64), Decimal(400)
"""Largest μ² of slots that are computed with; a cost that suffices there suffices in every larger slot."""
_MOST_RAISES = 12
"""Largest number of costs, each larger than the one before, that are certified after a search."""
_MARGIN = Fraction(1) + Fraction(1, 2**18)
"""Factor on a charge of steps, so that another machine, with other roundings, certifies it again."""


@dataclass(frozen=True)
class Residue:
    """Certified cost of a job in a Gaussian slot, a privacy budget in μ² (Gaussian differential privacy).

    Attributes:
        remaining: μ² that the slot has left before the job. The cost is valid at this amount and at every larger one.
        cost: μ² that the job costs.
        eta: η, the δ that the job may add beyond the Gaussian profile of the slot.
    """

    remaining: Amount
    cost: Amount
    eta: Amount


def holds(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether a reduction of a Gaussian-DP budget by a cost is proved to account for a mechanism.

    The budget allows the privacy profile δ(ε) of G(R), where G(m) is the pair N(√m, 1) against N(0, 1). The mechanism
    reduces R by a cost c. The cost suffices if, at every ε:

        δ(ε) of the mechanism composed with G(R − c)  ≤  δ(ε) of G(R)  +  η.

    Args:
        parts: dominating pairs of the mechanism under the ledger's relation, each with its number of runs.
        remaining: R, the μ² that the budget has left.
        cost: c, the μ² that is paid.
        eta: η, the δ that the mechanism may add.

    Returns:
        True if the cost is proved to suffice; False if no proof was found.
    """
    if cost > remaining or eta < LEAST_ETA:
        return False
    # A cost that suffices in a smaller budget suffices in a larger one, and the proof is quicker.
    sizes = [size for size in _budget_sizes(remaining) if size >= cost]
    return any(_certifies(parts, size, cost, eta) for size in sizes)


def _certifies(parts: Sequence[tuple[Pair, int]], remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether one of two methods proves that a cost in a Gaussian-DP budget accounts for a mechanism.

    The budget is in μ², the square of the parameter of Gaussian differential privacy. One method adds up certified
    costs of single runs. The other composes the privacy profiles δ(ε) of all runs. It is tried first if it is
    affordable and expected to give a lower cost.

    Args:
        parts: dominating pairs of the mechanism (two distributions whose divergence bounds δ), each with its number of
            runs.
        remaining: μ² that the budget has left before the mechanism is run.
        cost: μ² by which the mechanism reduces the budget.
        eta: δ that the mechanism may add to the δ(ε) of N(μ, 1) against N(0, 1), which the budget allows.

    Returns:
        True if the cost is proved to suffice; False if there is no proof.
    """
    prices = step_prices(parts, remaining=remaining, eta=eta)
    if cannot_fit(parts, prices, remaining, eta):
        return False
    if prices is None:  # single runs have no price
        return _certifies_together(parts, remaining, cost, eta)
    if is_worth_composing(parts, prices, remaining, eta):
        return _certifies_together(parts, remaining, cost, eta) or _certifies_one_by_one(prices, cost)
    if _certifies_one_by_one(prices, cost):
        return True
    return may_be_composed(parts) and _certifies_together(parts, remaining, cost, eta)


def _certifies_together(parts: Sequence[tuple[Pair, int]], remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether a cost is certified to suffice for all runs of a mechanism, composed and charged together.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that the privacy budget has left before the mechanism is run.
        cost: μ² that is paid.
        eta: δ that the mechanism may add to the Gaussian profile of the budget.

    Returns:
        True if the cost is proved to suffice; False if there is no proof.
    """
    is_certified, _ = SlotTrial(parts, remaining, eta).certify(cost)
    return is_certified


def _certifies_one_by_one(prices: StepPrices, cost: Amount) -> bool:
    """Return whether a mechanism, with its runs charged one by one, is certified to cost at most a given amount.

    Args:
        prices: prices of the runs in a privacy budget in μ².
        cost: μ² that is paid.

    Returns:
        True if the cost is proved to suffice; False if there is no proof.
    """
    stepwise_cost = prices.cost()
    return stepwise_cost is not None and stepwise_cost <= cost


def shortfall(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> float:
    """Estimate by how much a cost in a Gaussian-DP budget is too small for a mechanism, for searches over mechanisms.

    A budget of m allows the δ(ε) of N(√m, 1) against N(0, 1). The estimate is the largest value over some ε of:

        log(δ_after(ε)/(δ_before(ε) + η)).

    δ_before is that of the budget R. δ_after is that of the mechanism composed with the budget R − c, after the cost c.

    Args:
        parts: dominating pairs of the mechanism (two distributions whose divergence bounds δ), each with its number of
            runs.
        remaining: R = μ², what is left of the budget.
        cost: c, the μ² by which the mechanism reduces the budget.
        eta: η, the δ that the mechanism may add.

    Returns:
        The estimate, which is not certified. It is at most 0 if the cost may suffice.
    """
    trial = SlotTrial(parts, remaining, eta, share=1.0)
    float_cost = float_below(cost)
    coarse_gap = trial.worst(float_cost)
    trial.refine(float_cost)  # more values of ε around the worst one
    return max(coarse_gap, trial.worst(float_cost))


def least_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find a certified cost of a job in a Gaussian slot, a privacy budget in μ², close to the least possible.

    The runs of the job are charged one by one or together. Charging one by one is quick, but the cost is slightly too
    high if the job takes a large part of the budget. Many runs with known loss distributions are then composed and
    charged together, which gives a cost within about 10⁻⁶ of the least.

    Args:
        parts: dominating pairs of the job's mechanisms, each with its number of runs.
        remaining: μ² that the slot has left.
        eta: η, the δ that the job may add to the Gaussian profile of the slot, at least `LEAST_ETA`.

    Returns:
        The charge. None if not even all of `remaining` could be certified to suffice.

    Raises:
        InvalidInput: η is smaller than the smallest amount.
        BeyondBudget: the composition cannot be evaluated within the engine's budget.
    """
    if eta < LEAST_ETA:
        raise InvalidInput.at("/eta", "is too small for a residue charge", allowed="at least 1e-18")
    for size in _budget_sizes(remaining):
        residue = _least_cost(parts, size, eta)
        if residue is not None:
            return Residue(remaining, residue.cost, eta)
    return None


def _budget_sizes(remaining: Amount) -> list[Amount]:
    """Return the sizes μ² of the Gaussian privacy budgets for which a cost is computed, in increasing order.

    In a large budget, the comparison of privacy profiles would take too many intervals of ε. A cost that suffices in a
    smaller budget suffices in a larger one too, so smaller budgets are used instead.

    Args:
        remaining: μ² that the real budget has left.

    Returns:
        One or two sizes: each of `LARGEST_SLOTS`, or `remaining` if it is smaller. Empty if nothing is left.
    """
    if remaining <= 0:
        return []
    return sorted({min(remaining, largest) for largest in LARGEST_SLOTS})


def _least_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Find a certified cost of a job in a Gaussian slot, a privacy budget in μ².

    One method adds up certified prices of single runs. The other composes the profiles of all runs. It is tried first
    if it is affordable and expected to give a lower cost.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: δ that the charge may add to the Gaussian profile of the slot.

    Returns:
        The cost with its η, and the μ² at which it is certified; None if none was certified.
    """
    prices = step_prices(parts, remaining=remaining, eta=eta)
    if cannot_fit(parts, prices, remaining, eta):
        return None
    if prices is None:  # single runs have no price
        return _composed_residue(parts, remaining, eta)
    if is_worth_composing(parts, prices, remaining, eta):
        return _composed_residue(parts, remaining, eta) or _stepwise_residue(prices, remaining, eta)
    residue = _stepwise_residue(prices, remaining, eta)
    if residue is None and may_be_composed(parts):
        return _composed_residue(parts, remaining, eta)
    return residue


class QuickCost(NamedTuple):
    """Cost in μ² of a job in a Gaussian privacy budget, as far as it is quick to compute.

    Attributes:
        estimate: rough lower estimate of the cost, not certified. math.inf if not even one run fits, and 0 if single
            runs have no price.
        certified: certified cost, about one percent too high; None if none was found.
    """

    estimate: float
    certified: Amount | None


def quick_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> QuickCost:
    """Compute the cost of a job in a Gaussian slot, a privacy budget in μ², as the sum of the prices of its runs.

    Composing all runs may give a lower cost, but takes longer.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η, the δ that the job may add to the Gaussian profile of the slot.

    Returns:
        A rough lower estimate of the cost, and a certified cost if there is one.
    """
    if eta < LEAST_ETA or remaining <= 0:
        return QuickCost(math.inf, None)
    # A cost that suffices in a smaller slot suffices in a larger one, and is quicker to compute there.
    smallest_bound, _ = LARGEST_SLOTS
    remaining = min(remaining, smallest_bound)
    prices = step_prices(parts, remaining=remaining, eta=eta, rough=True)
    if prices is None:
        return QuickCost(0.0, None)
    residue = _stepwise_residue(prices, remaining, eta)
    certified = None if residue is None else residue.cost
    return QuickCost(prices.floor, certified)


def rough_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find quickly a certified cost of a job in a Gaussian budget, about one percent above `least_cost`.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that the budget has left.
        eta: η, the δ that the job may add to the Gaussian profile of the budget.

    Returns:
        The cost. None if no cost could be certified quickly, even where `least_cost` may find one.
    """
    _, cost = quick_cost(parts, remaining=remaining, eta=eta)
    return None if cost is None else Residue(remaining, cost, eta)


def _stepwise_residue(prices: StepPrices, remaining: Amount, eta: Amount) -> Residue | None:
    """Return the certified cost of a job if its runs are charged one by one.

    The sum of the prices is multiplied by `_MARGIN`, so that a machine with other rounding errors certifies it too.

    Args:
        prices: prices of the runs in a Gaussian slot, a privacy budget in μ².
        remaining: μ² that the slot has left. The cost is at most this.
        eta: η, the δ that the job may add to the Gaussian profile of the slot.

    Returns:
        The cost with its η, and the μ² at which it is certified; None if none was certified.
    """
    cost = prices.cost()
    if cost is None:
        return None
    padded = max(up(Fraction(cost) * _MARGIN), QUANTUM)
    return Residue(remaining, min(padded, remaining), eta)


def composed_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Amount | None:
    """Return the certified cost of a job in a Gaussian slot (a budget in μ²) if all runs are charged together.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η, the δ that the job may add to the Gaussian profile of the slot.

    Returns:
        The cost. None if composition would take long, if nothing is left, or if the job does not fit.
    """
    if not is_quick_to_compose(parts, eta) or remaining <= 0:
        return None
    smallest_bound, _ = LARGEST_SLOTS
    residue = _composed_residue(parts, min(remaining, smallest_bound), eta)
    return None if residue is None else residue.cost


def _composed_residue(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Return a certified cost of a job in a Gaussian slot (a budget in μ²), by composing all its runs.

    A search gives an estimate, which is raised by growing factors until it can be certified. If no smaller cost can be
    certified, the job costs the whole slot.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that the slot has left.
        eta: η, the δ that the job may add to the Gaussian profile of the slot.

    Returns:
        The charge. None if not even the whole slot can be certified to suffice.
    """
    trial = SlotTrial(parts, remaining, eta)
    if trial.cannot_fit():
        return None
    estimate = trial.search()
    if estimate is None:  # the search allows only a part of η, so the whole slot may still suffice
        return _whole_slot(trial, remaining, eta)

    for attempt in range(_MOST_RAISES):
        # A cost just below the whole slot would leave a tiny Gaussian, with which profiles take long to compose.
        cost = remaining if estimate >= float_below(remaining) else min(up(estimate), remaining)
        certified, worst_epsilon = trial.certify(cost)
        if certified:
            return Residue(remaining, cost, eta)
        if cost >= remaining:
            return None
        # The ε that fails is added to the search. The least relative increase grows by a factor of four per attempt.
        trial.add(worst_epsilon)
        increased = estimate * (1.0 + TOLERANCE * 4.0**attempt)
        estimate = max(increased, trial.find_root(estimate, TOLERANCE))
    return _whole_slot(trial, remaining, eta)


def _whole_slot(trial: SlotTrial, remaining: Amount, eta: Amount) -> Residue | None:
    """Return the charge of all that is left in a Gaussian slot, if that charge is certified to suffice.

    Args:
        trial: test of costs of the job in the slot, a privacy budget in μ².
        remaining: μ² that the slot has left.
        eta: η, the δ that the job may add to the Gaussian profile of the slot.

    Returns:
        The remaining μ² as the charge, with η. None if it is not certified to suffice.
    """
    certified, _ = trial.certify(remaining)
    return Residue(remaining, remaining, eta) if certified else None
