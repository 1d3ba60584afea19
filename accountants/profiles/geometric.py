"""The profile of integer noise with geometric tails, whole or cut off at m levels, shifted by k: in closed form.

P(y) ∝ e^{−α|y|} for |y| ≤ m (m = ∞ for the discrete Laplace distribution) against its shift by k. On the common support
the loss is α (k − 2c), c = y clamped to [0, k]; outside it is infinite. With D = (1 − e^{−α}) Σ_{|y| ≤ m} e^{−α|y|}, n
the number of atoms α (k − 2c) above ε other than c = 0, c* the largest c among them and θ = α (k − 2c*) − ε ≥ 0,

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
    """The profile of integer noise P(y) ∝ e^{−α|y|} on |y| ≤ m against its shift by k ≥ 1, in either direction.

    The domain is α in (0, 700], k up to 1e15, m up to 1e24.

    Guarantees: `log_delta` encloses for exactly this double α.

    Attributes:
        decay_rate: α.
        shift: k.
        levels: m; None for noise that is not truncated, the discrete Laplace distribution.
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
        """log D, with D the normalising sum times 1 − e^{−α}."""
        levels = math.inf if self.levels is None else self.levels
        return math.log(-2.0 * math.expm1(-self.decay_rate * (levels + 1)) + math.expm1(-self.decay_rate))

    @property
    def _least(self) -> int:
        """Smallest c on the common support."""
        return 0 if self.levels is None else max(0, self.shift - self.levels)

    def log_at_least(self, y: FloatArray) -> FloatArray:
        """Return log P(noise ≥ y) for y ≥ 1; −inf beyond the last level."""
        tail = -self.decay_rate * y - self._log_total
        if self.levels is None:
            return tail
        return np.asarray(tail + log_one_minus_exp(-self.decay_rate * np.maximum(float(self.levels + 1) - y, 0.0)))

    @cached_property
    def _escape(self) -> tuple[float, float]:
        """log P(L = ∞) and log P(L < ∞) of the privacy loss L. It is infinite if the noise is in its lowest k levels.

        The other levels have a finite loss. Of these two sets of levels, the one without the level 0 has the smaller
        probability. It is computed, and the other probability is 1 minus it. Levels are counted in integers, because m
        may be beyond the integers that doubles represent.
        """
        if self.levels is None:
            return -math.inf, 0.0
        common_levels = self.levels - self.shift + 1
        is_infinite_rarer = common_levels >= 1
        if is_infinite_rarer:
            nearest, count = common_levels, self.shift
        else:
            nearest, count = 1 - common_levels, self.levels + common_levels
        if count <= 0:
            return 0.0, -math.inf
        log_count_share = log_one_minus_exp(np.asarray(-self.decay_rate * count))
        log_rarer = -self.decay_rate * nearest - self._log_total + log_count_share
        log_other = log_one_minus_exp(np.asarray(log_rarer))
        return (float(log_rarer), float(log_other)) if is_infinite_rarer else (float(log_other), float(log_rarer))

    @property
    def log_infinite_mass(self) -> float:
        """Log of the probability of an infinite loss, rounded up within `tail_accuracy`."""
        escape, _ = self._escape
        if math.isinf(escape):
            return escape
        return min(escape + 8 * UNIT_ROUNDOFF * (1.0 + abs(escape)), 0.0)

    @property
    def log_survival(self) -> float:
        """Log of the probability of a finite loss; −inf if the supports are disjoint."""
        return self._escape[1]

    def atoms(self) -> FiniteLaw | None:
        """Return the pair as two distributions on finitely many outcomes, for enumeration in compositions.

        The outcomes are y ≤ 0, y = c for 0 < c < k, and y ≥ k on the common support, with k the shift. Their losses are
        α (k − 2c) for c = 0, …, k. Outputs outside the common support have an infinite loss.

        Returns:
            The distributions; None if k is larger than `_MOST_ATOMS` or than the number of levels.
        """
        shift, rate = self.shift, self.decay_rate
        if shift > _MOST_ATOMS or (self.levels is not None and self.levels < shift):
            return None
        log_end, log_inner = self._log_end_share, float(log_one_minus_exp(np.asarray(-rate)))
        counts = range(shift + 1)
        losses = tuple(rate * (shift - 2 * c) for c in counts)
        log_first = [(log_end if c in (0, shift) else log_inner) - rate * c - self._log_total for c in counts]
        sizes = [max(-log_end, -log_inner) + rate * c + abs(self._log_total) for c in counts]
        largest_error = max(size / (1.0 + abs(log_mass)) for size, log_mass in zip(sizes, log_first, strict=True))
        accuracy = max(16 * UNIT_ROUNDOFF * (1.0 + largest_error), self.tail_accuracy)
        escape = self.log_infinite_mass
        return FiniteLaw(losses, tuple(log_first), tuple(reversed(log_first)), escape, escape, accuracy=accuracy)

    @property
    def _log_end_share(self) -> float:
        """log(1 − e^{−α(m − k + 1)}): the share of the common support in the tail of noise that is not truncated."""
        if self.levels is None:
            return 0.0
        return float(log_one_minus_exp(np.asarray(-self.decay_rate * (self.levels - self.shift + 1.0))))

    @property
    def supremum(self) -> float:
        """αk, rounded up; math.inf if the noise is truncated, because the loss may then be infinite."""
        return self.decay_rate * self.shift * (1.0 + 8 * UNIT_ROUNDOFF) if self.levels is None else math.inf

    @property
    def span(self) -> float | None:
        """Largest number of which every finite loss α (k − 2c) is a multiple; None for few losses."""
        if self.shift + 1 - 2 * self._least <= MANY:
            return None
        return self.decay_rate if self.shift % 2 else 2.0 * self.decay_rate

    def _largest_count(self, epsilon: FloatArray) -> FloatArray:
        """Return c*, the largest c with the loss α (k − 2c) above ε. It is below `_least` if no loss exceeds ε."""
        with np.errstate(over="ignore"):  # −∞ if ε is beyond every loss
            return np.asarray(np.ceil(0.5 * (self.shift - epsilon / self.decay_rate)) - 1.0)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of P(L > ε) = P(noise ≤ c*) and Q(L > ε) = P(noise ≥ k − c*), with the shift k.

        c* is the largest c with the loss α (k − 2c) above ε (`_largest_count`).

        Args:
            epsilon: values of ε, in nats.
        """
        count = self._largest_count(np.asarray(epsilon, dtype=np.float64))
        has_finite_loss = count >= self._least
        count = np.where(has_finite_loss, count, self._least)
        log_p = log_one_minus_exp(self.log_at_least(count + 1.0))
        log_q = self.log_at_least(self.shift - count)
        return Tails(
            np.where(has_finite_loss, log_p, self.log_infinite_mass), np.where(has_finite_loss, log_q, -np.inf)
        )

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return log δ at each ε without bounds on its error, as a sum of positive terms.

        With the rate α, the shift k and D of `_log_total`, the finite losses are α (k − 2c). Let n be the number of
        those above ε other than c = 0, c* the largest c among them, and θ = α (k − 2c*) − ε ≥ 0. Then

            δ(ε) = P(L = ∞) + P(L = αk) (1 − e^{ε − αk})
                 + (1 − e^{−αn}) [e^{−αc*} (1 − e^{−θ}) + e^{−α(c* − n + 1)} (1 − e^{−α(n − 1)})]/D.

        Args:
            epsilon: array of ε ≥ 0, in nats.
        """
        rate, log_total = self.decay_rate, self._log_total
        first = max(1, self._least)
        largest = self._largest_count(epsilon)
        has_inner_loss = largest >= first
        largest = np.where(has_inner_loss, largest, first)  # c*
        number = largest - first + 1.0  # n
        minus_theta = np.minimum(epsilon - rate * (self.shift - 2.0 * largest), 0.0)
        log_at_largest = -rate * largest + log_one_minus_exp(minus_theta)
        log_at_others = -rate * first + log_one_minus_exp(-rate * (number - 1.0))
        log_inner = log_one_minus_exp(-rate * number) + np.logaddexp(log_at_largest, log_at_others) - log_total
        log_sum = np.logaddexp(np.where(has_inner_loss, log_inner, -np.inf), self.log_infinite_mass)
        if self._least > 0:  # no outcome has the loss αk
            return np.asarray(log_sum)
        log_at_zero = self._log_end_share - log_total + log_one_minus_exp(epsilon - rate * self.shift)
        return np.asarray(np.logaddexp(log_sum, log_at_zero))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ by a sum of positive terms. The roundings of the losses are charged as shifts of ε."""

        def bounds_at(point: FloatArray) -> Enclosure:
            return Enclosure.around(self._log_delta(point), self.tail_accuracy)

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))


def geometric_pair(decay_rate: float, shift: int, levels: int | None = None) -> Pair:
    """Return the symmetric pair of integer noise with P(y) ∝ e^{−α|y|}, whole or truncated, against its shift by k.

    Args:
        decay_rate: α, in (0, 700].
        shift: k ≥ 0.
        levels: level m at which the noise is truncated; None if it is not.

    Returns:
        The distributions of the noise and of the shifted noise, with the same δ in both directions.
    """
    if shift == 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = GeometricProfile(decay_rate, shift, levels)
    return Pair(profile, profile, atoms=profile.atoms())
