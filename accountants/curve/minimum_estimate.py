"""Estimates of the minimum of h(t) = α e^t + E_γ(P‖Q), t = log γ, from values at some points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

LOSS = 1e-7
"""Largest loss of the rate from the distance of the points, relative to the rate."""
_WIDTHS_APART = 4.0
"""Least square of the distance of points, in natural distances, divided by the relative width of a value."""


class MinimumEstimate(NamedTuple):
    """An estimate of the minimum of h(t) = α e^t + E_γ(P‖Q), for t = log γ and a false positive rate α.

    E_γ is the hockey-stick divergence. The minimum is the true positive rate of the best test at the rate α. A search
    for it evaluates h at several points t.

    Attributes:
        minimiser: the t of the minimum.
        curvature: h″/h there, with the second derivative in t. At a small distance d, h exceeds the minimum by a
            fraction of about d² · curvature/2.
        value: estimate of the least value of h; NaN if there is none.
    """

    minimiser: float
    curvature: float
    value: float = math.nan

    def distance_of_points(self, width: float) -> float:
        """Return the distance in t = log γ between points at which the search should evaluate h next.

        Over this distance from the minimiser h rises by `_WIDTHS_APART`/2 widths of its bounds, or `LOSS`/2 if this is
        more, relative to h.

        Args:
            width: width of the bounds on h at a point, relative to h.

        Returns:
            The distance in t = log γ.
        """
        twice_rise = max(LOSS, _WIDTHS_APART * width)
        return math.sqrt(twice_rise / self.curvature)


def search_interval(log_gammas: Sequence[float], best: int) -> tuple[float, float]:
    """Return the interval of t = log γ in which the minimum of h is searched.

    h is γ α + E_γ, with the hockey-stick divergence E_γ and the false positive rate α. The interval reaches from one
    neighbour of the best point to the other, or less far towards an end of the range.

    Args:
        log_gammas: t of all points, increasing. The first and the last one are ends of the range, −∞ and log 1/α.
        best: index of the point with the least upper bound on h.

    Returns:
        The lower and the upper end of the interval.
    """
    low, here, high = log_gammas[best - 1 : best + 2]
    least_inner, largest_inner = log_gammas[1], log_gammas[-2]
    if low == -math.inf:
        # Go twice as far below the best point as known points reach above it, and at least 0.02. The factors here and
        # below are heuristic.
        low = here - 2.0 * max(largest_inner - here, 0.01)
    if best + 2 == len(log_gammas):
        # Go at most three times as far above the best point as known points reach below it.
        high = min(high, here + 3.0 * max(here - least_inner, 1e-9))
    return low, high
