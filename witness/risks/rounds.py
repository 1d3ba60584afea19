"""Choice of the rounds after which a run is measured."""

from __future__ import annotations

from typing import Literal

import numpy as np

Spacing = Literal["linear", "logarithmic"]


def measured_rounds(last: int, points: int, spacing: Spacing) -> tuple[int, ...]:
    """Choose the rounds after which the excess risk is measured: at most `points`, in ascending order.

    They include the last round, and the first one if `points` exceeds 1.

    Args:
        last: number of the last round.
        points: largest number of rounds. Rounding may leave fewer.
        spacing: equal differences (`linear`) or equal ratios (`logarithmic`) of rounds.

    Returns:
        Numbers of rounds from 1 to `last`.
    """
    if points == 1 or last == 1:
        return (last,)
    spaced = np.linspace(1.0, last, points)
    if spacing == "logarithmic":
        spaced = np.geomspace(1.0, last, points)
    rounds = {int(number) for number in np.rint(spaced)}
    return tuple(sorted(rounds | {1, last}))  # the first and the last, even if rounding shifts them
