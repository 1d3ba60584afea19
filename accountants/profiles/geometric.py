"""The profile of integer noise with geometric tails, whole or cut off at m levels, shifted by k: in closed form.

P(y) ∝ e^{−α|y|} for |y| ≤ m (m = ∞ for the discrete Laplace distribution) against its shift by k. On the common support
the loss is α (k − 2c), c = y clamped to [0, k]; outside it is infinite. With D = (1 − e^{−α}) Σ_{|y| ≤ m} e^{−α|y|}, n
the number of atoms α (k − 2c) above ε other than c = 0, c* the largest c among them and θ = α (k − 2c*) − ε ≥ 0:

    δ(ε) = P(L = ∞) + P(L = αk) (1 − e^{ε − αk})
         + (1 − e^{−αn}) [e^{−αc*} (1 − e^{−θ}) + e^{−α(c* − n + 1)} (1 − e^{−α(n − 1)})]/D :

This sum has positive terms only, and costs the same for every m and k. Source: docs/shifted-noise.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp
from epsilond.accountants.profiles.gaussian import ZeroProfile
from epsilond.accountants.profiles.sampling.inclusion import outward

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_MOST_ATOMS = 16
"""Largest shift for which all outcomes are listed."""
MANY = 64
"""Number of finite losses up to which the lattice engine finds each of them, so that their span is not stated."""


@dataclass(frozen=True)
class GeometricProfile(Profile):
    """The privacy profile of integer noise P(y) ∝ e^{−α|y|} on |y| ≤ m against its shift by k ≥ 1, in either direction.

    With m = ∞ it is the discrete Laplace distribution. Where both distributions are positive, the privacy loss at y is
    α (k − 2c), where c is y clamped to [0, k]. It is infinite where only the first one is positive. The domain is α in
    (0, 700], k up to 1e15, m up to 1e24.

    Guarantees: `log_delta` encloses for exactly this double α.

    Attributes:
        decay_rate: decay rate α of the noise's probabilities.
        shift: shift k, the sensitivity of the released integer.
        levels: largest absolute value m of the noise; None for noise that is not truncated.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    decay_rate: float
    shift: int
    levels: int | None = None
    tail_accuracy: float = 64 * UNIT_ROUNDOFF

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 is above 0. The noise decreases with distance, so that it and its shift differ."""
        return self.decay_rate > 0.0 and self.shift > 0

    @cached_property
    def _log_total(self) -> float:
        """log D, where D is (1 − e^{−α}) Σ_{|y| ≤ m} e^{−α|y|} = 1 + e^{−α} − 2 e^{−α(m + 1)}."""
        levels = math.inf if self.levels is None else self.levels
        outside = math.expm1(-self.decay_rate * (levels + 1))
        return math.log(-2.0 * outside + math.expm1(-self.decay_rate))

    @property
    def _least(self) -> int:
        """Smallest c on the common support."""
        return 0 if self.levels is None else max(0, self.shift - self.levels)

    def log_at_least(self, y: FloatArray) -> FloatArray:
        """Return the log probability that the noise is at least y.

        Args:
            y: array of integers, each at least 1.

        Returns:
            One natural logarithm for each y; −∞ beyond the largest level.
        """
        log_tail = -self.decay_rate * y - self._log_total
        if self.levels is None:
            return log_tail
        levels_from_y = np.maximum(float(self.levels + 1) - y, 0.0)
        return np.asarray(log_tail + log_one_minus_exp(-self.decay_rate * levels_from_y))

    @cached_property
    def _escape(self) -> tuple[float, float]:
        """Log probabilities of an infinite and of a finite privacy loss.

        The noise has the values (levels) −m, …, m, and k is the shift. The loss is infinite if the noise is in its
        lowest k levels, and finite otherwise. Of these two sets, the one without the level 0 is rarer. Its probability
        is computed, and the other one is 1 minus it. Levels are counted in integers, because m may be beyond the
        integers that doubles represent.
        """
        if self.levels is None:
            return -math.inf, 0.0

        # The distance of the rarer set from level 0, and its number of levels.
        common_levels = self.levels - self.shift + 1
        is_infinite_rarer = common_levels >= 1
        if is_infinite_rarer:
            nearest, count = common_levels, self.shift
        else:
            nearest, count = 1 - common_levels, self.levels + common_levels
        if count <= 0:
            return 0.0, -math.inf

        # A geometric sum from `nearest` on, with `count` terms.
        log_count_share = log_one_minus_exp(np.asarray(-self.decay_rate * count))
        log_rarer = -self.decay_rate * nearest - self._log_total + log_count_share
        log_complement = log_one_minus_exp(np.asarray(log_rarer))
        if is_infinite_rarer:
            return float(log_rarer), float(log_complement)
        return float(log_complement), float(log_rarer)

    @property
    def log_infinite_mass(self) -> float:
        """Log of the probability of an infinite loss, rounded up by at most `tail_accuracy`."""
        log_infinite, _ = self._escape
        if math.isinf(log_infinite):
            return log_infinite
        return min(log_infinite + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_infinite)), 0.0)

    @property
    def log_survival(self) -> float:
        """Log of the probability of a finite loss; −∞ if no output is possible under both distributions."""
        _, log_finite = self._escape
        return log_finite

    def atoms(self) -> FiniteLaw | None:
        """Return the pair as two distributions on finitely many outcomes, for enumeration in compositions.

        Outputs y with the same privacy loss are one outcome: y ≤ 0, y = c for 0 < c < k, and y ≥ k, with the shift k.
        The losses are α (k − 2c) for c = 0, …, k. Outputs that only one distribution has are an infinite loss.

        Returns:
            The distributions; None if k is larger than `_MOST_ATOMS`, or than the largest value m of the noise.
        """
        shift, rate = self.shift, self.decay_rate
        lacks_outcomes = self.levels is not None and self.levels < shift
        if shift > _MOST_ATOMS or lacks_outcomes:
            return None

        # Log probabilities under the first distribution. The outcomes y ≤ 0 and y ≥ k are tails of the noise.
        log_end = self._log_end_share
        log_inner = float(log_one_minus_exp(np.asarray(-rate)))
        counts = range(shift + 1)
        losses = tuple(rate * (shift - 2 * count) for count in counts)
        log_shares = [log_end if count in (0, shift) else log_inner for count in counts]
        log_first = [
            log_share - rate * count - self._log_total for log_share, count in zip(log_shares, counts, strict=True)
        ]

        # A log probability is a sum of terms of these sizes, whose roundings bound its error.
        sizes = [max(-log_end, -log_inner) + rate * count + abs(self._log_total) for count in counts]
        largest_error = max(size / (1.0 + abs(log_mass)) for size, log_mass in zip(sizes, log_first, strict=True))
        accuracy = max(16 * UNIT_ROUNDOFF * (1.0 + largest_error), self.tail_accuracy)

        # The second distribution is the mirror image of the first.
        log_second = tuple(reversed(log_first))
        log_infinite = self.log_infinite_mass
        return FiniteLaw(losses, tuple(log_first), log_second, log_infinite, log_infinite, accuracy=accuracy)

    @property
    def _log_end_share(self) -> float:
        """log(1 − e^{−α(m − k + 1)}): the share of the common support in the tail of noise that is not truncated."""
        if self.levels is None:
            return 0.0
        return float(log_one_minus_exp(np.asarray(-self.decay_rate * (self.levels - self.shift + 1.0))))

    @property
    def supremum(self) -> float:
        """The largest loss αk, rounded up; math.inf if the noise is truncated, so that the loss may be infinite."""
        return self.decay_rate * self.shift * (1.0 + 8 * UNIT_ROUNDOFF) if self.levels is None else math.inf

    @property
    def span(self) -> float | None:
        """Largest number of which every finite loss α (k − 2c) is a multiple; None for at most `MANY` losses."""
        if self.shift + 1 - 2 * self._least <= MANY:
            return None
        return self.decay_rate if self.shift % 2 else 2.0 * self.decay_rate

    def _largest_count(self, epsilon: FloatArray) -> FloatArray:
        """Return the largest integer c at which the privacy loss α (k − 2c) exceeds ε, for each ε.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            The integers as doubles. They are below `_least` if no loss exceeds ε.
        """
        with np.errstate(over="ignore"):  # −∞ if ε is beyond every loss
            return np.asarray(np.ceil(0.5 * (self.shift - epsilon / self.decay_rate)) - 1.0)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss L above ε under both distributions.

        With the shift k they are P(L > ε) = P(noise ≤ c*) and Q(L > ε) = P(noise ≥ k − c*). c* is the largest c at
        which the loss α (k − 2c) exceeds ε.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε.
        """
        count = self._largest_count(np.asarray(epsilon, dtype=np.float64))
        has_finite_loss = count >= self._least
        count = np.where(has_finite_loss, count, self._least)
        log_p = np.where(has_finite_loss, log_one_minus_exp(self.log_at_least(count + 1.0)), self.log_infinite_mass)
        log_q = np.where(has_finite_loss, self.log_at_least(self.shift - count), -np.inf)
        return Tails(log_p, log_q)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Compute log δ at each ε without bounds on its error, as a sum of positive terms.

        With the rate α and the shift k, the finite losses L are α (k − 2c) for integers c. Let n be the number of those
        above ε other than c = 0. Let c* be the largest c among them, θ = α (k − 2c*) − ε ≥ 0, and D the sum
        (1 − e^{−α}) Σ e^{−α|y|} over the values y of the noise. Then:

            δ(ε) = P(L = ∞) + P(L = αk) (1 − e^{ε − αk})
                 + (1 − e^{−αn}) [e^{−αc*} (1 − e^{−θ}) + e^{−α(c* − n + 1)} (1 − e^{−α(n − 1)})]/D.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            One natural logarithm for each ε; −∞ where δ is 0.
        """
        rate, log_total = self.decay_rate, self._log_total

        # c*, n and −θ; where no such loss exceeds ε, placeholders keep the formula finite.
        first = max(1, self._least)
        largest_count = self._largest_count(epsilon)
        has_inner_loss = largest_count >= first
        largest_count = np.where(has_inner_loss, largest_count, first)
        number = largest_count - first + 1.0
        minus_theta = np.minimum(epsilon - rate * (self.shift - 2.0 * largest_count), 0.0)

        # The third summand: the loss at c*, and the n − 1 larger ones, of which `first` = c* − n + 1 is the least c.
        log_at_largest = -rate * largest_count + log_one_minus_exp(minus_theta)
        log_at_others = -rate * first + log_one_minus_exp(-rate * (number - 1.0))
        log_bracket = np.logaddexp(log_at_largest, log_at_others)
        log_inner = log_one_minus_exp(-rate * number) + log_bracket - log_total

        # Add the first summand, the infinite loss, and the second, the largest finite loss αk.
        log_sum = np.logaddexp(np.where(has_inner_loss, log_inner, -np.inf), self.log_infinite_mass)
        if self._least > 0:  # no outcome has the loss αk
            return np.asarray(log_sum)
        log_at_zero = self._log_end_share - log_total + log_one_minus_exp(epsilon - rate * self.shift)
        return np.asarray(np.logaddexp(log_sum, log_at_zero))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ at each ε, by a sum of positive terms.

        The rounding errors of the losses are included by evaluating the sum at a slightly smaller and a slightly larger
        ε.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε.
        """

        def bounds_at(point: FloatArray) -> Enclosure:
            """Return bounds on log δ at exact values of ε."""
            return Enclosure.around(self._log_delta(point), self.tail_accuracy)

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))


def geometric_pair(decay_rate: float, shift: int, levels: int | None = None) -> Pair:
    """Return the symmetric pair of integer noise with P(y) ∝ e^{−α|y|}, possibly truncated, against its shift by k.

    Args:
        decay_rate: decay rate α of the probabilities, in (0, 700].
        shift: shift k ≥ 0, the sensitivity of the released integer.
        levels: largest absolute value m of the noise; None if it is not truncated.

    Returns:
        The distributions of the noise and of the shifted noise, with the same δ in both directions.
    """
    if shift == 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = GeometricProfile(decay_rate, shift, levels)
    return Pair(profile, profile, atoms=profile.atoms())
