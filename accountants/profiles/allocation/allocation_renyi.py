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
        """Return bounds on the Rényi divergence D_a of order a.

        The upper bound holds in both directions, the lower one for the outputs with the contribution against those
        without.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bound, in nats.
        """
        # The upper bound: the larger direction, at most the divergence of a public batch.
        backward = (1.0 + (order - 1.0) / self.steps) * self.rho
        public = order * self.rho
        both_directions = max(self._with_against_without(order), backward)
        # Rounded up: relative error of the few products.
        upper = min(both_directions, public) * (1.0 + 8 * UNIT_ROUNDOFF)

        # The lower bound: divergences increase with the order, so that of a smaller whole order is valid.
        whole_order = min(math.floor(order), _LARGEST_WHOLE)
        least = 0.0
        if whole_order > 1:
            lower_moments, _ = self._moments(whole_order)
            least = float(lower_moments[whole_order]) / (whole_order - 1.0)
        # Rounded down: relative error of the quotient.
        return Interval(min(least, upper) * (1.0 - 8 * UNIT_ROUNDOFF), upper)

    def _moments(self, order: int) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds on log E[S^a] at the whole orders a up to at least a given one.

        S is the mean of t independent likelihood ratios of the mechanism, for t = `steps`. The number of orders is
        doubled until it is large enough, so that few different tables are computed.

        Args:
            order: largest order a that is needed.

        Returns:
            Two arrays, in which entry a belongs to the order a.
        """
        count = _FIRST_WHOLE
        while count < order:
            count *= 2
        return _log_moments(self.shift, self.steps, count)

    def _with_against_without(self, order: float) -> float:
        """Return an upper bound on the Rényi divergence of the outputs with the contribution against those without it.

        Between whole orders the log moment is convex in the order, hence below the chord. Beyond the largest whole
        order a, the bound is log((e^{a c²/2} + (t − 1) e^{(a − 2) c²/2})/t), for the shift c and t batches.

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
            # The sum of the terms' absolute values, to which rounding errors are relative.
            size = 1.0 + order * self.rho + log_steps
            return log_sum(order * self.rho, log_rest) - log_steps + 64 * UNIT_ROUNDOFF * size

        # The chord between the whole orders around a.
        below = min(math.floor(order), _LARGEST_WHOLE - 1)
        _, upper_moments = self._moments(below + 1)
        share = order - below
        log_moment = (1.0 - share) * float(upper_moments[below]) + share * float(upper_moments[below + 1])
        return max(log_moment, 0.0) / (order - 1.0)


@lru_cache(maxsize=64)
def _log_moments(shift: float, steps: int, largest: int) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds on the log moments of the mean of independent likelihood ratios.

    The moment of order a is E[S^a], for a = 0, …, `largest`, with the mean S of t ratios. The ratios are independent,
    each of N(c, 1) to N(0, 1) under N(0, 1), with E[X^a] = e^{a(a − 1)c²/2}. The moment generating series of the sum is
    the t-th power of that of one term, and is computed by repeated squaring.

    Args:
        shift: c, in standard deviations of the noise.
        steps: number t of ratios.
        largest: the largest order.

    Returns:
        Two arrays with one bound for each order a, at index a. Both are at least 0.
    """
    # The logarithms of the coefficients E[X^a]/a! of the series of one term.
    orders = np.arange(largest + 1.0)
    log_factorials = gammaln(orders + 1.0)
    term = 0.5 * orders * (orders - 1.0) * shift * shift - log_factorials

    # Its t-th power.
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

    # Every sum has positive terms. A logarithm is rounded relative to itself, in the terms and in each product.
    size = float(np.max(np.abs(term))) + log_factorials + orders * math.log(steps) + np.abs(total)
    rounding = 64 * UNIT_ROUNDOFF * (products + 1) * (1.0 + size + largest * math.log(2.0 * steps))

    # Divide the sum by t, and multiply by a!. The moments of the orders 0 and 1 are 1.
    log_moments = total + log_factorials - orders * math.log(steps)
    log_moments[:2], rounding[:2] = 0.0, 0.0
    return np.maximum(log_moments - rounding, 0.0), np.maximum(log_moments + rounding, 0.0)


def _log_product(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the logarithms of the coefficients of a product of two power series.

    The product is formed up to the order of the first series. A coefficient is a sum of exponentials of sums of
    logarithms. The largest one is taken out, so that no exponential overflows.

    Args:
        first: logarithms of the coefficients of the first series.
        second: logarithms of the coefficients of the second series, at least as many.

    Returns:
        As many logarithms as `first` has.
    """
    coefficients = np.empty(first.size)
    for order in range(first.size):
        exponents = first[: order + 1] + second[order::-1]
        largest = float(exponents.max())
        coefficients[order] = largest + math.log(float(np.exp(exponents - largest).sum()))
    return coefficients
