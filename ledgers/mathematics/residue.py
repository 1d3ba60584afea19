"""Charges of a mechanism in a Gaussian slot, by the residue that it leaves: certified at every ε, in both directions.

A slot with μ² = R left has the profile of G_√R, the Gaussian pair N(√R, 1) against N(0, 1). A mechanism with the
dominating pair g may be run at the cost c if g ⊗ G_√(R−c) is at most the profile of G_√R plus η everywhere. This is the
rule of the ledger's theorem (docs/ledger.md, "The ledger theorem"). A cost that is valid at R is valid at every larger
R; at a smaller R it must be computed again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import InvalidInput
from epsilond.ledgers.mathematics.amounts import (
    QUANTUM,
    Amount,
    float_below,
    up,
)
from epsilond.ledgers.mathematics.comparison.slot_trial import TOLERANCE, SlotTrial
from epsilond.ledgers.mathematics.steps import StepPrices, step_prices

if TYPE_CHECKING:
    from collections.abc import Sequence


LEAST_ETA = Decimal("1e-18")
"""Smallest η, because amounts have 18 places."""
LARGEST_SLOTS = Decimal(64), Decimal(400)
"""Largest μ² of slots that are computed with; a cost that suffices there suffices in every larger slot."""
_SURELY, _HOPELESS = 1.01, 4.0
"""Largest costs of the steps one after another with which a job is tried, as shares of the remaining amount.

The first is the general one, the second applies if the composition is quick.
"""
_MOST_RAISES = 12
"""Largest number of costs, each larger than the one before, that are certified after a search."""
_MARGIN = Fraction(1) + Fraction(1, 2**18)
"""Factor on a charge of steps, so that another machine, with other roundings, certifies it again."""
_MANY = 100
"""Number of steps from which `_MUCH_BY_MANY` applies in place of `_MUCH_BY_FEW`."""
_MUCH_BY_FEW, _MUCH_BY_MANY = 0.1, 0.02
"""Costs of the steps, as shares of the slot, from which on composing them is worth its work: few steps, or many."""
_MOST_DIFFERENT = 4
"""Largest number of different steps that are composed, because the work grows with their number."""
_FINE = Decimal("1e-10")
"""Smallest η at which steps are composed, because the number of cells grows as 1/√η."""


@dataclass(frozen=True)
class Residue:
    """Certified charge of a mechanism in a Gaussian slot.

    Attributes:
        remaining: μ² that is left in the slot. The charge is valid at this amount and at every larger one.
        cost: μ² of the charge.
        eta: η of the charge: δ that it may add beyond the profile of the slot.
    """

    remaining: Amount
    cost: Amount
    eta: Amount


def holds(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether a Gaussian slot that pays this cost covers the mechanism. True is certified.

    The profile of the mechanism, composed with the Gaussian of `remaining` − `cost`, must be at most the profile of the
    Gaussian of `remaining`, plus η.

    Args:
        parts: dominating pairs of the mechanism under the ledger's relation, each with its number of runs.
        remaining: μ² that is left in the slot.
        cost: μ² that the slot pays.
        eta: δ that the charge may add beyond the profile of the slot.
    """
    if cost > remaining or eta < LEAST_ETA:
        return False
    return any(_holds(parts, slot, cost, eta) for slot in _slots(remaining) if slot >= cost)


def _holds(parts: Sequence[tuple[Pair, int]], remaining: Amount, cost: Amount, eta: Amount) -> bool:
    """Return whether a slot that pays this cost covers the mechanism. Arguments are those of `holds`.

    Two methods are tried, the one that is expected to be quicker first: charging one step after another, and composing
    all steps.
    """
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return False
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        if SlotTrial(parts, remaining, eta).certify(cost)[0]:
            return True
        stepwise = None if stepped is None else stepped.cost()
        return stepwise is not None and stepwise <= cost
    stepwise = stepped.cost()
    if stepwise is not None and stepwise <= cost:
        return True
    return may_be_composed(parts) and SlotTrial(parts, remaining, eta).certify(cost)[0]


def shortfall(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, cost: Amount, eta: Amount) -> float:
    """Estimate by how much a cost is too small, for searches over mechanisms. The estimate is not certified.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        cost: μ² of the charge.
        eta: η of the charge.

    Returns:
        The largest log(E/(E_slot + η)) at some ε. E is the profile of the mechanism composed with the Gaussian that is
        left, and E_slot the profile of the slot. At most 0 if the cost may suffice.
    """
    trial = SlotTrial(parts, remaining, eta, share=1.0)
    worst = trial.worst(float_below(cost))
    trial.refine(float_below(cost))
    return max(worst, trial.worst(float_below(cost)))


def least_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find a certified cost of a mechanism in a Gaussian slot, close to the least possible.

    Charging the steps one after another is quick, and slightly too high if the job takes a large part of the slot. In
    that case, many steps with exact distributions are composed and charged together. The cost is then within about
    10^-6 of the least.

    Args:
        parts: dominating pairs of the mechanism under the ledger's relation, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: δ that the charge may add beyond the profile of the slot, at least `LEAST_ETA`.

    Returns:
        The charge. None if not even all of `remaining` could be certified to suffice.

    Raises:
        InvalidInput: η is smaller than the smallest amount.
        BeyondBudget: the composition cannot be evaluated within the engine's budget.
    """
    if eta < LEAST_ETA:
        raise InvalidInput.at("/eta", "is too small for a residue charge", allowed="at least 1e-18")
    for slot in _slots(remaining):
        residue = _least_cost(parts, slot, eta)
        if residue is not None:
            return Residue(remaining, residue.cost, eta)
    return None


def _slots(remaining: Amount) -> list[Amount]:
    """Return the slot, or smaller slots in place of one that would take too many cells; none if nothing is left."""
    return sorted({min(remaining, most) for most in LARGEST_SLOTS}) if remaining > 0 else []


def _least_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Return a certified cost in one slot, or None if no cost was certified. Arguments are those of `least_cost`.

    Two methods are tried, the one that is expected to be quicker first: charging one step after another, and composing
    all steps.
    """
    stepped = step_prices(parts, remaining=remaining, eta=eta)
    if _cannot_fit(parts, stepped, remaining, eta):
        return None
    if stepped is None or _worth_composing(parts, stepped, remaining, eta):
        composed = _composed_cost(parts, remaining, eta)
        return composed if composed is not None or stepped is None else _stepwise(stepped, remaining, eta)
    residue = _stepwise(stepped, remaining, eta)
    return residue if residue is not None or not may_be_composed(parts) else _composed_cost(parts, remaining, eta)


def quick_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> tuple[float, Amount | None]:
    """Price a job in a Gaussian slot by charging its steps one after another, which is quick.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.

    Returns:
        A low estimate of the cost, and a certified cost that is about one percent too high. The estimate is math.inf if
        nothing fits. The certified cost is None if none was found.
    """
    if eta < LEAST_ETA or remaining <= 0:
        return math.inf, None
    remaining = min(remaining, LARGEST_SLOTS[0])
    stepped = step_prices(parts, remaining=remaining, eta=eta, rough=True)
    if stepped is None:
        return 0.0, None
    residue = _stepwise(stepped, remaining, eta)
    return stepped.floor, None if residue is None else residue.cost


def rough_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Residue | None:
    """Find a certified cost quickly. It is about one percent higher than that of `least_cost`, and more often None.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.
    """
    cost = quick_cost(parts, remaining=remaining, eta=eta)[1]
    return None if cost is None else Residue(remaining, cost, eta)


def _stepwise(stepped: StepPrices, remaining: Amount, eta: Amount) -> Residue | None:
    """Return the charge for the steps one after another, with a margin for another machine's roundings."""
    cost = stepped.cost()
    if cost is None:
        return None
    return Residue(remaining, min(max(up(Fraction(cost) * _MARGIN), QUANTUM), remaining), eta)


def composed_cost(parts: Sequence[tuple[Pair, int]], *, remaining: Amount, eta: Amount) -> Amount | None:
    """Return the certified cost of all steps together.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.

    Returns:
        The cost. None if composition is too much work, or if the job does not fit.
    """
    if not exact(parts, eta) or remaining <= 0:
        return None
    residue = _composed_cost(parts, min(remaining, LARGEST_SLOTS[0]), eta)
    return None if residue is None else residue.cost


def exact(parts: Sequence[tuple[Pair, int]], eta: Amount) -> bool:
    """Return whether the composition is quick: several steps with exact distributions, few of them different."""
    few = len(parts) <= _MOST_DIFFERENT and all(pair.law is not None for pair, _ in parts)
    return few and sum(count for _, count in parts) > 1 and eta >= _FINE


def _cannot_fit(parts: Sequence[tuple[Pair, int]], stepped: StepPrices | None, remaining: Amount, eta: Amount) -> bool:
    """Return whether the estimated cost of the single steps is so far above `remaining` that no method is tried."""
    too_much = _HOPELESS if exact(parts, eta) else _SURELY
    return stepped is not None and stepped.floor > too_much * float(remaining)


def may_be_composed(parts: Sequence[tuple[Pair, int]]) -> bool:
    """Return whether composition is tried after the charge of steps fails: for exact distributions and atoms.

    Composition of other pairs takes seconds, and its bounds are rarely narrow enough.
    """
    return all(pair.law is not None or pair.atoms is not None for pair, _ in parts)


def _worth_composing(parts: Sequence[tuple[Pair, int]], stepped: StepPrices, remaining: Amount, eta: Amount) -> bool:
    """Return whether composing all steps is expected to be affordable and cheaper than charging them one by one.

    Composition gives a smaller cost if the steps take much of the slot. Its work is about 1/√η, and more if the charge
    is a small part of the slot. Composition is also tried if the steps have no price one by one, for example because of
    rare large losses.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        stepped: prices of the steps, charged one by one.
        remaining: μ² that is left in the slot.
        eta: η of the charge.
    """
    if not exact(parts, eta):
        return False
    steps = sum(count for _, count in parts)
    least = _MUCH_BY_MANY if steps >= _MANY else _MUCH_BY_FEW
    return stepped.floor >= least * float(remaining) or stepped.cost() is None


def _composed_cost(parts: Sequence[tuple[Pair, int]], remaining: Amount, eta: Amount) -> Residue | None:
    """Return a certified charge for all steps at once, by composing them with the remaining slot.

    The search gives a cost that is not certified. That cost is raised by growing factors until it can be certified. If
    no smaller cost can be certified, the charge is the whole slot.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        remaining: μ² that is left in the slot.
        eta: η of the charge.

    Returns:
        The charge. None if not even the whole slot can be certified to suffice.
    """
    trial = SlotTrial(parts, remaining, eta)
    estimate = trial.search()
    if estimate is None:  # the search allows only a part of η, so the whole slot may still suffice
        certified, _ = trial.certify(remaining)
        return Residue(remaining, remaining, eta) if certified else None
    for attempt in range(_MOST_RAISES):
        cost = min(up(estimate), remaining)
        certified, worst = trial.certify(cost)
        if certified:
            return Residue(remaining, cost, eta)
        if cost >= remaining:
            return None
        trial.add(worst)
        estimate = max(estimate * (1.0 + TOLERANCE * 4.0**attempt), trial.find_root(estimate, TOLERANCE))
    certified, _ = trial.certify(remaining)
    return Residue(remaining, remaining, eta) if certified else None
