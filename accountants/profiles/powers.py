"""The greatest symmetric profile below a sum of powers, for mechanisms with known Rényi divergences.

Divergences of orders a in both directions give a bound f(γ) = Σ_a c_a γ^−(a−1) on E_γ. It exceeds one near γ = 0. With
y = log γ

    f = Σ e^{l_a − (a−1) y},   Q = −f′ = Σ (a − 1) e^{l_a − a y},   P = f − γ f′ = Σ a e^{l_a − (a−1) y}.

While P + Q > 1 a chord replaces f, linear in γ with P + Q = 1. No symmetric profile below f lies above it
(docs/ledger.md, "Slots"). Every upper end of the chord at or beyond that place gives an upper bound, so that it need
not be exact. Some mechanism has such divergences if and only if f is at least 1 − γ for all γ in (0, 1): `legal`.
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
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log_difference, log_one_minus_exp
from epsilond.accountants.profiles.concentrated import Chord

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_ACCURACY = 256 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class PowerProfile(Profile):
    """The sum of powers f, and the chord near γ = 1, as above.

    A slot of a ledger may continue while it is `legal`.

    Attributes:
        orders: orders a, each above 1.
        log_coefficients: log c_a.
    """

    orders: tuple[float, ...]
    log_coefficients: tuple[float, ...]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of the log tails. Exponents up to (a − 1) ε are rounded a few times."""
        return _ACCURACY

    def _logs(self, epsilon: FloatArray, weights: Sequence[float]) -> FloatArray:
        at = np.asarray(epsilon, dtype=np.float64)
        terms = [
            math.log(weight) + log_c - (order - 1.0) * at
            for order, log_c, weight in zip(self.orders, self.log_coefficients, weights, strict=True)
        ]
        return np.asarray(logsumexp(np.stack(terms), axis=0))

    @property
    def legal(self) -> bool:
        """True if f is above 1 − γ on (0, 1), with a margin for rounding.

        This holds if and only if the tangent of f from (0, 1), which touches at P = 1, decreases no faster than 1 − γ.
        """
        touching = self._falls_to_one(self._log_p)
        if touching >= 0.0:
            return True
        at = np.asarray(touching)
        log_steepness = float(log_one_minus_exp(np.minimum(self._log_f(at), -1e-300))) - touching
        return log_steepness <= -16.0 * _ACCURACY

    @cached_property
    def _chord(self) -> Chord:
        """Upper end of the chord, log f there, and log Q along it. The end is 0 if there is no chord."""
        end = max(self._falls_to_one(lambda at: np.logaddexp(self._log_p(at), self._log_q(at))), 0.0)
        log_f = min(float(self._log_f(np.asarray(end))) + 64 * UNIT_ROUNDOFF, 0.0)
        return Chord(end, log_f, float(log1m_exp(log_f)) - float(np.logaddexp(end, 0.0)))

    def _falls_to_one(self, log_value: Callable[[FloatArray], FloatArray]) -> float:
        """Return the least double y at which a decreasing function of y is at most one, by bisection.

        Args:
            log_value: the logarithm of the function. It must have both signs.
        """
        low, high = -1.0, 1.0
        while float(log_value(np.asarray(low))) < 0.0:
            low *= 2.0
        while float(log_value(np.asarray(high))) > 0.0:
            high *= 2.0
        return bisect_reals(lambda y: float(log_value(np.asarray(y))) > 0.0, low, high)[1]

    def _log_f(self, at: FloatArray) -> FloatArray:
        return self._logs(at, [1.0] * len(self.orders))

    def _log_p(self, at: FloatArray) -> FloatArray:
        return self._logs(at, self.orders)

    def _log_q(self, at: FloatArray) -> FloatArray:
        return np.asarray(self._logs(at, [order - 1.0 for order in self.orders]) - at)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the bound on log δ numerically, for ε ≥ 0."""
        at = np.asarray(epsilon, dtype=np.float64)
        size = (max(self.orders) - 1.0) * (1.0 + at) + max(abs(coefficient) for coefficient in self.log_coefficients)
        end = self._chord
        beyond = np.minimum(at, end.epsilon)
        along = np.logaddexp(end.log_delta, log_difference(np.full_like(beyond, end.epsilon), beyond) + end.log_q)
        sums = np.where(at < end.epsilon, along, self._log_f(at))
        slack = 16.0 * UNIT_ROUNDOFF * (1.0 + size)
        lower, upper = (Enclosure.around(sums + side * slack, 32 * UNIT_ROUNDOFF) for side in (-1, 1))
        return Enclosure(lower.lower, upper.upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails P and Q, which are constant along the chord."""
        at = np.asarray(epsilon, dtype=np.float64)
        along = at < self._chord.epsilon
        log_p = np.where(along, log1m_exp(self._chord.log_q), self._log_p(at))
        log_q = np.where(along, self._chord.log_q, self._log_q(at))
        return Tails(np.minimum(log_p, 0.0), np.minimum(log_q, 0.0))


def powers_pair(orders: Sequence[float], log_coefficients: Sequence[float]) -> Pair:
    """Return the symmetric pair of a sum of powers."""
    profile = PowerProfile(tuple(orders), tuple(log_coefficients))
    return Pair(profile, profile)


def log_conversion(order: float) -> float:
    """Return log C(a), with C(a) = (a − 1)^(a−1)/a^a. It satisfies E_γ ≤ C(a) e^{(a−1) D_a} γ^−(a−1)."""
    return (order - 1.0) * math.log1p(-1.0 / order) - math.log(order)
