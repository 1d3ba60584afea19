"""Whether a curve keeps a true positive rate, by one likelihood-ratio threshold for each direction.

TPR(α) = inf over γ of γ α + E_γ(P‖Q), so any γ = e^t proves TPR(α) ≤ β if γ α + E_γ(P‖Q) ≤ β. With t ≥ 0 this is
δ(t) ≤ β − γ α for the profile of (P, Q). With t < 0, E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P), and it is
δ(−t) ≤ (1 − α) − (1 − β)/γ for the profile of (Q, P). A limit on the true positive rate is thus a limit on δ at one ε
for each direction. Close curves have close thresholds, so a search evaluates few points of each curve.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.best_test import gaussian_minimum, interpolated_minimum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.trade_off import TradeOff

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.target import RiskTarget

_SIDE = 0.2
"""First distance in t of the points on both sides of a threshold, in units of the natural distance."""
_MOST_MOVES, _SETTLED = 8, 1e-3
"""Limit on the moves of a threshold, and the move after which it stays, in natural distances: it costs 5e-7 of h."""
_INSIDE = 1e-9
"""Share of the range of t next to its ends that no threshold enters."""


class PointLimit(NamedTuple):
    """A sufficient condition for a true positive rate: δ at one ε of one direction.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        log_delta: certified upper bound on log δ at ε.
        largest_log_delta: largest log δ with which the rate is kept, rounded down.
    """

    epsilon: float
    log_delta: float
    largest_log_delta: float

    @property
    def is_met(self) -> bool:
        """True if the condition holds."""
        return self.log_delta <= self.largest_log_delta


def largest_log_delta(risk: RiskTarget, place: float) -> float:
    """Return the largest log δ at ε = |t| that keeps the true positive rate of a risk, rounded down; −∞ if none does.

    Args:
        risk: a risk of the kind `true_positive_rate`.
        place: t = log γ of the threshold. Below 0, δ is that of the other direction.
    """
    first, rate = risk.bound, risk.false_positive_rate
    if place < 0.0:
        first, rate = 1.0 - rate, 1.0 - first
    second = math.exp(abs(place)) * rate
    delta = first - second - 8.0 * UNIT_ROUNDOFF * (first + (1.0 + abs(place)) * second)
    return math.nextafter(math.log(delta), -math.inf) if delta > 0.0 else -math.inf


def gaussian_threshold(risk: RiskTarget) -> float:
    """Return t = log γ of the best test of the Gaussian pair that just meets a true positive rate."""
    return _within(risk, gaussian_minimum(risk.gaussian_mu, risk.false_positive_rate))


def _within(risk: RiskTarget, place: float) -> float:
    """Return the t that is nearest to a number and at which some δ > 0 keeps the rate."""
    rate = risk.false_positive_rate
    low, high = -math.log((1.0 - rate) / (1.0 - risk.bound)), math.log(risk.bound / rate)
    margin = _INSIDE * (high - low)
    return min(max(place, low + margin), high - margin)


class AimedTests:
    """The thresholds of both directions, which are kept from one curve to the next."""

    def __init__(self, risk: RiskTarget) -> None:
        """Start at the thresholds of the Gaussian pair that just meets the risk.

        Args:
            risk: a risk of the kind `true_positive_rate`.
        """
        self._risk = risk
        self._places = [gaussian_threshold(risk)] * 2
        self._is_aimed = False

    def limits(self, curve: Curve) -> list[PointLimit]:
        """Return the sufficient conditions at the present thresholds, one for each direction of the curve."""
        return [self._limit(tests, place) for tests, place in zip(self._directions(curve), self._places, strict=False)]

    def meets(self, curve: Curve) -> bool:
        """Return whether the curve certainly keeps the rate, at the present thresholds or after moving them."""
        if self._all_met(curve):
            return True
        self.aim(curve)
        return self._all_met(curve)

    def aim(self, curve: Curve, *, anew: bool = False) -> None:
        """Move each threshold to about the best one for a curve, unless it is better where it is.

        The first call searches the whole range, further ones search around the present thresholds.

        Args:
            curve: the curve.
            anew: whether to search the whole range again; a curve may have several good thresholds.
        """
        for index, tests in enumerate(self._directions(curve)):
            places = [self._places[index]]
            if anew or not self._is_aimed:
                tests.true_positives(self._risk.false_positive_rate, floor=self._risk.false_positive_rate)
                places += tests.aims.values()
            start = min(places, key=lambda place: self._bound(tests, place))
            self._places[index] = self._best_place(tests, _within(self._risk, start))
        self._is_aimed = True

    def _all_met(self, curve: Curve) -> bool:
        return all(limit.is_met for limit in self.limits(curve))

    def _directions(self, curve: Curve) -> list[TradeOff]:
        """Return the tests of P against Q, and those of Q against P if the pair is not symmetric."""
        pair, rates = curve.upper, (self._risk.false_positive_rate,)
        orders = [(pair.forward, pair.backward)]
        if not pair.symmetric:
            orders.append((pair.backward, pair.forward))
        return [TradeOff.of(*order, rates, lower=False) for order in orders]

    def _limit(self, tests: TradeOff, place: float) -> PointLimit:
        """Return the condition at one threshold of one direction."""
        profile = tests.forward if place >= 0.0 else tests.backward
        log_delta = profile.log_delta_bounds_in_search([abs(place)], lower=False)[0].upper
        return PointLimit(abs(place), log_delta, largest_log_delta(self._risk, place))

    def _bound(self, tests: TradeOff, place: float) -> float:
        """Return γ α + E_γ of one direction at a threshold."""
        place = _within(self._risk, place)
        return math.exp(place) * self._risk.false_positive_rate + tests.evaluate([place])[0].upper

    def _best_place(self, tests: TradeOff, start: float) -> float:
        """Return about the t of the least γ α + E_γ near a start, by interpolation between evaluated points.

        Args:
            tests: the tests of one direction.
            start: initial t.
        """
        rate = self._risk.false_positive_rate
        values = {start: tests.evaluate([start])[0].upper}
        step, best = _SIDE, start
        for _ in range(_MOST_MOVES):
            sides = [_within(self._risk, best - step), _within(self._risk, best + step)]
            values.update(zip(sides, (ends.upper for ends in tests.evaluate(sides)), strict=True))
            points = sorted((t for t in values if 0.0 < values[t] < 1.0), key=lambda t: abs(t - best))[:4]
            if len(points) < 3:
                return best
            low, high = min(sides), max(sides)
            place, bend, _ = interpolated_minimum(
                np.asarray(points), np.asarray([values[t] for t in points]), low=low, high=high, rate=rate
            )
            values.setdefault(place, tests.evaluate([place])[0].upper)
            previous, best = best, min(values, key=lambda t: math.exp(t) * rate + values[t])
            scale = math.sqrt(min(max(bend, 1e-2), 1e12)) if math.isfinite(bend) else 1.0
            moved = abs(best - previous)
            if moved * scale <= _SETTLED:
                break
            step = max(moved, 0.05 / scale)
        return best
