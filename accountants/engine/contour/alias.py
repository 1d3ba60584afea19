"""The alias error of the trapezoidal rule on the contour, from Chernoff bounds at other tilts.

With period A = 2π/Δt the rule returns Σ_k e^{λkA} D(ε + kA), every term ≥ 0, and D(e) ≤ C(μ) e^{K(μ) − μe} for μ ≥ 0
with C(μ) = μ^μ/(1 + μ)^{1+μ}, C(0) = 1. Two geometric series bound the excess (docs/engine-certificate.md, A1). The
bounds of K are kept and evaluated at the ε that is asked: an excess carried over from another ε is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

STEPS = np.asarray([0.3, 0.6, 1.0, 1.7, 2.8, 4.2, 6.0, 8.0])
"""Distances of the other tilts from λ, in units of 1/sd of the integrand's bulk."""


def log_chernoff_factor(tilt: FloatArray) -> FloatArray:
    """log C(μ) = μ log μ − (1 + μ) log(1 + μ), the largest value of (1 − v) v^μ on [0, 1]; 0 at 0.

    As −log(1 + μ) − μ log(1 + 1/μ) it does not cancel for large μ.
    """
    with np.errstate(divide="ignore"):
        ratio = np.log1p(1.0 / np.where(tilt > 0.0, tilt, np.inf))
    return np.asarray(-np.log1p(tilt) - tilt * ratio)


@dataclass(frozen=True)
class ChernoffBounds:
    """log D(ε) ≤ min over the tilts of log C(μ) + K(μ) − μ ε.

    Attributes:
        tilt: λ, of the line.
        above: tilts μ > λ; `log_above` holds upper bounds of log C(μ) + K(μ).
        below: tilts 0 ≤ ν < λ; `log_below` likewise.
        log_here: the same at λ itself.
    """

    tilt: float
    above: FloatArray
    log_above: FloatArray
    below: FloatArray
    log_below: FloatArray
    log_here: float

    @classmethod
    def tilts(cls, tilt: float, deviation: float) -> FloatArray:
        """The tilts at which upper bounds of K are wanted: below λ (0 included), λ, above λ, increasing."""
        below = tilt - STEPS[::-1] / deviation
        kept = np.append(0.0, below[below > 0.0])
        return np.concatenate((kept, [tilt], tilt + STEPS / deviation))

    @classmethod
    def of(cls, tilt: float, tilts: FloatArray, upper_cumulants: Callable[[FloatArray], FloatArray]) -> ChernoffBounds:
        """From upper bounds of K at `tilts`, `tilt` being one of them."""
        values = upper_cumulants(tilts) + log_chernoff_factor(tilts)
        above, below = tilts > tilt, tilts < tilt
        here = float(values[~above & ~below][0])
        return cls(tilt, tilts[above], values[above], tilts[below], values[below], here)

    def upper_log_delta(self, epsilon: float) -> float:
        """The Chernoff bound of log D(ε) itself, the smaller of 0 and what the tilts give."""
        logs = np.concatenate((self.log_above, self.log_below, [self.log_here]))
        decrease = np.concatenate((self.above, self.below, [self.tilt])) * epsilon
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + np.abs(logs) + np.abs(decrease))
        return min(float((logs - decrease + rounding).min()), 0.0)

    def log_excess(self, epsilon: float, period: float) -> float:
        """log of the bound on Σ_{k≠0} e^{λkA} D(ε + kA)."""
        return float(
            np.logaddexp(
                _log_series(self.log_above, self.above * epsilon, (self.above - self.tilt) * period),
                _log_series(self.log_below, self.below * epsilon, (self.tilt - self.below) * period),
            )
        )

    def period(self, epsilon: float, target: float) -> float:
        """A period whose excess at ε is about e^target."""
        right = (self.log_above - self.above * epsilon - target) / (self.above - self.tilt)
        left = (self.log_below - self.below * epsilon - target) / (self.tilt - self.below)
        return float(max(right.min(), left.min()))


def _log_series(log_bound: FloatArray, decrease: FloatArray, gap: FloatArray) -> float:
    """log min(e^{log_bound − decrease}/(e^gap − 1)), with its rounding."""
    rounding = 16 * UNIT_ROUNDOFF * (np.abs(log_bound) + np.abs(decrease) + gap)
    return float((log_bound - decrease + rounding - gap - np.log(-np.expm1(-gap))).min())
