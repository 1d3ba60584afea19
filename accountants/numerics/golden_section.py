"""The minimum of a function of one variable by golden sections; nothing here is certified."""

from __future__ import annotations

import math
from collections.abc import Callable

RATIO = 0.5 * (math.sqrt(5.0) - 1.0)


def golden_section(cost: Callable[[float], float], low: float, high: float, *, width: float, most: int = 200) -> float:
    """Where a unimodal function is least on an interval, to `width`, or to 0.62^`most` of the interval.

    The same points for the same arguments: where it is used to choose a parameter, answers are reproducible.
    """
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(most):
        if high - low <= width:
            break
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - RATIO * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + RATIO * (high - low)
            at_right = cost(right)
    return left if at_left <= at_right else right
