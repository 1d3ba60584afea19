"""Where to put the line: a tilt λ near the saddle of F(l) = K(l) − l ε − log l − log(1 + l).

F is convex, its poles keep λ above 0, and any λ > 0 gives correct bounds; a good one gives few nodes. Only
`TiltRange.upper_log_bounds` is certified here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.engine.contour.accuracy import ITERATIONS
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import Part, RealTilts
    from epsilond.accountants.numerics.special import FloatArray

_GROWTH = 4.0
"""Ratio of the reach of a range of tilts to that of the one before."""
_LARGEST_TILT = 1e15
"""Largest tilt λ: beyond it 1/λ is no part of a double ε."""
_CLOSE = 0.02
"""A tilt within this fraction of the integrand's width of the saddle costs no more nodes than the saddle."""
_JUMPY = 5.0
"""λ √F″, in units of that of a Gaussian loss, from which noise is left out first: 3 and 8 give the same widths."""


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

    def log_delta_at(self, epsilon: float) -> float:
        """Return the saddle-point estimate of log D at an ε near that one."""
        poles, offset = math.log(self.tilt) + math.log1p(self.tilt), (epsilon - self.epsilon) / self.width
        normal = 0.5 * math.log(2.0 * math.pi * self.curvature) + 0.5 * offset * offset
        return self.cumulant - self.tilt * epsilon - poles - normal

    @property
    def log_delta(self) -> float:
        """The same at that ε itself."""
        return self.log_delta_at(self.epsilon)

    @property
    def jumps(self) -> bool:
        """Whether rare giant losses have a share in it."""
        return self.tilt * self.width > _JUMPY * math.sqrt(1.0 - 2.0 * min(self.log_delta, 0.0))


Target: TypeAlias = Callable[[Saddle], tuple[float, float]]
"""A function of a saddle that rises through zero at the wanted tilt, and its derivative in the tilt."""


def by_epsilon(epsilon: float) -> Target:
    """Measure how far a saddle's own ε lies above this one: F′ = 0."""
    return lambda at: (at.epsilon - epsilon, at.curvature)


def by_log_delta(log_delta: float) -> Target:
    """Measure how far the estimate of log D lies below this; its derivative is −λ F″ up to a term in F‴."""
    return lambda at: (log_delta - at.log_delta, at.tilt * at.curvature)


def by_log_size(log_size: float) -> Target:
    """Measure how far the estimate of log Q(S > ε), which is log D + log λ − ε, lies below this."""
    return lambda at: (
        log_size - (at.log_delta + math.log(at.tilt) - at.epsilon),
        (1.0 + at.tilt) * at.curvature - 1.0 / at.tilt,
    )


class TiltRange(NamedTuple):
    """The parts of a composition at real tilts from 0 up to a largest one."""

    parts: tuple[RealTilts, ...]
    reach: float

    @classmethod
    def of(cls, parts: Sequence[Part], reach: float) -> TiltRange:
        """Collect all parts; some may refuse."""
        return cls(tuple(part.on_reals(reach) for part in parts), reach)

    def saddle(self, tilt: float) -> Saddle:
        """Return K, K′ and F″ at a tilt."""
        moments = np.sum([each.moments(np.asarray([tilt])) for each in self.parts], axis=0)
        cumulant, mean, variance = moments[:, 0].tolist()
        return Saddle(tilt, cumulant, mean, variance + tilt**-2.0 + (1.0 + tilt) ** -2.0)

    def cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return K, estimated."""
        return np.asarray(sum(each.moments(tilts)[0] for each in self.parts))

    def upper_log_bounds(self, tilts: FloatArray) -> FloatArray:
        """Return upper bounds of log C(μ) + K(μ), of which log D(ε) is at most one less μ ε (A1)."""
        bounds = np.asarray([each.upper_cumulants(tilts) for each in self.parts])
        total, size = bounds.sum(axis=0) + log_chernoff_factor(tilts), len(bounds) * np.abs(bounds).sum(axis=0)
        return np.asarray(total + UNIT_ROUNDOFF * (4.0 * size + 16.0 * (1.0 + np.abs(total))))


def log_chernoff_factor(tilt: FloatArray) -> FloatArray:
    """Return log C(μ) = μ log μ − (1 + μ) log(1 + μ), the largest value of (1 − v) v^μ on [0, 1]; 0 at 0 (A1).

    As −log(1 + μ) − μ log(1 + 1/μ) it does not cancel for large μ.
    """
    return np.asarray(-np.log1p(tilt) - tilt * np.log1p(1.0 / np.where(tilt > 0.0, tilt, np.inf)))


def find(parts: Sequence[Part], target: Target) -> tuple[Saddle, TiltRange]:
    """Return the tilt where a target, which rises with it, is zero, and the range it was found in.

    Raises:
        ContourRefused: the tilt would exceed 10^15, or a quadrature the number of its nodes.
    """
    low, high = 0.0, 1.0
    tilts = TiltRange.of(parts, high)
    while target(tilts.saddle(high))[0] < 0.0:
        low, high = high, high * _GROWTH
        if high > _LARGEST_TILT:
            raise ContourRefused(RefusalReason.NO_TILT, f"tilt beyond {_LARGEST_TILT:g}")
        tilts = TiltRange.of(parts, high)
    for _ in range(ITERATIONS):
        saddle = tilts.saddle(math.sqrt(low * high) if low > 0.0 else 0.1 * high)
        value, slope = target(saddle)
        if abs(value) * saddle.width < _CLOSE * slope:
            break
        low, high = (saddle.tilt, high) if value < 0.0 else (low, saddle.tilt)
    return saddle, tilts
