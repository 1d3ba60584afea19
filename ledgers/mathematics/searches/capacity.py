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
    """Estimate the capacity of a slot at which a ledger just reaches its target, within a relative error of 10⁻⁴.

    A slot is a part of the ledger's privacy budget.

    Args:
        excess: increasing function of the capacity; at most 0 if and only if the ledger is within its target. Relative
            errors of about 10⁻⁴ in the capacity do no harm.

    Returns:
        The root of `excess`. If the root is below 1e-15, a number between it and 1e-15.
    """
    # The search begins at a capacity that many ledgers have, and goes up by factors of 8 or down by factors of 64.
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

    if within_target == 0.0:
        return above_target
    if excess(within_target) == 0.0:
        return within_target
    negligible = 1e-300  # absolute tolerance, so small that in effect only the relative tolerance counts
    return brent_root(excess, within_target, above_target, absolute=negligible, relative=_ESTIMATED)


def root_near(excess: Callable[[float], float], estimate: float) -> float:
    """Return a number just below the root of an increasing function, at which the function is at most 0.

    The root is bracketed near the estimate, and then computed by Brent's method.

    Args:
        excess: the function. Its rounding errors make it too large, never too small, and may cause small jumps.
        estimate: initial estimate of the root, above 0.

    Returns:
        The number, within a relative error of 1e-9 if the function is smooth, and limited by its jumps otherwise. It is
        0 if no number above 1e-15 is found.
    """
    low, high = _bracket_root(excess, estimate)
    low_excess = excess(low)
    if low <= _SMALLEST and low_excess > 0.0:
        return 0.0
    root = low
    if low_excess != 0.0:
        negligible = 1e-300  # absolute tolerance, so small that in effect only the relative tolerance counts
        root = brent_root(excess, low, high, absolute=negligible, relative=_TOLERANCE)

    # Brent's method may end just above the root. Go back in growing steps, at most to the lower bound.
    margin = _TOLERANCE
    while excess(root) > 0.0:
        root = max(root * (1.0 - margin), low)
        margin *= 4.0
    return root


def _bracket_root(excess: Callable[[float], float], estimate: float) -> tuple[float, float]:
    """Return two numbers around the root of an increasing function.

    The bracket begins at the estimate. Its relative width grows by a factor of 8 in each step.

    Args:
        excess: the function.
        estimate: initial estimate of the root, above 0.

    Returns:
        A number at which the function is at most 0, and a number at which it is positive. If the root is below 1e-15,
        the first number is at most 1e-15, and the function may be positive there.
    """
    low = high = estimate
    relative_width = 4.0 * _ESTIMATED
    while excess(high) <= 0.0:
        low = high
        high = high * (1.0 + relative_width)
        relative_width *= 8.0
    while low > _SMALLEST and excess(low) > 0.0:
        low, high = low / (1.0 + relative_width), low
        relative_width *= 8.0
    return low, high
