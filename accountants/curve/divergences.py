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
    """Hockey-stick divergences E_γ(P‖Q) of a pair at any γ > 0, with all values that were evaluated.

    They follow from the profiles of both directions. Values are addressed by t = log γ. Where γ < 1,
    E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) comes from the other direction.

    Attributes:
        forward: privacy profile of (P, Q), which gives E_γ(P‖Q) for γ ≥ 1.
        backward: privacy profile of (Q, P), which gives E_γ(Q‖P) for γ ≥ 1.
        rates: the false positive rates at which best tests will be requested.
        lower: whether lower bounds are needed. Otherwise none is computed, and `evaluated` holds the upper bound twice.
        aims: for each rate, the t = log γ of the best test on any pair so far. An upper bound there often shows that
            this pair has no better test.
        evaluated: bounds on E_γ(P‖Q), by t = log γ.
        bounds: upper bounds on E_γ(P‖Q) that take less time and may be larger, by t.
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
        """Best tests at the rates, if the profile computes them itself and lower bounds are needed; otherwise None."""
        return self.forward.best_tests(self.rates) if self.lower else None

    def upper_bound(self, log_gamma: float, largest_useful: float) -> float:
        """Return an upper bound on the hockey-stick divergence E_γ(P‖Q) at one γ ≥ 1.

        If evaluations at several t share their work, E_γ is evaluated at t together with all positive `aims`, and the
        results are stored.

        Args:
            log_gamma: t = log γ ≥ 0, in nats.
            largest_useful: largest bound that helps the caller. If the shared evaluation gives a larger one, t is
                evaluated separately.

        Returns:
            The bound on E_γ, at most 1 up to rounding.
        """
        if not (self.forward.shares_nodes or self.forward.finds_best_tests):
            return self.evaluate([log_gamma])[0].upper
        if log_gamma not in self.bounds:
            positive_aims = {aim for aim in self.aims.values() if aim > 0.0}
            self._bound(sorted({log_gamma, *positive_aims} - set(self.bounds)))
        if self.bounds[log_gamma] > largest_useful:
            self._bound([log_gamma])
        return self.bounds[log_gamma]

    def _bound(self, log_gammas: Sequence[float]) -> None:
        """Compute upper bounds on E_γ at several t = log γ ≥ 0 by one evaluation."""
        for log_gamma, end in zip(log_gammas, self.forward.upper_log_deltas(log_gammas), strict=True):
            upper = divergence_at(log_gamma, Interval(-math.inf, end)).upper
            self.bounds[log_gamma] = min(upper, self.bounds.get(log_gamma, math.inf))

    def evaluate(self, log_gammas: Sequence[float]) -> list[Interval]:
        """Return bounds on the hockey-stick divergence E_γ at each t = log γ, and store them.

        Args:
            log_gammas: values of t, of any sign. Those already stored are not evaluated again.

        Returns:
            One enclosure of E_γ for each t.
        """
        missing = [log_gamma for log_gamma in dict.fromkeys(log_gammas) if log_gamma not in self.evaluated]
        self._evaluate_direction(self.forward, [t for t in missing if t >= 0.0], is_reversed=False)
        self._evaluate_direction(self.backward, [t for t in missing if t < 0.0], is_reversed=True)
        return [self.evaluated[log_gamma] for log_gamma in log_gammas]

    def _evaluate_direction(self, profile: Profile, log_gammas: Sequence[float], *, is_reversed: bool) -> None:
        """Evaluate and store hockey-stick divergences at several points, by the profile of one direction.

        Args:
            profile: the profile of (P, Q), or of (Q, P).
            log_gammas: t = log γ of each divergence E_γ, at least 0 for (P, Q) and negative for (Q, P).
            is_reversed: whether the profile is that of (Q, P).
        """
        if not log_gammas:
            return
        bounds = profile.log_delta_bounds_in_search([abs(t) for t in log_gammas], lower=self.lower)
        for log_gamma, log_delta in zip(log_gammas, bounds, strict=True):
            self.evaluated[log_gamma] = divergence_at(log_gamma, log_delta, is_reversed=is_reversed)


def divergence_at(log_gamma: float, log_delta: Interval, *, is_reversed: bool = False) -> Interval:
    """Return bounds on the hockey-stick divergence E_γ(P‖Q), rounded outward, from bounds on its logarithm.

    If `is_reversed`, the bounds are those on log E_{1/γ}(Q‖P), and E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P) is used.

    Args:
        log_gamma: log γ, in nats.
        log_delta: bounds on log E_γ(P‖Q), or on log E_{1/γ}(Q‖P).
        is_reversed: whether `log_delta` is of (Q, P).

    Returns:
        Lower and upper bound on E_γ(P‖Q).
    """
    lower, upper = math.exp(log_delta.lower), math.exp(min(log_delta.upper, 0.0))
    if is_reversed:
        gamma, one_minus_gamma = math.exp(log_gamma), -math.expm1(log_gamma)
        lower = one_minus_gamma + gamma * lower
        upper = one_minus_gamma + gamma * upper
    rounding = 16 * UNIT_ROUNDOFF  # exceeds the errors of the exponentials, the product and the sum
    return Interval(lower * (1.0 - rounding), upper * (1.0 + rounding))
