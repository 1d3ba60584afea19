"""The integrand of a sampled Gaussian on an interval of its noise, and its bounds off the real axis (certificate, A2).

The noise is x ~ N(0, 1), and z = l + it has l ≥ 0. The integrand is

    f_z(x) = φ(x) r(x)^{c₁} r(−x)^{c₂},   (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add, (1 + z, −z) to replace.

A factor rises if its exponent is positive at z = l > 0, and falls if it is negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI
from epsilond.accountants.engine.contour.likelihood_ratio import clip_response
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
    from epsilond.accountants.numerics.special import FloatArray


class Piece(NamedTuple):
    """The integrand f_z on an interval of the noise.

    Attributes:
        ratio: likelihood ratio of one step, as a function of the noise x.
        direction: direction of the pair.
        low: lower bound of x, in standard deviations.
        high: upper bound of x.
    """

    ratio: LikelihoodRatio
    direction: Direction
    low: float
    high: float

    def factors(self, tilt: float) -> list[tuple[int, float]]:
        """Return the factors r(±x)^c of f_l as pairs (±1, c)."""
        if self.direction == "add":
            return [(1, -tilt)]
        return [(1, 1.0 + tilt), (-1, -tilt)] if self.direction == "replace" else [(1, 1.0 + tilt)]

    def losses(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the log density under the first distribution at nodes x, its error, the loss, and its error (A4)."""
        ratio = self.ratio.log_ratio(x)
        error = self.ratio.ratio_error(x, ratio)
        log_normal = -0.5 * x * x - LOG_SQRT_2PI
        rounding = UNIT_ROUNDOFF * (8.0 * x * x + 4.0 * np.abs(ratio) + 64.0)
        if self.direction == "add":
            return log_normal, rounding, -ratio, error
        density = log_normal + ratio, error + rounding
        if self.direction == "remove":
            return *density, ratio, error
        mirrored = self.ratio.log_ratio(-x)
        return *density, ratio - mirrored, error + self.ratio.ratio_error(-x, mirrored)

    def turn(self, x: FloatArray, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return the phase θ and log G, the growth of the integrand, on the contour of the decay bound (A3).

        Args:
            x: nodes on the real axis.
            tilt: real part l of z.
            height: height y of the contour.
        """
        theta, growth = np.zeros((2, x.size))
        for sign, power in self.factors(tilt):
            argument, size = self.ratio.turn(sign * x, height)
            theta, growth = theta + argument, growth + power * size
        return theta, growth

    def log_maximum(self, tilt: float, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return upper bounds of log f_l on intervals (A2, Panels).

        A rising factor is convex in its logarithm, hence below its chord. A falling one is concave, hence below its
        tangent in the middle. A line minus x²/2 exceeds its larger end value by at most an eighth of the squared width.

        Args:
            tilt: real part l of z.
            low: lower bounds of the intervals of x.
            high: upper bounds of the intervals of x.
        """
        middle = 0.5 * (low + high)
        at_low, at_high, size = -0.5 * low * low, -0.5 * high * high, np.zeros_like(low)
        for sign, power in self.factors(tilt):
            if power >= 0.0:
                left, right = power * self.ratio.log_ratio(sign * low), power * self.ratio.log_ratio(sign * high)
            else:
                value = power * self.ratio.log_ratio(sign * middle)
                rise = 0.5 * power * sign * self.ratio.shift * self.ratio.response(sign * middle) * (high - low)
                left, right = value - rise, value + rise
            at_low, at_high, size = at_low + left, at_high + right, size + np.abs(left) + np.abs(right)
        rounding = 1e-9 + 1e-13 * size
        return np.asarray(np.maximum(at_low, at_high) + 0.125 * (high - low) ** 2 - LOG_SQRT_2PI + rounding)

    def log_growth(
        self, tilt: float, frequency: float, low: FloatArray, high: FloatArray, height: FloatArray, lift: float
    ) -> FloatArray:
        """Return bounds of log |f_z(x + iy)|/f_l(x) for |y| ≤ height and x in [low, high] (A2, Off the axis).

        Args:
            tilt: real part l of z.
            frequency: largest modulus of the imaginary part of z.
            low: left ends of intervals of x.
            high: right ends of these intervals.
            height: largest |y| of each interval, with s (height + lift) < π.
            lift: height at which f_l itself is taken for the decay bound, with frequency 0 (A3).
        """
        growth = 0.5 * height * height
        for sign, power in self.factors(tilt):
            turn, variance = clip_response(self.ratio.response(high if sign > 0 else -low))
            growth = growth + (1.0 + 1e-9) * frequency * self.ratio.shift * height * turn
            if power < 0.0:
                growth = growth + 4.0 * variance * power * np.log(np.cos(0.5 * self.ratio.shift * (height + lift)))
        return np.asarray(growth)
