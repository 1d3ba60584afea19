"""Amplification of a profile by subsampling.

A batch contains a given record with probability q. Let α = e^ε' and 1 + (α − 1)/q = e^ε. Then advanced joint convexity
(Balle, Barthe and Gaboardi 2018, Theorem 2) turns the base profile δ into δ'(ε') = q δ(ε). The tails follow by
differentiation, with positive terms only: Q'(L' > ε') = Q(L > ε) and P'(L' > ε') = q P(L > ε) + (1 − q) Q(L > ε).

Roundings of the change of variable are charged by an outward shift of its argument, as profiles decrease.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.facts import Direction, DrawnGaussianLaw, GaussianMixtureLaw, SampledGaussianLaw
from epsilond.accountants.curve.mixture_laws import mixtures_around
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.plateaus import amplify_plateau
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.drawn import SubsampledSearch, amplified_epsilon, subsample_test
from epsilond.accountants.profiles.sampling.inclusion import NUDGE, Share, base_epsilon, log_complement, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.numerics.special import FloatArray

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

_ROUNDED_END = 32 * UNIT_ROUNDOFF  # relative rounding of a largest loss


@dataclass(frozen=True)
class AmplifiedProfile(Profile):
    """The privacy profile of a Poisson-subsampled mechanism: (1 − q) Q + q P against Q.

    P is the output distribution of the mechanism with the record, and Q the one without it. `log_delta` has the formula
    of the profile (Balle, Barthe and Gaboardi 2018, Theorem 2).

    Attributes:
        base: profile δ of P against Q, the mechanism without subsampling.
        rate: probability q that the record is in the batch, in (0, 1].
        absent: 1 − q, if it is known more accurately than from `rate`.
    """

    base: Profile
    rate: float
    absent: float | None = None

    @property
    def log_infinite_mass(self) -> float:
        """Log of the infinite mass. An infinite loss requires the record to be included."""
        return self.base.log_infinite_mass + math.log(self.rate)

    @property
    def lossy(self) -> bool:
        """True if δ of the base at ε = 0 is known to be above 0 without an evaluation."""
        return self.base.lossy

    @property
    def supremum(self) -> float:
        """Largest privacy loss in nats, rounded up; math.inf if none is known.

        It is log(1 − q + q e^s) for the largest loss s of the mechanism without subsampling.
        """
        if self.base.supremum == math.inf:
            return math.inf
        return amplified_epsilon(self.base.supremum, self.rate) * (1.0 + _ROUNDED_END)

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails: that of the base's tails, with a few roundings of the argument."""
        return 2 * self.base.tail_accuracy + NUDGE

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ' of the subsampled mechanism at each ε'.

            δ'(ε') = q δ(ε),   ε = log(1 + (e^ε' − 1)/q),

        with the inclusion probability q, and the profile δ of the mechanism without subsampling.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε'. They allow for the rounding of ε.
        """
        log_rate = math.log(self.rate)
        slack = NUDGE * (1.0 + abs(log_rate))

        def bounds_at(point: FloatArray) -> Enclosure:
            """Enclose log(q δ(ε)) at each ε', without the rounding errors of the argument."""
            lower, upper = self.base.log_delta(base_epsilon(point, self.rate))
            return Enclosure(lower + log_rate - slack, upper + log_rate + slack)

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a loss above ε' under q P + (1 − q) Q and under Q.

        Args:
            epsilon: array of ε' ≥ 0, in nats.
        """
        point = base_epsilon(np.asarray(epsilon, dtype=np.float64), self.rate)
        return self._mix(self.base.log_tails(point))

    def delta_at_zero_by_tails(self) -> float:
        """Return q times δ(0) of the pair to which the tails of the base belong, without error bounds."""
        return self.rate * self.base.delta_at_zero_by_tails()

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return log tails of two output distributions of the mechanism, for lower bounds on δ of compositions.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            The log tails; None if those of `log_tails` are attained.
        """
        point = base_epsilon(np.asarray(epsilon, dtype=np.float64), self.rate)
        tails = self.base.attained_log_tails(point)
        return None if tails is None else self._mix(tails)

    def _mix(self, tails: Tails) -> Tails:
        """Return the log tails of the subsampled pair, q P + (1 − q) Q and Q, from those of P and of Q.

        Args:
            tails: log probabilities of one event under P and under Q.
        """
        log_p, log_q = tails
        log_included = log_p + math.log(self.rate)
        log_excluded = log_q + log_complement(self.rate, self.absent)
        return Tails(np.asarray(np.logaddexp(log_included, log_excluded)), log_q)

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return tests of the subsampled mechanism that have about the given false positive rates.

        They are the tests of the mechanism without subsampling, because both test the same events.

        Args:
            sizes: false positive rates, in (0, 1).

        Returns:
            A test for each rate, or None where there is no test. The list is empty if the base has no tests.
        """
        tests = self.base.near_tests(sizes)
        return [
            None if test is None else subsample_test(test, size, self.rate)
            for test, size in zip(tests, sizes, strict=False)
        ]


@dataclass(frozen=True)
class DilutedProfile(Profile):
    """The privacy profile of a Poisson-subsampled mechanism in the other direction: Q against (1 − q) Q + q P.

    P is the output distribution of the mechanism with the record, and Q the one without it. The privacy loss is at most
    −log(1 − q). `log_delta` has the formula of the profile.

    Attributes:
        base: profile δ of Q against P, the mechanism without subsampling.
        rate: probability q that the record is in the batch, in (0, 1].
        absent: 1 − q, if it is known more accurately than from `rate`.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
    """

    base: Profile
    rate: float
    absent: float | None = None

    log_infinite_mass: float = -math.inf

    @property
    def supremum(self) -> float:
        """Largest privacy loss of Q against (1 − q) Q + q P, rounded up, in nats.

        It is −log(1 − q + q e^{−s}) for the largest loss s of Q against P. If s is infinite or not known, this is
        −log(1 − q).
        """
        decay = math.exp(-self.base.supremum)
        decay_minus_one = decay - 1.0 if decay < 0.5 else math.expm1(-self.base.supremum)
        # The smallest likelihood ratio is 1 + change.
        change = self.rate * decay_minus_one
        if change > -0.5:
            return -math.log1p(change) * (1.0 + _ROUNDED_END)
        # For a small ratio, the sum of two positive terms keeps its digits.
        least_ratio = self._absent + self.rate * decay
        if least_ratio > 0.0:
            return -math.log(least_ratio) * (1.0 + _ROUNDED_END)
        return math.inf

    @property
    def _absent(self) -> float:
        """The probability 1 − q that the record is not in the batch."""
        return 1.0 - self.rate if self.absent is None else self.absent

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails: that of the base's tails, with a few roundings of the argument."""
        return 2 * self.base.tail_accuracy + NUDGE

    def _log_factor(self, epsilon: FloatArray) -> FloatArray:
        """Return log(1 − u) with u = (1 − q)(e^ε' − 1)/q, for an inclusion probability q.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            One logarithm for each ε'; −∞ for u ≥ 1.
        """
        with np.errstate(over="ignore"):
            u = np.expm1(np.minimum(epsilon, 700.0)) * (self._absent / self.rate)  # e^700 does not overflow
        log_factor = np.full(np.shape(u), -np.inf)
        return np.asarray(np.log1p(-np.minimum(u, 1.0), where=u < 1.0, out=log_factor))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ' of Q against (1 − q) Q + q P at each ε'.

            δ'(ε') = q (1 − u) δ(ε' − log(1 − u)),   u = (1 − q)(e^ε' − 1)/q,

        with the inclusion probability q, and the profile δ of Q against P. It is 0 for u ≥ 1.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Lower and upper bounds, one for each ε'; −∞ where δ' is 0.
        """
        log_rate = math.log(self.rate)

        def bounds_at(point: FloatArray) -> Enclosure:
            """Enclose log δ' at each ε', as if ε' were exact; `outward` adds the effect of its rounding."""
            log_factor = self._log_factor(point)
            is_positive = np.isfinite(log_factor)
            finite_factor = np.where(is_positive, log_factor, 0.0)
            # Where δ' is 0, δ is evaluated at a placeholder, ε = 0, because arrays have a value everywhere.
            bounds = self.base.log_delta(np.where(is_positive, point - finite_factor, 0.0))
            base_lower = np.where(is_positive, bounds.lower, -np.inf)
            base_upper = np.where(is_positive, bounds.upper, -np.inf)
            # Widen both bounds by the rounding errors of the factor q (1 − u) and of the argument.
            log_weight = log_factor + log_rate
            slack = NUDGE * (1.0 + abs(log_rate) + np.abs(finite_factor))
            return Enclosure(base_lower + log_weight - slack, base_upper + log_weight + slack)

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a loss above ε' under Q and under (1 − q) Q + q P.

        Args:
            epsilon: array of ε' ≥ 0, in nats.
        """
        point, is_positive = self._base_point(epsilon)
        return self._mix(self.base.log_tails(point), is_positive)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return log tails of two output distributions of the mechanism, for lower bounds on δ of compositions.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            The log tails; None if those of `log_tails` are attained.
        """
        point, is_positive = self._base_point(epsilon)
        tails = self.base.attained_log_tails(point)
        return None if tails is None else self._mix(tails, is_positive)

    def _base_point(self, epsilon: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Convert each ε' of the subsampled mechanism to the ε of the mechanism without subsampling.

        It is ε = ε' − log(1 − u) with u = (1 − q)(e^ε' − 1)/q, for an inclusion probability q.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            The values of ε, which are 0 for u ≥ 1, and a mask of the points with u < 1.
        """
        point = np.asarray(epsilon, dtype=np.float64)
        log_factor = self._log_factor(point)
        is_positive = np.isfinite(log_factor)
        finite_factor = np.where(is_positive, log_factor, 0.0)
        return np.where(is_positive, point - finite_factor, 0.0), is_positive

    def _mix(self, tails: Tails, is_positive: BoolArray) -> Tails:
        """Return the log probabilities of an event under Q and under the mixture (1 − q) Q + q P.

        Args:
            tails: log probabilities of the event under Q and under P, in this order.
            is_positive: True where the probabilities are positive. At other points −∞ is returned.
        """
        log_q, log_p = tails
        log_excluded = log_q + log_complement(self.rate, self.absent)
        log_included = log_p + math.log(self.rate)
        mixed = np.logaddexp(log_excluded, log_included)
        return Tails(np.where(is_positive, log_q, -np.inf), np.where(is_positive, mixed, -np.inf))


def subsample_at(base: Pair, rate: float) -> Pair:
    """Return the dominating pair of a Poisson-subsampled mechanism, for an inclusion probability that is a double.

    Args:
        base: dominating pair P against Q of the mechanism on the batch, with the record (P) and without it (Q).
        rate: inclusion probability q, in (0, 1].
    """
    dominating, _ = subsample_pair(base, Share.at(rate))
    return dominating


def subsample_pair(base: Pair, share: Share) -> tuple[Pair, Pair]:
    """Return the dominating pair of a Poisson-subsampled mechanism, and a pair that the mechanism attains.

    The pair is (1 − q) Q + q P against Q (Zhu, Dong and Wang 2022, Theorem 11). For a Gaussian base, q is rounded if it
    is not a double. The dominating pair uses the next double above q, and the attained pair the next one below. This is
    valid because the pair at a smaller q is a post-processing of the pair at a larger q.

    Args:
        base: dominating pair P against Q of the mechanism on the batch, with the record (P) and without it (Q).
        share: inclusion probability q.

    Returns:
        A pair for upper bounds on δ, and a pair for lower bounds. They are one object unless q was rounded.
    """
    if share.rate == 1.0:
        return base, base
    forward = AmplifiedProfile(base.forward, share.rate, share.absent)
    backward = DilutedProfile(base.backward, share.rate, share.absent)
    # Gaussian bases also have the exact distribution of their privacy loss, with q rounded to either side.
    law = base.law
    if isinstance(law, GaussianMixtureLaw) and law.direction == "remove":
        smaller, larger = mixtures_around(law, share.around)
        upper = Pair(forward, backward, law=larger)
        attained = upper if smaller == larger else Pair(forward, backward, law=smaller)
        return upper, attained
    if base.gaussian_dp_mu is not None:
        return pairs_around_rate(forward, backward, share, base.gaussian_dp_mu, "remove")
    # Other bases pass on a finite outcome space, an (ε, δ) guarantee, and a search for ε at δ.
    atoms = None if base.atoms is None else base.atoms.mix(share.rate, share.absent)
    _, rate_above = share.around
    plateau = amplify_plateau(base.plateau, Fraction(rate_above))
    profiles = (forward,) if base.symmetric else (forward, backward)
    search = SubsampledSearch(profiles, base, share.rate)
    pair = Pair(forward, backward, atoms=atoms, plateau=plateau, below=base, special_search=search)
    return pair, pair


def amplify_symmetrically(base: Pair, share: Share) -> Pair:
    """Return the symmetric pair of a subsampled mechanism, from a bound on both directions.

    Its profile in both directions is:

        δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)),

    with the inclusion probability q. For a Gaussian base q is rounded up to a double. The profile increases with q, so
    the result dominates in every composition (docs/engine-certificate.md, A8, Rounded rates).

    Args:
        base: a pair with the profile δ, which bounds both directions of the mechanism on the batch.
        share: inclusion probability q.
    """
    mu = base.gaussian_dp_mu
    if mu is not None:
        _, rate_above = share.around
        share = Share.at(rate_above)
    profile = AmplifiedProfile(base.forward, share.rate, share.absent)
    law = None if mu is None else DrawnGaussianLaw(share.rate, mu)
    search = SubsampledSearch((profile,), base, share.rate)
    return Pair(profile, profile, law=law, below=base, special_search=search)


def pairs_around_rate(
    forward: Profile, backward: Profile, share: Share, shift: float, direction: Direction
) -> tuple[Pair, Pair]:
    """Return two pairs of a subsampled Gaussian mechanism: with the rate rounded up, and rounded down.

    δ must increase with q, so that the pairs give upper and lower bounds. If q is a double, they are one object.

    Args:
        forward: privacy profile of the forward direction.
        backward: privacy profile of the backward direction.
        share: the inclusion probability q.
        shift: norm of one contribution, in standard deviations of the noise.
        direction: direction of the pairs, "remove" or "add".

    Returns:
        The pair for upper bounds on δ, and the pair for lower bounds.
    """
    below, above = share.around
    upper = Pair(forward, backward, law=SampledGaussianLaw(above, shift, direction))
    if below == above:
        return upper, upper
    return upper, Pair(forward, backward, law=SampledGaussianLaw(below, shift, direction))
