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
from epsilond.accountants.curve.facts import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp
from epsilond.accountants.profiles.amplification import outward
from epsilond.accountants.profiles.gaussian import ZeroProfile

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_MOST_ATOMS = 16
MANY = 64


@dataclass(frozen=True)
class GeometricProfile(Profile):
    """Noise of `decay_rate` α, truncated at `levels` m (None: never), against its shift by k ≥ 1, in either direction.

    The domain is α in (0, 700], k up to 1e15, m up to 1e24.

    Guarantees: `log_delta` encloses for exactly this double α.
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
        """log D, the log of the normalising sum."""
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
        """log P(L = ∞) and log P(L < ∞). The loss is infinite if the noise is in its lowest k levels."""
        if self.levels is None:
            return -math.inf, 0.0
        left = self.levels - self.shift + 1
        # Counted in integers: m may be beyond what a double counts.
        nearest, count = (left, self.shift) if left >= 1 else (1 - left, self.levels + left)
        if count <= 0:
            return 0.0, -math.inf
        tail = -self.decay_rate * nearest - self._log_total + log_one_minus_exp(np.asarray(-self.decay_rate * count))
        rest = log_one_minus_exp(np.asarray(tail))
        return (float(tail), float(rest)) if left >= 1 else (float(rest), float(tail))

    @property
    def log_infinite_mass(self) -> float:
        """Log of the probability of an infinite loss, rounded up within `tail_accuracy`."""
        escape = self._escape[0]
        return escape if math.isinf(escape) else min(escape + 8 * UNIT_ROUNDOFF * (1.0 + abs(escape)), 0.0)

    @property
    def log_survival(self) -> float:
        """Log of the probability of a finite loss; −inf if the supports are disjoint."""
        return self._escape[1]

    def atoms(self) -> FiniteLaw | None:
        """Return the pair as two distributions on finitely many outcomes.

        The outcomes are y ≤ 0, y = c for 0 < c < k, and y ≥ k on the common support, with k the shift. Outputs outside
        the common support have an infinite loss. The result is None if k is large, or larger than the number of levels.
        """
        shift, rate = self.shift, self.decay_rate
        if shift > _MOST_ATOMS or (self.levels is not None and self.levels < shift):
            return None
        log_end_share = 0.0
        if self.levels is not None:
            log_end_share = float(log_one_minus_exp(np.asarray(-rate * (self.levels - shift + 1.0))))
        inner = float(log_one_minus_exp(np.asarray(-rate)))
        first = [(log_end_share if c in (0, shift) else inner) - rate * c - self._log_total for c in range(shift + 1)]
        losses = tuple(rate * (shift - 2 * c) for c in range(shift + 1))
        sizes = [max(-log_end_share, -inner) + rate * c + abs(self._log_total) for c in range(shift + 1)]
        lost = max(size / (1.0 + abs(mass)) for size, mass in zip(sizes, first, strict=True))
        escape, accuracy = self.log_infinite_mass, 16 * UNIT_ROUNDOFF * (1.0 + lost)
        accuracy = max(accuracy, self.tail_accuracy)
        return FiniteLaw(losses, tuple(first), tuple(reversed(first)), escape, escape, accuracy=accuracy)

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

    def _lowest(self, epsilon: FloatArray) -> FloatArray:
        """Return c*, the largest c with α (k − 2c) > ε. It is below `_least` if no loss exceeds ε."""
        with np.errstate(over="ignore"):  # −∞ if ε is beyond every loss
            return np.asarray(np.ceil(0.5 * (self.shift - epsilon / self.decay_rate)) - 1.0)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of P(noise ≤ c*) and P(noise ≥ k − c*)."""
        lowest = self._lowest(np.asarray(epsilon, dtype=np.float64))
        some = lowest >= self._least
        inside = np.where(some, lowest, self._least)
        log_p = log_one_minus_exp(self.log_at_least(inside + 1.0))
        log_q = self.log_at_least(self.shift - inside)
        return Tails(np.where(some, log_p, self.log_infinite_mass), np.where(some, log_q, -np.inf))

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return log δ at each ε without bounds on its error, as a sum of positive terms."""
        rate, total = self.decay_rate, self._log_total
        first = max(1, self._least)
        lowest = self._lowest(epsilon)
        some = lowest >= first
        lowest = np.where(some, lowest, first)
        count = lowest - first + 1.0
        gap = np.minimum(epsilon - rate * (self.shift - 2.0 * lowest), 0.0)
        nearest = -rate * lowest + log_one_minus_exp(gap)
        further = -rate * first + log_one_minus_exp(-rate * (count - 1.0))
        inner = log_one_minus_exp(-rate * count) + np.logaddexp(nearest, further) - total
        terms = np.logaddexp(np.where(some, inner, -np.inf), self.log_infinite_mass)
        if self._least > 0:
            return np.asarray(terms)
        log_end_share = 0.0
        if self.levels is not None:
            log_end_share = float(log_one_minus_exp(np.asarray(-rate * (self.levels - self.shift + 1.0))))
        return np.asarray(np.logaddexp(terms, log_end_share - total + log_one_minus_exp(epsilon - rate * self.shift)))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ by the formula above. Roundings of the atoms' places are charged as shifts of ε."""

        def at(point: FloatArray) -> Enclosure:
            return Enclosure.around(self._log_delta(point), self.tail_accuracy)

        return outward(at, np.asarray(epsilon, dtype=np.float64))


def geometric_pair(decay_rate: float, shift: int, levels: int | None = None) -> Pair:
    """Return the symmetric pair of geometric noise against its shift by k ≥ 0.

    Args:
        decay_rate: α, in (0, 700].
        shift: k ≥ 0.
        levels: level m at which the noise is truncated; None if it is not.
    """
    if shift == 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = GeometricProfile(decay_rate, shift, levels)
    return Pair(profile, profile, atoms=profile.atoms())
