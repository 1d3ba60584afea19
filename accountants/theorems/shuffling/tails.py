"""Tails for the bounds of shuffled mechanisms: a convex table with rows at the scale of the bound.

These bounds give values of δ(ε), and their privacy losses may have any scale: 1e-4 for a million clients. Rows are
spaced by log δ, not by ε, so that composed rounds lose a part in a thousand at every scale.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ndtri

from epsilond.accountants.curve.bracketed_search import upper_epsilon
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.root_search import Guess
from epsilond.accountants.profiles.bound import Bound, BoundProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.piecewise import PiecewiseTails, tabulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from epsilond.accountants.theorems.shuffling.planned_rows import Rows

_DEEPEST, _DEEP = -720.0, -80.0
"""log δ at which a table ends (δ of about 1e-313), and log δ below which rows are sparse."""
_MOST_ROWS, _MOST_STALLED = 1200, 12
"""Largest number of rows of a table, and of consecutive rows in which δ hardly falls before the table ends."""
_FURTHEST_ROW = 1e9
"""Largest ε of a row, in nats."""
_FURTHEST, _NOTHING = 700.0, -1e300
"""Largest privacy loss that is searched for, in nats, and a log δ below that of every double."""


class ScaledBound(Bound):
    """An upper bound on log δ(ε) of a mechanism, valid in both directions of every pair of neighbours.

    Subclasses implement `log_bound`. They may add cheaper evaluations, for one ε (`upper`), for increasing ε
    (`sequential_upper`) or for a whole table (`rows`).

    Attributes:
        is_convex: whether the bound on δ is convex in e^ε.
    """

    is_convex: ClassVar[bool] = False

    @property
    def largest_loss(self) -> float:
        """Least known ε from which on δ is exactly zero; math.inf if none is known."""
        return math.inf

    @property
    def lossy(self) -> bool:
        """True if the bounded mechanism is known to lose some privacy: its δ at ε = 0 is above 0."""
        return False

    @abstractmethod
    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the logarithm of the bound at ε ≥ 0; the width is the numerical error.

        Args:
            epsilon: privacy loss ε, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of the bound on δ(ε).
        """

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) that costs less than `log_bound` and may be slightly larger.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the upper bound; −∞ if δ is 0.
        """
        return self.log_bound(epsilon).upper

    def rows(self) -> Rows | None:
        """Return increasing values of ε with upper bounds on log δ, the rows of a table.

        Returns:
            The rows; None if evaluating many ε at once is not cheaper than one by one.
        """
        return None

    def sequential_upper(self) -> Callable[[float], float]:
        """Return a function that computes `upper` for calls with increasing ε.

        A subclass may start its search at each ε from the result at the previous one, which is cheaper.

        Returns:
            A function from ε in nats to an upper bound on log δ(ε).
        """
        return self.upper


@dataclass(frozen=True)
class PairBound(ScaledBound):
    """The bound on δ by two known distributions that dominate a mechanism: the larger δ of both directions.

    A dominating pair is two distributions with a hockey-stick divergence that bounds δ.

    Attributes:
        pair: the dominating pair.
    """

    is_convex: ClassVar[bool] = True

    pair: Pair

    @cached_property
    def largest_loss(self) -> float:
        """Least ε at which δ is proved to be 0; math.inf if it is positive at an ε of 700 nats."""
        if self.pair.log_delta_bounds(_FURTHEST).upper > -math.inf:
            return math.inf
        return upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, _NOTHING)

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the larger log δ(ε) of both directions of the pair."""
        return self.pair.log_delta_bounds(epsilon)


@dataclass(frozen=True)
class ScaledProfile(BoundProfile):
    """The privacy profile δ(ε) of a bound, with tail probabilities of the privacy loss from a table.

    A tail P(loss > ε) follows from the slope of δ as a function of e^ε. The table has bounds on log δ at several ε, its
    rows, and is made convex in e^ε. Log δ falls by about the same amount from row to row.

    Attributes:
        bound: the bound on log δ.
    """

    bound: ScaledBound

    @property
    def lossy(self) -> bool:
        """True if δ of the bounded mechanism at ε = 0 is known to be above 0."""
        return self.bound.lossy

    def guess(self, log_delta: float) -> Guess:
        """Estimate the ε with a given log δ, as the start of a search.

        The estimate is that of two normal distributions with the same δ at ε = 0.

        Args:
            log_delta: natural logarithm of δ.

        Returns:
            The ε in nats, with the steepness of log δ there. If the normal distributions give none, the general
            estimate of a bound is used.
        """
        return _normal_guess(self.upper_log_delta(0.0), log_delta) or super().guess(log_delta)

    @cached_property
    def _table(self) -> PiecewiseTails:
        """Upper bounds on δ at increasing ε, as a table that is convex in e^ε.

        If an ε with δ = 0 is known, it is the last entry.
        """
        rows = self.bound.rows()
        if rows is None:  # evaluate ε one by one
            epsilon, log_delta = np.asarray(list(self._rows())).T
            return tabulate(epsilon, log_delta)
        largest_loss = self.bound.largest_loss
        is_inside = rows.epsilon < largest_loss
        epsilon, log_delta = rows.epsilon[is_inside], rows.log_value[is_inside]
        if math.isinf(largest_loss):
            return tabulate(epsilon, log_delta)
        return tabulate(np.append(epsilon, largest_loss), np.append(log_delta, -math.inf))

    def _rows(self) -> Iterator[tuple[float, float]]:
        """Yield increasing ε with upper bounds on log δ, the entries (rows) of a table.

        Each step in ε is predicted from the previous one, so that log δ falls by about `_planned_fall`. The rows end
        where log δ reaches `_DEEPEST`, δ is zero, or δ has hardly fallen in `_MOST_STALLED` rows. There are at most
        about `_MOST_ROWS`.

        Yields:
            Pairs of ε in nats and an upper bound on log δ, beginning with ε = 0.
        """
        upper = self.bound.sequential_upper()
        largest_loss = self.bound.largest_loss
        at_zero = upper(0.0)
        yield 0.0, at_zero
        if at_zero == -math.inf:
            return

        # The first step in ε is a tenth of δ(0), because δ(0) has about the size of a typical privacy loss.
        epsilon, log_delta = 0.0, at_zero
        step = 0.1 * math.exp(at_zero)
        stalled_rows = 0
        for _ in range(_MOST_ROWS):
            # Where δ is negligible, few rows suffice: steps of at least 5 % of ε.
            if log_delta < _DEEP:
                step = max(step, 0.05 * epsilon)
            next_epsilon = epsilon + step
            if next_epsilon >= largest_loss:
                break
            next_log_delta = upper(next_epsilon)
            yield next_epsilon, next_log_delta

            fall = log_delta - next_log_delta
            planned_fall = _planned_fall(log_delta, at_zero)
            has_stalled = fall < 0.1 * planned_fall
            stalled_rows = stalled_rows + 1 if has_stalled else 0
            is_last = next_log_delta <= _DEEPEST or stalled_rows > _MOST_STALLED or next_epsilon > _FURTHEST_ROW
            if is_last:
                break
            step = (next_epsilon - epsilon) * _step_factor(fall, planned_fall)
            epsilon, log_delta = next_epsilon, min(log_delta, next_log_delta)
        if math.isfinite(largest_loss):
            yield largest_loss, -math.inf


def _step_factor(fall: float, planned_fall: float) -> float:
    """Return the factor by which the step in ε changes, so that log δ falls by about the planned amount.

    If log δ falls too fast, the step shrinks, and otherwise it grows. A very small or large fall is a poor prediction,
    so the factor is limited.

    Args:
        fall: decrease of log δ in the previous step; it may be 0.
        planned_fall: planned decrease, above 0.

    Returns:
        The factor, between 0.3 and 2.
    """
    smallest_fall = 1e-12  # avoids a division by 0
    ratio = planned_fall / max(fall, smallest_fall)
    return min(2.0, max(0.3, ratio))


def _planned_fall(log_delta: float, largest: float) -> float:
    """Return by how much log δ should fall from one row of a table of bounds to the next.

    A row is an ε with an upper bound on log δ. Linear interpolation of δ between rows raises log δ by up to about
    fall²/8. So larger δ, which matter most, get smaller falls.

    Args:
        log_delta: natural logarithm of δ at the row.
        largest: natural logarithm of δ at ε = 0.

    Returns:
        The planned decrease of log δ: 0.1 down to e^−9 of the largest δ, then 0.7, and 5 where δ is negligible.
    """
    is_large = log_delta > largest - 9.0
    is_negligible = log_delta < _DEEP
    if is_large:
        return 0.1
    if is_negligible:
        return 5.0
    return 0.7


def _normal_guess(at_zero: float, log_delta: float) -> Guess | None:
    """Estimate the ε at a given δ from the δ at ε = 0, as if the mechanism were Gaussian.

    The distributions N(μ, 1) and N(0, 1) have δ = 2Φ(μ/2) − 1 at ε = 0. This determines μ.

    Args:
        at_zero: log δ at ε = 0.
        log_delta: log of the target δ.

    Returns:
        The ε and the steepness of log δ there, in nats per nat; None if the normal distributions give no estimate.
    """
    if not log_delta < at_zero < -1e-3:  # a δ(0) of nearly 1 determines μ only roughly
        return None
    mu = 2.0 * float(ndtri(0.5 + 0.5 * math.exp(at_zero)))
    if mu <= 0.0:
        return None
    epsilon = gaussian_pair(mu).epsilon(log_delta).upper
    if not 0.0 < epsilon < LARGEST_EPSILON:
        return None
    # Log δ of a normal tail falls at a rate of about its standard score, per standard deviation μ of the loss.
    standard_score = max(epsilon / mu - 0.5 * mu, 1.0)
    steepness = standard_score / mu
    return Guess(epsilon, steepness)


def scaled_pair(bound: ScaledBound) -> Pair:
    """Return two distributions that dominate a mechanism, from a bound on δ that holds in both directions.

    Dominating means that their hockey-stick divergence bounds δ.

    Args:
        bound: upper bound on log δ(ε) of the mechanism.

    Returns:
        The pair, with the same privacy profile in both directions.
    """
    profile = ScaledProfile(bound)
    return Pair(profile, profile)
