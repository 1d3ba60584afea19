"""The trapezoidal rule for the subsampled Gaussian's transform over the whole line of the noise, certified."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from epsilond.accountants.engine.contour.transforms.sampled_gaussian_loss import Tilts
from epsilond.accountants.engine.contour.transforms.transform import Reason, Refused
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian_loss import SampledGaussianLoss
    from epsilond.accountants.numerics.special import FloatArray


QUADRATURE_NATS = 31.0
"""The quadrature of one step errs by at most e^−31 over the number of steps."""
DECAY_NATS = 40.0
"""The decay bound of few steps must itself be small: its quadrature is finer by this over the number of steps."""
_HEIGHTS = np.asarray([1.0, 0.8, 0.62, 0.48, 0.36, 0.27, 0.2, 0.14, 0.09, 0.05, 0.02, 0.007])
_STRIPS = np.asarray([1.0, 0.7, 0.45, 0.3, 0.2, 0.1, 0.05])


@dataclass(frozen=True)
class WholeLine:
    """Nodes k · step over a window that leaves out a negligible part of every f_z in a range of tilts.

    Attributes:
        loss: whose integrand it serves.
        points: the nodes.
        step: distance of the nodes.
        c: the window lies this many standard deviations beyond where f_l falls like a Gaussian.
        error: bound on |step Σ f_z − M(z)|/M(l) for one step of the mechanism, window included.
    """

    loss: SampledGaussianLoss
    points: FloatArray
    step: float
    c: float
    error: float

    @property
    def log_weights(self) -> float:
        """log of the weight of every node."""
        return math.log(self.step)

    @property
    def missing(self) -> float:
        """Mass of N(0, 1) that the rule leaves out by design: none."""
        return 0.0

    @property
    def most_at_ends(self) -> float:
        """Beyond the window every tilted law falls like a Gaussian from c standard deviations on."""
        return 8.0 * math.exp(-0.5 * self.c * self.c)

    def relative_error(self, tilts: FloatArray, log_moments: FloatArray, frequency: float) -> FloatArray:  # noqa: ARG002
        """The same bound at every tilt and frequency it was laid for."""
        return np.full_like(tilts, self.error)

    def decay_error(self, tilt: float, log_moment: float, heights: FloatArray) -> FloatArray:  # noqa: ARG002
        """Quadrature error of E_l[G e^{−tθ}] at each height y, for any t ≥ 0.

        The integrand is analytic up to heights y′ with s y′ ≤ π/2 and s (y + y′) < π, and e^{−tθ} stays below 1 there
        (certificate, A3); outside the window G counts as well.
        """
        shift, step = self.loss.shift, self.step
        extent = Tilts(tilt, tilt)
        most = np.minimum(2.0 * math.pi / step, np.minimum(1.57, 3.1 - shift * heights) / shift)
        outer = most[:, None] * _STRIPS
        swing = self.loss.log_swing(extent, 0.0, (shift * (heights[:, None] + outer)).ravel()).reshape(outer.shape)
        strip = np.min(log_strip_error(outer, 0.5 * outer * outer + swing, step), axis=1)
        error = np.exp(np.minimum(strip, 50.0)) + self.error
        if self.loss.factors[1]:
            inside, outside = (self.loss.log_swing(extent, 0.0, shift * heights, beyond) for beyond in (0.0, self.c))
            error = error + self.error * np.exp(np.minimum(inside, 600.0)) + np.exp(np.minimum(outside, 600.0))
        return np.asarray(error)


def whole_line(loss: SampledGaussianLoss, count: int, tilts: Tilts, frequency: float, most_nodes: int) -> WholeLine:
    """The widest step and the narrowest window that keep the error of one step below e^−31/T.

    A grid for real tilts alone (frequency 0) also serves the decay bound, whose strip is half as high and whose
    quadrature must be finer for few steps.

    Raises:
        Refused: more than `most_nodes` nodes.
    """
    nats = QUADRATURE_NATS + math.log(count) + (DECAY_NATS / count if frequency == 0.0 else 0.0)
    heights = min(12.0, (1.5 if frequency == 0.0 else 3.0) / loss.shift) * _HEIGHTS
    growth = loss.log_strip_growth(tilts, frequency, heights)
    widest = widest_step(heights, growth, nats)
    step = exact_step(widest) if widest > 1e-300 else 0.0
    c = normal_quantile(nats + math.log(3.0))
    low, high = loss.window(tilts, c + step)
    if not high - low < step * (most_nodes - 2):
        raise Refused(Reason.BEYOND_BUDGET, f"{most_nodes} noise nodes of width {step:.3g}")
    points = np.asarray(step * np.arange(math.floor(low / step), math.ceil(high / step) + 1), dtype=np.float64)
    strip = math.exp(float(np.min(log_strip_error(heights, growth, step))))
    return WholeLine(loss, points, step, c, strip + 3.0 * upper_normal_tail(c))


# The trapezoidal rule with exact nodes, and the constants of error bounds -------------------------------------------
_STEP_BITS = 7


def exact_step(step: float) -> float:
    """The largest float with few significant bits that does not exceed `step` > 0.

    Its multiples by integers below 2^45 are exact, so that a grid of them is equispaced to the last bit.
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """γ_n = nu/(1 − nu): relative error of a sum of n products, in any order, against the sum of their moduli."""
    product = (terms + 10) * UNIT_ROUNDOFF
    return product / (1.0 - product)


def normal_quantile(nats: float) -> float:
    """A c ≥ 0 with Φ(−c) ≤ e^{−nats}."""
    return max(-float(ndtri_exp(-nats)), 0.0) * (1.0 + 1e-9) + 1e-9


def upper_normal_tail(c: float) -> float:
    """Φ(−c), rounded up."""
    return math.exp(float(log_ndtr(-c)) * (1.0 - 1e-12)) * (1.0 + 1e-12)


def log_strip_error(heights: FloatArray, log_growth: FloatArray, step: float) -> FloatArray:
    """log of 2E/(e^{2πa/h} − 1): error of the trapezoidal rule for a function analytic in |Im x| < a.

    E = e^{log_growth} bounds ∫ |f(x + iy)| dx for |y| < a (Trefethen and Weideman 2014, Theorem 5.1; any offset).
    """
    exponent = 2.0 * math.pi * heights / step
    return np.asarray(math.log(2.0) + log_growth - exponent - np.log(-np.expm1(-exponent)) + 1e-9)


def widest_step(heights: FloatArray, log_growth: FloatArray, nats: float) -> float:
    """The largest step for which some strip gives an error of at most e^{−nats}."""
    return float(np.max(2.0 * math.pi * heights / np.logaddexp(0.0, log_growth + nats + math.log(2.0))))
