"""Rényi divergences of a Gaussian contribution in one of t batches.

Let S = (X₁ + … + X_t)/t with independent ratios X_i of P_c = N(c, 1) to N(0, 1), and K(a) = log E[S^a]. For whole a
the power is expanded: t^a E[S^a]/a! is the coefficient of order a of (Σ_k m_k z^k/k!)^t, with m_k = E[X^k], which is
e^{k(k − 1)c²/2}. K is convex, so between whole orders it is below its chord. Larger orders use Minkowski's inequality
in the norm of order a − 1, with the contribution in the first batch.

    e^{D_a} ≤ (e^{a c²/2} + (t − 1) e^{(a − 1) c²/2 · (a − 2)/(a − 1)})/t.

In the other direction the geometric mean of the X_i is below S, so that D_a ≤ (1 + (a − 1)/t) c²/2. A public batch
gives a c²/2 in both directions. Source: docs/random-allocation.md, Divergences at given orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_sum

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_LARGEST_WHOLE = 256
"""Largest order of which the power is expanded, in about a tenth of a second."""
_FIRST_WHOLE = 16
"""Least number of orders that are expanded together."""


@dataclass(frozen=True)
class AllocationRenyi:
    """Bounds on the Rényi divergences of a Gaussian mechanism, if the contribution is in one of t batches at random.

    The likelihood ratio of all outputs is the mean S of t independent ratios of N(c, 1) to N(0, 1). The divergence D_a
    of order a is log E[S^a]/(a − 1).

    Attributes:
        shift: c, the norm of the contribution in standard deviations of the noise.
        steps: number t of batches, at least 1.
    """

    shift: float
    steps: int

    @property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a.

        It is c²/2, because the batch may be public.
        """
        return 0.5 * self.shift * self.shift * (1.0 + 8 * UNIT_ROUNDOFF)

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a between the outputs with and without the contribution.

        The upper bound holds in both directions. The lower bound holds for the outputs with the contribution against
        those without it.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bound, in nats.
        """
        # The geometric mean of the t ratios is at most their mean, which bounds the backward direction.
        without_against_with = (1.0 + (order - 1.0) / self.steps) * self.rho
        both_directions = max(self._with_against_without(order), without_against_with)
        # An observer who knew the batch would learn at least as much.
        known_batch = order * self.rho
        # The margin exceeds the rounding error of the few products.
        upper = min(both_directions, known_batch) * (1.0 + 8 * UNIT_ROUNDOFF)

        # Divergences increase with the order, so that of a smaller integer order is a lower bound.
        integer_order = min(math.floor(order), _LARGEST_WHOLE)
        lower = 0.0
        if integer_order > 1:
            lower_moments, _ = self._moments(integer_order)
            lower = float(lower_moments[integer_order]) / (integer_order - 1.0)
        # The margin exceeds the rounding error of the quotient.
        return Interval(min(lower, upper) * (1.0 - 8 * UNIT_ROUNDOFF), upper)

    def _moments(self, order: int) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds on log E[S^a] at all integer orders a from 0 to at least a given one.

        S is the mean of t independent likelihood ratios of N(c, 1) to N(0, 1), for the shift c and t = `steps`. The
        largest order is a power of 2. Most requests then share a stored table.

        Args:
            order: largest order that is needed.

        Returns:
            The lower and the upper bounds, two arrays. Their entry a belongs to the order a.
        """
        largest_order = _FIRST_WHOLE
        while largest_order < order:
            largest_order *= 2
        return _log_moments(self.shift, self.steps, largest_order)

    def _with_against_without(self, order: float) -> float:
        """Bound the Rényi divergence D_a(P‖Q) from above, for the outputs P with the contribution and Q without it.

        The likelihood ratio S is the mean of t independent ratios of N(c, 1) to N(0, 1), for the shift c and t batches.
        Its log moment log E[S^a] is convex in the order a. Between two integer orders it is therefore at most its
        chord. Moments are tabulated up to the order `_LARGEST_WHOLE`. Above it, the bound is:

            log((e^{a ρ} + (t − 1) e^{(a − 2) ρ})/t),      ρ = c²/2,

        by Minkowski's inequality.

        Args:
            order: order a > 1.

        Returns:
            The bound, in nats.
        """
        if order > _LARGEST_WHOLE:
            log_steps = math.log(self.steps)
            log_rest = -math.inf
            if self.steps > 1:
                log_rest = math.log(self.steps - 1.0) + (order - 2.0) * self.rho
            # Rounding errors are relative to the absolute values of the terms.
            size_of_terms = 1.0 + order * self.rho + log_steps
            return log_sum(order * self.rho, log_rest) - log_steps + 64 * UNIT_ROUNDOFF * size_of_terms

        # The chord between the integer orders around a.
        below = min(math.floor(order), _LARGEST_WHOLE - 1)
        _, upper_moments = self._moments(below + 1)
        weight_above = order - below
        log_moment = (1.0 - weight_above) * float(upper_moments[below]) + weight_above * float(upper_moments[below + 1])
        return max(log_moment, 0.0) / (order - 1.0)


@lru_cache(maxsize=64)
def _log_moments(shift: float, steps: int, largest: int) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds on log E[S^a], for the mean S of t independent likelihood ratios X_i.

    X_i is the ratio of the densities of N(c, 1) and N(0, 1) under N(0, 1), with E[X_i^a] = e^{a(a − 1)c²/2}. The powers
    of the sum have the generating series:

        Σ_a E[(X₁ + … + X_t)^a] z^a/a! = (Σ_a E[X₁^a] z^a/a!)^t. Its coefficients are computed by repeated squaring.

    Args:
        shift: c, in standard deviations of the noise.
        steps: number t of ratios.
        largest: largest order a.

    Returns:
        The lower and the upper bounds, for a = 0, …, `largest`. All are at least 0.
    """
    # The logarithms of the coefficients E[X₁^a]/a!.
    orders = np.arange(largest + 1.0)
    log_factorials = gammaln(orders + 1.0)
    term = 0.5 * orders * (orders - 1.0) * shift * shift - log_factorials

    # Multiply the powers of the series that belong to the binary digits of t.
    total, power, remaining, products = None, term, steps, 0
    while True:
        if remaining & 1:
            total = power if total is None else _log_product(total, power)
        remaining >>= 1
        products += 2
        if not remaining:
            break
        power = _log_product(power, power)
    assert total is not None

    # All terms are positive, so no sum cancels. Only the logarithms are rounded, in the terms and in each product.
    size = float(np.max(np.abs(term))) + log_factorials + orders * math.log(steps) + np.abs(total)
    rounding = 64 * UNIT_ROUNDOFF * (products + 1) * (1.0 + size + largest * math.log(2.0 * steps))

    # Divide the sum by t, and multiply by a!. The moments of the orders 0 and 1 are 1.
    log_moments = total + log_factorials - orders * math.log(steps)
    log_moments[:2], rounding[:2] = 0.0, 0.0
    return np.maximum(log_moments - rounding, 0.0), np.maximum(log_moments + rounding, 0.0)


def _log_product(series: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply two power series with positive coefficients, which are given and returned as logarithms.

    Args:
        series: logarithms of the coefficients of the first series.
        factor: logarithms of the coefficients of the second series, at least as many.

    Returns:
        Logarithms of the coefficients of the product, as many as `series` has.
    """
    log_coefficients = np.empty(series.size)
    for order in range(series.size):
        exponents = series[: order + 1] + factor[order::-1]
        largest = float(exponents.max())  # taken out of the sum, so that no exponential overflows
        log_coefficients[order] = largest + math.log(float(np.exp(exponents - largest).sum()))
    return log_coefficients
