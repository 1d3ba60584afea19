"""Ranges of numbers within which computed results neither vanish nor overflow."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """The range of a number, unless it is 0, within which computed results neither vanish nor overflow.

    It belongs to a quantity (`Quantity(scale=SQUARES)`). A request class may replace the scale of all its quantities
    that have a scale (`scale: ClassVar = RATIOS`). A field may have its own: `Annotated[Epsilon, SQUARES]`.

    Attributes:
        least: least allowed number.
        most: largest allowed number.
    """

    least: float
    most: float


SQUARES = Scale(1e-100, 1e100)
"""Range of numbers that are squared. A bound whose square underflowed would be 0, which is not a bound."""
RATIOS = Scale(1e-60, 1e60)
"""Range of numbers whose ratios are squared: ratios of two scales, or of a scale and a noise."""

ANY_SCALE = Scale(0.0, math.inf)
"""Range of a field whose formula is valid at any scale, regardless of the scale of its quantity elsewhere."""
