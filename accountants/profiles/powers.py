"""The greatest symmetric profile below a sum of powers, for mechanisms with known Rényi divergences.

Divergences of orders a in both directions give a bound f(γ) = Σ_a c_a γ^−(a−1) on E_γ. It exceeds one near γ = 0. With
y = log γ:

    f = Σ e^{l_a − (a−1) y},   Q = −f′ = Σ (a − 1) e^{l_a − a y},   P = f − γ f′ = Σ a e^{l_a − (a−1) y}.

While P + Q > 1 a chord replaces f, linear in γ with P + Q = 1. No symmetric profile below f is above the chord
(docs/ledger.md, "Slots"). The upper end of the chord need not be exact: a larger one also gives an upper bound. Some
mechanism has such divergences if and only if f is at least 1 − γ for all γ in (0, 1) (`PowerProfile.legal`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log_one_minus_exp
from epsilond.accountants.profiles.declared.concentrated_bound import Chord

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_ACCURACY = 256 * UNIT_ROUNDOFF
"""Bound on the error of the log tails, per unit of 1 + |log tail|."""


@dataclass(frozen=True)
class PowerProfile(Profile):
    """The greatest symmetric privacy profile below a sum of powers, for a mechanism with known Rényi divergences.

    Divergences of the orders a in both directions give a bound f on the hockey-stick divergence E_γ, which is δ at
    γ = e^ε. It has the coefficients c_a, and it determines the tails of a privacy loss L:

        f(γ) = Σ c_a γ^−(a−1),   Q(L > ε) = −f′ = Σ (a − 1) c_a γ^−a,   P(L > ε) = f − γ f′ = Σ a c_a γ^−(a−1).

    No symmetric profile has tails with P + Q > 1. At small ε, where f would have them, a straight line in γ with
    P + Q = 1 replaces f (the chord).

    Attributes:
        orders: orders a, each above 1.
        log_coefficients: natural logarithms of c_a, in the order of `orders`.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
    """

    orders: tuple[float, ...]
    log_coefficients: tuple[float, ...]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails. Exponents up to (a − 1) ε are rounded a few times."""
        return _ACCURACY

    def _log_weighted_sum(self, epsilon: FloatArray, weights: Sequence[float]) -> FloatArray:
        """Return log Σ_a w_a c_a e^{−(a − 1) ε}, a weighted sum of powers of e^ε over the Rényi orders a.

        c_a is the coefficient of order a, and w_a its weight.

        Args:
            epsilon: array of ε, in nats.
            weights: weights w_a > 0, in the order of `orders`.

        Returns:
            One natural logarithm for each ε.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        log_terms = [
            math.log(weight) + log_coefficient - (order - 1.0) * points
            for order, log_coefficient, weight in zip(self.orders, self.log_coefficients, weights, strict=True)
        ]
        return np.asarray(logsumexp(np.stack(log_terms), axis=0))

    @property
    def legal(self) -> bool:
        """True if the sum of powers f(γ) is at least 1 − γ for all γ in (0, 1); False if rounding leaves it open.

        Every mechanism satisfies this, because the hockey-stick divergence E_γ is at least 1 − γ. f is convex, so it
        suffices that its tangent through the point (0, 1) falls no faster than 1 − γ. The tangent touches f where
        f − γ f′ = P(L > ε) is 1, and has the slope −(1 − f)/γ.
        """
        log_touching_point = self._find_first_at_most_one(self._log_p)  # log γ
        if log_touching_point >= 0.0:
            return True
        log_f = self._log_f(np.asarray(log_touching_point))
        largest_log = -1e-300  # keeps 1 − f positive if f rounds to 1 or more
        log_steepness = float(log_one_minus_exp(np.minimum(log_f, largest_log))) - log_touching_point
        return log_steepness <= -16.0 * _ACCURACY  # more than the rounding error of the steepness

    @cached_property
    def _chord(self) -> Chord:
        """The straight line in γ = e^ε that replaces f while P + Q > 1. It ends at ε = 0 if P + Q ≤ 1 for all ε > 0."""

        def log_sum_of_tails(epsilon: FloatArray) -> FloatArray:
            """Return log(P + Q) at each ε."""
            return np.logaddexp(self._log_p(epsilon), self._log_q(epsilon))

        end = max(self._find_first_at_most_one(log_sum_of_tails), 0.0)
        log_f = min(float(self._log_f(np.asarray(end))) + 64 * UNIT_ROUNDOFF, 0.0)
        return Chord.ending_at(end, log_f)

    def _find_first_at_most_one(self, log_value: Callable[[FloatArray], FloatArray]) -> float:
        """Find by bisection the least y at which a decreasing function of y is at most one.

        The bracket starts at −1 and 1. Its ends are doubled until the function is at least one at the lower end and at
        most one at the upper end.

        Args:
            log_value: the logarithm of the function. It must be positive for some y and negative for others.

        Returns:
            The upper end of the last bracket. The function is at most one there.
        """

        def exceeds_one(y: float) -> bool:
            """Return whether the value at y is above 1."""
            return float(log_value(np.asarray(y))) > 0.0

        low, high = -1.0, 1.0
        while float(log_value(np.asarray(low))) < 0.0:
            low *= 2.0
        while exceeds_one(high):
            high *= 2.0
        _, upper_end = bisect_reals(exceeds_one, low, high)
        return upper_end

    def _log_f(self, epsilon: FloatArray) -> FloatArray:
        """Return log f, the bound on log δ, at each ε."""
        return self._log_weighted_sum(epsilon, [1.0] * len(self.orders))

    def _log_p(self, epsilon: FloatArray) -> FloatArray:
        """Return log P(L > ε) of the privacy loss L at each ε."""
        return self._log_weighted_sum(epsilon, self.orders)

    def _log_q(self, epsilon: FloatArray) -> FloatArray:
        """Return log Q(L > ε) of the privacy loss L at each ε."""
        weights = [order - 1.0 for order in self.orders]
        return np.asarray(self._log_weighted_sum(epsilon, weights) - epsilon)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the log of f(ε) = Σ c_a e^{−(a − 1) ε} over orders a, a bound on δ(ε).

        At small ε, a line in e^ε (the chord) replaces f.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound for each ε. They enclose this bound on δ, and not the δ of the mechanism.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        is_on_chord = points < self._chord.epsilon
        value = np.where(is_on_chord, self._chord.log_bound(points), self._log_f(points))

        # The exponents log c_a − (a − 1) ε are rounded relative to their largest size.
        largest_coefficient = max(abs(coefficient) for coefficient in self.log_coefficients)
        size = (max(self.orders) - 1.0) * (1.0 + points) + largest_coefficient
        slack = 16.0 * UNIT_ROUNDOFF * (1.0 + size)
        # Widen by the error of the sum of exponentials.
        lower = Enclosure.around(value - slack, 32 * UNIT_ROUNDOFF).lower
        upper = Enclosure.around(value + slack, 32 * UNIT_ROUNDOFF).upper
        return Enclosure(lower, upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss L above ε, under both distributions P and Q of the pair.

        At small ε a straight line in e^ε (the chord) replaces the sum of powers. Both are constant there and sum to 1.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            log P(L > ε) and log Q(L > ε), one entry for each ε, each at most 0.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        is_on_chord = points < self._chord.epsilon
        log_p = np.where(is_on_chord, log1m_exp(self._chord.log_q), self._log_p(points))
        log_q = np.where(is_on_chord, self._chord.log_q, self._log_q(points))
        return Tails(np.minimum(log_p, 0.0), np.minimum(log_q, 0.0))


def powers_pair(orders: Sequence[float], log_coefficients: Sequence[float]) -> Pair:
    """Build the pair with the greatest symmetric privacy profile below Σ_a c_a e^{−(a−1) ε}, a sum over Rényi orders a.

    Args:
        orders: orders a of the Rényi divergences, each above 1.
        log_coefficients: natural logarithm of c_a, for each order.

    Returns:
        The pair, with the same profile in both directions.
    """
    profile = PowerProfile(tuple(orders), tuple(log_coefficients))
    return Pair(profile, profile)


def log_conversion(order: float) -> float:
    """Return the log of the factor C(a) that converts a Rényi divergence D_a of order a to a bound on δ(ε).

    With γ = e^ε and C(a) = (a − 1)^(a−1)/a^a, the bound is:

        δ(ε) ≤ C(a) e^{(a−1) D_a} γ^−(a−1).

    Args:
        order: order a > 1.

    Returns:
        log C(a), natural logarithm, negative.
    """
    return (order - 1.0) * math.log1p(-1.0 / order) - math.log(order)
