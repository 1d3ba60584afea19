"""The contour engine: certified δ(ε) and ε(δ) of compositions with exactly known transforms, at any number of steps.

    δ(ε) = E_P[(1 − e^{ε−S})₊] = (1/2πi) ∫_{Re z = λ} e^{K(z) − zε}/(z(1 + z)) dz,   K(z) = Σ_j T_j log E_P[e^{zL_j}],

by the trapezoidal rule on a line near the saddle. Work and relative accuracy do not depend on how small δ is, and
hardly on the number of steps. All error terms are charged (docs/engine-certificate.md, A0 to A5); where they cannot be
made small within the budget the engine refuses (`ContourRefused`) and the caller composes on the lattice.

Losses are finite here: atoms at infinity are the caller's to add, δ = 1 − Π(1 − a_j)^{T_j} + D(ε).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.nodes import REACH, build, good_width
from epsilond.accountants.engine.contour.parts import Parts, compiled
from epsilond.accountants.engine.contour.profile import ContourProfile, shared, width_of, with_leaks
from epsilond.accountants.engine.contour.reductions import (
    can_be_marked,
    cut_noise,
    few_steps,
    mark_steps,
    mark_steps_among_many,
)
from epsilond.accountants.engine.contour.transforms.drawn_gaussian import DrawnGaussian
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceSteps
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, NodeBudget, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.transforms.transform import Part
    from epsilond.accountants.numerics.special import FloatArray

DEFAULT_BUDGET = NodeBudget()
WIDEST = 1e-4
"""A relative width of δ beyond which an enclosure is refused."""
QUICK = NodeBudget(noise_nodes=1 << 12, frequencies=1 << 11, products=1 << 20, products_each=1 << 17)
GOOD_WIDTH = 1e-6
"""A relative width of δ with which the search for a better way ends."""
FINE_LEAK, COARSE_LEAK = 18.0, 11.0
"""What steps without a mark add is e^−18 of δ, or e^−11 where that is beyond the budget."""
MARKED = DEFAULT_BUDGET._replace(products=3 << 22)
"""The budget of the finer of the two."""
_FEW, _MANY = 4, 128
_KEPT = 5
"""Limit on the compositions whose Chernoff bounds are kept."""
_RECENTRINGS = 8
_DOUBLINGS = 30


Value = TypeVar("Value")


class ValueWithWidth(NamedTuple, Generic[Value]):
    """What was found, and the relative width of δ behind it."""

    value: Value
    width: float


def log_delta(
    laws: Sequence[tuple[Law, int]] | Parts,
    epsilon: float,
    *,
    budget: NodeBudget = DEFAULT_BUDGET,
    widest: float = WIDEST,
    among_many: bool = False,
    quickly: bool = False,
) -> Interval:
    """Enclosure of log δ(ε) of a composition of laws with counts, ε in nats and of any sign.

    Where it is asked `among_many` ε, marks are refused without a try if they are at the next power of two; `quickly`,
    all but the whole transform with few nodes is.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.
    Source: docs/engine-certificate.md, A5.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    _demand_number(epsilon)
    parts = compiled(laws)
    if not parts:
        return _of_nothing(epsilon)
    if epsilon >= parts.supremum:
        return Interval(-math.inf, -math.inf)

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> ValueWithWidth[Interval]:
        return _evaluated(chosen, epsilon, most)

    target = saddle.at_epsilon(epsilon)
    return best_of(attempt, parts, target, budget, widest, among_many=among_many, quickly=quickly)


def upper_log_delta(
    laws: Sequence[tuple[Law, int]] | Parts,
    epsilon: float,
    *,
    enough: float = -math.inf,
    budget: NodeBudget = DEFAULT_BUDGET,
) -> float:
    """A Chernoff bound of log δ(ε), ε in nats; of the best tilt, unless one at hand is at most `enough`.

    At the saddle it is about as much too high as λ + 1 is above one.

    Raises:
        ContourRefused: no tilt within the budget.
    """
    parts = compiled(laws)
    if not parts or epsilon >= parts.supremum:
        return log_delta(laws, epsilon, budget=budget).upper
    try:
        return _best_chernoff(parts, epsilon, enough, smaller(QUICK, budget))  # on what an answer will be read from
    except ContourRefused:
        return _best_chernoff(parts, epsilon, enough, budget)


def epsilon(
    laws: Sequence[tuple[Law, int]] | Parts,
    log_delta: float,
    *,
    slack: float = 0.0,
    budget: NodeBudget = DEFAULT_BUDGET,
    widest: float = WIDEST,
) -> Interval:
    """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, which is finite.

    Guarantees: the upper bound has itself been evaluated. Its upper log δ meets the target less `slack` ≥ 0; the lower
    end has a lower log δ above the target plus `slack`, or is 0. Near the root the enclosure of log δ is no wider than
    `widest`.

    Raises:
        ContourRefused: no such certificate within the budget.
    """
    _demand_number(log_delta)
    parts = compiled(laws)
    if not parts or log_delta >= 0.0:
        return Interval(0.0, 0.0)

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> ValueWithWidth[Interval]:
        found = saddle.find(chosen, saddle.at_log_delta(log_delta), most)
        if found.place.epsilon <= 0.0:
            if _chernoff(chosen, found, 0.0) <= log_delta - slack:
                return ValueWithWidth(Interval(0.0, 0.0), 0.0)
            found = saddle.find(chosen, saddle.at_epsilon(0.0), most)
        solved, root, here = _solved(shared(chosen, found.place, most), log_delta, found.place.epsilon, most)
        return ValueWithWidth(_certified(solved, root, here, log_delta, slack), width_of(here))

    return best_of(attempt, parts, saddle.at_log_delta(log_delta), budget, widest)


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
        ContourRefused: there is none; the reason is that of the last attempt.
    """
    best: ValueWithWidth[Value] | None = None
    refusal = RefusalReason.NO_TILT, ""
    for way in _ways(parts, target, budget, among_many=among_many, quickly=quickly):
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


def _ways(
    parts: tuple[Part, ...], target: saddle.SaddleTarget, budget: NodeBudget, *, among_many: bool, quickly: bool
) -> Iterator[Callable[[], tuple[tuple[Part, ...], NodeBudget]]]:
    """Yield the ways to a certificate in the order in which they are tried.

    They are the whole transform with few nodes, the transform with the noise cut off, with large steps marked, and the
    whole transform with many nodes. Each makes the parts that are transformed and their budget.
    """
    quick, whole = (lambda: (parts, smaller(QUICK, budget))), (lambda: (parts, budget))
    cut = functools.partial(cut_noise, parts, target, budget)
    ways: tuple[Callable[[], tuple[tuple[Part, ...], NodeBudget]], ...] = (quick, cut, whole)
    if any(isinstance(part, LaplaceSteps | DrawnGaussian) for part in parts):
        ways = (whole,)  # a closed form has nothing to cut, and no quadrature to make smaller
    elif len(parts) > _FEW and not quickly:
        # To find out that nodes are too many for a small budget is as dear as to lay them; to cut many is dearer still.
        ways = (whole, cut) if len(parts) <= _MANY else (whole,)
    yield ways[0]
    if quickly:
        return
    if can_be_marked(parts):
        place = 1 if few_steps(parts) else 2
        fine, coarse = (
            functools.partial(mark_steps_among_many if among_many else mark_steps, parts, target, budget, leak, most)
            for leak, most in ((FINE_LEAK, MARKED), (COARSE_LEAK, budget))
        )
        ways = (*ways[:place], fine, *ways[place:], coarse)
    yield from ways[1:]


@functools.cache
def smaller(first: NodeBudget, second: NodeBudget) -> NodeBudget:
    """Return the smaller of two budgets, number by number."""
    return NodeBudget(*map(min, first, second))


def _demand_number(value: float) -> None:
    if math.isnan(value):
        raise ValueError("not a number")


def _of_nothing(epsilon: float) -> Interval:
    """δ = (1 − e^ε)₊ of two equal laws."""
    if epsilon >= 0.0:
        return Interval(-math.inf, -math.inf)
    value = math.log(-math.expm1(epsilon))
    slack = 8 * UNIT_ROUNDOFF * abs(value)
    return Interval(value - slack, min(value + slack, 0.0))


def _built(
    parts: tuple[Part, ...], found: saddle.FoundSaddle, epsilon: float, budget: NodeBudget, reach: float = REACH
) -> ContourProfile:
    """Nodes at the tilt that was found, around ε."""
    nodes = build(parts, found.place, found.survey, epsilon, budget, reach=reach)
    return ContourProfile(parts, nodes, epsilon)


def _centred(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget, reach: float = REACH) -> ContourProfile:
    """Nodes at the saddle of ε."""
    return _built(parts, saddle.find(parts, saddle.at_epsilon(epsilon), budget), epsilon, budget, reach)


def _evaluated(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget) -> ValueWithWidth[Interval]:
    """On nodes that neighbouring ε share, or where those are not good on nodes for this ε alone."""
    found = saddle.find_at_epsilon(parts, epsilon, budget)
    try:
        near = shared(parts, found.place, budget)
        interval = near.log_delta(epsilon)
    except ContourRefused:
        near = None
    if near is None or not near.as_narrow_as_any(epsilon, interval, good_width(parts, GOOD_WIDTH)):
        interval = _built(parts, found, epsilon, budget, 0.0).log_delta(epsilon)
    return ValueWithWidth(interval, width_of(interval))


def _chernoff(parts: tuple[Part, ...], found: saddle.FoundSaddle, epsilon: float) -> float:
    """The Chernoff bound of log δ at one tilt, and what is cut off."""
    tilts = np.asarray([found.place.tilt])
    cumulant, decrease = float(found.survey.upper_cumulants(tilts)[0]), found.place.tilt * epsilon
    bound = cumulant - decrease + float(saddle.log_chernoff_factor(tilts)[0])
    bound += 16 * UNIT_ROUNDOFF * (1.0 + abs(cumulant) + abs(decrease) + abs(bound))
    return min(with_leaks(bound, parts, epsilon), 0.0)


def _best_chernoff(parts: tuple[Part, ...], epsilon: float, enough: float, budget: NodeBudget) -> float:
    """The best of a ladder of tilts, if it is at most `enough`, else that of the saddle."""
    if enough > -math.inf:
        tilts, log_bounds = _chernoff_bounds(parts, budget)
        least = float((log_bounds - tilts * epsilon).min()) + 32 * UNIT_ROUNDOFF * float(tilts[0]) * abs(epsilon)
        bound = min(with_leaks(least, parts, epsilon), 0.0)
        if bound <= enough:
            return bound
    return _chernoff(parts, saddle.find_at_epsilon(parts, epsilon, budget), epsilon)


@functools.lru_cache(maxsize=_KEPT)
def _chernoff_bounds(parts: tuple[Part, ...], budget: NodeBudget) -> tuple[FloatArray, FloatArray]:
    """The tilts of the lowest ladder, falling, and upper bounds of K + log C with the rounding that knows no ε."""
    survey, tilts = saddle.ladder(parts, budget)
    cumulants, factors = survey.upper_cumulants(tilts), saddle.log_chernoff_factor(tilts)
    rounding = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(cumulants) + np.abs(factors))
    return tilts, cumulants + factors + rounding


def _solved(
    start: ContourProfile, log_delta: float, guess: float | None, budget: NodeBudget
) -> tuple[ContourProfile, float, Interval]:
    """A profile, an ε ≥ 0 near the root and log δ there: Newton on the nodes.

    Re-centred while the root lies outside their range, and once if the enclosure at the root is wide: where K bends
    sharply the range of good nodes is narrower than its second derivative says.
    """
    current, refined = start, False
    for _ in range(_RECENTRINGS):
        root, inside = current.root(log_delta, guess)
        guess = None
        if inside:
            here = current.log_delta(root)
            if (
                refined
                or current.as_narrow_as_any(root, here, good_width(current.parts, GOOD_WIDTH))
                or abs(root - current.centre) < 0.05 * current.width
            ):
                return current, root, here
            refined = True
            current = _centred(current.parts, root, budget)
        else:
            place = saddle.find(current.parts, saddle.at_epsilon(root), budget).place
            current = shared(current.parts, place, budget)
    raise ContourRefused(RefusalReason.NO_TILT, "the root is not met")


def _certified(near: ContourProfile, root: float, here: Interval, log_delta: float, slack: float) -> Interval:
    """The nearest ends around the root that are certified; 0 below where even δ(0) may be small enough."""
    value, slope = near.estimate(root)
    root, slope = max(root - (value - log_delta) / slope, 0.0), abs(slope)  # one more of Newton's steps, at no cost
    pad = (0.6 * width_of(here) + slack + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_delta))) / slope + 4 * UNIT_ROUNDOFF * root
    above = min(log_delta + slack, -1e-300)
    at_zero = root == 0.0 and near.log_delta(0.0).upper <= log_delta - slack
    upper = 0.0 if at_zero else _first(root, +pad, lambda end: near.log_delta(end).upper <= log_delta - slack)
    lower = _first(root, -pad, lambda end: end <= 0.0 or near.log_delta(end).lower > above)
    return Interval(lower, upper)


def _first(root: float, pad: float, passes: Callable[[float], bool]) -> float:
    """The first of root + pad, root + 3 pad, root + 7 pad, … that passes, kept at or above 0.

    Raises:
        ContourRefused: none does.
    """
    offset = pad
    for _ in range(_DOUBLINGS):
        end = max(root + offset, 0.0)
        if passes(end):
            return end
        offset = 2.0 * offset + pad
    raise ContourRefused(RefusalReason.NOT_POSITIVE, "no certified end near the root")
