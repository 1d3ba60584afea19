"""The profile of a product with few values of the total loss, with the errors of the enumeration."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.profile import EpsilonEstimate, Profile, RootSearch
from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log1m_exp_at, log_sum
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.numerics.special import FloatArray

_NEAR_ONE = -5.0
"""log δ above which 1 − δ is evaluated too, because log δ may be more accurate from it."""


@dataclass(frozen=True, eq=False)
class EnumeratedProfile(Profile):
    """The profile ε ↦ δ(ε) of one direction of a product with finitely many values of the total loss.

    Attributes:
        computed_profile: profile for the computed totals and probabilities, without their errors.
        log_error: bound on the error of every log probability, and of the log of every sum of probabilities.
        loss_error: bound on the error of every total loss, in nats.
        total_losses: the possible total losses, increasing, in nats.
        log_below: log of the sum of the probabilities of the first 0, 1, 2, … total losses.
        log_masses: log of the probability of each total loss.
    """

    root_search: ClassVar[RootSearch] = "solve"

    computed_profile: AtomicProfile
    log_error: float
    loss_error: float
    total_losses: FloatArray
    log_below: FloatArray
    log_masses: FloatArray

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability that any loss is infinite."""
        return self.computed_profile.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, from `computed_profile`, the probabilities and the raised losses."""
        return self.computed_profile.tail_accuracy + self.log_error + 2.0 * self.loss_error

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) at each ε ≥ 0.

        The upper bound is evaluated at ε minus the error of the total losses, and the lower bound at ε plus this error.
        Each is the better one of two bounds: one on log δ directly, and one from 1 − δ (`_log_complement`), which is
        more accurate for δ near 1.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Arrays of lower and upper bounds, both at most 0.
        """
        at = np.asarray(epsilon, dtype=np.float64)
        # ε moves by the error of the total losses, and by the rounding of this sum.
        slack = self.loss_error + 4 * UNIT_ROUNDOFF * at
        larger_epsilon, smaller_epsilon = at + slack, at - slack

        direct_lower = self.computed_profile.log_delta(larger_epsilon).lower - self.log_error
        direct_upper = self.computed_profile.log_delta(smaller_epsilon).upper + self.log_error
        lower = np.maximum(direct_lower, log1m_exp(self._log_complement(larger_epsilon).upper))
        upper = np.minimum(direct_upper, log1m_exp(self._log_complement(smaller_epsilon).lower))

        # Round both bounds, which are negative, outward.
        upper = np.minimum(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Enclosure(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) at one ε as `log_delta` does, but without arrays.

        The bounds from 1 − δ are computed only if δ may be near 1.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The lower and the upper bound on log δ, both at most 0.
        """
        # ε moves by the error of the total losses, and by the rounding of this sum.
        slack = self.loss_error + 4 * UNIT_ROUNDOFF * epsilon
        larger_epsilon, smaller_epsilon = epsilon + slack, epsilon - slack
        lower = self.computed_profile.log_delta_bounds(larger_epsilon).lower - self.log_error
        upper = self.computed_profile.log_delta_bounds(smaller_epsilon).upper + self.log_error
        if upper > _NEAR_ONE:
            lower = max(lower, log1m_exp_at(self._complement_at(larger_epsilon).upper))
            upper = min(upper, log1m_exp_at(self._complement_at(smaller_epsilon).lower))

        # Round both bounds, which are negative, outward.
        upper = min(upper * (1 - 8 * UNIT_ROUNDOFF) + TINY, 0.0)
        return Interval(lower * (1 + 8 * UNIT_ROUNDOFF) - TINY, upper)

    def solve(self, log_delta: float) -> EpsilonEstimate:
        """Estimate the ε at which log δ has a given value, in closed form between two neighbouring total losses.

        Args:
            log_delta: the value, at most 0.

        Returns:
            The estimate of ε in nats, with the distance `pad` from it at which a certified bound is tried first.
        """
        # An error of the total losses shifts the solution by as much. The factor 4 leaves a margin.
        solution = self.computed_profile.solve(log_delta)
        return solution._replace(pad=4.0 * self.loss_error + solution.pad)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return bounds on log δ, without arrays."""
        del lower
        return [self.log_delta_bounds(epsilon) for epsilon in epsilons]

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return for each false positive rate the test that ends at one of the total losses."""
        return [self.computed_profile.test_of(size, self.log_delta_bounds, self.tail_accuracy) for size in sizes]

    def _complement_at(self, epsilon: float) -> Interval:
        """Enclose log(1 − δ) at one ε by the formula of `_log_complement`, without arrays.

        With the total loss S, 1 − δ(ε) = P(S ≤ ε) + e^ε Q(S > ε) for the two distributions P and Q.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The lower and the upper bound on log(1 − δ), both at most 0.
        """
        index = bisect.bisect_right(self._sorted_losses, epsilon)
        log_p_below = float(self.log_below[index])
        log_q_above = self.computed_profile.log_second_above(epsilon)
        value = log_sum(log_p_below, epsilon + log_q_above)
        # The sums of up to n terms err by a few times n units of roundoff.
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.total_losses.size + 8)
        slack = accuracy * (1.0 + abs(value) + abs(epsilon))
        return Interval(min(value - slack, 0.0), min(value + slack, 0.0))

    @cached_property
    def _sorted_losses(self) -> list[float]:
        """The total losses as a list, which `bisect` searches faster than an array."""
        return list(self.total_losses.tolist())

    def _log_complement(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(1 − δ(ε)) at each ε ≥ 0, accurately if δ is near 1.

        With the total loss S, 1 − δ = E_P[min(1, e^{ε−S})] = P(S ≤ ε) + e^ε Q(S > ε). P and Q are the distributions
        with the hockey-stick divergence δ. An infinite loss adds 0 to both terms.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Arrays of lower and upper bounds, both at most 0.
        """
        log_q_above = self.computed_profile.log_tails(epsilon).log_q
        log_p_below = self.log_below[np.searchsorted(self.total_losses, epsilon, side="right")]
        value = np.logaddexp(log_p_below, epsilon + log_q_above)
        # The sums of up to n terms err by a few times n units of roundoff.
        accuracy = self.tail_accuracy + 4 * UNIT_ROUNDOFF * (self.total_losses.size + 8)
        slack = accuracy * (1.0 + np.abs(value) + np.abs(epsilon))
        return Enclosure(np.minimum(value - slack, 0.0), np.minimum(value + slack, 0.0))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tail probabilities of the total loss at each ε, with all losses raised by their error.

        Raised losses give a distribution that dominates the true one, that is, its δ is at least as large at every ε.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            The logarithms of P(S > ε) and Q(S > ε) of the raised total loss S, one entry of each for each ε.
        """
        at = np.asarray(epsilon, dtype=np.float64)
        # Lowering ε by the error has the effect of raising all losses by it.
        return self.computed_profile.log_tails(at - self.loss_error - 4 * UNIT_ROUNDOFF * at)
