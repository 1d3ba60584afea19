"""The best test between two distributions: the search for its true positive rate at a false positive rate α.

    TPR(α) = inf_{γ ≥ 0} h(γ),   h(γ) = γ α + E_γ(P‖Q),   where the test distinguishes P from Q,

and h is convex with slopes α − Q(L > log γ) in [α − 1, α], h(0) = 1 and h(1/α) ≥ 1. The least value is at the γ of the
test L > log γ that Q passes with probability α.

*Upper bound*: every γ gives a bound. *Lower bound*: all γ count. Four points close to the best γ, two on either side,
are enough. Between two points, the extensions of the adjacent chords bound h (`numerics.minimum`). From the outer
points on, h rises by its convexity. At most half the square of the distance, in units of the natural distance, is lost.
Where γ < 1, E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) comes from the other direction. A corner of h is itself the minimum.
The search for the best γ is inexact, but the bounds are valid for any γ.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.divergences import Divergences, divergence_at
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.best_test import gaussian_minimum, gaussian_mu, interpolated_minimum
from epsilond.accountants.numerics.minimum import Known, Slopes, least_value
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.near_tests import NearTest

LOSS = 1e-7
"""Largest loss of the rate from the distance of the points, relative to the rate."""
GOOD_GAP = 1e-6
"""Relative width of the rate at which the search ends."""
_ESTIMATES, _PATTERNS, _CUTS = 10, 3, 8
"""Limits on the points in the search of the best γ, on the patterns of four points, and on the points after these."""
_SHARPENINGS, _SHORTEST = 30, 1e-9
"""Limit on the rounds of `sharpen`, and the length in t = log γ at which it ends."""
_PATTERN = (0.5, -0.5, 1.5, -1.5)
"""Offsets of four points around the minimum, in units of the step."""
OUTERMOST = 2.25
"""Square of the outermost place of the pattern: the factor of a test's width of δ when points are placed."""
_ENOUGH = 6
"""Number of points above which the search needs no initial estimate."""
_SETTLED = 0.004
"""Size of a move, in natural units, below which points are placed around the present estimate."""
_WIDTHS_APART = 4.0
"""Least squared distance of points, in widths of a value and natural units."""
_NARROW_GAP, _MOST_WIDTHS = 2e-7, 5.0
"""Widths of the rate, relative and in widths of one value, below which no more points are placed."""
_SPREAD = np.asarray([0.25, 0.5, 1.0, 1.5, 2.25, 3.5])
"""First t = log γ of the search if only upper bounds are needed, as multiples of the minimiser for Gaussian losses."""


class _Model(NamedTuple):
    """An estimate of the minimum of h(t) = α e^t + E_γ(P‖Q), for t = log γ.

    Attributes:
        place: the minimiser t.
        curvature: h″/h there, with the second derivative in t. 1/√curvature is called the natural distance.
        value: h there; NaN if it is not estimated.
    """

    place: float
    curvature: float
    value: float = math.nan

    def spread(self, width: float) -> float:
        """Return the distance in t between new points, at which h rises by more than the width of its bounds.

        Args:
            width: width of the bounds on h at a point, relative to h.
        """
        return math.sqrt(max(LOSS, _WIDTHS_APART * width) / self.curvature)


@dataclass(eq=False)
class MinimumSearch:
    """The search for the least value of h(γ) = γ α + E_γ(P‖Q), in t = log γ.

    Attributes:
        divergences: E_γ(P‖Q), to which the search adds values.
        rate: the false positive rate α.
        floor: a known true positive rate. The search ends if the least value exceeds it by at most a share `GOOD_GAP`.
        upper: the least of all upper bounds on h so far.
        points: bounds on h at the points so far, by t.
    """

    divergences: Divergences
    rate: float
    floor: float

    def __post_init__(self) -> None:
        """Start with h(0) = 1, and h(1/α) between 1 and 2."""
        self.lower_wanted = self.divergences.lower
        self.slopes = Slopes(self.rate - 1.0, self.rate)
        self.upper = 1.0
        self.points = {-math.inf: Known(0.0, 1.0, 1.0), -math.log(self.rate): Known(1.0 / self.rate, 1.0, 2.0)}
        for place, ends in self.divergences.evaluated.items():
            self._add(place, ends)

    def _add(self, place: float, divergence: Interval) -> None:
        """Use bounds on E_γ at γ = e^place, unless γ ≥ 1/α, where h is at least 1."""
        if place >= -math.log(self.rate):
            return
        gamma = math.exp(place)
        if gamma * self.rate < 1.0:
            lower, upper = (gamma * self.rate + end for end in divergence)
            upper *= 1.0 + 8 * UNIT_ROUNDOFF
            self.points[place] = Known(gamma, lower * (1.0 - 8 * UNIT_ROUNDOFF), upper)
            self.upper = min(self.upper, upper)

    def _evaluate(self, places: Sequence[float]) -> None:
        """Evaluate and use E_γ at new places below log 1/α."""
        wanted = [place for place in places if place not in self.points and place < -math.log(self.rate)]
        for place, ends in zip(wanted, self.divergences.evaluate(wanted), strict=True):
            self._add(place, ends)

    @property
    def _sorted(self) -> list[Known]:
        """The points by increasing γ, once for each γ, because different t may have equal exponentials."""
        return sorted({point.place: point for point in self.points.values()}.values())

    @property
    def place(self) -> float:
        """The t of the least upper bound so far."""
        return min(self.points, key=lambda place: self.points[place].upper)

    @property
    def decided(self) -> bool:
        """True if the other direction, or another pair, is at least as good up to the accepted width of a rate."""
        return self.upper <= self.floor * (1.0 + GOOD_GAP)

    def ends(self) -> Interval:
        """Return both bounds on the least value of h from the present points. It is at least α."""
        least = least_value(self._sorted, self.slopes).value if self.lower_wanted else self.rate
        upper = min(self.upper, 1.0)
        return Interval(min(max(least, self.rate) * (1.0 - 1e-14), upper), upper)

    def _add_upper(self, place: float, divergence: float) -> None:
        """Use an upper bound on E_γ at γ = e^place."""
        gamma = math.exp(min(place, -math.log(self.rate)))  # beyond, h is at least 1
        if gamma * self.rate < 1.0:
            self.upper = min(self.upper, (gamma * self.rate + divergence) * (1.0 + 8 * UNIT_ROUNDOFF))

    def refine_around(self, near: NearTest) -> None:
        """Place four points around a test, the test itself if it is a corner, and then points of least lower bound."""
        step = _Model(near.epsilon, near.steepness).spread(OUTERMOST * near.width)
        for offset in (0.0, *_PATTERN) if near.bent else _PATTERN:
            place = near.epsilon + offset * step
            self._add(place, divergence_at(place, near.log_delta(place)))
            if self.decided or not self.lower_wanted:
                return
        self._cut_lowest(lambda place: self._add(place, divergence_at(place, near.log_delta(place))))

    def glance(self) -> None:
        """Compute cheap upper bounds on h = γ α + E_γ, which may already decide the search.

        One bound is at the largest loss, where E_γ is 0. Another one is at the best test on an earlier pair, from
        `Divergences.aims`, if bounds are cheap there. Otherwise h may be evaluated at the minimiser for Gaussian
        losses with the same E_1.
        """
        forward = self.divergences.forward
        if 0.0 < forward.supremum < -math.log(self.rate):
            self._add_upper(forward.supremum, 0.0)
        if self.decided:
            return
        aim = self.divergences.aims.get(self.rate, -math.inf)
        has_cheap_bounds = forward.shares_nodes or forward.finds_best_tests
        if aim > 0.0 and has_cheap_bounds:
            self._add_upper(aim, self.divergences.upper_end(aim, self.floor - math.exp(aim) * self.rate))
            return
        at_one = self.divergences.evaluated.get(0.0)
        if at_one is None or at_one.upper <= 0.0 or forward.finds_best_tests:
            return
        if self.rate not in self.divergences.near:
            self._evaluate([gaussian_minimum(gaussian_mu(at_one.upper), self.rate)])

    def estimate(self) -> None:
        """Search for the minimum of h = γ α + E_γ if no test near it is known.

        The first estimate is the minimiser for Gaussian losses with the same E_1 = δ(0). Interpolation of h gives
        further estimates until one moves little. For lower bounds, points are then placed around the last estimate.
        """
        self._evaluate([0.0])
        at_one = self.divergences.evaluated[0.0].upper
        if at_one == 0.0:
            return
        self._evaluate_first(gaussian_mu(at_one))
        previous = math.inf
        for _ in range(_ESTIMATES):
            if self.decided:
                return
            model = self._model()
            moved = min(abs(model.place - previous), self._closest(model.place)) * math.sqrt(model.curvature)
            # At √LOSS natural distances from the minimum, h exceeds its minimum by a fraction LOSS/2.
            if moved <= (_SETTLED if self.lower_wanted else math.sqrt(LOSS)):
                break
            self._evaluate([model.place])
            previous = model.place
        if self.lower_wanted:
            self._refine(moved)
        elif not abs(model.value - self.upper) <= GOOD_GAP * self.upper:
            self._cut_lowest(lambda place: self._evaluate([place]))  # a bound that bends sharply

    def _evaluate_first(self, mu: float) -> None:
        """Evaluate h = γ α + E_γ at first points t = log γ.

        The point is the minimiser for Gaussian losses, unless h is known near it. If only upper bounds are needed, the
        points are several multiples of it.

        Args:
            mu: μ for which N(μ, 1) against N(0, 1) has the same total variation distance E_1.
        """
        if not self.lower_wanted:
            # A bound may have several local minima.
            smallest = max(gaussian_minimum(mu, min(self.divergences.rates)), 0.0)
            self._evaluate((smallest * _SPREAD).tolist())
            return
        place = gaussian_minimum(mu, self.rate)
        if len(self.points) <= _ENOUGH and not self._closest(place) <= 0.1 * mu:
            self._evaluate([min(place, -0.9 * math.log(self.rate))])  # from log 1/α on, h is at least 1

    def _refine(self, moved: float) -> None:
        """Evaluate h at four points around its estimated minimum, and again until its bounds there are close.

        After `_PATTERNS` repetitions, single points follow.

        Args:
            moved: last move of the estimated minimiser t, times √curvature of `_Model`.
        """
        for _ in range(_PATTERNS):
            model = self._model()
            best = min(self.points.values(), key=lambda point: point.upper)
            width = (best.upper - best.lower) / best.upper
            # The remaining error of the estimate is taken as a small part of its last move.
            step = max(model.spread(width), 0.05 * moved / math.sqrt(model.curvature))
            self._evaluate([model.place + offset * step for offset in _PATTERN])
            moved = 0.0
            if self.decided or self.narrow:
                return
        self._cut_lowest(lambda place: self._evaluate([place]))

    def _cut_lowest(self, read: Callable[[float], None]) -> None:
        """Evaluate h where its lower bound is least, which raises the bound; again until the bounds are close.

        The search also ends after `_CUTS` evaluations, or if no new point was added.

        Args:
            read: function that evaluates h at a t = log γ, and adds the result to `points`.
        """
        for _ in range(_CUTS):
            least = least_value(self._sorted, self.slopes)
            if self.decided or self.narrow or least.place <= 0.0:
                return
            count = len(self.points)
            read(math.log(least.place))
            if len(self.points) == count:
                return

    def sharpen(self) -> None:
        """Evaluate h next to its least upper bound and at its least lower bound until both are close.

        The two intervals at the best point are halved in turn. The search also ends after `_SHARPENINGS` rounds, or if
        the intervals are shorter than `_SHORTEST`.
        """
        for _ in range(_SHARPENINGS):
            if self.lower_wanted and self.narrow:
                return
            places = sorted(self.points)
            best = min(range(1, len(places) - 1), key=lambda k: self.points[places[k]].upper, default=0)
            if best == 0:
                return
            low, high = _bracket(places, best)
            here = places[best]
            if high - low <= _SHORTEST:
                return
            wider = low if here - low > high - here else high
            wanted = [0.5 * (here + wider)]
            if self.lower_wanted:
                least = least_value(self._sorted, self.slopes).place
                wanted += [math.log(least)] if least > 0.0 else []
            self._evaluate(wanted)

    @property
    def narrow(self) -> bool:
        """True if the bounds are as close as required, or as the widths of the values around the lower bound allow."""
        points = self._sorted
        least = least_value(points, self.slopes)
        index = bisect_left(points, least.place, key=lambda point: point.place)
        neighbours = points[max(index - 1, 0) : index + 2]
        widths = [point.upper - point.lower for point in neighbours if point.upper <= 1.01 * self.upper]
        allowed_gap = max(_NARROW_GAP * self.upper, _MOST_WIDTHS * min(widths, default=0.0))
        return self.upper - least.value <= allowed_gap

    def _closest(self, place: float) -> float:
        """Return the distance to the closest point that was read."""
        return min(abs(place - point) for point in self.points)

    def _model(self) -> _Model:
        """Estimate the minimum of h by interpolation between the points nearest to the best one.

        The best point has the least upper bound on h. The interpolated function is √−log E_γ, which is about linear in
        t = log γ for small E_γ. It is log −log E_γ for E_γ near 1. Without enough points the estimate is the point of
        least lower bound.
        """
        places = sorted(self.points)
        best = min(range(1, len(places) - 1), key=lambda k: self.points[places[k]].upper)
        here = places[best]
        nearest = self._nearest_values(places, best)
        if len(nearest) < 2 or all(t != here for t, _ in nearest):
            least = least_value(self._sorted, self.slopes).place
            return _Model(math.log(least) if least > 0.0 else 0.5 * here, 1.0)
        low, high = _bracket(places, best)
        t_values, values = (np.asarray(column) for column in zip(*nearest, strict=True))
        place, bend, value = interpolated_minimum(t_values, values, low=low, high=high, rate=self.rate)
        curvature = min(max(bend, 1e-2), 1e12) if math.isfinite(bend) else 1.0  # natural distances from 1e-6 to 10
        return _Model(place, curvature, value)

    def _nearest_values(self, places: Sequence[float], best: int) -> list[tuple[float, float]]:
        """Return t = log γ and E_γ of the points nearest to the best one, which has the least upper bound on h.

        There are at most four, or two if the best point is the first or last inner one. E_γ is in (0, 1) at each.

        Args:
            places: t of all points, increasing. The first and the last one are ends of the range.
            best: index of the point with the least upper bound on h.
        """
        values = [(t, self._value(t)) for t in places[1:-1]]
        inside = [(t, value) for t, value in values if 0.0 < value < 1.0]
        inside.sort(key=lambda point: abs(point[0] - places[best]))
        is_inner = math.isfinite(places[best - 1]) and best + 2 < len(places)
        return inside[: 4 if is_inner else 2]

    def _value(self, place: float) -> float:
        """Return E_γ from the upper bound on h."""
        point = self.points[place]
        return point.upper - point.place * self.rate


def _bracket(places: Sequence[float], best: int) -> tuple[float, float]:
    """Return the interval of t = log γ in which the minimum of h is searched.

    It reaches from one neighbour of the best point to the other, or less far towards an end of the range.

    Args:
        places: t of all points, increasing. The first and the last one are ends of the range.
        best: index of the point with the least upper bound on h.
    """
    low, here, high = places[best - 1 : best + 2]
    if not math.isfinite(low):
        # The neighbour is −∞: go twice as far as the range of the points, and at least 0.02.
        low = here - 2.0 * max(places[-2] - here, 0.01)
    if best + 2 == len(places):
        # The neighbour is log 1/α: go at most three times as far as the range of the points, but not 0.
        high = min(high, here + 3.0 * max(here - places[1], 1e-9))
    return low, high
