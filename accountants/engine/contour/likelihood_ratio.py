"""The likelihood ratio of a sampled Gaussian to its noise, on the real axis and off it (certificate, A2 and A4).

In standard deviations of the noise, with rate q and shift s,

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
    """The function r of a rate q in (0, 1) and a shift s > 0."""

    rate: float
    shift: float

    def exponent(self, x: FloatArray) -> FloatArray:
        """Return y = s (x − s/2) within two units of roundoff."""
        return self.shift * (x - 0.5 * self.shift)

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Return log r(x) within `ratio_error`; for q > ½ it is y + log(q + (1 − q) e^−y), as 1 − q is exact."""
        y = self.exponent(x)
        return y + log_mixture(1.0 - self.rate, -y) if self.rate > 0.5 else log_mixture(self.rate, y)

    def ratio_error(self, x: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Bound the error of log r(x), where x errs by two units of roundoff of |x| + 2 (A4, Errors of L)."""
        size = np.abs(self.exponent(x)) + self.shift * (np.abs(x) + 1.0)
        if self.rate > 0.5:
            return np.asarray(24 * UNIT_ROUNDOFF * size)
        return np.asarray(UNIT_ROUNDOFF * (16.0 * np.abs(log_ratio) + 8.0 * self.response(x) * size))

    def response(self, x: FloatArray) -> FloatArray:
        """Return p(x)."""
        return np.asarray(expit(math.log(self.rate) - math.log1p(-self.rate) + self.exponent(x)))

    def turn(self, x: FloatArray, height: float) -> tuple[FloatArray, FloatArray]:
        """Return arg r(x + iy) and log |r(x + iy)|/r(x), from r(x + iy) ∝ 1 − p + p e^{isy}.

        Args:
            x: real parts.
            height: imaginary part y.
        """
        response, square = self.response(x), math.sin(0.5 * self.shift * height) ** 2
        argument = np.arctan2(response * math.sin(self.shift * height), 1.0 - 2.0 * response * square)
        return argument, 0.5 * np.log1p(-4.0 * response * (1.0 - response) * square)


def log_mixture(rate: float, y: FloatArray) -> FloatArray:
    """Return log(1 − q + q e^y) for q ≤ ½, or for y ≥ 0, without cancellation (A4, Errors of L)."""
    near = np.log1p(rate * np.expm1(np.minimum(y, _LARGE_EXPONENT)))
    far = y + math.log(rate) + np.log1p((1.0 - rate) / rate * np.exp(-np.maximum(y, _LARGE_EXPONENT)))
    return np.where(y > _LARGE_EXPONENT, far, near)


def clip_response(response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return τ and σ, which rise with p: arg r(x + iy) ≤ τ v and 1 − |r(x + iy)|²/r(x)² ≤ 4σ sin²(v/2), v = s y < π."""
    small = response <= 0.5
    return np.where(small, response, 1.0), np.where(small, response * (1.0 - response), 0.25)
