"""Values of a decreasing function during the search for its root, from which the next point is chosen."""

from __future__ import annotations

import itertools
import math

JUMP = 1e-3
"""Rise between two values of a decreasing function, in log μ, that no numerical error of a narrow bound explains."""
SLOW, SLOW_STEPS = 0.3, 3
"""Share of the distance to the root that a step may leave, and number of values after which a search counts as slow."""


class RootEvaluations:
    """Values of a decreasing function during the search for its root, in the order of evaluation.

    The next point of the search is chosen from these values, and they show if the search is slow or the function not
    decreasing.
    """

    def __init__(self) -> None:
        self._points: list[tuple[float, float]] = []

    def add(self, point: float, value: float) -> float | None:
        """Store a value of the decreasing function, and return the slope of the chord to the previous value.

        Args:
            point: the point at which the function was evaluated.
            value: the function there.

        Returns:
            The slope, raised to −1e6 if it is steeper. None if the chord is flat or rises, so that it does not show
            where the root is, or if the previous value is at the same point or does not exist.
        """
        previous = self._points[-1] if self._points else None
        self._points.append((point, value))
        if previous is None:
            return None
        previous_point, previous_value = previous
        if previous_point == point:
            return None
        slope = (value - previous_value) / (point - previous_point)
        return max(slope, -1e6) if slope < -1e-3 else None

    @property
    def slow(self) -> bool:
        """True if exactly three values are known, all below 0, and each step left more than `SLOW` of the distance."""
        values = [value for _, value in self._points]
        if len(values) != SLOW_STEPS:
            return False
        return all(after < SLOW * before < 0.0 for before, after in itertools.pairwise(values))

    @property
    def jumps(self) -> bool:
        """True if the function rises by more than `JUMP` between two neighbouring points."""
        values = [value for _, value in sorted(self._points)]
        return any(after > before + JUMP for before, after in itertools.pairwise(values))

    @property
    def bracket(self) -> tuple[float, float] | None:
        """Two points between which the function falls to 0; None if there are no two such points.

        The second one is the least point with a value of at most 0. The first one is the nearest smaller point with a
        value above 0.
        """
        below = min((point for point, value in self._points if value <= 0.0), default=-math.inf)
        above = max((point for point, value in self._points if value > 0.0 and point < below), default=-math.inf)
        return (above, below) if above > -math.inf else None

    @property
    def nearest(self) -> float:
        """The point with the value nearest to 0."""
        nearest_point, _ = min(self._points, key=lambda pair: abs(pair[1]))
        return nearest_point

    def at(self, wanted: float, newton: float) -> float:
        """Estimate the point at which the function has a given value.

        Inverse quadratic interpolation of the last three points is used if it is close to Newton's step, and otherwise
        Newton's step. An estimate outside the known bracket is replaced by the middle of the bracket.

        Args:
            wanted: the value.
            newton: the point that Newton's step gives.

        Returns:
            The estimate, as the next point of the search.
        """
        estimate = newton
        interpolated = self._interpolate(wanted)
        if interpolated is not None:
            last_point, _ = self._points[-1]
            is_close_to_newton = abs(interpolated - newton) < 0.5 * abs(newton - last_point)
            estimate = interpolated if is_close_to_newton else newton

        # The points between which the function falls to the value.
        largest_above = max((point for point, value in self._points if value > wanted), default=-math.inf)
        least_below = min((point for point, value in self._points if value <= wanted), default=math.inf)
        is_bracket = largest_above < least_below and math.isfinite(least_below - largest_above)
        if is_bracket and not largest_above < estimate < least_below:
            return 0.5 * (largest_above + least_below)
        return estimate

    def _interpolate(self, wanted: float) -> float | None:
        """Estimate the point with a given value by inverse quadratic interpolation through the last three points.

        The polynomial of degree 2 that gives the point as a function of the value is evaluated by Newton's divided
        differences.

        Args:
            wanted: the value.

        Returns:
            The estimate. None if there are fewer than three points, if two of their values are equal, or if the
            estimate is not finite.
        """
        if len(self._points) < 3:
            return None
        (x0, f0), (x1, f1), (x2, f2) = self._points[-3:]
        if len({f0, f1, f2}) < 3:
            return None
        # First and second divided differences of the point as a function of the value.
        first_slope, second_slope = (x1 - x0) / (f1 - f0), (x2 - x1) / (f2 - f1)
        second_difference = (second_slope - first_slope) / (f2 - f0)
        estimate = x2 + (wanted - f2) * (second_slope + second_difference * (wanted - f1))
        return estimate if math.isfinite(estimate) else None
