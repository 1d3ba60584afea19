"""The trapezoidal rule over the noise for every f_z in a range of tilts and frequencies, with its errors (A2, A3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.engine.contour.accuracy import HEIGHTS, MOST_NODES, NEGLIGIBLE_NATS, QUADRATURE_NATS, TINY
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.numerics.special import FloatArray

_STEP_BITS = 7
"""Significant bits of a step: its multiples by integers below 2^46 are exact doubles (A4, Nodes)."""
END_UNIT = 3.0 / 16.0
"""Ends of the noise are multiples of this many deviations: steps 2^−k and 3 · 2^−k divide the distance between them."""


def exact_step(step: float) -> float:
    """Return the largest float of `_STEP_BITS` significant bits that does not exceed `step` > 0."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """γ_n = nu/(1 − nu): relative error of a sum of n products, in any order, against the sum of their moduli."""
    product = (terms + 10) * UNIT_ROUNDOFF
    return product / (1.0 - product)


def upper_normal_tail(c: float) -> float:
    """Return Φ(−c), rounded up."""
    return math.exp(float(log_ndtr(-c)) * (1.0 - 1e-12)) * (1.0 + 1e-12)


def log_strip_error(heights: FloatArray, log_growth: FloatArray, step: float) -> FloatArray:
    """Return log of 2E/(e^{2πa/h} − 1), the rule's error for a function analytic in |Im x| < a (A2, Strip).

    E = e^{log_growth} bounds ∫ |f(x + iy)| dx for |y| < a.
    """
    exponent = 2.0 * math.pi * heights / step
    return np.asarray(math.log(2.0) + log_growth - exponent - np.log(-np.expm1(-exponent)) + 1e-9)


def widest_step(heights: FloatArray, log_growth: FloatArray, nats: float) -> float:
    """Return the largest step for which some strip gives an error of at most e^{−nats}."""
    return float(np.max(2.0 * math.pi * heights / np.logaddexp(0.0, log_growth + nats + math.log(2.0))))


@dataclass(frozen=True)
class NoiseRule:
    """Equispaced nodes between the ends of the noise, the first and the last half a step inside (A2, Cut midway).

    Attributes:
        loss: whose integrand it serves.
        points: the nodes, all of them exact.
        step: h, their distance.
        error: bound on |h Σ f_z − M(z)|/M(l) for one step of the mechanism, but for what the ends add.
        end_factor: 2/(2π/h − …), by which f_l enters at an end.
    """

    loss: SampledGaussianLoss
    points: FloatArray
    step: float
    error: float
    end_factor: float

    def end_share(self, tilts: FloatArray, log_moments: FloatArray) -> FloatArray:
        """What the ends add to `error`, given computed log M(l) ≥ 0: it also bounds what they add to the sum of φ."""
        return np.asarray(self.end_factor * np.exp(np.minimum(self.loss.log_at_ends(tilts) - log_moments, 600.0)))

    def decay_error(self, tilt: float, log_moment: float, heights: FloatArray) -> FloatArray:
        """Return what must be added to the computed E_l[G e^{−tθ}] at each height y to bound it, for any t ≥ 0 (A3).

        The integrand is analytic up to heights y′ with s y′ ≤ π/2 and s (y + y′) < π, and e^{−tθ} stays below 1 there.
        At the ends the contour returns to the axis.
        """
        shift, across = self.loss.shift, heights[:, None]
        outer = np.minimum(2.0 * math.pi / self.step, np.minimum(1.57, 3.1 - shift * across) / shift) * HEIGHTS
        risen = self.loss.log_fallen(tilt, shift * across)
        growth = 0.5 * outer * outer + self.loss.log_fallen(tilt, shift * (across + outer))
        strips = np.exp(np.minimum(log_strip_error(outer, growth, self.step), 50.0))
        fall = np.maximum(2.0 * math.pi / self.step - (growth - risen) / outer, 1e-9)
        at_tilt, log_moments = np.asarray(tilt), np.asarray(log_moment)
        ends = np.exp(np.minimum(self.loss.log_at_ends(at_tilt) - log_moment + risen, 300.0)) * (across + 2.0 / fall)
        return np.asarray(self.error + self.end_share(at_tilt, log_moments) + np.min(strips + ends, axis=1))


def noise_rule(loss: SampledGaussianLoss, count: int, tilt: float, frequency: float) -> NoiseRule:
    """Return the widest step that keeps the error of T steps below e^−31 at tilts and frequencies up to the given ones.

    A rule for real tilts alone (frequency 0) also serves the decay bound, whose strip is half as high and whose
    quadrature must be finer for few steps.

    Raises:
        ContourRefused: more than `MOST_NODES` nodes.
    """
    nats = QUADRATURE_NATS + math.log(count) + (NEGLIGIBLE_NATS / count if frequency == 0.0 else 0.0)
    heights = min(12.0, (1.5 if frequency == 0.0 else 3.0) / loss.shift) * HEIGHTS
    growth = loss.log_strip_growth(tilt, frequency, heights)
    step = _step_between_ends(max(widest_step(heights, growth, nats), TINY))
    strips = log_strip_error(heights, growth, step)
    best = strips.argmin()
    fall = 2.0 * math.pi / step - float(growth[best] / heights[best])  # the growth is convex, and 0 at 0
    if not (loss.high - loss.low < step * MOST_NODES and fall > 0.0):
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{MOST_NODES} noise nodes of width {step:.3g}")
    points = loss.low + step * (np.arange(float(round((loss.high - loss.low) / step))) + 0.5)
    return NoiseRule(loss, points, step, math.exp(float(strips[best])), 2.0 / fall)


def _step_between_ends(widest: float) -> float:
    """Return the largest 2^−k or 3 · 2^−k that does not exceed a widest step or `END_UNIT`."""
    power = 2.0 ** math.floor(math.log2(min(widest, END_UNIT)))
    return 1.5 * power if 1.5 * power <= min(widest, END_UNIT) else power
