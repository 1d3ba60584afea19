"""Sampling with replacement: a record may be drawn several times, and then moves the release several times as far."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.curve import Curve, Enclosure, Pair, Profile, Tails
from epsilond.accountants.guarantee import Guarantee, Refusal, Setting
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import NUDGE, base_epsilon, outward
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.profiles.laplace import LaplaceProfile
from epsilond.accountants.structure import NO_ORDER, SECRET_DRAW
from epsilond.accountants.theorem import Case, Rule, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import MOST_GROUPS, drawn_several_times
from epsilond.accountants.theorems.sampling.subsampling import (
    amplified,
    for_relation,
    no_replacement_guarantee,
    not_drawn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.specs import Subsampled

NEGLIGIBLE_LOG_WEIGHT = -800.0
_FAINT_LOG_WEIGHT = -80.0
TOLD_APART = 24
_CLOSE, _WIDE = 1.1, 1.5
MOST_DRAWS = 1e5

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


@dataclass(frozen=True)
class Multiplicities:
    """How often a record is drawn, in groups: between `least` and `most` times with probability e^log_weights.

    Multiplicities that weigh less than e^−800 together are left out.
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    log_weights: tuple[float, ...]
    rate: float
    accuracy: float


def multiplicities(draws: int, population: int, *, told_apart: int = TOLD_APART) -> Multiplicities | None:
    """Bin(draws, 1/population) given that it is positive, or None if its mean is too large to list.

    Multiplicities are told apart up to `told_apart` and grouped within 10 % beyond, or within 50 % where each weighs
    less than e^−80: at 24 a list stays near a hundred long. A group counts as its largest for the upper end.
    """
    if draws > MOST_DRAWS * population or (draws > MOST_DRAWS and population == 1):
        return None
    if population == 1:
        return Multiplicities((draws,), (draws,), (0.0,), 1.0, 0.0)
    log_absent = draws * math.log1p(-1.0 / population)
    longest = min(draws, int(2 * draws / population) + 1024)
    k = np.arange(1, longest + 1, dtype=np.float64)
    steps = np.log((draws - k + 1) / k) - math.log(population - 1)
    log_weights = log_absent + np.cumsum(steps)
    # Past twice the mean every weight is at most half the one before: the rest weighs less than the last one kept.
    kept = int(np.max(np.nonzero((log_weights > NEGLIGIBLE_LOG_WEIGHT) | (k <= 1))[0])) + 1
    least, most, weights = [], [], []
    start = 1
    while start <= kept:
        faint = log_weights[start - 1] <= _FAINT_LOG_WEIGHT and start > draws / population
        end = start if start < told_apart else int((_WIDE if faint else _CLOSE) * start)
        end = min(end, kept)
        least.append(start)
        most.append(end)
        weights.append(float(logsumexp(log_weights[start - 1 : end])))
        start = end + 1
    accuracy = 4 * UNIT_ROUNDOFF * (abs(log_absent) + float(np.abs(steps[:kept]).sum()) + kept)
    return Multiplicities(tuple(least), tuple(most), tuple(weights), -math.expm1(log_absent), accuracy)


@dataclass(frozen=True)
class MultiplicityProfile:
    """Σ_k w_k δ_k(log(1 + (e^ε' − 1)/η)): drawn k times with weight w_k, η = Σ w_k, each δ_k a base profile.

    `accuracy` bounds the error of each log weight; the weights beyond the list (less than e^−799 in all) are charged
    as an infinite loss.
    """

    bases: tuple[Profile, ...]
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
        return 2 * max(base.tail_accuracy for base in self.bases) + 2 * NUDGE + self.accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The weighted sum; what was left out is charged to the upper end only."""
        slack = 4 * NUDGE + self.accuracy

        def at(point: FloatArray) -> Enclosure:
            inner = base_epsilon(point, self.rate)
            ends = [base.log_delta(inner) for base in self.bases]
            lower = self._weighted([end.lower for end in ends])
            upper = self._weighted([end.upper for end in ends])
            whole = np.logaddexp(upper, self.log_infinite_mass)
            return Enclosure(lower - slack, np.minimum(whole + slack, 0.0))

        return outward(at, np.asarray(epsilon, dtype=np.float64))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """P' = Σ w_k (P_k + (1 − η)/η Q_k) plus what was left out, Q' = Σ w_k Q_k/η."""
        inner = base_epsilon(np.asarray(epsilon, dtype=np.float64), self.rate)
        tails = [base.log_tails(inner) for base in self.bases]
        weighted_p = self._weighted([tail.log_p for tail in tails])
        weighted_q = self._weighted([tail.log_q for tail in tails])
        absent = math.log1p(-self.rate) - math.log(self.rate) if self.rate < 1.0 else -math.inf
        log_p = np.logaddexp(np.logaddexp(weighted_p, weighted_q + absent), self.log_infinite_mass)
        return Tails(np.asarray(log_p), weighted_q - math.log(self.rate))

    def _weighted(self, logs: Sequence[FloatArray]) -> FloatArray:
        """log Σ w_k e^{logs_k}."""
        pairs = zip(logs, self.log_weights, strict=True)
        return functools.reduce(np.logaddexp, [value + weight for value, weight in pairs])


def with_replacement(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """A record drawn k times moves a sum k times as far, so additive noise in one coordinate is answered."""
    if refusal := not_drawn("with-replacement", WITH_REPLACEMENT, spec, case):
        return refusal
    if refusal := no_replacement_guarantee(WITH_REPLACEMENT, spec, case):
        return refusal
    group = group_profile(spec.mechanism)
    if group is None:
        return Refusal(WITH_REPLACEMENT, "needs the base profile for every group size, which is not known of this base")
    drawn = multiplicities(spec.batch_size or 1, spec.population or 1)
    if drawn is None:
        return Refusal(WITH_REPLACEMENT, f"a record is drawn more than {MOST_DRAWS:g} times on average")
    replaced = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(spec.mechanism, replaced)
    bases = tuple(group(most) for most in drawn.most)
    profile = MultiplicityProfile(bases, drawn.log_weights, drawn.rate, drawn.accuracy)
    guarantee = amplified(inner, Curve(Pair(profile, profile), ()), WITH_REPLACEMENT, spec)
    zeroed = case.setting.relation == "zero-out-one"
    finer = multiplicities(spec.batch_size or 1, spec.population or 1, told_apart=MOST_GROUPS) or drawn
    return for_relation(
        guarantee, case.setting, drawn_several_times(finer if zeroed else drawn, spec.mechanism, zeroed=zeroed)
    )


def group_profile(mechanism: Any) -> Callable[[int], Profile] | None:
    """The profile of replacing a record that counts k times, by k; None where it is not known."""
    if mechanism.kind == "gaussian":
        return lambda times: GaussianProfile(times * 2.0 / mechanism.noise_multiplier)
    if mechanism.kind == "laplace":
        return lambda times: LaplaceProfile(times * 2.0 / mechanism.scale_multiplier)
    if mechanism.kind == "discrete_laplace":
        return lambda times: GeometricProfile(mechanism.decay_rate, times * mechanism.sensitivity)
    return None


THEOREMS: tuple[Theorem, ...] = (WITH_REPLACEMENT,)
RULES: tuple[Rule, ...] = (Rule(WITH_REPLACEMENT, "subsampled", with_replacement),)
