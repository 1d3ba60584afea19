"""Tails for the bounds of shuffled mechanisms: a convex table with rows at the scale of the bound.

These bounds are known by their values, and their losses may have any scale: 1e-4 for a million clients. Rows are spaced
by the value, not by ε, so that composed rounds lose a part in a thousand at every scale.
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
from epsilond.accountants.profiles.piecewise import PiecewiseTails, tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from epsilond.accountants.theorems.shuffling.planned_rows import Rows

_DEEPEST = -720.0
"""log δ at which a table ends: δ of about 1e-313."""
_MOST_ROWS = 1200
"""Largest number of rows of a table."""
_FURTHEST, _NOTHING = 700.0, -1e300
"""Largest loss of a table in nats, and a log δ below that of every double."""


class ScaledBound(Bound):
    """An upper bound of log δ in both directions of every pair of neighbours, evaluated at one ε at a time."""

    @property
    def largest_loss(self) -> float:
        """Least known ε from which on δ is exactly zero; math.inf if none is known."""
        return math.inf

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 of the bounded mechanism is known to be above 0."""
        return False

    @abstractmethod
    def log_bound(self, epsilon: float) -> Interval:
        """Return bounds of the numerical error of the log of the bound at ε ≥ 0."""

    def upper(self, epsilon: float) -> float:
        """Return a bound at ε that costs less and may be slightly above the upper one of `log_bound`."""
        return self.log_bound(epsilon).upper

    def rows(self) -> Rows | None:
        """Return all rows of a table below `largest_loss` if evaluation at many ε at once is cheaper, or None."""
        return None

    def sequential_upper(self) -> Callable[[float], float]:
        """Return `upper` for increasing ε, so that each search may start at the result of the last one."""
        return self.upper


@dataclass(frozen=True)
class PairBound(ScaledBound):
    """The bound by a known pair, which is the larger δ of its two directions."""

    pair: Pair

    @cached_property
    def largest_loss(self) -> float:
        """Least ε with a certified δ of zero, so that no rounding of δ counts as an infinite loss."""
        if self.pair.log_delta_bounds(_FURTHEST).upper > -math.inf:
            return math.inf
        return upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, _NOTHING)

    def log_bound(self, epsilon: float) -> Interval:
        """Return the pair's bounds."""
        return self.pair.log_delta_bounds(epsilon)


@dataclass(frozen=True)
class ScaledProfile(BoundProfile):
    """Profile of a bound. Its tails come from a table, with rows a tenth in log δ apart for the largest δ."""

    bound: ScaledBound

    @property
    def lossy(self) -> bool:
        """True if δ at ε = 0 of the bounded mechanism is known to be above 0."""
        return self.bound.lossy

    def guess(self, log_delta: float) -> Guess:
        """Return the ε of two normal distributions with the same δ at ε = 0; ε = 0 if these give no estimate."""
        return _normal_guess(self.upper_log_delta(0.0), log_delta) or super().guess(log_delta)

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Upper bounds as a convex table."""
        rows = self.bound.rows()
        if rows is None:
            epsilon, value = np.asarray(list(self._rows())).T
            return tabulate(epsilon, value)
        inside = rows.epsilon < self.bound.largest_loss
        epsilon, value = (column[inside] for column in rows)
        if math.isfinite(self.bound.largest_loss):
            epsilon, value = np.append(epsilon, self.bound.largest_loss), np.append(value, -math.inf)
        return tabulate(epsilon, value)

    def _rows(self) -> Iterator[tuple[float, float]]:
        """Yield increasing ε with upper bounds on log δ.

        The rows end at δ = 1e-312, at the ε from which δ is zero, or at one from which it no longer falls.
        """
        upper = self.bound.sequential_upper()
        top = value = upper(0.0)
        yield 0.0, value
        if value == -math.inf:
            return
        epsilon, step, stalled = 0.0, 0.1 * math.exp(value), 0
        for _ in range(_MOST_ROWS):
            deep = value < -80.0
            spacing = 5.0 if deep else 0.7
            if value > top - 9.0:
                spacing = 0.1
            following = epsilon + max(step, 0.05 * epsilon if deep else 0.0)
            if following >= self.bound.largest_loss:
                break
            following_value = upper(following)
            yield following, following_value
            fall = value - following_value
            stalled = stalled + 1 if fall < 0.1 * spacing else 0
            if following_value <= _DEEPEST or stalled > 12 or following > 1e9:
                break
            step = (following - epsilon) * min(2.0, max(0.3, spacing / max(fall, 1e-12)))
            epsilon, value = following, min(value, following_value)
        if math.isfinite(self.bound.largest_loss):
            yield self.bound.largest_loss, -math.inf


def _normal_guess(at_zero: float, log_delta: float) -> Guess | None:
    """Estimate the ε at δ by a Gaussian pair N(μ, 1) against N(0, 1) with the same δ at ε = 0.

    Args:
        at_zero: log δ at ε = 0.
        log_delta: log of the target δ.

    Returns:
        The ε and the steepness of log δ there; None if the normal distributions give no estimate.
    """
    if not log_delta < at_zero < -1e-3:
        return None
    mu = 2.0 * float(ndtri(0.5 + 0.5 * math.exp(at_zero)))
    epsilon = gaussian_pair(mu).epsilon(log_delta).upper if mu > 0.0 else 0.0
    if not 0.0 < epsilon < LARGEST_EPSILON:
        return None
    return Guess(epsilon, max(epsilon / mu - 0.5 * mu, 1.0) / mu)


def scaled_pair(bound: ScaledBound) -> Pair:
    """Return the symmetric pair of a bound that holds in both directions."""
    profile = ScaledProfile(bound)
    return Pair(profile, profile)
