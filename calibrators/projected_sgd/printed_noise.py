"""Search for the noise at which a printed bound claims a target."""

from __future__ import annotations

import math
from collections.abc import Callable

from epsilond.accountants.numerics.root_search import brent_root

SPAN, FIRST_STEP = 1e8, 0.25
"""Largest factor of the answer's noise in the search for printed noise, and the logarithm of the first factor tried."""
ROOT_TOLERANCE = 1e-15
"""Tolerance of the root of the excess in log noise, about the resolution of doubles."""
ROOT_PADS = (0.0, *(10.0**-k for k in range(15, 7, -1)))
"""Increases of log noise above the root, of which the first is used that meets the target by evaluation."""
LAST_PAD = 1e-7
"""Increase of log noise if none of `ROOT_PADS` meets the target."""


def least_log_factor(excess: Callable[[float], float]) -> float | None:
    """Search for the least factor on the noise at which a paper's bound on δ is at most the target δ.

    The search moves away from the factor 1, in steps of the logarithm that grow about threefold, until the sign of the
    excess changes. Brent's method then computes the root. It is increased by the least of `ROOT_PADS` with which the
    target is met by evaluation. If none suffices, it is increased by `LAST_PAD` without an evaluation.

    Args:
        excess: log δ of the bound minus log δ of the target; a decreasing function of the logarithm of the factor.

    Returns:
        The natural logarithm of the factor. None if no factor up to `SPAN` meets the target, or if every factor down to
        1/`SPAN` meets it.
    """
    excess_at_start = excess(0.0)
    if excess_at_start == 0.0:
        return 0.0

    # The root is at more noise if the target is missed, and at less noise otherwise.
    is_missed = excess_at_start > 0.0
    direction = math.copysign(1.0, excess_at_start)
    longest = math.log(SPAN)
    inner = outer = 0.0  # distances from 0, between which the sign of the excess changes
    while (excess(direction * outer) > 0.0) == is_missed:
        if outer >= longest:
            return None
        inner = outer
        outer = min(3.0 * outer + FIRST_STEP, longest)

    low, high = sorted((direction * inner, direction * outer))
    root = brent_root(excess, low, high, absolute=ROOT_TOLERANCE, relative=ROOT_TOLERANCE)
    for pad in ROOT_PADS:
        if excess(root + pad) <= 0.0:
            return root + pad
    return root + LAST_PAD
