"""T steps whose loss is a function of noise: their transform from sums over nodes, with every error (A2 to A4, A8)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.accuracy import MOST_NODES, QUADRATURE_NATS, TINY
from epsilond.accountants.engine.contour.panels import Panels
from epsilond.accountants.engine.contour.part import (
    LineValues,
    characteristic_change,
    raise_to_power,
    summation_error,
)
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.noise_loss import NoiseLoss
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
_NEGLIGIBLE_NATS = 40.0
"""Nats of a share that is negligible next to what T quadratures err by: weight at the ends of the noise, and, over T,
the error of one step's quadrature for the decay bound, which itself is small for few steps (A3)."""


@dataclass(frozen=True)
class NoiseSteps:
    """T independent steps of one loss, as a part of a composition."""

    loss: NoiseLoss
    count: int

    @property
    def supremum(self) -> float:
        """T times the supremum of the loss, rounded up."""
        return self.count * self.loss.supremum * (1.0 + 4 * UNIT_ROUNDOFF)

    @property
    def log_leak(self) -> float:
        """Upper bound of log T P(noise that is left out)."""
        return math.log(self.count) + self.loss.log_leak + 1e-12

    def cut(self, log_leak: float, tilt: float) -> NoiseSteps:
        """Leave out noise with a probability of e^`log_leak` at most in all steps, and little weight at a tilt (A2)."""
        log_count = math.log(2.0 * self.count)
        return dataclasses.replace(self, loss=self.loss.cut(log_leak - log_count, tilt, -_NEGLIGIBLE_NATS - log_count))

    def resolve(self, tilt: float, frequency: float) -> NoiseSums:
        """Return sums over as few nodes as suit a tilt and frequencies up to the given one; at 0, lower tilts as well.

        Raises:
            ContourRefused: too many nodes, or a rate below 1e−100.
        """
        if self.loss.ratio.rate < _LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.loss.ratio.rate:g}")
        nats = QUADRATURE_NATS + math.log(self.count) + (_NEGLIGIBLE_NATS / self.count if frequency == 0.0 else 0.0)
        tilts = [0.0, 0.5 * tilt, tilt] if frequency == 0.0 else [tilt]
        panels = [Panels.widest(piece) for piece in self.loss.pieces]
        while True:
            sums = NoiseSums(self, panels)
            if sums.losses.size > 2 * MOST_NODES:
                raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{sums.losses.size} nodes of the noise")
            log_share = -nats - math.log(sum(each.widths.size for each in panels))
            coarse = [
                np.any([each.log_errors(at, frequency) > sums.log_moment(at) + log_share for at in tilts], axis=0)
                for each in panels
            ]
            if not any(chosen.any() for chosen in coarse):
                return sums
            panels = [each.halve(chosen) for each, chosen in zip(panels, coarse, strict=True)]


@dataclass(frozen=True)
class NoiseSums:
    """M(l) = Σ e^{log_masses + l · losses} of one step over the nodes of all panels, and T."""

    steps: NoiseSteps
    panels: list[Panels]

    @cached_property
    def _fields(self) -> FloatArray:
        """Log masses under the first law, their errors, losses and their errors: a row each, the atom last."""
        columns = []
        for each in self.panels:
            log_density, density_error, loss, loss_error = each.piece.losses(each.nodes)
            columns.append(np.stack((each.log_weights + log_density, density_error, loss, loss_error)))
        if self.steps.loss.atom > 0.0:
            columns.append(np.asarray([[math.log(self.steps.loss.atom)], [32 * UNIT_ROUNDOFF], [0.0], [0.0]]))
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
        errors = np.concatenate([each.log_errors(tilt, frequency, lift) for each in self.panels])
        return float(np.logaddexp.reduce(errors))

    def log_moment(self, tilt: float) -> float:
        """Return an estimate of log M(l) of one step."""
        return float(np.logaddexp.reduce(self._log_weights(tilt)))

    def moments(self, tilts: FloatArray) -> FloatArray:
        """Return estimates of K, K′ and K″."""
        exponents = self._fields[0] + tilts[:, None] * self.losses
        top = exponents.max(axis=1)
        weights = np.exp(exponents - top[:, None])
        total = weights.sum(axis=1)
        mean = weights @ self.losses / total
        variance = np.maximum(weights @ (self.losses * self.losses) / total - mean * mean, 0.0)
        return np.asarray(self.steps.count * np.stack((top + np.log(total), mean, variance)))

    def _weight_error(self, tilt: float) -> FloatArray:
        """Return bounds of the relative errors of the tilted weights, and of sums that they weigh (A4, What η is)."""
        log_masses, mass_error, loss, loss_error = self._fields
        rounding = UNIT_ROUNDOFF * (4.0 * np.abs(log_masses) + 8.0 * tilt * np.abs(loss) + 32.0)
        return np.asarray(mass_error + tilt * loss_error + rounding + summation_error(loss.size))

    def cumulant(self, tilt: float) -> tuple[float, float]:
        """Return K(l) of one step and its error, from M − 1 = Σ P (e^{lL} − 1): the terms are small where the loss is.

        The mass of the noise that is left out, which M − 1 lacks, is charged as an error (A4).
        """
        log_masses, _, loss, loss_error = self._fields
        change, logs = tilt * loss, self._log_weights(tilt)
        top = max(float(logs.max()), 0.0)
        sizes = np.exp(np.maximum(log_masses, logs) - top) * -np.expm1(-np.abs(change))
        moved = float(sizes @ self._weight_error(tilt))
        moved += float(np.exp(logs - top) @ (tilt * loss_error + 4 * UNIT_ROUNDOFF * np.abs(change)))
        zero, total = math.exp(-top), float(np.sign(loss) @ sizes)
        value = top + math.log(zero + total) if top > 0.0 else math.log1p(total)
        moved += zero * (math.exp(self.steps.loss.log_leak) + 1.01 * math.exp(min(self.log_error(0.0, 0.0), 50.0)))
        error = 1.01 * moved / (zero + total) + 1.01 * math.exp(min(self.log_error(tilt, 0.0) - value, 50.0))
        return value, error + 4 * UNIT_ROUNDOFF * (abs(value) + top)

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return upper bounds of K at each tilt; exactly 0 at tilt 0."""
        raised = [self.steps.count * sum(self.cumulant(tilt)) * (1.0 + 4 * UNIT_ROUNDOFF) for tilt in tilts.tolist()]
        return np.where(tilts > 0.0, raised, 0.0)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Return log of B_y(t)^T for the best of a few heights y, which bounds log |φ(t′)|^T for all t′ ≥ t (A3)."""
        value, value_error = self.cumulant(tilt)
        weights = np.exp(self._log_weights(tilt) - value)
        highest = min(_LARGEST_ANGLE / self.steps.loss.ratio.shift, _HIGHEST)
        turn, _ = self._contour(tilt, 1e-3 * highest)
        slope = float(turn @ weights[: turn.size]) / (1e-3 * highest)
        first = max(min(0.4 * slope * float(frequencies[0]), 0.2 * highest), TINY)
        last = max(min(slope * float(frequencies[-1]), highest), 1.001 * first)
        bounds = [
            self._decay(tilt, frequencies, height, weights, value)
            for height in np.geomspace(first, last, _HEIGHTS).tolist()
        ]
        rounding = float(self._weight_error(tilt).max()) + 1.01 * value_error + 6000 * UNIT_ROUNDOFF
        return np.asarray(self.steps.count * np.log(np.clip(np.min(bounds, axis=0) * (1.0 + rounding), TINY, 1.0)))

    def _contour(self, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return θ and log G at all nodes of the pieces, on the contour at a height (A3)."""
        turns = [each.piece.turn(each.nodes, tilt, height) for each in self.panels]
        return np.concatenate([turn for turn, _ in turns]), np.concatenate([growth for _, growth in turns])

    def _decay(
        self, tilt: float, frequencies: FloatArray, height: float, weights: FloatArray, log_moment: float
    ) -> FloatArray:
        """Return B_y(t) of one step at each frequency, from tilted weights and log M(l) before rounding."""
        loss, turn_growth = self.steps.loss, self._contour(tilt, height)
        turn, growth = turn_growth
        inside = np.exp(np.minimum(growth - frequencies[:, None] * turn, 600.0)) @ weights[: turn.size]
        error = math.exp(min(self.log_error(tilt, 0.0, height) - log_moment, 50.0))
        bound = math.exp(0.5 * height * height) * (inside + 1.01 * error) + weights[turn.size :].sum()
        for end, piece in loss.cut_ends:
            at_end = piece.log_maximum(tilt, end, end) + piece.log_growth(tilt, 0.0, end, end, np.asarray(height), 0.0)
            bound = bound + height * math.exp(min(float(at_end) - log_moment, 300.0))
        return np.asarray(bound + loss.kink(tilt, frequencies, height) * math.exp(-log_moment))

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
