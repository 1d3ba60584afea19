"""Hockey-stick divergences E_γ(P‖Q) of a pair, with all values that were evaluated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import BestTests, NearTest
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile


@dataclass(frozen=True, eq=False)
class Divergences:
    """E_γ(P‖Q) of a pair at any γ > 0, known by the profiles of both directions, with all values that were evaluated.

    Values are addressed by t = log γ. Where γ < 1, E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) comes from the other direction.

    Attributes:
        forward, backward: profiles of (P, Q) and of (Q, P), which give E_γ for γ ≥ 1.
        rates: the false positive rates at which best tests will be requested.
        lower: whether lower bounds are needed. Otherwise none is computed, and `evaluated` holds the upper bound twice.
        aims: t = log γ of the best test for each rate on any pair so far. An upper bound there often shows that this
            pair has no better test.
        evaluated: bounds on E_γ(P‖Q), by t = log γ.
        bounds: upper bounds on E_γ(P‖Q) that cost less and may be larger, by t.
    """

    forward: Profile
    backward: Profile
    rates: tuple[float, ...]
    lower: bool = True
    aims: dict[float, float] = field(default_factory=dict, repr=False)
    evaluated: dict[float, Interval] = field(default_factory=dict, repr=False)
    bounds: dict[float, float] = field(default_factory=dict, repr=False)

    @cached_property
    def near(self) -> dict[float, NearTest]:
        """Tests with about the requested false positive rates, by rate, if the profile has any."""
        tests = self.forward.near_tests(self.rates)
        return {rate: test for rate, test in zip(self.rates, tests, strict=False) if test is not None}

    @cached_property
    def best(self) -> BestTests | None:
        """Best tests at the rates, if the profile computes them itself."""
        return self.forward.best_tests(self.rates) if self.lower else None

    def upper_end(self, place: float, enough: float) -> float:
        """Return an upper bound on E_γ at t = log γ ≥ 0, from an evaluation that serves all `aims` if possible.

        Args:
            place: t.
            enough: value above which the shared bound is too large, so that t is evaluated separately.
        """
        if not (self.forward.shares_nodes or self.forward.finds_best_tests):
            return self.evaluate([place])[0].upper
        if place not in self.bounds:
            positive_aims = {aim for aim in self.aims.values() if aim > 0.0}
            self._bound(sorted({place, *positive_aims} - set(self.bounds)))
        if self.bounds[place] > enough:
            self._bound([place])
        return self.bounds[place]

    def _bound(self, places: Sequence[float]) -> None:
        """Compute upper bounds on E_γ at several t = log γ ≥ 0 by one evaluation."""
        for place, end in zip(places, self.forward.upper_log_deltas(places), strict=True):
            upper = divergence_at(place, Interval(-math.inf, end)).upper
            self.bounds[place] = min(upper, self.bounds.get(place, math.inf))

    def evaluate(self, places: Sequence[float]) -> list[Interval]:
        """Return bounds on E_γ at each t = log γ, and store them."""
        new = [place for place in dict.fromkeys(places) if place not in self.evaluated]
        forward_places = [place for place in new if place >= 0.0]
        backward_places = [place for place in new if place < 0.0]
        if forward_places:
            bounds = self.forward.log_delta_bounds_in_search(forward_places, lower=self.lower)
            for place, interval in zip(forward_places, bounds, strict=True):
                self.evaluated[place] = divergence_at(place, interval)
        if backward_places:
            epsilons = [-place for place in backward_places]
            bounds = self.backward.log_delta_bounds_in_search(epsilons, lower=self.lower)
            # `turned`: E_γ for γ < 1 is computed from E_{1/γ} of the other direction.
            for place, interval in zip(backward_places, bounds, strict=True):
                self.evaluated[place] = divergence_at(place, interval, turned=True)
        return [self.evaluated[place] for place in places]


def divergence_at(place: float, log_delta: Interval, *, turned: bool = False) -> Interval:
    """Return E_γ at γ = e^place, rounded outward, from its log, or from that of E_{1/γ} of the other direction.

    Args:
        place: log γ.
        log_delta: bounds on log E_γ, or on log E_{1/γ} of the pair in the other direction.
        turned: whether `log_delta` is of the other direction.
    """
    lower, upper = math.exp(log_delta.lower), math.exp(min(log_delta.upper, 0.0))
    if turned:
        factor, less = math.exp(place), -math.expm1(place)
        lower, upper = less + factor * lower, less + factor * upper
    return Interval(lower * (1.0 - 16 * UNIT_ROUNDOFF), upper * (1.0 + 16 * UNIT_ROUNDOFF))
