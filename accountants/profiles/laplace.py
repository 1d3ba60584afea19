"""The profiles of Laplace noise, in closed form.

With s the ℓ1 shift over the noise's scale, Laplace(s) against Laplace(0) has losses in [−s, s], atoms at −s and s, and

    δ(ε) = 1 − e^{(ε − s)/2},   P(L > ε) = 1 − e^{(ε − s)/2}/2,   Q(L > ε) = e^{−(s + ε)/2}/2   for ε < s.

If the contribution is included with probability q and replaced by its opposite, the loss has an atom at its maximum,
and

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
_LOG2 = math.log(2.0)


@dataclass(frozen=True)
class LaplaceProfile(Profile):
    """The profile of Laplace(s) against Laplace(0), in either direction.

    For ε < s it is δ(ε) = 1 − e^{(ε − s)/2}, with P(L > ε) = 1 − e^{(ε − s)/2}/2 and Q(L > ε) = e^{−(s + ε)/2}/2.

    Source: the integral of the positive part, elementary.

    Guarantees: `log_delta` encloses, and is exactly −inf from s (1 + 4 units) on.

    Attributes:
        shift: s in units of the noise's scale, known to two units of roundoff.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    shift: float
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = ACCURACY

    @property
    def supremum(self) -> float:
        """Largest loss s, rounded up, in nats."""
        return self.shift * (1.0 + 8 * UNIT_ROUNDOFF)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(1 − e^{(ε − s)/2}), with both bounds of the shift s."""
        at = np.asarray(epsilon, dtype=np.float64)
        low, high = self.shift * (1 - 3 * UNIT_ROUNDOFF), self.shift * (1 + 3 * UNIT_ROUNDOFF)
        lower = log_one_minus_exp(0.5 * (at - low))
        upper = log_one_minus_exp(0.5 * (at - high))
        return Enclosure(Enclosure.around(lower, ACCURACY).lower, Enclosure.around(upper, ACCURACY).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of 1 − e^{(ε − s)/2}/2 and e^{−(s + ε)/2}/2; −inf from s on."""
        at = np.asarray(epsilon, dtype=np.float64)
        inside = at < self.shift
        log_p = np.log1p(-0.5 * np.exp(0.5 * np.minimum(at - self.shift, 0.0)))
        return Tails(np.where(inside, log_p, -np.inf), np.where(inside, -_LOG2 - 0.5 * (self.shift + at), -np.inf))


@dataclass(frozen=True)
class OppositeLaplaceProfile(Profile):
    """The profile of (1 − q) Laplace(0) + q Laplace(s) against (1 − q) Laplace(0) + q Laplace(−s), in either direction.

    While u < 1 it is δ(ε) = q (1 − u) with

        u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q.

    Attributes:
        rate: inclusion probability q.
        shift: s, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`.
    """

    root_search: ClassVar[RootSearch] = "sweep"

    rate: float
    shift: float
    absent: float | None = None
    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 4 * ACCURACY

    @property
    def supremum(self) -> float:
        """Largest loss, log(1 − q + q e^s) − log(1 − q + q e^{−s}), rounded up, in nats.

        A loss is largest at an output above s, where both shifted densities are e^s and e^{−s} times the middle one.
        """
        log_rate, log_absent = math.log(self.rate), self._log_absent
        log_numerator = float(np.logaddexp(log_absent, log_rate + self.shift))
        log_denominator = float(np.logaddexp(log_absent, log_rate - self.shift))
        slack = 32 * UNIT_ROUNDOFF * (1.0 + abs(log_rate) + self.shift)
        return log_numerator - log_denominator + slack

    @property
    def _log_absent(self) -> float:
        """log(1 − q), from 1 − q if it is known."""
        return log_complement(self.rate, self.absent)

    def _log_u(self, epsilon: FloatArray) -> FloatArray:
        """Return log u for u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q; δ is zero if it is 0 or more.

        The half-line {L > ε} of the privacy loss L ends at s + log u. q is the inclusion probability and s the shift.

        Args:
            epsilon: array of ε ≥ 0, in nats.
        """
        with np.errstate(divide="ignore"):
            for_large = epsilon + np.log1p(-np.exp(-np.maximum(epsilon, 1.0)))
            for_small = np.log(np.expm1(np.minimum(epsilon, 30.0)))
        log_expm1 = np.where(epsilon > 30.0, for_large, for_small)
        log_rate = math.log(self.rate)
        log_least_ratio = float(np.logaddexp(self._log_absent, log_rate - self.shift))
        log_rise = log_expm1 - self.shift + log_least_ratio - log_rate
        return np.asarray(0.5 * np.logaddexp(-2.0 * self.shift, log_rise))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log q + log(1 − u), for log u known to a few units of 1 + s + ε + |log q|."""
        at = np.asarray(epsilon, dtype=np.float64)
        log_u, log_rate = self._log_u(at), math.log(self.rate)
        slack = 16 * UNIT_ROUNDOFF * (1.0 + self.shift + at + abs(log_rate))
        least, most = log_rate + log_one_minus_exp(log_u + slack), log_rate + log_one_minus_exp(log_u - slack)
        return Enclosure(Enclosure.around(least, ACCURACY).lower, Enclosure.around(most, ACCURACY).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log masses of {L > ε}, the half-line beyond x = s + log u, under both distributions.

        L is the privacy loss, s the shift in units of the noise scale, and u that of `_log_u`. Both masses are 0 if u ≥
        1.

        Args:
            epsilon: array of ε ≥ 0, in nats.
        """
        log_u = self._log_u(np.asarray(epsilon, dtype=np.float64))
        is_inside = log_u < 0
        log_u = np.minimum(log_u, 0.0)
        boundary, log_rate = self.shift + log_u, math.log(self.rate)
        log_absent = self._log_absent - _LOG2 - boundary
        log_p = np.logaddexp(log_absent, log_rate + np.log1p(-0.5 * np.exp(log_u)))
        log_q = np.logaddexp(log_absent, log_rate - _LOG2 - boundary - self.shift)
        return Tails(np.where(is_inside, log_p, -np.inf), np.where(is_inside, log_q, -np.inf))


def laplace_pair(shift: float) -> Pair:
    """Return the pair of Laplace(s) against Laplace(0), noise of scale 1, with the same δ in both directions.

    Args:
        shift: s ≥ 0, in units of the scale. For s = 0 the loss is always zero.
    """
    if not shift > 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = LaplaceProfile(shift)
    return Pair(profile, profile, laplace_shift=shift)


def opposite_laplace_pair(rate: float, shift: float, *, absent: float | None = None) -> Pair:
    """Return the symmetric pair of Laplace noise on a subsampled contribution that is replaced by its opposite.

    Its profile is `OppositeLaplaceProfile`. The Laplace pair with the shift 2s dominates it, because both mixtures have
    the same weights (joint convexity).

    Args:
        rate: inclusion probability q.
        shift: norm s of the contribution, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`.
    """
    profile = OppositeLaplaceProfile(rate, shift, absent)
    return Pair(profile, profile, below=laplace_pair(2.0 * shift))
