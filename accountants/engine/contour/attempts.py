"""In which order ways to a certificate are tried: the whole transform with few nodes, with the noise cut, with many."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.refusal import Reason, Refused
from epsilond.accountants.engine.contour.transforms.transform import NodeBudget

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.engine.contour.transforms.transform import Part

QUICK = NodeBudget(noise_nodes=1 << 12, frequencies=1 << 11, products=1 << 18, products_each=1 << 17)
GOOD_WIDTH = 1e-6
"""A relative width of δ with which the search for a better way ends."""
LEAK = 19.0
"""What is cut off is e^−19 of δ."""
_CUTS, _FEW = 5, 4
_DEEPEST = -1e6

Value = TypeVar("Value")


class Answer(NamedTuple, Generic[Value]):
    """What was found, and the relative width of δ behind it."""

    value: Value
    width: float


def best_of(
    attempt: Callable[[tuple[Part, ...], NodeBudget], Answer[Value]],
    parts: tuple[Part, ...],
    target: saddle.Target,
    budget: NodeBudget,
    widest: float,
) -> Value:
    """The first good answer, else the best one, if it is no wider than `widest`.

    Raises:
        Refused: there is none; the reason is that of the last attempt.
    """
    best: Answer[Value] | None = None
    refusal = Refused(Reason.NO_TILT)
    ways: tuple[Callable[[], tuple[tuple[Part, ...], NodeBudget]], ...] = (
        lambda: (parts, _smaller(QUICK, budget)),
        lambda: (_cut(parts, target, budget), budget),
        lambda: (parts, budget),
    )
    if len(parts) > _FEW:  # to cut many is dear, and all of them together hardly ever need it
        ways = (ways[0], ways[2], ways[1])
    for way in ways:
        try:
            answer = attempt(*way())
        except Refused as refused:
            refusal = refused
            continue
        if best is None or answer.width < best.width:
            best = answer
        if best.width <= GOOD_WIDTH:
            break
    if best is None:
        raise refusal
    if best.width > widest:
        reason = Reason.TOO_WIDE if math.isfinite(best.width) else Reason.NOT_POSITIVE
        raise Refused(reason, f"relative width {best.width:.3g}")
    return best.value


def _smaller(first: NodeBudget, second: NodeBudget) -> NodeBudget:
    return NodeBudget(
        min(first.noise_nodes, second.noise_nodes),
        min(first.frequencies, second.frequencies),
        min(first.products, second.products),
        min(first.products_each, second.products_each),
        min(first.products_most, second.products_most),
    )


def _cut(parts: tuple[Part, ...], target: saddle.Target, budget: NodeBudget) -> tuple[Part, ...]:
    """The parts, with noise cut off where it holds e^−19 of δ; δ is estimated on what is left if it is not given."""
    if target.log_delta is not None:
        return _cut_at(parts, target.log_delta - LEAK)
    log_delta = -20.0
    for _ in range(_CUTS):
        chosen = _cut_at(parts, log_delta - LEAK)
        found = saddle.find(chosen, target, budget).place.log_delta
        if abs(found - log_delta) < 1.0:
            break
        log_delta = found
    return chosen


def _cut_at(parts: tuple[Part, ...], log_leak: float) -> tuple[Part, ...]:
    """At a whole number of nats, so that neighbouring questions share what is cut."""
    return _cut_once(parts, math.floor(max(log_leak - math.log(len(parts)), _DEEPEST)))


@functools.lru_cache(maxsize=_CUTS)
def _cut_once(parts: tuple[Part, ...], log_leak: int) -> tuple[Part, ...]:
    return tuple(part.cut_at(float(log_leak)) for part in parts)
