"""Bounds known one ε at a time, and the least of several bounds.

The divergence of a pair is convex in e^ε. A bound that is convex too is a profile, and its slopes are the tails with
which it is composed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from epsilond.accountants.curve import (
    LARGEST_EPSILON,
    Enclosure,
    Interval,
    Pair,
    Profile,
    Tails,
    lower_epsilon,
)
from epsilond.accountants.numerics.crossing import Guess, closest, crossing
from epsilond.accountants.profiles.piecewise import TABLE_ACCURACY, PiecewiseTails, tabulated
from epsilond.accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
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
        """That of a table."""
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


def sparing_epsilon(pair: Pair, log_delta: float) -> Interval:
    """`Pair.epsilon` where both ends of an ε cost one dear evaluation, which is remembered.

    Starts from values at a few ε that a comparison of bounds has asked for already; √−log δ is about linear in ε.
    """
    zero = pair.ends(0.0)
    if zero.upper <= log_delta:
        return Interval(0.0, 0.0)
    guess = _interpolated(pair, log_delta, zero.upper)
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
