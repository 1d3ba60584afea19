"""After which rounds a run is measured."""

from __future__ import annotations

from typing import Literal

import numpy as np

Spacing = Literal["linear", "logarithmic"]


def measured_rounds(last: int, points: int, spacing: Spacing) -> tuple[int, ...]:
    """At most `points` distinct rounds, ascending, from the first (if there is room) to the last.

    Evenly apart, or by even ratios; rounding may leave fewer.
    """
    if points == 1 or last == 1:
        return (last,)
    even = np.linspace(1.0, last, points) if spacing == "linear" else np.geomspace(1.0, last, points)
    return tuple(sorted({*(int(each) for each in np.rint(even)), 1, last}))
