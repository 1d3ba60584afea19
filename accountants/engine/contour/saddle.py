"""The position of the line of integration: a tilt λ near the minimum of F(l) = K(l) − l ε − log l − log(1 + l).

F is convex, and its poles keep λ above 0. Any λ > 0 gives correct bounds; one near the minimum needs few nodes. The
numbers here are estimates without certified errors.
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
"""Largest tilt λ: for larger ones 1/λ is lost in the rounding of ε."""
_CLOSE = 0.02
"""Largest distance from the saddle, in widths of the integrand, at which a search ends: it costs no more nodes."""


class Saddle(NamedTuple):
    """A tilt λ > 0 for the vertical line of the integral for δ(ε), with estimates of derivatives there.

    K(l) = log E[e^{lS}] is the cumulant of the total privacy loss S. The exponent of the integrand is F(l) = K(l) − lε
    − log l − log(1 + l). Every λ > 0 is the saddle point, the minimum of F, for exactly one ε.

    Attributes:
        tilt: exponent λ > 0 of the weights e^{λS}.
        cumulant: K(λ), the log moment.
        mean: K′(λ), the mean of the weighted total loss, in nats.
        curvature: F″(λ), in nats².
    """

    tilt: float
    cumulant: float
    mean: float
    curvature: float

    @property
    def epsilon(self) -> float:
        """The ε, in nats, of which λ is the saddle point: K′(λ) − 1/λ − 1/(1 + λ)."""
        return self.mean - 1.0 / self.tilt - 1.0 / (1.0 + self.tilt)

    @property
    def width(self) -> float:
        """√F″: the range of ε in which the line at λ is accurate, and the reciprocal of the integrand's width in t."""
        return math.sqrt(self.curvature)

    def log_delta_at(self, epsilon: float) -> float:
        """Return the saddle-point estimate of log δ at an ε near that of the saddle.

        The saddle is the tilt λ that minimises F(λ) = K(λ) − λε − log(λ (1 + λ)) at the saddle's own ε, ε_λ. With F of
        the given ε:

            δ(ε) ≈ e^{F(λ)}/√(2πF″(λ)) · e^{−(ε − ε_λ)²/2F″(λ)}.

        Args:
            epsilon: ε in nats, at most a few widths √F″ from ε_λ.

        Returns:
            The estimate of log δ(ε), without error bounds.
        """
        log_poles = math.log(self.tilt) + math.log1p(self.tilt)
        exponent = self.cumulant - self.tilt * epsilon - log_poles  # F(λ)
        offset = (epsilon - self.epsilon) / self.width
        log_gaussian = 0.5 * math.log(2.0 * math.pi * self.curvature) + 0.5 * offset * offset
        return exponent - log_gaussian

    @property
    def log_delta(self) -> float:
        """Estimate of log δ at the saddle's own ε, of the losses that are not left out as improbable."""
        return self.log_delta_at(self.epsilon)


Target: TypeAlias = Callable[[Saddle], tuple[float, float]]
"""A function of a saddle that returns a number, which increases with the tilt, and its derivative in the tilt.

The number is zero at the requested saddle.
"""


def epsilon_target(epsilon: float) -> Target:
    """Return a function that is zero at the saddle point of a given ε, for a search on the tilt λ.

    Args:
        epsilon: ε in nats.

    Returns:
        A function from a saddle to its ε minus the given one, and to the derivative of this difference in λ.
    """
    return lambda saddle: (saddle.epsilon - epsilon, saddle.curvature)


def log_delta_target(log_delta: float) -> Target:
    """Return a function that is zero at the saddle with a given estimate of log δ, for a search on the tilt λ.

    The derivative of the estimate in λ is −λ F″(λ), up to a term with the third derivative of F, which is left out. F
    is the exponent of the integrand, and F″ the curvature of the saddle.

    Args:
        log_delta: the given log δ.

    Returns:
        A function from a saddle to the given log δ minus its estimate, and to the derivative of this difference in λ.
    """
    return lambda saddle: (log_delta - saddle.log_delta, saddle.tilt * saddle.curvature)


def log_size_target(log_size: float) -> Target:
    """Return a function that is zero at the saddle with a given false positive rate, for a search on the tilt λ.

    The rate is that of the test which rejects the second distribution Q if the total privacy loss S exceeds ε. The
    estimate at a saddle is log Q(S > ε) ≈ log δ(ε) + log λ − ε.

    Args:
        log_size: log of the false positive rate Q(S > ε).

    Returns:
        A function from a saddle to the given log rate minus its estimate, and to the derivative of this difference
        in λ.
    """

    def target(saddle: Saddle) -> tuple[float, float]:
        """Return the given log rate minus its estimate at a saddle, and the derivative in the tilt."""
        estimate = saddle.log_delta + math.log(saddle.tilt) - saddle.epsilon
        derivative = (1.0 + saddle.tilt) * saddle.curvature - 1.0 / saddle.tilt
        return log_size - estimate, derivative

    return target


def measure_saddle(transforms: Sequence[Transform], tilt: float) -> Saddle:
    """Return a tilt λ with the cumulant and its derivatives there, summed over all parts of a composition.

    K(l) = log E[e^{lS}] is the cumulant of the total loss S. With F(l) = K(l) − l ε − log l − log(1 + l), the curvature
    is F″(λ) = K″(λ) + 1/λ² + 1/(1 + λ)².

    Args:
        transforms: one for each part, which gives the share of this part in K, K′ and K″.
        tilt: exponent λ > 0 of the weights e^{λS}.

    Returns:
        The saddle, with K(λ), K′(λ) and F″(λ) of the composition.
    """
    # The losses of the parts are independent, so their cumulants and derivatives add up.
    moments = [transform.moments(tilt) for transform in transforms]
    cumulant = math.fsum(cumulant for cumulant, _, _ in moments)
    mean = math.fsum(mean for _, mean, _ in moments)
    variance = math.fsum(variance for _, _, variance in moments)
    curvature = variance + tilt**-2.0 + (1.0 + tilt) ** -2.0
    return Saddle(tilt, cumulant, mean, curvature)


def find_saddle(parts: Sequence[Part], target: Target) -> Saddle:
    """Find the tilt at which a target function is zero, by bisection on the logarithm of the tilt.

    A tilt is an exponent λ > 0 of weights e^{λS} of the total loss S. A `Saddle` is a tilt with derivatives there.

    Args:
        parts: parts of the composition, at least one.
        target: function from a saddle to a value that increases with the tilt, and to its derivative.

    Returns:
        A saddle near the zero of the target. Its tilt is off by about `_CLOSE` widths of the integrand at most.
        It may be farther away if `ITERATIONS` bisections do not suffice.

    Raises:
        ContourRefused: the tilt exceeds 10^15, or a quadrature needs too many nodes.
    """
    low, high, transforms = _bracket_tilt(parts, target)
    for _ in range(ITERATIONS):
        # The geometric mean, because tilts range over many orders of magnitude. No tilt may be 0.
        middle = math.sqrt(low * high) if low > 0.0 else 0.1 * high
        saddle = measure_saddle(transforms, middle)
        value, slope = target(saddle)
        # |value| / slope estimates the distance of the tilts, and 1 / `width` is the width of the integrand.
        is_close = abs(value) * saddle.width < _CLOSE * slope
        if is_close:
            break
        if value < 0.0:
            low = middle
        else:
            high = middle
    return saddle


def _bracket_tilt(parts: Sequence[Part], target: Target) -> tuple[float, float, list[Transform]]:
    """Return two tilts around the zero of a target function, and transforms of all parts for tilts between them.

    A tilt is an exponent λ > 0 of weights e^{λS} of the total loss S. A `Saddle` is a tilt with derivatives there.
    The upper tilt starts at 1 and is multiplied by `_GROWTH` until the target is not negative there.

    Args:
        parts: parts of the composition.
        target: function from a saddle to a value that increases with the tilt, and to its derivative.

    Returns:
        A tilt at which the target is negative, or 0, and a larger one at which it is not negative. Then the transforms,
        with quadrature nodes that were chosen for the larger tilt.

    Raises:
        ContourRefused: the upper tilt exceeds 10^15, or a quadrature needs too many nodes.
    """
    low, high = 0.0, 1.0
    while True:
        transforms = [part.resolve(high, 0.0) for part in parts]
        value, _ = target(measure_saddle(transforms, high))
        if not value < 0.0:
            return low, high, transforms
        low, high = high, high * _GROWTH
        if high > _LARGEST_TILT:
            raise ContourRefused(RefusalReason.NO_TILT, f"tilt beyond {_LARGEST_TILT:g}")
