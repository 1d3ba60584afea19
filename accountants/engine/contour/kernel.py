"""The compiled kernel, module `epsilond._kernel`: asked first where it was built and agrees.

It follows this engine's first way, function by function and with the same errors charged, for T steps of one subsampled
Gaussian loss (kernel/src/kernel.h says why they cover its arithmetic), and answers None for all else. The environment
variable EPSILOND_KERNEL=off turns it off.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from epsilond.accountants.engine.contour.parts import SampledGaussian

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.engine.contour.parts import Parts

INTERFACE = 1
"""Of the kernel that this engine asks; one with another is left alone."""
_KEPT = 8
"""How many compositions a kernel's lines are kept for."""
_MOST_STEPS = 1 << 53
"""A count that is itself a double."""


class Steps(Protocol):
    """T steps of one loss. Each answer is None where the kernel refuses, and the Python path is to be asked."""

    def epsilon(self, log_delta: float, slack: float, /) -> tuple[float, float, float] | None:
        """As `composition.epsilon`: lower and upper bound, and the width of log δ behind them."""

    def log_delta(self, epsilon: float, /) -> tuple[float, float, float] | None:
        """As `composition.log_delta`: lower and upper bound, and their width."""

    def upper_log_delta(self, epsilon: float, enough: float, /) -> float | None:
        """As `composition.upper_log_delta`."""


MakeSteps: TypeAlias = "Callable[[float, float, int, int, int, int, float], Steps]"
"""From rate, shift, the exponents of the order, count and supremum."""


class _Module(Protocol):
    INTERFACE: int
    Steps: MakeSteps


_KNOWN = (
    ((0.01, 1.0, 1, 1, 0, 1000, math.inf), 2.12451517112012),
    ((0.01, 1.0, 0, -1, 0, 1000, 10.050335853501458), 1.58908876246488),
)
"""Steps, and their ε at δ = 10^−6 (tests/golden/accounting.json for the first, the lattice engine for both)."""
_LOG_DELTA, _APART = math.log(1e-6), 1e-11


@functools.cache
def loaded() -> MakeSteps | None:
    """What makes steps; None where there is no kernel, it is turned off, or it does not agree with what is known."""
    if os.environ.get("EPSILOND_KERNEL", "").lower() == "off":
        return None
    try:
        found = cast("_Module", importlib.import_module("epsilond._kernel"))
    except ImportError:
        return None
    return found.Steps if found.INTERFACE == INTERFACE and agrees(found.Steps) else None


def agrees(make: MakeSteps) -> bool:
    """Whether a kernel, with the mathematical library it is linked to, knows ε of a few questions as it should."""
    for steps, epsilon in _KNOWN:
        answer = make(*steps).epsilon(_LOG_DELTA, 0.0)
        if answer is None or not (epsilon * (1.0 - _APART) <= answer[0] <= answer[1] <= epsilon * (1.0 + _APART)):
            return False
    return True


@functools.lru_cache(maxsize=_KEPT)
def steps_of(parts: Parts) -> Steps | None:
    """What the kernel answers for a composition; None if that is not T steps of one loss, or there is no kernel."""
    make = loaded()
    if make is None or len(parts) != 1:
        return None
    (part,) = parts
    if not (isinstance(part, SampledGaussian) and part.loss.rate >= 1e-100 and part.count <= _MOST_STEPS):
        return None
    return make(part.loss.rate, part.loss.shift, *part.loss.exponents, part.count, parts.supremum)
