"""Chernoff bounds of D(ε) at several tilts, and the bound of the alias that they give (certificate, A1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import Transform
    from epsilond.accountants.numerics.special import FloatArray


class ChernoffBounds(NamedTuple):
    """Chernoff bounds log D(ε) ≤ b(μ) − μ ε at several tilts μ (A1).

    Attributes:
        tilts: μ ≥ 0, increasing from 0.
        log_bounds: b(μ), upper bounds on log C(μ) + K(μ).
    """

    tilts: FloatArray
    log_bounds: FloatArray

    @classmethod
    def at(cls, transforms: Sequence[Transform], tilts: FloatArray) -> ChernoffBounds:
        """Evaluate upper bounds of log C(μ) + K(μ) at increasing tilts."""
        bounds = np.asarray([[transform.upper_cumulant(tilt) for tilt in tilts.tolist()] for transform in transforms])
        total, size = bounds.sum(axis=0) + log_chernoff_factor(tilts), len(bounds) * np.abs(bounds).sum(axis=0)
        return cls(tilts, total + UNIT_ROUNDOFF * (4.0 * size + 16.0 * (1.0 + np.abs(total))))

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the least of the bounds of log D(ε), with their rounding, and 0."""
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + np.abs(self.log_bounds) + self.tilts * abs(epsilon))
        return min(float((self.log_bounds - self.tilts * epsilon + rounding).min()), 0.0)

    def log_excess(self, tilt: float, period: float, epsilon: float) -> float:
        """Return the log of a bound on the alias Σ_{m≠0} e^{lmA} D(ε + mA) of the trapezoidal rule.

        The Chernoff bounds give a geometric series on either side of l.

        Args:
            tilt: l of the line.
            period: A = 2π/Δt, in nats of ε.
            epsilon: ε at which D is evaluated.
        """
        apart = np.abs(self.tilts - tilt) * period
        size = np.abs(self.log_bounds) + self.tilts * abs(epsilon) + apart
        with np.errstate(divide="ignore"):
            logs = self.log_bounds - self.tilts * epsilon - apart - np.log(-np.expm1(-apart))
        logs = logs + 16 * UNIT_ROUNDOFF * (1.0 + size)
        above, below = (float(logs[side].min()) for side in (self.tilts > tilt, self.tilts < tilt))
        return float(np.logaddexp(above, below)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(above) + abs(below))

    def shortest_period(self, tilt: float, epsilon: float, log_excess: float) -> float:
        """Return the shortest period A of the trapezoidal rule with an alias of at most about e^`log_excess`.

        Args:
            tilt: l of the line.
            epsilon: ε at which D is evaluated.
            log_excess: log of the alias that is allowed.
        """
        with np.errstate(divide="ignore"):
            periods = (self.log_bounds - self.tilts * epsilon - log_excess) / np.abs(self.tilts - tilt)
        return max(float(periods[self.tilts > tilt].min()), float(periods[self.tilts < tilt].min()))


def log_chernoff_factor(tilt: FloatArray) -> FloatArray:
    """Return log C(μ) = μ log μ − (1 + μ) log(1 + μ), the largest value of (1 − v) v^μ on [0, 1]; 0 at 0 (A1).

    As −log(1 + μ) − μ log(1 + 1/μ) it does not cancel for large μ.
    """
    return np.asarray(-np.log1p(tilt) - tilt * np.log1p(1.0 / np.where(tilt > 0.0, tilt, np.inf)))
