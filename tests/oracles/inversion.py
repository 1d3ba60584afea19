"""log δ of a composition by inverting its transform in ball arithmetic, with a line chosen from the definition.

The line is chosen in doubles and nothing is proved about it: the tilt minimises K(l) − lε, the period is so long that
Chernoff's bounds put the images below 1e-12 of δ, and the sum ends where the integrand is below 1e-14 of its value at
the tilt. The sum itself is `contour.by_contour`.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
from scipy.optimize import minimize_scalar

from tests.oracles.contour import Step, by_contour

_SPACING, _REACH = 0.05, 14.0
"""Of the noise, in standard deviations."""
_IMAGES = math.log(1e-12)
_ENDS = math.log(1e-14)


class _Laws:
    """The noise of each step on a grid, in doubles: log of the first law's weights, and the losses."""

    def __init__(self, steps: list[Step], most_tilt: float) -> None:
        self.parts = []
        for step in steps:
            high = 0.0 if step.direction == "add" else (1.0 + 2.0 * most_tilt) * step.shift
            low = -min(most_tilt * step.shift, 40.0) if step.direction == "add" else 0.0
            x = np.arange(low - _REACH, high + _REACH, _SPACING)
            right, left = self._log_ratio(step, x), self._log_ratio(step, -x)
            loss = {"remove": right, "add": -right, "replace": right - left}[step.direction]
            density = math.log(_SPACING / math.sqrt(2.0 * math.pi)) - 0.5 * x * x
            self.parts.append((density if step.direction == "add" else density + right, loss, step.count))

    @staticmethod
    def _log_ratio(step: Step, x: np.ndarray) -> np.ndarray:
        present = math.log(step.rate) + step.shift * x - 0.5 * step.shift**2
        absent = math.log1p(-step.rate) if step.rate < 1.0 else -math.inf
        return np.logaddexp(absent, present)

    def log_moment(self, tilt: float) -> float:
        """K(l)."""
        return math.fsum(
            count * float(np.logaddexp.reduce(weights + tilt * losses)) for weights, losses, count in self.parts
        )

    def log_decay(self, tilt: float, frequency: float) -> float:
        """log |φ(t)|."""
        total = 0.0
        for weights, losses, count in self.parts:
            tilted = weights + tilt * losses
            share = np.exp(tilted - np.logaddexp.reduce(tilted))
            total += count * math.log(abs(complex(np.sum(share * np.exp(1j * frequency * losses)))) + 1e-300)
        return total


def log_delta(steps: list[Step], epsilon: float, *, most_tilt: float = 400.0, most_terms: int = 4000) -> mp.mpf | None:
    """Return log δ(ε) to about ten digits; None if the sum would have more terms than `most_terms`."""
    laws = _Laws(steps, most_tilt)

    def exponent(tilt: float) -> float:
        return laws.log_moment(tilt) - tilt * epsilon - math.log(tilt) - math.log1p(tilt)

    found = minimize_scalar(
        lambda log_tilt: exponent(math.exp(log_tilt)),
        bounds=(math.log(1e-2), math.log(most_tilt)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    tilt = math.exp(found.x)
    if tilt > 0.9 * most_tilt:
        return None
    wanted = exponent(tilt) + _IMAGES - 4.0
    period = min(
        max(_period_above(laws, tilt, epsilon, wanted, most_tilt), (-wanted) / tilt),
        1e6,
    )
    period = max(period, _period_below(laws, tilt, epsilon, wanted))
    frequency = 2.0 * math.pi / period
    count = 64
    while laws.log_decay(tilt, count * frequency) - 2.0 * math.log1p(count * frequency / tilt) > _ENDS or not _falls(
        laws, tilt, count * frequency
    ):
        count = math.ceil(1.5 * count)
        if count > most_terms:
            return None
    value = by_contour(steps, epsilon, tilt=tilt, period=period, count=count, spacing=_SPACING, reach=_REACH)
    return mp.log(value)


def _period_above(laws: _Laws, tilt: float, epsilon: float, wanted: float, most_tilt: float) -> float:
    """The shortest A with e^{K(μ) − με − (μ − l)A} below e^wanted for some μ > l."""
    tilts = tilt + (most_tilt - tilt) * np.geomspace(1e-3, 1.0, 60)
    return min((laws.log_moment(mu) - mu * epsilon - wanted) / (mu - tilt) for mu in tilts)


def _period_below(laws: _Laws, tilt: float, epsilon: float, wanted: float) -> float:
    """The same for images on the other side, with tilts 0 ≤ ν < l."""
    tilts = tilt * np.linspace(0.0, 0.99, 60)
    return min((laws.log_moment(nu) - nu * epsilon - wanted) / (tilt - nu) for nu in tilts)


def _falls(laws: _Laws, tilt: float, frequency: float) -> bool:
    """Whether |φ| is as small at some higher frequencies."""
    here = max(_ENDS, laws.log_decay(tilt, frequency)) + 1.0
    return all(laws.log_decay(tilt, frequency * factor) <= here for factor in (1.1, 1.23, 1.4, 1.7, 2.1))
