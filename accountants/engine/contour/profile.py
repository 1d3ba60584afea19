"""log δ of one composition near one ε: the nodes, evaluated and certified at any ε that is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve import Interval
from epsilond.accountants.engine.contour.keeping import kept
from epsilond.accountants.engine.contour.marking import log_leaks
from epsilond.accountants.engine.contour.nodes import REACH, build
from epsilond.accountants.engine.contour.saddle import TiltSurvey, reach_for
from epsilond.accountants.engine.contour.transforms.transform import Reason, Refused
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.nodes import Nodes
    from epsilond.accountants.engine.contour.saddle import Saddle
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part


_NODES_SHARE = 0.04
"""Of a width, a part that better nodes would not be worth."""


class TailIntervals(NamedTuple):
    """Enclosures of log P(S > ε) and log Q(S > ε): the log power and log size of the likelihood-ratio test at ε."""

    log_p: Interval
    log_q: Interval


@dataclass(frozen=True)
class ContourProfile:
    """log δ of one composition near one ε: built once, evaluated at many ε.

    Guarantees: every `log_delta` encloses the truth at the ε that is asked, however far it is from the centre (the
    alias bound is evaluated there); far away the enclosure is wide, not wrong.

    Attributes:
        parts: of the composition.
        nodes: the integrand.
        centre: the ε around which the nodes were laid, nats.
        scale_slope: ∂K/∂log s at the tilt.
    """

    parts: tuple[Part, ...]
    nodes: Nodes
    centre: float
    scale_slope: float

    @cached_property
    def _supremum(self) -> float:
        return math.fsum(part.supremum for part in self.parts)

    @property
    def width(self) -> float:
        """How far from the centre, in nats, the same nodes serve well."""
        return REACH * self.nodes.place.width

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ(ε); (−inf, −inf) where δ is exactly zero.

        Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0, never NaN; lower is −inf where the certificate is not positive.
        Source: docs/engine-certificate.md, A5.

        Raises:
            Refused: the sum contradicts the Chernoff bound, so that something is wrong.
        """
        if epsilon >= self._supremum:
            return Interval(-math.inf, -math.inf)
        nodes = self.nodes
        value, _, error = nodes.sums(epsilon)
        log_scale, scale_error = nodes.log_scale(epsilon)
        log_excess = nodes.log_excess(epsilon) - log_scale + scale_error
        lower = _outward(log_scale - scale_error, value - error - 1.001 * math.exp(min(log_excess, 600.0)), -1)
        upper = _outward(log_scale + scale_error, value + error, +1)
        chernoff = nodes.chernoff.upper_log_delta(epsilon)
        if lower > chernoff + scale_error:
            raise Refused(Reason.INCONSISTENT, f"log delta above {lower:.17g}, Chernoff bound {chernoff:.17g}")
        upper = min(with_leaks(min(upper, chernoff), self.parts, epsilon), 0.0)
        return Interval(float(min(lower, upper)), float(upper))

    def as_narrow_as_any(self, epsilon: float, found: Interval, good: float) -> bool:
        """Whether an enclosure is at most `good` wide, or so wide for what the parts leave out, whatever the nodes."""
        width = width_of(found)
        if width <= good or not math.isfinite(width):
            return width <= good
        return width - (with_leaks(found.lower, self.parts, epsilon) - found.lower) <= _NODES_SHARE * width

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log δ(ε) and its derivative in ε from the same nodes, for root searches; nothing is certified.

        Raises:
            Refused: the sum is not positive, or does not fall.
        """
        value, slope, _ = self.nodes.sums(epsilon)
        if not (value > 0.0 and slope < 0.0):
            raise Refused(Reason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.nodes.log_scale(epsilon)[0] + math.log(value), slope / value

    def estimate_log_size(self, epsilon: float) -> tuple[float, float]:
        """log Q(S > ε) = log(−dδ/dε) − ε and its derivative in ε from the same nodes; nothing is certified.

        Raises:
            Refused: δ, or its slope, does not fall.
        """
        slope, curvature = self.nodes.derivatives(epsilon)
        if not (slope < 0.0 < curvature - slope):
            raise Refused(Reason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.nodes.log_scale(epsilon)[0] + math.log(-slope) - epsilon, curvature / slope - 1.0

    def scale_derivative(self) -> float:
        """d log δ/d log σ at the centre, every σ scaled alike, to leading order of the saddle-point expansion.

        An estimate, for root searches.
        """
        return -self.scale_slope

    def tails(self, epsilon: float) -> TailIntervals:
        """Enclosures of log P(S > ε) and log Q(S > ε).

        H(α) = δ(log α) is convex and −H′(e^ε) = Q(S > ε), so difference quotients of enclosures on both sides bracket
        it; P(S > ε) = δ + e^ε Q(S > ε). Relative width about the square root of that of δ.
        Source: docs/engine-certificate.md, A1 (v).
        """
        here = self.log_delta(epsilon)
        step = math.sqrt(max(width_of(here), 1e-13)) / max(self.nodes.place.tilt, 1e-3)
        right, left = self.log_delta(epsilon + step), self.log_delta(epsilon - step)
        rounding = 8 * UNIT_ROUNDOFF * (1.0 + abs(epsilon) + abs(epsilon) / step)
        lower = _log_gap(here.lower, right.upper) - epsilon - math.log(math.expm1(step)) - rounding
        upper = _log_gap(left.upper, here.lower) - epsilon - math.log(-math.expm1(-step)) + rounding
        log_q = Interval(lower, min(upper, 0.0))
        low, high = np.logaddexp(here.lower, epsilon + lower), np.logaddexp(here.upper, epsilon + log_q.upper)
        slack = 8 * UNIT_ROUNDOFF * (1.0 + abs(epsilon))
        return TailIntervals(Interval(float(low) - slack, min(float(high) + slack, 0.0)), log_q)


def with_leaks(upper: float, parts: Sequence[Part], epsilon: float) -> float:
    """An upper bound of log δ(ε) of what the transforms see, with what they leave out of δ(ε)."""
    leaks = [leak for leak in log_leaks(parts, epsilon) if leak > -math.inf]
    return float(np.logaddexp.reduce([upper, *leaks])) if leaks else upper


def width_of(interval: Interval) -> float:
    """Width of an enclosure of log δ; inf where the lower end is −inf and the upper is not."""
    return 0.0 if interval.upper == interval.lower else interval.upper - interval.lower


def _outward(log_scale: float, value: float, side: int) -> float:
    """log_scale + log(value) moved outward by its rounding and kept at or below 0; −inf if value ≤ 0."""
    if value <= 0.0:
        return -math.inf
    log_value = log_scale + math.log(value)
    moved = log_value + side * 8 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_scale))
    return min(moved, 0.0)


def _log_gap(larger: float, smaller: float) -> float:
    """log(e^larger − e^smaller), −inf if there is no gap."""
    return float(log_difference(np.asarray(larger), np.asarray(min(smaller, larger))))


# Nodes that neighbouring questions share: laid at tilts of a grid, so that what was asked before changes no answer.
_COARSEST = 2
"""Bits to which tilts are rounded at least."""
_FINEST = 40
_KEPT = 8
_LOWER = 2
"""How many tilts below the nearest are tried."""


def shared(parts: tuple[Part, ...], place: Saddle, budget: NodeBudget) -> ContourProfile:
    """A profile laid at the tilt of a grid that is nearest to the place's, within about half the integrand's width.

    It depends on the place through that tilt only. Where giant losses begin to rule, a little lower tilt may need far
    fewer nodes: if those of the nearest exceed the budget, the next below are tried.

    Raises:
        Refused: as `build`.
    """
    bits = min(max(_COARSEST, math.ceil(math.log2(0.7 * place.tilt * place.width))), _FINEST)
    exponent = round(math.ldexp(math.log2(place.tilt), bits))
    for lower in range(_LOWER):
        try:
            return _laid(parts, 2.0 ** math.ldexp(exponent - lower, -bits), budget)
        except Refused as refused:
            if refused.reason is not Reason.BEYOND_BUDGET:
                raise
    return _laid(parts, 2.0 ** math.ldexp(exponent - _LOWER, -bits), budget)


@kept(_KEPT)
def _laid(parts: tuple[Part, ...], tilt: float, budget: NodeBudget) -> ContourProfile:
    survey = TiltSurvey.of(parts, reach_for(tilt), budget)
    place = survey.place(tilt)
    nodes = build(parts, place, survey, place.epsilon, budget)
    return ContourProfile(parts, nodes, place.epsilon, survey.scale_slope(tilt))
