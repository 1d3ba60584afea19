"""Where to put the line: a tilt λ near the saddle of F(l) = K(l) − l ε − log l − log(1 + l).

F is convex, its poles keep λ above 0, and any λ > 0 gives correct bounds; a good one gives few nodes. Nothing is
certified here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from epsilond.accountants.engine.contour.accuracy import ITERATIONS
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import Part, Transform

_GROWTH = 4.0
"""Ratio of the largest tilt of a bracket to that of the one before."""
_LARGEST_TILT = 1e15
"""Largest tilt λ: beyond it 1/λ is no part of a double ε."""
_CLOSE = 0.02
"""Largest distance from the saddle, in widths of the integrand, at which a search ends: it costs no more nodes."""


class Saddle(NamedTuple):
    """A tilt λ, with estimates of derivatives of K and F there.

    It is the saddle point, the minimum of F, for one ε.

    Attributes:
        tilt: λ > 0.
        cumulant: K(λ).
        mean: K′(λ).
        curvature: F″(λ).
    """

    tilt: float
    cumulant: float
    mean: float
    curvature: float

    @property
    def epsilon(self) -> float:
        """K′ − 1/λ − 1/(1 + λ), in nats."""
        return self.mean - 1.0 / self.tilt - 1.0 / (1.0 + self.tilt)

    @property
    def width(self) -> float:
        """√F″: the range of ε that the tilt serves, and the reciprocal of the integrand's width in t."""
        return math.sqrt(self.curvature)

    def log_delta_at(self, epsilon: float) -> float:
        """Return the saddle-point estimate of log D at an ε near that of the saddle."""
        poles, offset = math.log(self.tilt) + math.log1p(self.tilt), (epsilon - self.epsilon) / self.width
        normal = 0.5 * math.log(2.0 * math.pi * self.curvature) + 0.5 * offset * offset
        return self.cumulant - self.tilt * epsilon - poles - normal

    @property
    def log_delta(self) -> float:
        """Estimate of log D at the saddle's own ε."""
        return self.log_delta_at(self.epsilon)


Target: TypeAlias = Callable[[Saddle], tuple[float, float]]
"""A function of a saddle that rises through zero at the wanted tilt, and its derivative in the tilt."""


def by_epsilon(epsilon: float) -> Target:
    """Return the target that is zero at the saddle point of an ε: the ε of a saddle minus the given one."""
    return lambda at: (at.epsilon - epsilon, at.curvature)


def by_log_delta(log_delta: float) -> Target:
    """Return the target that is zero for a given log D: the given value minus the estimate at a saddle.

    The derivative of the estimate is −λ F″ up to a term in F‴.
    """
    return lambda at: (log_delta - at.log_delta, at.tilt * at.curvature)


def by_log_size(log_size: float) -> Target:
    """Return the target that is zero for a given log Q(S > ε), which is estimated by log D + log λ − ε."""
    return lambda at: (
        log_size - (at.log_delta + math.log(at.tilt) - at.epsilon),
        (1.0 + at.tilt) * at.curvature - 1.0 / at.tilt,
    )


def measure_saddle(transforms: Sequence[Transform], tilt: float) -> Saddle:
    """Return the saddle at a tilt, from the sum of all parts' cumulants."""
    cumulant, mean, variance = map(math.fsum, zip(*(transform.moments(tilt) for transform in transforms), strict=True))
    return Saddle(tilt, cumulant, mean, variance + tilt**-2.0 + (1.0 + tilt) ** -2.0)


def find_saddle(parts: Sequence[Part], target: Target) -> Saddle:
    """Find the saddle at which a target is zero, by bisection on the logarithm of the tilt.

    Args:
        parts: parts of the composition.
        target: a function of a saddle that increases with the tilt.

    Raises:
        ContourRefused: the tilt exceeds 10^15, or a quadrature needs too many nodes.
    """
    low, high = 0.0, 1.0
    transforms = [part.resolve(high, 0.0) for part in parts]
    while target(measure_saddle(transforms, high))[0] < 0.0:
        low, high = high, high * _GROWTH
        if high > _LARGEST_TILT:
            raise ContourRefused(RefusalReason.NO_TILT, f"tilt beyond {_LARGEST_TILT:g}")
        transforms = [part.resolve(high, 0.0) for part in parts]
    for _ in range(ITERATIONS):
        saddle = measure_saddle(transforms, math.sqrt(low * high) if low > 0.0 else 0.1 * high)
        value, slope = target(saddle)
        if abs(value) * saddle.width < _CLOSE * slope:
            break
        low, high = (saddle.tilt, high) if value < 0.0 else (low, saddle.tilt)
    return saddle
