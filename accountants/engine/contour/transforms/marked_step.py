"""One step of the sampled Gaussian, each outcome marked as large with the probability w(x) = Φ((x − x_c)/τ).

|w(x + iy)| ≤ w(x) e^{y²/2τ²}, since it integrates a Gaussian of that modulus, so marks cost every bound off the axis
that factor and nothing else. The same holds for 1 − w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from epsilond.accountants.engine.contour.transforms.sampled_gaussian import (
    DECAY_NATS,
    LEAST_RATE,
    Tilts,
    whole_line,
)
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grid import EXPONENTS, SampledGaussianGrid, turned
from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    RefusalReason,
    characteristic_changes,
    summation_error,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.engine.contour.transforms.transform import ComplexArray, Line, NodeBudget
    from epsilond.accountants.numerics.special import FloatArray

_LEFT, _BEYOND = -9.0, 12.0
_NEAR_SHARES, _FAR_SHARES = np.linspace(0.0, 1.0, 480), np.geomspace(1e-3, 1.0, 40)
_LOG_TAIL_ACCURACY = 1e-12
_HEIGHTS = np.linspace(0.0, 1.0, 8)
_RARE = 4.0
"""Standard deviations below x_c where marks are rare, and the loss is flattest."""
_LEAST_REST = 1e-9
"""Of a step without a mark, which is known to some 1e−16 only."""
_STEEPEST = 60.0
"""Most nats by which the quadrature is laid finer because marks are rare."""


class Onset(NamedTuple):
    """Where losses begin to count as large: x_c and τ, in standard deviations of the noise."""

    place: float
    softness: float

    @classmethod
    def at_loss(cls, loss: SampledGaussianLoss, size: float, softness: float) -> Onset:
        """About where r(x) = e^size."""
        odds = (math.expm1(size) if size < 700.0 else math.inf) / loss.rate
        log_odds = math.log1p(odds) if odds < 1e300 else size - math.log(loss.rate)
        return cls(log_odds / loss.shift + 0.5 * loss.shift, softness)

    def spread(self, loss: SampledGaussianLoss) -> float:
        """The deviation in loss over which marks set in, where they are rare: about how fast the marked half falls."""
        slope: float = loss.shift * float(loss.response(np.asarray(self.place - _RARE * self.softness)))
        return slope / math.sqrt(self.flatness)

    @property
    def flatness(self) -> float:
        """1 + 1/τ²: |φ w| off the axis is at most e^{y²/2} to this power times its value on it."""
        return 1.0 + 1.0 / (self.softness * self.softness)


class Halves(NamedTuple):
    """One step at real tilts: K, the marked share of M, and mean and variance of the loss without and with a mark."""

    cumulant: FloatArray
    share: FloatArray
    mean: FloatArray
    variance: FloatArray
    marked_mean: FloatArray
    marked_variance: FloatArray


class StepOnLine(NamedTuple):
    """One step on a line in units of M(λ), turned by e^{−it·mean}: unmarked s, marked l, and bounds of their errors.

    Attributes:
        unmarked_change: s − 1.
        share: l(0), the marked share, within `share_error`.
        mean: the computed mean of the loss.
        cumulant: log M(λ), within `cumulant_error`.
    """

    unmarked_change: ComplexArray
    unmarked_error: FloatArray
    marked: ComplexArray
    marked_error: FloatArray
    share: float
    share_error: float
    mean: float
    cumulant: float
    cumulant_error: float

    @property
    def unmarked(self) -> ComplexArray:
        """s."""
        return 1.0 + self.unmarked_change


@dataclass(frozen=True)
class MarkedStep:
    """T independent steps of a loss that rises with the noise, and their marks.

    Attributes:
        loss: of one step; to remove or to replace.
        count: T.
        onset: of the marks.
    """

    loss: SampledGaussianLoss
    count: int
    onset: Onset

    @property
    def log_marked(self) -> float:
        """log E[w(x)] under the first law, at least: x + τ·noise exceeds x_c."""
        place, spread = self.onset.place, math.hypot(1.0, self.onset.softness)
        sides = log_ndtr(np.asarray([-place, self.loss.shift - place]) / spread)
        return float(np.logaddexp(math.log1p(-self.loss.rate) + sides[0], math.log(self.loss.rate) + sides[1]))

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> MarkedGrid:
        """A quadrature that keeps the error of both halves below e^−31/T of the marked one.

        Raises:
            ContourRefused: it exceeds the budget, or the rate is below 1e−100.
        """
        if self.loss.rate < LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.loss.rate:g}")
        # Bounds of few steps' decay must be small themselves.
        finer = min(-self.log_marked, _STEEPEST) + (DECAY_NATS if frequency == 0.0 else 0.0)
        rule = whole_line(
            self.loss,
            self.count,
            Tilts(*tilts),
            frequency,
            budget.noise_nodes,
            softness=self.onset.softness,
            finer=finer,
        )
        return MarkedGrid(SampledGaussianGrid(self.loss, self.count, rule, frequency), self.onset)

    def log_unmarked(self, tilts: FloatArray) -> FloatArray:
        """Upper bounds of log M_s(μ) at tilts μ ≥ 0, by a sum over cells: φ, r and 1 − w are monotone in each.

        Beyond the last cell the integrand falls by a factor e^{−16} or more per unit of x.
        """
        place, softness = self.onset
        shift = self.loss.shift
        right = max(place + _BEYOND * softness, _LEFT + 1.0)
        last = max(place + softness**2 * (shift * (2.0 + 2.0 * float(tilts[-1])) + 16.0), right + 1.0, 0.0)
        ends = np.concatenate((_LEFT + (right - _LEFT) * _NEAR_SHARES, right + (last - right) * _FAR_SHARES))
        below, above = ndtr(ends), ndtr(-ends)
        # Of T M_s − T only a little may be lost: cells hold what they hold, not what a rectangle above them does.
        mass = np.where(ends[1:] <= 0.0, np.diff(below), -np.diff(above))
        log_mass = np.log(mass * (1.0 + 1e-10) + 1e-300)
        log_rest = log_ndtr((place - ends) / softness) * (1.0 - 2.0 * _LOG_TAIL_ACCURACY)
        first, beyond = float(log_ndtr(_LEFT)), -0.5 * last * last + float(log_rest[-1])
        weights = np.concatenate(([first], log_mass + log_rest[:-1], [beyond]))
        at = np.append(ends, last)
        ratio = self.loss.log_ratio(at)
        density, slope, left = self.loss.exponents
        exponents = density * ratio + tilts[:, None] * (slope * ratio)
        if left:
            exponents = exponents + tilts[:, None] * (left * self.loss.log_ratio(-at))
        logs = weights + exponents
        top = logs.max(axis=1)
        total = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        size = 1.0 + np.abs(top) + float(np.abs(at).max()) ** 2 + (1.0 + tilts) * np.abs(ratio).max()
        return np.asarray(total + 64 * UNIT_ROUNDOFF * (size + ends.size / 64.0))


@dataclass(frozen=True)
class MarkedGrid:
    """T steps of one loss on the nodes of one rule, with their marks."""

    grid: SampledGaussianGrid
    onset: Onset

    @cached_property
    def _argument(self) -> FloatArray:
        return np.asarray((self.grid.points - self.onset.place) / self.onset.softness)

    @cached_property
    def _log_mark(self) -> FloatArray:
        """log w."""
        return np.asarray(log_ndtr(self._argument))

    @cached_property
    def _mark(self) -> FloatArray:
        """w, within a relative 1e−12 (1 + |log w|)."""
        return np.exp(self._log_mark)

    @cached_property
    def _rest(self) -> FloatArray:
        """1 − w, within 1e−12 of the smaller of w and 1 − w."""
        return np.where(self._argument < 0.0, 1.0 - self._mark, np.exp(log_ndtr(-self._argument)))

    @cached_property
    def _raised(self) -> tuple[FloatArray, FloatArray]:
        """1 − w and w, each raised by its error."""
        slack = 4.0 * _LOG_TAIL_ACCURACY
        return self._rest + slack * self._mark, self._mark * (1.0 + slack * (1.0 - self._log_mark))

    @cached_property
    def _sums(self) -> FloatArray:
        """Columns w, wL, wL² and the same of 1 − w."""
        loss = self.grid.loss
        return np.stack([half * loss**k for half in (self._rest, self._mark) for k in range(3)], axis=1)

    def halves(self, tilts: FloatArray) -> Halves:
        """Moments of both halves; estimates."""
        weights, cumulant = self.grid.tilted(tilts)
        sums = weights @ self._sums
        least = np.maximum(sums[:, [0, 3]], 1e-300)
        rest_mean, mean = sums[:, 1] / least[:, 0], sums[:, 4] / least[:, 1]
        rest_variance = np.maximum(sums[:, 2] / least[:, 0] - rest_mean**2, 0.0)
        variance = np.maximum(sums[:, 5] / least[:, 1] - mean**2, 0.0)
        share = np.minimum(least[:, 1], 1.0 - 1e-16)
        return Halves(cumulant, share, rest_mean, rest_variance, mean, variance)

    def upper_halves(self, tilts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """log M as summed, and upper bounds of both halves of M in units of that sum."""
        weights, cumulant = self.grid.tilted(tilts)
        error = self.grid.plain_sum_error(tilts, cumulant)
        rest, marked = (weights @ half for half in self._raised)
        return cumulant, rest * (1.0 + error) + error, marked * (1.0 + error) + error

    # Decay on the line (A3).

    def decay(self, tilt: float, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Upper bounds of |s(t′)| and |l(t′)| in units of M, for all t′ ≥ t, at each frequency t.

        |s| ≤ |s + l| + |l|: the sum falls faster than a bound by way of 1 − w would show.
        """
        rest, marked = self.upper_halves(np.asarray([tilt]))[1:]
        weights, log_moment = self.grid.tilted(np.asarray([tilt]))
        half = self._bound(weights[0] * self._raised[1], tilt, float(log_moment[0]), frequencies)
        half = np.minimum(half, marked[0])
        whole = np.exp(self.grid.log_decay(tilt, frequencies) / self.grid.count)
        return np.minimum(whole * (1.0 + 1e-12) + half, rest[0]), half

    def _bound(self, weights: FloatArray, tilt: float, log_moment: float, frequencies: FloatArray) -> FloatArray:
        """e^{y²(1 + 1/τ²)/2} (Σ weights G e^{−tθ} + error) for the best of a few heights y."""
        source, points, flatness = self.grid.source, self.grid.points, self.onset.flatness
        factors = [(source.response(sign * points), exponent) for sign, exponent in source.powers(tilt)]
        total = max(float(weights.sum()), 1e-300)
        response = float(weights @ sum(response for response, _ in factors)) / total
        most = 1.4 / source.shift
        slow = min(response, float(source.response(np.asarray(self.onset.place))))
        low = max(min(0.7 * float(frequencies[0]) * source.shift * slow / flatness, 0.2 * most), 1e-100)
        high = min(float(frequencies[-1]) * source.shift * response / flatness, most)
        heights = np.asarray(low * (max(high, 1.001 * low) / low) ** _HEIGHTS)
        growth = turns = np.zeros(1)
        for response_at, exponent in factors:
            turn, size = turned(response_at, source.shift * heights)
            growth, turns = growth + exponent * size, turns + turn
        kept = weights > 1e-30 * total / weights.size
        dropped = float((weights[~kept] * np.exp(np.minimum(growth[:, ~kept].max(axis=0), 600.0))).sum())
        growth, turns = np.broadcast_to(growth, turns.shape)[:, kept], turns[:, kept]
        values = np.exp(np.minimum(growth - frequencies[:, None, None] * turns, 600.0)) @ weights[kept]
        rounding = self.grid.decay_rounding(tilt)
        error = self.grid.rule.decay_error(tilt, log_moment, heights)
        log_bound = 0.5 * flatness * heights * heights + np.log(
            values * (1.0 + rounding + EXPONENTS) + dropped + error + 1e-300
        )
        return np.asarray(np.exp(np.minimum(log_bound.min(axis=1) + 1e-12, 600.0)))

    # A line (A4).

    def on_line(self, line: Line) -> StepOnLine:
        """Both halves, with the errors of quadrature, weights, losses, marks and sums."""
        grid = self.grid
        weights, weight_error, cumulant, cumulant_error = grid.weigh(line.tilt)
        mean = float(weights @ grid.loss)
        deviation = grid.loss - mean
        if weights[0] + weights[-1] > grid.rule.most_at_ends:
            raise ContourRefused(
                RefusalReason.INCONSISTENT, f"weight {weights[0] + weights[-1]:.2g} at the ends of the noise"
            )
        quadrature = float(grid.rule.relative_error(np.asarray([line.tilt]), np.asarray([cumulant]), grid.frequency)[0])
        summing = summation_error(grid.noise_nodes) + 32 * UNIT_ROUNDOFF
        relative = weight_error + summing
        marked, rest = weights * self._mark, weights * self._rest
        share = float(marked.sum())
        if not 1e-250 < share < 1.0 - _LEAST_REST:
            raise ContourRefused(RefusalReason.NO_TILT, f"a share of {share:.3g} of a step is large")
        moved = _LOG_TAIL_ACCURACY * float(marked @ (1.0 - self._log_mark))
        share_error = 1.01 * float(marked @ relative) + 2.02 * quadrature + moved
        least = math.exp(-34.0) / (grid.count * grid.noise_nodes)
        kept = (weights > least) | (marked > least * share)
        change, marked_change = characteristic_changes(np.stack([rest, marked])[:, kept], deviation[kept], line)
        size = np.abs(deviation)

        def error(half: FloatArray) -> FloatArray:
            slope = float((half * size) @ relative) + float(half @ grid.loss_error)
            return np.asarray(1.01 * slope * line.frequencies + 2.02 * float(half[~kept].sum()) + 3.0 * share_error)

        return StepOnLine(
            change - share,
            error(rest),
            share + marked_change,
            error(marked),
            share,
            share_error,
            mean,
            cumulant,
            cumulant_error + 2.02 * quadrature,
        )
