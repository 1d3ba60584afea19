"""T steps of the subsampled Gaussian mechanism: their transform from sums over the noise, with every error."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.accuracy import LEAST_RATE, LOG_SQRT_2PI, NEGLIGIBLE_NATS, TINY
from epsilond.accountants.engine.contour.noise import END_UNIT, noise_rule, summation_error, upper_normal_tail
from epsilond.accountants.engine.contour.part import LineValues, characteristic_change, powered
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.sampled_gaussian import FARTHEST_END, turned
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.noise import NoiseRule
    from epsilond.accountants.engine.contour.part import Line
    from epsilond.accountants.engine.contour.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.numerics.special import FloatArray

_DECAY_HEIGHTS = 5
"""Heights y that are tried for the decay bound, from the best for the first frequency to that for the last."""


@dataclass(frozen=True)
class SampledGaussianSteps:
    """T independent steps of one loss."""

    loss: SampledGaussianLoss
    count: int

    @property
    def supremum(self) -> float:
        """T times the loss's own, rounded up."""
        return self.count * self.loss.supremum * (1.0 + 4 * UNIT_ROUNDOFF)

    @property
    def log_leak(self) -> float:
        """Upper bound of log T P(x outside the ends)."""
        below = self.loss.log_beyond(np.asarray(-self.loss.low), -1)
        return (
            math.log(self.count)
            + float(np.logaddexp(below, self.loss.log_beyond(np.asarray(self.loss.high), 1)))
            + 1e-12
        )

    def cut_at(self, log_leak: float, span: tuple[float, float]) -> SampledGaussianSteps:
        """Return the steps less noise outside a span that holds e^`log_leak` at most, half to each side (A2)."""
        wanted, ends = log_leak - math.log(2.0 * self.count), []
        places = END_UNIT * np.arange(1.0, FARTHEST_END / END_UNIT + 1.0)
        for side in (-1, 1):
            enough = (self.loss.log_beyond(places, side) <= wanted) & (side * span[side > 0] <= places)
            ends.append(float(places[enough.argmax()]) if enough.any() else FARTHEST_END)
        return SampledGaussianSteps(dataclasses.replace(self.loss, low=-ends[0], high=ends[1]), self.count)

    def on_reals(self, reach: float) -> NoiseSums:
        """Return sums over the noise for tilts up to the reach.

        Raises:
            ContourRefused: too many nodes, or a rate below 1e−100.
        """
        if self.loss.rate < LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.loss.rate:g}")
        return NoiseSums.on(noise_rule(self.loss, self.count, reach, 0.0), self.count)

    def on_line(self, line: Line, most_products: int) -> LineValues:
        """Return φ^T with every error: quadrature, rounding of weights and losses, of sums and of the power.

        Raises:
            ContourRefused: too many nodes, or too large an error.
        """
        rule = noise_rule(self.loss, self.count, line.tilt, line.nodes * line.spacing)
        if rule.points.size * line.nodes > most_products:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{rule.points.size} times {line.nodes} nodes")
        return line_values(rule, self.count, line)


@dataclass(frozen=True)
class NoiseSums:
    """M(l) = Σ e^{log_first + l · loss} of one step over the nodes of a rule, and T."""

    rule: NoiseRule
    count: int
    log_first: FloatArray
    loss: FloatArray

    @classmethod
    def on(cls, rule: NoiseRule, count: int) -> NoiseSums:
        """Evaluate the first law's density and the loss at the nodes."""
        (density, right, left), ratio = rule.loss.exponents, rule.loss.log_ratio(rule.points)
        loss = right * ratio + (left * rule.loss.log_ratio(-rule.points) if left else 0.0)
        return cls(rule, count, _log_density(rule) + density * ratio, loss)

    def _tilted(self, tilts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return normalised weights and log M of one step at each tilt."""
        exponent = self.log_first + tilts[:, None] * self.loss
        top = exponent.max(axis=1)
        weights = np.exp(exponent - top[:, None])
        total = weights.sum(axis=1)
        return weights / total[:, None], top + np.log(total)

    def moments(self, tilts: FloatArray) -> FloatArray:
        """Return K, K′, K″ as plain sums."""
        weights, log_moments = self._tilted(tilts)
        mean = weights @ self.loss
        variance = np.maximum(weights @ (self.loss * self.loss) - mean * mean, 0.0)
        return np.asarray(self.count * np.stack((log_moments, mean, variance)))

    def _rounding(self, tilts: FloatArray) -> FloatArray:
        """Return the relative rounding of weights at each tilt, and of sums of exponentials that they weigh."""
        source, points = self.rule.loss, self.rule.points
        edge, largest = np.abs(points).max(), np.abs(self.loss).max() + np.abs(source.log_ratio(points)).max()
        size = 4.0 * edge * edge + 64.0 * (1.0 + (1.0 + tilts) * (largest + source.shift * edge))
        return np.asarray(summation_error(points.size) + UNIT_ROUNDOFF * size)

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return plain sums, raised by their quadrature error and rounding; exactly 0 at tilt 0."""
        log_moments = self._tilted(tilts)[1]
        error = self.rule.error + np.log1p(self.rule.end_share(tilts, log_moments)) + self._rounding(tilts)
        raised = log_moments + error + 4 * UNIT_ROUNDOFF * np.abs(log_moments)
        return np.where(tilts > 0.0, self.count * raised, 0.0)

    def end_error(self, tilts: FloatArray) -> FloatArray:
        """Return T times what the ends of the noise add."""
        return self.count * self.rule.end_share(tilts, self._tilted(tilts)[1])

    def span(self, tilt: float) -> tuple[float, float]:
        """Return where the tilted law has weight, up to e^−40 in all steps."""
        (weights,), _ = self._tilted(np.asarray([tilt]))
        points = self.rule.points[weights > math.exp(-NEGLIGIBLE_NATS) / self.count]
        return float(points[0]), float(points[-1])

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """log of B_y(t)^T = (e^{y²/2} E_l[G e^{−tθ}])^T for the best of a few y, an upper bound for all t′ ≥ t (A3)."""
        source, at_tilt = self.rule.loss, np.asarray([tilt])
        (weights,), (log_moment,) = self._tilted(at_tilt)
        factors = [(source.response(sign * self.rule.points), float(power)) for sign, power in source.powers(tilt)]
        best = frequencies[[0, -1]] * source.shift * float(weights @ sum(response for response, _ in factors))
        most = 1.4 / source.shift  # an angle s y below π/2
        low = max(min(0.4 * float(best[0]), 0.2 * most), 1e-100)
        heights = np.geomspace(low, max(min(float(best[1]), most), 1.001 * low), _DECAY_HEIGHTS)
        growth, turns = np.zeros((2, _DECAY_HEIGHTS, self.loss.size))
        for response, power in factors:
            turn, size = turned(response, source.shift * heights)
            growth, turns = growth + power * size, turns + turn
        total = np.minimum(growth - frequencies[:, None, None] * turns, 600.0)
        rounding, error = self._rounding(at_tilt), self.rule.decay_error(tilt, float(log_moment), heights)
        # A low power must be small itself: relative accuracy, of B. A high one hangs on 1 − B: absolute, of B − 1.
        mean = np.log(np.exp(total) @ weights * (1.0 + rounding + 6000 * UNIT_ROUNDOFF) + error + TINY)
        excess = np.expm1(total) @ weights
        less_one = np.log1p(excess + (2.0 + np.abs(excess)) * rounding + error)
        log_bound = 0.5 * heights * heights + np.minimum(mean, less_one)
        return np.asarray(self.count * np.minimum(log_bound.min(axis=1), 0.0))


def _log_density(rule: NoiseRule) -> FloatArray:
    """Return log of step times φ."""
    return np.asarray(math.log(rule.step) - LOG_SQRT_2PI - 0.5 * rule.points * rule.points)


def _cumulant(
    rule: NoiseRule, exponent: FloatArray, error: FloatArray, density_error: FloatArray
) -> tuple[float, float]:
    """Return log M from M − 1 = Σ wφ (e^exponent − 1) where M is of order one, and its rounding error (A4).

    The mass of φ beyond ends, which M − 1 lacks, is charged as an error.
    """
    summing, log_density = summation_error(exponent.size), _log_density(rule)
    logs = log_density + exponent
    if (top := float(logs.max())) > 1.0:
        shifted = np.exp(logs - top)
        cumulant = top + math.log(float(shifted.sum()))
        moved = float(shifted @ (error + density_error + 4 * UNIT_ROUNDOFF * np.abs(logs))) / float(shifted.sum())
        return cumulant, 1.01 * (summing + moved) + 4 * UNIT_ROUNDOFF * (abs(top) + abs(cumulant) + 1.0)
    density, full = np.exp(log_density), np.exp(logs)
    terms = np.where(exponent < 1.0, density * np.expm1(np.minimum(exponent, 1.0)), full - density)
    cumulant = math.log1p(float(terms.sum()))
    moved = float(np.abs(terms) @ (density_error + summing)) + float(full @ error)
    moved += upper_normal_tail(-rule.loss.low) + upper_normal_tail(rule.loss.high)
    return cumulant, 1.01 * moved * math.exp(-cumulant) + 4 * UNIT_ROUNDOFF * abs(cumulant)


def line_values(rule: NoiseRule, count: int, line: Line) -> LineValues:
    """Return φ^T on a line from the nodes of a rule that was laid for it, all from one evaluation (A4, What η is).

    Raises:
        ContourRefused: a share of the ends that is not small, or too large an error.
    """
    source, x = rule.loss, rule.points
    loss, loss_error, exponent, error = np.zeros((4, x.size))
    for (sign, power), factor in zip(source.powers(line.tilt), source.exponents[1:], strict=False):
        ratio = source.log_ratio(sign * x)
        ratio_error = source.ratio_error(sign * x, ratio)
        loss, loss_error, exponent = loss + factor * ratio, loss_error + ratio_error, exponent + power * ratio
        error = error + np.abs(power) * ratio_error + 4 * UNIT_ROUNDOFF * np.abs(power * ratio)
    density_error = UNIT_ROUNDOFF * (4.0 * x * x + 2.0 * abs(math.log(rule.step)) + 24.0)
    cumulant, cumulant_error = _cumulant(rule, exponent, error, density_error)
    share = float(rule.end_share(np.asarray(line.tilt), np.asarray(cumulant)))
    if not (share <= 1e-3 and cumulant >= -1e-3):
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"share {share:.2g} at the ends of the noise")
    quadrature, logs = rule.error + 1.01 * share, _log_density(rule) + exponent
    weights, mean = np.exp(logs - cumulant), float(np.exp(logs - cumulant) @ loss)
    moved = error + density_error + cumulant_error + UNIT_ROUNDOFF * (2.0 * np.abs(logs) + abs(cumulant) + 4.0)
    moved = moved + summation_error(x.size) + 32 * UNIT_ROUNDOFF
    slope = float((weights * np.abs(loss - mean)) @ moved) + float(
        weights @ (loss_error + 4 * UNIT_ROUNDOFF * np.abs(loss))
    )
    of_one = 1.01 * slope * line.frequencies + 2.02 * quadrature
    of_one[0] = 0.0
    fields = powered(characteristic_change(weights, loss - mean, line), of_one, mean, line.frequencies, count)
    cumulant_error += 2.02 * quadrature + 2 * UNIT_ROUNDOFF * abs(cumulant)
    return LineValues(*fields, count * mean, count * cumulant, count * cumulant_error)
