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
    """Chernoff bounds log D(ε) ≤ b(μ) − με on the finite part of δ(ε), at several exponents μ.

    D(ε) = E_P[(1 − e^{ε−S})₊] for the total loss S with K(μ) = log E_P[e^{μS}]. Since (1 − e^{−x})₊ ≤ C(μ) e^{μx}:

        b(μ) = log C(μ) + K(μ),   C(μ) = μ^μ/(1 + μ)^{1+μ}.

    Attributes:
        tilts: μ ≥ 0, increasing from 0.
        log_bounds: upper bounds on b(μ).

    Source: docs/engine-certificate.md, A1.
    """

    tilts: FloatArray
    log_bounds: FloatArray

    @classmethod
    def at(cls, transforms: Sequence[Transform], tilts: FloatArray) -> ChernoffBounds:
        """Evaluate the Chernoff bounds on δ(ε) of a composition at several exponents μ.

        Let S be the total privacy loss, and D(ε) the δ(ε) without the losses that are left out as improbable. Let C(μ)
        ≤ 1 be the largest value of (1 − v) v^μ for v in [0, 1]. For every μ ≥ 0:

            D(ε) ≤ e^{b(μ) − με},   b(μ) = K(μ) + log C(μ),   K(μ) = log E_P[e^{μS}].

        Args:
            transforms: one transform z ↦ log E_P[e^{zL}] for each part of the composition. K is the sum of their
                cumulants.
            tilts: exponents μ ≥ 0, increasing.

        Returns:
            The exponents, and an upper bound on b(μ) at each, which includes all roundings.
        """
        # Upper bounds on log E_P[e^{μL}], a row for each part. Their sum bounds K(μ).
        exponents = tilts.tolist()
        cumulants = np.asarray(
            [[transform.upper_cumulant(exponent) for exponent in exponents] for transform in transforms]
        )
        log_bounds = cumulants.sum(axis=0) + log_chernoff_factor(tilts)
        summed_size = len(cumulants) * np.abs(cumulants).sum(axis=0)
        # The sum over the parts, and log C(μ) with the last addition, err by a few units of roundoff.
        rounding = UNIT_ROUNDOFF * (4.0 * summed_size + 16.0 * (1.0 + np.abs(log_bounds)))
        return cls(tilts, log_bounds + rounding)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the least Chernoff bound b(μ) − με on log D(ε), the finite part of log δ(ε), over all exponents μ.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            The upper bound on log D(ε), at most 0, which includes all roundings.
        """
        # The product and the difference err by a few units of roundoff of their terms.
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + np.abs(self.log_bounds) + self.tilts * abs(epsilon))
        bounds = self.log_bounds - self.tilts * epsilon + rounding
        return min(float(bounds.min()), 0.0)

    def log_alias_bound(self, tilt: float, period: float, epsilon: float) -> float:
        """Bound the aliasing error of the trapezoidal rule for δ(ε) from above, as a logarithm.

        The rule has a period A in ε, and its nodes have the real part l. Its aliasing error is:

            Σ_{m≠0} e^{lmA} δ(ε + mA),   δ(ε + mA) ≤ e^{b(μ) − μ(ε + mA)},

        where Chernoff's bound with e^{b(μ)} holds for every exponent μ ≥ 0. So the terms with m > 0 are below a
        geometric series for any μ > l, and those with m < 0 for any μ < l. The sum on either side is at most:

            e^{b(μ) − με}/(e^{|μ−l|A} − 1).

        The best of the stored exponents μ (`tilts`) on this side is used.

        Args:
            tilt: real part l of the line of integration.
            period: A = 2π/Δt in nats of ε, for the spacing Δt of the frequencies.
            epsilon: ε at which δ is evaluated, in nats.

        Returns:
            The log of the upper bound.
        """
        # log(e^x − 1) is written as x + log(1 − e^−x), so that nothing overflows.
        decay = np.abs(self.tilts - tilt) * period
        with np.errstate(divide="ignore"):
            log_series = self.log_bounds - self.tilts * epsilon - decay - np.log(-np.expm1(-decay))
        size = np.abs(self.log_bounds) + self.tilts * abs(epsilon) + decay
        # The sum of these terms errs by a few units of roundoff of their sizes.
        log_series = log_series + 16 * UNIT_ROUNDOFF * (1.0 + size)

        log_positive_m = float(log_series[self.tilts > tilt].min())
        log_negative_m = float(log_series[self.tilts < tilt].min())
        rounding = 4 * UNIT_ROUNDOFF * (1.0 + abs(log_positive_m) + abs(log_negative_m))  # of the final sum
        return float(np.logaddexp(log_positive_m, log_negative_m)) + rounding

    def shortest_period(self, tilt: float, epsilon: float, log_excess: float) -> float:
        """Estimate the shortest period of the trapezoidal rule for δ(ε) at which its aliasing error is small enough.

        A rule with spacing Δt has the period A = 2π/Δt in ε, which causes the error. By the Chernoff bounds e^{b(μ) −
        με} on δ(ε), the error is about e^{b(μ) − με − |μ−l|A} on either side of l. Here μ is the best tilt on that
        side.

        Args:
            tilt: real part l of the line of integration.
            epsilon: ε at which δ is evaluated, in nats.
            log_excess: log of the allowed error.

        Returns:
            The period A in nats of ε: the longer one of those that both sides require.
        """
        with np.errstate(divide="ignore"):
            periods = (self.log_bounds - self.tilts * epsilon - log_excess) / np.abs(self.tilts - tilt)
        shortest_above = float(periods[self.tilts > tilt].min())
        shortest_below = float(periods[self.tilts < tilt].min())
        return max(shortest_above, shortest_below)


def log_chernoff_factor(tilt: FloatArray) -> FloatArray:
    """Return the logarithm of the constant C(μ) in the Chernoff bound on δ, for each exponent μ.

    C(μ) is the largest value of (1 − v) v^μ on [0, 1]. Its logarithm is:

        log C(μ) = μ log μ − (1 + μ) log(1 + μ) = −log(1 + μ) − μ log(1 + 1/μ),

    and 0 at μ = 0. The second form does not cancel for large μ, and is computed.

    Args:
        tilt: exponents μ ≥ 0.

    Returns:
        log C(μ) ≤ 0 for each exponent.

    Source: docs/engine-certificate.md, A1.
    """
    reciprocal = 1.0 / np.where(tilt > 0.0, tilt, np.inf)
    return np.asarray(-np.log1p(tilt) - tilt * np.log1p(reciprocal))
