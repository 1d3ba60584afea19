"""The greatest profile below a sum of powers: what is known of mechanisms by their Rényi divergences.

A bound Σ_a c_a γ^−(a−1) on E_γ, as divergences of orders a give it, passes one near γ = 0. The greatest convex
function below it that is one at γ = 0 is the tangent from (0, 1) up to where it touches, and the sum from there on.
With y = log γ

    E_γ = Σ e^{l_a − (a−1) y},   −γ dE_γ/dγ = Σ (a − 1) e^{l_a − (a−1) y},   P(L > log γ) = Σ a e^{l_a − (a−1) y},

and the tangent touches where the last sum is one. Every line from (0, 1) with a slope in [−1, 0] that stays below the
sum where it ends gives an upper bound, so that the place need not be exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.curve import Enclosure, Pair, Tails
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_one_minus_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_STEPS = 200
_ACCURACY = 256 * UNIT_ROUNDOFF


@dataclass(frozen=True)
class PowerProfile:
    """min over lines of the sum of powers: see above.

    Attributes:
        orders: orders a, each above 1.
        log_coefficients: log c_a.

    The bound must be above 1 − γ everywhere (`legal`), else no mechanism has it.
    """

    orders: tuple[float, ...]
    log_coefficients: tuple[float, ...]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Exponents up to (a − 1) ε are rounded a few times."""
        return _ACCURACY

    def _logs(self, epsilon: FloatArray, weights: Sequence[float]) -> FloatArray:
        at = np.asarray(epsilon, dtype=np.float64)
        terms = [
            math.log(weight) + log_c - (order - 1.0) * at
            for order, log_c, weight in zip(self.orders, self.log_coefficients, weights, strict=True)
        ]
        return np.asarray(logsumexp(np.stack(terms), axis=0))

    @cached_property
    def touching(self) -> float:
        """y where the tangent from (0, 1) touches: P(L > y) = 1 there, from above."""
        low, high = -1.0, 1.0
        while float(self._logs(np.asarray(low), self.orders)) < 0.0:
            low *= 2.0
        while float(self._logs(np.asarray(high), self.orders)) > 0.0:
            high *= 2.0
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if float(self._logs(np.asarray(middle), self.orders)) > 0.0 else (low, middle)
        return high

    @property
    def legal(self) -> bool:
        """Whether the sum stays above 1 − γ, with room for rounding: the state of a ledger that may go on."""
        return self._log_steepness <= -_ACCURACY * 16.0 if self.touching < 0.0 else True

    @property
    def _log_steepness(self) -> float:
        """log of the tangent's −slope: (1 − E)/γ where it touches."""
        at = np.asarray(self.touching)
        value = float(self._logs(at, [1.0] * len(self.orders)))
        return float(log_one_minus_exp(np.asarray(min(value, -1e-300)))) - self.touching

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Numerical ends of the bound itself, ε ≥ 0."""
        at = np.asarray(epsilon, dtype=np.float64)
        sums = self._logs(at, [1.0] * len(self.orders))
        size = (max(self.orders) - 1.0) * (1.0 + at) + max(abs(one) for one in self.log_coefficients)
        if self.touching > 0.0:  # the line, where it is not yet left
            steepness = self._log_steepness
            line = log_one_minus_exp(np.minimum(steepness + np.minimum(at, self.touching), -1e-300))
            sums = np.where(at < self.touching, line, sums)
        slack = 16.0 * UNIT_ROUNDOFF * (1.0 + size)
        lower, upper = (Enclosure.around(sums + side * slack, 32 * UNIT_ROUNDOFF) for side in (-1, 1))
        return Enclosure(lower.lower, upper.upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Σ a c_a γ^−(a−1) and Σ (a − 1) c_a γ^−a; along the line P = 1 and Q is its slope."""
        at = np.asarray(epsilon, dtype=np.float64)
        log_p = self._logs(at, self.orders)
        log_q = self._logs(at, [order - 1.0 for order in self.orders]) - at
        if self.touching > 0.0:
            along = at < self.touching
            log_p = np.where(along, 0.0, log_p)
            log_q = np.where(along, self._log_steepness, log_q)
        return Tails(np.minimum(log_p, 0.0), np.minimum(log_q, 0.0))


def powers_pair(orders: Sequence[float], log_coefficients: Sequence[float]) -> Pair:
    """The symmetric pair of a sum of powers."""
    profile = PowerProfile(tuple(orders), tuple(log_coefficients))
    return Pair(profile, profile)


def log_conversion(order: float) -> float:
    """log C(a), C(a) = (a − 1)^(a−1)/a^a: E_γ ≤ C(a) e^{(a−1) D_a} γ^−(a−1)."""
    return (order - 1.0) * math.log1p(-1.0 / order) - math.log(order)
