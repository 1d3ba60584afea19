"""Ranges that numbers keep, so that what is computed from them neither vanishes nor overflows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.errors import Fault


@dataclass(frozen=True)
class Scale:
    """The range that a number keeps, unless it is 0, so that what is computed from it neither vanishes nor overflows.

    It belongs to a quantity (`Quantity(scale=SQUARES)`). A request class may give all its quantities that have one
    another (`scale: ClassVar = RATIOS`), and a field its own: `Annotated[Epsilon, SQUARES]`.
    """

    least: float
    most: float

    def fault(self, pointer: str, value: float | None) -> Fault | None:
        """The fault of a value outside the range, at `pointer`."""
        if not value or self.least <= value <= self.most:
            return None
        message = "is outside the range that squares survive; choose other units"
        return Fault(pointer, message, f"≥ {self.least:g} and ≤ {self.most:g}")


SQUARES = Scale(1e-100, 1e100)
"""For what is squared: a bound whose square underflowed would be 0, which is no bound."""
RATIOS = Scale(1e-60, 1e60)
"""For what stands in ratios of two scales, or of a scale and a noise, that are squared."""

ANY_SCALE = Scale(0.0, math.inf)
"""For a field whose formula survives any scale, whatever the scale of its quantity elsewhere."""
