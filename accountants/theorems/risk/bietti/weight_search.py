"""Search for the weight of the shared part of a model that minimises a bound."""

from __future__ import annotations

import math
from collections.abc import Callable

from epsilond.accountants.numerics.minimum import golden_section


def grid_minima(bound: Callable[[float], float], low: float, high: float, intervals: int) -> list[float]:
    """Find two candidates for the argument α > 0 that minimises a function, from a grid that is uniform in log α.

    The first candidate is the result of a golden-section search between the two neighbours of the best grid point. The
    second is that grid point, because the search may end at a larger value if there are several minima.

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

    # At an end of the grid, the best point itself is one limit of the search.
    left = log_alphas[max(best_index - 1, 0)]
    right = log_alphas[min(best_index + 1, intervals)]
    steps = 24  # they shorten the interval by a factor of about 1e-5
    refined = golden_section(bound_at_log, left, right, width=0.0, most=steps)
    return [math.exp(refined), math.exp(log_alphas[best_index])]
