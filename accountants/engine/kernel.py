"""The compiled kernel, module `epsilond._kernel`: asked first where it was built and agrees.

It follows docs/engine-certificate.md with the same errors charged as the contour engine; kernel/src/kernel.h says why
these cover its arithmetic. Every function answers None where the kernel refuses, and where there is none. It is turned
off by the environment variable EPSILOND_KERNEL=off.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import Direction, GaussianLaw, LaplaceLaw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law

INTERFACE = 2
"""Of the kernel that is asked; one with another is left alone."""
_KEPT = 8
"""How many compositions are kept, with what was computed for them: a few megabytes for a thousand kinds of steps."""
_ORDERS: dict[Direction, int] = {"remove": 0, "add": 1, "replace": 2}
"""As the kernel numbers them."""

SampledSteps: TypeAlias = tuple[float, float, int, float]
"""Rate, shift, order and count of steps of one kind."""


class KernelEnds(NamedTuple):
    """An enclosure, and the relative width of δ behind it."""

    ends: Interval
    width: float


class KernelTest(NamedTuple):
    """About the ε at which a test has a size, the relative width of δ there, and about |d log Q(S > ε)/dε|."""

    epsilon: float
    width: float
    steepness: float


class KernelSum(Protocol):
    """A composition in the kernel. Each answer is None where it refuses."""

    def epsilon(self, log_delta: float, slack: float, /) -> tuple[float, float, float] | None:
        """Lower and upper bound of ε, and the width of log δ behind them."""

    def log_delta(self, epsilon: float, /) -> tuple[float, float, float] | None:
        """Lower and upper bound of log δ, and their width."""

    def upper_log_delta(self, epsilon: float, enough: float, /) -> float | None:
        """A Chernoff bound of log δ."""

    def threshold(self, log_size: float, /) -> tuple[float, float, float] | None:
        """The three numbers of a `KernelTest`."""


MakeSum: TypeAlias = "Callable[[tuple[SampledSteps, ...], float, tuple[tuple[float, float], ...]], KernelSum]"
"""From sampled steps, the square of the Gaussian shift of all others, and Laplace shifts with their counts."""


class _Module(Protocol):
    INTERFACE: int
    Composition: MakeSum


_KNOWN: tuple[tuple[tuple[tuple[SampledSteps, ...], float, tuple[tuple[float, float], ...]], float], ...] = (
    ((((0.01, 1.0, 0, 1000.0),), 0.0, ()), 2.12451517112012),
    ((((0.01, 1.0, 1, 1000.0),), 0.0, ()), 1.58908876246488),
)
"""Compositions, and their ε at δ = 10^−6 (tests/golden/accounting.json for the first, the lattice engine for both)."""
_LOG_DELTA, _APART = math.log(1e-6), 1e-11


@functools.cache
def loaded() -> MakeSum | None:
    """What makes sums; None where there is no kernel, it is turned off, or it does not agree with what is known."""
    if os.environ.get("EPSILOND_KERNEL", "").lower() == "off":
        return None
    try:
        found = cast("_Module", importlib.import_module("epsilond._kernel"))
    except ImportError:
        return None
    return found.Composition if found.INTERFACE == INTERFACE and agrees(found.Composition) else None


def agrees(make: MakeSum) -> bool:
    """Whether a kernel, with the mathematical library it is linked to, knows ε of a few questions as it should."""
    for composition, known in _KNOWN:
        answer = make(*composition).epsilon(_LOG_DELTA, 0.0)
        if answer is None or not (known * (1.0 - _APART) <= answer[0] <= answer[1] <= known * (1.0 + _APART)):
            return False
    return True


def log_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> KernelEnds | None:
    """Enclosure of log δ(ε) of a composition of laws with counts, ε in nats and of any sign."""
    composed = _sum_of(tuple(laws))
    return None if composed is None else _ends(composed.log_delta(epsilon))


def upper_log_delta(laws: Sequence[tuple[Law, int]], epsilon: float, enough: float) -> float | None:
    """A Chernoff bound of log δ(ε), of the best tilt unless one at hand is at most `enough`."""
    composed = _sum_of(tuple(laws))
    return None if composed is None else composed.upper_log_delta(epsilon, enough)


def epsilon(laws: Sequence[tuple[Law, int]], log_delta: float, slack: float) -> KernelEnds | None:
    """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; `slack` as in `exact.epsilon`."""
    composed = _sum_of(tuple(laws))
    return None if composed is None else _ends(composed.epsilon(log_delta, slack))


def threshold(laws: Sequence[tuple[Law, int]], log_size: float) -> KernelTest | None:
    """About where the test S > ε has the size e^`log_size` under the second law, ε of any sign."""
    composed = _sum_of(tuple(laws))
    found = None if composed is None else composed.threshold(log_size)
    return None if found is None else KernelTest(*found)


def forget() -> None:
    """Forget what was loaded and computed."""
    loaded.cache_clear()
    _sum_of.cache_clear()


def _ends(found: tuple[float, float, float] | None) -> KernelEnds | None:
    return None if found is None else KernelEnds(Interval(found[0], found[1]), found[2])


@functools.lru_cache(maxsize=_KEPT)
def _sum_of(laws: tuple[tuple[Law, int], ...]) -> KernelSum | None:
    """The composition in the kernel; None if it has no loss, or is out of the kernel's range, or there is no kernel."""
    make = loaded()
    if make is None:
        return None
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    steps: list[SampledSteps] = []
    squares: list[float] = []
    laplace: list[tuple[float, float]] = []
    for law, count in counts.items():
        if count <= 0 or law.is_silent:
            continue
        if isinstance(law, LaplaceLaw):
            laplace.append((law.shift, float(count)))
        elif isinstance(law, GaussianLaw) or law.rate == 1.0:
            squares.append(count * law.distance * law.distance)
        else:
            steps.append((law.rate, law.shift, _ORDERS[law.direction], float(count)))
    try:
        return make(tuple(steps), math.fsum(squares), tuple(laplace))
    except (OverflowError, ValueError):
        return None
