"""The ways to a certificate, in the order in which they are tried.

They are the whole transform with few nodes, the transform with the noise cut off, with large steps marked, and the
whole transform with many nodes.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.keeping import kept
from epsilond.accountants.engine.contour.marking import can_be_marked, few_steps, marked_at
from epsilond.accountants.engine.contour.newton import newton
from epsilond.accountants.engine.contour.profile import shared
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceSteps
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, NodeBudget, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.engine.contour.transforms.transform import Part

DEFAULT_BUDGET = NodeBudget()
WIDEST = 1e-4
"""A relative width of δ beyond which an enclosure is refused."""
MOST_KEPT = 5
"""How many of what was found last are kept."""
QUICK = NodeBudget(noise_nodes=1 << 12, frequencies=1 << 11, products=1 << 20, products_each=1 << 17)
GOOD_WIDTH = 1e-6
"""A relative width of δ with which the search for a better way ends."""
LEAK = 19.0
"""What is cut off is e^−19 of δ."""
FINE_LEAK, COARSE_LEAK = 18.0, 11.0
"""What steps without a mark add is e^−18 of δ, or e^−11 where that is beyond the budget."""
MARKED = DEFAULT_BUDGET._replace(products=3 << 22)
"""The budget of the finer of the two."""
_MARKS, _FEW, _MANY = 3, 4, 128
_DEEPEST = -1e6

Value = TypeVar("Value")


class ValueWithWidth(NamedTuple, Generic[Value]):
    """What was found, and the relative width of δ behind it."""

    value: Value
    width: float


def best_of(
    attempt: Callable[[tuple[Part, ...], NodeBudget], ValueWithWidth[Value]],
    parts: tuple[Part, ...],
    target: saddle.SaddleTarget,
    budget: NodeBudget,
    widest: float,
    *,
    among_many: bool = False,
    quickly: bool = False,
) -> Value:
    """The first good answer, else the best one, if it is no wider than `widest`.

    `among_many` and `quickly` are as in `log_delta`.

    Raises:
        Refused: there is none; the reason is that of the last attempt.
    """
    best: ValueWithWidth[Value] | None = None
    refusal = RefusalReason.NO_TILT, ""
    ways: tuple[Callable[[], tuple[tuple[Part, ...], NodeBudget]], ...] = (
        lambda: (parts, smaller(QUICK, budget)),
        lambda: (_cut(parts, target, budget), budget),
        lambda: (parts, budget),
    )
    if any(isinstance(part, LaplaceSteps) for part in parts):
        ways = (ways[2],)  # a closed form has nothing to cut, and no quadrature to make smaller
    elif len(parts) > _FEW and not quickly:
        # To find out that nodes are too many for a small budget is as dear as to lay them; to cut many is dearer still.
        ways = (ways[2], ways[1]) if len(parts) <= _MANY else (ways[2],)
    if can_be_marked(parts):
        place = 1 if few_steps(parts) else 2
        fine, coarse = (
            functools.partial(_marked_among_many if among_many else _marked, parts, target, budget, leak, most)
            for leak, most in ((FINE_LEAK, MARKED), (COARSE_LEAK, budget))
        )
        ways = (*ways[:place], fine, *ways[place:], coarse)
    for way in ways[:1] if quickly else ways:
        try:
            answer = attempt(*way())
        except ContourRefused as refused:
            # Not the exception itself: it would hold this frame and all that the frame holds.
            refusal = refused.reason, refused.detail
            continue
        if best is None or answer.width < best.width:
            best = answer
        if best.width <= GOOD_WIDTH:
            break
    if best is None:
        raise ContourRefused(*refusal)
    if best.width > widest:
        reason = RefusalReason.TOO_WIDE if math.isfinite(best.width) else RefusalReason.NOT_POSITIVE
        raise ContourRefused(reason, f"relative width {best.width:.3g}")
    return best.value


@functools.cache
def smaller(first: NodeBudget, second: NodeBudget) -> NodeBudget:
    """Return the smaller of two budgets, number by number."""
    return NodeBudget(*map(min, first, second))


def _cut(parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget) -> tuple[Part, ...]:
    """The parts, with noise cut off where it holds e^−19 of δ; δ is estimated on what is left if it is not given."""
    if target.log_delta is not None:
        return _cut_at(parts, target.log_delta - LEAK)
    log_delta = -20.0
    for _ in range(MOST_KEPT):
        chosen = _cut_at(parts, log_delta - LEAK)
        found = saddle.find(chosen, target, budget).place.log_delta
        if abs(found - log_delta) < 1.0:
            break
        log_delta = found
    return chosen


def _marked(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """The composition less what it loses when no step is large, which leaks about e^−leak of δ, and the budget.

    Which steps are large depends on ε and δ; the one that is not given is estimated on what is left.

    Raises:
        Refused: nothing that leaks so little can be left out.
    """
    near = _near(parts, target, budget)
    chosen = marked_at(parts, near.epsilon, near.log_delta - leak)
    for _ in range(_MARKS):
        laid = shared((chosen,), saddle.find((chosen,), target, most).place, most)
        if target.epsilon is None:
            near = _Near(newton(laid, near.log_delta)[0], near.log_delta)
        else:
            near = _Near(near.epsilon, laid.estimate(near.epsilon)[0])
        before, chosen = chosen, marked_at(parts, near.epsilon, near.log_delta - leak)
        if chosen is before:  # so that a question for ε and one for δ there share their marks
            break
    return (chosen,), most


def _marked_among_many(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """The same, refused where it is at the next power of two: the smaller ε, the smaller losses matter.

    Raises:
        Refused: as `_marked`.
    """
    if target.epsilon is not None and 0.0 < target.epsilon < math.inf:
        _tried(parts, math.ldexp(1.0, math.frexp(target.epsilon)[1]), budget, leak, most)
    return _marked(parts, target, budget, leak, most)


@kept(MOST_KEPT)
def _tried(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget, leak: float, most: NodeBudget) -> None:
    _marked(parts, saddle.at_epsilon(epsilon), budget, leak, most)


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
