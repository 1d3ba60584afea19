"""The best test between two distributions: its true positive rate at a false positive rate α.

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
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import BestTests, NearTest
from epsilond.accountants.numerics.best_test import gaussian_minimum, gaussian_mu, interpolated_minimum
from epsilond.accountants.numerics.minimum import Known, Slopes, least_value
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile

LOSS = 1e-7
"""Largest loss of the rate from the distance of the points, relative to the rate."""
CERTAIN = 1e-13
"""Value of 1 − E_1 below which no test is searched for."""
GOOD_GAP = 1e-6
"""Relative width of the rate at which the search ends."""
_EXPENSIVE_GAP, _BELOW_ONE = 5e-4, 0.1
"""Relative width of E_1 that is accepted on expensive nodes, and the least −log E_1 for this.

Near 1, 1 − E_1 matters.
"""
_ESTIMATES, _PATTERNS, _CUTS = 10, 3, 8
"""Limits on the points in the search of the best γ, on the patterns of four points, and on the points after these."""
_PATTERN = np.asarray([0.5, -0.5, 1.5, -1.5])
OUTERMOST = 2.25
"""Square of the outermost place of the pattern: the factor of a test's width of δ when points are placed."""
_ENOUGH = 6
"""Number of points above which the search needs no initial estimate."""
_SETTLED = 0.004
"""Size of a move, in natural units, below which points are placed around the present estimate."""
_WIDTHS_APART = 4.0
_NARROW_GAP, _MOST_WIDTHS = 2e-7, 5.0
"""Widths of the rate, relative and in widths of one value, below which no more points are placed."""
_SPREAD = np.asarray([0.25, 0.5, 1.0, 1.5, 2.25, 3.5])


@dataclass(frozen=True, eq=False)
class TradeOff:
    """A pair P against Q, known by E(P‖Q) and E(Q‖P), with all values that were evaluated.

    Attributes:
        forward, backward: E(P‖Q) and E(Q‖P).
        rates: the false positive rates that will be requested.
        lower: whether lower bounds are needed. Otherwise none is computed, and `evaluated` holds the upper bound twice.
        aims: t = log γ of the best test for each rate on any pair so far, at which a worse pair is recognised.
        evaluated, bounds: bounds on E_γ(P‖Q) by t = log γ, and upper bounds, which may be larger.
    """

    forward: Profile
    backward: Profile
    rates: tuple[float, ...]
    lower: bool = True
    aims: dict[float, float] = field(default_factory=dict, repr=False)
    evaluated: dict[float, Interval] = field(default_factory=dict, repr=False)
    bounds: dict[float, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        forward: Profile,
        backward: Profile,
        rates: Sequence[float],
        *,
        lower: bool = True,
        aims: dict[float, float] | None = None,
    ) -> TradeOff:
        """Return the trade-off of a pair at several false positive rates.

        Args:
            forward: E(P‖Q).
            backward: E(Q‖P).
            rates: the false positive rates.
            lower: whether lower bounds are needed.
            aims: t = log γ of the best test for each rate.
        """
        return cls(forward, backward, tuple(rates), lower, {} if aims is None else aims)

    @cached_property
    def near(self) -> dict[float, NearTest]:
        """Tests of about the requested sizes, by size, if there are any."""
        tests = self.forward.near_tests(self.rates)
        return {rate: test for rate, test in zip(self.rates, tests, strict=False) if test is not None}

    @cached_property
    def best(self) -> BestTests | None:
        """Best tests at the rates, if the profile computes them itself."""
        return self.forward.best_tests(self.rates) if self.lower else None

    @property
    def advantage(self) -> Interval:
        """Bounds on E_1, the largest difference of the two rates. It is equal in both directions."""
        lower, upper = self._evaluate([0.0])[0]
        return Interval(lower if self.lower else 0.0, upper)

    def advantage_within(self, floor: float) -> bool:
        """Return whether E_1 is at most `floor`, by an upper bound that costs less than both bounds."""
        if 0.0 not in self.evaluated and self.forward.shares_nodes:
            return self.upper_end(0.0, floor) <= floor
        return self.advantage.upper <= floor

    def read_nearby(self) -> bool:
        """Read E_1 on the nodes of a test if they are accurate.

        Return whether they are too expensive to place others.
        """
        if self.best is not None:
            ends = self.best.log_delta_at_zero
            if ends.upper - ends.lower <= GOOD_GAP:
                self.evaluated[0.0] = _divergence(0.0, ends)
            return False
        for near in self.near.values() if self.lower else ():
            ends = near.log_delta(0.0)
            largest_gap = _EXPENSIVE_GAP if near.expensive and ends.upper <= -_BELOW_ONE else GOOD_GAP
            if ends.upper - ends.lower <= largest_gap:
                self.evaluated[0.0] = _divergence(0.0, ends)
                return near.expensive
        return False

    def true_positives(self, rate: float, *, floor: float, attained: float = 0.0) -> Interval:
        """Return bounds on the best test's true positive rate. If no lower bound is needed, it is `rate`.

        The test at γ = 1 has at most 1 − E_1 false positives and at least E_1 true positives. E_1 is therefore a lower
        bound at every larger rate, and is enough if it is close to 1.

        Guarantees: lower ≤ TPR ≤ upper if the profiles enclose both directions, and TPR ≤ upper if they bound them.

        Args:
            rate: the false positive rate α, in (0, 1).
            floor: a known rate. The search ends if this direction exceeds it by at most a fraction `GOOD_GAP`.
            attained: a rate that is attained. If this direction is shown not to exceed it, the lower bound is `rate`.
        """
        at_one = self.evaluated.get(0.0)
        if at_one is not None and 1.0 - at_one.lower <= min(rate, CERTAIN):
            return Interval(at_one.lower if self.lower else rate, 1.0)
        search = _MinimumSearch(self, rate, floor) if floor > rate else None
        if search is not None:
            search.glance()
            if search.decided:
                return search.ends() if search.upper > attained else Interval(min(rate, search.upper), search.upper)
        if self.best is not None and (best := self.best.by_rate.get(rate)) is not None:
            self.aims[rate] = best.epsilon
            return best.true_positive_rate
        search = search or _MinimumSearch(self, rate, floor)
        if self.lower and (near := self.near.get(rate)) is not None:
            search.refine_around(near)
        else:
            search.estimate()
        if not search.decided:
            self.aims[rate] = search.place
        return search.ends()

    def upper_end(self, place: float, enough: float) -> float:
        """Return an upper bound on E_γ at t = log γ ≥ 0, by one evaluation for all aims if that is at most `enough`."""
        if not (self.forward.shares_nodes or self.forward.finds_best_tests):
            return self._evaluate([place])[0].upper
        if place not in self.bounds:
            self._bound(sorted({place, *(aim for aim in self.aims.values() if aim > 0.0)} - set(self.bounds)))
        if self.bounds[place] > enough:
            self._bound([place])
        return self.bounds[place]

    def _bound(self, places: Sequence[float]) -> None:
        """Compute upper bounds at these places by one evaluation."""
        for place, end in zip(places, self.forward.upper_log_deltas(places), strict=True):
            upper = _divergence(place, Interval(-math.inf, end)).upper
            self.bounds[place] = min(upper, self.bounds.get(place, math.inf))

    def _evaluate(self, places: Sequence[float]) -> list[Interval]:
        """Return bounds on E_γ at each t = log γ."""
        new = [place for place in dict.fromkeys(places) if place not in self.evaluated]
        for profile, side in ((self.forward, 1.0), (self.backward, -1.0)):
            unread = [place for place in new if (place >= 0.0) == (side > 0.0)]
            if not unread:
                continue
            bounds = profile.log_delta_bounds_in_search([side * place for place in unread], lower=self.lower)
            for place, interval in zip(unread, bounds, strict=True):
                self.evaluated[place] = _divergence(place, interval, turned=side < 0.0)
        return [self.evaluated[place] for place in places]


def _divergence(place: float, log_delta: Interval, *, turned: bool = False) -> Interval:
    """Return E_γ at γ = e^place, rounded outward, from its log, or from that of E_{1/γ} of the other direction."""
    lower, upper = math.exp(log_delta.lower), math.exp(min(log_delta.upper, 0.0))
    if turned:
        factor, less = math.exp(place), -math.expm1(place)
        lower, upper = less + factor * lower, less + factor * upper
    return Interval(lower * (1.0 - 16 * UNIT_ROUNDOFF), upper * (1.0 + 16 * UNIT_ROUNDOFF))


class _Model(NamedTuple):
    """A model of h at its minimum: the place t = log γ, h″/h in t (the natural distance to the power −2), and h."""

    place: float
    curvature: float
    value: float = math.nan

    def spread(self, width: float) -> float:
        """Return the distance at which to place points of a relative width. A chord must fall by more than that."""
        return math.sqrt(max(LOSS, _WIDTHS_APART * width) / self.curvature)


@dataclass(eq=False)
class _MinimumSearch:
    """The search for the least value of h, in t = log γ."""

    trade: TradeOff
    rate: float
    floor: float

    def __post_init__(self) -> None:
        """Start with h(0) = 1, and h(1/α) between 1 and 2."""
        self.lower_wanted = self.trade.lower
        self.slopes = Slopes(self.rate - 1.0, self.rate)
        self.upper = 1.0
        """The least of all upper bounds of h."""
        self.points = {-math.inf: Known(0.0, 1.0, 1.0), -math.log(self.rate): Known(1.0 / self.rate, 1.0, 2.0)}
        for place, ends in self.trade.evaluated.items():
            self._add(place, ends)

    def _add(self, place: float, divergence: Interval) -> None:
        gamma = math.exp(min(place, -math.log(self.rate)))  # beyond, h is at least 1
        if gamma * self.rate < 1.0:
            lower, upper = (gamma * self.rate + end for end in divergence)
            upper *= 1.0 + 8 * UNIT_ROUNDOFF
            self.points[place] = Known(gamma, lower * (1.0 - 8 * UNIT_ROUNDOFF), upper)
            self.upper = min(self.upper, upper)

    def _evaluate(self, places: Sequence[float]) -> None:
        wanted = [place for place in places if place not in self.points and place < -math.log(self.rate)]
        for place, ends in zip(wanted, self.trade._evaluate(wanted), strict=True):  # noqa: SLF001  its own search
            self._add(place, ends)

    @property
    def _sorted(self) -> list[Known]:
        # Keyed by γ, because different t may have equal exponentials.
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
        """Return both bounds from the present points."""
        least = max(least_value(self._sorted, self.slopes).value, self.rate) if self.lower_wanted else self.rate
        upper = min(self.upper, 1.0)
        return Interval(min(max(least * (1.0 - 1e-14), self.rate * (1.0 - 1e-14)), upper), upper)

    def _add_upper(self, place: float, divergence: float) -> None:
        """Use an upper bound on E_γ at γ = e^place."""
        gamma = math.exp(min(place, -math.log(self.rate)))  # beyond, h is at least 1
        if gamma * self.rate < 1.0:
            self.upper = min(self.upper, (gamma * self.rate + divergence) * (1.0 + 8 * UNIT_ROUNDOFF))

    def refine_around(self, near: NearTest) -> None:
        """Place four points around a test, the test itself if it is a corner, and then points of least lower bound."""
        step = _Model(near.epsilon, near.steepness).spread(OUTERMOST * near.width)
        for offset in [0.0, *_PATTERN.tolist()] if near.bent else _PATTERN.tolist():
            place = near.epsilon + offset * step
            self._add(place, _divergence(place, near.log_delta(place)))
            if self.decided or not self.lower_wanted:
                return
        self._cut_lowest(lambda place: self._add(place, _divergence(place, near.log_delta(place))))

    def glance(self) -> None:
        """Bound h cheaply: at the largest loss, where E is 0, and at the best test so far or a Gaussian's."""
        top = self.trade.forward.supremum
        if 0.0 < top < -math.log(self.rate):
            self._add_upper(top, 0.0)
        if self.decided:
            return
        aim = self.trade.aims.get(self.rate, -math.inf)
        if aim > 0.0 and (self.trade.forward.shares_nodes or self.trade.forward.finds_best_tests):
            self._add_upper(aim, self.trade.upper_end(aim, self.floor - math.exp(aim) * self.rate))
            return
        if 0.0 not in self.trade.evaluated or self.trade.forward.finds_best_tests or self.rate in self.trade.near:
            return
        at_one = self.trade.evaluated[0.0].upper
        if at_one > 0.0:
            self._evaluate([gaussian_minimum(gaussian_mu(at_one), self.rate)])

    def estimate(self) -> None:
        """Search for the minimum from δ(0) only. The first estimate assumes Gaussian losses."""
        self._evaluate([0.0])
        at_one = self.trade.evaluated[0.0].upper
        if at_one == 0.0:
            return
        mu = gaussian_mu(at_one)
        if not self.lower_wanted:
            # A bound, which may have several local minima.
            self._evaluate((max(gaussian_minimum(mu, min(self.trade.rates)), 0.0) * _SPREAD).tolist())
        elif len(self.points) <= _ENOUGH and not self._closest(place := gaussian_minimum(mu, self.rate)) <= 0.1 * mu:
            self._evaluate([min(place, -0.9 * math.log(self.rate))])
        before = math.inf
        for _ in range(_ESTIMATES):
            if self.decided:
                return
            model = self._model()
            moved = min(abs(model.place - before), self._closest(model.place)) * math.sqrt(model.curvature)
            if moved <= (_SETTLED if self.lower_wanted else math.sqrt(LOSS)):
                break
            self._evaluate([model.place])
            before = model.place
        if self.lower_wanted:
            self._refine(moved)
        elif not abs(model.value - self.upper) <= GOOD_GAP * self.upper:
            self._cut_lowest(lambda place: self._evaluate([place]))  # a bound that bends sharply

    def _refine(self, moved: float) -> None:
        for _ in range(_PATTERNS):
            model = self._model()
            best = self._best
            step = max(model.spread((best.upper - best.lower) / best.upper), 0.05 * moved / math.sqrt(model.curvature))
            self._evaluate([model.place + offset * step for offset in _PATTERN.tolist()])
            moved = 0.0
            if self.decided or self.narrow:
                return
        self._cut_lowest(lambda place: self._evaluate([place]))

    def _cut_lowest(self, read: Callable[[float], None]) -> None:
        """Read places at which the lower bound is least, while this helps."""
        for _ in range(_CUTS):
            least = least_value(self._sorted, self.slopes)
            if self.decided or self.narrow or least.place <= 0.0:
                return
            count = len(self.points)
            read(math.log(least.place))
            if len(self.points) == count:
                return

    @property
    def narrow(self) -> bool:
        """True if the bounds are as close as required, or as the widths of the values around the lower bound allow."""
        points, upper = self._sorted, self.upper
        least = least_value(points, self.slopes)
        place = bisect_left(points, least.place, key=lambda point: point.place)
        neighbours = points[max(place - 1, 0) : place + 2]
        widths = [point.upper - point.lower for point in neighbours if point.upper <= 1.01 * upper]
        return upper - least.value <= max(_NARROW_GAP * upper, _MOST_WIDTHS * min(widths, default=0.0))

    @property
    def _best(self) -> Known:
        return min(self.points.values(), key=lambda point: point.upper)

    def _closest(self, place: float) -> float:
        """Return the distance to the closest point that was read."""
        return min(abs(place - point) for point in self.points)

    def _model(self) -> _Model:
        """Return a model by interpolation of √−log E, about linear in t for small E, or of log −log E for E near 1."""
        places = sorted(self.points)
        best = min(range(1, len(places) - 1), key=lambda k: self.points[places[k]].upper)
        low, here, high = places[best - 1], places[best], places[best + 1]
        used = [(t, e) for t in places[1:-1] if 0.0 < (e := self._value(t)) < 1.0]
        used = sorted(used, key=lambda point: abs(point[0] - here))
        used = used[: 4 if math.isfinite(low) and best + 2 < len(places) else 2]
        if len(used) < 2 or not any(t == here for t, _ in used):
            least = least_value(self._sorted, self.slopes).place
            return _Model(math.log(least) if least > 0.0 else 0.5 * here, 1.0)
        if not math.isfinite(low):
            low = here - 2.0 * max(places[-2] - here, 0.01)
        if best + 2 == len(places):
            high = min(high, here + 3.0 * max(here - places[1], 1e-9))
        t_values, values = (np.asarray(column) for column in zip(*used, strict=True))
        place, bend, value = interpolated_minimum(t_values, values, low=low, high=high, rate=self.rate)
        return _Model(place, min(max(bend, 1e-2), 1e12) if math.isfinite(bend) else 1.0, value)

    def _value(self, place: float) -> float:
        """Return E_γ from the upper bound on h."""
        point = self.points[place]
        return point.upper - point.place * self.rate
