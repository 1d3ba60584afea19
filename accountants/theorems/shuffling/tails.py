"""Tails for the bounds of shuffled mechanisms: a convex table whose rows follow the bound's own scale.

These bounds are known by their values, and their losses may be of any size: 1e-4 for a million clients. The rows are
laid at steps of the value, not of ε, so that composed rounds lose a part in a thousand whatever the scale.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.search import upper_epsilon
from epsilond.accountants.numerics.root_search import Guess
from epsilond.accountants.profiles.bound import Bound, BoundProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.piecewise import PiecewiseTails, tabulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from epsilond.accountants.theorems.shuffling.planned_rows import Rows

_DEEPEST = -720.0
_MOST_ROWS = 1200
_FURTHEST, _NOTHING = 700.0, -1e300
"""A loss that no table goes beyond, and a log δ below every double's."""


class ScaledBound(Bound):
    """An upper bound of log δ in both orders of every pair of neighbours, at one ε at a time. Hashable."""

    @property
    def largest_loss(self) -> float:
        """An ε from which on δ is exactly zero; math.inf if none is known."""
        return math.inf

    @property
    def lossy(self) -> bool:
        """Whether δ at ε = 0 of what it bounds is known to be above 0."""
        return False

    @abstractmethod
    def log_bound(self, epsilon: float) -> Interval:
        """Numerical ends of log of the bound at ε ≥ 0."""

    def upper(self, epsilon: float) -> float:
        """A bound at ε, perhaps a little above the upper end but quicker."""
        return self.log_bound(epsilon).upper

    def rows(self) -> Rows | None:
        """All rows of a table below `largest_loss`, of a bound that is better asked at many ε at once."""
        return None

    def upwards(self) -> Callable[[float], float]:
        """`upper` for a table, to be asked at rising ε: it may start each search where the last one ended."""
        return self.upper


@dataclass(frozen=True)
class Held(ScaledBound):
    """The bound that a known pair is, both orders together."""

    pair: Pair

    @cached_property
    def largest_loss(self) -> float:
        """Where the pair's δ is certified to be zero, so that no rounding of it is taken for an infinite loss."""
        if self.pair.log_delta_bounds(_FURTHEST).upper > -math.inf:
            return math.inf
        return upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, _NOTHING)

    def log_bound(self, epsilon: float) -> Interval:
        """The pair's own ends."""
        return self.pair.log_delta_bounds(epsilon)


@dataclass(frozen=True)
class ScaledProfile(BoundProfile):
    """The profile of a bound, with rows at steps of a tenth in log δ where most of the mass is, wider below."""

    bound: ScaledBound

    @property
    def lossy(self) -> bool:
        """As of the bound."""
        return self.bound.lossy

    def guess(self, log_delta: float) -> Guess:
        """Return the ε of two normal distributions with the same δ at ε = 0; ε = 0 where these are no guide."""
        return _normal_guess(self.upper_log_delta(0.0), log_delta) or super().guess(log_delta)

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Upper values, row by row."""
        planned = self.bound.rows()
        if planned is None:
            epsilon, value = np.asarray(list(self._rows())).T
            return tabulated(epsilon, value)
        inside = planned.epsilon < self.bound.largest_loss
        epsilon, value = (part[inside] for part in planned)
        if math.isfinite(self.bound.largest_loss):
            epsilon, value = np.append(epsilon, self.bound.largest_loss), np.append(value, -math.inf)
        return tabulated(epsilon, value)

    def _rows(self) -> Iterator[tuple[float, float]]:
        """Points down to δ = 1e-312, to where δ is zero, or to where it no longer falls."""
        upper = self.bound.upwards()
        top = value = upper(0.0)
        yield 0.0, value
        if value == -math.inf:
            return
        epsilon, step, stalled = 0.0, 0.1 * math.exp(value), 0
        for _ in range(_MOST_ROWS):
            deep = value < -80.0
            wanted = 0.1 if value > top - 9.0 else 5.0 if deep else 0.7
            following = epsilon + max(step, 0.05 * epsilon if deep else 0.0)
            if following >= self.bound.largest_loss:
                break
            found = upper(following)
            yield following, found
            fall = value - found
            stalled = stalled + 1 if fall < 0.1 * wanted else 0
            if found <= _DEEPEST or stalled > 12 or following > 1e9:
                break
            step = (following - epsilon) * min(2.0, max(0.3, wanted / max(fall, 1e-12)))
            epsilon, value = following, min(value, found)
        if math.isfinite(self.bound.largest_loss):
            yield self.bound.largest_loss, -math.inf


def _normal_guess(at_zero: float, log_delta: float) -> Guess | None:
    """Return the ε at which N(μ, 1) against N(0, 1) has the given δ, with μ from δ at ε = 0; None where it is no guide.

    Args:
        at_zero: log δ at ε = 0.
        log_delta: the target.
    """
    if not log_delta < at_zero < -1e-3:
        return None
    mu = 2.0 * float(ndtri(0.5 + 0.5 * math.exp(at_zero)))
    epsilon = gaussian_pair(mu).epsilon(log_delta).upper if mu > 0.0 else 0.0
    if not 0.0 < epsilon < LARGEST_EPSILON:
        return None
    return Guess(epsilon, max(epsilon / mu - 0.5 * mu, 1.0) / mu)


def scaled_pair(bound: ScaledBound) -> Pair:
    """The symmetric pair of a bound that holds in both orders."""
    profile = ScaledProfile(bound)
    return Pair(profile, profile)
