"""Search for the weight of the shared part of a model that minimises a bound."""

from __future__ import annotations

import math
from collections.abc import Callable

from epsilond.accountants.numerics.minimum import golden_section


def grid_minima(bound: Callable[[float], float], low: float, high: float, intervals: int) -> list[float]:
    """Return two candidates for the argument α > 0 that minimises a function: a refined grid point, and that point.

    The grid is uniform in log α. A golden section search between the neighbours of its best point refines this point.

    Args:
        bound: the function of α, here a bound on the excess risk.
        low: smallest log α of the grid.
        high: largest log α of the grid.
        intervals: number of intervals of the grid.
    """
    grid = [low + (high - low) * index / intervals for index in range(intervals + 1)]
    values = [bound(math.exp(log_alpha)) for log_alpha in grid]
    best_index = values.index(min(values))
    left, right = grid[max(best_index - 1, 0)], grid[min(best_index + 1, intervals)]
    refined = golden_section(lambda log_alpha: bound(math.exp(log_alpha)), left, right, width=0.0, most=24)
    return [math.exp(refined), math.exp(grid[best_index])]
