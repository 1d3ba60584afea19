"""The likelihood ratio of a sampled Gaussian to its noise, on the real axis and off it (certificate, A2 and A4).

In standard deviations of the noise, with rate q and shift s:

    r(x) = 1 − q + q e^y,   y = s x − s²/2,   p(x) = q e^y / r(x) = (log r)′(x)/s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_LARGE_EXPONENT = 300.0
"""Exponent y beyond which e^y is taken out of the logarithm; e^y overflows at 709."""


@dataclass(frozen=True)
class LikelihoodRatio:
    """The likelihood ratio of a Poisson-subsampled Gaussian step as a function of its noise.

    With the noise x in standard deviations, the rate q and the shift s:

        r(x) = 1 − q + q e^y,   y = s x − s²/2,   p(x) = q e^y / r(x) = (log r)′(x)/s.

    p(x) is the probability that the record was included, given the noisy value.

    Attributes:
        rate: inclusion probability q in (0, 1].
        shift: sensitivity s > 0, in standard deviations of the noise.
    """

    rate: float
    shift: float

    def exponent(self, x: FloatArray) -> FloatArray:
        """Return y = s (x − s/2), the log likelihood ratio of a record that is certainly included.

        Args:
            x: values of the noise, in standard deviations.

        Returns:
            y in nats, for each value of the noise.
        """
        return self.shift * (x - 0.5 * self.shift)

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Return the log likelihood ratio of one subsampled Gaussian step, within `ratio_error`.

        With y = s x − s²/2 and the rate q it is:

            log r(x) = log(1 − q + q e^y)              for q ≤ ½,
            log r(x) = y + log(q + (1 − q) e^{−y})     for q > ½, where 1 − q is an exact double.

        Args:
            x: values of the noise, in standard deviations.

        Returns:
            log r(x) in nats, for each value of the noise.
        """
        y = self.exponent(x)
        if self.rate > 0.5:
            return y + log_mixture(1.0 - self.rate, -y)
        return log_mixture(self.rate, y)

    def ratio_error(self, x: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Bound the errors of the computed log r(x) for the likelihood ratio r(x) = 1 − q + q e^y at the noise x.

        q is the inclusion probability (`rate`), and y the exponent at x. The noise x may have an error of two units of
        roundoff of |x| + 2.

        Args:
            x: values of the noise, in standard deviations.
            log_ratio: the computed log r(x).

        Returns:
            One absolute bound for each value of the noise.

        Source: docs/engine-certificate.md, A4, Errors of L.
        """
        exponent_size = np.abs(self.exponent(x)) + self.shift * (np.abs(x) + 1.0)
        if self.rate > 0.5:
            # For q > ½ the logarithm has y as a summand, so the full error of y counts.
            return np.asarray(24 * UNIT_ROUNDOFF * exponent_size)
        # The rounding of the logarithm, and the error of y times the derivative p(x) of log r in y. This is the
        # probability that the record was included, given x.
        error_units = 16.0 * np.abs(log_ratio) + 8.0 * self.response(x) * exponent_size
        return np.asarray(UNIT_ROUNDOFF * error_units)

    def response(self, x: FloatArray) -> FloatArray:
        """Return p(x) = q e^y / r(x), the probability that the record was included, given the noisy value x.

        Here q is the rate, r the likelihood ratio of the step, and y = `exponent(x)`.

        Args:
            x: values of the noise, in standard deviations.

        Returns:
            The probability p(x) in [0, 1], for each value of the noise.
        """
        log_odds = math.log(self.rate) - math.log1p(-self.rate)
        return np.asarray(expit(log_odds + self.exponent(x)))

    def turn(self, x: FloatArray, height: float) -> tuple[FloatArray, FloatArray]:
        """Return the angle and the relative modulus of the likelihood ratio r at complex noise x + iy.

        With the shift s and p = `response(x)`:

            r(x + iy)/r(x) = 1 − p + p e^{isy},   |r(x + iy)/r(x)|² = 1 − 4p(1 − p) sin²(sy/2).

        Args:
            x: real parts of the noise, in standard deviations.
            height: imaginary part y.

        Returns:
            The angle arg r(x + iy) in radians, and log |r(x + iy)|/r(x), which is at most 0. One of each for every x.
        """
        p = self.response(x)
        angle = self.shift * height
        half_sine_squared = math.sin(0.5 * self.shift * height) ** 2
        real, imaginary = 1.0 - 2.0 * p * half_sine_squared, p * math.sin(angle)  # of r(x + iy)/r(x)
        log_modulus = 0.5 * np.log1p(-4.0 * p * (1.0 - p) * half_sine_squared)
        return np.arctan2(imaginary, real), log_modulus


def log_mixture(rate: float, y: FloatArray) -> FloatArray:
    """Compute log(1 − q + q e^y), the log likelihood ratio of a mixture, without cancellation or overflow.

    It requires q ≤ ½ or y ≥ 0. The formula is:

        log(1 + q (e^y − 1))                     for y ≤ `_LARGE_EXPONENT`,
        y + log q + log(1 + (1 − q) e^{−y}/q)    for larger y.

    Args:
        rate: q in (0, 1).
        y: exponents.

    Returns:
        The logarithm in nats, for each exponent y.

    Source: docs/engine-certificate.md, A4, Errors of L.
    """
    # Each form is evaluated at a limited y, so that it cannot overflow where the other one is used.
    for_small = np.log1p(rate * np.expm1(np.minimum(y, _LARGE_EXPONENT)))
    inverse_odds = (1.0 - rate) / rate
    for_large = y + math.log(rate) + np.log1p(inverse_odds * np.exp(-np.maximum(y, _LARGE_EXPONENT)))
    return np.where(y > _LARGE_EXPONENT, for_large, for_small)


def clip_response(response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the factors τ and σ of two bounds: on the angle and on the modulus of a complex likelihood ratio.

    Let r be the likelihood ratio of a subsampled Gaussian step and s its shift. For the complex noise x + iy with
    v = s|y| < π:

        |arg r(x + iy)| ≤ τ v,   1 − |r(x + iy)|²/r(x)² ≤ 4σ sin²(v/2).

    The factors τ and σ are p and p(1 − p) for p ≤ ½, and 1 and ¼ for p > ½. Both therefore increase with p.

    Args:
        response: p(x), the probability that the record was sampled, given the noisy value x.

    Returns:
        τ and σ, one of each for every response.
    """
    is_small = response <= 0.5
    tau = np.where(is_small, response, 1.0)
    sigma = np.where(is_small, response * (1.0 - response), 0.25)
    return tau, sigma
