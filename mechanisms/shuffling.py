"""The shuffler's part: reports passed on in a uniformly random order, and nothing else of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from epsilond.mechanisms.randomness import RandomSource, secure

Report = TypeVar("Report")


def shuffled(reports: Sequence[Report], source: RandomSource | None = None) -> list[Report]:
    """The reports in any order with equal probability: the operating system's choice, unless a source is given.

    A report that says itself who sent it is not hidden by any order.
    """
    order = (source or secure()).permutations((), len(reports))
    return [reports[place] for place in order.tolist()]
