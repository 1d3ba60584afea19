"""The Poisson-subsampled Gaussian loss: its likelihood ratio, and bounds of its integrand off the real axis (A2).

In standard deviations of the noise, with rate q and shift s,

    r(x) = 1 − q + q e^y,  y = s x − s²/2,   ρ = (q/(1 − q)) e^y,   p = ρ/(1 + ρ) = d log r/dy,

and M(z) = ∫ f_z, f_z = φ(x) r(x)^{c₁} r(−x)^{c₂} with (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add, and (1 + z, −z)
to replace. A factor rises if its exponent is positive at z = l, and falls if it is negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.numerics.special import FloatArray

FARTHEST_END = 60.0
"""Beyond 60 standard deviations the normal law holds e^−1800, less than any δ that is asked."""
_FAR = 300.0
"""Exponents beyond which e^y is taken out of a logarithm, below the 709 at which it overflows."""


class Exponents(NamedTuple):
    """The first law has density φ(x) r(x)^density; the loss is right · log r(x) + left · log r(−x)."""

    density: int
    right: int
    left: int


EXPONENTS: dict[Direction, Exponents] = {
    "remove": Exponents(1, 1, 0),
    "add": Exponents(0, -1, 0),
    "replace": Exponents(1, 1, -1),
}
"""Exponents of the density and of both factors of the loss, by the direction that is asked (A2)."""


def log_mixture(rate: float, y: FloatArray) -> FloatArray:
    """Return log(1 − q + q e^y) without cancellation: for q ≤ ½, and for y ≥ 0 at any q (A4, Errors of L)."""
    near = np.log1p(rate * np.expm1(np.minimum(y, _FAR)))
    far = y + math.log(rate) + np.log1p((1.0 - rate) / rate * np.exp(-np.maximum(y, _FAR)))
    return np.where(y > _FAR, far, near)


@dataclass(frozen=True)
class SampledGaussianLoss:
    """One step's loss, 0 < rate < 1, shift > 0, of noise between two ends; what lies beyond is left out (A2, Hard cut).

    Attributes:
        low: x_a < 0, in standard deviations of the noise.
        high: x_b > 0.
    """

    rate: float
    shift: float
    exponents: Exponents
    low: float = -FARTHEST_END
    high: float = FARTHEST_END

    @property
    def supremum(self) -> float:
        """−log(1 − q) to add, rounded up; otherwise the loss is unbounded."""
        return math.inf if self.exponents.density else -math.log1p(-self.rate) * (1.0 + 4 * UNIT_ROUNDOFF)

    def log_beyond(self, end: FloatArray, side: int) -> FloatArray:
        """Return an upper bound of log P(side · x > end), P the first law, for ends ≥ 0."""
        mean = self.shift if self.exponents.density and side > 0 else 0.0
        value = np.logaddexp(math.log1p(-self.rate) + log_ndtr(-end), math.log(self.rate) + log_ndtr(mean - end))
        return np.asarray(value + 1e-12 * (1.0 + np.abs(value)))

    @cached_property
    def log_odds(self) -> float:
        """log q/(1 − q)."""
        return math.log(self.rate) - math.log1p(-self.rate)

    def powers(self, tilts: FloatArray | float) -> list[tuple[int, FloatArray]]:
        """Return the factors of the tilted integrand as (±1, c): r(±x)^c."""
        density, right, left = self.exponents
        factors = [(1, density + right * np.asarray(tilts)), (-1, left * np.asarray(tilts))]
        return factors if left else factors[:1]

    def response(self, x: FloatArray) -> FloatArray:
        """Return p(x)."""
        return np.asarray(expit(self.log_odds + self._log_argument(x)))

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Return log r(x), within `ratio_error` of the truth (A4, Errors of L).

        Relative accuracy survives a small loss, a rate near 0 (no y + log q for ordinary y) and a rate near 1 (1 − q is
        exact there, and nothing of its size is subtracted).
        """
        y = self._log_argument(x)
        if self.rate > 0.5:
            rest = 1.0 - self.rate
            near = y + np.log1p(rest * np.expm1(np.minimum(-y, _FAR)))
            far = math.log(rest) + np.log1p(self.rate / rest * np.exp(np.minimum(y, -_FAR)))
            return np.where(y < -_FAR, far, near)
        return log_mixture(self.rate, y)

    def ratio_error(self, x: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Bound the error of `log_ratio`, for nodes that are themselves off by a unit of roundoff."""
        y = np.abs(self._log_argument(x)) + self.shift * np.abs(x)
        if self.rate > 0.5:
            return np.asarray(24 * UNIT_ROUNDOFF * y)
        return np.asarray(UNIT_ROUNDOFF * (16.0 * np.abs(log_ratio) + 8.0 * self.response(x) * y))

    def _log_argument(self, x: FloatArray) -> FloatArray:
        """Return y = s (x − s/2), within two units of roundoff."""
        return self.shift * (x - 0.5 * self.shift)

    def log_fallen(self, tilt: float, angles: FloatArray) -> FloatArray:
        """log of a bound of (|r(x + iy)|/r(x))^{−l} for the falling factor, convex in the angle s y; 0 without one.

        It is largest where p is, at an end: (1 − 4σ sin²(v/2))^{−l/2} ≤ cos(v/2)^{−4σl}, as −log(1 − ux) is convex.
        """
        if self.exponents == EXPONENTS["remove"]:
            return np.zeros_like(angles)
        _, spread = clipped_response(self.response(np.asarray(-self.low if self.exponents.left else self.high)))
        return np.asarray(-4.0 * spread * tilt * np.log(np.cos(0.5 * angles)))

    def log_strip_growth(self, tilt: float, frequency: float, heights: FloatArray) -> FloatArray:
        """log E, a bound on ∫ |f_z(x + iy)| dx/M(l) for |y| ≤ a, at tilts and |t| up to the given ones (A2, Strip).

        Every factor turns by no more than where p is largest, at its end.
        """
        ends = [np.asarray(self.high if sign > 0 else -self.low) for sign, _ in self.powers(tilt)]
        turn = sum(float(clipped_response(self.response(end))[0]) for end in ends) * (1.0 + 1e-9)
        angles = self.shift * heights
        return 0.5 * heights * heights + turn * frequency * angles + self.log_fallen(tilt, angles)

    def log_at_ends(self, tilts: FloatArray) -> FloatArray:
        """Return log of a bound of f_l, and of φ, summed over both ends."""
        logs = []
        for end in (np.asarray(self.low), np.asarray(self.high)):
            log_density = value = -0.5 * end * end - LOG_SQRT_2PI
            for sign, power in self.powers(tilts):
                ratio = self.log_ratio(sign * end)
                value = value + power * ratio + np.abs(power) * self.ratio_error(sign * end, ratio)
            logs.append(np.maximum(value, log_density))
        return np.asarray(np.logaddexp(*logs) + 1e-9)


def clipped_response(response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bounds, rising in p: arg r(x + iy) ≤ v · first and 1 − |r(x + iy)|²/r(x)² ≤ 4 sin²(v/2) · second, v = s y < π."""
    small = response <= 0.5
    return np.where(small, response, 1.0), np.where(small, response * (1.0 - response), 0.25)


def turned(response: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return arg r(x + iy) and log |r(x + iy)|/r(x) from p(x), for each angle s y: r(x + iy) ∝ 1 − p + p e^{i s y}."""
    sine, square = np.sin(angles)[:, None], np.sin(0.5 * angles)[:, None] ** 2
    turn = np.arctan2(response * sine, 1.0 - 2.0 * response * square)
    return turn, 0.5 * np.log1p(-4.0 * response * (1.0 - response) * square)
