"""Sampling with replacement: a record may be drawn several times, and then moves the release several times as far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.numerics.mixed_sums import blocks_of, log_sums, windows
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, log_normal_tail, log_theta
from epsilond.accountants.profiles.amplification import NUDGE, base_epsilon
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.profiles.laplace import LaplaceProfile
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Spec
from epsilond.accountants.specs.primitives import NoisyIntegers, NoisySum
from epsilond.accountants.structure import NO_ORDER, SECRET_DRAW
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import (
    MOST_GROUPS,
    drawn_several_times,
    noise_of_contribution,
)
from epsilond.accountants.theorems.sampling.multiplicities import MOST_DRAWS, NEGLIGIBLE_LOG_WEIGHT, multiplicities
from epsilond.accountants.theorems.sampling.subsampling import (
    amplified,
    for_relation,
    no_replacement_guarantee,
    not_drawn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Spec, Subsampled

WITH_REPLACEMENT = Theorem(
    id="balle-barthe-gaboardi-2018.10",
    title="Amplification by sampling with replacement",
    statement=(
        "Replacing one record: δ'(ε') = Σ_k Bin(K, 1/n)(k) δ_k(log(1 + (e^ε' − 1)/η)), η = 1 − (1 − 1/n)^K, with "
        "δ_k the base profile for a group of k; composed as the symmetrised pair"
    ),
    source=Source("balle2018privacy", "Theorem 10"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)


class GroupProfiles(Protocol):
    """The base profiles of several groups at once: one row for each group in every answer."""

    @property
    def tail_accuracy(self) -> float:
        """The worst of them all."""

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Lower ends of log δ_k at a line of points."""

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Upper ends of log δ_k at a line of points."""

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Log tails of both laws at a line of points."""

    def part(self, chosen: slice) -> GroupProfiles:
        """Some of the groups."""


@dataclass(frozen=True)
class GaussianGroups:
    """N(μ, 1) against N(0, 1) for several μ > 0, each known to four units of roundoff."""

    mus: tuple[float, ...]

    @cached_property
    def _column(self) -> FloatArray:
        return np.asarray(self.mus)[:, None]

    @property
    def tail_accuracy(self) -> float:
        """As of one profile with the largest μ."""
        return GaussianProfile(max(self.mus)).tail_accuracy

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log θ_ε, of a smaller μ."""
        least = log_theta(epsilon, self._column * (1 - 4 * UNIT_ROUNDOFF))
        return Enclosure.around(least, LOG_ACCURACY).lower

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log θ_ε, of a larger μ."""
        most = log_theta(epsilon, self._column * (1 + 4 * UNIT_ROUNDOFF))
        return Enclosure.around(most, LOG_ACCURACY).upper

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Φ(μ/2 − ε/μ) and Φ(−μ/2 − ε/μ)."""
        middle = epsilon / self._column
        return Tails(log_normal_tail(middle - 0.5 * self._column), log_normal_tail(middle + 0.5 * self._column))

    def part(self, chosen: slice) -> GaussianGroups:
        """Of some of the μ."""
        return GaussianGroups(self.mus[chosen])


@dataclass(frozen=True)
class SeparateGroups:
    """Profiles that are asked one after the other."""

    profiles: tuple[Profile, ...]

    @property
    def tail_accuracy(self) -> float:
        """The worst of them all."""
        return max(profile.tail_accuracy for profile in self.profiles)

    def lower_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Row by row."""
        return np.stack([profile.log_delta(epsilon).lower for profile in self.profiles])

    def upper_log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Row by row."""
        return np.stack([profile.log_delta(epsilon).upper for profile in self.profiles])

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Row by row."""
        tails = [profile.log_tails(epsilon) for profile in self.profiles]
        return Tails(np.stack([tail.log_p for tail in tails]), np.stack([tail.log_q for tail in tails]))

    def part(self, chosen: slice) -> SeparateGroups:
        """Some of the profiles."""
        return SeparateGroups(self.profiles[chosen])


@dataclass(frozen=True)
class MultiplicityProfile(Profile):
    """Σ_k w_k δ_k(log(1 + (e^ε' − 1)/η)): drawn k times with weight w_k, η = Σ w_k, each δ_k a base profile.

    `accuracy` bounds the error of each log weight; the weights beyond the list (less than e^−799 in all) are charged
    as an infinite loss.
    """

    groups: GroupProfiles
    log_weights: tuple[float, ...]
    rate: float
    accuracy: float

    @property
    def log_infinite_mass(self) -> float:
        """What was left out of the list."""
        return NEGLIGIBLE_LOG_WEIGHT + 1.0 if self.rate < 1.0 else -math.inf

    @property
    def tail_accuracy(self) -> float:
        """The worst of the bases, and a few roundings."""
        return 2 * self.groups.tail_accuracy + 2 * NUDGE + self.accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The weighted sum; what was left out is charged to the upper end only.

        Roundings of the change of variable are charged by shifting its argument outward, as profiles fall.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        flat, slack = points.ravel(), 4 * NUDGE + self.accuracy
        lower = self._weighted(self.groups.lower_log_delta(base_epsilon(flat * (1 + NUDGE), self.rate))) - slack
        upper = self._weighted(self.groups.upper_log_delta(base_epsilon(flat * (1 - NUDGE), self.rate)))
        upper = np.minimum(np.logaddexp(upper, self.log_infinite_mass) + slack, 0.0)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """P' = Σ w_k (P_k + (1 − η)/η Q_k) plus what was left out, Q' = Σ w_k Q_k/η."""
        points = np.asarray(epsilon, dtype=np.float64)
        weighted_p, weighted_q = (
            each.reshape(points.shape) for each in self._weighted_tails(base_epsilon(points.ravel(), self.rate))
        )
        absent = math.log1p(-self.rate) - math.log(self.rate) if self.rate < 1.0 else -math.inf
        log_p = np.logaddexp(np.logaddexp(weighted_p, weighted_q + absent), self.log_infinite_mass)
        return Tails(np.asarray(log_p), weighted_q - math.log(self.rate))

    def _weighted_tails(self, base: FloatArray) -> Tails:
        """log Σ w_k P_k and log Σ w_k Q_k beyond each point, of the groups that matter there."""
        blocks = blocks_of(self._column.size, base)
        if blocks is None:
            return Tails(*map(self._weighted, self.groups.log_tails(base)))
        least, largest = (self.groups.log_tails(at) for at in (blocks.least, blocks.largest))
        at_ends = ((here + self._column, there + self._column) for here, there in zip(least, largest, strict=True))
        found = Tails(np.empty(base.size), np.empty(base.size))
        for points, terms in windows(blocks, *at_ends):
            tails = self.groups.part(terms).log_tails(base[points])
            for whole, each in zip(found, tails, strict=True):
                whole[points] = log_sums(each + self._column[terms])
        return found

    @cached_property
    def _column(self) -> FloatArray:
        return np.asarray(self.log_weights)[:, None]

    def _weighted(self, logs: FloatArray) -> FloatArray:
        """log Σ w_k e^{logs_k}."""
        return log_sums(logs + self._column)


def with_replacement(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """A record drawn k times moves a sum k times as far, so additive noise in one coordinate is answered."""
    if refusal := not_drawn("with-replacement", WITH_REPLACEMENT, spec, case):
        return refusal
    if refusal := no_replacement_guarantee(WITH_REPLACEMENT, spec, case):
        return refusal
    if noise_of_contribution(spec.mechanism) is None:
        return Refusal(WITH_REPLACEMENT, "needs the base profile for every group size, which is not known of this base")
    drawn = multiplicities(spec.batch_size or 1, spec.population or 1)
    if drawn is None:
        return Refusal(WITH_REPLACEMENT, f"a record is drawn more than {MOST_DRAWS:g} times on average")
    replaced = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(spec.mechanism, replaced)
    groups = group_profiles(spec.mechanism, drawn.most)
    profile = MultiplicityProfile(groups, drawn.log_weights, drawn.rate, drawn.accuracy)
    guarantee = amplified(inner, Curve(Pair(profile, profile), ()), WITH_REPLACEMENT, spec)
    zeroed = case.setting.relation == "zero-out-one"
    finer = multiplicities(spec.batch_size or 1, spec.population or 1, told_apart=MOST_GROUPS) or drawn
    return for_relation(
        guarantee, case.setting, drawn_several_times(finer if zeroed else drawn, spec.mechanism, zeroed=zeroed)
    )


def group_profiles(mechanism: Spec, counts: Sequence[int]) -> GroupProfiles:
    """Return the profile of replacing a record that counts k times, for each k.

    Args:
        mechanism: spec of a mechanism that has a `noise_of_contribution`.
        counts: the values of k.
    """
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum):
        shifts = tuple(times * 2.0 / primitive.multiplier for times in counts)
        if primitive.distribution == "gaussian":
            return GaussianGroups(shifts)
        return SeparateGroups(tuple(LaplaceProfile(shift) for shift in shifts))
    assert isinstance(primitive, NoisyIntegers)
    sensitivity = math.floor(primitive.shift.l1)
    return SeparateGroups(tuple(GeometricProfile(primitive.decay_rate, times * sensitivity) for times in counts))


THEOREMS: tuple[Theorem, ...] = (WITH_REPLACEMENT,)
RULES: tuple[Rule, ...] = (Rule(WITH_REPLACEMENT, "subsampled", with_replacement),)
