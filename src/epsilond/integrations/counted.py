"""Composition of the parts of a run into one Spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from epsilond.accountants.specs import Composed, Repeated, Spec


def run_of(parts: Iterable[tuple[Spec, int]]) -> Spec | None:
    """Describe a composition of mechanisms, each run several times, as one spec.

    Runs of equal mechanisms are counted together, because the order does not change the guarantee of a composition. So
    a million equal steps become one repetition.

    Args:
        parts: each mechanism with its number of runs, at least 0. A mechanism may occur several times.

    Returns:
        The spec (description of a mechanism) of all runs together; None if there is no run.
    """
    counts: Counter[Spec] = Counter()
    for mechanism, count in parts:
        counts[mechanism] += count
    runs = [_repeat(mechanism, count) for mechanism, count in counts.items() if count > 0]
    if not runs:
        return None
    if len(runs) == 1:
        return runs[0]
    return Composed(mechanisms=tuple(runs))


def _repeat(mechanism: Spec, count: int) -> Spec:
    """Return the spec (description) of several runs of a mechanism; for one run, the mechanism itself.

    Args:
        mechanism: spec of one run.
        count: number of runs, at least 1.
    """
    if count == 1:
        return mechanism
    return Repeated(times=count, mechanism=mechanism)
