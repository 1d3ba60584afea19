"""Ranges that numbers keep, so that what is computed from them neither vanishes nor overflows."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """The range that a number keeps, unless it is 0, so that what is computed from it neither vanishes nor overflows.

    It belongs to a quantity (`Quantity(scale=SQUARES)`). A request class may give all its quantities that have one
    another (`scale: ClassVar = RATIOS`), and a field its own: `Annotated[Epsilon, SQUARES]`.
    """

    least: float
    most: float


SQUARES = Scale(1e-100, 1e100)
"""For what is squared: a bound whose square underflowed would be 0, which is no bound."""
RATIOS = Scale(1e-60, 1e60)
"""For what stands in ratios of two scales, or of a scale and a noise, that are squared."""

ANY_SCALE = Scale(0.0, math.inf)
"""For a field whose formula survives any scale, whatever the scale of its quantity elsewhere."""
