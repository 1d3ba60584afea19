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
"""Bound on the error of a logarithm of these formulas, per unit of 1 + |logarithm|."""
_LOG2 = math.log(2.0)


@dataclass(frozen=True)
class LaplaceProfile(Profile):
    """The privacy profile of the Laplace mechanism: Laplace(s) against Laplace(0) of scale 1, in either direction.

    For ε < s it is δ(ε) = 1 − e^{(ε − s)/2}. The privacy loss L has P(L > ε) = 1 − e^{(ε − s)/2}/2 and
    Q(L > ε) = e^{−(s + ε)/2}/2.

    Source: the integral of the positive part, elementary.

    Guarantees: `log_delta` encloses, and is exactly −∞ from s (1 + 4 units) on.

    Attributes:
        shift: shift s, the ℓ1 sensitivity in units of the noise's scale, known to two units of roundoff.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
        tail_accuracy: bound on the error of a log tail, per unit of 1 + |log tail|.
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
        """Enclose log δ(ε) = log(1 − e^{(ε − s)/2}), from bounds on the sensitivity s in scales of the noise.

        δ increases with s, so that bounds on s give bounds on δ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε; −∞ for ε above the largest loss.
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
        """Return the log tails of the privacy loss under both distributions.

        They are log(1 − e^{(ε − s)/2}/2) and log(e^{−(s + ε)/2}/2).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            The tails under both distributions; −∞ from ε = s on, the largest loss.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        is_inside = points < self.shift
        log_p = np.log1p(-0.5 * np.exp(0.5 * np.minimum(points - self.shift, 0.0)))
        log_q = -_LOG2 - 0.5 * (self.shift + points)
        return Tails(np.where(is_inside, log_p, -np.inf), np.where(is_inside, log_q, -np.inf))


@dataclass(frozen=True)
class OppositeLaplaceProfile(Profile):
    """The privacy profile of Laplace noise on a subsampled contribution that a neighbour replaces by its opposite.

    It compares (1 − q) Laplace(0) + q Laplace(s) with (1 − q) Laplace(0) + q Laplace(−s), in either direction. While
    u < 1 it is δ(ε) = q (1 − u) with

        u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q.

    Attributes:
        rate: inclusion probability q, in (0, 1].
        shift: norm s of the contribution, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`.
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

        It is given by u² = e^{−2s} + (e^ε − 1) e^{−s} (1 − q + q e^{−s})/q. q is the inclusion probability and s the
        shift. The event {L > ε} of a privacy loss L above ε is a half-line that begins at s + log u. δ is zero if
        log u ≥ 0.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log u, one entry for each ε.
        """
        # log(e^ε − 1), in a form that does not overflow for large ε.
        with np.errstate(divide="ignore"):
            for_large = epsilon + np.log1p(-np.exp(-np.maximum(epsilon, 1.0)))
            for_small = np.log(np.expm1(np.minimum(epsilon, 30.0)))
        log_expm1 = np.where(epsilon > 30.0, for_large, for_small)

        log_rate = math.log(self.rate)
        log_least_ratio = float(np.logaddexp(self._log_absent, log_rate - self.shift))
        log_rise = log_expm1 - self.shift + log_least_ratio - log_rate
        return np.asarray(0.5 * np.logaddexp(-2.0 * self.shift, log_rise))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) = log q + log(1 − u), with the inclusion probability q and u of `_log_u`.

        The error of log u is a few units of roundoff times 1 + s + ε + |log q|.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_u, log_rate = self._log_u(points), math.log(self.rate)
        # Bound on the error of log u; δ decreases in u.
        slack = 16 * UNIT_ROUNDOFF * (1.0 + self.shift + points + abs(log_rate))
        least = log_rate + log_one_minus_exp(log_u + slack)
        largest = log_rate + log_one_minus_exp(log_u - slack)
        return Enclosure(Enclosure.around(least, ACCURACY).lower, Enclosure.around(largest, ACCURACY).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss L above ε under both mixtures.

        {L > ε} is the half-line beyond x = s + log u, with the shift s and u of `_log_u`. Both probabilities are 0 if
        u ≥ 1.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε; −∞ where u ≥ 1.
        """
        log_u = self._log_u(np.asarray(epsilon, dtype=np.float64))
        is_inside = log_u < 0
        log_u = np.minimum(log_u, 0.0)
        boundary, log_rate = self.shift + log_u, math.log(self.rate)

        # The tails beyond the boundary of Laplace(0), which both mixtures have, of Laplace(s) and of Laplace(−s).
        log_absent = self._log_absent - _LOG2 - boundary
        log_shifted_up = log_rate + np.log1p(-0.5 * np.exp(log_u))
        log_shifted_down = log_rate - _LOG2 - boundary - self.shift
        log_p = np.logaddexp(log_absent, log_shifted_up)
        log_q = np.logaddexp(log_absent, log_shifted_down)
        return Tails(np.where(is_inside, log_p, -np.inf), np.where(is_inside, log_q, -np.inf))


def laplace_pair(shift: float) -> Pair:
    """Return the pair of Laplace(s) and Laplace(0) of scale 1, with the same δ in both directions.

    Args:
        shift: sensitivity s ≥ 0, in units of the noise's scale. For s = 0 the privacy loss is always zero.

    Returns:
        The pair; two equal distributions for s = 0.
    """
    if not shift > 0:
        return Pair(ZeroProfile(), ZeroProfile())
    profile = LaplaceProfile(shift)
    return Pair(profile, profile, laplace_shift=shift)


def opposite_laplace_pair(rate: float, shift: float, *, absent: float | None = None) -> Pair:
    """Return the symmetric pair of Laplace noise on a subsampled contribution that is replaced by its opposite.

    The profile is that of `OppositeLaplaceProfile`. The Laplace pair with the shift 2s dominates it, because both
    mixtures have the same weights (joint convexity).

    Args:
        rate: inclusion probability q, in (0, 1].
        shift: norm s of the contribution, in units of the noise's scale.
        absent: 1 − q, if it is known more accurately than from `rate`.

    Returns:
        The pair, with the same profile in both directions.
    """
    profile = OppositeLaplaceProfile(rate, shift, absent)
    return Pair(profile, profile, below=laplace_pair(2.0 * shift))
