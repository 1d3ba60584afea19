"""Amplification of a profile by subsampling.

A batch contains a given record with probability q. With α = e^ε' and 1 + (α − 1)/q = e^ε, advanced joint convexity
(Balle, Barthe and Gaboardi 2018, Theorem 2) turns the base profile δ into δ'(ε') = q δ(ε). The tails follow by
differentiation, with positive terms only: Q'(L' > ε') = Q(L > ε) and P'(L' > ε') = q P(L > ε) + (1 − q) Q(L > ε).

Roundings of the change of variable are charged by an outward shift of its argument. This is valid because profiles
decrease.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Subsampled

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

NUDGE = 8 * UNIT_ROUNDOFF
"""Relative rounding of a change of variable."""
_ROUNDED_END = 32 * UNIT_ROUNDOFF
"""Relative rounding of a largest loss."""


@dataclass(frozen=True)
class Share:
    """The inclusion probability q of a record, and 1 − q, each rounded separately.

    If q is a quotient of counts near 1, 1 − q from the double nearest to q has lost its digits.

    Attributes:
        rate: q, 0 < q ≤ 1, to half a unit in the last place.
        absent: 1 − q, to half a unit in the last place.
        exact: True if `rate` is exactly q.
    """

    rate: float
    absent: float
    exact: bool = True

    @classmethod
    def of(cls, spec: Subsampled) -> Share:
        """Return the inclusion probability of a Poisson batch, or of a batch without replacement."""
        if spec.rate is not None:
            return cls.at(spec.rate)
        batch_size, population = spec.batch_size or 1, spec.population or 1
        share = Fraction(batch_size, population)
        return cls(float(share), float(1 - share), Fraction(float(share)) == share)

    @classmethod
    def at(cls, rate: float) -> Share:
        """Return the share with q exactly this double."""
        return cls(rate, 1.0 - rate)

    @property
    def around(self) -> tuple[float, float]:
        """A double at or below q, and a double at or above q. Both are q if q is a double."""
        if self.exact:
            return self.rate, self.rate
        return math.nextafter(self.rate, 0.0), math.nextafter(self.rate, 1.0)


def base_epsilon(epsilon: FloatArray, rate: float) -> FloatArray:
    """Return the ε of the base mechanism at the ε' of the subsampled one, ε = log(1 + (e^ε' − 1)/q).

    The result is accurate to a few units in the last place for every ε' ≥ 0.

    Args:
        epsilon: values of ε', in nats.
        rate: inclusion probability q.
    """
    limited = np.minimum(epsilon, 30.0)
    with np.errstate(over="ignore", divide="ignore"):
        quotient = np.expm1(limited) / rate
        log_quotient = np.log(np.expm1(limited)) - math.log(rate)
        for_small = np.where(np.isinf(quotient), log_quotient, np.log1p(quotient))
    # e^ε'/q is taken out of the logarithm.
    for_large = epsilon - math.log(rate) + np.log1p((rate - 1.0) * np.exp(-np.maximum(epsilon, 30.0)))
    return np.asarray(np.where(epsilon < 30.0, for_small, for_large))


def outward(bounds_at: Callable[[FloatArray], Enclosure], epsilon: FloatArray) -> Enclosure:
    """Enclose a profile δ(ε) at an ε with rounding errors, as of a result of `base_epsilon`.

    The upper bound is evaluated at a smaller argument and the lower bound at a larger one, by the relative error
    `NUDGE`. This is valid because profiles decrease.

    Args:
        bounds_at: function from ε to bounds on the profile that do not include errors of the argument.
        epsilon: array of ε ≥ 0, in nats.

    Returns:
        Lower and upper bounds on log δ, one for each ε.
    """
    return Enclosure(bounds_at(epsilon * (1 + NUDGE)).lower, bounds_at(epsilon * (1 - NUDGE)).upper)


def log_complement(rate: float, absent: float | None = None) -> float:
    """Return log(1 − q) of an inclusion probability q; −∞ for q = 1.

    Args:
        rate: q.
        absent: 1 − q, if it is known more accurately than from the double nearest to q.
    """
    if absent is None or rate < 0.5:
        return math.log1p(-rate) if rate < 1.0 else -math.inf
    return math.log(absent) if absent > 0 else -math.inf


@dataclass(frozen=True)
class AmplifiedProfile(Profile):
    """The profile of a Poisson-subsampled pair: (1 − q) Q + q P against Q, the distribution without the record.

    It is q δ(ε) at ε = log(1 + (e^ε' − 1)/q), with the profile δ of P against Q (Balle, Barthe and Gaboardi 2018,
    Theorem 2).

    Attributes:
        base: δ.
        rate: inclusion probability q.
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
        """log(1 − q + q e^s), rounded up, for the largest loss s of the base; math.inf if none is known."""
        if self.base.supremum == math.inf:
            return math.inf
        return amplified_epsilon(self.base.supremum, self.rate) * (1.0 + _ROUNDED_END)

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the base's tails, with a few roundings of the argument."""
        return 2 * self.base.tail_accuracy + NUDGE

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log(q δ(ε)) of a subsampled mechanism at each ε', with δ of the mechanism without subsampling.

        q is the inclusion probability, and ε = log(1 + (e^ε' − 1)/q).

        Args:
            epsilon: array of ε' ≥ 0, in nats.
        """
        log_rate = math.log(self.rate)
        slack = NUDGE * (1.0 + abs(log_rate))

        def bounds_at(point: FloatArray) -> Enclosure:
            lower, upper = self.base.log_delta(base_epsilon(point, self.rate))
            return Enclosure(lower + log_rate - slack, upper + log_rate + slack)

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of q P + (1 − q) Q and of Q."""
        return self._mix(self.base.log_tails(base_epsilon(np.asarray(epsilon, dtype=np.float64), self.rate)))

    def delta_at_zero_by_tails(self) -> float:
        """Return q times δ(0) of the pair to which the tails of the base belong, without error bounds."""
        return self.rate * self.base.delta_at_zero_by_tails()

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the same of attained tails of the base; None if its tails are attained."""
        tails = self.base.attained_log_tails(base_epsilon(np.asarray(epsilon, dtype=np.float64), self.rate))
        return None if tails is None else self._mix(tails)

    def _mix(self, tails: Tails) -> Tails:
        """Return the log tails of q P + (1 − q) Q and of Q, from those of P and of Q."""
        log_p, log_q = tails
        mixed = np.logaddexp(log_p + math.log(self.rate), log_q + log_complement(self.rate, self.absent))
        return Tails(np.asarray(mixed), log_q)

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Return the tests of the base with the same false positive rates, because both test the same events.

        The list is empty if the base has no tests.
        """
        tests = zip(self.base.near_tests(sizes), sizes, strict=False)
        return [None if test is None else subsample_test(test, size, self.rate) for test, size in tests]


@dataclass(frozen=True)
class DilutedProfile(Profile):
    """The profile of a Poisson-subsampled pair in the other direction: Q against (1 − q) Q + q P.

    With u = (1 − q)(e^ε' − 1)/q < 1 it is q (1 − u) δ(ε' − log(1 − u)), with the profile δ of Q against P. It is zero
    for u ≥ 1. The loss is below −log(1 − q).

    Attributes:
        base: δ.
        rate: inclusion probability q.
        absent: 1 − q, if it is known more accurately than from `rate`.
    """

    base: Profile
    rate: float
    absent: float | None = None

    log_infinite_mass: float = -math.inf

    @property
    def supremum(self) -> float:
        """Largest loss of Q against (1 − q) Q + q P, rounded up, in nats.

        It is −log(1 − q + q e^{−s}) for the largest loss s of the pair without subsampling; −log(1 − q) if none is
        known.
        """
        decay = math.exp(-self.base.supremum)
        decay_less_one = decay - 1.0 if decay < 0.5 else math.expm1(-self.base.supremum)
        change = self.rate * decay_less_one  # the ratio is 1 + change
        if change > -0.5:
            return -math.log1p(change) * (1.0 + _ROUNDED_END)
        absent = 1.0 - self.rate if self.absent is None else self.absent
        least_ratio = absent + self.rate * decay
        return -math.log(least_ratio) * (1.0 + _ROUNDED_END) if least_ratio > 0.0 else math.inf

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the base's tails, with a few roundings of the argument."""
        return 2 * self.base.tail_accuracy + NUDGE

    def _log_factor(self, epsilon: FloatArray) -> FloatArray:
        """Return log(1 − u) with u = (1 − q)(e^ε' − 1)/q, and −inf for u ≥ 1."""
        absent = 1.0 - self.rate if self.absent is None else self.absent
        with np.errstate(over="ignore"):
            u = np.expm1(np.minimum(epsilon, 700.0)) * (absent / self.rate)
        log_factor = np.full(np.shape(u), -np.inf)
        return np.asarray(np.log1p(-np.minimum(u, 1.0), where=u < 1.0, out=log_factor))

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ' of Q against (1 − q) Q + q P at each ε', from δ of Q against P without subsampling.

        δ'(ε') = q (1 − u) δ(ε' − log(1 − u)) with 1 − u = (1 − (1 − q) e^ε')/q; it is 0 if this is not positive.
        """
        log_rate = math.log(self.rate)

        def bounds_at(point: FloatArray) -> Enclosure:
            # log(1 − u) in δ'(ε') = q (1 − u) δ(ε' − log(1 − u)); −∞ where δ' is 0.
            log_factor = self._log_factor(point)
            is_positive = np.isfinite(log_factor)
            finite_factor = np.where(is_positive, log_factor, 0.0)
            # Where δ' is 0, δ is evaluated at 0, and the result is replaced by −∞ below.
            bounds = self.base.log_delta(np.where(is_positive, point - finite_factor, 0.0))
            log_weight = log_factor + log_rate
            # Widen both bounds by the rounding errors of the factor and of the argument.
            slack = NUDGE * (1.0 + abs(log_rate) + np.abs(finite_factor))
            return Enclosure(
                np.where(is_positive, bounds.lower, -np.inf) + log_weight - slack,
                np.where(is_positive, bounds.upper, -np.inf) + log_weight + slack,
            )

        return outward(bounds_at, np.asarray(epsilon, dtype=np.float64))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the base's Q, and of (1 − q) Q + q P."""
        point, is_positive = self._base_point(epsilon)
        return self._mix(self.base.log_tails(point), is_positive)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the same of attained tails of the base; None if its tails are attained."""
        point, is_positive = self._base_point(epsilon)
        tails = self.base.attained_log_tails(point)
        return None if tails is None else self._mix(tails, is_positive)

    def _base_point(self, epsilon: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the base's ε, which is ε' − log(1 − u) and 0 for u ≥ 1, and a mask of u < 1 (`_log_factor`)."""
        point = np.asarray(epsilon, dtype=np.float64)
        log_factor = self._log_factor(point)
        is_positive = np.isfinite(log_factor)
        finite_factor = np.where(is_positive, log_factor, 0.0)
        return np.where(is_positive, point - finite_factor, 0.0), is_positive

    def _mix(self, tails: Tails, is_positive: BoolArray) -> Tails:
        """Return the log tails of Q and of (1 − q) Q + q P, from those of Q and of P.

        Args:
            tails: log tails of Q and of P.
            is_positive: where u < 1. The other tails are zero.
        """
        log_q, log_p = tails
        mixed = np.logaddexp(log_q + log_complement(self.rate, self.absent), log_p + math.log(self.rate))
        return Tails(np.where(is_positive, log_q, -np.inf), np.where(is_positive, mixed, -np.inf))


def subsample_at(base: Pair, rate: float) -> Pair:
    """Return the dominating pair of Poisson subsampling with an inclusion probability that is exactly a double.

    Args:
        base: the pair P against Q of the mechanism on a batch that includes the record.
        rate: inclusion probability q, in (0, 1].
    """
    dominating, _ = subsample_pair(base, Share.at(rate))
    return dominating


def subsample_pair(base: Pair, share: Share) -> tuple[Pair, Pair]:
    """Return the dominating pair of Poisson subsampling, and a pair that the mechanism attains.

    The pair is (1 − q) Q + q P against Q (Zhu, Dong and Wang 2022, Theorem 11). If q is not a double and the base is
    Gaussian, the dominating pair uses the next double above q, and the attained pair the next one below. This is valid
    because the pair at a smaller q is a post-processing of the pair at a larger q.

    Args:
        base: the pair P against Q of the mechanism on a batch that includes the record.
        share: inclusion probability q.

    Returns:
        A pair for upper bounds on δ, and a pair for lower bounds. They are one object if q is a double.
    """
    if share.rate == 1.0:
        return base, base
    forward = AmplifiedProfile(base.forward, share.rate, share.absent)
    backward = DilutedProfile(base.backward, share.rate, share.absent)
    law = base.law
    if isinstance(law, GaussianMixtureLaw) and law.direction == "remove":
        smaller, larger = mixtures_around(law, share.around)
        upper = Pair(forward, backward, law=larger)
        attained = upper if smaller == larger else Pair(forward, backward, law=smaller)
        return upper, attained
    if base.gaussian_dp_mu is not None:
        return pairs_around_rate(forward, backward, share, base.gaussian_dp_mu, "remove")
    atoms = None if base.atoms is None else base.atoms.mix(share.rate, share.absent)
    plateau = amplify_plateau(base.plateau, Fraction(share.around[1]))
    profiles = (forward,) if base.symmetric else (forward, backward)
    search = SubsampledSearch(profiles, base, share.rate)
    pair = Pair(forward, backward, atoms=atoms, plateau=plateau, below=base, special_search=search)
    return pair, pair


def amplify_symmetrically(base: Pair, share: Share) -> Pair:
    """Return the symmetric pair with δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)) in both directions.

    Here q is the probability that a record is in the batch. For a Gaussian base the inclusion probability q is rounded
    up to a double. The profile increases with q, so the result dominates in every composition
    (docs/engine-certificate.md, A8, Rounded rates).

    Args:
        base: a pair that bounds both directions of the mechanism on the batch, with the profile δ.
        share: inclusion probability q.
    """
    mu = base.gaussian_dp_mu
    if mu is not None:
        share = Share.at(share.around[1])
    profile = AmplifiedProfile(base.forward, share.rate, share.absent)
    law = None if mu is None else DrawnGaussianLaw(share.rate, mu)
    search = SubsampledSearch((profile,), base, share.rate)
    return Pair(profile, profile, law=law, below=base, special_search=search)


def pairs_around_rate(
    forward: Profile, backward: Profile, share: Share, shift: float, direction: Direction
) -> tuple[Pair, Pair]:
    """Return two pairs of a subsampled Gaussian: with the rate q rounded up to a double, and with q rounded down.

    The δ of the pair must increase with q, so that the pairs give upper and lower bounds. If q is a double, they are
    one object.

    Args:
        forward: profile of the forward direction.
        backward: profile of the backward direction.
        share: the inclusion probability q.
        shift: norm of one contribution, in standard deviations of the noise.
        direction: direction of the pairs.
    """
    below, above = share.around
    upper = Pair(forward, backward, law=SampledGaussianLaw(above, shift, direction))
    if below == above:
        return upper, upper
    return upper, Pair(forward, backward, law=SampledGaussianLaw(below, shift, direction))
