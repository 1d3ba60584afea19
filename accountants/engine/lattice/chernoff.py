"""Chernoff bounds of δ at other tilts, which bound what a periodic sum adds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.engine.lattice.tilted import Place, Weighted


def log_chernoff_constant(tilt: float) -> float:
    """log C(μ): C = max_y (1 − e^{−y})₊ e^{−μy} = μ^μ/(1 + μ)^{1+μ} for μ ≥ 0.

    C = 1 for −1 ≤ μ ≤ 0, where it is min(1, e^{−y}) ≤ e^{μy} that is used.
    """
    if tilt <= 0:
        return 0.0
    return -math.log1p(tilt) - tilt * math.log1p(1.0 / tilt)


@dataclass(frozen=True)
class Chernoff:
    """log C(μ) + K(μ) at tilts on both sides of λ: what bounds an alias (docs/engine-certificate.md A1).

    A lattice sum with period A equals Σ_m e^{λmA} D(ε + mA), all terms non-negative, so it exceeds D(ε) by at most

        C(μ) e^{K(μ) − με} / (e^{(μ−λ)A} − 1) + C(ν) e^{K(ν) − νε} / (e^{(λ−ν)A} − 1),      ν < λ < μ.
    """

    tilt: float
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]

    @classmethod
    def around(cls, laws: Weighted, place: Place) -> Chernoff:
        """Tilts from half a reciprocal deviation to twelve away, kept where the bound is valid."""
        lam = place.tilt
        scale = math.sqrt(laws.cumulants(lam).variance + place.stiffness)
        most, least = (math.inf, 0.0) if place.direct else (0.0, -1.0)
        steps = (0.5, 1.0, 2.0, 3.2, 5.0, 8.0, 12.0)
        above = sorted({min(lam + step / scale, most) for step in steps} - {lam})
        below = sorted({max(lam - step / scale, least) for step in steps} - {lam})
        return cls(
            lam,
            tuple((mu, log_chernoff_constant(mu) + laws.value(mu)) for mu in above),
            tuple((nu, log_chernoff_constant(nu) + laws.value(nu)) for nu in below),
        )

    def log_alias(self, epsilon: float, period: float, log_unit: float) -> float:
        """log of the bound on the excess at the ε that is asked, over e^{log_unit}."""
        total = -math.inf
        for side in (self.above, self.below):
            best = min(bound - mu * epsilon - log_unit - _log_expm1(abs(mu - self.tilt) * period) for mu, bound in side)
            total = float(np.logaddexp(total, best))
        return total

    def period(self, epsilon: float, log_target: float) -> float:
        """A period whose excess at ε is about e^{log_target} at most."""
        return max(
            min((bound - mu * epsilon - log_target) / abs(mu - self.tilt) for mu, bound in side)
            for side in (self.above, self.below)
        )


def _log_expm1(x: float) -> float:
    """log(e^x − 1) for x > 0."""
    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf
