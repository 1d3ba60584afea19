"""The best test between two distributions: the search for its true positive rate at a false positive rate α.

    TPR(α) = inf_{γ ≥ 0} h(γ),   h(γ) = γ α + E_γ(P‖Q),   where the test distinguishes P from Q,

and h is convex with slopes α − Q(L > log γ), h(0) = 1, h(1/α) ≥ 1. Its minimiser has Q(L > log γ) = α, or is a corner.

Every γ gives an upper bound. For a lower bound, four points close to the best γ are enough, two on either side. Between
two points, the extensions of the adjacent chords bound h (`numerics.minimum`). Beyond the outer points, h rises because
it is convex. The relative loss is at most half the square of the distance of the points, in natural distances
(`MinimumEstimate`). For γ < 1, E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) comes from the other direction.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.divergences import Divergences, divergence_at
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.minimum_estimate import LOSS, MinimumEstimate, search_interval
from epsilond.accountants.numerics.best_test import gaussian_minimum, gaussian_mu, interpolated_minimum
from epsilond.accountants.numerics.minimum import Known, Slopes, least_value
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.near_tests import NearTest

GOOD_GAP = 1e-6
"""Relative width of the rate at which the search ends."""
_ESTIMATES = 10
"""Limit on the points in the search of the best γ."""
_PATTERNS = 3
"""Limit on the patterns of four points around the minimum."""
_LAST_POINTS = 8
"""Limit on the single points after these patterns."""
_SHARPENINGS = 30
"""Limit on the rounds of `sharpen`."""
_SHORTEST = 1e-9
"""Length of an interval of t = log γ at which `sharpen` ends."""
_PATTERN = (0.5, -0.5, 1.5, -1.5)
"""Offsets of four points around the minimum, in units of the step."""
OUTERMOST = 2.25
"""Square of the outermost offset of the pattern, by which the width of a test's bounds is multiplied."""
_ENOUGH = 6
"""Number of points above which the search needs no initial estimate."""
_SETTLED = 0.004
"""Size of a move, in natural distances, below which points are placed around the present estimate."""
_NARROW_GAP = 2e-7
"""Relative width of the rate below which no more points are placed."""
_MOST_WIDTHS = 5.0
"""Width of the rate below which no more points are placed, in widths of the bounds at one point."""
_FIRST_MULTIPLES = np.asarray([0.25, 0.5, 1.0, 1.5, 2.25, 3.5])
"""First t = log γ of the search if only upper bounds are needed, as multiples of the minimiser for Gaussian losses."""


@dataclass(eq=False)
class MinimumSearch:
    """The search for the true positive rate of the best test of P against Q at a false positive rate α.

    It is the least value of h(γ) = γ α + E_γ(P‖Q) over γ > 0, with the hockey-stick divergence E_γ. The search
    evaluates h at several t = log γ.

    Attributes:
        divergences: E_γ(P‖Q), to which the search adds values.
        rate: the false positive rate α, in (0, 1).
        floor: a known true positive rate. The search ends if the least value exceeds it by at most a share `GOOD_GAP`.
        lower_wanted: whether a lower bound on the least value is needed.
        slopes: bounds on the slope of h.
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
        for log_gamma, divergence in self.divergences.evaluated.items():
            self._add(log_gamma, divergence)

    def _add(self, log_gamma: float, divergence: Interval) -> None:
        """Add bounds on h(γ) = γ α + E_γ as a point, unless γ is at least 1/α, where h is at least 1.

        Args:
            log_gamma: t = log γ.
            divergence: bounds on the hockey-stick divergence E_γ.
        """
        if log_gamma >= -math.log(self.rate):
            return
        gamma = math.exp(log_gamma)
        line = gamma * self.rate
        if line >= 1.0:
            return
        rounding = 8 * UNIT_ROUNDOFF  # of the exponential, the product and the sum
        lower = (line + divergence.lower) * (1.0 - rounding)
        upper = (line + divergence.upper) * (1.0 + rounding)
        self.points[log_gamma] = Known(gamma, lower, upper)
        self.upper = min(self.upper, upper)

    def _evaluate(self, log_gammas: Sequence[float]) -> None:
        """Evaluate E_γ at each new t = log γ below log 1/α, and add h there to `points`."""
        new = [t for t in log_gammas if t not in self.points and t < -math.log(self.rate)]
        for log_gamma, divergence in zip(new, self.divergences.evaluate(new), strict=True):
            self._add(log_gamma, divergence)

    def _evaluate_one(self, log_gamma: float) -> None:
        """Evaluate E_γ at t = log γ if it is new and below log 1/α, and add h there to `points`."""
        self._evaluate([log_gamma])

    @property
    def _sorted_points(self) -> list[Known]:
        """The points by increasing γ, once for each γ, because different t may have equal exponentials."""
        return sorted({point.x: point for point in self.points.values()}.values())

    @property
    def best_log_gamma(self) -> float:
        """The t = log γ of the least upper bound on h so far."""
        return min(self.points, key=lambda log_gamma: self.points[log_gamma].upper)

    @property
    def decided(self) -> bool:
        """True if the least value exceeds `floor` by at most a share `GOOD_GAP`, so that no more points are needed."""
        return self.upper <= self.floor * (1.0 + GOOD_GAP)

    def bounds(self) -> Interval:
        """Return bounds on the least value of h from the present points, within [α, 1] up to rounding."""
        least = least_value(self._sorted_points, self.slopes).value if self.lower_wanted else self.rate
        upper = min(self.upper, 1.0)
        lower = max(least, self.rate) * (1.0 - 1e-14)  # rounded down
        return Interval(min(lower, upper), upper)

    def _add_upper(self, log_gamma: float, divergence: float) -> None:
        """Lower `upper` by an upper bound on E_γ at t = log γ, if possible."""
        gamma = math.exp(min(log_gamma, -math.log(self.rate)))  # beyond, h is at least 1
        if gamma * self.rate < 1.0:
            self.upper = min(self.upper, (gamma * self.rate + divergence) * (1.0 + 8 * UNIT_ROUNDOFF))  # rounded up

    def refine_around(self, near: NearTest) -> None:
        """Evaluate h around a test that is known to be nearly the best, to bound the least value of h.

        h(γ) = γ α + E_γ, with the hockey-stick divergence E_γ and the false positive rate α. First h is evaluated
        around γ = e^ε, then where its lower bound is least. If no lower bound is wanted, one point is enough.

        Args:
            near: the test, loss > ε, with bounds on log E_γ near it, and whether h has a corner at e^ε.
        """

        def add_point(log_gamma: float) -> None:
            """Add bounds on h at a log γ to the points."""
            self._add(log_gamma, divergence_at(log_gamma, near.log_delta(log_gamma)))

        # Between points, h must rise by more than the width of its bounds.
        step = MinimumEstimate(near.epsilon, near.steepness).distance_of_points(OUTERMOST * near.width)
        offsets = [0.0] if near.bent else []
        offsets.extend(_PATTERN)
        for offset in offsets:
            add_point(near.epsilon + offset * step)
            if self.decided or not self.lower_wanted:
                return
        self._raise_lower_bound(add_point)

    def try_cheap_bounds(self) -> None:
        """Compute cheap upper bounds on the true positive rate, which may already decide the search.

        The rate is the least value of h(γ) = γ α + E_γ over γ, with the hockey-stick divergence E_γ and the false
        positive rate α. So h bounds it at each γ. The first γ is that of the largest privacy loss, where E_γ is 0. If
        this does not decide, γ is that of the best test for an earlier pair, if E_γ costs little there, or for Gaussian
        losses.
        """
        forward = self.divergences.forward
        if 0.0 < forward.supremum < -math.log(self.rate):  # the divergence is 0 there
            self._add_upper(forward.supremum, 0.0)
        if self.decided:
            return
        aim = self.divergences.aims.get(self.rate, -math.inf)
        has_cheap_bounds = forward.shares_nodes or forward.finds_best_tests
        if aim > 0.0 and has_cheap_bounds:
            largest_useful = self.floor - math.exp(aim) * self.rate
            self._add_upper(aim, self.divergences.upper_bound(aim, largest_useful))
        elif not forward.finds_best_tests:
            self._try_gaussian_minimiser()

    def _try_gaussian_minimiser(self) -> None:
        """Evaluate h at its minimiser for Gaussian losses with the same E_1 = δ(0), if E_1 is known and positive."""
        at_one = self.divergences.evaluated.get(0.0)
        if at_one is None or at_one.upper <= 0.0 or self.rate in self.divergences.near:
            return
        self._evaluate_one(gaussian_minimum(gaussian_mu(at_one.upper), self.rate))

    def find_minimum(self) -> None:
        """Search for the true positive rate of the best test if no test near it is known.

        The rate is the least value of h = γ α + E_γ over γ = e^t, with the hockey-stick divergence E_γ and the false
        positive rate α. The first estimate of t is that for Gaussian losses with the same δ(0) = E_1. Interpolation of
        h gives further estimates, until two successive ones are close. For lower bounds, points around the last follow.
        """
        self._evaluate_one(0.0)
        at_one = self.divergences.evaluated[0.0].upper
        if at_one == 0.0:
            return
        self._evaluate_first(gaussian_mu(at_one))

        # Moves of t are in units of 1/√(h″/h). At √LOSS units from the minimum, h exceeds it by a fraction LOSS/2.
        close = _SETTLED if self.lower_wanted else math.sqrt(LOSS)
        previous = math.inf
        for _ in range(_ESTIMATES):
            if self.decided:
                return
            estimate = self._estimate_minimum()
            change = min(abs(estimate.minimiser - previous), self._closest(estimate.minimiser))
            moved = change * math.sqrt(estimate.curvature)
            if moved <= close:
                break
            self._evaluate_one(estimate.minimiser)
            previous = estimate.minimiser

        if self.lower_wanted:
            self._refine(moved)
            return
        # The interpolation may be inaccurate, as for a bound that bends sharply.
        is_accurate = abs(estimate.value - self.upper) <= GOOD_GAP * self.upper
        if not is_accurate:
            self._raise_lower_bound(self._evaluate_one)

    def _evaluate_first(self, mu: float) -> None:
        """Evaluate h at the first points t = log γ of a search for its least value.

        h = γ α + E_γ, with the hockey-stick divergence E_γ and the false positive rate α. For lower bounds it is one
        point, the minimiser t for Gaussian losses, unless h is known near it. If only upper bounds are needed,
        multiples of the t of the smallest rate are used, because a bound may have several local minima.

        Args:
            mu: μ for which N(μ, 1) against N(0, 1) has the same total variation distance E_1.
        """
        if not self.lower_wanted:
            smallest = max(gaussian_minimum(mu, min(self.divergences.rates)), 0.0)
            self._evaluate((smallest * _FIRST_MULTIPLES).tolist())
            return
        log_gamma = gaussian_minimum(mu, self.rate)
        is_known_nearby = len(self.points) > _ENOUGH or self._closest(log_gamma) <= 0.1 * mu
        if not is_known_nearby:
            largest_useful = -0.9 * math.log(self.rate)  # from log 1/α on, h is at least 1
            self._evaluate_one(min(log_gamma, largest_useful))

    def _refine(self, moved: float) -> None:
        """Evaluate h at four points around its estimated minimum, several times, until the bounds on it are close.

        h = γ α + E_γ, with the hockey-stick divergence E_γ and the false positive rate α. After `_PATTERNS` rounds,
        single points follow.

        Args:
            moved: last move of the estimated minimiser t = log γ, in units of 1/√(h″/h).
        """
        for _ in range(_PATTERNS):
            estimate = self._estimate_minimum()
            best = min(self.points.values(), key=lambda point: point.upper)
            width = (best.upper - best.lower) / best.upper
            # The remaining error of the estimate is assumed to be a small part of its last move.
            remaining_error = 0.05 * moved / math.sqrt(estimate.curvature)
            step = max(estimate.distance_of_points(width), remaining_error)
            self._evaluate([estimate.minimiser + offset * step for offset in _PATTERN])
            moved = 0.0
            if self.decided or self.narrow:
                return
        self._raise_lower_bound(self._evaluate_one)

    def _raise_lower_bound(self, add_point: Callable[[float], None]) -> None:
        """Raise the lower bound on the minimum of h by evaluations where the bound is least.

        h = γ α + E_γ, with the hockey-stick divergence E_γ and the false positive rate α. The search ends if the bounds
        are close, after `_LAST_POINTS` evaluations, or if no new point was added.

        Args:
            add_point: function that evaluates h at a t = log γ, and adds the result to `points`.
        """
        for _ in range(_LAST_POINTS):
            least = least_value(self._sorted_points, self.slopes)  # at γ = x
            if self.decided or self.narrow or least.x <= 0.0:
                return
            count = len(self.points)
            add_point(math.log(least.x))
            if len(self.points) == count:  # no new point
                return

    def sharpen(self) -> None:
        """Narrow the bounds on the true positive rate by more evaluations until they are close.

        The rate is the minimum of h = γ α + E_γ. Each of at most `_SHARPENINGS` rounds halves the longer interval next
        to the least upper bound on h, down to `_SHORTEST`. It also evaluates h where its lower bound is least, if lower
        bounds are needed.
        """
        for _ in range(_SHARPENINGS):
            if self.lower_wanted and self.narrow:
                return
            log_gammas = sorted(self.points)
            best = self._best_inner(log_gammas)
            if best == 0:
                return
            low, high = search_interval(log_gammas, best)
            here = log_gammas[best]
            if high - low <= _SHORTEST:
                return

            farther_neighbour = low if here - low > high - here else high
            next_points = [0.5 * (here + farther_neighbour)]
            if self.lower_wanted:
                gamma_of_least = least_value(self._sorted_points, self.slopes).x
                if gamma_of_least > 0.0:
                    next_points.append(math.log(gamma_of_least))
            self._evaluate(next_points)

    def _best_inner(self, log_gammas: Sequence[float]) -> int:
        """Return the index of the point with the least upper bound on h, without the first and the last point.

        Args:
            log_gammas: t of all points, increasing.

        Returns:
            The index; 0 if there are at most two points.
        """
        inner = range(1, len(log_gammas) - 1)
        return min(inner, key=lambda index: self.points[log_gammas[index]].upper, default=0)

    @property
    def narrow(self) -> bool:
        """True if the bounds on the minimum are as close as required, or as the bounds at single points allow.

        The lower bound cannot come closer to the upper one than a few widths of the bounds on h at the points around
        it.
        """
        points = self._sorted_points
        least = least_value(points, self.slopes)

        index = bisect_left(points, least.x, key=lambda point: point.x)
        neighbours = points[max(index - 1, 0) : index + 2]
        widths = [point.upper - point.lower for point in neighbours if point.upper <= 1.01 * self.upper]
        allowed_gap = max(_NARROW_GAP * self.upper, _MOST_WIDTHS * min(widths, default=0.0))
        return self.upper - least.value <= allowed_gap

    def _closest(self, log_gamma: float) -> float:
        """Return the distance in t to the closest point."""
        return min(abs(log_gamma - point) for point in self.points)

    def _estimate_minimum(self) -> MinimumEstimate:
        """Estimate the minimum of h = γ α + E_γ by interpolation between the points nearest to the best one.

        The best point has the least upper bound on h. Without enough points, the minimiser of the lower bound is used.

        Returns:
            The estimate of the minimiser t, of the curvature h″/h there, and of the least value of h.
        """
        log_gammas = sorted(self.points)
        best = self._best_inner(log_gammas)
        here = log_gammas[best]
        nearest = self._nearest_values(log_gammas, best)

        is_best_usable = any(t == here for t, _ in nearest)
        if len(nearest) < 2 or not is_best_usable:
            gamma_of_least = least_value(self._sorted_points, self.slopes).x
            minimiser = math.log(gamma_of_least) if gamma_of_least > 0.0 else 0.5 * here
            return MinimumEstimate(minimiser, 1.0)

        low, high = search_interval(log_gammas, best)
        nearest_t = np.asarray([t for t, _ in nearest])
        values = np.asarray([value for _, value in nearest])
        minimiser, curvature, least = interpolated_minimum(nearest_t, values, low=low, high=high, rate=self.rate)
        # Natural distances are limited to the range from 1e-6 to 10.
        curvature = min(max(curvature, 1e-2), 1e12) if math.isfinite(curvature) else 1.0
        return MinimumEstimate(minimiser, curvature, least)

    def _nearest_values(self, log_gammas: Sequence[float], best: int) -> list[tuple[float, float]]:
        """Return t = log γ and the divergence E_γ of the points nearest to the best one, where E_γ is in (0, 1).

        Args:
            log_gammas: t of all points, increasing. The first and the last one are ends of the range.
            best: index of the point with the least upper bound on h = γ α + E_γ.

        Returns:
            Pairs (t, E_γ), at most four, or two if the best point is the first or last inner one.
        """
        values = [(t, self._value(t)) for t in log_gammas[1:-1]]
        usable = [(t, value) for t, value in values if 0.0 < value < 1.0]
        usable.sort(key=lambda point: abs(point[0] - log_gammas[best]))
        is_inner = math.isfinite(log_gammas[best - 1]) and best + 2 < len(log_gammas)
        return usable[: 4 if is_inner else 2]

    def _value(self, log_gamma: float) -> float:
        """Return the upper bound on E_γ at t = log γ, from the upper bound on h = γ α + E_γ."""
        point = self.points[log_gamma]
        return point.upper - point.x * self.rate
