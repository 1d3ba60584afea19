"""Certified bounds on E[(Y₁ + … + Y_n)₊] for independent copies of one variable, at the same cost for any n.

The privacy blanket of a shuffled mechanism needs this expectation. For any tilt λ > 0, with M(z) = E e^{zY},
K = n log M and S the sum,

    E[S₊] = (1/π) e^{K(λ)} ∫₀^∞ Re[φ(t)ⁿ/(λ + it)²] dt,   φ(t) = M(λ + it)/M(λ).

The trapezoidal rule of step 2π/A exceeds the integral by its alias Σ_{k≠0} e^{λkA} E[(S − kA)₊]. Y is a distribution of
atoms and of uniform pieces. The pieces bound |φ| beyond the last node, where atoms give no bound. If this bound is not
enough, as with atoms only, an independent Gaussian ξ ~ N(0, τ²) is added to S. Since (·)₊ is convex, E[(S + ξ)₊] is an
upper bound. Since (x + y)₊ ≤ x₊ + y₊, E[(S + ξ − c)₊] − E[(ξ − c)₊] is a lower bound for any c. The errors of the
trapezoidal rule, of the truncation and of every rounding are bounded by running sums and charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.step_law import LARGEST_PIECE_EXPONENT
from epsilond.accountants.numerics.sum_quadrature import QuadratureRule, integrate_transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.step_law import StepLaw, TiltedPieces

NEGLIGIBLE = 30.0
"""Nats by which alias and truncation are below E[S₊]: the bounds then agree to thirteen digits."""
_LARGEST_TILT_EXPONENT = 600.0
"""Largest λ max Y: e^600 is well within the range of doubles, also after the products with it."""
_OVERFLOW_EXPONENT = 700.0
"""Exponents are cut here, because e^710 overflows."""
_MOST_NODES = 6000
"""Largest number of nodes of the trapezoidal rule."""
_BLOCK_SIZE = 1 << 15
"""Number of exponentials that are held at once; they fit into a processor's cache."""
_LARGEST_MAGNITUDE = 1e100
"""Largest |Y| whose square, multiplied by any count, is a double."""
_SMOOTHING = 1.0 / 160.0
"""Standard deviation τ of the added Gaussian, as a share of the deviation of the integrand."""
_TILT_FACTORS = (1.03, 1.1, 1.3, 1.7, 2.5)
"""Ratios of the tilts λ and μ, or of μ and λ, that are tried for the bound of the alias."""


class LogInterval(NamedTuple):
    """Bounds on the logarithm of a number. The lower bound may be −inf."""

    lower: float
    upper: float

    def widen(self, accuracy: float) -> LogInterval:
        """Move both bounds outward by `accuracy` per unit of 1 + |bound|. A bound at −inf does not change."""
        lower_margin = 0.0 if math.isinf(self.lower) else accuracy * (1.0 + abs(self.lower))
        upper_margin = 0.0 if math.isinf(self.upper) else accuracy * (1.0 + abs(self.upper))
        return LogInterval(self.lower - lower_margin, self.upper + upper_margin)


@dataclass(frozen=True)
class _TiltedSum:
    """Numbers of the sum S of independent variables under the distribution tilted by λ, that is, weighted by e^{λS}.

    Attributes:
        tilt: λ > 0.
        log_transform: K(λ) = log E e^{λS}.
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


class _AliasTerm(NamedTuple):
    """A bound on one half (k > 0 or k < 0) of the error Σ_{k≠0} e^{λkA} E[(S − kA)₊] of a rule with period A.

    By (y)₊ ≤ e^{μy}/(eμ) for a tilt μ on that side of λ, it is at most e^{b + K(λ)}/(e^{dA} − 1), K(λ) = log E e^{λS}.

    Attributes:
        distance: d = |μ − λ|.
        log_level: b = K(μ) − K(λ) − 1 − log μ.
    """

    distance: float
    log_level: float


class _Period(NamedTuple):
    """The period A = 2π/Δt of a trapezoidal rule with spacing Δt for E[S₊], and its alias, the error by the period.

    Attributes:
        length: A, in the unit of S.
        log_alias: log of a bound on the alias, in units of e^{K(λ)}.
        largest_tilt: largest tilt μ of that bound. With a Gaussian ξ, the alias is at most e^{(τμ)²/2} times larger.
    """

    length: float
    log_alias: float
    largest_tilt: float


class _Cutoff(NamedTuple):
    """The last node of a trapezoidal rule.

    Attributes:
        rule: the trapezoidal rule up to that node.
        tail_bound: bound on the part of the sum beyond the node, in units of e^{K(λ)}.
    """

    rule: QuadratureRule
    tail_bound: float


@dataclass(frozen=True, eq=False)
class CompoundSum:
    """The sum S of n independent copies of a variable Y.

    Attributes:
        law: distribution of Y.
        count: n.
        start: a tilt near the best one, if it is known from a similar sum. It affects only where the search starts.
    """

    law: StepLaw
    count: int
    start: float | None = None

    def evaluate_tilt(self, tilt: float) -> _TiltedSum:
        """Return K(λ) = log E e^{λS} of the sum S at λ = `tilt`, a bound on its error, and its first two derivatives.

        M(λ) = E e^{λY} of one summand is computed as 1 + Σ w (e^{λy} − 1), without cancellation if λy is small.
        """
        points, weights, point_errors, weight_errors = self.law.nodes
        change = np.expm1(tilt * points)
        size = np.abs(change)
        excess = float(weights @ change)  # M − 1
        tilted = (weights + weights * change) / (1.0 + excess)
        mean = float(tilted @ points)
        variance = float(tilted @ (points * points)) - mean * mean
        rounding = UNIT_ROUNDOFF * (math.sqrt(points.size) + 16.0) * float(weights @ size)
        weight_error, point_error = float(weight_errors @ size), tilt * float(tilted @ point_errors)
        relative_error = (weight_error + rounding) / (1.0 + excess) + point_error
        log_transform = self.count * math.log1p(excess)
        error = 2.0 * self.count * relative_error + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_transform))
        return _TiltedSum(tilt, log_transform, error, self.count * mean, self.count * max(variance, 0.0))

    def _upper_log_transforms(self, tilts: Sequence[float]) -> list[float]:
        """Return upper bounds on K(λ) = log E e^{λS} of the sum S at several tilts λ."""
        points, weights, point_errors, weight_errors = self.law.nodes
        bounds: list[float] = []
        rows = max(_BLOCK_SIZE // max(points.size, 1), 1)
        for start in range(0, len(tilts), rows):
            tilt = np.asarray(tilts[start : start + rows])[:, None]
            change = np.expm1(tilt * points)
            size = np.abs(change)
            excess = change @ weights
            rounding = UNIT_ROUNDOFF * (math.sqrt(points.size) + 16.0) * (size @ weights)
            relative_error = (size @ weight_errors + rounding) / (1.0 + excess)
            if point_errors.any():
                mean_errors = (weights + weights * change) @ point_errors
                relative_error = relative_error + tilt[:, 0] * mean_errors / (1.0 + excess)
            log_transform = self.count * np.log1p(excess)
            error = 2.0 * self.count * relative_error + 8 * UNIT_ROUNDOFF * (1.0 + np.abs(log_transform))
            bounds.extend((log_transform + error).tolist())
        return bounds

    @cached_property
    def _largest_tilt(self) -> float:
        return _LARGEST_TILT_EXPONENT / max(self.law.largest_value, 1e-290)

    @cached_property
    def _saddle(self) -> _TiltedSum:
        """The sum S near the tilt λ that minimises K(λ) − 2 log λ, the log of the integrand at t = 0.

        K(λ) = log E e^{λS}. Newton's method, safeguarded by bisection, finds λ within 0.02 of the integrand's scale; a
        step at most triples it. Every tilt gives valid bounds; this one gives tight ones with few nodes.
        """
        points, weights, _, _ = self.law.nodes
        start = self.start or 1.0 / math.sqrt(self.count * float(weights @ (points * points)))
        tilt = min(start, 0.5 * self._largest_tilt)
        low, high = 0.0, self._largest_tilt
        for _ in range(60):
            saddle = self.evaluate_tilt(tilt)
            slope, curvature = saddle.mean - 2.0 / tilt, saddle.variance + 2.0 / tilt**2
            low, high = (low, tilt) if slope > 0 else (tilt, high)
            next_tilt = tilt - slope / curvature
            if abs(next_tilt - tilt) * math.sqrt(curvature) < 0.02:
                break
            if not low < next_tilt < high:
                next_tilt = 0.5 * (low + high)
            tilt = min(next_tilt, 3.0 * tilt)
        return saddle

    @property
    def tilt(self) -> float:
        """Tilt λ of the integral, near the minimum of K(λ) − 2 log λ."""
        return self._saddle.tilt

    @cached_property
    def log_estimate(self) -> float:
        """Estimate of log E[S₊] by the saddle point, without a bound on its error."""
        return self._saddle.log_transform + self._saddle.log_saddle_factor

    def log_positive_part(self, negligible: float = NEGLIGIBLE) -> LogInterval:
        """Return bounds on log E[S₊] of the sum S.

        Guarantees: lower ≤ truth ≤ upper, for any `negligible`. The upper bound is finite or −inf.

        Args:
            negligible: nats by which alias and truncated part should be below the estimate of E[S₊]. With 30 the
                bounds agree to thirteen digits; less is quicker. Both are charged, whatever their size.
        """
        if self.law.largest_value == 0.0:
            return LogInterval(-math.inf, -math.inf)
        if self.law.largest_magnitude > _LARGEST_MAGNITUDE:
            return self._rescaled_positive_part(negligible)
        saddle = self._saddle
        # Chernoff's bound: (y)₊ ≤ e^{λy}/(eλ).
        chernoff = saddle.log_transform + saddle.error - 1.0 - math.log(saddle.tilt)
        period = self._choose_period(negligible)
        cutoff = self._choose_cutoff(2.0 * math.pi / period.length, negligible)
        if cutoff is None:
            return LogInterval(-math.inf, chernoff)
        rule = cutoff.rule
        shift = self._shift(rule.smoothing_std)
        total = integrate_transform(self.law.nodes, self.count, saddle.tilt, rule, shift)
        log_slack = saddle.error + 32 * UNIT_ROUNDOFF
        largest = total.value + total.rounding_error + cutoff.tail_bound
        upper = saddle.log_transform + math.log(largest) + log_slack
        log_alias = period.log_alias + 0.5 * (rule.smoothing_std * period.largest_tilt) ** 2
        alias = math.exp(min(log_alias, _OVERFLOW_EXPONENT))
        least = total.shifted_value - total.rounding_error - cutoff.tail_bound - alias
        if rule.smoothing_std > 0.0 and least > 0.0:
            log_excess = _log_gaussian_excess(rule.smoothing_std, shift) - saddle.log_transform + log_slack
            least -= math.exp(min(log_excess, _OVERFLOW_EXPONENT))
        lower = saddle.log_transform + math.log(least) - log_slack if least > 0.0 else -math.inf
        return LogInterval(lower, min(upper, chernoff))

    def _rescaled_positive_part(self, negligible: float) -> LogInterval:
        """Return `log_positive_part` from E[S₊] = 2^m E[(S/2^m)₊], as squares of Y itself may overflow."""
        exponent = math.frexp(self.law.largest_magnitude)[1]
        lower, upper = CompoundSum(self.law.divide(exponent), self.count).log_positive_part(negligible)
        log_scale = exponent * math.log(2.0)
        return LogInterval(lower + log_scale, upper + log_scale).widen(8 * UNIT_ROUNDOFF)

    def _shift(self, smoothing_std: float) -> float:
        """Return the decrease c of the sum for the lower bound E[(S + ξ − c)₊] − E[(ξ − c)₊] on E[S₊], with Gaussian ξ.

        It is so large that E[(ξ − c)₊] is small compared with the estimate of E[S₊].

        Args:
            smoothing_std: standard deviation τ of ξ; 0 if there is none.
        """
        if smoothing_std == 0.0:
            return 0.0
        gap = max(math.log(smoothing_std) - self.log_estimate, 0.0)
        return smoothing_std * math.sqrt(2.0 * gap + 8.0)

    def _choose_period(self, negligible: float) -> _Period:
        """Choose the period A of the trapezoidal rule for E[S₊], and bound its alias Σ_{k≠0} e^{λkA} E[(S − kA)₊].

        The terms with k > 0 are bounded with a tilt μ > λ, those with k < 0 with a tilt μ < λ. On either side, the best
        of several μ is used. The alias is about `negligible` nats below the estimate of E[S₊].
        """
        tilt, deviation = self._saddle.tilt, self._saddle.deviation
        # Tilts are tried at relative distances from λ, and at distances in units of 8/deviation.
        larger = [mu for f in _TILT_FACTORS for mu in (tilt * f, tilt + 8.0 * (f - 1.0) / deviation)]
        smaller = [mu for f in _TILT_FACTORS for mu in (tilt / f, tilt - 8.0 * (f - 1.0) / deviation)]
        sides = self._bound_alias_terms(larger, smaller)
        length = max(0.0, *(self._needed_period(side, negligible) for side in sides))
        log_above, log_below = (self._log_alias(side, length) for side in sides)
        return _Period(length, float(np.logaddexp(log_above, log_below)), max(larger))

    def _bound_alias_terms(self, *sides: list[float]) -> list[list[_AliasTerm]]:
        """Return the bound on the alias of the trapezoidal rule for each usable tilt μ, in one list for each side."""
        saddle = self._saddle
        usable = [[mu for mu in side if 0.0 < mu <= self._largest_tilt and mu != saddle.tilt] for side in sides]
        # One call for both sides, because it evaluates the transform at many tilts together.
        bounds = iter(self._upper_log_transforms([mu for side in usable for mu in side]))
        return [
            [_AliasTerm(abs(mu - saddle.tilt), next(bounds) - saddle.log_transform - 1.0 - math.log(mu)) for mu in side]
            for side in usable
        ]

    def _needed_period(self, side: list[_AliasTerm], negligible: float) -> float:
        """Return the shortest period at which one side of the alias is negligible, for the best tilt μ."""
        log_target = self._saddle.log_saddle_factor
        periods = [(max(term.log_level - log_target, -20.0) + negligible) / term.distance for term in side]
        return min(periods, default=40.0 * self._saddle.deviation)

    @staticmethod
    def _log_alias(side: list[_AliasTerm], period: float) -> float:
        """Return log of the best bound e^b/(e^{dA} − 1) on one side of the alias; inf if no tilt μ is usable."""
        bounds = [
            term.log_level - math.log(math.expm1(min(term.distance * period, _OVERFLOW_EXPONENT))) for term in side
        ]
        return min(bounds, default=math.inf)

    @cached_property
    def _tilted_pieces(self) -> TiltedPieces:
        return self.law.pieces.tilt(self._saddle.tilt, self._saddle.log_transform / self.count)

    def _log_modulus(self, t: float, smoothing_std: float) -> float:
        """Return an upper bound on n log |φ(t)| + τ²(λ² − t²)/2, for the integrand at t; it decreases in t.

        Args:
            t: frequency.
            smoothing_std: standard deviation τ of the added Gaussian.
        """
        log_smoothing = 0.5 * smoothing_std * smoothing_std * (self._saddle.tilt**2 - t * t)
        if self._tilted_pieces.masses.size == 0:
            return log_smoothing
        decrease = min(self._tilted_pieces.transform_decrease(t), 1.0 - 1e-15)
        return self.count * math.log1p(-decrease) + log_smoothing

    def _choose_cutoff(self, spacing: float, negligible: float) -> _Cutoff | None:
        """Choose the last node of the trapezoidal rule, beyond which the sum is negligible.

        An independent Gaussian is added to the sum S only if the transform of S itself decays too slowly.

        Args:
            spacing: Δt.
            negligible: nats by which the part beyond the last node should be below the estimate of E[S₊].

        Returns:
            The cutoff; None if more than `_MOST_NODES` nodes are needed.
        """
        most_nodes = math.floor(min(self._largest_frequency / spacing, _MOST_NODES))
        for smoothing_std in (0.0, _SMOOTHING * self._saddle.deviation):
            last_index = self._find_last_index(spacing, smoothing_std, negligible, most_nodes)
            if last_index <= most_nodes:
                log_tail = self._log_tail(last_index * spacing, smoothing_std)
                rule = QuadratureRule(spacing, last_index, smoothing_std)
                return _Cutoff(rule, math.exp(min(log_tail, _OVERFLOW_EXPONENT)))
        return None

    @property
    def _largest_frequency(self) -> float:
        """Frequency t up to which the nodes of the pieces are accurate: |λ + it|ℓ/2 is small enough."""
        lengths = self.law.pieces.high - self.law.pieces.low
        longest = float(lengths.max(initial=0.0))
        modulus = 2.0 * LARGEST_PIECE_EXPONENT / longest if longest > 0.0 else math.inf
        return math.sqrt(max(modulus**2 - self._saddle.tilt**2, 0.0))

    def _log_tail(self, frequency: float, smoothing_std: float) -> float:
        """Return log of a bound B(t)/(πt) on the sum beyond t, in units of e^{K(λ)}; B bounds |φⁿ| from t on."""
        return self._log_modulus(frequency, smoothing_std) - math.log(math.pi * frequency)

    def _find_last_index(self, spacing: float, smoothing_std: float, negligible: float, most_nodes: int) -> int:
        """Find the first node beyond which the trapezoidal rule is negligible, up to a sixteenth of its index too far.

        Args:
            spacing: Δt.
            smoothing_std: standard deviation τ of the added Gaussian.
            negligible: nats by which a negligible part is below the estimate of E[S₊].
            most_nodes: limit; the result is above it if no node up to it serves.
        """
        log_target = self._saddle.log_saddle_factor - negligible

        def is_negligible_beyond(index: int) -> bool:
            return not self._log_tail(index * spacing, smoothing_std) > log_target

        low, high = 0, 8
        while high < most_nodes and not is_negligible_beyond(high):
            low, high = high, 2 * high
        while high - low > max(1, high // 16):
            middle = (low + high) // 2
            low, high = (low, middle) if is_negligible_beyond(middle) else (middle, high)
        return high


def _log_gaussian_excess(std: float, threshold: float) -> float:
    """Return log of a bound on E[(ξ − c)₊] for ξ ~ N(0, τ²): it is at most τ φ(c/τ) ≤ τ Φ(−c/τ) (c/τ + 1).

    Args:
        std: τ > 0.
        threshold: c ≥ 0.
    """
    ratio = threshold / std
    return math.log(std) + float(log_ndtr(-ratio)) + math.log1p(ratio)
