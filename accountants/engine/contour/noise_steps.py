"""T steps whose loss is a function of noise: their transform from sums over nodes, with every error (A2 to A4, A8)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI, MOST_NODES, QUADRATURE_NATS, TINY
from epsilond.accountants.engine.contour.panels import Panels
from epsilond.accountants.engine.contour.part import (
    LineValues,
    characteristic_change,
    raise_to_power,
    summation_error,
)
from epsilond.accountants.engine.contour.piece import Piece
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
    from epsilond.accountants.engine.contour.part import Line
    from epsilond.accountants.numerics.special import FloatArray

_LEAST_RATE = 1e-100
"""Smallest rate that is accepted: the product of three of them is no double."""
_LARGEST_ANGLE = 1.4
"""Largest angle s y of the contour of the decay bound, in radians; the lemma allows π/2 (A3)."""
_HIGHEST = 12.0
"""Largest height y of that contour, in standard deviations of the noise; e^{y²/2} is e^72."""
_HEIGHTS = 5
"""Number of heights y that are tried for the decay bound, between the best for the first and for the last frequency."""
_MOST_PRODUCTS = 1 << 28
"""Largest number of nodes of the noise times frequencies: a second."""
NEGLIGIBLE_NATS = 40.0
"""Nats of a share that is negligible next to what T quadratures err by: weight at the ends of the noise, and, over T,
the error of one step's quadrature for the decay bound, which itself is small for few steps (A3)."""
FARTHEST_END = 60.0
"""Largest end of the noise, in standard deviations: the normal law has e^−1800 beyond, less than any δ of a double."""
_ENDS_PER_DEVIATION = 16.0
"""Ends of the noise are multiples of 1/16 of a standard deviation, so that nodes between them are exact (A4, Nodes)."""


@dataclass(frozen=True)
class NoiseSteps:
    """T independent steps, Poisson-sampled in one direction or on batches without replacement, as a part.

    A batch has the integrands to remove and to add on x ≥ s/2, and the atom a = (1 − q) erf(s/√8) at the loss 0 (A8).

    Attributes:
        ratio: likelihood ratio with the rate and the shift.
        kind: direction of the pair, or "drawn" for a batch.
        count: T.
        low: left end of the noise, beyond which it is left out; no part of a batch.
        high: right end of the noise; of a batch, less s/2.
    """

    ratio: LikelihoodRatio
    kind: Direction | Literal["drawn"]
    count: int
    low: float = -FARTHEST_END
    high: float = FARTHEST_END

    @property
    def pieces(self) -> list[Piece]:
        """Intervals of the noise with their integrands."""
        if self.kind != "drawn":
            return [Piece(self.ratio, self.kind, self.low, self.high)]
        edge = 0.5 * self.ratio.shift
        return [Piece(self.ratio, "remove", edge, edge + self.high), Piece(self.ratio, "add", edge, edge + self.high)]

    @property
    def atom(self) -> float:
        """Mass of the loss 0 that belongs to no noise, within 16 units of roundoff."""
        return (1.0 - self.ratio.rate) * math.erf(self.ratio.shift / math.sqrt(8.0)) if self.kind == "drawn" else 0.0

    @property
    def supremum(self) -> float:
        """−T log(1 − q) to add, rounded up; otherwise the loss is unbounded."""
        largest = -math.log1p(-self.ratio.rate) if self.kind == "add" else math.inf
        return self.count * largest * (1.0 + 8 * UNIT_ROUNDOFF)

    @property
    def largest_loss(self) -> float:
        """T times the largest loss at an end of the noise; losses are monotone between."""
        ends = [np.asarray([piece.low, piece.high]) for piece in self.pieces]
        losses = [piece.losses(at)[2] for piece, at in zip(self.pieces, ends, strict=True)]
        return self.count * float(np.max(losses))

    def _log_outside(self, ends: FloatArray, side: int) -> FloatArray:
        """Return upper bounds of log P(side · x > end) for ends as `low` and `high` count them, P the first law."""
        rate, shift = self.ratio.rate, self.ratio.shift
        if self.kind == "drawn" and side < 0:
            return np.full_like(ends, -np.inf)
        if self.kind == "drawn":
            both = math.log1p(1.0 - rate) + log_ndtr(-ends - 0.5 * shift)
            value = np.logaddexp(both, math.log(rate) + log_ndtr(0.5 * shift - ends))
        elif self.kind == "add" or side < 0:
            value = log_ndtr(-ends)
        else:
            value = np.logaddexp(math.log1p(-rate) + log_ndtr(-ends), math.log(rate) + log_ndtr(shift - ends))
        return np.asarray(value + 1e-12 * (1.0 + np.abs(value)))

    @property
    def log_leak(self) -> float:
        """Upper bound of log T P(noise that is left out)."""
        below, above = self._log_outside(np.asarray(-self.low), -1), self._log_outside(np.asarray(self.high), 1)
        return math.log(self.count) + float(np.logaddexp(below, above)) + 1e-12

    def trim(self, log_leak: float, tilt: float) -> NoiseSteps:
        """Cut off the noise on both sides where it is improbable and has little weight at a tilt (A2).

        The cut is where the tilted density is negligible, or where it would rise again because of rare giant losses.

        Args:
            log_leak: log of the largest probability, in all steps together, of the noise that is cut off.
            tilt: real part l of z.
        """
        places = np.arange(1.0, FARTHEST_END * _ENDS_PER_DEVIATION + 1.0) / _ENDS_PER_DEVIATION
        log_count = math.log(2.0 * self.count)
        improbable, heights = {}, {}
        for side in (-1, 1):
            x = side * places + (0.5 * self.ratio.shift if self.kind == "drawn" else 0.0)
            heights[side] = np.max([piece.log_maximum(tilt, x, x) for piece in self.pieces], axis=0)
            improbable[side] = self._log_outside(places, side) <= log_leak - log_count
        largest = max(float(heights[side][~improbable[side]].max(initial=-np.inf)) for side in (-1, 1))
        ends = {}
        for side in (-1, 1):
            negligible = heights[side] <= largest - NEGLIGIBLE_NATS - log_count
            rising = np.append(np.diff(heights[side]) >= 0.0, True)
            ends[side] = float(min(places[improbable[side] & (negligible | rising)], default=FARTHEST_END))
        return dataclasses.replace(self, low=-ends[-1], high=ends[1])

    def resolve(self, tilt: float, frequency: float) -> NoiseSums:
        """Choose quadrature nodes of the noise that are accurate at a tilt and up to a frequency.

        Panels are halved until the bound on each error is small.

        Args:
            tilt: real part l of z. For a frequency of 0, the nodes are accurate at lower tilts too.
            frequency: largest modulus of the imaginary part of z.

        Raises:
            ContourRefused: too many nodes, or a rate below 1e−100.
        """
        if self.ratio.rate < _LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.ratio.rate:g}")
        nats = QUADRATURE_NATS + math.log(self.count) + (NEGLIGIBLE_NATS / self.count if frequency == 0.0 else 0.0)
        tilts = [0.0, 0.5 * tilt, tilt] if frequency == 0.0 else [tilt]
        panels = [Panels.widest(piece) for piece in self.pieces]
        while True:
            sums = NoiseSums(self, panels)
            if sums.losses.size > 2 * MOST_NODES:
                raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{sums.losses.size} nodes of the noise")
            log_share = -nats - math.log(sum(panel.widths.size for panel in panels))
            coarse = [
                np.any([panel.log_errors(at, frequency) > sums.log_moment(at) + log_share for at in tilts], axis=0)
                for panel in panels
            ]
            if not any(chosen.any() for chosen in coarse):
                return sums
            panels = [panel.halve(chosen) for panel, chosen in zip(panels, coarse, strict=True)]


@dataclass(frozen=True)
class NoiseSums:
    """M(l) = Σ e^{log_masses + l · losses} of one step over the nodes of all panels, and T."""

    steps: NoiseSteps
    panels: list[Panels]

    @cached_property
    def _fields(self) -> FloatArray:
        """Log masses under the first law, their errors, losses and their errors: a row each, the atom last."""
        columns = []
        for panels in self.panels:
            log_density, density_error, loss, loss_error = panels.piece.losses(panels.nodes)
            columns.append(np.stack((panels.log_weights + log_density, density_error, loss, loss_error)))
        if self.steps.atom > 0.0:
            columns.append(np.asarray([[math.log(self.steps.atom)], [32 * UNIT_ROUNDOFF], [0.0], [0.0]]))
        return np.concatenate(columns, axis=1)

    @property
    def losses(self) -> FloatArray:
        """Losses at all nodes."""
        return np.asarray(self._fields[2])

    def _log_weights(self, tilt: float) -> FloatArray:
        """Return log of the masses times e^{lL}."""
        return np.asarray(self._fields[0] + tilt * self.losses)

    def log_error(self, tilt: float, frequency: float, lift: float = 0.0) -> float:
        """Return log of a bound on the error of M(z) before rounding (A2, Panels).

        Args:
            tilt: real part l of z.
            frequency: largest modulus of the imaginary part of z.
            lift: height of the contour of the decay bound, with frequency 0 (A3).
        """
        errors = np.concatenate([panel.log_errors(tilt, frequency, lift) for panel in self.panels])
        return float(np.logaddexp.reduce(errors))

    @cached_property
    def _total_mass_error(self) -> float:
        """Bound on the error of M(0) before rounding."""
        return math.exp(min(self.log_error(0.0, 0.0), 50.0))

    def log_moment(self, tilt: float) -> float:
        """Return an estimate of log M(l) of one step."""
        return float(np.logaddexp.reduce(self._log_weights(tilt)))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return estimates of K, K′ and K″."""
        log_moment, count = self.log_moment(tilt), self.steps.count
        weights = np.exp(self._log_weights(tilt) - log_moment)
        mean = float(weights @ self.losses)
        return count * log_moment, count * mean, count * float(weights @ (self.losses - mean) ** 2)

    def _weight_error(self, tilt: float) -> FloatArray:
        """Return bounds of the relative errors of the tilted weights, and of sums that they weigh (A4, What η is)."""
        log_masses, mass_error, loss, loss_error = self._fields
        rounding = UNIT_ROUNDOFF * (4.0 * np.abs(log_masses) + 8.0 * tilt * np.abs(loss) + 32.0)
        return np.asarray(mass_error + tilt * loss_error + rounding + summation_error(loss.size))

    def cumulant(self, tilt: float) -> tuple[float, float]:
        """Return K(l) = log M(l) of one step, and a bound on its error.

        It is computed from M − 1 = Σ P (e^{lL} − 1). The terms are small for small losses L. The mass of the noise that
        is cut off is charged as an error (A4).
        """
        log_masses, _, loss, loss_error = self._fields
        change, logs = tilt * loss, self._log_weights(tilt)
        top = max(float(logs.max()), 0.0)
        sizes = np.exp(np.maximum(log_masses, logs) - top) * -np.expm1(-np.abs(change))
        moved = float(sizes @ self._weight_error(tilt))
        moved += float(np.exp(logs - top) @ (tilt * loss_error + 4 * UNIT_ROUNDOFF * np.abs(change)))
        zero, total = math.exp(-top), float(np.sign(loss) @ sizes)
        value = top + math.log(zero + total) if top > 0.0 else math.log1p(total)
        moved += zero * math.exp(self.steps.log_leak - math.log(self.steps.count))
        moved += 1.01 * zero * self._total_mass_error
        error = 1.01 * moved / (zero + total) + 1.01 * math.exp(min(self.log_error(tilt, 0.0) - value, 50.0))
        return value, error + 4 * UNIT_ROUNDOFF * (abs(value) + top)

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound of K; exactly 0 at tilt 0."""
        return self.steps.count * sum(self.cumulant(tilt)) * (1.0 + 4 * UNIT_ROUNDOFF) if tilt > 0.0 else 0.0

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Return upper bounds on log |φ(t′)|^T for all t′ ≥ t, at each frequency t (A3).

        The bound is log B_y(t)^T for the best of a few heights y of a shifted contour.
        """
        value, value_error = self.cumulant(tilt)
        log_weights = self._log_weights(tilt) - value
        highest = min(_LARGEST_ANGLE / self.steps.ratio.shift, _HIGHEST)
        turn, _ = self._contour(tilt, 1e-3 * highest)
        slope = float(turn @ np.exp(log_weights[: turn.size])) / (1e-3 * highest)
        first = max(min(0.4 * slope * float(frequencies[0]), 0.2 * highest), TINY)
        last = max(min(slope * float(frequencies[-1]), highest), 1.001 * first)
        bounds = [
            self._decay(tilt, frequencies, height, log_weights, value)
            for height in np.geomspace(first, last, _HEIGHTS).tolist()
        ]
        rounding = float(self._weight_error(tilt).max()) + 1.01 * value_error + 6000 * UNIT_ROUNDOFF
        return np.asarray(self.steps.count * np.log(np.clip(np.min(bounds, axis=0) * (1.0 + rounding), TINY, 1.0)))

    def _contour(self, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return the phase θ and log G, the growth of the integrand, at all nodes on the contour at a height (A3)."""
        turns = [panel.piece.turn(panel.nodes, tilt, height) for panel in self.panels]
        return np.concatenate([turn for turn, _ in turns]), np.concatenate([growth for _, growth in turns])

    def _decay(
        self, tilt: float, frequencies: FloatArray, height: float, log_weights: FloatArray, log_moment: float
    ) -> FloatArray:
        """Return B_y(t) of one step at each frequency before rounding.

        Args:
            tilt: real part l of z.
            frequencies: t > 0.
            height: height y of the contour.
            log_weights: logarithms of the masses of the tilted law.
            log_moment: log M(l).
        """
        turn, growth = self._contour(tilt, height)
        exponents = log_weights[: turn.size] + growth - frequencies[:, None] * turn
        inside = np.exp(np.minimum(exponents, 700.0)).sum(axis=1)
        error = math.exp(min(self.log_error(tilt, 0.0, height) - log_moment, 50.0))
        bound = math.exp(0.5 * height * height) * (inside + 1.01 * error) + np.exp(log_weights[turn.size :]).sum()
        for piece in self.steps.pieces:
            ends = np.asarray([piece.high] if self.steps.kind == "drawn" else [piece.low, piece.high])
            logs = piece.log_maximum(tilt, ends, ends) - log_moment
            logs += piece.log_growth(tilt, 0.0, ends, ends, np.asarray(height), 0.0)
            bound = bound + height * float(np.exp(np.minimum(logs, 300.0)).sum())
        return np.asarray(bound + self._kink(tilt, frequencies, height) * math.exp(-log_moment))

    def _kink(self, tilt: float, frequencies: FloatArray, height: float) -> FloatArray:
        """Return bounds on the contribution of the edge s/2 of a batch to the decay bound (A8, Decay).

        Args:
            tilt: real part l of z.
            frequencies: t > 0; each bound holds for all t′ ≥ t.
            height: height y of the contour, s y ≤ π/2.
        """
        if self.steps.kind != "drawn":
            return np.zeros_like(frequencies)
        rate, shift = self.steps.ratio.rate, self.steps.ratio.shift
        _, (log_modulus,) = self.steps.ratio.turn(np.asarray([0.5 * shift]), height)
        falling = math.exp(min(-tilt * float(log_modulus), 600.0))
        slope = rate * math.sin(shift * height) / height * (1.0 - 1e-12)
        late = np.maximum(frequencies, 1.8171 / (slope * height))  # 6^{1/3}, rounded down
        turn = shift * np.minimum(0.5 * height * height, (frequencies * slope) ** -2.0)
        curvature = rate * (1.0 - rate) * (shift * math.exp(-float(log_modulus))) ** 2
        shrinking = curvature * (1.0 + tilt + late + (tilt + late) * falling) * (late * slope) ** -3.0
        density = math.exp(0.5 * height * height - 0.125 * shift * shift - LOG_SQRT_2PI)
        return np.asarray((1.0 + 1e-9) * density * (turn + shrinking))

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T with its errors: quadrature, roundings of weights, losses and sums, and the power (A4).

        Raises:
            ContourRefused: too many nodes together with the frequencies, or too large an error.
        """
        if self.losses.size * line.nodes > _MOST_PRODUCTS:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{self.losses.size} times {line.nodes} nodes")
        count, frequencies = self.steps.count, line.frequencies
        value, value_error = self.cumulant(line.tilt)
        weights = np.exp(self._log_weights(line.tilt) - value)
        mean = float(weights @ self.losses)
        deviations = self.losses - mean
        weight_error = self._weight_error(line.tilt) + value_error + 32 * UNIT_ROUNDOFF
        slope = float((weights * np.abs(deviations)) @ weight_error)
        slope += float(weights @ (self._fields[3] + 4 * UNIT_ROUNDOFF * np.abs(self.losses)))
        quadrature = math.exp(min(self.log_error(line.tilt, line.nodes * line.spacing) - value, 50.0))
        error = 1.01 * slope * frequencies + 2.02 * quadrature
        error[0] = 0.0
        change = characteristic_change(weights, deviations, line)
        fields = raise_to_power(change, error, mean, frequencies, count)
        return LineValues(*fields, count * mean, count * value, count * (value_error + 2 * UNIT_ROUNDOFF * abs(value)))
