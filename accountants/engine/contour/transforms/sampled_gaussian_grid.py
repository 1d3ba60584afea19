"""The subsampled Gaussian's transform from one quadrature over the noise: on real tilts, and on a line with its errors.

Sums are taken of M − 1 and φ − 1, never of M and φ, so that T steps together err by O(√T) units of roundoff, not O(T)
(docs/engine-certificate.md, A4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    Moments,
    OneStep,
    RefusalReason,
    Terms,
    characteristic_change,
    power,
    summation_error,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.engine.contour.transforms.transform import Line, LineValues
    from epsilond.accountants.numerics.special import FloatArray

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
HEIGHTS = 5
FEW = 64
EXPONENTS = 6000 * UNIT_ROUNDOFF
"""Relative error of exponentials whose exponents, of up to 700, err by a few units each."""


class QuadratureRule(Protocol):
    """A quadrature over the noise with a certified error."""

    @property
    def points(self) -> FloatArray:
        """Nodes, increasing, each within a unit of roundoff."""

    @property
    def log_weights(self) -> FloatArray | float:
        """log of the weights, for the integral over x."""

    @property
    def missing(self) -> float:
        """Mass of N(0, 1) that is left out by design."""

    @property
    def most_at_ends(self) -> float:
        """Most weight of the two outermost nodes under a tilted law; checked."""

    def relative_error(self, tilts: FloatArray, log_moments: FloatArray, frequency: float) -> FloatArray:
        """Bound on |Σ − M(l + it)|/M(l) at each tilt l with log M(l), for |t| ≤ frequency; for φ in place of f too."""

    def decay_error(self, tilt: float, log_moment: float, heights: FloatArray) -> FloatArray:
        """What must be added to the computed E_l[G e^{−tθ}] at each height to bound it, whatever t ≥ 0 (A3)."""


class Weighing(NamedTuple):
    """Nodes weighed by the tilted law: normalised weights, their relative error, K of one step and its error."""

    weights: FloatArray
    weight_error: FloatArray
    cumulant: float
    cumulant_error: float


@dataclass(frozen=True)
class SampledGaussianGrid:
    """T steps of one loss on the nodes of one rule.

    Attributes:
        source: the loss of one step.
        count: T.
        rule: the quadrature; certified for the tilts it was laid for and for frequencies up to `frequency`.
    """

    source: SampledGaussianLoss
    count: int
    rule: QuadratureRule
    frequency: float

    @property
    def noise_nodes(self) -> int:
        """Number of nodes."""
        return self.points.size

    @cached_property
    def points(self) -> FloatArray:
        """The nodes."""
        return self.rule.points

    @cached_property
    def _log_density(self) -> FloatArray:
        """log of weight times φ."""
        return np.asarray((self.rule.log_weights - LOG_SQRT_2PI) - 0.5 * self.points * self.points)

    @cached_property
    def _ratio(self) -> FloatArray:
        """log r(x)."""
        return self.source.log_ratio(self.points)

    @cached_property
    def _mirrored(self) -> FloatArray:
        """log r(−x)."""
        return self.source.log_ratio(-self.points)

    @cached_property
    def loss(self) -> FloatArray:
        """L at the nodes."""
        _, right, left = self.source.exponents
        return right * self._ratio + left * self._mirrored if left else right * self._ratio

    @cached_property
    def _log_first(self) -> FloatArray:
        """log of weight times the first law's density."""
        return self._log_density + self._ratio if self.source.exponents.density else self._log_density

    @cached_property
    def _extreme(self) -> float:
        """The largest modulus of log r or L on the nodes."""
        return max(-float(self.loss.min()), float(self.loss.max()), float(self._ratio.max()))

    # Real tilts.

    @cached_property
    def terms(self) -> Terms:
        """The sum over the nodes."""
        return Terms(self._log_first, self.loss, self.count)

    def moments(self, tilts: FloatArray) -> Moments:
        """K, K′, K″ as plain sums."""
        exponent = self._log_first + tilts[:, None] * self.loss
        top = exponent.max(axis=1)
        weights = np.exp(exponent - top[:, None])
        total = weights.sum(axis=1)
        mean = weights @ self.loss / total
        square = weights @ (self.loss * self.loss) / total
        count = self.count
        return Moments(count * (top + np.log(total)), count * mean, count * np.maximum(square - mean * mean, 0.0))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Plain sums, raised by their quadrature error and rounding; exactly 0 at tilt 0."""
        exponent = self._log_first + tilts[:, None] * self.loss
        top = exponent.max(axis=1)
        exponent -= top[:, None]
        cumulant = self.count * (top + np.log(np.exp(exponent, out=exponent).sum(axis=1)))
        error = self.plain_sum_error(tilts, cumulant / self.count)
        return np.where(tilts > 0.0, cumulant + self.count * error + 4 * UNIT_ROUNDOFF * np.abs(cumulant), 0.0)

    def plain_sum_error(self, tilts: FloatArray, log_moments: FloatArray) -> FloatArray:
        """Relative error of M as a plain sum at tilts in the range: quadrature and rounding."""
        edge = max(abs(float(self.points[0])), abs(float(self.points[-1])))
        size = (1.0 + tilts) * (64.0 * self._extreme + 64.0 * self.source.shift * edge)
        rounding = summation_error(self.noise_nodes) + UNIT_ROUNDOFF * (4.0 * edge * edge + size + 64.0)
        return np.asarray(self.rule.relative_error(tilts, log_moments, 0.0) + rounding)

    def tilted(self, tilts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normalised weights and log M of one step at each tilt, by plain sums."""
        exponent = self._log_first + tilts[:, None] * self.loss
        top = exponent.max(axis=1)
        weights = np.exp(exponent - top[:, None])
        total = weights.sum(axis=1)
        return weights / total[:, None], top + np.log(total)

    # Decay on the line (A3).

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """log of B_y(t)^T = (e^{y²/2} E_l[G e^{−tθ}])^T for the best of a few y, each an upper bound for all t′ ≥ t."""
        at_tilt = self.tilted(np.asarray([tilt]))
        weights, log_moment = at_tilt[0][0], float(at_tilt[1][0])
        factors = [(self.source.response(sign * self.points), exponent) for sign, exponent in self.source.powers(tilt)]
        heights = self._heights(float(weights @ sum(response for response, _ in factors)), frequencies)
        growth = turns = np.zeros(1)
        for response, exponent in factors:
            turn, size = turned(response, self.source.shift * heights)
            growth, turns = growth + exponent * size, turns + turn
        total = np.minimum(growth - frequencies[:, None, None] * turns, 600.0)
        rounding = self.decay_rounding(tilt)
        error = self.rule.decay_error(tilt, log_moment, heights)
        if self.count < FEW:
            # A power this low must be small itself: relative accuracy, of B.
            log_mean = np.log(np.exp(total) @ weights * (1.0 + rounding + EXPONENTS) + error + 1e-300)
        else:
            # A high power hangs on 1 − B: absolute accuracy, of B − 1.
            excess = np.expm1(total) @ weights
            log_mean = np.log1p(excess + (2.0 + np.abs(excess)) * rounding + error)
        log_bound = 0.5 * heights * heights + log_mean
        return np.asarray(self.count * np.minimum(log_bound.min(axis=1), 0.0))

    def decay_rounding(self, tilt: float) -> float:
        """Relative rounding of the weights at a tilt and of sums of exponentials that they weigh."""
        largest = float(np.abs(self._log_first).max()) + (1.0 + tilt) * self._extreme
        return summation_error(self.noise_nodes) + UNIT_ROUNDOFF * (64.0 + 8.0 * largest)

    def _heights(self, response: float, frequencies: FloatArray) -> FloatArray:
        """Heights y around the best ones, y ≈ t s E[p], at an angle s y below π/2."""
        shift = self.source.shift
        most = 1.4 / shift
        low = max(min(0.4 * float(frequencies[0]) * shift * response, 0.2 * most), 1e-100)
        high = min(float(frequencies[-1]) * shift * response, most)
        return np.asarray(low * (max(high, 1.001 * low) / low) ** np.linspace(0.0, 1.0, HEIGHTS))

    # A line (A4).

    def on_line(self, line: Line) -> LineValues:
        """φ^T with every error term: quadrature, rounding of weights and losses, of sums and of the power."""
        weights, weight_error, cumulant, cumulant_error = self.weigh(line.tilt)
        mean = float(weights @ self.loss)
        deviation = self.loss - mean
        if weights[0] + weights[-1] > self.rule.most_at_ends:
            raise ContourRefused(
                RefusalReason.INCONSISTENT, f"weight {weights[0] + weights[-1]:.2g} at the ends of the noise"
            )
        quadrature = float(self.rule.relative_error(np.asarray([line.tilt]), np.asarray([cumulant]), self.frequency)[0])
        summing = summation_error(self.noise_nodes) + 32 * UNIT_ROUNDOFF
        slope = float((weights * np.abs(deviation)) @ (weight_error + summing)) + float(weights @ self.loss_error)
        kept = weights > math.exp(-34.0) / (self.count * self.noise_nodes)
        dropped = float(weights[~kept].sum())
        change = characteristic_change(weights[kept], deviation[kept], line)
        error = 1.01 * slope * line.frequencies + 2.02 * (dropped + quadrature)
        error[0] = 0.0
        return power(OneStep(change, error, mean, cumulant, cumulant_error + 2.02 * quadrature), self.count, line)

    def weigh(self, tilt: float) -> Weighing:
        """Weights at a tilt and K, all from one evaluation."""
        density, right, left = self.source.exponents
        points, first = self.points, density + right * tilt
        exponent = first * self._ratio
        error = abs(first) * self._ratio_error + 4 * UNIT_ROUNDOFF * np.abs(exponent)
        if left:
            second = left * tilt * self._mirrored
            exponent = exponent + second
            error = error + tilt * self._mirrored_error + 4 * UNIT_ROUNDOFF * np.abs(second)
        density_error = UNIT_ROUNDOFF * (4.0 * points * points + 2.0 * np.abs(self.rule.log_weights) + 24.0)
        cumulant, cumulant_error = self._cumulant(exponent, error, density_error)
        logs = self._log_density + exponent
        weight_error = error + density_error + cumulant_error
        weight_error += UNIT_ROUNDOFF * (2.0 * np.abs(logs) + abs(cumulant) + 4.0)
        return Weighing(np.exp(logs - cumulant), weight_error, cumulant, cumulant_error)

    def _cumulant(self, exponent: FloatArray, error: FloatArray, density_error: FloatArray) -> tuple[float, float]:
        """log M from M − 1 = Σ wφ (e^exponent − 1) − missing where M is of order one, and its rounding error."""
        summing = summation_error(self.noise_nodes)
        logs = self._log_density + exponent
        top = float(logs.max())
        if top > 1.0:
            shifted = np.exp(logs - top)
            total = float(shifted.sum())
            cumulant = top + math.log(total)
            moved = float(shifted @ (error + density_error + 4 * UNIT_ROUNDOFF * np.abs(logs))) / total
            return cumulant, 1.01 * (summing + moved) + 4 * UNIT_ROUNDOFF * (abs(top) + abs(cumulant) + 1.0)
        density, full = np.exp(self._log_density), np.exp(logs)
        terms = np.where(exponent < 1.0, density * np.expm1(np.minimum(exponent, 1.0)), full - density)
        cumulant = math.log1p(float(terms.sum()) - self.rule.missing)
        moved = float(np.abs(terms) @ (density_error + summing)) + float(full @ error)
        return cumulant, 1.01 * moved * math.exp(-cumulant) + 4 * UNIT_ROUNDOFF * abs(cumulant)

    @cached_property
    def _ratio_error(self) -> FloatArray:
        return self.source.ratio_error(self.points, self._ratio)

    @cached_property
    def _mirrored_error(self) -> FloatArray:
        return self.source.ratio_error(-self.points, self._mirrored)

    @cached_property
    def loss_error(self) -> FloatArray:
        """Bound on the error of L and of its difference from any mean."""
        error = self._ratio_error + self._mirrored_error if self.source.exponents.left else self._ratio_error
        return error + 4 * UNIT_ROUNDOFF * np.abs(self.loss)


def turned(response: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """arg r(x + iy) and log |r(x + iy)|/r(x) from p(x), for each angle s y: r(x + iy) ∝ 1 − p + p e^{i s y}."""
    sine, square = np.sin(angles)[:, None], np.sin(0.5 * angles)[:, None] ** 2
    turn = np.arctan2(response * sine, 1.0 - 2.0 * response * square)
    return turn, 0.5 * np.log1p(-4.0 * response * (1.0 - response) * square)
