"""The shuffler, which passes reports on in a uniformly random order and removes nothing else from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from epsilond.mechanisms.randomness import RandomSource, secure

Report = TypeVar("Report")


def shuffled(reports: Sequence[Report], source: RandomSource | None = None) -> list[Report]:
    """Return the reports in a uniformly random order.

    Args:
        reports: the reports. A report that names its sender is not hidden by any order.
        source: source of the random bits; the operating system if None.

    Returns:
        The same reports. All orders have equal probability.
    """
    bits = source or secure()
    order = bits.permutations((), len(reports))
    return [reports[index] for index in order.tolist()]
