"""log δ of one composition near one ε: the nodes, evaluated and certified at any ε that is asked."""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour.nodes import NATS, REACH, build
from epsilond.accountants.engine.contour.saddle import FoundSaddle, Saddle, log_chernoff_factor, survey_for
from epsilond.accountants.engine.contour.transforms.drawn_gaussian import DrawnGaussian
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceRun
from epsilond.accountants.engine.contour.transforms.some_large import SomeLarge
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.nodes import Nodes
    from epsilond.accountants.engine.contour.transforms.laplace import Beside
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part


_ENDS_KEPT = 16
_NODES_SHARE = 0.04
"""Of a width, a part that better nodes would not be worth."""
_LARGEST_UNIT = 600.0
_NEWTON_STEPS = 12
_ROOT = 1e-7
"""How near to a root Newton's iteration ends, in reaches of the nodes."""


@dataclass(frozen=True)
class ContourProfile:
    """log δ of one composition near one ε: built once, evaluated at many ε.

    Guarantees: every `log_delta` encloses the truth at the ε that is asked, however far it is from the centre (the
    alias bound is evaluated there); far away the enclosure is wide, not wrong.

    Attributes:
        parts: of the composition.
        nodes: the integrand.
        centre: the ε around which the nodes were laid, nats.
    """

    parts: tuple[Part, ...]
    nodes: Nodes
    centre: float

    @cached_property
    def _supremum(self) -> float:
        return math.fsum(part.supremum for part in self.parts)

    @cached_property
    def _known(self) -> dict[float, Interval]:
        """The last ends, which are asked for again when an answer is checked."""
        return {}

    @property
    def width(self) -> float:
        """How far from the centre, in nats, the same nodes serve well."""
        return REACH * self.nodes.place.width

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ(ε); (−inf, −inf) where δ is exactly zero.

        Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0, never NaN; lower is −inf where the certificate is not positive.
        Source: docs/engine-certificate.md, A5.

        Raises:
            ContourRefused: the sum contradicts the Chernoff bound, so that something is wrong.
        """
        known = self._known.get(epsilon)
        if known is None:
            if len(self._known) >= _ENDS_KEPT:
                self._known.clear()
            known = self._known[epsilon] = self._enclosed(epsilon)
        return known

    def _enclosed(self, epsilon: float) -> Interval:
        if epsilon >= self._supremum:
            return Interval(-math.inf, -math.inf)
        nodes = self.nodes
        value, _, error = nodes.sums(epsilon)
        log_scale, scale_error = nodes.log_scale(epsilon)
        log_excess = nodes.log_excess(epsilon) - log_scale + scale_error
        least, most = value - error - 1.001 * math.exp(min(log_excess, 600.0)), value + error
        if (found := self._beside(epsilon)) is not None:
            beside, unit = found
            least, most = least + beside.lower * unit, most + beside.upper * unit
        lower = _outward(log_scale - scale_error, least, -1)
        upper = _outward(log_scale + scale_error, most, +1)
        chernoff = nodes.chernoff.upper_log_delta(epsilon)
        if lower > chernoff + scale_error:
            raise ContourRefused(
                RefusalReason.INCONSISTENT, f"log delta above {lower:.17g}, Chernoff bound {chernoff:.17g}"
            )
        upper = min(with_leaks(min(upper, chernoff), self.parts, epsilon), 0.0)
        return Interval(float(min(lower, upper)), float(upper))

    def _beside(self, epsilon: float) -> tuple[Beside, float] | None:
        """What a run adds that its transform leaves out, and what its unit is in units of e^{K − λε}.

        Raises:
            ContourRefused: that unit is no double.
        """
        (part,) = self.parts if len(self.parts) == 1 else (None,)
        if not (isinstance(part, LaplaceRun) or (isinstance(part, DrawnGaussian) and part.alone)):
            return None
        beside = part.beside(epsilon)
        log_unit = beside.log_scale - self.nodes.log_scale(epsilon)[0]
        if log_unit > _LARGEST_UNIT:
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"the tilt does not suit epsilon {epsilon:.6g}")
        return beside, math.exp(log_unit)

    def as_narrow_as_any(self, epsilon: float, found: Interval, good: float) -> bool:
        """Whether an enclosure is at most `good` wide, or so wide for what the parts leave out, whatever the nodes."""
        width = width_of(found)
        if width <= good or not math.isfinite(width):
            return width <= good
        return width - (with_leaks(found.lower, self.parts, epsilon) - found.lower) <= _NODES_SHARE * width

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log δ(ε) and its derivative in ε from the same nodes, for root searches; nothing is certified.

        Raises:
            ContourRefused: the sum is not positive, or does not fall.
        """
        value, slope, _ = self.nodes.sums(epsilon)
        if (found := self._beside(epsilon)) is not None:
            beside, unit = found
            value, slope = value + beside.upper * unit, slope + beside.slope * unit
        if not (value > 0.0 and slope < 0.0):
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.nodes.log_scale(epsilon)[0] + math.log(value), slope / value

    def root(self, log_delta: float, guess: float | None = None) -> tuple[float, bool]:
        """Return the root of log δ(ε) = target by Newton's iteration, and whether it ends within reach or at ε = 0.

        Args:
            log_delta: the target, log δ.
            guess: where to start, if it is within reach of the nodes; otherwise the start is their centre.
        """
        known = guess is not None and abs(guess - self.centre) <= self.width
        root = max(guess if known and guess is not None else self.centre, 0.0)
        # A step of x leaves an error of about x² |f″/2f′|, with f″ ≈ −1/F″ and f′ ≈ −λ.
        place = self.nodes.place
        last = 0.1 * math.sqrt(2.0 * _ROOT * place.tilt * place.width**2 * self.width)
        for _ in range(_NEWTON_STEPS):
            value, slope = self.estimate(root)
            moved = max(root - (value - log_delta) / slope, 0.0)
            if abs(moved - self.centre) > self.width:
                return max(self.centre + math.copysign(2.0 * self.width, moved - self.centre), 0.0), False
            if abs(moved - root) <= max(last, _ROOT * self.width, 1e-14 * root):
                return moved, True
            root = moved
        return root, True

    def estimate_log_size(self, epsilon: float) -> tuple[float, float]:
        """log Q(S > ε) = log(−dδ/dε) − ε and its derivative in ε from the same nodes; nothing is certified.

        Raises:
            ContourRefused: δ, or its slope, does not fall.
        """
        slope, curvature = self.nodes.derivatives(epsilon)
        if (found := self._beside(epsilon)) is not None:
            beside, unit = found
            slope, curvature = slope + beside.slope * unit, curvature + beside.curvature * unit
        if not (slope < 0.0 < curvature - slope):
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.nodes.log_scale(epsilon)[0] + math.log(-slope) - epsilon, curvature / slope - 1.0


def with_leaks(upper: float, parts: Sequence[Part], epsilon: float) -> float:
    """An upper bound of log δ(ε) of what the transforms see, with what they leave out of δ(ε)."""
    left_out = [part.log_leak_at(epsilon) if isinstance(part, SomeLarge) else part.log_leak for part in parts]
    leaks = [leak for leak in left_out if leak > -math.inf]
    return float(np.logaddexp.reduce([upper, *leaks])) if leaks else upper


def width_of(interval: Interval) -> float:
    """Width of an enclosure of log δ; inf where the lower bound is −inf and the upper is not."""
    return 0.0 if interval.upper == interval.lower else interval.upper - interval.lower


def _outward(log_scale: float, value: float, side: int) -> float:
    """log_scale + log(value) moved outward by its rounding and kept at or below 0; −inf if value ≤ 0."""
    if value <= 0.0:
        return -math.inf
    log_value = log_scale + math.log(value)
    moved = log_value + side * 8 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_scale))
    return min(moved, 0.0)


# Nodes that neighbouring questions share: laid at tilts of a grid, so that what was asked before changes no answer.
_COARSEST = 2
"""Bits to which tilts are rounded at least."""
_FINEST = 40
_FINER = 8
_KEPT = 8
_LOWER = 2
"""How many tilts of the grid below the nearest are tried."""


def shared(parts: tuple[Part, ...], place: Saddle, budget: NodeBudget) -> ContourProfile:
    """A profile laid at the tilt of a grid that is nearest to the place's, within about half the integrand's width.

    It depends on the place through that tilt only. Where giant losses have a share in it, a lower tilt needs far fewer
    nodes and is tried at once; where the nodes of the nearest exceed the budget or do not reach where the integrand is
    small, a lower one is tried then.

    Raises:
        ContourRefused: as `build`.
    """
    steps = 0.7 * place.tilt * place.width
    jumps = place.tilt * place.width / math.sqrt(1.0 - 2.0 * min(place.log_delta, 0.0))
    if jumps > _JUMPY and len(parts) <= _FEW:
        finer = _nearest(parts, place, steps * place.tilt * place.width / _SPAN, _SPAN / place.tilt, budget)
        aside = _aside(parts, finer, budget)
        if aside.gain * jumps > _GAIN:
            return _laid_aside(parts, finer, aside.share, budget)
    tilt = _nearest(parts, place, steps, place.width, budget)
    try:
        return _laid(parts, tilt, budget)
    except ContourRefused as refused:
        if len(parts) > _MANY or refused.reason not in (RefusalReason.BEYOND_BUDGET, RefusalReason.NO_DECAY):
            raise
        refusal = ContourRefused(refused.reason, refused.detail)
    aside = _aside(parts, tilt, budget)
    if aside.gain > 1.0:
        with contextlib.suppress(ContourRefused):
            return _laid_aside(parts, tilt, aside.share, budget)
    if refusal.reason is RefusalReason.BEYOND_BUDGET:
        for lower in range(1, _LOWER + 1):
            with contextlib.suppress(ContourRefused):
                return _laid(parts, _on_grid(place.tilt, steps, lower), budget)
    raise refusal


def _nearest(parts: tuple[Part, ...], place: Saddle, steps: float, served: float, budget: NodeBudget) -> float:
    """The nearest tilt of a grid with about so many steps, finer where it is the saddle of an ε that far away.

    Where giant losses take over, the widths at two neighbouring tilts may be many times apart.
    """
    with contextlib.suppress(ContourRefused):
        for _ in range(_FINER):
            tilt = _on_grid(place.tilt, steps)
            if abs(_placed(parts, tilt, budget).place.epsilon - place.epsilon) <= served:
                return tilt
            steps *= 2.0
    return _on_grid(place.tilt, steps)


@functools.lru_cache(maxsize=_KEPT)
def _placed(parts: tuple[Part, ...], tilt: float, budget: NodeBudget) -> FoundSaddle:
    survey = survey_for(parts, tilt, budget)
    return FoundSaddle(survey.place(tilt), survey)


def _on_grid(tilt: float, steps: float, lower: int = 0) -> float:
    """The nearest tilt of a grid with about so many steps, a power of two, to each factor of two; or one `lower`."""
    bits = min(max(_COARSEST, math.ceil(math.log2(steps))), _FINEST)
    return float(2.0 ** math.ldexp(round(math.ldexp(math.log2(tilt), bits)) - lower, -bits))


@functools.lru_cache(maxsize=_KEPT)
def _laid(parts: tuple[Part, ...], tilt: float, budget: NodeBudget) -> ContourProfile:
    place, survey = _placed(parts, tilt, budget)
    nodes = build(parts, place, survey, place.epsilon, budget)
    return ContourProfile(parts, nodes, place.epsilon)


# Nodes at a lower tilt than the saddle's.
#
# Any tilt gives true ends. At the saddle of a law with rare giant losses the masses e^{λA} P(S > ε + A) of several of
# them fall slowly with A: each costs about what its tilt regains. At two thirds of that tilt they fall at once, so that
# the period, and with it the number of nodes, is several times smaller, and the sum is a few nats above δ.
_JUMPY = 1.9
"""λ times the integrand's width, in units of that of a Gaussian loss, from which giant losses have a share."""
_GAIN = 9.0
"""How many times shorter the period must be, times that width, for the saddle not to be tried."""
_FEW, _MANY = 4, 128
"""Different parts: the nodes of many are tried at the saddle first, which is more exact, of very many there alone."""
_SHARES = np.asarray([1.0, 0.92, 0.84, 0.77, 0.7, 0.63, 0.56, 0.49, 0.42, 0.35])
_OTHERS = np.geomspace(0.1, 2.2, 28)
_SPAN = 10.0
"""Most of λ times the width that the other tilts of the alias are laid for."""
_MOST_LOST = 2.5
"""Nats by which the sum may exceed δ more than at the saddle."""


class Aside(Saddle):
    """A tilt below that of a saddle, for the ε of that saddle."""

    saddle: Saddle

    @classmethod
    def of(cls, saddle: Saddle, place: Saddle) -> Aside:
        """Another place than the saddle, with K, K′ and F″ there."""
        made = cls(*place)
        made.saddle = saddle
        return made

    @property
    def epsilon(self) -> float:
        """The saddle's."""
        return self.saddle.epsilon

    @property
    def width(self) -> float:
        """The saddle's, or so much that the other tilts of the alias reach about as far as the saddle."""
        return min(self.saddle.width, _SPAN / self.saddle.tilt)

    def log_delta_near(self, epsilon: float) -> float:
        """The saddle's."""
        return self.saddle.log_delta_near(epsilon)


class _Lower(NamedTuple):
    """The share of a saddle's tilt with the shortest period, and how many times shorter it is than the saddle's."""

    share: float
    gain: float


@functools.lru_cache(maxsize=_KEPT)
def _laid_aside(parts: tuple[Part, ...], tilt: float, share: float, budget: NodeBudget) -> ContourProfile:
    saddle, survey = _placed(parts, tilt, budget)
    place = Aside.of(saddle, survey.place(tilt * share))
    nodes = build(parts, place, survey, place.epsilon, budget)
    return ContourProfile(parts, nodes, place.epsilon)


@functools.lru_cache(maxsize=_KEPT)
def _aside(parts: tuple[Part, ...], tilt: float, budget: NodeBudget) -> _Lower:
    """By estimates of the alias; at the saddle itself for the first of the shares."""
    saddle, survey = _placed(parts, tilt, budget)
    others = saddle.tilt * _OTHERS
    others = others[others <= survey.reach]
    epsilon, wanted = saddle.epsilon, saddle.log_delta - NATS
    logs = survey.moments(others)[0] + log_chernoff_factor(others) - others * epsilon
    tilts = saddle.tilt * _SHARES
    gap = others - tilts[:, None]
    above = np.where(gap > 0.0, (logs - wanted) / np.where(gap > 0.0, gap, 1.0), np.inf).min(axis=1)
    below = np.where(gap < 0.0, (logs - wanted) / np.where(gap < 0.0, -gap, 1.0), np.inf).min(axis=1)
    period = np.maximum(above, np.minimum(below, -wanted / tilts))
    lost = survey.moments(tilts)[0] - tilts * epsilon - (saddle.cumulant - saddle.tilt * epsilon)
    period[1:][lost[1:] > _MOST_LOST] = np.inf
    best = int(period[1:].argmin()) + 1
    gain = float(period[0] / period[best]) if math.isfinite(period[best]) else 0.0
    return _Lower(float(_SHARES[best]), gain)
