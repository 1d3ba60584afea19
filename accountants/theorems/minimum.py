"""Bounds known one ε at a time, and the least of several bounds.

The divergence of a pair is convex in e^ε. A bound that is convex too is a profile, and its slopes are the tails with
which it is composed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from accountants.curve import LARGEST_EPSILON, Enclosure, Interval, Pair, Profile, Tails
from accountants.piecewise import TABLE_ACCURACY, PiecewiseTails, tabulated
from accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
    from accountants.special import FloatArray

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

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The bound's ends, point by point."""
        return _pointwise(self.bound, epsilon)

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


def bound_pair(bound: Bound) -> Pair:
    """The symmetric pair of a bound that holds in both orders."""
    profile = BoundProfile(bound)
    return Pair(profile, profile)


THEOREMS: tuple[Theorem, ...] = (LEAST,)
