"""Parts of a run, put together as one Spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from epsilond.accountants.specs import Composed, Repeated, Spec


def run_of(parts: Iterable[tuple[Spec, int]]) -> Spec | None:
    """Every part as often as it was run; None if nothing was run at all.

    Parts that are equal are counted together. What is certified of a composition holds in any order, so that a ledger
    of a million equal steps is one power.
    """
    counted: Counter[Spec] = Counter()
    for part, times in parts:
        counted[part] += times
    runs = [part if times == 1 else Repeated(times=times, mechanism=part) for part, times in counted.items() if times]
    if not runs:
        return None
    return runs[0] if len(runs) == 1 else Composed(mechanisms=tuple(runs))
