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
    """The integrand f_z on an interval of the Gaussian noise x of one step.

    M(z) is the integral of

        f_z(x) = φ(x) r(x)^{c₁} r(−x)^{c₂},   (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add, (1 + z, −z) to replace,

    where φ is the standard normal density and r the likelihood ratio of one step.

    Attributes:
        ratio: the function r.
        direction: direction of the pair.
        low: lower bound of x, in standard deviations.
        high: upper bound of x.
    """

    ratio: LikelihoodRatio
    direction: Direction
    low: float
    high: float

    def factors(self, tilt: float) -> list[tuple[int, float]]:
        """Return the factors r(±x)^c of f_l for real l as pairs (±1, c)."""
        if self.direction == "add":
            return [(1, -tilt)]
        if self.direction == "remove":
            return [(1, 1.0 + tilt)]
        return [(1, 1.0 + tilt), (-1, -tilt)]

    def losses(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the log density of the first distribution and the loss at nodes x, each followed by its error.

        Source: docs/engine-certificate.md, A4.
        """
        ratio = self.ratio.log_ratio(x)
        error = self.ratio.ratio_error(x, ratio)
        log_normal = -0.5 * x * x - LOG_SQRT_2PI
        rounding = UNIT_ROUNDOFF * (8.0 * x * x + 4.0 * np.abs(ratio) + 64.0)
        if self.direction == "add":
            return log_normal, rounding, -ratio, error
        log_density, density_error = log_normal + ratio, error + rounding
        if self.direction == "remove":
            return log_density, density_error, ratio, error
        mirrored = self.ratio.log_ratio(-x)
        return log_density, density_error, ratio - mirrored, error + self.ratio.ratio_error(-x, mirrored)

    def turn(self, x: FloatArray, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return θ(x) and log G(x) in the bound on the integrand f_z at noise with the imaginary part y.

        For z = l + it, it is e^{y²/2} f_l(x) G(x) e^{−tθ(x)}. Each factor r(±x)^c of f_z adds arg r(±x + iy) to θ, and
        c log(|r(±x + iy)|/r(±x)) to log G. Its exponent c is that at z = l (`factors`).

        Args:
            x: real noise.
            tilt: real part l of z.
            height: y, in standard deviations of the noise.

        Source: docs/engine-certificate.md, A3.
        """
        theta, growth = np.zeros((2, x.size))
        for sign, power in self.factors(tilt):
            argument, log_ratio_growth = self.ratio.turn(sign * x, height)
            theta, growth = theta + argument, growth + power * log_ratio_growth
        return theta, growth

    def log_maximum(self, tilt: float, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return upper bounds on log f_l(x), the integrand at z = l, on intervals of the noise x.

        f_l is the normal density times factors r(±x)^c. log r is convex, so the log of a factor is below its chord if
        c > 0. If c < 0 it is concave, and below its tangent in the middle. The sum of these lines minus x²/2 exceeds
        its larger value at the two bounds by at most an eighth of the squared width.

        Args:
            tilt: l ≥ 0.
            low: lower bounds of the intervals of x.
            high: upper bounds of the intervals of x.

        Source: docs/engine-certificate.md, A2, Panels.
        """
        middle = 0.5 * (low + high)
        at_low, at_high = -0.5 * low * low, -0.5 * high * high
        size = np.zeros_like(low)
        for sign, power in self.factors(tilt):
            if power >= 0.0:
                line_low = power * self.ratio.log_ratio(sign * low)
                line_high = power * self.ratio.log_ratio(sign * high)
            else:
                value = power * self.ratio.log_ratio(sign * middle)
                half_slope = 0.5 * power * sign * self.ratio.shift * self.ratio.response(sign * middle)
                half_rise = half_slope * (high - low)
                line_low, line_high = value - half_rise, value + half_rise
            at_low, at_high = at_low + line_low, at_high + line_high
            size = size + np.abs(line_low) + np.abs(line_high)
        rounding = 1e-9 + 1e-13 * size  # far more than the errors of the terms
        return np.asarray(np.maximum(at_low, at_high) + 0.125 * (high - low) ** 2 - LOG_SQRT_2PI + rounding)

    def log_growth(
        self, tilt: float, frequency: float, low: FloatArray, high: FloatArray, height: FloatArray, lift: float
    ) -> FloatArray:
        """Return bounds on log |f_z(x + iy)|/f_l(x) for |y| ≤ height and x in [low, high].

        The normal density in f_z adds y²/2. With τ and σ of `clip_response`, a factor r(±x)^c adds at most
        frequency · s|y| τ, and 4σ c log cos(s|y|/2) if c < 0.

        Args:
            tilt: real part l of z.
            frequency: largest modulus of the imaginary part of z.
            low: lower bounds of the intervals of x.
            high: upper bounds of the intervals of x.
            height: largest |y| of each interval, with s (height + lift) < π.
            lift: imaginary part of the noise in the integral of the decay bound, at frequency 0, which adds to |y|
                in the last term. It is 0 for M(z).

        Source: docs/engine-certificate.md, A2, Off the axis; A3.
        """
        growth = 0.5 * height * height
        for sign, power in self.factors(tilt):
            angle_rate, variance = clip_response(self.ratio.response(high if sign > 0 else -low))
            growth = growth + (1.0 + 1e-9) * frequency * self.ratio.shift * height * angle_rate
            if power < 0.0:
                growth = growth + 4.0 * variance * power * np.log(np.cos(0.5 * self.ratio.shift * (height + lift)))
        return np.asarray(growth)
