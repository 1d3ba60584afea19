"""The contour engine: certified δ(ε) and ε(δ) of compositions with exactly known transforms, at any number of steps.

    δ(ε) = E_P[(1 − e^{ε−S})₊] = (1/2πi) ∫_{Re z = l} e^{K(z) − zε}/(z(1 + z)) dz,   K(z) = Σ_j T_j log E_P[e^{zL_j}],

by the trapezoidal rule on a line near the saddle. Work and relative accuracy do not depend on how small δ is, and
hardly on the number of steps. All errors are charged (docs/engine-certificate.md, A0 to A8); where they cannot be made
small the engine refuses (`ContourRefused`) and the caller composes on the lattice.

Losses are finite here: atoms at infinity are the caller's to add, δ = 1 − Π(1 − a_j)^{T_j} + D(ε).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw, LaplaceLaw
from epsilond.accountants.engine.contour.accuracy import GOOD_NATS, ITERATIONS, QUADRATURE_NATS, TINY
from epsilond.accountants.engine.contour.closed_forms import GaussianSteps, LaplaceSteps
from epsilond.accountants.engine.contour.drawn_gaussian import DrawnGaussian
from epsilond.accountants.engine.contour.drawn_loss import DrawnLoss
from epsilond.accountants.engine.contour.line import laid
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import by_epsilon, by_log_delta, by_log_size, find
from epsilond.accountants.engine.contour.sampled_gaussian import EXPONENTS, SampledGaussianLoss
from epsilond.accountants.engine.contour.sampled_steps import NoiseSums, SampledGaussianSteps
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.line import Integrand
    from epsilond.accountants.engine.contour.part import Part
    from epsilond.accountants.engine.contour.saddle import Saddle, Target, TiltRange

    Laws = Sequence[tuple[Law, int]]
    Ends = Callable[[float], "Placed"]

Answer = TypeVar("Answer")
WIDEST = 1e-4
"""A relative width of δ beyond which an enclosure is refused."""
_SETTLED = 0.05
"""How near to the ε of a line a root must lie, in units of √F″: the alias is then e^−27 of δ still."""
_NEAR = 2.0
"""Nats by which log δ may be off when ends and a line are chosen: what is left out is that much larger beside δ."""
_TRIALS = 12
"""Most steps of Newton's iteration, and lines laid for one question."""


def compiled(laws: Laws) -> list[Part]:
    """Return the parts of a composition, none if no loss can be anything but zero.

    Law: k entries of count 1 equal one entry of count k.
    """
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    parts: list[Part] = []
    square = 0.0
    for law, count in counts.items():
        if isinstance(law, LaplaceLaw):
            parts += [LaplaceSteps(law.shift, count)] if law.shift * count > 0.0 else []
        elif isinstance(law, GaussianLaw) or law.rate == 1.0:
            square += count * law.distance * law.distance
        elif isinstance(law, DrawnGaussianLaw):
            drawn = DrawnGaussian(DrawnLoss(law.rate, law.shift), count, alone=len(counts) == 1)
            parts += [drawn] if law.rate * law.shift * count > 0.0 else []
        elif law.rate * law.shift * count > 0.0:
            parts.append(
                SampledGaussianSteps(SampledGaussianLoss(law.rate, law.shift, EXPONENTS[law.direction]), count)
            )
    parts += [GaussianSteps(square)] if square > 0.0 else []
    return parts


def supremum(laws: Laws) -> float:
    """Return an ε from which on δ is zero, rounded up; inf if none is known."""
    parts = compiled(laws)
    return math.fsum(part.supremum for part in parts) * (1.0 + 4 * UNIT_ROUNDOFF * len(parts))


def log_delta(laws: Laws, epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Return an enclosure of log δ(ε) of a composition of laws with counts, ε in nats and of any sign.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.
    Source: docs/engine-certificate.md, A5.

    Raises:
        ContourRefused: no such certificate.
    """
    _demand_number(epsilon)
    if epsilon >= supremum(laws):
        return Interval(-math.inf, -math.inf)
    if not (parts := compiled(laws)):
        value = math.log(-math.expm1(epsilon))  # δ = 1 − e^ε of two equal laws
        return Interval(value - 8 * UNIT_ROUNDOFF * abs(value), min(value + 8 * UNIT_ROUNDOFF * abs(value), 0.0))

    def answer(ends: Ends, saddle: Saddle) -> Interval:
        guess = saddle.log_delta_at(epsilon)
        for _ in range(_TRIALS):
            placed = ends(guess)
            integrand = laid(placed.parts, placed.saddle, epsilon, guess)
            before, guess = guess, integrand.estimate(epsilon)[0]
            if abs(guess - before) <= _NEAR:
                break
        return _narrow(integrand.enclosure(epsilon), widest)

    return _first_answer(answer, parts, by_epsilon(epsilon))


def upper_log_delta(laws: Laws, epsilon: float) -> float:
    """Return the Chernoff bound of log δ(ε) at the saddle: about as much too high as λ + 1 is above one (A1).

    Raises:
        ContourRefused: no tilt.
    """
    parts = compiled(laws)
    if not parts or epsilon >= supremum(laws):
        return log_delta(laws, epsilon).upper
    return _chernoff(Placed(parts, *find(parts, by_epsilon(epsilon))), epsilon)


def epsilon(laws: Laws, log_delta: float, *, slack: float = 0.0, widest: float = WIDEST) -> Interval:
    """Return an enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, which is finite (A5, ε(δ)).

    Guarantees: the upper bound has itself been evaluated. Its upper log δ meets the target less `slack` ≥ 0; the lower
    bound has a lower log δ above the target plus `slack`, or is 0. At the root the enclosure of log δ is no wider than
    `widest`.

    Raises:
        ContourRefused: no such certificate.
    """
    _demand_number(log_delta)
    parts = compiled(laws)
    if not parts or log_delta >= 0.0:
        return Interval(0.0, 0.0)

    def answer(ends: Ends, saddle: Saddle) -> Interval:
        del saddle  # log δ is known
        placed = ends(log_delta)
        if placed.saddle.epsilon <= 0.0:
            if _chernoff(placed, 0.0) <= log_delta - slack:
                return Interval(0.0, 0.0)
            placed = Placed(placed.parts, *find(placed.parts, by_epsilon(0.0)))
        root, integrand = _lay_at_root(placed, _read_log_delta, log_delta, 0.0)
        here = _narrow(integrand.enclosure(root), widest)
        return _certified(integrand, root, here.upper - here.lower, log_delta, slack)

    return _first_answer(answer, parts, by_log_delta(log_delta))


def threshold(laws: Laws, log_size: float) -> tuple[float, Integrand]:
    """Return about the ε, of any sign, at which Q(S > ε) = e^`log_size`, and an integrand whose line suits it.

    Raises:
        ContourRefused: no such line, or there is no loss at all.
    """
    if not (parts := compiled(laws)):
        raise ContourRefused(RefusalReason.NO_TILT, "no loss")

    def answer(ends: Ends, saddle: Saddle) -> tuple[float, Integrand]:
        return _lay_at_root(ends(saddle.log_delta), _read_log_size, log_size, -math.inf)

    return _first_answer(answer, parts, by_log_size(log_size))


def _demand_number(value: float) -> None:
    if math.isnan(value):
        raise ValueError("not a number")


def _narrow(found: Interval, widest: float) -> Interval:
    if found.upper - found.lower > widest:
        finite = math.isfinite(found.lower)
        reason = RefusalReason.TOO_WIDE if finite else RefusalReason.NOT_POSITIVE
        raise ContourRefused(reason, f"relative width {found.upper - found.lower:.3g}")
    return found


class Placed(NamedTuple):
    """Parts, the saddle of a question, and the range of tilts it was found in."""

    parts: list[Part]
    saddle: Saddle
    tilts: TiltRange


def _first_answer(answer: Callable[[Ends, Saddle], Answer], parts: list[Part], target: Target) -> Answer:
    """Answer with one choice of the ends of the noise, or where that is refused with the other (A2, Hard cut).

    Either the tilted law is kept whole, or noise is left out as its probability allows: first where giant losses rule
    the saddle. Both are chosen for about log δ, of which the saddle of the whole gives an estimate.

    Raises:
        ContourRefused: both are refused.
    """
    whole = Placed(parts, *find(parts, target))

    def kept_whole(log_delta: float) -> Placed:
        leak = log_delta - QUADRATURE_NATS - math.log(len(parts))
        spans = [
            each.span(whole.saddle.tilt) if isinstance(each, NoiseSums) else (0.0, 0.0) for each in whole.tilts.parts
        ]
        kept = [_cut(part, leak, span) for part, span in zip(parts, spans, strict=True)]
        return whole._replace(parts=kept)

    def left_out(log_delta: float) -> Placed:
        kept = [_cut(part, log_delta - GOOD_NATS - math.log(len(parts)), (0.0, 0.0)) for part in parts]
        return Placed(kept, *find(kept, target))

    first, second = (left_out, kept_whole) if whole.saddle.jumps else (kept_whole, left_out)
    try:
        return answer(first, whole.saddle)
    except ContourRefused:
        return answer(second, whole.saddle)


def _cut(part: Part, log_leak: float, span: tuple[float, float]) -> Part:
    return part.cut_at(log_leak, span) if isinstance(part, SampledGaussianSteps) else part


def _chernoff(placed: Placed, epsilon: float) -> float:
    """Return the Chernoff bound of log δ(ε) at the saddle's tilt (A1), with what is left out."""
    tilt = placed.saddle.tilt
    bound = float(placed.tilts.upper_log_bounds(np.asarray([tilt]))[0])
    bound += 16 * UNIT_ROUNDOFF * (1.0 + abs(bound) + tilt * abs(epsilon)) - tilt * epsilon
    total = float(np.logaddexp.reduce([bound, *(part.log_leak for part in placed.parts)]))
    return min(total + 8 * UNIT_ROUNDOFF * (1.0 + abs(total)), 0.0)


def _read_log_delta(integrand: Integrand, epsilon: float) -> float:
    """Estimate log D(ε)."""
    return integrand.estimate(epsilon)[0]


def _read_log_size(integrand: Integrand, epsilon: float) -> float:
    """Estimate log Q(S > ε) = log(−dD/dε) − ε."""
    value, slope = integrand.estimate(epsilon)
    return value + math.log(-slope) - epsilon


def _lay_at_root(
    placed: Placed, read: Callable[[Integrand, float], float], target: float, least: float
) -> tuple[float, Integrand]:
    """Find the ε, not below the least, at which a falling function has a value, and lay a line for it.

    Raises:
        ContourRefused: no line is near its own root.
    """
    centre = max(placed.saddle.epsilon, least)
    for _ in range(_TRIALS):
        width = placed.saddle.width
        integrand = laid(placed.parts, placed.saddle, centre, placed.saddle.log_delta_at(centre))
        low, high = max(centre - width, least), centre + width
        if low == least and read(integrand, least) <= target:
            high = least
        for _ in range(ITERATIONS if low < high else 0):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if read(integrand, middle) > target else (low, middle)
        root = 0.5 * (low + high)
        if abs(root - centre) <= _SETTLED * width:
            return root, integrand
        placed, centre = Placed(placed.parts, *find(placed.parts, by_epsilon(root))), root
    raise ContourRefused(RefusalReason.NO_TILT, "the root is not met")


def _certified(integrand: Integrand, root: float, width: float, log_delta: float, slack: float) -> Interval:
    """Return the nearest bounds around the root that are certified; 0 below where even δ(0) may be small enough.

    Raises:
        ContourRefused: there are none near the root.
    """
    slope = abs(integrand.estimate(root)[1])
    pad = (0.6 * width + slack + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_delta))) / slope + 4 * UNIT_ROUNDOFF * root
    distances = [0.0] if root == 0.0 else []
    distances += [pad * (2.0**k - 1.0) for k in range(1, ITERATIONS)]
    uppers = (root + distance for distance in distances)
    upper = next((end for end in uppers if integrand.enclosure(end).upper <= log_delta - slack), math.inf)
    lowers, above = (
        (max(root - distance, 0.0) for distance in distances[-ITERATIONS + 1 :]),
        min(log_delta + slack, -TINY),
    )
    lower = next((end for end in lowers if end == 0.0 or integrand.enclosure(end).lower > above), -math.inf)
    if not 0.0 <= lower <= upper < math.inf:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, "no certified bound near the root")
    return Interval(lower, upper)
