"""Search for the largest capacity of a slot, a part of a privacy budget, within the target of a ledger."""

from __future__ import annotations

from collections.abc import Callable

from epsilond.accountants.numerics.root_search import brent_root

_SMALLEST = 1e-15
"""Capacity at or below which nothing is left for a slot, in the unit of its part."""
_TOLERANCE = 1e-9
"""Relative tolerance of the search for the largest capacity; the remainder of the target is lost to the slot."""
_ESTIMATED = 1e-4
"""Relative tolerance of the first search. Its rough bounds on δ have errors of this size; the root is certified later.
"""


def estimate_capacity(excess: Callable[[float], float]) -> float:
    """Estimate the capacity at which a ledger just reaches its target, within a relative tolerance of 10⁻⁴.

    The capacity is the amount of a slot, a part of the ledger's privacy budget. The estimate needs only rough bounds on
    δ, with errors of the size of the tolerance.

    Args:
        excess: increasing function of the capacity; at most 0 if and only if the ledger is within its target.

    Returns:
        The capacity. If the root is below 1e-15, a number between it and 1e-15.
    """
    # Bracket the root from a capacity that many ledgers have: by factors of 8 upward, or 64 downward.
    within_target = 0.0
    above_target = 0.25
    while excess(above_target) <= 0.0:
        within_target = above_target
        above_target = 8.0 * above_target
    while within_target == 0.0 and above_target > _SMALLEST:
        smaller = above_target / 64.0
        if excess(smaller) <= 0.0:
            within_target = smaller
        else:
            above_target = smaller

    # Without a lower bound above 0, or with a root at the lower bound, there is nothing to search.
    if within_target == 0.0:
        return above_target
    if excess(within_target) == 0.0:
        return within_target
    negligible = 1e-300  # absolute tolerance, so small that in effect only the relative tolerance counts
    return brent_root(excess, within_target, above_target, absolute=negligible, relative=_ESTIMATED)


def root_near(excess: Callable[[float], float], estimate: float) -> float:
    """Find the root of an increasing function, and return a number near it at which the function is at most 0.

    The root is bracketed near the estimate, and then found by Brent's method.

    Args:
        excess: the function. It is an upper bound: rounding may make it too large, never too small.
        estimate: initial estimate of the root, above 0.

    Returns:
        The number: within a relative tolerance of 1e-9 of a root if the function is smooth. Otherwise the function's
        jumps limit the accuracy. It is 0 if no number above 1e-15 is found.
    """
    low, high = _bracket_root(excess, estimate)
    low_excess = excess(low)
    if low <= _SMALLEST and low_excess > 0.0:
        return 0.0
    root = low
    if low_excess != 0.0:
        negligible = 1e-300  # absolute tolerance, so small that in effect only the relative tolerance counts
        root = brent_root(excess, low, high, absolute=negligible, relative=_TOLERANCE)

    # The root search may end just above the root: go back in growing steps, at most to the lower bound.
    margin = _TOLERANCE
    while excess(root) > 0.0:
        root = max(root * (1.0 - margin), low)
        margin *= 4.0
    return root


def _bracket_root(excess: Callable[[float], float], estimate: float) -> tuple[float, float]:
    """Return two numbers around the root of an increasing function, the first with a value of at most 0.

    The bracket begins next to the estimate, with a relative width that grows by a factor of 8 in each step.

    Args:
        excess: the function.
        estimate: initial estimate of the root, above 0.

    Returns:
        The bracket. If the root is below 1e-15, the first number is at most 1e-15 and may have a positive value.
    """
    low = high = estimate
    relative_width = 4.0 * _ESTIMATED
    # Move the bracket up until the upper number has a positive value.
    while excess(high) <= 0.0:
        low = high
        high = high * (1.0 + relative_width)
        relative_width *= 8.0
    # Move it down until the lower number has a value of at most 0.
    while low > _SMALLEST and excess(low) > 0.0:
        low, high = low / (1.0 + relative_width), low
        relative_width *= 8.0
    return low, high
