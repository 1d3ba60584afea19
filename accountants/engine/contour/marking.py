"""From which size on a step's loss is called large, for a question whose small losses alone cannot matter."""

from __future__ import annotations

import bisect
import math
from typing import TYPE_CHECKING

from epsilond.accountants.engine.contour.keeping import kept
from epsilond.accountants.engine.contour.parts import SampledGaussian
from epsilond.accountants.engine.contour.transforms.marked_step import MarkedStep, Onset
from epsilond.accountants.engine.contour.transforms.some_large import SomeLarge
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.transforms.transform import Part

_MOST_PARTS = 16
_BITS = 3
"""Powers of 2^(1/8) to which ε is rounded, so that neighbouring questions share what is marked."""
_SIZES = tuple(2.0 ** (-0.25 * k) for k in range(2, 34))
"""Sizes of a loss, in units of ε."""
_SOFTNESSES = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)
_KEPT = 8
_FEW_STEPS = 64
_RARE = 0.1
"""Expected number of steps that are sampled, below which there are as good as few."""


def log_leaks(parts: Sequence[Part], epsilon: float) -> list[float]:
    """log of what each part leaves out of δ(ε)."""
    return [part.log_leak_at(epsilon) if isinstance(part, SomeLarge) else part.log_leak for part in parts]


def can_be_marked(parts: Sequence[Part]) -> bool:
    """Whether all losses rise with the noise: to remove or to replace, a few different ones."""
    return len(parts) <= _MOST_PARTS and all(
        isinstance(part, SampledGaussian) and part.loss.exponents.right > 0 for part in parts
    )


def few_steps(parts: Sequence[Part]) -> bool:
    """Whether the transform's own decay or a cut is hardly worth a try before marks are."""
    if len(parts) != 1 or not isinstance(parts[0], SampledGaussian):
        return False
    return parts[0].count < _FEW_STEPS or parts[0].count * parts[0].loss.rate < _RARE


def marked_at(parts: Sequence[Part], epsilon: float, log_leak: float) -> SomeLarge:
    """The parts, their losses large from the largest size on with which small ones alone leak e^log_leak of δ at most.

    Law: neighbouring ε and leaks give the same.

    Raises:
        Refused: ε is not positive, or no size leaks so little.
    """
    if not 0.0 < epsilon < math.inf:
        raise ContourRefused(RefusalReason.NO_TILT, f"nothing is small beside epsilon {epsilon:.3g}")
    rounded = 2.0 ** math.ldexp(math.floor(math.ldexp(math.log2(epsilon), _BITS)), -_BITS)
    return _marked(tuple(parts), rounded, math.floor(log_leak))


@kept(_KEPT)
def _marked(parts: tuple[SampledGaussian, ...], epsilon: float, log_leak: int) -> SomeLarge:
    if _from_size(parts, epsilon, _SIZES[-1] * epsilon, _SOFTNESSES[-1]).log_leak_at(epsilon) > log_leak:
        raise ContourRefused(RefusalReason.NO_TILT, f"small losses alone exceed epsilon {epsilon:.3g}")
    best, widest, guess = None, 0.0, len(_SIZES) // 2
    for softness in _SOFTNESSES:
        marked = [_from_size(parts, epsilon, size * epsilon, softness) for size in _SIZES]
        count = bisect.bisect_left(marked, True, key=lambda one: _spread(one) <= widest)
        found = _first(marked[:count], guess, lambda one: one.log_leak_at(epsilon) <= log_leak)
        if found < count:
            best, guess = marked[found], found
            widest = _spread(best)
    if best is None:
        raise ContourRefused(RefusalReason.NO_TILT, f"small losses alone exceed epsilon {epsilon:.3g}")
    return best


def _spread(marked: SomeLarge) -> float:
    """The least of its steps; smaller with smaller sizes."""
    return min(step.onset.spread(step.loss) for step in marked.steps)


def _first(candidates: Sequence[SomeLarge], guess: int, passes: Callable[[SomeLarge], bool]) -> int:
    """The first place that passes, as all after it do, or their number if none does. Sought around a guess."""
    if not candidates or not passes(candidates[-1]):
        return len(candidates)
    low, high, step = -1, len(candidates) - 1, 1  # high passes, low does not
    place = guess
    while high - low > 1:
        place = min(max(place, low + 1), high - 1)
        if passes(candidates[place]):
            high, place = place, place - step
        else:
            low, place = place, place + step
        step *= 2
        if low >= 0 and high < len(candidates) - 1:
            place = (low + high) // 2
    return high


def _from_size(parts: Sequence[SampledGaussian], epsilon: float, size: float, softness: float) -> SomeLarge:
    steps = (MarkedStep(part.loss, part.count, Onset.at_loss(part.loss, size, softness)) for part in parts)
    return SomeLarge(tuple(steps), epsilon)
