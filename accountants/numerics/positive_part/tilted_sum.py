"""Cumulants of a sum of independent variables after exponential tilting."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class TiltedSum:
    """Cumulants of a sum S of independent variables under the distribution tilted by λ, that is, weighted by e^{λS}.

    Attributes:
        tilt: λ > 0.
        log_transform: cumulant K(λ) = log E e^{λS}.
        error: bound on the error of K(λ).
        mean: K′(λ), the mean of S under the tilted distribution.
        variance: K″(λ), its variance.
    """

    tilt: float
    log_transform: float
    error: float
    mean: float
    variance: float

    @property
    def deviation(self) -> float:
        """√(K″(λ) + 2/λ²), the reciprocal of the width of the integrand φ(t)ⁿ/(λ + it)² in t."""
        return math.sqrt(self.variance + 2.0 / self.tilt**2)

    @property
    def log_saddle_factor(self) -> float:
        """Estimate of log E[S₊] − K(λ): the saddle-point approximation 1/(λ² √(2π (K″ + 2/λ²)))."""
        return -2.0 * math.log(self.tilt) - 0.5 * math.log(2.0 * math.pi) - math.log(self.deviation)
