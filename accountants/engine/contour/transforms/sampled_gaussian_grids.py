"""The transform of many subsampled Gaussian losses together: their quadratures are rows of the same arrays.

Each row is computed as `sampled_gaussian_grid` computes one, with the same errors charged; the sums over the rows, of
K, of log B and of log φ^T, are what a composition needs of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grid import EXPONENTS, FEW, HEIGHTS, LOG_SQRT_2PI
from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    LineValues,
    Moments,
    RefusalReason,
    changes_of_rows,
    polar,
    summation_error,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian_rows import SharedLine
    from epsilond.accountants.engine.contour.transforms.transform import Line, Terms
    from epsilond.accountants.numerics.special import FloatArray

_SHARES = np.linspace(0.0, 1.0, HEIGHTS)
_ENTRIES = 1 << 16
"""Most entries of an array of several tilts."""
_COARSE, _ROUGHEST = 2, 1e-3
"""Searches go by every second node, whose error is about the fourth root of the certified one, where K errs less."""


@dataclass(frozen=True, eq=False)
class SampledGaussianGrids:
    """Steps of several losses on the nodes of one rule.

    Attributes:
        counts: how many steps there are of each loss, a column.
        rule: the quadrature; certified for the tilts it was laid for and for frequencies up to `frequency`.
    """

    counts: FloatArray
    rule: SharedLine
    frequency: float

    @property
    def terms(self) -> Terms | None:
        """None: there is a sum for each row."""
        return None

    @property
    def noise_nodes(self) -> int:
        """Number of nodes of all rows."""
        return self.counts.size * self.points.size

    @property
    def points(self) -> FloatArray:
        """The nodes of every row."""
        return self.rule.points

    @cached_property
    def _log_density(self) -> FloatArray:
        """log of weight times φ, the same in every row."""
        return np.asarray((math.log(self.rule.step) - LOG_SQRT_2PI) - 0.5 * self.points * self.points)

    @cached_property
    def _ratio(self) -> FloatArray:
        """log r(x)."""
        return self.rule.losses.log_ratio(self.points)

    @cached_property
    def _mirrored(self) -> FloatArray:
        """log r(−x)."""
        return self.rule.losses.log_ratio(-self.points)

    @cached_property
    def _loss(self) -> FloatArray:
        """L at the nodes."""
        _, right, left = self.rule.losses.exponents
        return right * self._ratio + left * self._mirrored if left else right * self._ratio

    @cached_property
    def _log_first(self) -> FloatArray:
        """log of weight times the first law's density."""
        return np.asarray(self._log_density + self.rule.losses.exponents.density * self._ratio)

    @cached_property
    def _extreme(self) -> FloatArray:
        """The largest modulus of log r or L on the nodes; a column."""
        highest = np.maximum(self._loss.max(axis=1, keepdims=True), self._ratio.max(axis=1, keepdims=True))
        return np.asarray(np.maximum(highest, -self._loss.min(axis=1, keepdims=True)))

    # Real tilts.

    @cached_property
    def _coarse(self) -> tuple[FloatArray, FloatArray]:
        """log of weights and losses, for searches: a trapezoidal rule errs like e^(−1/step²)."""
        rough = float((2.0 * self.counts * self.rule.error**0.25).sum())
        if self.frequency > 0.0 or rough > _ROUGHEST:
            return self._log_first, self._loss
        chosen = slice(None, None, _COARSE)
        return np.ascontiguousarray(self._log_first[:, chosen]) + math.log(_COARSE), self._loss[:, chosen].copy()

    def moments(self, tilts: FloatArray) -> Moments:
        """Σ K, Σ K′ and Σ K″ as plain sums."""
        log_first, loss = self._coarse
        found = []
        together = max(_ENTRIES // loss.size, 1)
        for start in range(0, tilts.size, together):
            exponent = tilts[start : start + together, None, None] * loss
            exponent += log_first
            top = exponent.max(axis=2, keepdims=True)
            exponent -= top
            weights = np.exp(exponent, out=exponent)
            total = weights.sum(axis=2)
            weights *= loss
            mean = weights.sum(axis=2) / total
            weights *= loss
            variance = np.maximum(weights.sum(axis=2) / total - mean * mean, 0.0)
            found.append(np.stack((top[:, :, 0] + np.log(total), mean, variance)) @ self.counts[:, 0])
        return Moments(*np.concatenate(found, axis=1))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Plain sums, raised by their quadrature error and rounding; exactly 0 at tilt 0."""
        cumulants = np.concatenate([self._log_moments(part) for part in self._split(tilts)], axis=1)
        total = self.counts[:, 0] @ (cumulants + self._plain_sum_error(tilts) + 8 * UNIT_ROUNDOFF * np.abs(cumulants))
        return np.where(tilts > 0.0, total + summation_error(self.counts.size) * np.abs(total), 0.0)

    def _split(self, tilts: FloatArray) -> list[FloatArray]:
        together = max(_ENTRIES // self._loss.size, 1)
        return [tilts[start : start + together] for start in range(0, tilts.size, together)]

    def _log_moments(self, tilts: FloatArray) -> FloatArray:
        """log M of one step of each row, a column for each tilt."""
        exponent = tilts[:, None, None] * self._loss
        exponent += self._log_first
        top = exponent.max(axis=2, keepdims=True)
        exponent -= top
        return np.asarray((top[:, :, 0] + np.log(np.exp(exponent, out=exponent).sum(axis=2))).T)

    @property
    def _edge(self) -> float:
        return max(abs(float(self.points[0])), abs(float(self.points[-1])))

    def _plain_sum_error(self, tilts: FloatArray) -> FloatArray:
        """Relative error of each M as a plain sum: quadrature and rounding."""
        edge = self._edge
        size = (1.0 + tilts) * (64.0 * self._extreme + 64.0 * self.rule.losses.shift * edge)
        rounding = summation_error(self.points.size) + UNIT_ROUNDOFF * (4.0 * edge * edge + size + 64.0)
        return np.asarray(self.rule.error + rounding)

    def _tilted(self, tilt: float) -> FloatArray:
        """Normalised weights of one step of each row, by plain sums."""
        exponent = self._log_first + tilt * self._loss
        weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    # Decay on the line (A3).

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Σ log of B_y(t)^T for the best of a few y of each row, each an upper bound for all t′ ≥ t."""
        losses, weights = self.rule.losses, self._tilted(tilt)
        factors = [(losses.response(sign * self.points), exponent) for sign, exponent in losses.powers(tilt)]
        heights = self._heights(sum((weights * p).sum(axis=1, keepdims=True) for p, _ in factors), frequencies)
        angles = (losses.shift * heights)[:, :, None]
        growth, turns = np.zeros((1, 1, 1)), np.zeros((1, 1, 1))
        for response, exponent in factors:
            turn, size = _turned(response[:, None], angles)
            growth, turns = growth + exponent * size, turns + turn
        rounding = self._decay_rounding(tilt)
        error = self.rule.decay_error(tilt, heights)
        few, column = self.counts < FEW, weights[:, :, None]
        bounds = []
        for frequency in frequencies.tolist():
            total = turns * -frequency
            total += growth
            np.minimum(total, 600.0, out=total)
            # A power this low must be small itself: relative accuracy, of B; a high one hangs on 1 − B: absolute.
            low = high = np.zeros(1)
            if few.any():
                means = (np.exp(total) @ column)[:, :, 0]
                low = np.log(means * (1.0 + rounding + EXPONENTS) + error + 1e-300)
            if not few.all():
                excess = (np.expm1(total, out=total) @ column)[:, :, 0]
                high = np.log1p(excess + (2.0 + np.abs(excess)) * rounding + error)
            log_bound = 0.5 * heights * heights + np.where(few, low, high)
            bounds.append(float(self.counts[:, 0] @ np.minimum(log_bound.min(axis=1), 0.0)))
        return np.asarray(bounds) * (1.0 - summation_error(self.counts.size))

    def _decay_rounding(self, tilt: float) -> FloatArray:
        """Relative rounding of the weights at a tilt and of sums of exponentials that they weigh; a column."""
        largest = np.abs(self._log_first).max(axis=1, keepdims=True) + (1.0 + tilt) * self._extreme
        return np.asarray(summation_error(self.points.size) + UNIT_ROUNDOFF * (64.0 + 8.0 * largest))

    def _heights(self, response: FloatArray, frequencies: FloatArray) -> FloatArray:
        """Heights y around the best ones of each row, y ≈ t s E[p], at an angle s y below π/2."""
        shift = self.rule.losses.shift
        most, pull = 1.4 / shift, shift * response
        low = np.maximum(np.minimum(0.4 * frequencies[0] * pull, 0.2 * most), 1e-100)
        high = np.minimum(frequencies[-1] * pull, most)
        return np.asarray(low * (np.maximum(high, 1.001 * low) / low) ** _SHARES)

    # A line (A4).

    def on_line(self, line: Line) -> LineValues:
        """Π φ^T with every error term: quadrature, rounding of weights and losses, of sums and of the power."""
        weights, weight_error, cumulant, cumulant_error = self._weigh(line.tilt)
        mean = (weights * self._loss).sum(axis=1, keepdims=True)
        deviation = self._loss - mean
        ends = float((weights[:, 0] + weights[:, -1]).max())
        if ends > self.rule.most_at_ends:
            raise ContourRefused(RefusalReason.INCONSISTENT, f"weight {ends:.2g} at the ends of the noise")
        summing = summation_error(self.points.size) + 32 * UNIT_ROUNDOFF
        slope = (weights * (np.abs(deviation) * (weight_error + summing) + self._loss_error)).sum(axis=1, keepdims=True)
        kept = (weights > math.exp(-34.0) / (self.counts * self.points.size)).any(axis=0)
        dropped = weights[:, ~kept].sum(axis=1, keepdims=True)
        change = changes_of_rows(weights[:, kept], deviation[:, kept], line)
        error = 1.01 * slope * line.frequencies + 2.02 * (dropped + self.rule.error)
        error[:, 0] = 0.0
        one, counts = polar(change, error, mean, line.frequencies), self.counts[:, 0]
        logs, phases = counts @ np.abs(one.log_modulus), counts @ np.abs(one.phase)
        more = 1.0 + summation_error(counts.size)
        known = cumulant_error + 2.02 * self.rule.error + 2 * UNIT_ROUNDOFF * np.abs(cumulant)
        return LineValues(
            log_modulus=counts @ one.log_modulus,
            phase=counts @ one.phase,
            log_growth=(counts @ one.log_growth) * more,
            rounding=(counts @ one.rounding) * more + summation_error(counts.size) * (logs + phases),
            centre=math.fsum((self.counts * mean).ravel().tolist()),
            cumulant=math.fsum((self.counts * cumulant).ravel().tolist()),
            cumulant_error=float((self.counts * known).sum()) * more,
        )

    def _weigh(self, tilt: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Weights at a tilt with their relative error, K of one step of each row and its error."""
        density, right, left = self.rule.losses.exponents
        points, first = self.points, density + right * tilt
        exponent = first * self._ratio
        error = abs(first) * self._ratio_error + 4 * UNIT_ROUNDOFF * np.abs(exponent)
        if left:
            second = left * tilt * self._mirrored
            exponent = exponent + second
            error = error + tilt * self._mirrored_error + 4 * UNIT_ROUNDOFF * np.abs(second)
        density_error = UNIT_ROUNDOFF * (4.0 * points * points + 2.0 * abs(math.log(self.rule.step)) + 24.0)
        cumulant, cumulant_error = self._cumulant(exponent, error, density_error)
        logs = self._log_density + exponent
        weight_error = error + density_error + cumulant_error
        weight_error += UNIT_ROUNDOFF * (2.0 * np.abs(logs) + np.abs(cumulant) + 4.0)
        return np.exp(logs - cumulant), weight_error, cumulant, cumulant_error

    def _cumulant(
        self, exponent: FloatArray, error: FloatArray, density_error: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """log M from M − 1 = Σ wφ (e^exponent − 1) where M is of order one, and its rounding error; columns."""
        summing = summation_error(self.points.size)
        logs = self._log_density + exponent
        top = logs.max(axis=1, keepdims=True)
        near = top <= 1.0
        density, full = np.exp(self._log_density), np.exp(np.minimum(logs, 1.0))
        terms = np.where(exponent < 1.0, density * np.expm1(np.minimum(exponent, 1.0)), full - density)
        cumulant = np.log1p(terms.sum(axis=1, keepdims=True))
        moved = (np.abs(terms) * (density_error + summing) + full * error).sum(axis=1, keepdims=True)
        rounding = 1.01 * moved * np.exp(-cumulant) + 4 * UNIT_ROUNDOFF * np.abs(cumulant)
        if bool(near.all()):
            return cumulant, rounding
        shifted = np.exp(logs - top)
        total = shifted.sum(axis=1, keepdims=True)
        large = top + np.log(total)
        moved = (shifted * (error + density_error + 4 * UNIT_ROUNDOFF * np.abs(logs))).sum(axis=1, keepdims=True)
        coarse = 1.01 * (summing + moved / total) + 4 * UNIT_ROUNDOFF * (np.abs(top) + np.abs(large) + 1.0)
        return np.where(near, cumulant, large), np.where(near, rounding, coarse)

    @cached_property
    def _ratio_error(self) -> FloatArray:
        return self.rule.losses.ratio_error(self.points, self._ratio)

    @cached_property
    def _mirrored_error(self) -> FloatArray:
        return self.rule.losses.ratio_error(-self.points, self._mirrored)

    @cached_property
    def _loss_error(self) -> FloatArray:
        """Bound on the error of L and of its difference from any mean."""
        both = self.rule.losses.exponents.left
        error = self._ratio_error + self._mirrored_error if both else self._ratio_error
        return error + 4 * UNIT_ROUNDOFF * np.abs(self._loss)


def _turned(response: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """arg r(x + iy) and log |r(x + iy)|/r(x) from p(x), for each angle s y: r(x + iy) ∝ 1 − p + p e^{i s y}."""
    sine, square = np.sin(angles), np.sin(0.5 * angles) ** 2
    turn = np.arctan2(response * sine, 1.0 - 2.0 * response * square)
    return turn, 0.5 * np.log1p(-4.0 * response * (1.0 - response) * square)
