"""The profile of a group of two changes: a table above it, and lower bounds on the function that the table is above.

Let P and Q be the distributions with and without a unit, and F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P). The least value
of F over all γ₁ > 0 is the profile of two composed trade-off functions. It is convex in γ and symmetric, so it is at
most every convex hull of values of F. Both terms of F are convex, because the second one is the perspective of a
convex function. So F at three places bounds F at all others from below (docs/random-allocation.md, Replace-one).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.numerics.special import log1m_exp
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.attained_tails import attained_table, infinite_loss_only

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.curve.near_tests import NearTest
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.piecewise import PiecewiseTails

_RISES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Increases of log F from its least value to the outer places. The error of the bound on log F is about as large."""
_SPLITS = 256
"""Number of log γ₁ at which the table is searched."""
_OFFSETS = 128
"""Number of distances of outer places that are tried."""
_LEAST_OFFSET = 1e-8
"""Least of these distances, as a fraction of the range."""
_DIGITS = 44
"""Number of binary digits of log γ₁, from the leading digit of the range on. Differences from log γ are then exact."""
_LEAST_FALL = 0.03
"""Least fall of log δ between the points of a table of lower bounds, per unit of 1 + |log δ|."""
_ROUNDING = 1e-13
"""Relative error of the few operations on a log of F, per unit of 1 + |log F|."""


@dataclass(frozen=True)
class GroupMinimum:
    """Lower bounds on the privacy profile of a group of two changes: the removal of a unit and the addition of another.

    A unit is the record or client that is protected. At γ = e^ε the profile is the least value over γ₁ > 0 of
    F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P). E_γ is the hockey-stick divergence of the pair (P, Q) of one change.

    Attributes:
        pair: the pair (P, Q) of one change. Its profiles enclose the divergences.
        table: a pair of finitely many losses that is close to it. It only decides where F is evaluated.
    """

    pair: Pair
    table: Pair

    @cached_property
    def _stored(self) -> dict[float, float]:
        """Stored lower bounds at every ε so far."""
        return {}

    def lower_log_delta(self, epsilon: float) -> float:
        """Return a lower bound on log δ for the removal of one record or client and the addition of another.

        The bound is stored for later calls.

        Args:
            epsilon: ε = log γ ≥ 0, in nats.

        Returns:
            The bound; −∞ if none is proved.
        """
        if epsilon not in self._stored:
            self._stored[epsilon] = self._lower_log_delta(epsilon)
        return self._stored[epsilon]

    def _lower_log_delta(self, epsilon: float) -> float:
        """Compute a lower bound on log δ of two changes of a data set, a removal and an addition.

        With the hockey-stick divergence E_γ of the pair (P, Q) of one change, and γ = e^ε, δ is the least value of:

            F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P)   over γ₁ > 0.

        F is convex, so that its values at three points bound it everywhere: near the minimum, and on both sides of it.
        The points are found with `table`, a pair that is cheap to evaluate, and F is bounded there with `pair`. ε is
        rounded up to a multiple of a power of two, so that differences are exact. This is valid as δ decreases with ε.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bound; −∞ if none is proved.
        """
        # The range of log γ₁, and the power of two of which log γ and all log γ₁ are multiples.
        largest_loss = max((profile.losses[-1] for profile in _atoms(self.table) if profile.losses), default=0.0)
        reach = epsilon + largest_loss
        if not 0.0 < reach < math.inf:
            return -math.inf
        _, exponent = math.frexp(reach)
        unit = 2.0 ** (exponent - _DIGITS)
        epsilon = math.ceil(epsilon / unit) * unit

        # The middle point: the γ₁ of many at which F is about the least.
        whole_range = np.rint(np.linspace(-largest_loss, reach, _SPLITS) / unit) * unit
        inner_range = np.rint(np.linspace(0.0, epsilon, _SPLITS) / unit) * unit
        grid = np.unique(np.concatenate((whole_range, inner_range)))
        middle = _approximate_minimiser(self.table, grid, epsilon, unit)
        if middle is None:
            return -math.inf
        least = _log_sums(self.pair, np.asarray([middle]), epsilon)
        if not math.isfinite(least.lower[0]):
            return -math.inf

        # Take the first pair of points on both sides that proves a bound.
        offsets = np.rint(np.geomspace(_LEAST_OFFSET * reach, reach, _OFFSETS) / unit) * unit
        for outer in self._outer_places(middle, offsets, epsilon):
            bound = _bound_by_three(middle, least, outer, _log_sums(self.pair, outer, epsilon))
            if bound > -math.inf:
                return bound
        return -math.inf

    def _outer_places(self, place: float, offsets: FloatArray, epsilon: float) -> Iterator[FloatArray]:
        """Yield pairs of points on both sides of the minimum of a convex function F, each pair farther out.

        With the minimum, each pair may prove a lower bound on F everywhere. Here γ = e^ε, and:

            F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P)

        with the hockey-stick divergences E of a pair (P, Q). The rises of F are estimated from a coarse table of the
        pair, because the exact divergences take longer.

        Args:
            place: log γ₁ of the approximate minimum of F.
            offsets: increasing distances from it that are tried.
            epsilon: log γ, in nats.

        Yields:
            A smaller and a larger log γ₁ at which log F is above its minimum by at least `_RISES[i]`, for each i as far
            as both exist.
        """
        candidates = np.concatenate(([place], place - offsets, place + offsets))
        log_f = _log_sums(self.table, candidates, epsilon).upper
        left_rises, right_rises = np.split(log_f[1:] - log_f[0], 2)
        # Take the nearest point on each side at which log F has risen by that much.
        for rise in _RISES:
            is_left, is_right = left_rises >= rise, right_rises >= rise
            if not (is_left.any() and is_right.any()):
                return
            left = place - offsets[is_left.argmax()]
            right = place + offsets[is_right.argmax()]
            yield np.asarray([left, right])


def _approximate_minimiser(table: Pair, splits: FloatArray, epsilon: float, unit: float) -> float | None:
    """Search for the γ₁ at which F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P) is about the least, on three ever finer grids.

    F bounds δ at log γ for the removal of one record and the addition of another. P and Q are the output distributions
    with and without one record. E_γ is the hockey-stick divergence, that is, δ at ε = log γ.

    Args:
        table: pair (P, Q) with profiles that are cheap to evaluate.
        splits: increasing log γ₁, the first grid.
        epsilon: log γ, in nats.
        unit: the number of which the result is a multiple.

    Returns:
        log γ₁ of the approximate minimum; None if F is zero at a point of a grid.
    """
    number_of_points = 65  # of each finer grid: 32 for each of the two intervals around the best point
    for _ in range(3):
        values = _log_sums(table, splits, epsilon).upper
        index = int(values.argmin())
        if values[index] == -math.inf:
            return None
        place = float(splits[index])
        # The next grid covers the two intervals around the best point.
        low, high = splits[max(index - 1, 0)], splits[min(index + 1, splits.size - 1)]
        finer = np.rint(np.linspace(low, high, number_of_points) / unit) * unit
        splits = np.unique(np.append(finer, place))
    return place


def _bound_by_three(place: float, least: Enclosure, outer: FloatArray, values: Enclosure) -> float:
    """Return a lower bound on the log of a convex function that holds everywhere, from its values at three points.

    At both outer points the function must be at least its middle value. Beyond an outer point it is then at least its
    value there. Between an outer point and the middle one it is above the line through the middle point and the
    other outer point.

    Args:
        place: log γ₁ of the middle point, where γ₁ is the argument of the function.
        least: bounds on the log of the function there.
        outer: log γ₁ of a smaller and of a larger point.
        values: bounds on the log of the function at these two.

    Returns:
        The bound; −∞ if an outer value may be below the middle one, or if a line falls to 0.
    """
    lower, upper = float(least.lower[0]), float(least.upper[0])
    if values.lower.min() < upper:
        return -math.inf

    # Distances in γ₁ and rises of the function, relative to γ₁ and the function in the middle.
    distance_below, distance_above = (abs(math.expm1(log_gamma - place)) for log_gamma in outer.tolist())
    rise_below, rise_above = np.expm1(values.upper - lower).tolist()

    # The largest fall of the two extended lines below the middle value.
    fall_above = distance_above / distance_below * rise_below
    fall_below = distance_below / distance_above * rise_above
    # The fall is rounded up, and the result is rounded down.
    fall = max(fall_above, fall_below) * (1.0 + _ROUNDING)
    if not fall < 1.0:
        return -math.inf
    return lower + math.log1p(-fall) - _ROUNDING * (1.0 + abs(lower))


def _log_sums(pair: Pair, splits: FloatArray, epsilon: float) -> Enclosure:
    """Enclose the logarithm of a bound on δ of two changes of a data set, the removal and the addition of a unit.

    The bound is F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P). E_γ is the hockey-stick divergence, that is, δ at ε = log γ.

    Args:
        pair: the pair (P, Q) of one change.
        splits: values of log γ₁, of any sign. The subtraction `epsilon` − log γ₁ must be exact in doubles.
        epsilon: log γ, in nats.

    Returns:
        Lower and upper bounds on log F, one for each γ₁.
    """
    forward = _log_divergence(pair.forward, pair.backward, splits)
    backward = _log_divergence(pair.backward, pair.forward, epsilon - splits)
    lower = np.logaddexp(forward.lower, backward.lower + splits)
    upper = np.logaddexp(forward.upper, backward.upper + splits)
    with np.errstate(invalid="ignore"):
        # Rounded outward: `_ROUNDING` covers the error of a sum of two exponentials, relative to the logarithms.
        slack = _ROUNDING * (2.0 + np.abs(upper) + np.abs(splits))
        lower = np.where(np.isneginf(lower), lower, lower - slack)
        upper = np.where(upper > -np.inf, upper + slack, upper)
    return Enclosure(lower, upper)


def _log_divergence(forward: Profile, backward: Profile, losses: FloatArray) -> Enclosure:
    """Enclose the log of the hockey-stick divergence E_κ(P‖Q), which is δ at ε = log κ, also for κ below 1.

    Profiles cover ε ≥ 0 only. For κ < 1 the reverse direction is used:

        E_κ(P‖Q) = 1 − κ + κ E_{1/κ}(Q‖P).

    Args:
        forward: the privacy profile of P against Q.
        backward: the privacy profile of Q against P.
        losses: array of log κ, of any sign.

    Returns:
        Lower and upper bounds on log E_κ(P‖Q), one for each κ.
    """
    lower, upper = np.empty_like(losses), np.empty_like(losses)
    is_negative = losses < 0.0
    if not is_negative.all():
        lower[~is_negative], upper[~is_negative] = forward.log_delta(losses[~is_negative])
    if is_negative.any():
        log_kappa = losses[is_negative]
        log_gap = log1m_exp(log_kappa)  # log(1 − κ)
        least, largest = backward.log_delta(-log_kappa)
        lower[is_negative] = np.logaddexp(log_gap, log_kappa + least)
        upper[is_negative] = np.logaddexp(log_gap, log_kappa + largest)
    return Enclosure(lower, upper)


def _atoms(pair: Pair) -> list[AtomicProfile]:
    """Return those of the two profiles of a pair that have finitely many privacy losses."""
    return [profile for profile in pair.directions() if isinstance(profile, AtomicProfile)]


@dataclass(frozen=True)
class GroupProfile(AtomicProfile):
    """The privacy profile of two changes of a data set: a table of upper bounds, with lower bounds on the exact value.

    The exact value is the least F(γ₁) = E_{γ₁}(P‖Q) + γ₁ E_{γ/γ₁}(Q‖P) over γ₁, for the pair (P, Q) of one change. The
    table depends on the effort of a composition, and the least value does not. So `log_delta` encloses the same number
    for every effort.

    Attributes:
        minimum: lower bounds on the exact value; None if there are none.
    """

    one_sided: ClassVar[bool] = True
    estimated: ClassVar[bool] = True

    minimum: GroupMinimum | None = field(default=None, compare=False, repr=False)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ of two changes of a data set at each ε.

        Lower bounds are on the exact value, and upper bounds are those of a table.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on log δ, in the shape of `epsilon`.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        bounds = [self.log_delta_bounds(point) for point in points.ravel().tolist()]
        lower = np.asarray([interval.lower for interval in bounds], dtype=np.float64)
        upper = np.asarray([interval.upper for interval in bounds], dtype=np.float64)
        return Enclosure(lower.reshape(points.shape), upper.reshape(points.shape))

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ of two changes of a data set at one ε.

        The lower bound is on the exact value, and the upper bound is that of a table.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bound on log δ.
        """
        upper = self.upper_log_delta(epsilon)
        return Interval(min(self._lower(epsilon), upper), upper)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of the table at one ε."""
        return super().log_delta_bounds(epsilon).upper

    def upper_log_deltas(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Return the upper bounds of the table at several ε."""
        return [self.upper_log_delta(epsilon) for epsilon in epsilons]

    def attained_log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the privacy loss of a pair with a δ of at most the exact one, for lower bounds.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Log probabilities of a loss above each ε under both distributions. They are those of two equal distributions
            if no such pair is known.
        """
        table = self._attained_table
        return infinite_loss_only(epsilon, -math.inf) if table is None else table.tails(np.asarray(epsilon))

    @cached_property
    def _attained_table(self) -> PiecewiseTails | None:
        """A table of lower bounds on δ, convex in e^ε like the δ of a pair of distributions.

        It is None if the bounds on δ are too wide. Its points are ε = 0 and the positive privacy losses. A point at
        which δ has hardly fallen since the last point is left out, because the slope between them would be inexact.
        """
        chosen: list[float] = []
        last_upper = math.inf
        for epsilon in (0.0, *(loss for loss in self.losses if loss > 0.0)):
            upper = self.upper_log_delta(epsilon)
            least_fall = _LEAST_FALL * (1.0 + abs(upper))
            if upper <= last_upper - least_fall:
                chosen.append(epsilon)
                last_upper = upper
        points = np.asarray(chosen)
        return attained_table(points, self.log_delta(points), -math.inf)

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """Search for tests near the most powerful ones at given false positive rates, with bounds on their errors.

        Args:
            sizes: false positive rates, in (0, 1).

        Returns:
            One test for each rate; None if no test near the rate is known.
        """
        bounds_of_table = super().log_delta_bounds
        return [self.test_of(size, bounds_of_table, self.tail_accuracy) for size in sizes]

    def _lower(self, epsilon: float) -> float:
        """Return the lower bound on log δ of two changes; −∞ if none is known."""
        return -math.inf if self.minimum is None else self.minimum.lower_log_delta(epsilon)
