"""The loss of a Gaussian mechanism on a batch drawn without replacement, for replace-one (certificate, A8).

With N(d, 1) against N(0, 1) the pair of the mechanism itself and q the probability that the batch holds the record,

    r(u) = 1 − q + q e^{du},   u ≥ 0,   x = u + d/2,

the loss is log r(u) with density φ(x) r(u), −log r(u) with density φ(x), and 0 with the mass a = (1 − q) erf(d/√8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.accuracy import NEGLIGIBLE_NATS
from epsilond.accountants.engine.contour.sampled_gaussian import log_mixture
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, theta_logs

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_ROUNDED_EPSILON = 32 * UNIT_ROUNDOFF
"""Relative error of log(1 + (e^ε − 1)/q), and of log q per unit of 1 + |log q|."""


@dataclass(frozen=True)
class DrawnLoss:
    """One step: q in (0, 1) and d > 0."""

    rate: float
    shift: float

    @cached_property
    def log_odds(self) -> float:
        """log q/(1 − q)."""
        return math.log(self.rate) - math.log1p(-self.rate)

    @cached_property
    def atom(self) -> float:
        """The mass a of the loss 0, within 16 units of roundoff."""
        return (1.0 - self.rate) * math.erf(self.shift / math.sqrt(8.0))

    @cached_property
    def mass(self) -> float:
        """1 − a, the mass of all other losses, within 16 units."""
        return self.rate + (1.0 - self.rate) * math.erfc(self.shift / math.sqrt(8.0))

    def log_ratio(self, u: FloatArray) -> FloatArray:
        """Return log r(u) ≥ 0, within `ratio_error` of itself for u within ten units of roundoff."""
        return log_mixture(self.rate, self.shift * u)

    def ratio_error(self, u: FloatArray) -> FloatArray:
        """Return the relative error of log r(u): u p(u) d/log r(u) ≤ 1 + du bounds how it moves with u."""
        return np.asarray(UNIT_ROUNDOFF * (40.0 + 24.0 * self.shift * u))

    def response(self, u: FloatArray) -> FloatArray:
        """Return p(u) = q e^{du}/r(u)."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.log_odds + self.shift * u))))

    def log_modulus_at_edge(self, height: float) -> float:
        """Return b(y) = −log |r(iy)|, which rises with y up to dy = π."""
        sine = math.sin(0.5 * self.shift * height)
        return -0.5 * math.log1p(-4.0 * self.rate * (1.0 - self.rate) * sine * sine)

    def log_beyond(self, epsilon: float) -> tuple[float, float]:
        """Return log E[(1 − e^{ε−L})₊; L ≠ 0] for ε ≥ 0, which is δ(ε) of the step, and a bound on its error."""
        base = self._base_epsilon(epsilon)
        log_rate = math.log(self.rate)
        log_delta, _ = theta_logs(base, self.shift)
        slope = 1.0 + abs(log_delta) + (base / self.shift) ** 2 + base
        error = LOG_ACCURACY * (1.0 + abs(log_delta)) + _ROUNDED_EPSILON * (slope + abs(log_rate))
        return log_rate + log_delta, error

    def tail_beyond(self, epsilon: float) -> float:
        """Estimate Q(L > ε) for ε ≥ 0."""
        x = self._base_epsilon(epsilon) / self.shift + 0.5 * self.shift
        return 0.5 * math.erfc(x * math.sqrt(0.5))

    def _base_epsilon(self, epsilon: float) -> float:
        """Return log(1 + (e^ε − 1)/q)."""
        quotient = math.expm1(min(epsilon, NEGLIGIBLE_NATS)) / self.rate
        if epsilon < NEGLIGIBLE_NATS and quotient < math.inf:
            return math.log1p(quotient)
        return epsilon - math.log(self.rate) + math.log1p((self.rate - 1.0) * math.exp(-epsilon))
