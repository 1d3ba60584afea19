"""Bounds known one ε at a time, and the least of several bounds.

The divergence of a pair is convex in e^ε. A bound that is convex too is a profile, and its slopes are the tails with
which it is composed.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from epsilond.accountants.curve import LARGEST_EPSILON, Curve, Enclosure, Interval, Pair, Profile, Tails, lower_epsilon
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.near_tests import FindsUpperTests, UpperTest
from epsilond.accountants.numerics.crossing import Guess, closest, crossing
from epsilond.accountants.profiles.gaussian import GaussianProfile, ZeroProfile
from epsilond.accountants.profiles.piecewise import TABLE_ACCURACY, PiecewiseTails, tabulated
from epsilond.accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray


PROBES = (0.0, 1 / 16, 1.0, 8.0)
"""Where bounds are compared, to leave out those that are never least."""
NEGLIGIBLE_LOG_DELTA = -745.0
CORNERS = 384
"""Entries of a table of tails: dense near ε = 0, where losses are; a chord is about 1 % above a bound of 1e-6."""

LEAST = Theorem(
    id="epsilond.least-bound",
    title="The least of several bounds",
    statement="If δ₁, …, δ_k each bound a mechanism's δ(ε) in both orders, so does their minimum",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)


class Bound(Protocol):
    """An upper bound of log δ in both orders of every pair of neighbours, one ε at a time. Hashable."""

    def log_bound(self, epsilon: float) -> Interval:
        """Numerical ends of log of the bound at ε ≥ 0."""


@runtime_checkable
class NotConvex(Protocol):
    """A bound that is not convex in e^ε, but has one above it that is."""

    @property
    def convex(self) -> Bound:
        """A bound that is convex in e^ε, falls, and is nowhere below this one."""


@runtime_checkable
class AtMany(Protocol):
    """A bound that costs less at many ε together than at each by itself."""

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """`Bound.log_bound` at each ε, but for roundings within its ends."""


@dataclass(frozen=True)
class BoundProfile:
    """The profile of a bound. Its tails are the slopes of a table of it, or of the convex bound above it."""

    bound: Bound

    @cached_property
    def _known(self) -> dict[float, Interval]:
        """Ends at every ε that was asked: a bound over many steps is dear, and searches come back to a place."""
        return {}

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The bound's ends, point by point."""
        points = np.asarray(epsilon, dtype=np.float64)
        for point in points.ravel():
            if float(point) not in self._known:
                self._known[float(point)] = self.bound.log_bound(float(point))
        ends = [self._known[float(point)] for point in points.ravel()]
        lower, upper = (np.asarray(side).reshape(points.shape) for side in zip(*ends, strict=True))
        return Enclosure(lower, upper)

    @property
    def tail_accuracy(self) -> float:
        """How accurate the tails of a table are."""
        return TABLE_ACCURACY

    @property
    def log_infinite_mass(self) -> float:
        """The value the table ends with."""
        return self._table.log_infinite_mass

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Upper values where the bound, or the convex one above it, is not negligible."""
        bound, end = self.bound.convex if isinstance(self.bound, NotConvex) else self.bound, 2.0**-20
        while end < LARGEST_EPSILON and bound.log_bound(end).upper > NEGLIGIBLE_LOG_DELTA:
            end *= 2.0
        epsilon = end * (np.arange(CORNERS + 1.0) / CORNERS) ** 2
        return tabulated(epsilon, _pointwise(bound, epsilon).upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """The table's slopes."""
        return self._table.tails(np.asarray(epsilon, dtype=np.float64))


def _pointwise(bound: Bound, epsilon: FloatArray) -> Enclosure:
    points = np.asarray(epsilon, dtype=np.float64)
    if isinstance(bound, AtMany):
        ends = bound.log_bounds(points.ravel())
    else:
        ends = [bound.log_bound(float(point)) for point in points.ravel()]
    lower, upper = (np.asarray(side).reshape(points.shape) for side in zip(*ends, strict=True))
    return Enclosure(lower, upper)


@runtime_checkable
class Composed(Protocol):
    """A profile of which every evaluation is dear, with cheap estimates and one end that costs less than both."""

    def guess(self, log_delta: float) -> Guess:
        """About the ε where log δ is as asked: an estimate."""

    def test_guess(self, log_size: float) -> Guess:
        """About the ε at which the test of larger losses has the size asked under the second law: an estimate."""

    def likely_log_delta(self, epsilon: float) -> float:
        """About log δ: an estimate, which costs next to nothing beside an end."""

    def quick_upper_end(self, epsilon: float) -> float:
        """An upper end of log δ, perhaps further from it than that of `log_delta`."""

    def upper_end(self, epsilon: float) -> float:
        """The upper end of `log_delta` at one ε."""

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """As of every profile."""


_USUAL_LOG_DELTA = -14.0
_LEAST_MARGIN, _MARGIN = 0.05, 0.1
_ROUGHLY = 4.0
"""How many margins an estimate must be above a bound."""
_ALIKE = 1.5
"""Estimates of ε further apart than this factor tell two bounds apart."""


@dataclass(frozen=True)
class LeastProfile:
    """The least of several profiles, each of which dominates the same order of the same mechanism.

    It bounds δ at every ε. It need not be convex: its tails are those of one of the profiles, the one that is least
    at ε = 0, and a composition is formed of each by itself (`alternatives`).
    """

    profiles: tuple[Profile, ...]

    @cached_property
    def _chosen(self) -> Profile:
        return min(self.profiles, key=lambda profile: float(profile.log_delta(np.zeros(1)).upper[0]))

    @property
    def log_infinite_mass(self) -> float:
        """That of the profile behind the tails."""
        return self._chosen.log_infinite_mass

    @property
    def lossy(self) -> bool:
        """Whether δ at ε = 0 is known to be above 0 without an evaluation: one profile tells it of the mechanism."""
        return any(getattr(profile, "lossy", False) for profile in self.profiles)

    @property
    def tail_accuracy(self) -> float:
        """That of the profile behind the tails."""
        return self._chosen.tail_accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Elementwise the least lower and the least upper end, of composed profiles those that are seen to compete."""
        if self._composed:
            points = np.asarray(epsilon, dtype=np.float64)
            known = np.asarray([self._least_at(point) for point in points.ravel().tolist()]).reshape(*points.shape, 2)
            return Enclosure(known[..., 0], known[..., 1])
        return self._least_of(self.profiles, epsilon)

    def upper_end(self, epsilon: float) -> float:
        """The upper end at one ε, of the same profiles."""
        least = float(self._least_of(self._closed, np.asarray(epsilon)).upper) if self._closed else 0.0
        for place, profile in enumerate(self._composed):
            if (place or self._closed) and _out_of_the_running(profile, epsilon, least):
                continue
            least = min(least, profile.upper_end(epsilon))
        return least

    @staticmethod
    def _least_of(profiles: Sequence[Profile], epsilon: FloatArray) -> Enclosure:
        ends = [profile.log_delta(epsilon) for profile in profiles]
        lower, upper = (np.minimum.reduce([end[side] for end in ends]) for side in (0, 1))
        return Enclosure(lower, upper)

    @cached_property
    def _closed(self) -> list[Profile]:
        """The profiles that are not composed."""
        return [profile for profile in self.profiles if not isinstance(profile, Composed)]

    @cached_property
    def _composed(self) -> list[Composed]:
        """The composed profiles by their estimated ε at a usual δ."""
        composed: list[Composed] = [profile for profile in self.profiles if isinstance(profile, Composed)]
        if len(composed) < 2:  # nothing to estimate
            return composed
        return sorted(composed, key=lambda profile: profile.guess(_USUAL_LOG_DELTA).epsilon)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Whether profiles that are not composed are less, the others being above by this share of it: an estimate."""
        if not self._closed:
            return False
        least = (1.0 - share) * float(self._least_of(self._closed, np.asarray(epsilon)).upper)
        return all(profile.likely_log_delta(epsilon) > least for profile in self._composed)

    def _least_at(self, epsilon: float) -> Interval:
        """The least ends at one ε."""
        least = Interval(0.0, 0.0)
        if self._closed:
            least = Interval(*map(float, self._least_of(self._closed, np.asarray(epsilon))))
        for place, profile in enumerate(self._composed):
            if (place or self._closed) and _out_of_the_running(profile, epsilon, least.upper):
                continue
            lower, upper = (float(end[0]) for end in profile.log_delta(np.asarray([epsilon])))
            least = Interval(min(least.lower, lower), min(least.upper, upper))
        return least

    def upper_tests(self, sizes: Sequence[float]) -> list[UpperTest | None]:
        """For each size the test of the profile that bounds its rate best, of those whose estimates are alike.

        γ α + E_γ is least where one of the profiles makes it so. One profile says nothing of the least from below.
        """
        if self._closed:
            return []
        places = [profile.test_guess(math.log(max(sizes))).epsilon for profile in self._composed]
        alike = [
            profile
            for profile, place in zip(self._composed, places, strict=True)
            if place <= _ALIKE * min(places) and isinstance(profile, FindsUpperTests)
        ]
        found = [tests for profile in alike if (tests := profile.upper_tests(sizes))]
        if len(found) < len(alike):
            return []
        return [_least_test(size, tests) for size, tests in zip(sizes, zip(*found, strict=True), strict=True)]

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Tails of one of the profiles."""
        return self._chosen.log_tails(epsilon)


def _out_of_the_running(profile: Composed, epsilon: float, log_delta: float) -> bool:
    """Whether a quick upper end is so far above a bound in hand that the dear one is, too; first by an estimate.

    To leave a bound out is safe. What is answered then is the least of the others, with both of its ends.
    """
    margin = _LEAST_MARGIN + _MARGIN * abs(log_delta)
    if profile.likely_log_delta(epsilon) > log_delta + _ROUGHLY * margin:
        return True
    return profile.quick_upper_end(epsilon) > log_delta + margin


def _least_test(size: float, tests: Sequence[UpperTest | None]) -> UpperTest | None:
    """The test with the least γ α + E_γ; None where one of the profiles has none."""
    there = [test for test in tests if test is not None]
    return min(there, key=functools.partial(_rate_at, size)) if len(there) == len(tests) else None


def _rate_at(size: float, test: UpperTest) -> float:
    """γ α + E_γ at a test."""
    return size * math.exp(min(test.epsilon, 700.0)) + math.exp(test.log_delta)


@dataclass(frozen=True)
class BoundPair(Pair):
    """A pair known by a bound, for which every ε is dear."""

    def epsilon(self, log_delta: float) -> Interval:
        """As for every pair, with few evaluations."""
        return sparing_epsilon(self, log_delta)


def bound_pair(bound: Bound) -> Pair:
    """The symmetric pair of a bound that holds in both orders."""
    profile = BoundProfile(bound)
    return BoundPair(profile, profile)


def sparing_epsilon(pair: Pair, log_delta: float, guess: Guess | None = None) -> Interval:
    """`Pair.epsilon` where both ends of an ε cost one dear evaluation, which is remembered.

    Starts from the guess, or from values at a few ε that a comparison of bounds has asked for already; √−log δ is about
    linear in ε.
    """
    zero = pair.ends(0.0)
    if zero.upper <= log_delta:
        return Interval(0.0, 0.0)
    guess = guess or _interpolated(pair, log_delta, zero.upper)
    found = crossing(lambda epsilon: pair.ends(epsilon).upper, log_delta, guess)
    if zero.lower <= log_delta:
        return Interval(0.0, found.below)
    if math.isinf(found.below):
        return Interval(lower_epsilon(lambda epsilon: pair.ends(epsilon).lower, log_delta, guess=math.inf), math.inf)
    near = Guess(found.above, guess.steepness)
    if pair.ends(found.above).lower > log_delta:
        return Interval(found.above, found.below)
    ends = pair.ends(found.below)
    width = ends.upper - ends.lower if ends.upper > -math.inf else 0.0
    pad = 2.0 * width / guess.steepness + 1e-10 * found.below
    lower = closest(lambda epsilon: pair.ends(epsilon).lower, log_delta, near, -pad)
    if lower is None:
        lower = crossing(lambda epsilon: pair.ends(epsilon).lower, log_delta, near).above
    return Interval(min(lower, found.below), found.below)


def _interpolated(pair: Pair, log_delta: float, at_zero: float) -> Guess:
    """Where √−log δ is as asked on the line through two probes around it, and the slope there."""
    low, before = 0.0, at_zero
    for high in (*PROBES[1:], *(4.0**k for k in range(2, 15))):
        after = pair.ends(high).upper
        if after <= log_delta:
            break
        low, before = high, after
    else:
        return Guess(low, 1.0)
    wanted, first, second = (math.sqrt(max(-value, 0.0)) for value in (log_delta, before, max(after, -1e6)))
    if not second > first:
        return Guess(high, 1.0)
    epsilon = low + (high - low) * min((wanted - first) / (second - first), 1.0)
    return Guess(epsilon, max(2.0 * wanted * (second - first) / (high - low), 1e-9))


THEOREMS: tuple[Theorem, ...] = (LEAST,)


# Several dominating pairs of one mechanism, each kept for what is composed later ------------------------------------
#
# At every ε the least bound holds. Under composition another one may win than did at one round, so compositions are
# formed of each alternative by itself, and only then compared.
@dataclass(frozen=True)
class AlternativePair(Pair):
    """A pair of least profiles, and the dominating pairs it is made of."""

    alternatives: tuple[Pair, ...] = ()

    def epsilon(self, log_delta: float) -> Interval:
        """As for every pair; with few evaluations where bounds are dear.

        Where every alternative has one profile, δ is the least of theirs, and falls below the target where the first
        of them does: each is searched by itself, unless its δ at the least ε so far is above the target for certain.
        """
        if all(isinstance(profile, BoundProfile) for pair in self.alternatives for profile in pair.orders()):
            return sparing_epsilon(self, log_delta)
        if not all(pair.symmetric for pair in self.alternatives):
            return super().epsilon(log_delta)
        first, *others = sorted(self.alternatives, key=lambda pair: _estimated_epsilon(pair, log_delta))
        found = first.epsilon(log_delta)
        for pair in others:
            if math.isfinite(found.upper) and _surely_above(pair, found.upper, log_delta):
                continue
            other = pair.epsilon(log_delta)
            found = Interval(min(found.lower, other.lower), min(found.upper, other.upper))
        return found


def _estimated_epsilon(pair: Pair, log_delta: float) -> float:
    """About the pair's ε(δ), 0 where it costs little to know: an order in which to search."""
    return pair.forward.guess(log_delta).epsilon if isinstance(pair.forward, Composed) else 0.0


def _surely_above(pair: Pair, epsilon: float, log_delta: float) -> bool:
    """Whether a symmetric pair's δ at ε is above the target, for certain or by a quick end that is far above."""
    if isinstance(pair.forward, Composed) and _out_of_the_running(pair.forward, epsilon, log_delta):
        return True
    return pair.ends(epsilon).lower > log_delta


def least_of(pairs: Sequence[Pair]) -> Pair:
    """What several dominating pairs of one mechanism prove together."""
    if len(pairs) == 1:
        return pairs[0]
    forward = LeastProfile(tuple(pair.forward for pair in pairs))
    symmetric = all(pair.symmetric for pair in pairs)
    backward = forward if symmetric else LeastProfile(tuple(pair.backward for pair in pairs))
    return AlternativePair(forward, backward, alternatives=tuple(pairs))


def alternatives_of(pair: Pair) -> tuple[Pair, ...]:
    """The dominating pairs that are known: one, unless it is an `AlternativePair`."""
    return pair.alternatives if isinstance(pair, AlternativePair) else (pair,)


# One guarantee from several of the same mechanism: what `account` answers where rules join --------------------------
TIE = 1e-9
QUICK = (BoundProfile, GaussianProfile, ZeroProfile)
"""Profiles that cost next to nothing at one ε."""


def least(guarantees: Sequence[Guarantee], probes: Sequence[float] = PROBES) -> Guarantee:
    """One guarantee from several of the same mechanism and setting: the least upper end at every ε, all witnesses.

    Bounds that are nowhere least among a few ε, the probes, are left out, which is safe; the derivation names those
    that are kept, and is the winner's own where there is one for all of them.

    Raises:
        InvalidInput: the guarantees are about different settings.
    """
    for guarantee in guarantees:
        guarantees[0].setting.same_as(guarantee.setting)
    kept = _undominated(guarantees, probes)
    witnesses = tuple(itertools.chain.from_iterable(guarantee.curve.witnesses for guarantee in guarantees))
    if len(kept) == 1:
        upper, step = kept[0].curve.upper, kept[0].derivation
    else:
        upper = least_of([guarantee.curve.upper for guarantee in kept])
        step = LEAST.because(*(guarantee.derivation for guarantee in kept))
    declared = tuple(dict.fromkeys(condition for guarantee in kept for condition in guarantee.declared))
    curve = Curve(upper, witnesses)
    return Guarantee(setting=guarantees[0].setting, curve=curve, derivation=step, declared=declared)


def _undominated(guarantees: Sequence[Guarantee], probes: Sequence[float]) -> list[Guarantee]:
    """Those that are least at some probe, earlier ones first; one of several that tie everywhere.

    All of them, if one was composed: what an engine computes is not computed for a comparison.
    """
    if not all(isinstance(guarantee.curve.upper.forward, QUICK) for guarantee in guarantees):
        return list(guarantees)
    uppers = np.asarray([guarantee.curve.upper.log_delta(np.asarray(probes)).upper for guarantee in guarantees])
    open_probes = np.ones(len(probes), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        best = uppers <= uppers.min(axis=0) + TIE * (1.0 + np.abs(uppers.min(axis=0)))
    best |= np.isneginf(uppers)
    kept = []
    while open_probes.any():
        chosen = int(np.argmax((best & open_probes).sum(axis=1)))
        kept.append(chosen)
        open_probes &= ~best[chosen]
    return [guarantees[i] for i in sorted(kept)]
