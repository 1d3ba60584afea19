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
_MOST_MOVES = 8
"""Limit on the moves of a threshold."""
_SETTLED = 1e-3
"""Move after which a threshold stays, in natural distances. It costs 5e-7 of the bound on the rate."""
_INSIDE = 1e-9
"""Share of the range of t next to its ends that no threshold enters."""


class PointLimit(NamedTuple):
    """A condition on δ at one ε that is sufficient for a limit on an attacker's true positive rate.

    The condition is about one direction of a pair of distributions.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        log_delta: certified upper bound on log δ at ε.
        largest_log_delta: largest log δ with which the limit on the rate holds, rounded down.
    """

    epsilon: float
    log_delta: float
    largest_log_delta: float

    @property
    def is_met(self) -> bool:
        """True if the condition holds."""
        return self.log_delta <= self.largest_log_delta


def largest_log_delta(risk: RiskTarget, log_gamma: float) -> float:
    """Return the largest log δ that proves a limit on a true positive rate.

    The limit is β at the false positive rate α. A test with the threshold t has a true positive rate of at most
    e^t α + δ, with δ at ε = |t|. So the largest log δ is log(β − e^t α) for t ≥ 0. For t < 0 the same test is one of Q
    against P, with the rates 1 − α and 1 − β.

    Args:
        risk: a risk of the kind `true_positive_rate`, with the limit β at the false positive rate α.
        log_gamma: threshold t of the test, in nats. Below 0, δ is that of the other direction.

    Returns:
        The logarithm, rounded down; −∞ if no δ proves the limit.
    """
    true_positives, false_positives = risk.bound, risk.false_positive_rate
    if log_gamma < 0.0:
        true_positives, false_positives = 1.0 - false_positives, 1.0 - true_positives
    scaled = math.exp(abs(log_gamma)) * false_positives
    # Errors of the exponential, the product and the difference.
    rounding = 8.0 * UNIT_ROUNDOFF * (true_positives + (1.0 + abs(log_gamma)) * scaled)
    delta = true_positives - scaled - rounding
    if not delta > 0.0:
        return -math.inf
    return math.nextafter(math.log(delta), -math.inf)


def gaussian_threshold(risk: RiskTarget) -> float:
    """Return t = log γ of the best test of the Gaussian pair that just meets a true positive rate."""
    return _within(risk, gaussian_minimum(risk.gaussian_mu, risk.false_positive_rate))


def _within(risk: RiskTarget, log_gamma: float) -> float:
    """Return the threshold nearest to a given one at which a bound on δ can prove the limit on a true positive rate.

    Only thresholds t between −log((1 − α)/(1 − β)) and log(β/α) leave room for a δ > 0, with the limit β at the false
    positive rate α.

    Args:
        risk: a risk of the kind `true_positive_rate`.
        log_gamma: the given threshold, in nats.

    Returns:
        The threshold, slightly inside the range.
    """
    rate = risk.false_positive_rate
    low, high = -math.log((1.0 - rate) / (1.0 - risk.bound)), math.log(risk.bound / rate)
    margin = _INSIDE * (high - low)
    return min(max(log_gamma, low + margin), high - margin)


class AimedTests:
    """Likelihood-ratio tests that decide whether privacy curves keep a limit on a true positive rate.

    A test rejects if the privacy loss exceeds a threshold. Thresholds are kept from one curve to the next, because
    close curves have close thresholds.
    """

    def __init__(self, risk: RiskTarget) -> None:
        """Start at the thresholds of the Gaussian pair that just meets the risk.

        Args:
            risk: a risk of the kind `true_positive_rate`.
        """
        self._risk = risk
        self._log_gammas = [gaussian_threshold(risk)] * 2
        self._is_aimed = False

    def limits(self, curve: Curve) -> list[PointLimit]:
        """Return conditions on δ, one for each direction, that together are sufficient for the limit on the rate.

        They are those of the present thresholds. A symmetric pair has one direction only, and then the second threshold
        is not used.

        Args:
            curve: the privacy curve.

        Returns:
            One condition for each direction.
        """
        directions = zip(self._directions(curve), self._log_gammas, strict=False)
        return [self._limit(tests, log_gamma) for tests, log_gamma in directions]

    def meets(self, curve: Curve) -> bool:
        """Return whether a curve certainly keeps the true positive rate, if need be after moving the thresholds.

        Args:
            curve: the privacy curve.

        Returns:
            True if the limit on the rate is proved.
        """
        if self._all_met(curve):
            return True
        self.aim(curve)
        return self._all_met(curve)

    def aim(self, curve: Curve, *, anew: bool = False) -> None:
        """Move the threshold of each direction to about the best one for a curve.

        A threshold that is better where it is does not move. A threshold t gives the upper bound e^t α + E_{e^t} on the
        true positive rate at α, with the hockey-stick divergence E_γ. The first call searches the whole range, further
        ones search around the present thresholds.

        Args:
            curve: the privacy curve.
            anew: whether to search the whole range again; a curve may have several good thresholds.
        """
        false_positive_rate = self._risk.false_positive_rate
        for index, tests in enumerate(self._directions(curve)):
            candidates = [self._log_gammas[index]]
            if anew or not self._is_aimed:
                tests.true_positives(false_positive_rate, floor=false_positive_rate)
                candidates += tests.aims.values()
            # Start from the threshold with the least bound, and improve it.
            bounds = [self._bound(tests, log_gamma) for log_gamma in candidates]
            start = candidates[bounds.index(min(bounds))]
            self._log_gammas[index] = self._best_log_gamma(tests, _within(self._risk, start))
        self._is_aimed = True

    def _all_met(self, curve: Curve) -> bool:
        """Return whether the conditions of all directions hold."""
        return all(limit.is_met for limit in self.limits(curve))

    def _directions(self, curve: Curve) -> list[TradeOff]:
        """Prepare the search for the best tests of P against Q, and of Q against P if the pair is not symmetric.

        Args:
            curve: the privacy curve with the dominating pair (P, Q).

        Returns:
            One or two searches for tests, without lower bounds.
        """
        pair, rates = curve.upper, (self._risk.false_positive_rate,)
        tests = [TradeOff.of(pair.forward, pair.backward, rates, lower=False)]
        if not pair.symmetric:
            tests.append(TradeOff.of(pair.backward, pair.forward, rates, lower=False))
        return tests

    def _limit(self, tests: TradeOff, log_gamma: float) -> PointLimit:
        """Return the condition at one threshold of one direction."""
        profile = tests.forward if log_gamma >= 0.0 else tests.backward
        log_delta = profile.log_delta_bounds_in_search([abs(log_gamma)], lower=False)[0].upper
        return PointLimit(abs(log_gamma), log_delta, largest_log_delta(self._risk, log_gamma))

    def _bound(self, tests: TradeOff, log_gamma: float) -> float:
        """Return γ α + E_γ of one direction at a threshold."""
        log_gamma = _within(self._risk, log_gamma)
        return math.exp(log_gamma) * self._risk.false_positive_rate + tests.evaluate([log_gamma])[0].upper

    def _best_log_gamma(self, tests: TradeOff, start: float) -> float:
        """Search near a start for the threshold with about the least upper bound on the true positive rate.

        The bound at a threshold t is e^t α + E_{e^t}, with the false positive rate α and the hockey-stick divergence
        E_γ. The t is interpolated between evaluated points, which is repeated until it hardly moves.

        Args:
            tests: the tests of one direction.
            start: initial t, in nats.

        Returns:
            The best t that was evaluated.
        """
        rate = self._risk.false_positive_rate
        divergences = {start: tests.evaluate([start])[0].upper}  # upper bounds on E_γ, by t
        step, best = _SIDE, start
        for _ in range(_MOST_MOVES):
            # Evaluate one point on each side of the best one.
            sides = [_within(self._risk, best - step), _within(self._risk, best + step)]
            for side, bounds in zip(sides, tests.evaluate(sides), strict=True):
                divergences[side] = bounds.upper

            # Interpolate the minimum between the nearest points.
            usable = [t for t in divergences if 0.0 < divergences[t] < 1.0]
            nearest = sorted(usable, key=lambda t: abs(t - best))[:4]
            if len(nearest) < 3:
                return best
            values = np.asarray([divergences[t] for t in nearest])
            log_gamma, curvature, _ = interpolated_minimum(
                np.asarray(nearest), values, low=min(sides), high=max(sides), rate=rate
            )
            divergences.setdefault(log_gamma, tests.evaluate([log_gamma])[0].upper)
            previous, best = best, min(divergences, key=lambda t: math.exp(t) * rate + divergences[t])

            # The scale is the reciprocal of the natural distance, within limits.
            moved = abs(best - previous)
            # The natural distance, over which the bound rises by a fixed share, is limited to 1e-6 … 10.
            scale = math.sqrt(min(max(curvature, 1e-2), 1e12)) if math.isfinite(curvature) else 1.0
            if moved * scale <= _SETTLED:
                break
            step = max(moved, 0.05 / scale)
        return best
