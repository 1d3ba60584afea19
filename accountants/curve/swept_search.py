"""The search for ε(δ) of profiles that are evaluated at many ε at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, SMALL_EPSILON, Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.enclosure import Enclosure
    from epsilond.accountants.numerics.special import FloatArray

_SWEPT_FIRST = np.concatenate([[0.0], SMALL_EPSILON * 3.0 ** np.arange(38.0), [LARGEST_EPSILON]])
"""Points of the first sweep, in nats, over all scales."""
_EVEN_SHARES = np.arange(1.0, 16.0) / 16.0
"""Evenly spaced points of a sweep, as shares of the bracket."""
_AROUND = np.concatenate([-(8.0 ** -np.arange(1.0, 16.0)), 8.0 ** -np.arange(1.0, 16.0)])
"""Geometrically spaced offsets of points from an interpolated root, as shares of the bracket."""
_MOST_SWEEPS = 12
"""Limit on the sweeps. A sweep narrows the bracket sixteenfold or more, unless the bounds are too wide for it."""


def swept_epsilon(read: Callable[[FloatArray], Enclosure], log_delta: float) -> Interval | None:
    """Enclose the smallest ε that meets a target δ by evaluations at many ε at once.

    Each such evaluation, a sweep, narrows a bracket. The bracket runs from the largest ε with a lower bound above the
    target to the smallest ε with an upper bound of at most the target. The points of the next sweep are spaced evenly
    over the bracket, and geometrically around an interpolated root.

    Args:
        read: function from an array of ε to bounds on log δ.
        log_delta: the target log δ, natural logarithm.

    Returns:
        The bounds on ε in nats; None if the bounds on log δ are too wide for a narrow enclosure.
    """
    points = _SWEPT_FIRST
    previous_bracket = (math.nan, math.nan)
    for _ in range(_MOST_SWEEPS):
        bounds = read(points)
        above = np.flatnonzero(bounds.lower > log_delta)
        below = np.flatnonzero(bounds.upper <= log_delta)
        # The first sweep includes ε = 0, so the target is met there too.
        if below.size == points.size:
            return Interval(0.0, 0.0)
        if above.size == 0:
            return None
        last_above = int(above[-1])
        low = float(points[last_above])
        # If the target is met at no point, only a lower bound is known.
        if below.size == 0:
            return Interval(low, math.inf)
        first_below = int(below[0])
        high = float(points[first_below])

        width = high - low
        if 0.0 < width <= 1e-10 * high:
            return Interval(low, high)
        if width <= 0.0 or (low, high) == previous_bracket:
            return None
        previous_bracket = low, high
        root_share = _root_share(bounds, last_above, first_below, log_delta)
        points = _points_of_sweep(low, high, root_share)
    return None


def _root_share(bounds: Enclosure, low: int, high: int, log_delta: float) -> float:
    """Return the position of a root between two points, as a fraction of their distance.

    log δ is interpolated linearly between the points.

    Args:
        bounds: bounds on log δ at all points.
        low: index of the point with log δ above the target.
        high: index of the point with log δ at most the target.
        log_delta: the target log δ, natural logarithm.

    Returns:
        The fraction, in [0, 1]; 1/2 if log δ is −∞ at the second point.
    """
    # log δ is about the middle of its bounds.
    at_low, at_high = (0.5 * float(bounds.lower[k] + bounds.upper[k]) for k in (low, high))
    if not -math.inf < at_high < at_low:
        return 0.5
    return (at_low - log_delta) / (at_low - at_high)


def _points_of_sweep(low: float, high: float, root_share: float) -> FloatArray:
    """Return the points of a sweep: evenly spaced over a bracket, and geometrically around a root.

    Args:
        low: lower end of the bracket.
        high: upper end of the bracket.
        root_share: position of the interpolated root, as a share of the bracket.

    Returns:
        Increasing ε in nats, with both ends of the bracket.
    """
    points = low + (high - low) * np.concatenate([_EVEN_SHARES, root_share + _AROUND])
    inside = points[(points > low) & (points < high)]
    return np.unique(np.concatenate([[low], inside, [high]]))
