"""Composition of the parts of a run into one Spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from epsilond.accountants.specs import Composed, Repeated, Spec


def run_of(parts: Iterable[tuple[Spec, int]]) -> Spec | None:
    """Return the description (spec) of a whole run: the composition of mechanisms, each run several times.

    Equal mechanisms are counted together, because the order does not change the guarantee of a composition. A million
    equal steps thus become one repetition.

    Args:
        parts: each mechanism with its number of runs, at least 0. A mechanism may occur several times.

    Returns:
        The spec of all runs; None if there is no run.
    """
    counts: Counter[Spec] = Counter()
    for mechanism, times in parts:
        counts[mechanism] += times
    runs = [_repeat(mechanism, times) for mechanism, times in counts.items() if times > 0]
    if not runs:
        return None
    if len(runs) == 1:
        return runs[0]
    return Composed(mechanisms=tuple(runs))


def _repeat(mechanism: Spec, times: int) -> Spec:
    """Return the description (spec) of several runs of a mechanism.

    Args:
        mechanism: spec of one run.
        times: number of runs, at least 1.

    Returns:
        The mechanism itself for one run; otherwise a spec with the mechanism and the number of runs.
    """
    if times == 1:
        return mechanism
    return Repeated(times=times, mechanism=mechanism)
