"""The profiles of Laplace noise, in closed form.

With s the ℓ1 shift over the noise's scale, Laplace(s) against Laplace(0) has losses in [−s, s], atoms at −s and s, and:

    δ(ε) = 1 − e^{(ε − s)/2},   P(L > ε) = 1 − e^{(ε − s)/2}/2,   Q(L > ε) = e^{−(s + ε)/2}/2   for ε < s.

If the contribution is included with probability q and replaced by its opposite, the loss has an atom at its maximum,
and:

    δ(ε) = q (1 − u),   u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q   while u < 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile, RootSearch
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp
from epsilond.accountants.profiles.gaussian import ZeroProfile
from epsilond.accountants.profiles.sampling.inclusion import log_complement

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ACCURACY = 16 * UNIT_ROUNDOFF
"""Bound on the error of a logarithm of these formulas, per unit of 1 + |logarithm|."""
_LOG2 = math.log(2.0)
_LARGE_EPSILON = 30.0
"""ε in nats above which log(e^ε − 1) is computed as ε + log(1 − e^−ε), which does not overflow."""


@dataclass(frozen=True)
class LaplaceProfile(Profile):
    """The privacy profile of the Laplace mechanism: Laplace(s) against Laplace(0) of scale 1, in either direction.

    With P = Laplace(s) and Q = Laplace(0), the profile and the tails of the privacy loss L are, for 0 ≤ ε < s:

        δ(ε) = 1 − e^{(ε − s)/2},   P(L > ε) = 1 − e^{(ε − s)/2}/2,   Q(L > ε) = e^{−(s + ε)/2}/2.

    They follow by integration over the half-line on which the loss exceeds ε.

    Guarantees: `log_delta` encloses log δ, and is exactly −∞ from `supremum` on.

    Attributes:
        shift: s, the ℓ1 sensitivity in units of the noise's scale, with a relative error of at most two roundoff units.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    shift: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = ACCURACY

    @property
    def supremum(self) -> float:
        """Upper bound on the privacy loss in nats: s, rounded up."""
        return self.shift * (1.0 + 8 * UNIT_ROUNDOFF)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) = log(1 − e^{(ε − s)/2}), where s is the sensitivity in units of the noise's scale.

        δ increases with s, so that bounds on s give bounds on δ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound for each ε. Both are −∞ if ε is at least s, rounded up.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        # The shift is known to two units of roundoff; a third one covers the product.
        least_shift, largest_shift = self.shift * (1 - 3 * UNIT_ROUNDOFF), self.shift * (1 + 3 * UNIT_ROUNDOFF)
        at_least_shift = log_one_minus_exp(0.5 * (points - least_shift))
        at_largest_shift = log_one_minus_exp(0.5 * (points - largest_shift))
        lower = Enclosure.around(at_least_shift, ACCURACY).lower
        upper = Enclosure.around(at_largest_shift, ACCURACY).upper
        return Enclosure(lower, upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss above ε, under Laplace(s) and under Laplace(0).

        They are log(1 − e^{(ε − s)/2}/2) and log(e^{−(s + ε)/2}/2) for ε < s. The largest loss is s.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε, with an error of up to `ACCURACY`; −∞ from ε = s on.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        is_inside = points < self.shift
        log_p = np.log1p(-0.5 * np.exp(0.5 * np.minimum(points - self.shift, 0.0)))
        log_q = -_LOG2 - 0.5 * (self.shift + points)
        return Tails(np.where(is_inside, log_p, -np.inf), np.where(is_inside, log_q, -np.inf))


@dataclass(frozen=True)
class OppositeLaplaceProfile(Profile):
    """The privacy profile of Laplace noise on a subsampled contribution that a neighbour replaces by its opposite.

    It compares (1 − q) Laplace(0) + q Laplace(s) with (1 − q) Laplace(0) + q Laplace(−s), in either direction:

        δ(ε) = q max(1 − u, 0),   u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q.

    Attributes:
        rate: inclusion probability q, in (0, 1].
        shift: norm s of the contribution, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`, or None.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    rate: float
    shift: float
    absent: float | None = None
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 4 * ACCURACY

    @property
    def supremum(self) -> float:
        """Largest privacy loss, log(1 − q + q e^s) − log(1 − q + q e^{−s}), rounded up, in nats.

        The loss is largest at an output above s. There the two shifted densities are e^s and e^{−s} times that of
        Laplace(0).
        """
        log_rate, log_absent = math.log(self.rate), self._log_absent
        log_numerator = float(np.logaddexp(log_absent, log_rate + self.shift))
        log_denominator = float(np.logaddexp(log_absent, log_rate - self.shift))
        # Rounded up: each logarithm has an error of a few units of its terms, at most 1 + |log q| + s.
        slack = 32 * UNIT_ROUNDOFF * (1.0 + abs(log_rate) + self.shift)
        return log_numerator - log_denominator + slack

    @property
    def _log_absent(self) -> float:
        """log(1 − q), from 1 − q if it is known."""
        return log_complement(self.rate, self.absent)

    def _log_u(self, epsilon: FloatArray) -> FloatArray:
        """Return the logarithm of the number u with δ = q (1 − u).

        With the inclusion probability q and the shift s:

            u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q.

        If u < 1, the privacy loss exceeds ε exactly at outputs above s + log u. Otherwise δ is 0.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log u, one entry for each ε.
        """
        # Both forms are computed at every ε, so each one is given an ε at which it is finite. log 0 = −∞ at ε = 0.
        with np.errstate(divide="ignore"):
            for_large = epsilon + np.log1p(-np.exp(-np.maximum(epsilon, 1.0)))
            for_small = np.log(np.expm1(np.minimum(epsilon, _LARGE_EPSILON)))
        log_expm1 = np.where(epsilon > _LARGE_EPSILON, for_large, for_small)

        log_rate = math.log(self.rate)
        log_least_ratio = float(np.logaddexp(self._log_absent, log_rate - self.shift))
        log_rise = log_expm1 - self.shift + log_least_ratio - log_rate
        return np.asarray(0.5 * np.logaddexp(-2.0 * self.shift, log_rise))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of Laplace noise, for a contribution and its opposite, included with probability q.

        With the norm s of the contribution over the noise's scale, δ is q (1 − u) if u < 1, and 0 otherwise. Here:

            u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound for each ε; −∞ where δ is 0.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_u, log_rate = self._log_u(points), math.log(self.rate)
        # The error of log u is a few units of roundoff in proportion to its terms. δ decreases in u.
        slack = 16 * UNIT_ROUNDOFF * (1.0 + self.shift + points + abs(log_rate))
        least = log_rate + log_one_minus_exp(log_u + slack)
        largest = log_rate + log_one_minus_exp(log_u - slack)
        return Enclosure(Enclosure.around(least, ACCURACY).lower, Enclosure.around(largest, ACCURACY).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss above ε, under two mixtures of Laplace distributions.

        They mix Laplace(0) with Laplace(s) and with Laplace(−s), which have the weight q. The loss exceeds ε exactly at
        outputs above s + log u. The number u is defined by δ(ε) = q (1 − u). If u ≥ 1, no loss exceeds ε.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε; −∞ where u ≥ 1.
        """
        log_u = self._log_u(np.asarray(epsilon, dtype=np.float64))
        is_inside = log_u < 0
        log_u = np.minimum(log_u, 0.0)
        boundary, log_rate = self.shift + log_u, math.log(self.rate)

        # Each mixture has two parts beyond the boundary: Laplace(0), and Laplace(s) or Laplace(−s).
        log_absent = self._log_absent - _LOG2 - boundary
        log_shifted_up = log_rate + np.log1p(-0.5 * np.exp(log_u))
        log_shifted_down = log_rate - _LOG2 - boundary - self.shift
        log_p = np.logaddexp(log_absent, log_shifted_up)
        log_q = np.logaddexp(log_absent, log_shifted_down)
        return Tails(np.where(is_inside, log_p, -np.inf), np.where(is_inside, log_q, -np.inf))


def laplace_pair(shift: float) -> Pair:
    """Build the dominating pair of the Laplace mechanism, Laplace(s) and Laplace(0) of scale 1.

    Args:
        shift: sensitivity s ≥ 0, in units of the noise's scale.

    Returns:
        The pair, with the same profile in both directions. For s = 0 the two distributions are equal, and δ is 0.
    """
    if not shift > 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = LaplaceProfile(shift)
    return Pair(profile, profile, laplace_shift=shift)


def opposite_laplace_pair(rate: float, shift: float, *, absent: float | None = None) -> Pair:
    """Build the pair of Laplace noise on a subsampled contribution that is replaced by its opposite.

    The distributions are the mixtures (1 − q) Laplace(0) + q Laplace(±s). The Laplace pair with the shift 2s dominates
    this pair, because both mixtures have the same weights and E_γ is jointly convex.

    Args:
        rate: inclusion probability q, in (0, 1].
        shift: norm s of the contribution, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`, or None.

    Returns:
        The pair, with the same profile in both directions and the dominating Laplace pair.
    """
    profile = OppositeLaplaceProfile(rate, shift, absent)
    return Pair(profile, profile, below=laplace_pair(2.0 * shift))
