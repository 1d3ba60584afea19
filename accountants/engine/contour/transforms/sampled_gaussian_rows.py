"""Many subsampled Gaussian losses side by side, one row for each, and one grid of the noise that serves them all.

The statements are those of `sampled_gaussian`, elementwise: a step as fine as the most demanding row wants and a window
as wide keep every row's error below its own bound. Rates are at most 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_ndtr

from epsilond.accountants.engine.contour.transforms.sampled_gaussian import (
    DECAY_NATS,
    FAR,
    HEIGHTS,
    LAYERS,
    QUADRATURE_NATS,
    STRIPS,
    Exponents,
    SampledGaussianLoss,
    Tilts,
    clipped_response,
)
from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    RefusalReason,
    exact_step,
    log_strip_error,
    normal_quantile,
    upper_normal_tail,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

LARGEST_RATE = 0.5


@dataclass(frozen=True, eq=False)
class LossRows:
    """Losses with the same exponents; `rate` and `shift` are columns."""

    rate: FloatArray
    shift: FloatArray
    exponents: Exponents

    @classmethod
    def of(cls, losses: Sequence[SampledGaussianLoss]) -> LossRows:
        """One row for each loss, of a rate of at most 1/2 and the exponents of the first."""
        rate, shift = (np.asarray([[getattr(loss, name)] for loss in losses]) for name in ("rate", "shift"))
        return cls(rate, shift, losses[0].exponents)

    @cached_property
    def log_odds(self) -> FloatArray:
        """log q/(1 − q)."""
        return np.log(self.rate) - np.log1p(-self.rate)

    @property
    def falling(self) -> bool:
        """Whether some factor of the integrand has a negative exponent at positive tilts."""
        return self.exponents.right < 0 or self.exponents.left < 0

    @cached_property
    def balanced(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Where p(x) + p(−x) ≤ 1."""
        return np.asarray(self.log_odds <= 0.5 * self.shift**2 * (1.0 - 1e-12))

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
        """log r(x) for monotone x, within `ratio_error` of the truth."""
        y = self.log_argument(x)
        near = np.log1p(self.rate * np.expm1(np.minimum(y, FAR)))
        if max(float(y[:, 0].max()), float(y[:, -1].max())) <= FAR:
            return np.asarray(near)
        rest = (1.0 - self.rate) / self.rate
        far = y + np.log(self.rate) + np.log1p(rest * np.exp(-np.maximum(y, FAR)))
        return np.where(y > FAR, far, near)

    def ratio_error(self, x: FloatArray, log_ratio: FloatArray) -> FloatArray:
        """Bound on the error of `log_ratio`, for nodes that are themselves off by a unit of roundoff."""
        y = np.abs(self.log_argument(x)) + self.shift * np.abs(x)
        return np.asarray(UNIT_ROUNDOFF * (16.0 * np.abs(log_ratio) + 8.0 * self.response(x) * y))

    def mode(self, tilt: float) -> tuple[FloatArray, FloatArray]:
        """Brackets of x* = −l s p(x*), where φ r^{−l} is largest (to add); zeros otherwise."""
        high = np.zeros_like(self.shift)
        if self.exponents.right > 0 or tilt == 0.0:
            return high, high
        low = -tilt * self.shift
        while bool(np.any(high - low > 0.02 + 1e-12 * np.abs(low))):
            middle = 0.5 * (low + high)
            above = middle + tilt * self.shift * self.response(middle) > 0.0
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return low - 1e-9 * (1.0 - low), high + 1e-9 * (1.0 - high)

    def window(self, tilts: Tilts, c: float) -> tuple[float, float]:
        """Ends beyond which every row's integrand holds at most 3Φ(−c) of its integral, at every tilt in the range."""
        if self.exponents.right < 0:
            return float(self.mode(tilts.most)[0].min()) - c, c
        doubled = np.where(self.balanced, 1.0, 2.0) if self.exponents.left < 0 else 1.0
        return -c, float((self.shift * (1.0 + doubled * tilts.most)).max()) + c

    def log_strip_growth(self, tilts: Tilts, frequency: float, heights: FloatArray) -> FloatArray:
        """log of a bound on ∫ |f_z(x + iy)| dx / M(l) for |y| ≤ a, a column for each height of a row."""
        rising = self.exponents.right > 0
        angles = self.shift * heights
        falling = np.where(self.balanced & rising, 0.0, frequency)
        swing = self.log_swing(tilts, falling, angles)
        return 0.5 * heights * heights + (frequency * angles if rising else 0.0) + swing

    def log_swing(
        self, tilts: Tilts, frequency: FloatArray | float, angles: FloatArray, beyond: float = 0.0
    ) -> FloatArray:
        """log E_l[e^{t |arg r|} (|r(x + iy)|/r(x))^{−l}; x > mode + beyond], a column for each angle of a row."""
        if not self.falling:
            return np.zeros_like(angles)
        starts = np.append(beyond + LAYERS, np.inf)
        turn, spread = clipped_response(self.response(self.mode(tilts.least)[1] + starts[1:]))
        log_mass = np.minimum(math.log(2.0) + log_ndtr(-starts[:-1]), 0.0)
        square = np.sin(0.5 * angles[:, :, None]) ** 2
        turned = (frequency * angles)[:, :, None] * turn[:, None]
        exponent = turned - 0.5 * tilts.most * np.log1p(-4.0 * spread[:, None] * square) + log_mass
        top = exponent.max(axis=2)
        return np.asarray(top + np.log(np.exp(exponent - top[:, :, None]).sum(axis=2)) + 1e-9)


@dataclass(frozen=True, eq=False)
class SharedLine:
    """Nodes k · step over a window that leaves out a negligible part of every row's integrand.

    Attributes:
        losses: whose integrands it serves.
        points: the nodes.
        step: distance of the nodes.
        c: the window lies this many standard deviations beyond where the integrands fall like a Gaussian.
        error: of each row, bound on |step Σ f_z − M(z)|/M(l) for one step of the mechanism, window included; a column.
    """

    losses: LossRows
    points: FloatArray
    step: float
    c: float
    error: FloatArray

    @property
    def most_at_ends(self) -> float:
        """Most weight of the two outermost nodes under a tilted law."""
        return 8.0 * math.exp(-0.5 * self.c * self.c)

    def decay_error(self, tilt: float, heights: FloatArray) -> FloatArray:
        """Quadrature error of E_l[G e^{−tθ}] at each height of each row, for any t ≥ 0 (certificate, A3)."""
        shift, losses = self.losses.shift, self.losses
        extent = Tilts(tilt, tilt)
        most = np.minimum(2.0 * math.pi / self.step, np.minimum(1.57, 3.1 - shift * heights) / shift)
        outer = most[:, :, None] * STRIPS
        angles = shift[:, :, None] * (heights[:, :, None] + outer)
        swing = losses.log_swing(extent, 0.0, angles.reshape(len(shift), -1)).reshape(outer.shape)
        strip = np.min(log_strip_error(outer, 0.5 * outer * outer + swing, self.step), axis=2)
        error = np.exp(np.minimum(strip, 50.0)) + self.error
        if losses.falling:
            inside, outside = (losses.log_swing(extent, 0.0, shift * heights, beyond) for beyond in (0.0, self.c))
            error = error + self.error * np.exp(np.minimum(inside, 600.0)) + np.exp(np.minimum(outside, 600.0))
        return np.asarray(error)


def shared_line(losses: LossRows, counts: FloatArray, tilts: Tilts, frequency: float, most_nodes: int) -> SharedLine:
    """The widest step and the narrowest window that keep the error of one step of every row below e^−31/T.

    `counts` is a column.

    Raises:
        ContourRefused: more than `most_nodes` nodes.
    """
    nats = QUADRATURE_NATS + np.log(counts)
    if frequency == 0.0:
        nats = nats + DECAY_NATS / counts
    heights = np.minimum(12.0, (1.5 if frequency == 0.0 else 3.0) / losses.shift) * HEIGHTS
    growth = losses.log_strip_growth(tilts, frequency, heights)
    widest = (2.0 * math.pi * heights / np.logaddexp(0.0, growth + nats + math.log(2.0))).max(axis=1).min()
    step = exact_step(float(widest)) if widest > 1e-300 else 0.0
    c = normal_quantile(float(nats.max()) + math.log(3.0))
    low, high = losses.window(tilts, c + step)
    if not high - low < step * (most_nodes - 2):
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{most_nodes} noise nodes of width {step:.3g}")
    points = np.asarray(step * np.arange(math.floor(low / step), math.ceil(high / step) + 1), dtype=np.float64)
    strip = np.exp(np.min(log_strip_error(heights, growth, step), axis=1, keepdims=True))
    return SharedLine(losses, points, step, c, strip + 3.0 * upper_normal_tail(c))
