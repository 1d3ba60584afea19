"""Pairs of a contribution that counts a random number of times: weighted sums of the profiles of groups, and mixtures.

Both are described by a law of several components, from which their profiles are formed (docs/engine-certificate.md,
A10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.mixed_sums import blocks_of, log_sums, windows
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, log_normal_tail, log_theta
from epsilond.accountants.profiles.amplification import NUDGE, base_epsilon
from epsilond.accountants.profiles.gaussian import GaussianMixture, GaussianProfile, mixture_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import DrawnMixtureLaw, GaussianMixtureLaw
    from epsilond.accountants.numerics.special import FloatArray


class GroupProfiles(Protocol):
    """The base profiles of several groups at once. Every result has one row for each group."""

    @property
    def tail_accuracy(self) -> float:
        """Largest error of the tails of all groups."""

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on log δ_k at an array of points."""

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on log δ_k at an array of points."""

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of both distributions at an array of points."""

    def part(self, chosen: slice) -> GroupProfiles:
        """Return the profiles of some of the groups."""


@dataclass(frozen=True)
class GaussianGroups:
    """N(μ, 1) against N(0, 1) for several μ > 0, each known to four units of roundoff."""

    mus: tuple[float, ...]

    @cached_property
    def _column(self) -> FloatArray:
        return np.asarray(self.mus)[:, None]

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the tails of the profile with the largest μ."""
        return GaussianProfile(max(self.mus)).tail_accuracy

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on log δ_k, from log θ_ε of a smaller μ."""
        least = log_theta(epsilon, self._column * (1 - 4 * UNIT_ROUNDOFF))
        return Enclosure.around(least, LOG_ACCURACY).lower

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on log δ_k, from log θ_ε of a larger μ."""
        most = log_theta(epsilon, self._column * (1 + 4 * UNIT_ROUNDOFF))
        return Enclosure.around(most, LOG_ACCURACY).upper

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of Φ(μ/2 − ε/μ) and Φ(−μ/2 − ε/μ)."""
        middle = epsilon / self._column
        return Tails(log_normal_tail(middle - 0.5 * self._column), log_normal_tail(middle + 0.5 * self._column))

    def part(self, chosen: slice) -> GaussianGroups:
        """Return the profiles of some of the μ."""
        return GaussianGroups(self.mus[chosen])


@dataclass(frozen=True)
class SeparateGroups:
    """Profiles that are evaluated one after another."""

    profiles: tuple[Profile, ...]

    @property
    def tail_accuracy(self) -> float:
        """Largest error of the tails of all groups."""
        return max(profile.tail_accuracy for profile in self.profiles)

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return lower bounds on log δ_k, row by row."""
        return np.stack([profile.log_delta(epsilon).lower for profile in self.profiles])

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds on log δ_k, row by row."""
        return np.stack([profile.log_delta(epsilon).upper for profile in self.profiles])

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of both distributions, row by row."""
        tails = [profile.log_tails(epsilon) for profile in self.profiles]
        return Tails(np.stack([tail.log_p for tail in tails]), np.stack([tail.log_q for tail in tails]))

    def part(self, chosen: slice) -> SeparateGroups:
        """Return some of the profiles."""
        return SeparateGroups(self.profiles[chosen])


@dataclass(frozen=True)
class MultiplicityProfile(Profile):
    """Σ_k w_k δ_k(log(1 + (e^ε' − 1)/η)), for a contribution that is drawn k times with weight w_k.

    η is Σ w_k, and each δ_k is a base profile. `accuracy` bounds the error of each log weight. The weights beyond the
    list sum to at most e^`log_infinite_mass`. They are charged as an infinite loss.
    """

    groups: GroupProfiles
    log_weights: tuple[float, ...]
    rate: float
    accuracy: float
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Largest error of the bases' tails, with a few roundings."""
        return 2 * self.groups.tail_accuracy + 2 * NUDGE + self.accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the weighted sum. The weights beyond the list are charged to the upper bound only.

        Roundings of the change of variable are charged by an outward shift of its argument, because profiles decrease.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        flat, slack = points.ravel(), 4 * NUDGE + self.accuracy
        lower = self._weigh(self.groups.lower_log_delta(base_epsilon(flat * (1 + NUDGE), self.rate))) - slack
        upper = self._weigh(self.groups.upper_log_delta(base_epsilon(flat * (1 - NUDGE), self.rate)))
        upper = np.minimum(np.logaddexp(upper, self.log_infinite_mass) + slack, 0.0)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of P' = Σ w_k (P_k + (1 − η)/η Q_k) and Q' = Σ w_k Q_k/η.

        P' includes the weights beyond the list.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        weighted_p, weighted_q = (
            tail.reshape(points.shape) for tail in self._weighted_tails(base_epsilon(points.ravel(), self.rate))
        )
        absent = math.log1p(-self.rate) - math.log(self.rate) if self.rate < 1.0 else -math.inf
        log_p = np.logaddexp(np.logaddexp(weighted_p, weighted_q + absent), self.log_infinite_mass)
        return Tails(np.asarray(log_p), weighted_q - math.log(self.rate))

    def _weighted_tails(self, base: FloatArray) -> Tails:
        """Return log Σ w_k P_k(L > ε) and log Σ w_k Q_k(L > ε), without the groups that are negligible at an ε.

        Args:
            base: values of ε for the base profiles.
        """
        blocks = blocks_of(self._column.size, base)
        if blocks is None:
            return Tails(*map(self._weigh, self.groups.log_tails(base)))
        least, largest = (self.groups.log_tails(at) for at in (blocks.least, blocks.largest))
        at_ends = ((here + self._column, there + self._column) for here, there in zip(least, largest, strict=True))
        mixed = Tails(np.empty(base.size), np.empty(base.size))
        for points, terms in windows(blocks, *at_ends):
            tails = self.groups.part(terms).log_tails(base[points])
            for target, logs in zip(mixed, tails, strict=True):
                target[points] = log_sums(logs + self._column[terms])
        return mixed

    @cached_property
    def _column(self) -> FloatArray:
        return np.asarray(self.log_weights)[:, None]

    def _weigh(self, logs: FloatArray) -> FloatArray:
        """Return log Σ w_k e^{logs_k}."""
        return log_sums(logs + self._column)


def gaussian_mixture_pair(law: GaussianMixtureLaw) -> Pair:
    """Return the pair of one step with a random sensitivity, in the direction of the law."""
    log_weights = tuple(math.log(weight) for _, weight in law.components)
    means = tuple(sensitivity for sensitivity, _ in law.components)
    second = GaussianMixture((0.0,), (0.0,))
    if law.direction == "replace":
        second = GaussianMixture(log_weights, tuple(-mean for mean in means))
    pair = mixture_pair(GaussianMixture(log_weights, means), second)
    return Pair(pair.backward, pair.forward, law=law) if law.direction == "add" else replace(pair, law=law)


def drawn_mixture_pair(law: DrawnMixtureLaw) -> Pair:
    """Return the symmetric pair of one step on a batch without replacement, with a random positive shift."""
    log_weights = tuple(math.log(weight) + math.log(law.rate) for _, weight in law.components)
    groups = GaussianGroups(tuple(shift for shift, _ in law.components))
    profile = MultiplicityProfile(groups, log_weights, law.rate, 16 * UNIT_ROUNDOFF, law.log_rest)
    return Pair(profile, profile, law=law)
