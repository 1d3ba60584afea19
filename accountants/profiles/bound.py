"""Profiles of upper bounds on δ that are given as functions of ε.

A decreasing bound that is convex in e^ε is the profile of some pair. The slopes of the bound give the tails of the loss
of this pair, which composition needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile, RootSearch
from epsilond.accountants.profiles.attained_tails import attained_table, infinite_loss_only, table_below
from epsilond.accountants.profiles.piecewise import TABLE_ACCURACY, PiecewiseTails, tabulate

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

NEGLIGIBLE_LOG_DELTA = -745.0
"""Log δ below which a bound counts as 0: the exponential of a smaller number is below every positive double."""
CORNERS = 384
"""Number of entries of a table of tails. They are dense near ε = 0; a chord is about 1 % above a bound of 1e-6."""
_TOGETHER = 64
"""Largest number of ε that are evaluated one at a time; a search evaluates few, and an integral hundreds."""


class Bound(ABC):
    """Base class of upper bounds on log δ(ε) that hold in both directions of every two neighbouring data sets.

    A theorem that states δ(ε) directly, and not by a pair of output distributions, gives such a bound. Objects are
    hashable, so that results can be cached.
    """

    is_convex: ClassVar[bool] = True
    """True if `convex` is convex in e^ε. Otherwise a pair of distributions attains only its values in a table."""

    @abstractmethod
    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the value of this bound on log δ at one ε, which is computed with rounding errors.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on the value, a natural logarithm.
        """

    @property
    def convex(self) -> Bound:
        """A bound that is convex in e^ε if `is_convex`, decreasing and nowhere below this bound."""
        return self

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Return the results of `log_bound` at several ε, up to rounding; a subclass may evaluate them together."""
        return [self.log_bound(float(epsilon)) for epsilon in epsilons]

    def upper_log_bounds(self, epsilons: FloatArray) -> FloatArray:
        """Return the upper bounds of `log_bounds` at several ε."""
        return np.asarray([bounds.upper for bounds in self.log_bounds(epsilons)])

    @property
    def negligible_from(self) -> float:
        """An ε, in nats, from which on the bound is negligible: at most e to the power `NEGLIGIBLE_LOG_DELTA`.

        The search doubles ε, and ends at `LARGEST_EPSILON` even if the bound is larger there.
        """
        end = 2.0**-20
        while end < LARGEST_EPSILON and self.log_bound(end).upper > NEGLIGIBLE_LOG_DELTA:
            end *= 2.0
        return end

    def corners(self, end: float) -> FloatArray:
        """Return the ε of a table of the bound, which increase from 0 to `end` (in nats) and are dense near 0."""
        return np.asarray(end * (np.arange(CORNERS + 1.0) / CORNERS) ** 2)


@dataclass(frozen=True)
class BoundProfile(Profile):
    """The privacy profile of an upper bound on δ that is given as a function of ε.

    A composition needs the tails of the privacy loss of a pair with this profile. They are the slopes of the bound as a
    function of e^ε, by a table, or of a convex bound above it (`Bound.convex`). If that is not convex either, they are
    the slopes of the greatest convex function below its values in the table.

    Attributes:
        bound: the function, which encloses the log of the upper bound on δ at an ε.
    """

    closed_form: ClassVar[bool] = True
    root_search: ClassVar[RootSearch] = "spare"

    bound: Bound

    @cached_property
    def _known(self) -> dict[float, Interval]:
        """Stored bounds at every ε so far. A bound over many steps is expensive, and searches return to the same ε."""
        return {}

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the logarithm of the bound on δ at each ε, and store the results.

        If many values of ε are new, the bound is evaluated at all of them at once.

        Args:
            epsilon: array of ε ≥ 0, in nats, of any shape.

        Returns:
            Lower and upper bounds, arrays of this shape.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        flat_points = points.ravel().tolist()
        new_points = [point for point in flat_points if point not in self._known]
        if len(new_points) > _TOGETHER:
            self._known.update(zip(new_points, self.bound.log_bounds(np.asarray(new_points)), strict=True))
        else:
            self._known.update((point, self.bound.log_bound(point)) for point in new_points)

        bounds = [self._known[point] for point in flat_points]
        lower = np.asarray([interval.lower for interval in bounds]).reshape(points.shape)
        upper = np.asarray([interval.upper for interval in bounds]).reshape(points.shape)
        return Enclosure(lower, upper)

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, per unit of 1 + |log tail|."""
        return TABLE_ACCURACY

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability of an infinite loss: the last value of the table."""
        return self._table.log_infinite_mass

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Table of upper values over the ε at which the bound, or the convex bound above it, is not negligible."""
        bound = self.bound.convex
        epsilon = bound.corners(bound.negligible_from)
        return tabulate(epsilon, bound.upper_log_bounds(epsilon))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log probabilities of a loss above each ε under both distributions, from slopes of the table."""
        return self._table.tails(np.asarray(epsilon, dtype=np.float64))

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return log tails of a pair with a smaller δ than the pair of this bound, for lower bounds on δ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Log probabilities of a loss above each ε under both distributions; those of two equal distributions if no
            such pair is known.
        """
        table, points = self._attained_table, np.asarray(epsilon, dtype=np.float64)
        return infinite_loss_only(points, -np.inf) if table is None else table.tails(points)

    @cached_property
    def _attained_table(self) -> PiecewiseTails | None:
        """Table of a convex function below the bound, for lower bounds on δ; None if the bounds are too wide."""
        bound, rows = self.bound.convex, self._table
        bounds = [Interval(min(lower, upper), upper) for lower, upper in bound.log_bounds(rows.epsilon)]
        lower, upper = (np.asarray(ends, dtype=np.float64) for ends in zip(*bounds, strict=True))
        if not self.bound.is_convex:
            return table_below(rows, lower)
        return attained_table(rows.epsilon, Enclosure(lower, upper), -np.inf)


def bound_pair(bound: Bound) -> Pair:
    """Return the pair with a given bound on δ as its privacy profile in both directions."""
    profile = BoundProfile(bound)
    return Pair(profile, profile)
