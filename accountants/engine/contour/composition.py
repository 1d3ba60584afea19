"""The contour engine: certified δ(ε) and ε(δ) of compositions with exactly known transforms, at any number of steps.

    δ(ε) = E_P[(1 − e^{ε−S})₊] = (1/2πi) ∫_{Re z = λ} e^{K(z) − zε}/(z(1 + z)) dz,   K(z) = Σ_j T_j log E_P[e^{zL_j}],

by the trapezoidal rule on a line near the saddle. Work and relative accuracy do not depend on how small δ is, and
hardly on the number of steps. All error terms are charged (docs/engine-certificate.md, A0 to A5); where they cannot be
made small within the budget the engine refuses (`Refused`) and the caller composes on the lattice.

Losses are finite here: atoms at infinity are the caller's to add, δ = 1 − Π(1 − a_j)^{T_j} + D(ε).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from epsilond.accountants.curve import Interval
from epsilond.accountants.engine.contour import saddle
from epsilond.accountants.engine.contour.keeping import kept
from epsilond.accountants.engine.contour.kernel import steps_of
from epsilond.accountants.engine.contour.marking import can_be_marked, few_steps, marked_at
from epsilond.accountants.engine.contour.nodes import REACH, build, good_width
from epsilond.accountants.engine.contour.parts import Parts, compiled
from epsilond.accountants.engine.contour.profile import ContourProfile, shared, width_of, with_leaks
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceSteps
from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Reason, Refused
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.kernel import Steps
    from epsilond.accountants.engine.contour.transforms.transform import Part
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.gaussian import Law


DEFAULT_BUDGET = NodeBudget()
WIDEST = 1e-4
"""A relative width of δ beyond which an enclosure is refused."""
_RECENTRINGS = 8
_NEWTON_STEPS = 12
_ROOT = 1e-7
"""How near to a root Newton's iteration ends, in reaches of the nodes."""
_DOUBLINGS = 30
_CUTS = 5
"""How many of what was found last are kept."""


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
        Refused: no such certificate within the budget.
    """
    _demand_number(epsilon)
    parts = compiled(laws)
    if not parts:
        return _of_nothing(epsilon)
    if epsilon >= parts.supremum:
        return Interval(-math.inf, -math.inf)
    if (kernel := _kernel_for(parts, budget)) and (answer := _good(kernel.log_delta(epsilon), widest)):
        return answer

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> Answer[Interval]:
        return _evaluated(chosen, epsilon, most)

    target = saddle.at_epsilon(epsilon)
    return best_of(attempt, parts, target, budget, widest, among_many=among_many, quickly=quickly)


def profile(
    laws: Sequence[tuple[Law, int]] | Parts,
    epsilon: float,
    *,
    budget: NodeBudget = DEFAULT_BUDGET,
    widest: float = WIDEST,
) -> ContourProfile:
    """log δ near an ε, built once and evaluated at many.

    Guarantees: the relative width of δ at `epsilon` itself is no larger than `widest`.

    Raises:
        Refused: no certificate within the budget, or δ is known in closed form (no loss at all, or ε ≥ its supremum).
    """
    parts = compiled(laws)
    if not parts or epsilon >= parts.supremum:
        raise Refused(Reason.CLOSED_FORM)

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> Answer[ContourProfile]:
        built = _centred(chosen, epsilon, most)
        return Answer(built, width_of(built.log_delta(epsilon)))

    return best_of(attempt, parts, saddle.at_epsilon(epsilon), budget, widest)


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
        Refused: no tilt within the budget.
    """
    parts = compiled(laws)
    if not parts or epsilon >= parts.supremum:
        return log_delta(laws, epsilon, budget=budget).upper
    kernel = _kernel_for(parts, budget)
    if kernel and (known := kernel.upper_log_delta(epsilon, enough)) is not None:
        return known
    try:
        return _best_chernoff(parts, epsilon, enough, _smaller(QUICK, budget))  # on what an answer will be read from
    except Refused:
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

    Guarantees: the upper end has itself been evaluated and its upper log δ meets the target less `slack` ≥ 0; the lower
    end has a lower log δ above the target plus `slack`, or is 0. Near the root the enclosure of log δ is no wider than
    `widest`.

    Raises:
        Refused: no such certificate within the budget.
    """
    _demand_number(log_delta)
    parts = compiled(laws)
    if not parts or log_delta >= 0.0:
        return Interval(0.0, 0.0)
    if (kernel := _kernel_for(parts, budget)) and (answer := _good(kernel.epsilon(log_delta, slack), widest)):
        return answer

    def attempt(chosen: tuple[Part, ...], most: NodeBudget) -> Answer[Interval]:
        found = saddle.find(chosen, saddle.at_log_delta(log_delta), most)
        if found.place.epsilon <= 0.0:
            if _chernoff(chosen, found, 0.0) <= log_delta - slack:
                return Answer(Interval(0.0, 0.0), 0.0)
            found = saddle.find(chosen, saddle.at_epsilon(0.0), most)
        solved, root, here = _solved(shared(chosen, found.place, most), log_delta, found.place.epsilon, most)
        return Answer(_certified(solved, root, here, log_delta, slack), width_of(here))

    return best_of(attempt, parts, saddle.at_log_delta(log_delta), budget, widest)


def _kernel_for(parts: Parts, budget: NodeBudget) -> Steps | None:
    """The compiled kernel for these parts, if there is one, and no other budget is asked for than its own."""
    return steps_of(parts) if budget is DEFAULT_BUDGET else None


def _good(answer: tuple[float, float, float] | None, widest: float) -> Interval | None:
    """The kernel's ends, if they are so good that no other way would be tried."""
    return Interval(*answer[:2]) if answer is not None and answer[2] <= min(GOOD_WIDTH, widest) else None


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
    return ContourProfile(parts, nodes, epsilon, found.survey.scale_slope(found.place.tilt))


def _centred(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget, reach: float = REACH) -> ContourProfile:
    """Nodes at the saddle of ε."""
    return _built(parts, saddle.find(parts, saddle.at_epsilon(epsilon), budget), epsilon, budget, reach)


def _evaluated(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget) -> Answer[Interval]:
    """On nodes that neighbouring ε share, or where those are not good on nodes for this ε alone."""
    found = saddle.find_at_epsilon(parts, epsilon, budget)
    try:
        near = shared(parts, found.place, budget)
        interval = near.log_delta(epsilon)
    except Refused:
        near = None
    if near is None or not near.as_narrow_as_any(epsilon, interval, good_width(parts, GOOD_WIDTH)):
        interval = _built(parts, found, epsilon, budget, 0.0).log_delta(epsilon)
    return Answer(interval, width_of(interval))


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


@kept(_CUTS)
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
        root, inside = _newton(current, log_delta, guess)
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
    raise Refused(Reason.NO_TILT, "the root is not met")


def _newton(near: ContourProfile, log_delta: float, guess: float | None = None) -> tuple[float, bool]:
    """Newton's iteration for log δ(ε) = target from a guess, and whether it ends within reach or at ε = 0.

    From the centre where there is no guess within reach.
    """
    known = guess is not None and abs(guess - near.centre) <= near.width
    root = max(guess if known and guess is not None else near.centre, 0.0)
    # A step of x leaves an error of about x² |f″/2f′|, with f″ ≈ −1/F″ and f′ ≈ −λ.
    place = near.nodes.place
    last = 0.1 * math.sqrt(2.0 * _ROOT * place.tilt * place.width**2 * near.width)
    for _ in range(_NEWTON_STEPS):
        value, slope = near.estimate(root)
        moved = max(root - (value - log_delta) / slope, 0.0)
        if abs(moved - near.centre) > near.width:
            return max(near.centre + math.copysign(2.0 * near.width, moved - near.centre), 0.0), False
        if abs(moved - root) <= max(last, _ROOT * near.width, 1e-14 * root):
            return moved, True
        root = moved
    return root, True


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
        Refused: none does.
    """
    offset = pad
    for _ in range(_DOUBLINGS):
        end = max(root + offset, 0.0)
        if passes(end):
            return end
        offset = 2.0 * offset + pad
    raise Refused(Reason.NOT_POSITIVE, "no certified end near the root")


# In which order ways to a certificate are tried: the whole transform with few nodes, with the noise cut, with many.
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
    *,
    among_many: bool = False,
    quickly: bool = False,
) -> Value:
    """The first good answer, else the best one, if it is no wider than `widest`.

    `among_many` and `quickly` are as in `log_delta`.

    Raises:
        Refused: there is none; the reason is that of the last attempt.
    """
    best: Answer[Value] | None = None
    refusal = Reason.NO_TILT, ""
    ways: tuple[Callable[[], tuple[tuple[Part, ...], NodeBudget]], ...] = (
        lambda: (parts, _smaller(QUICK, budget)),
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
        except Refused as refused:
            # Not the exception itself: it would hold this frame and all that the frame holds.
            refusal = refused.reason, refused.detail
            continue
        if best is None or answer.width < best.width:
            best = answer
        if best.width <= GOOD_WIDTH:
            break
    if best is None:
        raise Refused(*refusal)
    if best.width > widest:
        reason = Reason.TOO_WIDE if math.isfinite(best.width) else Reason.NOT_POSITIVE
        raise Refused(reason, f"relative width {best.width:.3g}")
    return best.value


@functools.cache
def _smaller(first: NodeBudget, second: NodeBudget) -> NodeBudget:
    return NodeBudget(*map(min, first, second))


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


def _marked(
    parts: tuple[Part, ...], target: saddle.Target, budget: NodeBudget, leak: float, most: NodeBudget
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
            near = _Near(_newton(laid, near.log_delta)[0], near.log_delta)
        else:
            near = _Near(near.epsilon, laid.estimate(near.epsilon)[0])
        before, chosen = chosen, marked_at(parts, near.epsilon, near.log_delta - leak)
        if chosen is before:  # so that a question for ε and one for δ there share their marks
            break
    return (chosen,), most


def _marked_among_many(
    parts: tuple[Part, ...], target: saddle.Target, budget: NodeBudget, leak: float, most: NodeBudget
) -> tuple[tuple[Part, ...], NodeBudget]:
    """The same, refused where it is at the next power of two: the smaller ε, the smaller losses matter.

    Raises:
        Refused: as `_marked`.
    """
    if target.epsilon is not None and 0.0 < target.epsilon < math.inf:
        _tried(parts, math.ldexp(1.0, math.frexp(target.epsilon)[1]), budget, leak, most)
    return _marked(parts, target, budget, leak, most)


@kept(_CUTS)
def _tried(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget, leak: float, most: NodeBudget) -> None:
    _marked(parts, saddle.at_epsilon(epsilon), budget, leak, most)


class _Near(NamedTuple):
    """About where the question lies."""

    epsilon: float
    log_delta: float


def _near(parts: tuple[Part, ...], target: saddle.Target, budget: NodeBudget) -> _Near:
    """By the saddle of the whole composition, with what is asked in place of its estimate."""
    place = saddle.find(parts, target, budget).place
    return _Near(
        place.epsilon if target.epsilon is None else target.epsilon,
        place.log_delta if target.log_delta is None else target.log_delta,
    )


def _cut_at(parts: tuple[Part, ...], log_leak: float) -> tuple[Part, ...]:
    """At a whole number of nats, so that neighbouring questions share what is cut."""
    return _cut_once(parts, math.floor(max(log_leak - math.log(len(parts)), _DEEPEST)))


@functools.lru_cache(maxsize=_CUTS)
def _cut_once(parts: tuple[Part, ...], log_leak: int) -> tuple[Part, ...]:
    return tuple(part.cut_at(float(log_leak)) for part in parts)
