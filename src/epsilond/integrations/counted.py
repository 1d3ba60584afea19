"""Composition of the parts of a run into one Spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from epsilond.accountants.specs import Composed, Repeated, Spec


def run_of(parts: Iterable[tuple[Spec, int]]) -> Spec | None:
    """Return the composition of parts, each with its number of runs; None if there is no run.

    Equal parts are counted together: the certified curve of a composition does not depend on the order of its parts,
    so a million equal steps are one power.
    """
    counts: Counter[Spec] = Counter()
    for part, times in parts:
        counts[part] += times
    runs = [part if times == 1 else Repeated(times=times, mechanism=part) for part, times in counts.items() if times]
    if not runs:
        return None
    return runs[0] if len(runs) == 1 else Composed(mechanisms=tuple(runs))
