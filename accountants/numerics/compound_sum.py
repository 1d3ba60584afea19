"""Certified bounds on E[(Y₁ + … + Y_n)₊] for independent copies of one variable, at the same cost for any n.

The privacy blanket of a shuffled mechanism needs this expectation. For any tilt λ > 0, with M(z) = E e^{zY},
K = n log M and S the sum:

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

from epsilond.accountants.numerics.positive_part.alias import OVERFLOW_EXPONENT, choose_period
from epsilond.accountants.numerics.positive_part.tilted_sum import TiltedSum
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
_MOST_NODES = 6000
"""Largest number of nodes of the trapezoidal rule."""
_BLOCK_SIZE = 1 << 15
"""Number of exponentials that are held at once; they fit into a processor's cache."""
_LARGEST_MAGNITUDE = 1e100
"""Largest |Y| whose square, multiplied by any count, is a double."""
_SMOOTHING = 1.0 / 160.0
"""Standard deviation τ of the added Gaussian, as a share of the deviation of the integrand."""


class LogInterval(NamedTuple):
    """Bounds on the logarithm of a positive number.

    Attributes:
        lower: lower bound, which may be −inf.
        upper: upper bound.
    """

    lower: float
    upper: float

    def widen(self, accuracy: float) -> LogInterval:
        """Move both bounds outward by a share of 1 + |bound|. A bound at −inf does not change.

        Args:
            accuracy: the share, at least 0.

        Returns:
            The wider bounds on the logarithm.
        """
        lower_margin = 0.0 if math.isinf(self.lower) else accuracy * (1.0 + abs(self.lower))
        upper_margin = 0.0 if math.isinf(self.upper) else accuracy * (1.0 + abs(self.upper))
        return LogInterval(self.lower - lower_margin, self.upper + upper_margin)


class _Cutoff(NamedTuple):
    """The last node of a trapezoidal rule for E[S₊], with a bound on the part of the sum beyond it.

    Attributes:
        rule: the trapezoidal rule up to that node.
        tail_bound: bound on the part of the sum beyond the node, in units of e^{K(λ)}, for K(λ) = log E e^{λS}.
    """

    rule: QuadratureRule
    tail_bound: float


@dataclass(frozen=True, eq=False)
class CompoundSum:
    """The sum S of n independent copies of a variable Y, with bounds on its mean positive part E[S₊].

    A tilt is an exponent λ > 0, by which distributions are weighted with e^{λS}.

    Attributes:
        law: distribution of Y, with single values (atoms) and uniform pieces.
        count: number n of copies.
        start: a tilt near the best one, at which the search for it starts; None if none is known.
    """

    law: StepLaw
    count: int
    start: float | None = None

    def evaluate_tilt(self, tilt: float) -> TiltedSum:
        """Return the cumulant of the sum S at a tilt λ, a bound on its error, and its first two derivatives.

        The cumulant is K(λ) = log E e^{λS}. M(λ) = E e^{λY} of one summand is computed as 1 + Σ w (e^{λy} − 1) over
        quadrature nodes y with weights w, without cancellation if λy is small. K(λ) is n log M(λ).

        Args:
            tilt: exponent λ > 0 of the weights e^{λS}.

        Returns:
            K(λ) with the bound on its error, and the mean K′(λ) and variance K″(λ) of S, weighted by e^{λS}.
        """
        points, weights, point_errors, weight_errors = self.law.nodes
        change = np.expm1(tilt * points)
        size = np.abs(change)
        excess = float(weights @ change)  # M − 1

        # Mean and variance of Y under the tilted weights.
        tilted_weights = (weights + weights * change) / (1.0 + excess)
        mean = float(tilted_weights @ points)
        variance = float(tilted_weights @ (points * points)) - mean * mean

        # The relative error of M, from the errors of the weights and points and from the summation.
        rounding = UNIT_ROUNDOFF * (math.sqrt(points.size) + 16.0) * float(weights @ size)
        weight_error = float(weight_errors @ size)
        point_error = tilt * float(tilted_weights @ point_errors)
        relative_error = (weight_error + rounding) / (1.0 + excess) + point_error

        log_transform = self.count * math.log1p(excess)
        # The factor 2 covers log(1 + x) for a relative error x, and the last term the rounding of K.
        error = 2.0 * self.count * relative_error + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_transform))
        return TiltedSum(tilt, log_transform, error, self.count * mean, self.count * max(variance, 0.0))

    def _upper_log_transforms(self, tilts: Sequence[float]) -> list[float]:
        """Return upper bounds on K(λ) = log E e^{λS} of the sum S at several tilts λ.

        The computation is that of `evaluate_tilt`, for a block of tilts at a time: a row of arrays belongs to one tilt.

        Args:
            tilts: values of λ > 0.

        Returns:
            One upper bound for each tilt.
        """
        points, weights, point_errors, weight_errors = self.law.nodes
        bounds: list[float] = []
        rows = max(_BLOCK_SIZE // max(points.size, 1), 1)
        for start in range(0, len(tilts), rows):
            tilt = np.asarray(tilts[start : start + rows])[:, None]
            change = np.expm1(tilt * points)
            size = np.abs(change)
            excess = change @ weights  # M − 1 for the transform M of one summand

            rounding = UNIT_ROUNDOFF * (math.sqrt(points.size) + 16.0) * (size @ weights)  # of the sum
            relative_error = (size @ weight_errors + rounding) / (1.0 + excess)
            if point_errors.any():
                mean_errors = (weights + weights * change) @ point_errors
                relative_error = relative_error + tilt[:, 0] * mean_errors / (1.0 + excess)

            log_transform = self.count * np.log1p(excess)
            # The factor 2 covers log(1 + x) for a relative error x, and the last term the rounding of K.
            error = 2.0 * self.count * relative_error + 8 * UNIT_ROUNDOFF * (1.0 + np.abs(log_transform))
            bounds.extend((log_transform + error).tolist())
        return bounds

    @cached_property
    def _largest_tilt(self) -> float:
        """Largest tilt λ at which e^{λY} is within the range of doubles."""
        return _LARGEST_TILT_EXPONENT / max(self.law.largest_value, 1e-290)

    @cached_property
    def _saddle(self) -> TiltedSum:
        """The sum S near the tilt λ that minimises K(λ) − 2 log λ, the log of the integrand at t = 0.

        K(λ) = log E e^{λS}. Newton's method, safeguarded by bisection, ends at a step below 0.02 of the integrand's
        scale. A step at most triples λ. Every λ gives valid bounds; this one gives tight ones with few nodes.
        """
        points, weights, _, _ = self.law.nodes
        second_moment = float(weights @ (points * points))
        start = self.start or 1.0 / math.sqrt(self.count * second_moment)
        tilt = min(start, 0.5 * self._largest_tilt)
        low, high = 0.0, self._largest_tilt  # bracket of the minimiser
        for _ in range(60):
            saddle = self.evaluate_tilt(tilt)
            slope, curvature = saddle.mean - 2.0 / tilt, saddle.variance + 2.0 / tilt**2
            if slope > 0:
                high = tilt
            else:
                low = tilt
            next_tilt = tilt - slope / curvature
            if abs(next_tilt - tilt) * math.sqrt(curvature) < 0.02:
                break
            if not low < next_tilt < high:  # bisect instead
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

        E[S₊] is a contour integral of the transform of S, evaluated by the trapezoidal rule. If the rule needs too many
        nodes, the upper bound is Chernoff's, from (y)₊ ≤ e^{λy}/(eλ), and the lower one −inf.

        Args:
            negligible: nats by which both errors of the rule (alias and truncation) should be below the estimate of
                E[S₊]. With 30 the bounds agree to thirteen digits; less is quicker. Both errors widen the bounds.

        Returns:
            The lower and the upper bound on log E[S₊].

        Guarantees: lower ≤ truth ≤ upper, for any `negligible`. The upper bound is finite or −inf.
        """
        if self.law.largest_value == 0.0:
            return LogInterval(-math.inf, -math.inf)
        if self.law.largest_magnitude > _LARGEST_MAGNITUDE:
            return self._rescaled_positive_part(negligible)

        saddle = self._saddle
        chernoff = saddle.log_transform + saddle.error - 1.0 - math.log(saddle.tilt)
        period = choose_period(saddle, self._upper_log_transforms, self._largest_tilt, negligible)
        cutoff = self._choose_cutoff(2.0 * math.pi / period.length, negligible)
        if cutoff is None:
            return LogInterval(-math.inf, chernoff)
        rule = cutoff.rule
        shift = self._choose_decrease(rule.smoothing_std)
        total = integrate_transform(self.law.nodes, self.count, saddle.tilt, rule, shift)
        log_slack = saddle.error + 32 * UNIT_ROUNDOFF  # the error of K, and of the logarithms below

        # The alias is not negative, so it counts for the lower bound only.
        largest = total.value + total.rounding_error + cutoff.tail_bound
        upper = saddle.log_transform + math.log(largest) + log_slack
        log_alias = period.log_alias + 0.5 * (rule.smoothing_std * period.largest_tilt) ** 2
        alias = math.exp(min(log_alias, OVERFLOW_EXPONENT))
        least = total.shifted_value - total.rounding_error - cutoff.tail_bound - alias

        # With an added Gaussian ξ and the shift c, the lower bound is less by E[(ξ − c)₊].
        if rule.smoothing_std > 0.0 and least > 0.0:
            log_excess = _log_gaussian_excess(rule.smoothing_std, shift) - saddle.log_transform + log_slack
            least -= math.exp(min(log_excess, OVERFLOW_EXPONENT))
        lower = saddle.log_transform + math.log(least) - log_slack if least > 0.0 else -math.inf
        return LogInterval(lower, min(upper, chernoff))

    def _rescaled_positive_part(self, negligible: float) -> LogInterval:
        """Return the bounds of `log_positive_part` from a smaller variable, because squares of Y itself may overflow.

        E[S₊] = 2^m E[(S/2^m)₊] for the binary exponent m of the largest |Y|.

        Args:
            negligible: nats by which the errors of the trapezoidal rule should be below the estimate of E[S₊].

        Returns:
            The lower and the upper bound on log E[S₊].
        """
        _, exponent = math.frexp(self.law.largest_magnitude)
        scaled_sum = CompoundSum(self.law.divide(exponent), self.count)
        lower, upper = scaled_sum.log_positive_part(negligible)
        log_scale = exponent * math.log(2.0)
        return LogInterval(lower + log_scale, upper + log_scale).widen(8 * UNIT_ROUNDOFF)  # by the rounding of the sums

    def _choose_decrease(self, smoothing_std: float) -> float:
        """Choose a constant c that is subtracted from the sum S, for a lower bound on E[S₊].

        With Gaussian noise ξ ~ N(0, τ²) the bound is E[(S + ξ − c)₊] − E[(ξ − c)₊]. It is valid for every c. The second
        term is at most τ e^{−c²/(2τ²)}/√(2π). The c is so large that this is below 1 % of the estimate of E[S₊].

        Args:
            smoothing_std: standard deviation τ of ξ; 0 if there is none.

        Returns:
            The constant c, at least 0, in the unit of S.
        """
        if smoothing_std == 0.0:
            return 0.0
        log_ratio = max(math.log(smoothing_std) - self.log_estimate, 0.0)
        return smoothing_std * math.sqrt(2.0 * log_ratio + 8.0)  # c²/(2τ²) is log_ratio + 4, and e^−4/√(2π) < 1 %

    @cached_property
    def _tilted_pieces(self) -> TiltedPieces:
        """The uniform pieces of Y after tilting by λ, from which the decay of the transform is bounded."""
        return self.law.pieces.tilt(self._saddle.tilt, self._saddle.log_transform / self.count)

    def _log_modulus(self, t: float, smoothing_std: float) -> float:
        """Return an upper bound on the log modulus of the integrand at a frequency t. The bound decreases in t.

        It bounds n log |φ(t)| + τ²(λ² − t²)/2, with the characteristic function φ of a summand Y, weighted by e^{λY}.
        It comes from the uniform pieces of Y. Without pieces, only the Gaussian makes the integrand decay.

        Args:
            t: frequency.
            smoothing_std: standard deviation τ of the added Gaussian.

        Returns:
            The upper bound on the log modulus.
        """
        log_smoothing = 0.5 * smoothing_std * smoothing_std * (self._saddle.tilt**2 - t * t)
        if self._tilted_pieces.masses.size == 0:
            return log_smoothing
        decrease = min(self._tilted_pieces.transform_decrease(t), 1.0 - 1e-15)  # log 0 is excluded
        return self.count * math.log1p(-decrease) + log_smoothing

    def _choose_cutoff(self, spacing: float, negligible: float) -> _Cutoff | None:
        """Choose the last node of the trapezoidal rule, beyond which the sum is negligible.

        An independent Gaussian is added to the sum S only if the transform of S itself decays too slowly.

        Args:
            spacing: distance Δt of neighbouring nodes.
            negligible: nats by which the part beyond the last node should be below the estimate of E[S₊].

        Returns:
            The cutoff; None if more than `_MOST_NODES` nodes are needed.
        """
        most_nodes = math.floor(min(self._largest_frequency / spacing, _MOST_NODES))
        for smoothing_std in (0.0, _SMOOTHING * self._saddle.deviation):  # first without a Gaussian
            last_index = self._find_last_index(spacing, smoothing_std, negligible, most_nodes)
            if last_index <= most_nodes:
                log_tail = self._log_tail(last_index * spacing, smoothing_std)
                rule = QuadratureRule(spacing, last_index, smoothing_std)
                return _Cutoff(rule, math.exp(min(log_tail, OVERFLOW_EXPONENT)))
        return None

    @property
    def _largest_frequency(self) -> float:
        """Frequency t up to which the nodes of the pieces are accurate: |λ + it|ℓ/2 is small enough."""
        lengths = self.law.pieces.high - self.law.pieces.low
        longest = float(lengths.max(initial=0.0))
        modulus = 2.0 * LARGEST_PIECE_EXPONENT / longest if longest > 0.0 else math.inf
        return math.sqrt(max(modulus**2 - self._saddle.tilt**2, 0.0))

    def _log_tail(self, frequency: float, smoothing_std: float) -> float:
        """Return the log of a bound on the trapezoidal sum beyond a frequency t, in units of e^{K(λ)}.

        The bound is B(t)/(πt), where B(t) bounds the modulus of the integrand from t on.

        Args:
            frequency: frequency t > 0 of the last node.
            smoothing_std: standard deviation τ of the added Gaussian.

        Returns:
            The log of the bound, in units of e^{K(λ)}.
        """
        return self._log_modulus(frequency, smoothing_std) - math.log(math.pi * frequency)

    def _find_last_index(self, spacing: float, smoothing_std: float, negligible: float, most_nodes: int) -> int:
        """Search for the first node beyond which the trapezoidal rule is negligible.

        The index is doubled until the part beyond is negligible, and then bisected. It may be a sixteenth too large.

        Args:
            spacing: distance Δt of neighbouring nodes.
            smoothing_std: standard deviation τ of the added Gaussian.
            negligible: nats by which a negligible part is below the estimate of E[S₊].
            most_nodes: largest index that the caller accepts. The search does not go much beyond it.

        Returns:
            The index of the node. If it is at least `most_nodes`, the part beyond the node need not be negligible.
        """
        log_target = self._saddle.log_saddle_factor - negligible

        def is_negligible_beyond(index: int) -> bool:
            return not self._log_tail(index * spacing, smoothing_std) > log_target

        low, high = 0, 8  # any start is valid
        while high < most_nodes and not is_negligible_beyond(high):
            low, high = high, 2 * high
        while high - low > max(1, high // 16):
            middle = (low + high) // 2
            if is_negligible_beyond(middle):
                high = middle
            else:
                low = middle
        return high


def _log_gaussian_excess(std: float, threshold: float) -> float:
    """Return the log of an upper bound on E[(ξ − c)₊] for a Gaussian ξ ~ N(0, τ²).

    With the standard normal density φ and distribution function Φ, it is at most τ φ(c/τ) ≤ τ Φ(−c/τ) (c/τ + 1).

    Args:
        std: standard deviation τ > 0.
        threshold: the threshold c ≥ 0.

    Returns:
        The log of the upper bound, before rounding.
    """
    ratio = threshold / std
    return math.log(std) + float(log_ndtr(-ratio)) + math.log1p(ratio)
