"""The Poisson-subsampled Gaussian loss: its likelihood ratio, and bounds of its integrand off the real axis.

In units of the noise's standard deviation, with rate q and shift s,

    r(x) = 1 − q + q e^y,  y = s x − s²/2,   ρ = (q/(1 − q)) e^y,   p = ρ/(1 + ρ) = d log r/dy,

and for one step M(z) = ∫ φ(x) r(x)^{c₁} r(−x)^{c₂} dx with (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add and
(1 + z, −z) to replace. The statements are in docs/engine-certificate.md, A2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr

from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    RefusalReason,
    exact_step,
    log_strip_error,
    normal_quantile,
    upper_normal_tail,
    widest_step,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.numerics.special import FloatArray


LEAST_RATE = 1e-100
FAR = 300.0
LAYERS = np.asarray([0.0, *np.arange(1.0, 9.0, 0.5), *np.arange(9.0, 20.0, 1.0), *np.arange(20.0, 60.0, 5.0)])
_LAYER_ENDS = np.append(LAYERS, np.inf)


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


class Tilts(NamedTuple):
    """A range of real tilts, 0 ≤ least ≤ most."""

    least: float
    most: float


@dataclass(frozen=True)
class SampledGaussianLoss:
    """One step's loss, 1e−100 ≤ rate < 1, shift > 0."""

    rate: float
    shift: float
    exponents: Exponents

    @property
    def supremum(self) -> float:
        """−log(1 − q) to add, rounded up; otherwise the loss is unbounded."""
        if self.exponents.right > 0:
            return math.inf
        return -math.log1p(-self.rate) * (1.0 + 4 * UNIT_ROUNDOFF)

    @property
    def factors(self) -> tuple[int, int]:
        """How many of r(x)^{c₁}, r(−x)^{c₂} have a positive and how many a negative exponent at positive tilts."""
        return (self.exponents.right > 0) + 0, (self.exponents.right < 0) + (self.exponents.left < 0)

    @cached_property
    def log_odds(self) -> float:
        """log q/(1 − q)."""
        return math.log(self.rate) - math.log1p(-self.rate)

    def powers(self, tilt: float) -> list[tuple[int, float]]:
        """The factors of the tilted integrand, as (±1, c): r(±x)^c."""
        density, right, left = self.exponents
        return [(1, density + right * tilt), (-1, left * tilt)] if left else [(1, density + right * tilt)]

    def log_argument(self, x: FloatArray) -> FloatArray:
        """y = s (x − s/2), within two units of roundoff."""
        return self.shift * (x - 0.5 * self.shift)

    def response(self, x: FloatArray) -> FloatArray:
        """p(x)."""
        return np.asarray(expit(self.log_odds + self.log_argument(x)))

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """log r(x) for monotone x.

        Guarantees: within `ratio_error` of the truth. Relative accuracy survives a small loss, a rate near 0 (no
        y + log q for ordinary y) and a rate near 1 (1 − q is exact there, and nothing of its size is subtracted).
        """
        y = self.log_argument(x)
        if self.rate > 0.5:
            rest = 1.0 - self.rate
            near = y + np.log1p(rest * np.expm1(np.minimum(-y, FAR)))
            if min(y[0], y[-1]) >= -FAR:
                return np.asarray(near)
            far = math.log(rest) + np.log1p(self.rate / rest * np.exp(np.minimum(y, -FAR)))
            return np.where(y < -FAR, far, near)
        near = np.log1p(self.rate * np.expm1(np.minimum(y, FAR)))
        if max(y[0], y[-1]) <= FAR:
            return near
        far = y + math.log(self.rate) + np.log1p((1.0 - self.rate) / self.rate * np.exp(-np.maximum(y, FAR)))
        return np.where(y > FAR, far, near)

    def ratio_error(self, x: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Bound on the error of `log_ratio`, for nodes that are themselves off by a unit of roundoff."""
        y = np.abs(self.log_argument(x)) + self.shift * np.abs(x)
        if self.rate > 0.5:
            return np.asarray(24 * UNIT_ROUNDOFF * y)
        return np.asarray(UNIT_ROUNDOFF * (16.0 * np.abs(log_ratio) + 8.0 * self.response(x) * y))

    def mode(self, tilt: float) -> tuple[float, float]:
        """Bracket of x* = −l s p(x*), where φ r^{−l} is largest (to add); (0, 0) otherwise."""
        if self.exponents.right > 0 or tilt == 0.0:
            return 0.0, 0.0
        low, high = -tilt * self.shift, 0.0
        while high - low > 0.02 + 1e-12 * abs(low):
            middle = 0.5 * (low + high)
            response = float(expit(self.log_odds + self.shift * (middle - 0.5 * self.shift)))
            low, high = (low, middle) if middle + tilt * self.shift * response > 0.0 else (middle, high)
        return low - 1e-9 * (1.0 - low), high + 1e-9 * (1.0 - high)

    def window(self, tilts: Tilts, c: float) -> tuple[float, float]:
        """Ends beyond which φ r^{c₁} r(−·)^{c₂} holds at most 3Φ(−c) of its integral, at every tilt in the range."""
        if self.exponents.right < 0:
            return self.mode(tilts.most)[0] - c, c
        doubled = self.exponents.left < 0 and not self.balanced
        return -c, self.shift * (1.0 + (2.0 if doubled else 1.0) * tilts.most) + c

    @property
    def balanced(self) -> bool:
        """ρ(x) ρ(−x) = (q/(1 − q))² e^{−s²} ≤ 1: then p(x) + p(−x) ≤ 1, and arg r(x + iy) − arg r(−x − iy) ≤ s y."""
        return self.log_odds <= 0.5 * self.shift**2 * (1.0 - 1e-12)

    def log_strip_growth(self, tilts: Tilts, frequency: float, heights: FloatArray) -> FloatArray:
        """log of a bound on ∫ |f_z(x + iy)| dx / M(l) for |y| ≤ a, at every tilt l in the range and |t| ≤ frequency.

        To replace, both factors turn the same way: by s y together if balanced, else by up to s y each.
        """
        rising, _ = self.factors
        angles = self.shift * heights
        falling_frequency = 0.0 if rising and self.balanced else frequency
        swing = self.log_swing(tilts, falling_frequency, angles)
        return 0.5 * heights * heights + rising * frequency * angles + swing

    def log_swing(self, tilts: Tilts, frequency: float, angles: FloatArray, beyond: float = 0.0) -> FloatArray:
        """log E_l[e^{t |arg r|} (|r(x + iy)|/r(x))^{−l}; x > mode + beyond] for the factor with a negative exponent.

        To replace, x stands for −x. At most 2Φ(−c) of the mass lies beyond mode + c; layer by layer, p is no larger
        than at the layer's end. Where no exponent is negative it is 0.
        """
        if not self.factors[1]:
            return np.zeros_like(angles)
        starts = beyond + _LAYER_ENDS
        response = self.response(self.mode(tilts.least)[1] + starts[1:])
        turn, spread = clipped_response(response)
        log_mass = np.minimum(math.log(2.0) + log_ndtr(-starts[:-1]), 0.0)
        square = np.sin(0.5 * angles[:, None]) ** 2
        exponent = frequency * angles[:, None] * turn - 0.5 * tilts.most * np.log1p(-4.0 * spread * square) + log_mass
        top = exponent.max(axis=1)
        return np.asarray(top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + 1e-9)


def clipped_response(response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bounds, rising in p: arg r(x + iy) ≤ v · first and 1 − |r(x + iy)|²/r(x)² ≤ 4 sin²(v/2) · second, v = s y < π."""
    small = response <= 0.5
    return np.where(small, response, 1.0), np.where(small, response * (1.0 - response), 0.25)


# The trapezoidal rule for the subsampled Gaussian's transform over the whole line of the noise, certified -----------
QUADRATURE_NATS = 31.0
"""The quadrature of one step errs by at most e^−31 over the number of steps."""
DECAY_NATS = 40.0
"""The decay bound of few steps must itself be small: its quadrature is finer by this over the number of steps."""
HEIGHTS = np.asarray([1.0, 0.8, 0.62, 0.48, 0.36, 0.27, 0.2, 0.14, 0.09, 0.05, 0.02, 0.007])
STRIPS = np.asarray([1.0, 0.7, 0.45, 0.3, 0.2, 0.1, 0.05])


@dataclass(frozen=True)
class WholeLine:
    """Nodes k · step over a window that leaves out a negligible part of every f_z in a range of tilts.

    Attributes:
        loss: whose integrand it serves.
        points: the nodes.
        step: distance of the nodes.
        c: the window lies this many standard deviations beyond where f_l falls like a Gaussian.
        error: bound on |step Σ f_z − M(z)|/M(l) for one step of the mechanism, window included.
        softness: τ, where the integrand has a factor Φ(±(x − x_c)/τ) besides; inf where it has none.
    """

    loss: SampledGaussianLoss
    points: FloatArray
    step: float
    c: float
    error: float
    softness: float = math.inf

    @property
    def log_weights(self) -> float:
        """log of the weight of every node."""
        return math.log(self.step)

    @property
    def missing(self) -> float:
        """Mass of N(0, 1) that the rule leaves out by design: none."""
        return 0.0

    @property
    def most_at_ends(self) -> float:
        """Beyond the window every tilted law falls like a Gaussian from c standard deviations on."""
        return 8.0 * math.exp(-0.5 * self.c * self.c)

    def relative_error(self, tilts: FloatArray, log_moments: FloatArray, frequency: float) -> FloatArray:  # noqa: ARG002
        """The same bound at every tilt and frequency it was laid for."""
        return np.full_like(tilts, self.error)

    def decay_error(self, tilt: float, log_moment: float, heights: FloatArray) -> FloatArray:  # noqa: ARG002
        """Quadrature error of E_l[G e^{−tθ}] at each height y, for any t ≥ 0.

        The integrand is analytic up to heights y′ with s y′ ≤ π/2 and s (y + y′) < π, and e^{−tθ} stays below 1 there
        (certificate, A3); outside the window G counts as well.
        """
        shift, step = self.loss.shift, self.step
        extent = Tilts(tilt, tilt)
        most = np.minimum(2.0 * math.pi / step, np.minimum(1.57, 3.1 - shift * heights) / shift)
        outer = most[:, None] * STRIPS
        swing = self.loss.log_swing(extent, 0.0, (shift * (heights[:, None] + outer)).ravel()).reshape(outer.shape)
        strip = np.min(log_strip_error(outer, 0.5 * outer * outer * (1.0 + self.softness**-2.0) + swing, step), axis=1)
        error = np.exp(np.minimum(strip, 50.0)) + self.error
        if self.loss.factors[1]:
            inside, outside = (self.loss.log_swing(extent, 0.0, shift * heights, beyond) for beyond in (0.0, self.c))
            error = error + self.error * np.exp(np.minimum(inside, 600.0)) + np.exp(np.minimum(outside, 600.0))
        return np.asarray(error)


def whole_line(
    loss: SampledGaussianLoss,
    count: int,
    tilts: Tilts,
    frequency: float,
    most_nodes: int,
    *,
    softness: float = math.inf,
    finer: float = 0.0,
) -> WholeLine:
    """The widest step and the narrowest window that keep the error of one step below e^−31/T.

    A grid for real tilts alone (frequency 0) also serves the decay bound, whose strip is half as high and whose
    quadrature must be finer for few steps. It also serves integrands with a factor Φ(±(x − x_c)/τ), τ the softness,
    of modulus at most e^{y²/2τ²} times its own at height y (certificate, A6), and errs by e^−finer less.

    Raises:
        ContourRefused: more than `most_nodes` nodes.
    """
    nats = QUADRATURE_NATS + math.log(count) + (DECAY_NATS / count if frequency == 0.0 else 0.0) + finer
    heights = min(12.0, (1.5 if frequency == 0.0 else 3.0) / loss.shift) * HEIGHTS
    growth = loss.log_strip_growth(tilts, frequency, heights) + 0.5 * (heights / softness) ** 2
    widest = widest_step(heights, growth, nats)
    step = exact_step(widest) if widest > 1e-300 else 0.0
    c = normal_quantile(nats + math.log(3.0))
    low, high = loss.window(tilts, c + step)
    if not high - low < step * (most_nodes - 2):
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{most_nodes} noise nodes of width {step:.3g}")
    points = np.asarray(step * np.arange(math.floor(low / step), math.ceil(high / step) + 1), dtype=np.float64)
    strip = math.exp(float(np.min(log_strip_error(heights, growth, step))))
    return WholeLine(loss, points, step, c, strip + 3.0 * upper_normal_tail(c), softness)
