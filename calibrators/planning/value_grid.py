"""A grid of trial values with four significant digits, for searches of counts and of ε."""

from __future__ import annotations

import math
from dataclasses import dataclass

DECADE = 9000
"""Number of grid values from one power of ten to the next: those with four significant digits."""
ROUNDING = 1e-12
"""Relative excess over a grid value that counts as rounding."""


@dataclass(frozen=True, kw_only=True)
class ValueGrid:
    """A grid of trial values with at most four significant digits, which integers index.

    The value at index n is n up to 10000. Above that, adjacent values differ by a relative 1e-4 to 1e-3.

    Attributes:
        least: smallest index.
        most: largest index.
        micro: whether values are millionths of those at an index; used for a quantity that is not a count.
    """

    least: int
    most: int
    micro: bool = False

    def value(self, index: int) -> float | int:
        """Return the value at an index: a float for a grid in millionths, an integer otherwise.

        Indices 1000 to 9999 have the values 1000 to 9999. Each further power of ten has `DECADE` indices.

        Args:
            index: an index of the grid.

        Returns:
            The value, in the unit of the quantity.
        """
        # From index 1000 on, every `DECADE` indices lead to values that are ten times as large.
        decades = max(0, (index - 1000) // DECADE)
        digits = index - decades * DECADE
        if self.micro:
            return float(f"{digits}e{decades - 6}")
        return int(str(digits) + "0" * decades)

    def index_of(self, value: float) -> int:
        """Return the index of the least grid value that is at least a given one, limited to the grid.

        Args:
            value: the given value, in the unit of the quantity.

        Returns:
            The index, from `least` to `most`.
        """
        # In millionths, a value that exceeds a grid value by no more than rounding gets that value's index.
        units = math.ceil(value * 1e6 * (1 - ROUNDING)) if self.micro else math.ceil(value)
        units = max(units, 1)
        # A grid value has four significant digits, and `decades` zeros after them.
        decades = max(0, len(str(units)) - 4)
        step = int(10**decades)
        digits = -(-units // step)  # rounded up
        return min(max(digits + decades * DECADE, self.least), self.most)
