"""Where to put the line: a tilt λ near the saddle of F(l) = K(l) − l ε − log l − log(1 + l). Nothing is certified here.

F is convex, its poles keep λ above 0, and any λ > 0 gives correct ends; a good one gives few nodes. Tilts are surveyed
on ladders, each on a quadrature laid for its range: first one that reaches about as far as questions go, then others
that reach four times further each time. Between two rungs the ladder is made finer until a cubic is good enough.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.parts import resolve_all, usual_tilt
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part, ResolvedPart, Terms
    from epsilond.accountants.numerics.special import FloatArray

_FIRST_REACH = 12.0
_GROWTH = 4.0
_LEAST_REACH = 0.01
_ROOM = 8.0
_FEW_NODES = 2048
_LARGEST_TILT = 1e15
_ITERATIONS = 40
_FIRST_RUNGS, _RUNGS = 1.4 ** -np.arange(30.0), math.sqrt(2.0) ** -np.arange(5.0)
"""The tilts of a ladder over its reach: down to near 0, and to where the one before reaches."""
_INNER, _MOST_SPAN, _LEAST_SPAN = 7, 1.0, 1e-6
"""Places put between two rungs at once, and how far apart two may be for a cubic, in widths of the integrand."""
_KEPT, _FEW_KEPT, _FEW_PARTS = 16, 2, 16
"""How many surveys are kept, as a request asks for the same ones again: of a few parts, and of many."""
_CLOSE = 0.05
"""A tilt within this fraction of the integrand's width of the saddle is as good as the saddle."""


class Saddle(NamedTuple):
    """A tilt λ with K, K′ and F″ there, and the ε whose saddle it is; estimates."""

    tilt: float
    cumulant: float
    mean: float
    curvature: float

    @property
    def epsilon(self) -> float:
        """K′ − 1/λ − 1/(1 + λ)."""
        return self.mean - 1.0 / self.tilt - 1.0 / (1.0 + self.tilt)

    @property
    def width(self) -> float:
        """√F″: the range of ε that the tilt serves, and the reciprocal of the integrand's width in t."""
        return math.sqrt(self.curvature)

    def log_delta_near(self, epsilon: float) -> float:
        """The saddle-point estimate of log D at an ε near the place's own."""
        offset = (epsilon - self.epsilon) / self.width
        log_scale = self.cumulant - self.tilt * epsilon
        poles = math.log(self.tilt) + math.log1p(self.tilt)
        return log_scale - poles - 0.5 * math.log(2.0 * math.pi * self.curvature) - 0.5 * offset * offset

    @property
    def log_delta(self) -> float:
        """The same at the place's own ε."""
        return self.log_delta_near(self.epsilon)


class Stack(NamedTuple):
    """The sums of many parts side by side, padded with empty terms."""

    log_first: FloatArray
    loss: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, terms: Sequence[Terms]) -> Stack:
        """One row for each part."""
        width = max(each.loss.size for each in terms)
        log_first, loss = np.full((len(terms), width), -np.inf), np.zeros((len(terms), width))
        for row, each in enumerate(terms):
            log_first[row, : each.loss.size], loss[row, : each.loss.size] = each.log_first, each.loss
        return cls(log_first, loss, np.asarray([float(each.copies) for each in terms]))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all rows together."""
        exponent = self.log_first + tilt * self.loss
        top = exponent.max(axis=1)
        weights = np.exp(exponent - top[:, None])
        total = weights.sum(axis=1)
        weights *= self.loss
        mean = weights.sum(axis=1) / total
        weights *= self.loss
        variance = np.maximum(weights.sum(axis=1) / total - mean * mean, 0.0)
        cumulant = self.counts @ (top + np.log(total))
        return float(cumulant), float(self.counts @ mean), float(self.counts @ variance)


class TiltSurvey(NamedTuple):
    """Parts resolved for real tilts up to a largest one; many sums are stacked, others are evaluated one by one."""

    resolved: tuple[ResolvedPart, ...]
    reach: float
    stack: Stack | None = None

    @classmethod
    def of(cls, parts: Sequence[Part], reach: float, budget: NodeBudget) -> TiltSurvey:
        """All parts, for tilts in [0, reach]."""
        laid = _of_few if len(parts) <= _FEW_PARTS else _of_many
        return laid(parts if isinstance(parts, tuple) else tuple(parts), reach, budget)

    def moments(self, tilts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """K, K′ and F″ of the composition."""
        cumulant, mean, curvature = np.zeros_like(tilts), np.zeros_like(tilts), tilts**-2.0 + (1.0 + tilts) ** -2.0
        if self.stack is not None:
            together = np.asarray([self.stack.moments(tilt) for tilt in tilts.tolist()]).T
            cumulant, mean, curvature = cumulant + together[0], mean + together[1], curvature + together[2]
        for each in self.resolved:
            if self.stack is not None and each.terms is not None:
                continue
            moments = each.moments(tilts)
            cumulant, mean, curvature = (
                cumulant + moments.cumulant, mean + moments.mean, curvature + moments.variance
            )  # fmt: skip
        return cumulant, mean, curvature

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Upper bounds of K of the composition at tilts up to the reach."""
        bounds = sum(each.upper_cumulants(tilts) for each in self.resolved)
        return np.asarray(bounds) * (1.0 + 4 * UNIT_ROUNDOFF * len(self.resolved))

    def place(self, tilt: float) -> Saddle:
        """All of it at one tilt."""
        if self.stack is not None:
            cumulant, mean, curvature = self.moments(np.asarray([tilt]))
            return Saddle(tilt, float(cumulant[0]), float(mean[0]), float(curvature[0]))
        found = [_moments(each, tilt) for each in self.resolved]
        poles = tilt**-2.0 + (1.0 + tilt) ** -2.0
        return Saddle(tilt, *map(sum, zip(*found, (0.0, 0.0, poles), strict=True)))


def _moments(each: ResolvedPart, tilt: float) -> tuple[float, float, float]:
    """K, K′ and K″ of one part."""
    terms = each.terms
    if terms is None:
        known = each.moments(np.asarray([tilt]))
        return float(known.cumulant[0]), float(known.mean[0]), float(known.variance[0])
    exponent = tilt * terms.loss
    exponent += terms.log_first
    top = float(exponent.max())
    exponent -= top
    weights = np.exp(exponent, out=exponent)
    total = float(weights.sum())
    weights *= terms.loss
    mean, square = float(weights.sum()) / total, float(weights @ terms.loss) / total
    copies = terms.copies
    return copies * (top + math.log(total)), copies * mean, copies * max(square - mean * mean, 0.0)


def _surveyed(parts: tuple[Part, ...], reach: float, budget: NodeBudget) -> TiltSurvey:
    resolved = resolve_all(parts, (0.0, reach), 0.0, budget)
    terms = [each.terms for each in resolved if each.terms is not None]
    return TiltSurvey(resolved, reach, Stack.of(terms) if len(terms) > _FEW_PARTS else None)


_of_few = functools.lru_cache(maxsize=_KEPT)(_surveyed)
_of_many = functools.lru_cache(maxsize=_FEW_KEPT)(_surveyed)


class FoundSaddle(NamedTuple):
    """A place, and the survey it was found in."""

    place: Saddle
    survey: TiltSurvey


class SaddleTarget(NamedTuple):
    """A function of the place that rises through zero at the wanted tilt, its derivative in the tilt; log δ or ε."""

    value: Callable[[Saddle], float]
    slope: Callable[[Saddle], float]
    log_delta: float | None = None
    epsilon: float | None = None


def at_epsilon(epsilon: float) -> SaddleTarget:
    """The tilt at which the exponent of δ(ε) is stationary, F′ = 0."""
    return SaddleTarget(lambda place: place.epsilon - epsilon, lambda place: place.curvature, epsilon=epsilon)


def at_log_delta(log_delta: float) -> SaddleTarget:
    """The saddle-point estimate of log D meets the target; its derivative is −λ F″ up to a term in F‴."""
    return SaddleTarget(
        lambda place: log_delta - place.log_delta, lambda place: place.tilt * place.curvature, log_delta=log_delta
    )


def at_log_size(log_size: float) -> SaddleTarget:
    """The estimate of log Q(S > ε), which is log D + log λ − ε at the saddle of ε, meets the target."""
    return SaddleTarget(
        lambda place: log_size - (place.log_delta + math.log(place.tilt) - place.epsilon),
        lambda place: (1.0 + place.tilt) * place.curvature - 1.0 / place.tilt,
    )


def log_chernoff_factor(tilt: FloatArray) -> FloatArray:
    """log C(μ) = μ log μ − (1 + μ) log(1 + μ), the largest value of (1 − v) v^μ on [0, 1]; 0 at 0.

    As −log(1 + μ) − μ log(1 + 1/μ) it does not cancel for large μ.
    """
    ratio = np.log1p(1.0 / np.where(tilt > 0.0, tilt, np.inf))
    return np.asarray(-np.log1p(tilt) - tilt * ratio)


def survey_for(parts: Sequence[Part], tilt: float, budget: NodeBudget) -> TiltSurvey:
    """The lowest survey that reaches beyond a tilt, not too far beyond a small one.

    Raises:
        ContourRefused: a quadrature exceeds the budget.
    """
    parts = parts if isinstance(parts, tuple) else tuple(parts)
    reach = _first_reach(parts, budget)
    while reach < tilt:
        reach *= _GROWTH
    while reach / _GROWTH > _ROOM * tilt:
        reach /= _GROWTH
    return TiltSurvey.of(parts, reach, budget)


def find(parts: Sequence[Part], target: SaddleTarget, budget: NodeBudget) -> FoundSaddle:
    """The place where the target is met, within a small fraction of the integrand's width.

    Raises:
        ContourRefused: the tilt would exceed 10^15, or a quadrature the budget.
    """
    parts = parts if isinstance(parts, tuple) else tuple(parts)
    low, reach = 0.0, _first_reach(parts, budget)
    while True:
        places = _rungs(parts, reach, low == 0.0, budget)
        if target.value(places.at(0)) >= 0.0:
            survey = TiltSurvey.of(parts, reach, budget)
            least = places.tilts[-1]
            if target.value(places.at(-1)) >= 0.0:
                tilt = math.sqrt(low * least) if low else 0.1 * least
                return FoundSaddle(_polish(survey, target, low, least, tilt), survey)
            return FoundSaddle(_between(parts, reach, places, target, budget), survey)
        low, reach = reach, reach * _GROWTH
        if reach > _LARGEST_TILT:
            raise ContourRefused(RefusalReason.NO_TILT, f"tilt beyond {_LARGEST_TILT:g}")


@functools.lru_cache(maxsize=_KEPT)
def find_at_epsilon(parts: tuple[Part, ...], epsilon: float, budget: NodeBudget) -> FoundSaddle:
    """`find` at an ε, kept: a bound and the ends are asked for at the same one.

    Raises:
        ContourRefused: as `find`.
    """
    return find(parts, at_epsilon(epsilon), budget)


class TiltLadder(NamedTuple):
    """Places on one ladder of tilts, falling, of which few are looked at."""

    tilts: list[float]
    cumulants: list[float]
    means: list[float]
    curvatures: list[float]

    def at(self, k: int) -> Saddle:
        """The place k."""
        return Saddle(self.tilts[k], self.cumulants[k], self.means[k], self.curvatures[k])


def ladder(parts: tuple[Part, ...], budget: NodeBudget) -> tuple[TiltSurvey, FloatArray]:
    """The lowest survey and the tilts of its ladder."""
    reach = _first_reach(parts, budget)
    return TiltSurvey.of(parts, reach, budget), reach * _FIRST_RUNGS


def _bracketing(places: TiltLadder, target: SaddleTarget) -> int:
    """The place above which the target is met and with whose next below it is not; so at the first and the last."""
    above, below = 0, len(places.tilts) - 1
    while below - above > 1:
        middle = (above + below) // 2
        above, below = (middle, below) if target.value(places.at(middle)) >= 0.0 else (above, middle)
    return above


@functools.lru_cache(maxsize=_KEPT)
def _first_reach(parts: tuple[Part, ...], budget: NodeBudget) -> float:
    """The rung to climb from: where questions are asked, lower where a quadrature up to there takes many nodes."""
    reach, usual = _FIRST_REACH, min(usual_tilt(parts), _LARGEST_TILT)
    while reach < usual:
        reach *= 2.0
    while reach > _LEAST_REACH:
        try:
            survey = TiltSurvey.of(parts, reach, budget)
        except ContourRefused:
            survey = None
        if survey is not None and sum(each.noise_nodes for each in survey.resolved) <= _FEW_NODES * len(parts):
            return reach
        reach /= _GROWTH
    return _FIRST_REACH


@functools.lru_cache(maxsize=_KEPT)
def _rungs(parts: tuple[Part, ...], reach: float, first: bool, budget: NodeBudget) -> TiltLadder:
    """Places at the reach and at ever smaller tilts, down to the reach before, or to near 0."""
    return _places(parts, reach, reach * (_FIRST_RUNGS if first else _RUNGS), budget)


@functools.lru_cache(maxsize=_KEPT)
def _inner(parts: tuple[Part, ...], reach: float, above: float, below: float, budget: NodeBudget) -> TiltLadder:
    """Places at two tilts and at some in between, at equal ratios."""
    shares = np.arange(_INNER + 2.0) / (_INNER + 1.0)
    tilts = above * (below / above) ** shares
    tilts[-1] = below
    return _places(parts, reach, tilts, budget)


def _places(parts: tuple[Part, ...], reach: float, tilts: FloatArray, budget: NodeBudget) -> TiltLadder:
    return TiltLadder(tilts.tolist(), *map(np.ndarray.tolist, TiltSurvey.of(parts, reach, budget).moments(tilts)))


def _between(
    parts: tuple[Part, ...], reach: float, places: TiltLadder, target: SaddleTarget, budget: NodeBudget
) -> Saddle:
    """Where the target is met between the first and the last of some places."""
    survey = TiltSurvey.of(parts, reach, budget)
    for _ in range(_ITERATIONS):
        above = _bracketing(places, target)
        high, low = places.at(above), places.at(above + 1)
        span = math.log(high.tilt / low.tilt) * max(high.tilt * high.width, low.tilt * low.width)
        if span <= _MOST_SPAN:
            place = survey.place(_guess(high, low, target))
            if abs(target.value(place) / target.slope(place)) * place.width < _CLOSE or span < _LEAST_SPAN:
                return place
        # The same for each question whose target lies here.
        places = _inner(parts, reach, high.tilt, low.tilt, budget)
    return high


def _guess(above: Saddle, below: Saddle, target: SaddleTarget) -> float:
    """Cubic interpolation of the tilt's logarithm as a function of the target, linear and away from the ends else."""
    high, drop = target.value(above), target.value(below) - target.value(above)
    share, span = -high / drop, math.log(below.tilt / above.tilt)
    first, last = (drop / (target.slope(place) * place.tilt) / span for place in (above, below))
    rest = 1.0 - share
    found = share * share * (3.0 - 2.0 * share) + share * rest * (rest * first - share * last)
    if not 0.0 < found < 1.0:
        found = min(max(share, 0.1), 0.9)
    return above.tilt * math.exp(found * span)


def _polish(survey: TiltSurvey, target: SaddleTarget, low: float, high: float, tilt: float) -> Saddle:
    """Newton inside a shrinking bracket, geometric bisection where it leaves it; the last evaluation is returned."""
    for _ in range(_ITERATIONS):
        place = survey.place(tilt)
        value = target.value(place)
        low, high = (tilt, high) if value < 0.0 else (low, tilt)
        step = value / target.slope(place)
        if abs(step) * place.width < _CLOSE:
            break
        tilt -= step
        if not low < tilt < high:
            tilt = math.sqrt(low * high) if low > 0.0 else 0.1 * high
    return place
