"""Pairs of a mechanism on a contribution that counts a random number of times.

Group k is the mechanism on k copies of the contribution. The profile of a pair is either a weighted sum of the profiles
of the groups, or that of a mixture (docs/engine-certificate.md, A10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.mixture_laws import mixtures_around
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.mixed_sums import blocks_of, log_sums, windows
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, log_normal_tail, log_theta
from epsilond.accountants.profiles.attained_tails import attained_or_own_tails
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.sampling.inclusion import NUDGE, base_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import DrawnMixtureLaw, GaussianMixtureLaw
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.sampling.inclusion import Share


class GroupProfiles(Protocol):
    """Interface to the privacy profiles δ(ε) of a mechanism if a record contributes k times, for several k at once.

    Each k is called a group. For example, group k is the case that a record is drawn k times into a batch. The argument
    of a method is a flat array of ε in nats. The result has one row for each group, and one column for each ε.
    """

    @property
    def tail_accuracy(self) -> float:
        """Largest bound on the error of the log tails of all groups, per unit of 1 + |log tail|."""

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on the log δ of each group at an array of ε ≥ 0."""

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on the log δ of each group at an array of ε ≥ 0."""

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above ε under both distributions of each group."""

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails for distributions that the mechanism has on some neighbours, for lower bounds on δ."""

    def part(self, chosen: slice) -> GroupProfiles:
        """Return the profiles of consecutive groups."""


@dataclass(frozen=True)
class GaussianGroups:
    """The privacy profiles of a Gaussian mechanism for several shifts, evaluated together.

    Profile k is that of N(μ_k, 1) against N(0, 1), for example that of k copies of a contribution. Every array that a
    method returns has one row for each shift.

    Attributes:
        mus: shifts μ_k > 0 in standard deviations of the noise, known to four units of roundoff.
    """

    mus: tuple[float, ...]

    @cached_property
    def _column(self) -> FloatArray:
        """The shifts as an array of shape (number of shifts, 1)."""
        return np.asarray(self.mus)[:, None]

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|, which grows with the shift."""
        return GaussianProfile(max(self.mus)).tail_accuracy

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on log δ of each group at ε ≥ 0, from shifts that are smaller by their error."""
        at_smaller_shift = log_theta(epsilon, self._column * (1 - 4 * UNIT_ROUNDOFF))
        return Enclosure.around(at_smaller_shift, LOG_ACCURACY).lower

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on log δ of each group at ε ≥ 0, from shifts that are larger by their error."""
        at_larger_shift = log_theta(epsilon, self._column * (1 + 4 * UNIT_ROUNDOFF))
        return Enclosure.around(at_larger_shift, LOG_ACCURACY).upper

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of Φ(μ_k/2 − ε/μ_k) and Φ(−μ_k/2 − ε/μ_k), the tails of the privacy loss of each group."""
        middle = epsilon / self._column
        log_p = log_normal_tail(middle - 0.5 * self._column)
        log_q = log_normal_tail(middle + 0.5 * self._column)
        return Tails(log_p, log_q)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the tails of `log_tails`, which the mechanism attains."""
        return self.log_tails(epsilon)

    def part(self, chosen: slice) -> GaussianGroups:
        """Return the profiles of consecutive shifts."""
        return GaussianGroups(self.mus[chosen])


@dataclass(frozen=True)
class SeparateGroups:
    """The privacy profiles of a mechanism on several numbers of copies of a contribution, evaluated one after another.

    Every array that a method returns has one row for each profile.

    Attributes:
        profiles: the profiles, in the order of the numbers of copies.
    """

    profiles: tuple[Profile, ...]

    @property
    def tail_accuracy(self) -> float:
        """Largest bound on the error of the log tails of all profiles, per unit of 1 + |log tail|."""
        return max(profile.tail_accuracy for profile in self.profiles)

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on log δ of each profile at an array of ε ≥ 0."""
        return np.stack([profile.log_delta(epsilon).lower for profile in self.profiles])

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on log δ of each profile at an array of ε ≥ 0."""
        return np.stack([profile.log_delta(epsilon).upper for profile in self.profiles])

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a privacy loss above ε under both distributions of each pair."""
        return _stack([profile.log_tails(epsilon) for profile in self.profiles])

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of pairs that the mechanism attains, one for each profile, for lower bounds on δ."""
        return _stack([attained_or_own_tails(profile, epsilon) for profile in self.profiles])

    def part(self, chosen: slice) -> SeparateGroups:
        """Return consecutive profiles."""
        return SeparateGroups(self.profiles[chosen])


def _stack(tails: Sequence[Tails]) -> Tails:
    """Return arrays of log tails as one array for each distribution, with a row for each group."""
    log_p = np.stack([group_tails.log_p for group_tails in tails])
    log_q = np.stack([group_tails.log_q for group_tails in tails])
    return Tails(log_p, log_q)


@dataclass(frozen=True)
class MultiplicityProfile(Profile):
    """The privacy profile of a contribution that is drawn k times with probability w_k.

    With the profile δ_k of the mechanism on k copies, and the probability η that the contribution is drawn, it is:

        δ(ε') = Σ_{k ≥ 1} w_k δ_k(ε),   ε = log(1 + (e^ε' − 1)/η),   η = Σ_{k ≥ 1} w_k.

    Numbers k beyond those listed count as an infinite privacy loss.

    Attributes:
        groups: the profiles δ_k.
        log_weights: log w_k, natural logarithms, in the order of the groups.
        rate: probability η, in (0, 1].
        accuracy: bound on the error of each log weight.
        log_infinite_mass: log of a bound on the sum of the probabilities w_k beyond the list; −∞ if the list is
            complete.
    """

    groups: GroupProfiles
    log_weights: tuple[float, ...]
    rate: float
    accuracy: float
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails, per unit of 1 + |log tail|: of the groups, weights and roundings."""
        return 2 * self.groups.tail_accuracy + 2 * NUDGE + self.accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ at each ε' for a contribution that is drawn k times with probability w_k.

        δ(ε') = Σ_k w_k δ_k(log(1 + (e^ε' − 1)/η)) over k ≥ 1, with η = Σ w_k and the profile δ_k of k copies. The
        probability of numbers k beyond `log_weights` is added to the upper bound only. δ decreases with ε. A larger ε'
        for the lower bound and a smaller one for the upper bound therefore cover the rounding of ε.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, one for each ε'.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        flat_points = points.ravel()
        # Roundings of the sum, and the error of the weights.
        slack = 4 * NUDGE + self.accuracy

        largest_epsilon = base_epsilon(flat_points * (1 + NUDGE), self.rate)
        lower = self._weigh(self.groups.lower_log_delta(largest_epsilon)) - slack

        least_epsilon = base_epsilon(flat_points * (1 - NUDGE), self.rate)
        upper = self._weigh(self.groups.upper_log_delta(least_epsilon))
        upper = np.minimum(np.logaddexp(upper, self.log_infinite_mass) + slack, 0.0)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the privacy loss above ε' under both distributions.

        A contribution is drawn k times with probability w_k, and η = Σ w_k over k ≥ 1. The tails are:

            Σ w_k (P_k + (1 − η)/η Q_k) and Σ w_k Q_k/η.

        P_k and Q_k are the tails at ε = log(1 + (e^ε' − 1)/η) if it is drawn k times. The first sum includes the
        probability of numbers k beyond `log_weights`.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε'.
        """
        log_p, log_q = self._mix(epsilon, lambda groups, base: groups.log_tails(base))
        return Tails(np.asarray(np.logaddexp(log_p, self.log_infinite_mass)), log_q)

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return log tails of a pair that the mechanism attains, for lower bounds on δ of compositions.

        A pair is attained if some data give its two distributions. The tails are sums like those of `log_tails`,
        without numbers k beyond `log_weights`.

        Args:
            epsilon: array of ε' ≥ 0, in nats.

        Returns:
            Two natural logarithms for each ε'.
        """
        return self._mix(epsilon, lambda groups, base: groups.attained_log_tails(base))

    def _mix(self, epsilon: FloatArray, tails_of: Callable[[GroupProfiles, FloatArray], Tails]) -> Tails:
        """Return the log tails of the privacy loss at ε' as weighted sums over k, how often a contribution is drawn.

        The sums are Σ w_k (P_k + (1 − η)/η Q_k) and Σ w_k Q_k/η, with the probabilities w_k and the sum η of all w_k.
        P_k and Q_k are the tails for k draws at ε = log(1 + (e^ε' − 1)/η) (`base_epsilon`).

        Args:
            epsilon: array of ε', in nats.
            tails_of: function that returns the log tails of groups at values of ε, or their attained log tails.

        Returns:
            The logarithms of both sums, one entry for each ε'.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        weighted = self._weighted_tails(base_epsilon(points.ravel(), self.rate), tails_of)
        weighted_p = weighted.log_p.reshape(points.shape)
        weighted_q = weighted.log_q.reshape(points.shape)

        # log((1 − η)/η), the odds of a batch without the contribution.
        log_absent_odds = math.log1p(-self.rate) - math.log(self.rate) if self.rate < 1.0 else -math.inf
        log_p = np.logaddexp(weighted_p, weighted_q + log_absent_odds)
        return Tails(np.asarray(log_p), weighted_q - math.log(self.rate))

    def _weighted_tails(self, base: FloatArray, tails_of: Callable[[GroupProfiles, FloatArray], Tails]) -> Tails:
        """Return the log tails of the privacy loss L as weighted sums over k, how often a contribution is drawn.

        They are log Σ w_k P_k(L > ε) and log Σ w_k Q_k(L > ε), with the probability w_k of k draws, and the two
        distributions P_k and Q_k of the mechanism if the contribution is drawn k times (a group). Values of ε are
        taken in blocks. In each block only the groups are evaluated that are not negligible there
        (`mixed_sums.windows`).

        Args:
            base: values of ε, a flat array, in nats.
            tails_of: function that returns the log tails of groups at values of ε, or their attained log tails.

        Returns:
            The two logarithms, one for each ε.
        """
        log_weights = self._column
        blocks = blocks_of(log_weights.size, base)
        # A small problem is not divided into blocks.
        if blocks is None:
            tails = tails_of(self.groups, base)
            return Tails(self._weigh(tails.log_p), self._weigh(tails.log_q))

        # The terms at both ends of each block decide which groups matter there.
        at_least = tails_of(self.groups, blocks.least)
        at_largest = tails_of(self.groups, blocks.largest)
        terms_of_p = (at_least.log_p + log_weights, at_largest.log_p + log_weights)
        terms_of_q = (at_least.log_q + log_weights, at_largest.log_q + log_weights)

        log_p, log_q = np.empty(base.size), np.empty(base.size)
        for points, chosen in windows(blocks, terms_of_p, terms_of_q):
            tails = tails_of(self.groups.part(chosen), base[points])
            log_p[points] = log_sums(tails.log_p + log_weights[chosen])
            log_q[points] = log_sums(tails.log_q + log_weights[chosen])
        return Tails(log_p, log_q)

    @cached_property
    def _column(self) -> FloatArray:
        """log w_k as a column, with a row for each group."""
        return np.asarray(self.log_weights)[:, None]

    def _weigh(self, log_values: FloatArray) -> FloatArray:
        """Return the logarithm of the weighted sum Σ w_k v_k over the groups.

        Args:
            log_values: log v_k, with one row for each group.
        """
        return log_sums(log_values + self._column)


def gaussian_mixture_pair(law: GaussianMixtureLaw) -> Pair:
    """Return the output distributions of a Gaussian mechanism on a contribution with a random sensitivity.

    They are mixtures of Gaussians. In direction "remove" the first distribution has the contribution, in "add" the
    second. In direction "replace" both have it, the second with the opposite sensitivities.

    Args:
        law: sensitivities in standard deviations with their probabilities, and the direction.

    Returns:
        The pair of the two mixtures, with `law` as the distribution of its privacy loss.
    """
    log_weights = tuple(math.log(weight) for _, weight in law.components)
    means = tuple(sensitivity for sensitivity, _ in law.components)
    first = LineMixture(log_weights, means)
    second = LineMixture((0.0,), (0.0,))
    if law.direction == "replace":
        second = LineMixture(log_weights, tuple(-mean for mean in means))

    pair = mixture_pair(first, second)
    if law.direction == "add":
        return Pair(pair.backward, pair.forward, law=law)
    return replace(pair, law=law)


def sampled_mixture_pairs(law: GaussianMixtureLaw, share: Share) -> tuple[Pair, Pair]:
    """Return output distributions for a contribution of random size that is in a batch with some probability.

    The contribution is zero if it is not in the batch, so its size is a mixture with an additional zero.

    Args:
        law: distribution of the norm of the contribution itself, which may have any direction.
        share: probability that the batch has the contribution.

    Returns:
        A pair for upper bounds on δ, and a pair for lower bounds; one object if no number is rounded.
    """
    # The probability may lie between two doubles: the smaller gives a lower bound on δ, the larger an upper one.
    smaller, larger = mixtures_around(law, share.around)
    upper = gaussian_mixture_pair(larger)
    lower = upper if smaller == larger else gaussian_mixture_pair(smaller)
    return upper, lower


def drawn_mixture_pair(law: DrawnMixtureLaw) -> Pair:
    """Return the pair of one Gaussian mechanism on a batch without replacement, with a random positive shift.

    The neighbours differ by one replaced record, and the adversary sees the shift.

    Args:
        law: shifts in standard deviations of the noise with their probabilities, and the inclusion probability.

    Returns:
        The pair of distributions, with the same δ in both directions.
    """
    log_weights = tuple(math.log(weight) + math.log(law.rate) for _, weight in law.components)
    groups = GaussianGroups(tuple(shift for shift, _ in law.components))
    # Error of a sum of two logarithms.
    accuracy_of_weights = 16 * UNIT_ROUNDOFF
    profile = MultiplicityProfile(groups, log_weights, law.rate, accuracy_of_weights, law.log_rest)
    return Pair(profile, profile, law=law)
