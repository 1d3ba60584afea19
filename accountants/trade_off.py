"""The best test between two laws: its true positive rate at a false positive rate α.

    TPR(α) = inf_{γ ≥ 0} h(γ),   h(γ) = γ α + E_γ(P‖Q),   where P is told from Q,

and h is convex with slopes α − Q(L > log γ) in [α − 1, α]; h(0) = 1 and h(1/α) ≥ 1. The least value is at the γ of the
test L > log γ that Q passes with probability α.

*Above*, every γ gives a bound. *Below*, all γ count: four points close around the best one, two on either side, are
enough, for between two points the extensions of the chords beside them bound h (`numerics.minimum`), and from
the outer points on h rises by its convexity. At most half the square of the distance, in units of the natural one, is
lost. Where γ < 1, E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) comes from the other order.

The search for the best γ is sloppy; whatever it finds, the ends are true.
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
"""What the distance of the points may cost, relative to the rate."""
CERTAIN = 1e-13
"""1 − E_1 with which no test is looked for."""
GOOD_GAP = 1e-6
"""A relative width of the rate with which the search ends."""
_DEAR_GAP, _BELOW_ONE = 5e-4, 0.1
"""The same of E_1 on nodes that were dear, as far as −log E_1 is at least so much: next to 1, 1 − E_1 counts."""
_ESTIMATES, _PATTERNS, _CUTS = 10, 3, 8
"""Most points in search of the best one, most times that four are laid around it, and most points after that."""
_PATTERN = np.asarray([0.5, -0.5, 1.5, -1.5])
OUTERMOST = 2.25
"""The square of the outermost of these places: a test's width of δ counts so often in how far apart they are laid."""
_ENOUGH = 6
"""Points from which the best one is sought without a guess."""
_SETTLED = 0.004
"""A last move, in natural units, after which points are laid around where the search stands."""
_WIDTHS_APART = 4.0
_NARROW_GAP, _MOST_WIDTHS = 2e-7, 5.0
"""Relative widths of the rate, and in widths of one value, with which no more points are laid."""
_SPREAD = np.asarray([0.25, 0.5, 1.0, 1.5, 2.25, 3.5])


@dataclass(frozen=True, eq=False)
class TradeOff:
    """P against Q, known by E(P‖Q) and E(Q‖P), with all that was read of them.

    Attributes:
        forward: E(P‖Q).
        backward: E(Q‖P).
        rates: the false positive rates that will be asked.
        lower: whether lower bounds are wanted. Else none is read, and `known` has the upper one for both.
        aims: where the best test was found for each rate, by t = log γ, on any pair that was looked at: one that is
            no better is seen to be so there.
        known: ends of E_γ(P‖Q) by t = log γ.
        bounds: upper bounds likewise, which may be higher.
    """

    forward: Profile
    backward: Profile
    rates: tuple[float, ...]
    lower: bool = True
    aims: dict[float, float] = field(default_factory=dict, repr=False)
    known: dict[float, Interval] = field(default_factory=dict, repr=False)
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
        """For true positive rates at the false positive rates given."""
        return cls(forward, backward, tuple(rates), lower, {} if aims is None else aims)

    @cached_property
    def near(self) -> dict[float, NearTest]:
        """Tests of about these sizes, by size, where there are any."""
        found = self.forward.near_tests(self.rates)
        return {rate: test for rate, test in zip(self.rates, found, strict=False) if test is not None}

    @cached_property
    def best(self) -> BestTests | None:
        """The best tests at the rates, where the profile finds them itself."""
        return self.forward.best_tests(self.rates) if self.lower else None

    @property
    def advantage(self) -> Interval:
        """Ends of E_1, the largest difference of the two rates: the same in both orders."""
        lower, upper = self._read([0.0])[0]
        return Interval(lower if self.lower else 0.0, upper)

    def advantage_within(self, floor: float) -> bool:
        """Whether an upper bound of E_1 that costs less than both is at most this."""
        if 0.0 not in self.known and self.forward.shares_nodes:
            return self.upper_end(0.0, floor) <= floor
        return self.advantage.upper <= floor

    def read_nearby(self) -> bool:
        """E_1 on the nodes of a test, where they serve it well; whether these were so dear that no others are laid."""
        if self.best is not None:
            ends = self.best.log_delta_at_zero
            if ends.upper - ends.lower <= GOOD_GAP:
                self.known[0.0] = _divergence(0.0, ends)
            return False
        for near in self.near.values() if self.lower else ():
            ends = near.log_delta(0.0)
            if ends.upper - ends.lower <= (_DEAR_GAP if near.dear and ends.upper <= -_BELOW_ONE else GOOD_GAP):
                self.known[0.0] = _divergence(0.0, ends)
                return near.dear
        return False

    def true_positives(self, rate: float, *, floor: float) -> Interval:
        """Ends of the best test's true positive rate; `rate` for the lower one where none is wanted.

        The test whose rates differ most, by E_1, has at most 1 − E_1 false positives and at least E_1 true ones, so
        that E_1 is a lower bound at every larger rate: next to 1 that is all.

        Guarantees: lower ≤ TPR ≤ upper, if `forward` and `backward` enclose the two orders of one pair; where they only
        bound pairs, the upper bound does.

        Args:
            rate: the false positive rate α, in (0, 1).
            floor: a rate known already. The search ends if this order cannot exceed it by more than `GOOD_GAP` of it.
        """
        at_one = self.known.get(0.0)
        if at_one is not None and 1.0 - at_one.lower <= min(rate, CERTAIN):
            return Interval(at_one.lower if self.lower else rate, 1.0)
        search = _MinimumSearch(self, rate, floor)
        if floor > rate:
            search.glance()
            if search.decided:
                return search.ends()
        if self.best is not None and (best := self.best.by_rate.get(rate)) is not None:
            self.aims[rate] = best.epsilon
            return best.true_positive_rate
        if self.lower and (near := self.near.get(rate)) is not None:
            search.lay_around(near)
        else:
            search.estimate()
        if not search.decided:
            self.aims[rate] = search.place
        return search.ends()

    def upper_end(self, place: float, enough: float) -> float:
        """An upper bound of E_γ at t = log γ ≥ 0: from one evaluation for all aims, if that is at most `enough`."""
        if not (self.forward.shares_nodes or self.forward.finds_best_tests):
            return self._read([place])[0].upper
        if place not in self.bounds:
            asked = sorted({place, *(aim for aim in self.aims.values() if aim > 0.0)} - set(self.bounds))
            self._bound(asked)
        if self.bounds[place] > enough:
            self._bound([place])
        return self.bounds[place]

    def _bound(self, places: Sequence[float]) -> None:
        """Upper bounds at these places from one evaluation."""
        for place, end in zip(places, self.forward.upper_log_deltas(places), strict=True):
            upper = _divergence(place, Interval(-math.inf, end)).upper
            self.bounds[place] = min(upper, self.bounds.get(place, math.inf))

    def _read(self, places: Sequence[float]) -> list[Interval]:
        """Ends of E_γ at each t = log γ."""
        new = [place for place in dict.fromkeys(places) if place not in self.known]
        for profile, side in ((self.forward, 1.0), (self.backward, -1.0)):
            unread = [place for place in new if (place >= 0.0) == (side > 0.0)]
            if not unread:
                continue
            bounds = profile.log_delta_bounds_in_search([side * place for place in unread], lower=self.lower)
            for place, each in zip(unread, bounds, strict=True):
                self.known[place] = _divergence(place, each, turned=side < 0.0)
        return [self.known[place] for place in places]


def _divergence(place: float, log_delta: Interval, *, turned: bool = False) -> Interval:
    """E_γ at γ = e^place from its logarithm, or from that of E_{1/γ} of the other order; rounded outward."""
    lower, upper = math.exp(log_delta.lower), math.exp(min(log_delta.upper, 0.0))
    if turned:
        factor, less = math.exp(place), -math.expm1(place)
        lower, upper = less + factor * lower, less + factor * upper
    return Interval(lower * (1.0 - 16 * UNIT_ROUNDOFF), upper * (1.0 + 16 * UNIT_ROUNDOFF))


class _Model(NamedTuple):
    """Where h is about least, there h″/h in t: the reciprocal square of the natural distance, and h itself."""

    place: float
    curvature: float
    value: float = math.nan

    def spread(self, width: float) -> float:
        """How far apart to lay points of a relative width: a chord must fall by more than that."""
        return math.sqrt(max(LOSS, _WIDTHS_APART * width) / self.curvature)


@dataclass(eq=False)
class _MinimumSearch:
    """For the least value of h, in t = log γ."""

    trade: TradeOff
    rate: float
    floor: float

    def __post_init__(self) -> None:
        """h(0) = 1, and h is between 1 and 2 at 1/α."""
        self.lower_wanted = self.trade.lower
        self.slopes = Slopes(self.rate - 1.0, self.rate)
        self.upper = 1.0
        """The least of all upper bounds of h."""
        self.points = {-math.inf: Known(0.0, 1.0, 1.0), -math.log(self.rate): Known(1.0 / self.rate, 1.0, 2.0)}
        for place, ends in self.trade.known.items():
            self._add(place, ends)

    def _add(self, place: float, divergence: Interval) -> None:
        gamma = math.exp(place)
        if gamma * self.rate < 1.0:
            lower, upper = (gamma * self.rate + end for end in divergence)
            upper *= 1.0 + 8 * UNIT_ROUNDOFF
            self.points[place] = Known(gamma, lower * (1.0 - 8 * UNIT_ROUNDOFF), upper)
            self.upper = min(self.upper, upper)

    def _read(self, places: Sequence[float]) -> None:
        wanted = [place for place in places if place not in self.points and place < -math.log(self.rate)]
        for place, ends in zip(wanted, self.trade._read(wanted), strict=True):  # noqa: SLF001  its own search
            self._add(place, ends)

    @property
    def _sorted(self) -> list[Known]:
        # By γ: exponentials of different t may be the same.
        return sorted({point.place: point for point in self.points.values()}.values())

    @property
    def place(self) -> float:
        """The t of the least of those that were read."""
        return min(self.points, key=lambda place: self.points[place].upper)

    @property
    def decided(self) -> bool:
        """Whether the other order, or another pair, is at least as good, but for what a rate may be wide."""
        return self.upper <= self.floor * (1.0 + GOOD_GAP)

    def ends(self) -> Interval:
        """Both ends by what is known now."""
        least = max(least_value(self._sorted, self.slopes).value, self.rate) if self.lower_wanted else self.rate
        upper = min(self.upper, 1.0)
        return Interval(min(max(least * (1.0 - 1e-14), self.rate * (1.0 - 1e-14)), upper), upper)

    def _bounded(self, place: float, divergence: float) -> None:
        """By an upper bound of E_γ at γ = e^place."""
        gamma = math.exp(place)
        if gamma * self.rate < 1.0:
            self.upper = min(self.upper, (gamma * self.rate + divergence) * (1.0 + 8 * UNIT_ROUNDOFF))

    def lay_around(self, near: NearTest) -> None:
        """Four points around a test that was found, on its own nodes; then where the lower bound is least.

        A corner is the least point itself, which is where the chords on both sides meet.
        """
        step = _Model(near.epsilon, near.steepness).spread(OUTERMOST * near.width)
        for offset in [0.0, *_PATTERN.tolist()] if near.bent else _PATTERN.tolist():
            place = near.epsilon + offset * step
            self._add(place, _divergence(place, near.log_delta(place)))
            if self.decided or not self.lower_wanted:
                return
        self._cut(lambda place: self._add(place, _divergence(place, near.log_delta(place))))

    def glance(self) -> None:
        """Upper bounds that cost little: enough to see that the other order, or another pair, is better.

        At the largest loss, where E is zero; where the best test has been found, or else would be if losses were
        Gaussian.
        """
        top = self.trade.forward.supremum
        if 0.0 < top < -math.log(self.rate):
            self._bounded(top, 0.0)
        if self.decided:
            return
        aim = self.trade.aims.get(self.rate, -math.inf)
        if aim > 0.0 and (self.trade.forward.shares_nodes or self.trade.forward.finds_best_tests):
            self._bounded(aim, self.trade.upper_end(aim, self.floor - math.exp(aim) * self.rate))
            return
        if 0.0 not in self.trade.known or self.trade.forward.finds_best_tests or self.rate in self.trade.near:
            return
        at_one = self.trade.known[0.0].upper
        if at_one > 0.0:
            self._read([gaussian_minimum(gaussian_mu(at_one), self.rate)])

    def estimate(self) -> None:
        """The same with nothing to start from but δ(0), of which one guesses as if losses were Gaussian."""
        self._read([0.0])
        at_one = self.trade.known[0.0].upper
        if at_one == 0.0:
            return
        mu = gaussian_mu(at_one)
        if not self.lower_wanted:
            # A bound, which may have several local minima.
            self._read((max(gaussian_minimum(mu, min(self.trade.rates)), 0.0) * _SPREAD).tolist())
        elif len(self.points) <= _ENOUGH and not self._closest(place := gaussian_minimum(mu, self.rate)) <= 0.1 * mu:
            self._read([min(place, -0.9 * math.log(self.rate))])
        before = math.inf
        for _ in range(_ESTIMATES):
            if self.decided:
                return
            model = self._model()
            moved = min(abs(model.place - before), self._closest(model.place)) * math.sqrt(model.curvature)
            if moved <= (_SETTLED if self.lower_wanted else math.sqrt(LOSS)):
                break
            self._read([model.place])
            before = model.place
        if self.lower_wanted:
            self._lay_four(moved)
        elif not abs(model.value - self.upper) <= GOOD_GAP * self.upper:
            self._cut(lambda place: self._read([place]))  # a bound that bends sharply

    def _lay_four(self, moved: float) -> None:
        for _ in range(_PATTERNS):
            model = self._model()
            best = self._best
            step = max(model.spread((best.upper - best.lower) / best.upper), 0.05 * moved / math.sqrt(model.curvature))
            self._read([model.place + offset * step for offset in _PATTERN.tolist()])
            moved = 0.0
            if self.decided or self.narrow:
                return
        self._cut(lambda place: self._read([place]))

    def _cut(self, read: Callable[[float], None]) -> None:
        """Read where the lower bound is least, while that helps."""
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
        """Whether the ends are as close as they should be, or as what was read around the lower one allows."""
        points, upper = self._sorted, self.upper
        least = least_value(points, self.slopes)
        place = bisect_left(points, least.place, key=lambda point: point.place)
        beside = points[max(place - 1, 0) : place + 2]
        widths = [point.upper - point.lower for point in beside if point.upper <= 1.01 * upper]
        return upper - least.value <= max(_NARROW_GAP * upper, _MOST_WIDTHS * min(widths, default=0.0))

    @property
    def _best(self) -> Known:
        return min(self.points.values(), key=lambda point: point.upper)

    def _closest(self, place: float) -> float:
        """How far away the closest point is that was read."""
        return min(abs(place - known) for known in self.points)

    def _model(self) -> _Model:
        """By interpolation of E through the points around the best one.

        √−log E is about straight in t where E is small, and log −log E where it is near 1.
        """
        places = sorted(self.points)
        best = min(range(1, len(places) - 1), key=lambda k: self.points[places[k]].upper)
        low, here, high = places[best - 1], places[best], places[best + 1]
        used = [(t, e) for t in places[1:-1] if 0.0 < (e := self._value(t)) < 1.0]
        used = sorted(used, key=lambda each: abs(each[0] - here))
        used = used[: 4 if math.isfinite(low) and best + 2 < len(places) else 2]
        if len(used) < 2 or not any(t == here for t, _ in used):
            least = least_value(self._sorted, self.slopes).place
            return _Model(math.log(least) if least > 0.0 else 0.5 * here, 1.0)
        if not math.isfinite(low):
            low = here - 2.0 * max(places[-2] - here, 0.01)
        if best + 2 == len(places):
            high = min(high, here + 3.0 * max(here - places[1], 1e-9))
        known = np.asarray([t for t, _ in used]), np.asarray([e for _, e in used])
        place, bend, value = interpolated_minimum(*known, low=low, high=high, rate=self.rate)
        return _Model(place, min(max(bend, 1e-2), 1e12) if math.isfinite(bend) else 1.0, value)

    def _value(self, place: float) -> float:
        """E_γ from the upper bound of h."""
        point = self.points[place]
        return point.upper - point.place * self.rate
