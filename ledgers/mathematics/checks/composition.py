"""Estimates of the work and the cost of a job in a Gaussian slot, which decide whether all its runs are composed."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from epsilond.ledgers.mathematics.amounts import Amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.ledgers.mathematics.steps import StepPrices

_MOST_STEPWISE_SHARE = 1.01
"""Largest estimated cost of the steps one after another, as a share of the slot, with which a job is tried.

The estimate is low, so that a job above it cannot fit; the excess over 1 allows for the error of the estimate.
"""
_MOST_STEPWISE_SHARE_COMPOSED = 4.0
"""Largest such share if composing all steps is quick, because their cost together may be much lower."""
_MANY_STEPS = 100
"""Number of steps from which `_SHARE_OF_MANY` applies in place of `_SHARE_OF_FEW`."""
_SHARE_OF_FEW, _SHARE_OF_MANY = 0.1, 0.02
"""Costs of the steps, as shares of the slot, from which on composing them is worth its work: few steps, or many."""
_MOST_DIFFERENT = 4
"""Largest number of different steps that are composed, because the work grows with their number."""
_LEAST_COMPOSED_ETA = Decimal("1e-10")
"""Smallest η at which steps are composed, because the number of cells grows as 1/√η."""


def is_quick_to_compose(parts: Sequence[tuple[Pair, int]], eta: Amount) -> bool:
    """Return whether the runs of a job can be composed quickly, with narrow bounds on δ.

    They can if there are two or more runs, of few different mechanisms, and if the distributions of their privacy
    losses are known. η must not be tiny.

    Args:
        parts: dominating pairs of the job's mechanisms, each with its number of runs.
        eta: η, the δ that the job may add to the privacy profile of its budget.

    Returns:
        True if composition is quick.
    """
    are_exact = all(pair.law is not None for pair, _ in parts)
    steps = sum(count for _, count in parts)
    is_quick = len(parts) <= _MOST_DIFFERENT and eta >= _LEAST_COMPOSED_ETA
    return are_exact and is_quick and steps > 1


def cannot_fit(parts: Sequence[tuple[Pair, int]], prices: StepPrices | None, remaining: Amount, eta: Amount) -> bool:
    """Return whether a job is so expensive that no certified cost within the remaining μ² will be found.

    The lower estimate of the cost, with its runs charged one by one, is compared with the μ² that is left. The limit is
    higher if the runs can be composed, because together they may cost much less.

    Args:
        parts: dominating pairs of the job's mechanisms, each with its number of runs.
        prices: prices of the runs, charged one by one; None if there are none, so that the answer is False.
        remaining: μ² that the privacy budget has left.
        eta: η, the δ that the job may add to the Gaussian profile of the budget.

    Returns:
        True if the search for a cost can be left out.
    """
    if prices is None:
        return False
    most_share = _MOST_STEPWISE_SHARE_COMPOSED if is_quick_to_compose(parts, eta) else _MOST_STEPWISE_SHARE
    return prices.floor > most_share * float(remaining)


def may_be_composed(parts: Sequence[tuple[Pair, int]]) -> bool:
    """Return whether composing all runs of a job is worth a try if charging them one by one fails.

    It is worth trying if the privacy loss of each run has a known distribution or finitely many values. For other pairs
    composition takes seconds, and its bounds are rarely narrow enough.

    Args:
        parts: dominating pairs of the job's mechanisms, each with its number of runs.

    Returns:
        True if composition is worth trying.
    """
    return all(pair.law is not None or pair.atoms is not None for pair, _ in parts)


def is_worth_composing(parts: Sequence[tuple[Pair, int]], prices: StepPrices, remaining: Amount, eta: Amount) -> bool:
    """Return whether all runs of a job should be composed and charged together, instead of one by one.

    Together they cost less of the privacy budget if they take much of it. The work is about 1/√η, and more if the job
    takes a small part of the budget. Composition is also tried if the runs have no price one by one, for example
    because of rare large losses.

    Args:
        parts: dominating pairs of the mechanism, each with its number of runs.
        prices: prices of the runs, charged one by one.
        remaining: μ² that the budget has left.
        eta: η, the δ that the job may add to the Gaussian profile of the budget.

    Returns:
        True if the runs should be composed.
    """
    if not is_quick_to_compose(parts, eta):
        return False
    steps = sum(count for _, count in parts)
    least_share = _SHARE_OF_MANY if steps >= _MANY_STEPS else _SHARE_OF_FEW
    takes_large_share = prices.floor >= least_share * float(remaining)
    return takes_large_share or prices.cost() is None
