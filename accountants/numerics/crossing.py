"""ε(δ) where an evaluation is dear: a search that starts where an estimate points, and ends that are certified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable

_RELATIVE, _ABSOLUTE = 1e-10, 1e-15
_FIRST_STEP = 1e-6
_GROWTH = 3.0
_PADS = 6
_FAR = 50.0
"""Values further from the target than this tell the search no more than their side."""


class Guess(NamedTuple):
    """About where log δ is as asked, and about |d log δ/dε| there."""

    epsilon: float
    steepness: float


class Crossing(NamedTuple):
    """The largest ε found above the target (0 if none), and the smallest found at or below it (math.inf if none)."""

    above: float
    below: float


def crossing(end: Callable[[float], float], log_delta: float, guess: Guess) -> Crossing:
    """Find the two sides of the ε ≥ 0 at which a bound of log δ(ε) crosses a target.

    Args:
        end: the bound of log δ at an ε ≥ 0.
        log_delta: the target.
        guess: initial estimate of ε, and of the slope there.

    Guarantees: each returned ε is at least 0, has itself been evaluated, and is on its side of the target. The
    exception is the 0 that is returned if no ε is above the target. The two differ by a relative 1e-10 where the bound
    falls.
    """
    found: dict[float, float] = {}

    def excess(epsilon: float) -> float:
        if epsilon not in found:
            found[epsilon] = min(max(end(epsilon) - log_delta, -_FAR), _FAR)
        return found[epsilon]

    bracket = _bracket(excess, guess)
    if bracket is not None:
        from scipy.optimize import brentq  # noqa: PLC0415  a quarter of a second of imports, for a search alone

        # brentq leaves the function it is given in a reference cycle: it must hold nothing.
        root = brentq(_signed, *bracket, args=(excess,), xtol=_ABSOLUTE, rtol=_RELATIVE)
        # The root may have been approached from one side only.
        for side in (-1.0, 1.0):
            excess(max(root + side * (_RELATIVE * root + _ABSOLUTE), 0.0))
    return Crossing(
        max((epsilon for epsilon, value in found.items() if value > 0.0), default=0.0),
        min((epsilon for epsilon, value in found.items() if value <= 0.0), default=math.inf),
    )


def _signed(epsilon: float, excess: Callable[[float], float]) -> float:
    """The excess, but that of exactly the target as below it: it may be a plateau, whose left end is wanted."""
    return excess(epsilon) or -1.0


def _bracket(excess: Callable[[float], float], guess: Guess) -> tuple[float, float] | None:
    """Two ε on either side of the target, or None if there are none."""
    here = min(max(guess.epsilon, 0.0), LARGEST_EPSILON)
    value = excess(here)
    forward = value > 0.0
    step = 1.5 * abs(value) / max(guess.steepness, 1e-9) + _FIRST_STEP * max(here, 1e-6)
    while here < LARGEST_EPSILON if forward else here > 0.0:
        there = min(here + step, LARGEST_EPSILON) if forward else max(here - step, 0.0)
        if (excess(there) > 0.0) != forward:
            return (here, there) if forward else (there, here)
        here, step = there, _GROWTH * step
    return None


def closest(end: Callable[[float], float], log_delta: float, guess: Guess, pad: float) -> float | None:
    """The first of ε + pad, ε + 4 pad, ε + 16 pad, … at which an end has crossed the target; None if none has.

    A positive pad looks for an end at or below the target, a negative one for an end above it.
    """
    for _ in range(_PADS):
        epsilon = guess.epsilon + pad
        if epsilon < 0.0:
            return None
        if (end(epsilon) <= log_delta) == (pad > 0.0):
            return epsilon
        pad *= 4.0
    return None
