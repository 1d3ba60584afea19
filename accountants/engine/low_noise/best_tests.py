"""The best tests of given false positive rates, for steps with little noise.

The true positive rate of the best test at α is the least value of F(γ) = γ α + E_γ over γ > 0. On a lattice, E_γ is
linear between two lattice points. The least value is therefore at a lattice point. Proofs: docs/low-noise.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import BestTest, BestTests
from epsilond.accountants.engine.low_noise.bounds import delta_bounds, has_low_noise, is_to_add, steps_to_remove
from epsilond.accountants.engine.low_noise.span import round_depth
from epsilond.accountants.engine.low_noise.table import loss_tables
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.low_noise.bounds import Laws
    from epsilond.accountants.engine.low_noise.span import Steps
    from epsilond.accountants.engine.low_noise.table import LossTable


@dataclass(frozen=True)
class TradeOffSearch:
    """Settings of the search for the most powerful test on a table's lattice of losses. All give valid bounds.

    Attributes:
        reaches: a small and a large number of lattice points that are evaluated on either side of the estimated best.
        stride: distance in nats, in the log likelihood ratio log γ, of further points beyond these.
        strides: largest number of further points.
        widest: largest relative distance of the bounds on a true positive rate that is returned.
    """

    reaches: tuple[int, int] = (3, 40)
    stride: float = 5.0
    strides: int = 64
    widest: float = 1e-2


TRADE_OFF_SEARCH = TradeOffSearch()


class _LatticeTradeOff(NamedTuple):
    """The function F(γ) = γ α + E_γ at the points of a table's lattice of losses, for one false positive rate α.

    E_γ is the hockey-stick divergence, δ at ε = log γ. The least value of F over γ > 0 is the true positive rate of the
    most powerful test. At a lattice point with the loss l, log γ is l in the direction that removes a contribution, and
    −l in the opposite one.

    Attributes:
        table: the table of the total loss of the steps that remove a contribution.
        rate: the false positive rate α, in (0, 1).
        to_add: whether the test is of the direction that adds a contribution.
    """

    table: LossTable
    rate: float
    to_add: bool

    def window(self, reach: int) -> range:
        """Return the lattice points around the estimated best one, where a tail of the loss equals the rate α.

        Args:
            reach: number of points on either side.

        Returns:
            Numbers of consecutive lattice points, counted from the least loss.
        """
        if self.to_add:
            best_place = int(np.searchsorted(self.table.first_distribution, self.rate))
        else:
            best_place = int(np.searchsorted(-self.table.second_survival, -self.rate))
        last = self.table.plan.points - 2
        best_place = min(best_place, last)
        return range(max(best_place - reach, 0), min(best_place + reach, last) + 1)

    def log_gamma(self, place: int) -> float:
        """Return log γ at a lattice point: its loss, or minus the loss in the direction that adds a contribution.

        Args:
            place: number of the lattice point, counted from the least loss.

        Returns:
            log γ in nats, of any sign.
        """
        loss = self.table.first + place * self.table.plan.spacing
        return -loss if self.to_add else loss

    def gamma(self, place: int) -> Interval:
        """Enclose the likelihood ratio γ of a lattice point, at which F(γ) = γ α + E_γ is evaluated.

        Its logarithm errs by some roundings of its terms. Logarithms beyond ±700 are cut, so that nothing overflows.

        Args:
            place: number of the lattice point, counted from the least loss.

        Returns:
            The lower and the upper bound on γ, a likelihood ratio above 0.
        """
        log_gamma = self.log_gamma(place)
        gamma = math.exp(min(max(log_gamma, -700.0), 700.0))
        # Far more than the roundings of the logarithm, relative to the sizes of its terms.
        error = 64 * UNIT_ROUNDOFF * (1.0 + abs(self.table.first) + abs(log_gamma))
        return Interval(gamma * (1.0 - error), gamma * (1.0 + error))

    def value(self, place: int) -> Interval:
        """Enclose the function of the likelihood ratio that has the true positive rate as its least value.

        The function is F(γ) = γ α + E_γ. α is the false positive rate, and E_γ the hockey-stick divergence for the γ of
        the lattice point (`gamma`).

        Args:
            place: number of the lattice point.

        Returns:
            The lower and the upper bound on F(γ).
        """
        gamma = self.gamma(place)
        if self.to_add:
            return self._value_to_add(place, gamma)
        lower, upper = self.table.lattice_delta(place)
        # Rounded outward: the product, the sum and this factor err by a few units of roundoff.
        rounding = 8 * UNIT_ROUNDOFF
        least = (self.rate * gamma.lower + lower) * (1.0 - rounding)
        largest = (self.rate * gamma.upper + upper) * (1.0 + rounding)
        return Interval(least, largest)

    def _value_to_add(self, place: int, gamma: Interval) -> Interval:
        """Enclose F(γ) = γ α + E_γ in the direction that adds a contribution, as 1 − γ (1 − α − E_{1/γ}).

        α is the false positive rate, and E_γ the hockey-stick divergence (δ at ε = log γ). E_{1/γ} is that of the
        direction that removes a contribution, to which the table belongs. At the least loss, E_γ is 0 and F is γ α.

        Args:
            place: number of the lattice point.
            gamma: bounds on γ there.

        Returns:
            Bounds on F(γ), outward by the roundings.
        """
        if place == 0:
            return Interval(self.rate * gamma.lower, self.rate * gamma.upper)
        lower, upper = self.table.lattice_delta(place)
        # The terms are at most 1 + γ, and the bound errs by a few units of roundoff of that.
        rounding = 8 * UNIT_ROUNDOFF * (1.0 + gamma.upper)
        # 1 − α − E_{1/γ} may be of any sign, so both bounds on γ are tried.
        largest_bracket, least_bracket = 1.0 - self.rate - lower, 1.0 - self.rate - upper
        largest_product = max(gamma.lower * largest_bracket, gamma.upper * largest_bracket)
        least_product = min(gamma.lower * least_bracket, gamma.upper * least_bracket)
        return Interval(1.0 - largest_product - rounding, 1.0 - least_product + rounding)

    def upper_bound(self) -> tuple[float, float]:
        """Return an upper bound on the true positive rate, and log γ at the lattice point that gives it.

        F(γ) = γ α + E_γ is an upper bound for every γ, with the hockey-stick divergence E_γ. The least one near the
        estimated best lattice point is used.

        Returns:
            The upper bound, at most 1, and log γ in nats.
        """
        narrow_reach, _ = TRADE_OFF_SEARCH.reaches
        bounds = {place: self.value(place).upper for place in self.window(narrow_reach)}
        best_place = min(bounds, key=bounds.__getitem__)
        return min(bounds[best_place], 1.0), self.log_gamma(best_place)

    def lower_bound(self) -> float:
        """Return a lower bound on the true positive rate of the best test.

        The true positive rate is the least value of F(γ) = γ α + E_γ. The bound is the least value in a window of
        lattice points, or the bound beyond both ends of the window if that is smaller. Then a wider window is tried.

        Returns:
            The lower bound. It is −∞ if no lattice point beyond the window can be bounded.
        """
        least = -math.inf
        for reach in TRADE_OFF_SEARCH.reaches:
            window = self.window(reach)
            inside = min(self.value(place).lower for place in window)

            # γ falls with the lattice point in the direction that adds a contribution.
            last_two, first_two = (window[-1], window[-2]), (window[0], window[1])
            left, right = (last_two, first_two) if self.to_add else (first_two, last_two)
            outside = min(self._bound_left(*left), self._bound_right(*right))
            least = max(least, min(inside, outside))
            if outside >= inside:
                break
        return least

    def _bound_left(self, outer: int, inner: int) -> float:
        """Bound the true positive rate from below for likelihood ratios γ below that of a lattice point.

        The least value of F(γ) = γ α + E_γ is the true positive rate of the best test at the false positive rate α. E_γ
        is the hockey-stick divergence, δ at ε = log γ.

        F is convex. It is therefore above the extended chord of two points, and also above 1 − γ (1 − α). At the least
        loss the bound is math.inf, because F falls up to there.

        Args:
            outer: number of the lattice point.
            inner: number of the next point, with a larger γ.

        Returns:
            The lower bound on the true positive rate, or math.inf.
        """
        if outer == 0:
            return math.inf
        gamma = self.gamma(outer).upper
        by_chord = self.value(outer).lower - gamma * self._slope_inwards(outer, inner)
        # The line is rounded down: its terms are at most 1.
        by_line = 1.0 - gamma * (1.0 - self.rate) - 4 * UNIT_ROUNDOFF
        return max(by_chord, by_line)

    def _bound_right(self, outer: int, inner: int) -> float:
        """Bound the true positive rate from below for likelihood ratios γ above that of a lattice point.

        The least value of F(γ) = γ α + E_γ is the true positive rate of the best test at the false positive rate α. E_γ
        is the hockey-stick divergence, δ at ε = log γ.

        Points of ever larger γ follow. F is convex, so between two of them it is above the extended chord of the
        previous two. From 1/α on, F is at least 1. The result is −∞ if the number of points is not enough.

        Args:
            outer: number of the lattice point.
            inner: number of the next point, with a smaller γ.

        Returns:
            The lower bound on the true positive rate, or −math.inf.
        """
        least = math.inf
        stride = math.ceil(TRADE_OFF_SEARCH.stride / self.table.plan.spacing)
        last = 0 if self.to_add else self.table.plan.points - 2
        for _ in range(TRADE_OFF_SEARCH.strides):
            value = self.value(outer)
            slope = self._slope_inwards(outer, inner)
            if slope == 0.0 or (self.to_add and outer == 0):
                return min(least, value.lower)

            # The bound up to the next point, or up to 1/α if this is the last one.
            next_outer = max(outer - stride, last) if self.to_add else min(outer + stride, last)
            is_end = next_outer == outer or self.gamma(outer).upper * self.rate >= 1.0
            next_gamma = 1.0 / self.rate if is_end else self.gamma(next_outer).upper
            by_chord = value.lower - slope * next_gamma * (1.0 + 4 * UNIT_ROUNDOFF)  # rounded down
            least = min(least, by_chord)
            if is_end:
                return least
            outer, inner = next_outer, outer
        return -math.inf

    def _slope_inwards(self, outer: int, inner: int) -> float:
        """Return an upper bound, at least 0, on the rise of F per γ from a lattice point towards the best one.

        F(γ) = γ α + E_γ is a convex function, for the false positive rate α and the hockey-stick divergence E_γ.

        Args:
            outer: number of the lattice point.
            inner: number of another lattice point, nearer to the best one.

        Returns:
            The bound; math.inf if F may rise while the computed distance of both γ is 0.
        """
        rise = self.value(inner).upper - self.value(outer).lower
        if rise <= 0.0:
            return 0.0
        gap = self._gap(outer, inner)
        if gap <= 0.0:
            return math.inf
        # Rounded up: the difference and the quotient err by a few units of roundoff.
        return rise / gap * (1.0 + 4 * UNIT_ROUNDOFF)

    def _gap(self, first: int, second: int) -> float:
        """Return a lower bound, at least 0, on the distance |γ − γ′| of two lattice points.

        Args:
            first: number of one lattice point.
            second: number of the second lattice point.

        Returns:
            The lower bound on the distance of the two likelihood ratios, rounded down.
        """
        start, end = self.gamma(first), self.gamma(second)
        return max(start.lower - end.upper, end.lower - start.upper, 0.0) * (1.0 - 4 * UNIT_ROUNDOFF)  # rounded


def finds_tests(laws: Laws) -> bool:
    """Return whether the tables for little noise can find the best tests of a composition.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.

    Returns:
        True if all steps are within the limits of the tables, and δ depends on total losses near the least one.
    """
    steps = steps_to_remove(laws)
    return steps is not None and has_low_noise(steps, 0.0, for_tests=True)


def best_tests(laws: Laws, rates: Sequence[float], rounding: float) -> BestTests | None:
    """Enclose the true positive rates of the most powerful tests, from tables of the total loss.

    Args:
        laws: distributions of the privacy loss of one step, each with its number of steps.
        rates: false positive rates, in (0, 1).
        rounding: share of 1 + |log δ| by which bounds of log δ are moved outward.

    Returns:
        For each rate, bounds on the true positive rate of the best test, with bounds on log δ(0). None if the tables do
        not apply. They are for steps with little noise only.
    """
    steps = steps_to_remove(laws)
    if steps is None:
        return None
    # The tables are made for the direction that removes a contribution, and also serve the reverse.
    to_add = is_to_add(laws)
    bounds = delta_bounds(steps, 0.0, to_add, for_tests=True)
    if bounds is None:
        return None
    tests = {rate: _best_test(steps, rate, to_add, rounding) for rate in rates}
    # At a width of infinity any bounds are accepted.
    log_delta_at_zero = bounds.log_delta(0.0, math.inf) or Interval(-math.inf, 0.0)
    return BestTests(tests, log_delta_at_zero)


def _best_test(steps: Steps, rate: float, to_add: bool, rounding: float) -> BestTest | None:
    """Find the most powerful test with a false positive rate, from tables of the total loss.

    A table of plain probabilities is used first. In the direction that removes a contribution, a table with the weights
    e^{λS} replaces it if δ is small at the test. Its bounds are then closer.

    Args:
        steps: loss distribution of each kind of step, in the direction that removes a contribution, with its count.
        rate: the false positive rate.
        to_add: whether the test is of the direction that adds a contribution.
        rounding: share of 1 + |log b| by which each bound b on the true positive rate is moved outward, relative to b.

    Returns:
        The test; None if the losses do not fit into a table, or if its bounds are not close.
    """
    tables = loss_tables(steps, 0.0)
    if tables is None:
        return None
    lower_table, upper_table = tables
    upper, log_gamma = _LatticeTradeOff(upper_table, rate, to_add).upper_bound()

    # Tilted tables, if δ is small at this test.
    delta = max(upper_table.delta(log_gamma), 1e-300)
    depth = 0.0 if to_add else round_depth(-math.log(delta))
    if depth > 0.0:
        tables = loss_tables(steps, depth) if has_low_noise(steps, depth, for_tests=True) else None
        if tables is None:
            return None
        lower_table, upper_table = tables
        upper, log_gamma = _LatticeTradeOff(upper_table, rate, to_add).upper_bound()

    # A test at the false positive rate α is at least as powerful as a random guess, so α is a lower bound.
    lower = max(_LatticeTradeOff(lower_table, rate, to_add).lower_bound(), rate)
    if not lower * (1.0 + TRADE_OFF_SEARCH.widest) >= upper:
        return None
    # Move both bounds outward by `rounding` (1 + |log of the bound|).
    lower *= 1.0 - rounding * (1.0 - math.log(lower))
    upper *= 1.0 + rounding * (1.0 - math.log(upper))
    return BestTest(Interval(lower, min(max(upper, lower), 1.0)), log_gamma)
