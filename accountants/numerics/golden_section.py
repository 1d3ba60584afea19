"""Golden section: where a unimodal function of one number is least."""

from __future__ import annotations

import math
from collections.abc import Callable


def golden_section(function: Callable[[float], float], low: float, high: float, *, steps: int = 24) -> float:
    """Where `function` is least on an interval, to about 0.618^steps of its length; one evaluation a step."""
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return left if at_left <= at_right else right
