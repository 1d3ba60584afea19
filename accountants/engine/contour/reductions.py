"""Reduced compositions, evaluated in place of the whole one: with the noise cut off, or with large steps marked.

What is left out leaks a small share of δ, which is charged. A step is large from some size of its loss on. The reduced
composition with marks is the whole one less what it loses when no step is large. It serves questions for which small
losses without a large one cannot matter.
"""

from __future__ import annotations

import bisect
import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.parts import SampledGaussian
from epsilond.accountants.engine.contour.profile import shared
from epsilond.accountants.engine.contour.transforms.marked_step import MarkedStep, Onset
from epsilond.accountants.engine.contour.transforms.some_large import SomeLarge
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, NodeBudget, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.transforms.transform import Part

MOST_KEPT = 5
"""Limit on the reduced compositions of one kind that are kept."""
LEAK = 19.0
"""What is cut off is e^−19 of δ."""
_MARKS = 3
_DEEPEST = -1e6
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


def cut_noise(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """Return the parts with noise cut off where it holds e^−19 of δ, and the budget.

    δ is estimated on what is left if it is not given.

    Args:
        parts: the whole composition.
        target: the ε or the log δ of the question.
        budget: the budget of the estimate, which is returned.
    """
    if target.log_delta is not None:
        return _cut_at(parts, target.log_delta - LEAK), budget
    log_delta = -20.0
    for _ in range(MOST_KEPT):
        chosen = _cut_at(parts, log_delta - LEAK)
        estimate = saddle.find(chosen, target, budget).place.log_delta
        if abs(estimate - log_delta) < 1.0:
            break
        log_delta = estimate
    return chosen, budget


def mark_steps(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """The composition less what it loses when no step is large, which leaks about e^−leak of δ, and the budget.

    Which steps are large depends on ε and δ; the one that is not given is estimated on what is left.

    Raises:
        ContourRefused: nothing that leaks so little can be left out.
    """
    near = _near(parts, target, budget)
    chosen = marked_at(parts, near.epsilon, near.log_delta - leak)
    for _ in range(_MARKS):
        laid = shared((chosen,), saddle.find((chosen,), target, most).place, most)
        if target.epsilon is None:
            near = _Near(laid.root(near.log_delta)[0], near.log_delta)
        else:
            near = _Near(near.epsilon, laid.estimate(near.epsilon)[0])
        before, chosen = chosen, marked_at(parts, near.epsilon, near.log_delta - leak)
        if chosen is before:  # so that a question for ε and one for δ there share their marks
            break
    return (chosen,), most


def mark_steps_among_many(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """The same, refused where it is at the next power of two: the smaller ε, the smaller losses matter.

    Raises:
        ContourRefused: as `mark_steps`.
    """
    if target.epsilon is not None and 0.0 < target.epsilon < math.inf:
        next_power = math.ldexp(1.0, math.frexp(target.epsilon)[1])
        refusal = _refusal_of_marks(parts, next_power, budget, leak, most)
        if refusal is not None:
            raise ContourRefused(*refusal)
    return mark_steps(parts, target, budget, leak, most)


@functools.lru_cache(maxsize=MOST_KEPT)
def _refusal_of_marks(
    parts: tuple[Part, ...], epsilon: float, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[RefusalReason, str] | None:
    """Return why no step can be marked for an ε; None if steps can be."""
    try:
        mark_steps(parts, saddle.at_epsilon(epsilon), budget, leak, most)
    except ContourRefused as refused:
        return refused.reason, refused.detail
    return None


class _Near(NamedTuple):
    """About where the question lies."""

    epsilon: float
    log_delta: float


def _near(parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget) -> _Near:
    """By the saddle of the whole composition, with what is asked in place of its estimate."""
    place = saddle.find(parts, target, budget).place
    return _Near(
        place.epsilon if target.epsilon is None else target.epsilon,
        place.log_delta if target.log_delta is None else target.log_delta,
    )


def _cut_at(parts: tuple[Part, ...], log_leak: float) -> tuple[Part, ...]:
    """At a whole number of nats, so that neighbouring questions share what is cut."""
    return _cut_once(parts, math.floor(max(log_leak - math.log(len(parts)), _DEEPEST)))


@functools.lru_cache(maxsize=MOST_KEPT)
def _cut_once(parts: tuple[Part, ...], log_leak: int) -> tuple[Part, ...]:
    return tuple(part.cut_at(float(log_leak)) for part in parts)


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
        ContourRefused: ε is not positive, or no size leaks so little.
    """
    if not 0.0 < epsilon < math.inf:
        raise ContourRefused(RefusalReason.NO_TILT, f"nothing is small beside epsilon {epsilon:.3g}")
    rounded = 2.0 ** math.ldexp(math.floor(math.ldexp(math.log2(epsilon), _BITS)), -_BITS)
    return _mark_at(tuple(parts), rounded, math.floor(log_leak))


@functools.lru_cache(maxsize=_KEPT)
def _mark_at(parts: tuple[SampledGaussian, ...], epsilon: float, log_leak: int) -> SomeLarge:
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
