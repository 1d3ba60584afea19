"""Gauss–Legendre panels for the subsampled Gaussian's transform on an interval [x_a, x_b] of the noise, certified.

Cut to an interval, the transform is that of a sub-probability, with edges instead of tails. Edges rule out the
trapezoidal rule, not panels: their error is bounded panel by panel on Bernstein ellipses (docs/engine-certificate.md,
A2, hard cut).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.transforms.sampled_gaussian import clipped_response
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, RefusalReason, upper_normal_tail

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.numerics.special import FloatArray

_ORDER = 16
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_HALF_WIDTHS = (0.7 * 0.8 ** np.arange(28.0)).tolist()
_PARAMETERS = (4.5, 6.5, 3.2, 9.0, 2.2, 13.0)
_PIECES = np.linspace(-1.0, 1.0, 7)
_SOME, _MANY = 32, 128
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_NOWHERE = np.zeros(1)
_END = {1: slice(1, None), -1: slice(None, -1)}
"""The right and the left ends of pieces, among their marks."""


@dataclass(frozen=True)
class Ellipses:
    """Bernstein ellipses with parameter R around panels of half-width w, and bounds of the integrand on them.

    The factors r(±x) are monotone, so on each of six pieces of an ellipse's extent the end bounds them.
    """

    loss: SampledGaussianLoss
    centres: FloatArray
    half_width: float
    parameter: float

    @property
    def angle(self) -> float:
        """s b: how far the factors turn, b the semi-axis across the real line."""
        return 0.5 * self.loss.shift * self.half_width * (self.parameter - 1.0 / self.parameter)

    def log_error(self, tilts: FloatArray, frequency: float, leans: FloatArray = _NOWHERE) -> FloatArray:
        """log of the error of all panels, at each tilt for f_z, or at each lean s y for f_l G e^{−tθ}."""
        return self._log_rule(self._log_gaussian + self._log_factors(tilts, frequency, leans))

    @property
    def log_gaussian_error(self) -> float:
        """The same for φ alone."""
        return float(self._log_rule(self._log_gaussian[None])[0])

    def _log_rule(self, log_moduli: FloatArray) -> FloatArray:
        """log Σ w (64/15) F R^{−2(n−1)}/(1 − R^{−2}), F the largest modulus (Trefethen 2019, Theorem 19.3)."""
        log_supremum = log_moduli.max(axis=2)
        top = log_supremum.max(axis=1)
        rule = math.log(self.half_width * 64.0 / 15.0) - 2.0 * (_ORDER - 1) * math.log(self.parameter)
        total = np.log(np.exp(log_supremum - top[:, None]).sum(axis=1))
        return np.asarray(top + total + rule - math.log1p(-(self.parameter**-2.0)) + 1e-9)

    @cached_property
    def _marks(self) -> FloatArray:
        """Ends of the pieces."""
        along = 0.5 * self.half_width * (self.parameter + 1.0 / self.parameter)
        return self.centres[:, None] + along * _PIECES

    @cached_property
    def _log_gaussian(self) -> FloatArray:
        """log of a bound of |φ| on the pieces."""
        left, right = self._marks[:, :-1], self._marks[:, 1:]
        nearest = np.where(left * right < 0.0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        across = self.angle / self.loss.shift
        return np.asarray(0.5 * across * across - 0.5 * nearest * nearest - _LOG_SQRT_2PI)

    def _log_factors(self, tilts: FloatArray, frequency: float, leans: FloatArray) -> FloatArray:
        """log of a bound of |r(x)^{c₁} r(−x)^{c₂}| on the pieces."""
        tilt = tilts[:, None, None]
        density, right, left = self.loss.exponents
        square = np.sin(0.5 * (self.angle + leans))[:, None, None] ** 2
        total = np.zeros((1, 1, 1))
        for sign, constant, slope in ((1, density, right), (-1, 0, left)):
            if not slope:
                continue
            ratio, turn, spread = self._bounds(sign)
            largest = _END[sign * slope]
            power = constant + slope * tilt
            total = total + power * ratio[:, largest] + frequency * self.angle * turn[:, _END[sign]]
            if slope < 0:
                total = total + 0.5 * power * np.log1p(-4.0 * spread[:, _END[sign]] * square)
        return np.asarray(total)

    def _bounds(self, sign: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """log r(±x) and the bounds of `clipped_response`, at the ends of the pieces."""
        x = sign * self._marks
        ratio = self.loss.log_ratio(x.ravel()).reshape(x.shape)
        return ratio, *clipped_response(self.loss.response(x))


@dataclass(frozen=True)
class Panels:
    """Panels that cover [low, high], with 16 nodes each.

    Attributes:
        loss: whose integrand they serve.
        low: x_a.
        high: x_b.
        ellipses: of the panels.
    """

    loss: SampledGaussianLoss
    low: float
    high: float
    ellipses: Ellipses

    @cached_property
    def points(self) -> FloatArray:
        """All nodes, increasing."""
        return np.asarray((self.ellipses.centres[:, None] + self.ellipses.half_width * _NODES).ravel())

    @cached_property
    def log_weights(self) -> FloatArray:
        """log of the nodes' weights."""
        return np.log(np.tile(self.ellipses.half_width * _WEIGHTS, self.ellipses.centres.size))

    @property
    def missing(self) -> float:
        """Φ(x_a) + Φ(−x_b), the part of N(0, 1) that is cut off."""
        return upper_normal_tail(-self.low) + upper_normal_tail(self.high)

    @property
    def most_at_ends(self) -> float:
        """The integral up to the edges is exact, whatever their weight."""
        return 1.0

    def relative_error(self, tilts: FloatArray, log_moments: FloatArray, frequency: float) -> FloatArray:
        """Bound on |Σ − M(z)|/M(l) at each tilt l, M the transform of the cut law; it holds for φ in place of f too."""
        bare = math.exp(self.ellipses.log_gaussian_error) + 1e-12 * self.missing
        errors = self.ellipses.log_error(tilts, frequency)
        relative = np.exp(np.minimum(errors - log_moments, 1.0)) + bare * np.exp(np.minimum(-log_moments, 50.0))
        return np.where(relative < 0.01, 1.02 * relative, np.inf)

    def decay_error(self, tilt: float, log_moment: float, heights: FloatArray) -> FloatArray:
        """Error of E_l[G e^{−tθ}] at each height y, for any t ≥ 0: panels, and the verticals at both ends.

        The shifted line returns to x_a and x_b along verticals of length y, on which |f_z| ≤ f_l e^{y²/2} G (A3).
        """
        angles = self.loss.shift * heights
        logs = [np.broadcast_to(self.ellipses.log_error(np.asarray([tilt]), 0.0, angles), angles.shape)]
        for place in (self.low, self.high):
            end = np.asarray([place])
            edge = np.log(heights) - 0.5 * place * place - _LOG_SQRT_2PI
            for sign, power in self.loss.powers(tilt):
                spread = clipped_response(self.loss.response(sign * end))[1]
                edge = edge + power * self.loss.log_ratio(sign * end)
                edge = edge + 0.5 * min(power, 0.0) * np.log1p(-4.0 * spread * np.sin(0.5 * angles) ** 2)
            logs.append(edge)
        return np.asarray(1.02 * np.exp(np.minimum(np.logaddexp.reduce(logs) - log_moment, 50.0)))


def panels(
    loss: SampledGaussianLoss,
    nats: float,
    interval: tuple[float, float],
    *,
    tilt: float,
    frequency: float,
    most_nodes: int,
) -> Panels:
    """The widest panels whose error bound at the tilt is about e^−nats of M or less.

    Panels for real tilts alone (frequency 0) also serve the decay bound, which needs s b ≤ π/2 and s (b + y) < π.

    Raises:
        ContourRefused: more than `most_nodes` nodes, or no width is small enough.
    """
    low, high = interval
    widest_angle = 1.5 if frequency == 0.0 else 3.0
    log_target = _log_moment(loss, interval, tilt) - nats

    def fine_enough(half_width: float) -> Ellipses | None:
        number = math.ceil(0.5 * (high - low) / half_width)
        width = 0.5 * (high - low) / number
        centres = np.asarray(low + width * (2.0 * np.arange(number) + 1.0), dtype=np.float64)
        for parameter in _PARAMETERS:
            ellipses = Ellipses(loss, centres, width, parameter)
            # Some of many panels alone may err by too much.
            some = [replace(ellipses, centres=centres[:: number // _SOME])] if number > _MANY else []
            if ellipses.angle < widest_angle and all(
                each.log_error(np.asarray([tilt]), frequency)[0] < log_target for each in (*some, ellipses)
            ):
                return ellipses
        return None

    candidates = [width for width in _HALF_WIDTHS if _ORDER * (0.5 * (high - low) / width + 1.0) <= most_nodes]
    first, last, found = 0, len(candidates), None
    while first < last:
        middle = (first + last) // 2
        ellipses = fine_enough(candidates[middle])
        first, last, found = (middle + 1, last, found) if ellipses is None else (first, middle, ellipses)
    if found is None:
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{most_nodes} noise nodes on panels")
    return Panels(loss, low, high, found)


def _log_moment(loss: SampledGaussianLoss, interval: tuple[float, float], tilt: float) -> float:
    """A rough value of log M, by the midpoint rule."""
    points = np.linspace(*interval, 160)
    logs = -0.5 * points * points - _LOG_SQRT_2PI
    for sign, power in loss.powers(tilt):
        logs = logs + power * loss.log_ratio(sign * points)
    return max(float(np.logaddexp.reduce(logs)) + math.log(points[1] - points[0]), 0.0)
