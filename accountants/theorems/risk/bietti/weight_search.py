"""Search for the weight of the shared part of a model that minimises a bound."""

from __future__ import annotations

import math
from collections.abc import Callable

from epsilond.accountants.numerics.minimum import golden_section


def grid_minima(bound: Callable[[float], float], low: float, high: float, intervals: int) -> list[float]:
    """Return two candidates for the argument α > 0 that minimises a function: a refined grid point, and that point.

    The grid is uniform in log α. A golden-section search between the two neighbours of its best point refines this
    point. The grid point is returned too, because the search may miss the minimum if there are several.

    Args:
        bound: the function of α, here a bound on the excess risk.
        low: smallest log α of the grid.
        high: largest log α of the grid, above `low`.
        intervals: number of intervals of the grid, at least 1.

    Returns:
        The refined α and the best α of the grid.
    """

    def bound_at_log(log_alpha: float) -> float:
        """Return the bound at the α of this natural logarithm."""
        return bound(math.exp(log_alpha))

    log_alphas = [low + (high - low) * index / intervals for index in range(intervals + 1)]
    values = [bound_at_log(log_alpha) for log_alpha in log_alphas]
    best_index = values.index(min(values))

    # Search between the neighbours of the best point; at an end of the grid, the point itself is a limit.
    left = log_alphas[max(best_index - 1, 0)]
    right = log_alphas[min(best_index + 1, intervals)]
    refined = golden_section(bound_at_log, left, right, width=0.0, most=24)
    return [math.exp(refined), math.exp(log_alphas[best_index])]
