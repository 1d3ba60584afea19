"""The values that a search for a smallest one goes through: whole numbers of at most four digits that count."""

from __future__ import annotations

import math
from dataclasses import dataclass

DECADE = 9000
"""Numbers of four digits that count, from one power of ten to the next."""


@dataclass(frozen=True, kw_only=True)
class ValueGrid:
    """Values by their place: n at place n up to 10000, then in steps of 1e-3 to 1e-4 of themselves; times `unit`."""

    least: int
    most: int
    micro: bool = False
    """Whether values are millionths of what stands at a place: for what is no count."""

    def value(self, place: int) -> float | int:
        """The value at a place."""
        decades = max(0, (place - 1000) // DECADE)
        digits = place - decades * DECADE
        if self.micro:
            return float(f"{digits}e{decades - 6}")
        return int(str(digits) + "0" * decades)

    def place(self, value: float) -> int:
        """The place of the least value at or above, within the grid."""
        whole = max(math.ceil(value * 1e6 * (1 - 1e-12)) if self.micro else math.ceil(value), 1)
        decades = max(0, len(str(whole)) - 4)
        step = int(10**decades)
        digits = -(-whole // step)
        return min(max(digits + decades * DECADE, self.least), self.most)
