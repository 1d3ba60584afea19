"""The integrand of a sampled Gaussian on an interval of its noise, and its bounds off the real axis (certificate, A2).

The noise is x ~ N(0, 1), and z = l + it has l ≥ 0. The integrand is:

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
    """The integrand f_z of M(z) = E[e^{zL}] for one step's loss L, on an interval of the Gaussian noise x of the step.

    It is:

        f_z(x) = φ(x) r(x)^{c₁} r(−x)^{c₂},   (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add, (1 + z, −z) to replace.

    Here φ is the standard normal density and r the likelihood ratio of one step.

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
        """Return the factors of the integrand of E[e^{lL}]: powers of the likelihood ratio r at the noise x or −x.

        Args:
            tilt: exponent l.

        Returns:
            One pair (±1, c) for each factor r(±x)^c.
        """
        # The expectation is under N(0, 1), and the loss is −log r(x).
        if self.direction == "add":
            return [(1, -tilt)]
        # The expectation is under the density r(x) times that of N(0, 1), and the loss is log r(x).
        if self.direction == "remove":
            return [(1, 1.0 + tilt)]
        # "replace": the same density, and the loss log r(x) − log r(−x).
        return [(1, 1.0 + tilt), (-1, -tilt)]

    def losses(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Evaluate the privacy loss of one step, and the density of the first distribution, at noise x.

        Let r be the likelihood ratio. The loss is −log r(x) in the direction "add", log r(x) in the direction "remove",
        and log r(x) − log r(−x) in the direction "replace".

        Args:
            x: the noise, in standard deviations.

        Returns:
            Log density of the first distribution, bound on its error, privacy loss in nats, bound on its error.

        Source: docs/engine-certificate.md, A4.
        """
        log_ratio = self.ratio.log_ratio(x)
        ratio_error = self.ratio.ratio_error(x, log_ratio)
        log_normal = -0.5 * x * x - LOG_SQRT_2PI
        # More than the roundings of x²/2, of the constant, and of the sum with log r(x).
        rounding = UNIT_ROUNDOFF * (8.0 * x * x + 4.0 * np.abs(log_ratio) + 64.0)
        if self.direction == "add":  # the first distribution is N(0, 1)
            return log_normal, rounding, -log_ratio, ratio_error

        log_density, density_error = log_normal + log_ratio, ratio_error + rounding
        if self.direction == "remove":
            return log_density, density_error, log_ratio, ratio_error

        mirrored_log_ratio = self.ratio.log_ratio(-x)
        loss_error = ratio_error + self.ratio.ratio_error(-x, mirrored_log_ratio)
        return log_density, density_error, log_ratio - mirrored_log_ratio, loss_error

    def turn(self, x: FloatArray, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Bound how fast the integrand f_z of E[e^{zL}] decays with t = Im z at complex noise x + iy.

        For z = l + it, the bound is:

            |f_z(x + iy)| ≤ e^{y²/2} f_l(x) G(x) e^{−tθ(x)}.

        f_z is the normal density times one or two powers of the likelihood ratio r: r(x)^c, or r(−x)^c, with exponents
        c that are linear in z (`factors`). θ is the sum of the angles arg r(±x + iy) of all powers, and log G the sum
        of c log(|r(±x + iy)|/r(±x)) at z = l.

        Args:
            x: real part of the noise, in standard deviations.
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            height: imaginary part y of the noise.

        Returns:
            θ(x), in radians, and log G(x), for each x.

        Source: docs/engine-certificate.md, A3.
        """
        theta, log_growth = np.zeros((2, x.size))
        for sign, power in self.factors(tilt):
            argument, log_ratio_growth = self.ratio.turn(sign * x, height)
            theta, log_growth = theta + argument, log_growth + power * log_ratio_growth
        return theta, log_growth

    def log_maximum(self, tilt: float, low: FloatArray, high: FloatArray) -> FloatArray:
        """Bound the log of the integrand f_l(x) of E[e^{lL}] from above, on intervals of the noise x.

        f_l is the normal density times one or two powers of the likelihood ratio r: r(x)^c, or r(−x)^c. The exponents c
        are linear in l. On each interval, the log of a power is below a straight line (`_line_above`). The sum of these
        lines and −x²/2 exceeds the larger of its values at the two ends by at most w²/8, for the width w.

        Args:
            tilt: l ≥ 0, on which the exponents c depend.
            low: lower bounds of the intervals of x.
            high: upper bounds of the intervals of x.

        Returns:
            One upper bound on log f_l(x) for each interval.

        Source: docs/engine-certificate.md, A2, Panels.
        """
        at_low, at_high = -0.5 * low * low, -0.5 * high * high
        size = np.zeros_like(low)
        for sign, power in self.factors(tilt):
            line_low, line_high = self._line_above(sign, power, low, high)
            at_low, at_high = at_low + line_low, at_high + line_high
            size = size + np.abs(line_low) + np.abs(line_high)

        rounding = 1e-9 + 1e-13 * size  # far more than the errors of the terms
        curvature_bound = 0.125 * (high - low) ** 2
        return np.asarray(np.maximum(at_low, at_high) + curvature_bound - LOG_SQRT_2PI + rounding)

    def _line_above(self, sign: int, power: float, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a straight line above c log r(±x) on intervals of the noise x, where r is the likelihood ratio.

        log r is convex. So the line is the chord for c ≥ 0, and the tangent in the middle of the interval for c < 0.

        Args:
            sign: sign of x, 1 or −1.
            power: the factor c of the logarithm.
            low: lower bounds of the intervals.
            high: upper bounds of the intervals.

        Returns:
            The values of the lines at `low`, and those at `high`.
        """
        is_convex = power >= 0.0
        if is_convex:
            return power * self.ratio.log_ratio(sign * low), power * self.ratio.log_ratio(sign * high)

        # The tangent has the slope ±c s p(±x). Here s is the shift, and p the probability that the record was included.
        middle = sign * (0.5 * (low + high))
        value = power * self.ratio.log_ratio(middle)
        half_slope = 0.5 * power * sign * self.ratio.shift * self.ratio.response(middle)
        half_rise = half_slope * (high - low)
        return value - half_rise, value + half_rise

    def log_growth(
        self, tilt: float, frequency: float, low: FloatArray, high: FloatArray, height: FloatArray, lift: float
    ) -> FloatArray:
        """Bound how much the integrand f_z of E[e^{zL}] grows off the real axis of the noise.

        The bounds on log |f_z(x + iy)|/f_l(x) hold for |y| ≤ height and x in [low, high]. f_z is the normal density
        times one or two powers of the likelihood ratio r: r(x)^c, or r(−x)^c. The bound is the sum of:

            y²/2 from the normal density,
            frequency · s|y| τ from each power, and
            4σ c log cos(s(|y| + lift)/2) from each power with c < 0.

        Here s is the shift of the step. τ limits the angle of r off the axis, and σ its modulus (`clip_response`).

        Args:
            tilt: real part l of the exponent z in E[e^{zL}].
            frequency: largest modulus of the imaginary part of z.
            low: lower bounds of the intervals of x.
            high: upper bounds of the intervals of x.
            height: largest |y| of each interval, with s (height + lift) < π.
            lift: imaginary part of the noise on the path of integration. It is 0, unless the path is moved off the axis
                to bound how the moment decays with the frequency. `frequency` is then 0.

        Returns:
            One upper bound on log |f_z(x + iy)|/f_l(x) for each interval.

        Source: docs/engine-certificate.md, A2, Off the axis; A3.
        """
        shift = self.ratio.shift
        growth = 0.5 * height * height
        for sign, power in self.factors(tilt):
            # τ and σ increase with the probability that the record was included, which increases with the noise.
            largest_x = high if sign > 0 else -low
            tau, sigma = clip_response(self.ratio.response(largest_x))
            # The factor 1 + 1e-9 is a margin, far larger than the roundings of the few products.
            growth = growth + (1.0 + 1e-9) * frequency * shift * height * tau
            if power < 0.0:
                log_cosine = np.log(np.cos(0.5 * shift * (height + lift)))
                growth = growth + 4.0 * sigma * power * log_cosine
        return np.asarray(growth)
