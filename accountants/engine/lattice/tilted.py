"""Exponential tilting: the laws p e^{λL}/M(λ), their cumulants, and the tilt that suits an ε.

With S the sum of all losses under P, z = λ + it and K = log M, M(z) = E[e^{zS}; S < ∞], the finite part of δ is

    D(ε) = E[(1 − e^{ε−S})₊] = (1/2πi) ∫ e^{K(z) − zε} dz / (z (1 + z))     for λ > 0   (docs/engine-certificate.md A0),

and moving the contour past the pole at 0 gives E[min(1, e^{ε−S})] = 1 − δ for −1 < λ < 0. Any λ is correct; a good one
is where K(λ) − λε − log|λ(1 + λ)| is least. λ > 0 keeps the digits of a small δ, −1 < λ < 0 those of a small 1 − δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

IntArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"

_TOLERANCE = 0.02
"""Error of a tilt in its coordinate: the exponent is flat there, so that δ loses a width of 2e-4 of a deviation."""
_LONGEST_STEP, _HALVED, _MOST_STEPS = 3.0, 8, 100
"""Steps of the search for a tilt: the longest, how often one halves the bracket, and the most of them."""
_CHART_LIMITS = {True: (-45.0, 20.0), False: (-30.0, 30.0)}
"""Range of the coordinate: λ from 3e-20 to 5e8, or 1 + λ and −λ from 1e-13."""


class Cumulants(NamedTuple):
    """K(λ) and its first two derivatives, over all laws and rounds."""

    value: float
    mean: float
    variance: float


class TiltCoordinate(NamedTuple):
    """A tilt, as a coordinate: λ = e^y if `direct` (λ > 0), else λ = −1/(1 + e^y) (−1 < λ < 0)."""

    y: float
    direct: bool

    @property
    def tilt(self) -> float:
        """The tilt λ."""
        return math.exp(self.y) if self.direct else -1.0 / (1.0 + math.exp(self.y))

    @property
    def above(self) -> float:
        """1 + λ without cancellation."""
        return 1.0 + self.tilt if self.direct else 1.0 / (1.0 + math.exp(-self.y))

    @property
    def pole(self) -> float:
        """log|λ (1 + λ)|, computed without cancellation."""
        if self.direct:
            return self.y + math.log1p(math.exp(self.y))
        return self.y - 2.0 * math.log1p(math.exp(self.y))

    @property
    def pull(self) -> float:
        """1/λ + 1/(1 + λ), the derivative of log|λ (1 + λ)|."""
        lam = self.tilt
        return 1.0 / lam + (1.0 / (1.0 + lam) if self.direct else 1.0 + math.exp(-self.y))

    @property
    def speed(self) -> float:
        """dλ/dy."""
        return abs(self.tilt) * (1.0 if self.direct else self.above)

    @property
    def stiffness(self) -> float:
        """1/λ² + 1/(1 + λ)²."""
        lam = self.tilt
        other = 1.0 / (1.0 + lam) if self.direct else 1.0 + math.exp(-self.y)
        return 1.0 / (lam * lam) + other * other

    def snapped(self, step: float) -> TiltCoordinate:
        """The next lower place on a fixed grid, so that neighbouring questions share one transform."""
        return TiltCoordinate(step * math.floor(self.y / step), self.direct)


@dataclass(frozen=True)
class Weighted:
    """Laws of one step's finite loss, side by side in flat arrays, each with the number of rounds it is run.

    Law j holds `location` and `log_mass` from `starts[j]` up to the next start.
    """

    location: FloatArray
    log_mass: FloatArray
    starts: IntArray
    counts: FloatArray

    @cached_property
    def lengths(self) -> IntArray:
        """Number of points of each law."""
        return np.diff(self.starts, append=self.location.size)

    @cached_property
    def _owners(self) -> IntArray:
        """Which law each point is of."""
        return np.repeat(np.arange(self.starts.size, dtype=np.int64), self.lengths)

    def spread(self, values: FloatArray) -> FloatArray:
        """One value for each law, as one for each point."""
        return values if values.size == 1 else values[self._owners]

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums over the points of each law."""
        return np.asarray([values.sum()]) if self.starts.size == 1 else np.add.reduceat(values, self.starts)

    def largest(self, values: FloatArray) -> FloatArray:
        """Largest value over the points of each law."""
        return np.asarray([values.max()]) if self.starts.size == 1 else np.maximum.reduceat(values, self.starts)

    def log_moments(self, tilt: float) -> FloatArray:
        """K_j(λ) of each law."""
        exponents = self.log_mass + tilt * self.location
        most = self.largest(exponents)
        return most + np.log(self.sums(np.exp(exponents - self.spread(most))))

    def tilted(self, tilt: float, log_moments: FloatArray) -> FloatArray:
        """Weights of the tilted laws, each of sum one."""
        return np.exp(self.log_mass + tilt * self.location - self.spread(log_moments))

    def means(self, weights: FloatArray) -> FloatArray:
        """Mean of each tilted law."""
        return self.sums(weights * self.location)

    def cumulants(self, tilt: float) -> Cumulants:
        """K, K′ and K″ at λ, all from one evaluation."""
        exponents = self.log_mass + tilt * self.location
        most = self.largest(exponents)
        weights = np.exp(exponents - self.spread(most))
        totals = self.sums(weights)
        means = self.sums(weights * self.location) / totals
        centred = self.location - self.spread(means)
        variances = self.sums(weights * centred * centred) / totals
        log_moments = most + np.log(totals)
        return Cumulants(
            math.fsum(self.counts * log_moments), math.fsum(self.counts * means), math.fsum(self.counts * variances)
        )

    def value(self, tilt: float) -> float:
        """K(λ)."""
        return math.fsum(self.counts * self.log_moments(tilt))

    def saddle(self, epsilon: float, *, direct: bool, start: float = 0.0) -> TiltCoordinate:
        """Where K(λ) − λε − log|λ (1 + λ)| is least, within `_TOLERANCE` below in y. Correctness does not rest on it.

        By Newton steps on its derivative, which rises, within a bracket that is halved where they do not converge:
        where rare giant losses take over, K′ all but jumps. Just above that jump they rule the transform at a tilt, so
        that its errors exceed δ; a lower tilt never costs as much.
        """
        lowest, highest = _CHART_LIMITS[direct]
        low, high, y = lowest, highest, min(max(start, lowest), highest)
        for attempt in range(1, _MOST_STEPS):
            place = TiltCoordinate(y, direct)
            _, mean, variance = self.cumulants(place.tilt)
            excess = mean - epsilon - place.pull
            low, high = (low, y) if excess > 0.0 else (y, high)
            step = -excess / ((variance + place.stiffness) * place.speed)
            if not math.isfinite(step):
                step = math.copysign(_LONGEST_STEP, -excess)
            if 0.0 <= step <= _TOLERANCE or high - low <= _TOLERANCE:
                break
            y = min(max(y + min(max(step, -_LONGEST_STEP), _LONGEST_STEP), low), high)
            if (y in (low, high) and lowest < low and high < highest) or attempt % _HALVED == 0:
                y = 0.5 * (low + high)
        return TiltCoordinate(low, direct)

    def prefers_direct(self, epsilon: float) -> bool:
        """Whether δ, rather than 1 − δ, is the small one: the mean loss is not far above ε."""
        _, mean, variance = self.cumulants(0.0)
        return mean - epsilon <= max(2.0 * math.sqrt(variance), 0.3)

    def bulk(self) -> tuple[float, float]:
        """Mean and variance of the total without the rarest losses, those that a third of all runs never see."""
        mean = variance = 0.0
        total = math.fsum(self.counts)
        starts = np.append(self.starts, self.location.size)
        for j, count in enumerate(self.counts.tolist()):
            location = self.location[starts[j] : starts[j + 1]]
            masses = np.exp(self.log_mass[starts[j] : starts[j + 1]])
            order = np.argsort(np.abs(location))
            kept = order[: int(np.searchsorted(np.cumsum(masses[order]), masses.sum() - 0.3 / total)) + 1]
            if not masses[kept].sum() > 0.0:
                continue  # all but a negligible part is infinite
            inner = masses[kept] / masses[kept].sum()
            middle = float(inner @ location[kept])
            mean += count * middle
            variance += count * float(inner @ (location[kept] - middle) ** 2)
        return mean, variance

    def centre(self, place: TiltCoordinate) -> float:
        """The ε whose best tilt is at `place`."""
        return self.cumulants(place.tilt).mean - place.pull

    def estimate(self, place: TiltCoordinate) -> float:
        """Saddle-point estimate of log D (or of log(1 − δ) if not direct) at `centre`. An estimate, not a bound."""
        return self.estimate_at(place, self.centre(place))

    def estimate_at(self, place: TiltCoordinate, epsilon: float) -> float:
        """The same at an ε near the centre."""
        value, _, variance = self.cumulants(place.tilt)
        spread = variance + place.stiffness
        return value - place.tilt * epsilon - place.pole - 0.5 * math.log(2.0 * math.pi * spread)

    def place_of(self, log_delta: float) -> TiltCoordinate:
        """Return the tilt λ > 0 at whose centre the estimate of log D is `log_delta`, by bisection."""
        low, high = _CHART_LIMITS[True]
        while high - low > _TOLERANCE:
            middle = 0.5 * (low + high)
            if self.estimate(TiltCoordinate(middle, direct=True)) > log_delta:
                low = middle
            else:
                high = middle
        return TiltCoordinate(0.5 * (low + high), direct=True)
