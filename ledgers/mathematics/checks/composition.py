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
    """Return whether several runs can be composed quickly, with narrow bounds on δ.

    This requires two or more runs of few different mechanisms with known distributions of the privacy loss. Also
    η must not be tiny, because the work grows as 1/√η.

    Args:
        parts: dominating pairs of the mechanisms, each with its number of runs.
        eta: η, the δ that the runs may add to the privacy profile of their budget.

    Returns:
        True if composition is quick.
    """
    has_known_distributions = all(pair.law is not None for pair, _ in parts)
    runs = sum(count for _, count in parts)
    takes_little_work = len(parts) <= _MOST_DIFFERENT and eta >= _LEAST_COMPOSED_ETA
    return has_known_distributions and takes_little_work and runs > 1


def cannot_fit(parts: Sequence[tuple[Pair, int]], prices: StepPrices | None, remaining: Amount, eta: Amount) -> bool:
    """Return whether some runs are so expensive that no certified cost within the remaining μ² will be found.

    A low estimate of the cost, with the runs charged one by one, is compared with the μ² that is left. The limit is
    higher if the runs can be composed, because together they may cost much less.

    Args:
        parts: dominating pairs of the mechanisms, each with its number of runs.
        prices: prices of the runs, charged one by one; None if they are unknown.
        remaining: μ² that the privacy budget has left.
        eta: η, the δ that the runs may add to the Gaussian profile of the budget.

    Returns:
        True if the search for a cost can be left out; False if the prices are unknown.
    """
    if prices is None:
        return False
    most_share = _MOST_STEPWISE_SHARE_COMPOSED if is_quick_to_compose(parts, eta) else _MOST_STEPWISE_SHARE
    return prices.floor > most_share * float(remaining)


def may_be_composed(parts: Sequence[tuple[Pair, int]]) -> bool:
    """Return whether composing all runs is worth a try if charging them one by one fails.

    For a privacy loss without a known distribution or finitely many values, composition takes seconds, and its bounds
    are rarely narrow enough.

    Args:
        parts: dominating pairs of the mechanisms, each with its number of runs.

    Returns:
        True if every privacy loss has a known distribution or finitely many values.
    """
    return all(pair.law is not None or pair.atoms is not None for pair, _ in parts)


def is_worth_composing(parts: Sequence[tuple[Pair, int]], prices: StepPrices, remaining: Amount, eta: Amount) -> bool:
    """Return whether all runs should be composed and charged together, instead of one by one.

    Together they cost less of the privacy budget, which is worth the work if they take much of it. The least share
    depends on the number of runs. Composition is also tried if the runs have no price one by one, for example because
    of rare large losses.

    Args:
        parts: dominating pairs of the mechanisms, each with its number of runs.
        prices: prices of the runs, charged one by one.
        remaining: μ² that the budget has left.
        eta: η, the δ that the runs may add to the Gaussian profile of the budget.

    Returns:
        True if the runs should be composed.
    """
    if not is_quick_to_compose(parts, eta):
        return False
    runs = sum(count for _, count in parts)
    least_share = _SHARE_OF_MANY if runs >= _MANY_STEPS else _SHARE_OF_FEW
    takes_large_share = prices.floor >= least_share * float(remaining)
    return takes_large_share or prices.cost() is None
