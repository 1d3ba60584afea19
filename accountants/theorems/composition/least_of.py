"""Bounds known one ε at a time, and the least of several bounds.

The divergence of a pair is convex in e^ε. A bound that is convex too is a profile, and its slopes are the tails with
which it is composed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from epsilond.accountants.curve import LARGEST_EPSILON, Curve, Enclosure, Interval, Pair, Profile, Tails, lower_epsilon
from epsilond.accountants.guarantee import Guarantee
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
    ends = [bound.log_bound(float(point)) for point in points.ravel()]
    lower, upper = (np.asarray(side).reshape(points.shape) for side in zip(*ends, strict=True))
    return Enclosure(lower, upper)


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
    def tail_accuracy(self) -> float:
        """That of the profile behind the tails."""
        return self._chosen.tail_accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Elementwise the least lower and the least upper end."""
        ends = [profile.log_delta(epsilon) for profile in self.profiles]
        lower, upper = (np.minimum.reduce([end[side] for end in ends]) for side in (0, 1))
        return Enclosure(lower, upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Tails of one of the profiles."""
        return self._chosen.log_tails(epsilon)


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
    pad = 2.0 * (ends.upper - ends.lower) / guess.steepness + 1e-10 * found.below
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
        found = self.alternatives[0].epsilon(log_delta)
        for pair in self.alternatives[1:]:
            if math.isfinite(found.upper) and pair.ends(found.upper).lower > log_delta:
                continue
            other = pair.epsilon(log_delta)
            found = Interval(min(found.lower, other.lower), min(found.upper, other.upper))
        return found


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


def least(guarantees: Sequence[Guarantee]) -> Guarantee:
    """One guarantee from several of the same mechanism and setting: the least upper end at every ε, all witnesses.

    Bounds that are nowhere least among a few ε are left out, which is safe; the derivation names those that are kept,
    and is the winner's own where there is one for all of them.

    Raises:
        InvalidInput: the guarantees are about different settings.
    """
    for guarantee in guarantees:
        guarantees[0].setting.same_as(guarantee.setting)
    kept = _undominated(guarantees)
    witnesses = tuple(itertools.chain.from_iterable(guarantee.curve.witnesses for guarantee in guarantees))
    if len(kept) == 1:
        upper, step = kept[0].curve.upper, kept[0].derivation
    else:
        upper = least_of([guarantee.curve.upper for guarantee in kept])
        step = LEAST.because(*(guarantee.derivation for guarantee in kept))
    declared = tuple(dict.fromkeys(condition for guarantee in kept for condition in guarantee.declared))
    curve = Curve(upper, witnesses)
    return Guarantee(setting=guarantees[0].setting, curve=curve, derivation=step, declared=declared)


def _undominated(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Those that are least at some probe, earlier ones first; one of several that tie everywhere.

    All of them, if one was composed: what an engine computes is not computed for a comparison.
    """
    if not all(isinstance(guarantee.curve.upper.forward, QUICK) for guarantee in guarantees):
        return list(guarantees)
    uppers = np.asarray([guarantee.curve.upper.log_delta(np.asarray(PROBES)).upper for guarantee in guarantees])
    open_probes = np.ones(len(PROBES), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        best = uppers <= uppers.min(axis=0) + TIE * (1.0 + np.abs(uppers.min(axis=0)))
    best |= np.isneginf(uppers)
    kept = []
    while open_probes.any():
        chosen = int(np.argmax((best & open_probes).sum(axis=1)))
        kept.append(chosen)
        open_probes &= ~best[chosen]
    return [guarantees[i] for i in sorted(kept)]
