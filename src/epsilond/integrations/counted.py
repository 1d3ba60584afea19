"""Composition of the parts of a run into one Spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from epsilond.accountants.specs import Composed, Repeated, Spec


def run_of(parts: Iterable[tuple[Spec, int]]) -> Spec | None:
    """Return the composition of mechanisms, each with its number of runs; None if there is no run.

    Equal mechanisms are counted together, because the certified curve of a composition does not depend on the order. A
    million equal steps are then one repetition.
    """
    counts: Counter[Spec] = Counter()
    for part, times in parts:
        counts[part] += times
    runs: list[Spec] = []
    for part, times in counts.items():
        if times == 1:
            runs.append(part)
        elif times > 1:
            runs.append(Repeated(times=times, mechanism=part))
    if not runs:
        return None
    return runs[0] if len(runs) == 1 else Composed(mechanisms=tuple(runs))
