"""Exponential tilting: the distributions p e^{λL}/M(λ), their cumulants, and the tilt that suits an ε.

With S the sum of all losses under P, z = λ + it and K = log M, M(z) = E[e^{zS}; S < ∞], the finite part of δ is:

    D(ε) = E[(1 − e^{ε−S})₊] = (1/2πi) ∫ e^{K(z) − zε} dz / (z (1 + z))     for λ > 0   (docs/engine-certificate.md A0),

and moving the contour past the pole at 0 gives E[min(1, e^{ε−S})] = 1 − δ for −1 < λ < 0. Every λ is correct. A good
one minimises K(λ) − λε − log|λ(1 + λ)|. Small δ are accurate with λ > 0, and small 1 − δ with −1 < λ < 0.
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
"""Largest error of a tilt in its coordinate. The minimised exponent is flat, so such an error changes it little."""
_LONGEST_STEP, _BISECTION_PERIOD, _MOST_STEPS = 3.0, 8, 100
"""Longest step of the search for a tilt (in its coordinate), steps between bisections, and largest number of steps."""
_CHART_LIMITS = {True: (-45.0, 20.0), False: (-30.0, 30.0)}
"""Range of the coordinate if λ > 0 (True): λ from 3e-20 to 5e8; and otherwise: 1 + λ and −λ at least 1e-13."""


class Cumulants(NamedTuple):
    """Value and derivatives of the cumulant generating function K(λ) = log E[e^{λS}] of the total loss S.

    Attributes:
        value: K(λ), the log moment.
        mean: K′(λ), the mean of the tilted total loss.
        variance: K″(λ), the variance of the tilted total loss.
    """

    value: float
    mean: float
    variance: float


class TiltCoordinate(NamedTuple):
    """A tilt λ, the exponent of the weight e^{λL} of a loss L, as a real coordinate y.

    λ = e^y for λ > 0, and λ = −1/(1 + e^y) for −1 < λ < 0. In this coordinate every real number is a valid tilt, so
    that searches need no bounds. Functions of λ with poles at 0 and −1 are computed from y without cancellation.

    Attributes:
        y: the coordinate.
        direct: whether λ > 0, so that δ is computed directly; otherwise 1 − δ is computed.
    """

    y: float
    direct: bool

    @property
    def tilt(self) -> float:
        """The tilt λ."""
        return math.exp(self.y) if self.direct else -1.0 / (1.0 + math.exp(self.y))

    @property
    def above(self) -> float:
        """The number 1 + λ, computed without cancellation."""
        return 1.0 + self.tilt if self.direct else 1.0 / (1.0 + math.exp(-self.y))

    @property
    def pole(self) -> float:
        """The logarithm log|λ (1 + λ)|, computed without cancellation."""
        if self.direct:
            return self.y + math.log1p(math.exp(self.y))
        return self.y - 2.0 * math.log1p(math.exp(self.y))

    @property
    def pull(self) -> float:
        """The derivative 1/λ + 1/(1 + λ) of log|λ (1 + λ)| in λ."""
        return 1.0 / self.tilt + self._reciprocal_above

    @property
    def _reciprocal_above(self) -> float:
        """The number 1/(1 + λ), computed without cancellation."""
        return 1.0 / (1.0 + self.tilt) if self.direct else 1.0 + math.exp(-self.y)

    @property
    def tilt_slope(self) -> float:
        """The derivative |dλ/dy| of the tilt in the coordinate."""
        return abs(self.tilt) * (1.0 if self.direct else self.above)

    @property
    def stiffness(self) -> float:
        """The negated second derivative 1/λ² + 1/(1 + λ)² of log|λ (1 + λ)| in λ."""
        tilt, reciprocal_above = self.tilt, self._reciprocal_above
        return 1.0 / (tilt * tilt) + reciprocal_above * reciprocal_above

    def round_down(self, step: float) -> TiltCoordinate:
        """Round the coordinate y of the tilt λ down to a grid, so that evaluations at nearby ε share one transform.

        Args:
            step: distance of neighbouring points of the grid.

        Returns:
            The largest y of the grid that is at most this one, with the same sign of λ.
        """
        return TiltCoordinate(step * math.floor(self.y / step), self.direct)


@dataclass(frozen=True)
class FlatDistributions:
    """Distributions of the finite losses of one round of several mechanisms, in flat arrays.

    Each distribution has a number of rounds in the composition. The points of distribution j are those from `starts[j]`
    up to the next start. The total loss S is the sum of the losses of all rounds.

    Attributes:
        location: the losses L, in nats.
        log_mass: log of the probability of each loss.
        starts: index of the first point of each distribution.
        counts: number T_j of rounds of each distribution.
    """

    location: FloatArray
    log_mass: FloatArray
    starts: IntArray
    counts: FloatArray

    @cached_property
    def lengths(self) -> IntArray:
        """Number of points of each distribution."""
        return np.diff(self.starts, append=self.location.size)

    @cached_property
    def _owners(self) -> IntArray:
        """Index of the distribution of each point."""
        return np.repeat(np.arange(self.starts.size, dtype=np.int64), self.lengths)

    def expand(self, values: FloatArray) -> FloatArray:
        """Repeat one value per distribution for each of its points.

        Args:
            values: one value for each distribution. A single value is returned as it is, because arrays broadcast it.

        Returns:
            One value for each point, or the single value.
        """
        return values if values.size == 1 else values[self._owners]

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum of values over the points of each distribution.

        Args:
            values: one value for each point.

        Returns:
            One sum for each distribution.
        """
        return np.asarray([values.sum()]) if self.starts.size == 1 else np.add.reduceat(values, self.starts)

    def largest(self, values: FloatArray) -> FloatArray:
        """Return the largest value over the points of each distribution.

        Args:
            values: one value for each point.

        Returns:
            One value for each distribution.
        """
        return np.asarray([values.max()]) if self.starts.size == 1 else np.maximum.reduceat(values, self.starts)

    def log_moments(self, tilt: float) -> FloatArray:
        """Return the log moment K_j(λ) = log E_j[e^{λL}] of one round of each distribution j.

        Args:
            tilt: exponent λ of the weights e^{λL} of losses L.

        Returns:
            The log moment K_j(λ) for each distribution j.
        """
        exponents = self.log_mass + tilt * self.location
        largest = self.largest(exponents)  # taken out, so that nothing overflows
        sums_of_weights = self.sums(np.exp(exponents - self.expand(largest)))
        return largest + np.log(sums_of_weights)

    def tilted_weights(self, tilt: float, log_moments: FloatArray) -> FloatArray:
        """Return the probabilities of all losses after weighting by e^{λL}, which sum to one for each distribution.

        A loss L with probability p gets the probability p e^{λL}/E[e^{λL}].

        Args:
            tilt: exponent λ of the weights.
            log_moments: log E[e^{λL}] of each distribution.

        Returns:
            One probability for each point.
        """
        return np.exp(self.log_mass + tilt * self.location - self.expand(log_moments))

    def means(self, weights: FloatArray) -> FloatArray:
        """Return the mean loss of each tilted distribution, in nats.

        Args:
            weights: tilted probability of each loss.
        """
        return self.sums(weights * self.location)

    def cumulants(self, tilt: float) -> Cumulants:
        """Return the cumulant generating function K of the total loss, and its derivatives K′ and K″, at one tilt.

        K(λ) = Σ_j T_j log E_j[e^{λL}], with the number T_j of rounds of distribution j. K′ and K″ are the mean and the
        variance of the tilted total loss.

        Args:
            tilt: exponent λ of the weights e^{λL} of losses L.

        Returns:
            K(λ), K′(λ) in nats and K″(λ) in nats².
        """
        exponents = self.log_mass + tilt * self.location
        largest = self.largest(exponents)  # taken out, so that nothing overflows
        weights = np.exp(exponents - self.expand(largest))
        totals = self.sums(weights)
        means = self.sums(weights * self.location) / totals
        deviations = self.location - self.expand(means)
        variances = self.sums(weights * deviations * deviations) / totals
        log_moments = largest + np.log(totals)
        return Cumulants(
            value=math.fsum(self.counts * log_moments),
            mean=math.fsum(self.counts * means),
            variance=math.fsum(self.counts * variances),
        )

    def value(self, tilt: float) -> float:
        """Return the log moment K(λ) = Σ_j T_j log E_j[e^{λL}] of the total loss.

        Args:
            tilt: exponent λ of the weights e^{λL} of losses L.
        """
        return math.fsum(self.counts * self.log_moments(tilt))

    def saddle(self, epsilon: float, *, direct: bool, start: float = 0.0) -> TiltCoordinate:
        """Find the saddle point: the tilt λ that minimises K(λ) − λε − log|λ (1 + λ)| for the log moment K.

        Newton steps find the root of the increasing derivative, within a bracket that is bisected where they do not
        converge. This happens where K′ nearly jumps: above that λ, rare losses of great size dominate the transform,
        and its errors exceed δ. The result is therefore not above the root, but about `_TOLERANCE` below it at most in
        the coordinate y. It affects tightness, not validity.

        Args:
            epsilon: ε, in nats.
            direct: whether λ > 0; otherwise −1 < λ < 0.
            start: first coordinate y.

        Returns:
            The lower end of the last bracket, as a coordinate of λ.
        """
        lowest, highest = _CHART_LIMITS[direct]
        low, high = lowest, highest  # bracket of the root
        y = min(max(start, lowest), highest)
        for attempt in range(1, _MOST_STEPS):
            step, is_above_root = self._newton_step(epsilon, TiltCoordinate(y, direct))
            if is_above_root:
                high = y
            else:
                low = y
            is_just_below_root = 0.0 <= step <= _TOLERANCE
            if is_just_below_root or high - low <= _TOLERANCE:
                break

            # Take the Newton step within the bracket. Bisect if it would leave the bracket, and at regular intervals.
            bounded_step = min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
            y = min(max(y + bounded_step, low), high)
            has_both_bounds = lowest < low and high < highest
            leaves_bracket = has_both_bounds and y in (low, high)
            if leaves_bracket or attempt % _BISECTION_PERIOD == 0:
                y = 0.5 * (low + high)
        return TiltCoordinate(low, direct)

    def _newton_step(self, epsilon: float, coordinate: TiltCoordinate) -> tuple[float, bool]:
        """Return the Newton step towards the saddle point, where d/dλ [K(λ) − λε − log|λ (1 + λ)|] = 0.

        K is the log moment of the total loss. λ is given by a coordinate y, which may be any real number. If the step
        is not finite, it is the longest step in its direction.

        Args:
            epsilon: ε, in nats.
            coordinate: the exponent λ of the weights e^{λL}, with its coordinate y.

        Returns:
            The step to add to y, and True if the derivative is positive, so that λ is above the saddle point.
        """
        _, mean, variance = self.cumulants(coordinate.tilt)
        # `pull` and `stiffness` are the first and the negated second derivative of log|λ (1 + λ)|.
        derivative = mean - epsilon - coordinate.pull
        step = -derivative / ((variance + coordinate.stiffness) * coordinate.tilt_slope)
        if not math.isfinite(step):
            step = math.copysign(_LONGEST_STEP, -derivative)
        return step, derivative > 0.0

    def prefers_direct(self, epsilon: float) -> bool:
        """Return whether δ(ε) is likely to be smaller than 1 − δ(ε), so that δ should be computed directly.

        This is so unless the mean of the total loss exceeds ε by more than two standard deviations and by more than
        0.3.

        Args:
            epsilon: ε, in nats.

        Returns:
            True if δ(ε) should be computed directly, and False if 1 − δ(ε) should be.
        """
        _, mean, variance = self.cumulants(0.0)
        return mean - epsilon <= max(2.0 * math.sqrt(variance), 0.3)

    def bulk(self) -> tuple[float, float]:
        """Return mean and variance of the total loss without the largest losses of each distribution.

        Losses of great size are left out as long as their probability in all rounds together is at most about 0.3. The
        rest is the bulk of the total loss. A distribution without finite losses is ignored.

        Returns:
            The mean in nats, and the variance in nats².
        """
        mean = variance = 0.0
        rounds = math.fsum(self.counts)
        starts = np.append(self.starts, self.location.size)
        for j, count in enumerate(self.counts.tolist()):
            losses = self.location[starts[j] : starts[j + 1]]
            masses = np.exp(self.log_mass[starts[j] : starts[j + 1]])

            # The bulk has the losses of least size, up to all mass but 0.3 divided by the number of rounds.
            by_size = np.argsort(np.abs(losses))
            bulk_mass = masses.sum() - 0.3 / rounds
            bulk_size = int(np.searchsorted(np.cumsum(masses[by_size]), bulk_mass)) + 1
            bulk = by_size[:bulk_size]
            if not masses[bulk].sum() > 0.0:
                continue

            weights = masses[bulk] / masses[bulk].sum()
            bulk_mean = float(weights @ losses[bulk])
            mean += count * bulk_mean
            variance += count * float(weights @ (losses[bulk] - bulk_mean) ** 2)
        return mean, variance

    def centre(self, coordinate: TiltCoordinate) -> float:
        """Return the ε = K′(λ) − 1/λ − 1/(1 + λ), in nats, for which a tilt λ is the best one (`saddle`).

        Args:
            coordinate: the tilt λ, the exponent of the weights e^{λL}, as a real coordinate.
        """
        return self.cumulants(coordinate.tilt).mean - coordinate.pull

    def estimate(self, coordinate: TiltCoordinate) -> float:
        """Estimate the log of the finite part of δ, or of 1 − δ for λ < 0, at the ε for which a tilt is best.

        Args:
            coordinate: the tilt λ, the exponent of the weights e^{λL}, as a real coordinate.
        """
        return self.estimate_at(coordinate, self.centre(coordinate))

    def estimate_at(self, coordinate: TiltCoordinate, epsilon: float) -> float:
        """Estimate log δ(ε) without infinite losses, or log(1 − δ(ε)) for λ < 0, by the saddle-point approximation.

        Let g(λ) = K(λ) − λε − log|λ (1 + λ)|, with the log moment K of the total loss. The estimate is
        g(λ) − ½ log(2π g″(λ)). It is good if λ is near the minimiser of g (`saddle`).

        Args:
            coordinate: the exponent λ of the weights e^{λL}, with its coordinate.
            epsilon: ε, in nats.

        Returns:
            The estimate of the logarithm, without error bounds.
        """
        value, _, variance = self.cumulants(coordinate.tilt)
        curvature = variance + coordinate.stiffness
        return value - coordinate.tilt * epsilon - coordinate.pole - 0.5 * math.log(2.0 * math.pi * curvature)

    def coordinate_of(self, log_delta: float) -> TiltCoordinate:
        """Find the tilt λ > 0 that suits a given log δ, up to `_TOLERANCE` in its coordinate.

        At the ε for which λ is the best tilt, the saddle-point estimate of log δ is `log_delta`.

        Args:
            log_delta: log δ, natural logarithm.

        Returns:
            The tilt λ, as a real coordinate y.
        """
        low, high = _CHART_LIMITS[True]
        while high - low > _TOLERANCE:
            middle = 0.5 * (low + high)
            if self.estimate(TiltCoordinate(middle, direct=True)) > log_delta:  # δ falls with λ
                low = middle
            else:
                high = middle
        return TiltCoordinate(0.5 * (low + high), direct=True)
