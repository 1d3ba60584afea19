"""Inverse interpolation through the values that a root search has evaluated."""

from __future__ import annotations

import itertools
import math

SLOW, SLOW_STEPS = 0.3, 3
"""What share of a distance a step should leave, and after how many that leave more the least offered is tried."""


class RootEvaluations:
    """Values of a falling function on the way to its root, in the order of evaluation."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float]] = []

    def add(self, place: float, value: float) -> float | None:
        """Note a value; the slope from the one before, None where it does not fall."""
        before = self._points[-1] if self._points else None
        self._points.append((place, value))
        if before is None or before[0] == place:
            return None
        slope = (value - before[1]) / (place - before[0])
        return max(slope, -1e6) if slope < -1e-3 else None

    @property
    def slow(self) -> bool:
        """Whether just the third value in a row is below 0, each step having brought it less closer than was hoped."""
        values = [value for _, value in self._points]
        return len(values) == SLOW_STEPS and all(
            after < SLOW * before < 0.0 for before, after in itertools.pairwise(values)
        )

    def at(self, wanted: float, newton: float) -> float:
        """Where the function is likely to be `wanted`: by inverse interpolation in three points, or Newton's step.

        Between a place known to be above and one known to be below it is kept, by bisection.
        """
        place = newton
        last = self._points[-3:]
        values = [value for _, value in last]
        if len(last) == 3 and len(set(values)) == 3:
            (x0, x1, x2), (f0, f1, f2) = zip(*last, strict=True)
            first, second = (x1 - x0) / (f1 - f0), (x2 - x1) / (f2 - f1)
            bend = (second - first) / (f2 - f0)
            curved = x2 + (wanted - f2) * (second + bend * (wanted - f1))
            if math.isfinite(curved) and abs(curved - newton) < 0.5 * abs(newton - x2):
                place = curved
        above = max((x for x, value in self._points if value > wanted), default=-math.inf)
        below = min((x for x, value in self._points if value <= wanted), default=math.inf)
        if above < below and math.isfinite(below - above) and not above < place < below:
            return 0.5 * (above + below)
        return place
