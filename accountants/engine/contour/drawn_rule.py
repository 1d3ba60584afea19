"""The trapezoidal rule for a drawn loss: u = σ log(1 + e^{v/σ}) takes the half line to a whole one (certificate, A8).

Of k_z(v) = φ(x) g′(v) (r^{1+z} − 1)(1 − r^{−z}), whose integral is M(z) − 1, the rule errs by a strip in v and by what
lies beyond its first and its last node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import HEIGHTS, LOG_SQRT_2PI, MOST_NODES, QUADRATURE_NATS
from epsilond.accountants.engine.contour.noise import exact_step, log_strip_error, widest_step
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.drawn_loss import DrawnLoss
    from epsilond.accountants.numerics.special import FloatArray

_TALLEST = 1.4
"""Angle, in radians, by which the tallest strip turns e^{du} and e^{v/σ}: below the π/2 that the proof allows."""
_CELL = 0.3
"""Width of a cell, in u and in du, on which the integrand is at most its larger end: wider ones cost nodes."""
_STANDARD_DEVIATIONS = 13.0
"""How far beyond d(1 + l) the cells reach: what is left there is less than e^−84 of the integral."""


class Tilts(NamedTuple):
    """A range of real tilts, 0 ≤ least ≤ most."""

    least: float
    most: float


@dataclass(frozen=True)
class DrawnRule:
    """Nodes v = k · step for first ≤ k < first + size.

    Attributes:
        scale: σ, a power of two.
        error: bound on |M̂(z) − M(z)| of one step.
    """

    scale: float
    step: float
    first: int
    size: int
    error: float

    @cached_property
    def _points(self) -> FloatArray:
        return self.step * np.arange(self.first, self.first + self.size, dtype=np.float64) / self.scale

    @cached_property
    def noise(self) -> FloatArray:
        """u at every node, within ten units of roundoff of itself."""
        v = self._points
        return np.asarray(self.scale * (np.maximum(v, 0.0) + np.log1p(np.exp(-np.abs(v)))))

    @cached_property
    def log_weights(self) -> FloatArray:
        """log of h g′(v), within 16 units of roundoff."""
        v = self._points
        return np.asarray(math.log(self.step) - np.maximum(-v, 0.0) - np.log1p(np.exp(-np.abs(v))))


class _NoiseCells(NamedTuple):
    """Cells of u: their width, log of a bound of φ r^{1+l} on each, p at its right end; log of a bound beyond them.

    And log of a lower bound of M(l), at least 0.
    """

    width: float
    log_most: FloatArray
    response: FloatArray
    log_rest: float
    log_least: float


def _cells(loss: DrawnLoss, tilt: float) -> _NoiseCells:
    """Bounds of f = φ(x) r^{1+l}: log f + x²/2 is convex, so that the larger end and width²/8 bound log f on a cell."""
    width = _CELL * min(1.0, 1.0 / loss.shift)
    reach = loss.shift * (0.5 + tilt) + _STANDARD_DEVIATIONS
    if not reach <= width * MOST_NODES:
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"cells of the noise up to {reach:.3g}")
    ends = width * np.arange(math.ceil(reach / width) + 1.0)
    x = ends + 0.5 * loss.shift
    log_f = -0.5 * x * x - LOG_SQRT_2PI + (1.0 + tilt) * loss.log_ratio(ends)
    log_most = np.maximum(log_f[:-1], log_f[1:]) + (0.125 * width * width + 1e-9)
    # φ falls and r rises: on a cell f is at least φ at its right end times r^{1+l} at its left.
    least = log_f[:-1] - 0.5 * width * (x[:-1] + x[1:])
    log_least = max(float(np.logaddexp.reduce(least)) + math.log(width) - 1e-9, 0.0)
    return _NoiseCells(width, log_most, loss.response(ends[1:]), float(log_f[-1]) + 1e-9, log_least)


def drawn_rule(loss: DrawnLoss, count: int, tilts: Tilts, frequency: float) -> DrawnRule:
    """Return the widest step whose error is about what is allowed, for real tilts and frequencies up to the given ones.

    A positive frequency goes with one tilt.

    Raises:
        ContourRefused: the rule takes more nodes than there may be.
    """
    cells = _cells(loss, tilts.most)
    nats = QUADRATURE_NATS + max(math.log(count), -math.log(loss.mass))
    scale = 2.0 ** math.floor(math.log2(min(1.0, 1.0 / loss.shift)))
    tallest = _TALLEST * min(scale, 1.0 / loss.shift)
    heights = tallest * HEIGHTS
    growth = _log_growth(loss, cells, tilts.most, frequency, heights, scale)
    step = widest_step(heights, growth, nats)
    if not step > tallest * 2.0**-20:
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"step {step:.3g} over the noise")
    step = exact_step(step)
    low, left = _left_end(loss, tilts.most, frequency, scale, step, nats)
    high, right = _right_end(cells, step, nats)
    first, last = math.floor(low / step), math.ceil(high / step)
    if not last - first < MOST_NODES:
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{last - first} noise nodes")
    strip = math.exp(min(float(log_strip_error(heights, growth, step).min()), 50.0))
    return DrawnRule(scale, step, first, last - first + 1, (strip + left + right) * (1.0 + 1e-9))


def _log_growth(
    loss: DrawnLoss, cells: _NoiseCells, tilt: float, frequency: float, heights: FloatArray, scale: float
) -> FloatArray:
    """Return log of a bound of ∫ |k_z(v + ia)| dv/M(l) at each height a: from cells, or for real tilts without them."""
    angles = loss.shift * heights
    falling = np.asarray([tilt * loss.log_modulus_at_edge(height) for height in heights.tolist()])
    shape = (
        0.5 * heights * heights - np.log(np.cos(heights / scale)) + np.logaddexp(0.0, falling) + (math.log(2.0) + 1e-9)
    )
    if frequency == 0.0:
        return np.asarray(shape)
    turns = np.where(cells.response <= 0.5, cells.response, 1.0)
    inside = np.logaddexp.reduce(cells.log_most + frequency * angles[:, None] * turns, axis=1)
    rest = cells.log_rest + frequency * angles - math.log(_STANDARD_DEVIATIONS)
    return np.asarray(np.logaddexp(inside + math.log(cells.width), rest) + shape - cells.log_least)


def _left_end(
    loss: DrawnLoss, tilt: float, frequency: float, scale: float, step: float, nats: float
) -> tuple[float, float]:
    """Return the first node's v, and a bound on the sum of |k_z| over the nodes before it.

    There |k_z| ≤ 1.2 φ(d/2) |z| |1 + z| (q d σ)² e^{3v/σ}.
    """
    drawn = loss.rate * loss.shift * scale
    log_size = (
        2.0 * math.log(drawn)
        - 0.125 * loss.shift * loss.shift
        - LOG_SQRT_2PI
        + math.log(1.2 * scale / 3.0 + 1.2 * step)
    )
    log_size += math.log(tilt + frequency) + math.log1p(tilt + frequency) + 1e-9
    low = min(-4.0 * scale, -scale * math.log(11.0 * (1.0 + tilt) * drawn), -scale * (log_size + nats) / 3.0)
    return low, math.exp(log_size + 3.0 * low / scale)


def _right_end(cells: _NoiseCells, step: float, nats: float) -> tuple[float, float]:
    """The last node's v, and a bound on the sum of |k_z|/M(l) over the nodes beyond it: |k_z| ≤ 4f, f on cells of u."""
    rest = cells.log_rest + math.log(1.0 / _STANDARD_DEVIATIONS + step)
    masses = np.append(cells.log_most + math.log(cells.width + step), rest)
    beyond = np.logaddexp.accumulate(masses[::-1])[::-1] + (math.log(4.0) + 1e-9 - cells.log_least)
    chosen = int(np.flatnonzero(beyond <= max(-nats, float(beyond[-1])))[0])
    return cells.width * chosen, math.exp(min(float(beyond[chosen]), 50.0))
