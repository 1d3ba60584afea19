"""Questions to the compiled kernel, which is asked first where there is one.

It follows the contour engine with the same errors charged, for T steps of one subsampled Gaussian loss;
kernel/src/kernel.h says why these cover its arithmetic. The functions here answer None for all else, and where there is
no kernel.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.numerics import compiled
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.numerics.compiled import Steps

loaded = compiled.loaded
_KEPT = 8
"""How many compositions a kernel's lines are kept for."""
_LEAST_RATE = 1e-100
_MOST_STEPS = 1 << 53
"""A count that is itself a double."""
_EXPONENTS: dict[Direction, tuple[int, int, int]] = {"remove": (1, 1, 0), "add": (0, -1, 0), "replace": (1, 1, -1)}
"""The first law's density is φ r^a, and the loss is b log r(x) + c log r(−x), r = 1 − q + q e^{sx − s²/2}."""


class KernelEnds(NamedTuple):
    """An enclosure, and the relative width of δ behind it."""

    ends: Interval
    width: float


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> KernelEnds | None:
    """Enclosure of log δ(ε) of a composition of laws with counts, ε in nats; None where the kernel refuses."""
    steps = _steps_of(tuple(laws))
    return None if steps is None else _answer(steps.log_delta(epsilon))


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, enough: float) -> float | None:
    """A Chernoff bound of log δ(ε), of the best tilt unless one at hand is at most `enough`; None where it refuses."""
    steps = _steps_of(tuple(laws))
    return None if steps is None else steps.upper_log_delta(epsilon, enough)


def epsilon(laws: Sequence[tuple[Law, int]], log_delta: float, slack: float) -> KernelEnds | None:
    """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, or None; `slack` as in `exact.epsilon`."""
    steps = _steps_of(tuple(laws)) if log_delta < 0.0 else None
    return None if steps is None else _answer(steps.epsilon(log_delta, slack))


def forget() -> None:
    """Forget what was loaded and laid."""
    loaded.cache_clear()
    _steps_of.cache_clear()


def _answer(found: tuple[float, float, float] | None) -> KernelEnds | None:
    return None if found is None else KernelEnds(Interval(found[0], found[1]), found[2])


@functools.lru_cache(maxsize=_KEPT)
def _steps_of(laws: tuple[tuple[Law, int], ...]) -> Steps | None:
    """What the kernel answers for a composition; None if that is not T steps of one loss, or there is no kernel."""
    make = loaded()
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    if make is None or len(counts) != 1:
        return None
    ((law, count),) = counts.items()
    if not (isinstance(law, SampledGaussianLaw) and _LEAST_RATE <= law.rate < 1.0 and law.shift > 0.0):
        return None
    if not 0 < count <= _MOST_STEPS:
        return None
    return make(law.rate, law.shift, *_EXPONENTS[law.direction], count, _supremum(law) * count)


def _supremum(law: SampledGaussianLaw) -> float:
    """The largest loss of one step, rounded up."""
    return -math.log1p(-law.rate) * (1.0 + 8 * UNIT_ROUNDOFF) if law.direction == "add" else math.inf
