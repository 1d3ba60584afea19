"""Choice of the rounds after which a run is measured."""

from __future__ import annotations

from typing import Literal

import numpy as np

Spacing = Literal["linear", "logarithmic"]


def measured_rounds(last: int, points: int, spacing: Spacing) -> tuple[int, ...]:
    """Choose the rounds after which the excess risk is measured: at most `points`, in ascending order.

    They include the last round, and the first one if `points` is at least 2.

    Args:
        last: number of the last round, at least 1.
        points: largest number of measured rounds, at least 1.
        spacing: equal differences (`linear`) or equal ratios (`logarithmic`) between rounds, before they are rounded.

    Returns:
        Different numbers of rounds from 1 to `last`. They are fewer than `points` if some round to the same number.
    """
    if points == 1 or last == 1:
        return (last,)
    spaced = np.linspace(1.0, last, points)
    if spacing == "logarithmic":
        spaced = np.geomspace(1.0, last, points)
    rounds = {int(number) for number in np.rint(spaced)}
    # Powers in `geomspace` are rounded, but the first and the last round must be exact.
    return tuple(sorted(rounds | {1, last}))
