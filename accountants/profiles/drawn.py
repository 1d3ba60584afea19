"""Searches and tests of a subsampled pair, by those of the pair of the mechanism without subsampling (the base).

A batch holds the record with probability q. Let γ' = e^ε' and γ = e^ε = 1 + (γ' − 1)/q. L is the loss of the base, and
L' that of the subsampled pair. Then:

    E_γ'((1 − q) Q + q P ‖ Q) = q E_γ(P‖Q) for γ' ≥ 1 − q,      {L' > ε'} = {L > ε}.

So the ε' at which the subsampled δ is δ' corresponds to the ε at which δ of the base is δ'/q. A test of the subsampled
pair is a test of the base, with the same false positive rate. If evaluations of the base are expensive, its own search
then runs once, and not again at each ε of another search.

*The other direction is nowhere larger* if both directions of the base are one profile. It is
q (1 − u) δ(ε' − log(1 − u)) with 1 − u = (1 − (1 − q) γ')/q, and δ decreases. It is enough that γ'/(1 − u) ≥ γ. This
says that q² γ' is at least (γ' − 1 + q)(1 − (1 − q) γ'). The difference of the two is (1 − q)(γ' − 1)² ≥ 0.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.curve.bracketed_search import bracketed_epsilon
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.near_tests import NearTest, adapt_width
from epsilond.accountants.curve.search import PairSearch
from epsilond.accountants.numerics.root_search import Guess, closest, crossing
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.pair import Pair


_PAD = 2.5e-11
"""First distance, relative to ε', at which a certified bound is tried beyond the converted bound of the base."""
_ROUNDED = 32 * UNIT_ROUNDOFF
"""Relative error of the base's ε, for q e^ε' well above zero, and of log q per unit of 1 + |log q|."""
_LEAST_EXCESS = -0.5
"""Least (γ' − 1)/q at which a test is evaluated. The ε of the base, log(1 + (γ' − 1)/q), loses its digits near −1."""
_LARGE_EPSILON = 30.0
"""ε' from which on e^ε' is taken out of log(1 + (e^ε' − 1)/q), so that nothing overflows."""


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """Convert an ε of a mechanism to the ε' = log(1 + q (e^ε − 1)) of the subsampled mechanism.

    The result is accurate to a few units in the last place, for any ε and 0 < q ≤ 1. The formula ε + log q would lose
    its digits if q e^ε is small.

    Args:
        epsilon: ε of the mechanism without subsampling, in nats.
        rate: inclusion probability q, in (0, 1].

    Returns:
        ε' in nats.
    """
    if epsilon < 700.0:
        return math.log1p(rate * math.expm1(epsilon))

    # e^ε overflows from 709 on, but q e^ε may not. It is therefore computed as (q e^{ε/2}) e^{ε/2}.
    half = math.exp(0.5 * min(epsilon, 1400.0))
    product = rate * half * half
    is_computed = epsilon < 1400.0 and product < math.inf
    return math.log1p(product) if is_computed else epsilon + math.log(rate)


@dataclass(frozen=True)
class SubsampledSearch(PairSearch):
    """The search for ε at a target δ of a subsampled mechanism, by the search of the mechanism without subsampling.

    A batch holds the record with probability q. ε' of the subsampled mechanism at δ' is log(1 + q (e^ε − 1)) for the ε
    of the mechanism without subsampling, the base, at δ'/q. If evaluations of the base are expensive, its own search
    then runs once.

    Attributes:
        profiles: the profiles to be searched. They are the forward direction only, if the base is symmetric, because
            the backward direction is then nowhere larger.
        base: the pair of the mechanism when the record is included.
        rate: inclusion probability q, in (0, 1].
    """

    base: Pair
    rate: float

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the smallest ε' of the subsampled mechanism with δ'(ε') at most the target.

        The search starts at the ε at which the δ of the mechanism without subsampling, the base, is the target over q.
        If the base has two directions, its ε may belong to the direction that is not amplified here. The lower bound
        then fails, and a search without an initial estimate follows.

        Args:
            log_delta: the target log δ', natural logarithm.
            near: not used.

        Returns:
            Lower and upper bounds on ε', in nats.
        """
        del near
        # δ' = q δ, so the target of the base is δ'/q.
        base = self.base.epsilon(log_delta - math.log(self.rate))
        lower = self._bound_near(base.lower, log_delta, -1)
        upper = None if lower is None else self._bound_near(base.upper, log_delta, 1)
        if lower is None or upper is None:
            return bracketed_epsilon(self.log_delta_bounds, log_delta)
        return Interval(min(lower, upper), upper)

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return an upper bound on the smallest ε' of the subsampled mechanism with δ'(ε') at most the target.

        The search starts at the upper bound of the base, the mechanism without subsampling. If the base has two
        different directions, the bound of `epsilon` is used.

        Args:
            log_delta: the target log δ', natural logarithm.
            near: not used.

        Returns:
            The bound, in nats.
        """
        if not self.base.symmetric:
            return self.epsilon(log_delta, near).upper
        # δ' = q δ, so the target of the base is δ'/q.
        base_upper = self.base.upper_epsilon(log_delta - math.log(self.rate))
        upper = self._bound_near(base_upper, log_delta, 1)
        if upper is None:
            return bracketed_epsilon(self.log_delta_bounds, log_delta).upper
        return upper

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return a lower bound on the smallest ε' of the subsampled mechanism with δ'(ε') at most the target.

        The search starts at the lower bound of the base, the mechanism without subsampling.

        Args:
            log_delta: the target log δ', natural logarithm.
            near: not used.

        Returns:
            The bound, in nats.
        """
        del near
        base_lower = self.base.lower_epsilon(log_delta - math.log(self.rate))
        lower = self._bound_near(base_lower, log_delta, -1)
        if lower is None:
            return bracketed_epsilon(self.log_delta_bounds, log_delta).lower
        return lower

    def _bound_near(self, base_epsilon: float, log_delta: float, side: int) -> float | None:
        """Return a certified bound on the ε' of the subsampled mechanism at a target δ', near an estimate.

        The estimate is the ε' that corresponds to a bound on the ε of the mechanism without subsampling, the base.

        Args:
            base_epsilon: bound on the ε of the base, in nats.
            log_delta: the target log δ', natural logarithm.
            side: 1 for an upper bound, −1 for a lower bound.

        Returns:
            The bound; None if none can be certified near the estimate.
        """
        # The smallest ε is 0. It is a lower bound in any case, and an upper bound if δ'(0) meets the target.
        if base_epsilon == 0.0:
            is_certified = side < 0 or self.upper_log_delta(0.0) <= log_delta
            return 0.0 if is_certified else None
        if not 0.0 < base_epsilon < math.inf:
            return None

        # Try points at increasing distances from the estimate, on the side where bounds are easier to certify. The
        # first distance is `_PAD` of the estimate. Its steepness, the slope of log δ' in ε', is set to 1.
        bound_at = self.upper_log_delta if side > 0 else self.lower_log_delta
        guess = Guess(amplified_epsilon(base_epsilon, self.rate), 1.0)
        certified = closest(bound_at, log_delta, guess, side * _PAD * guess.epsilon)
        if certified is not None or not self.base.symmetric:
            return certified

        # Bounds at a single ε may differ from those of the base's search, because they are computed in another way. So
        # search for two neighbouring ε', with a bound above the target at the one and at most the target at the other.
        sides = crossing(bound_at, log_delta, guess._replace(steepness=1.0 / guess.epsilon))
        if side < 0:
            return sides.above
        return sides.below if sides.below < math.inf else None


def subsample_test(test: NearTest, size: float, rate: float) -> NearTest:
    """Convert the most powerful test of a mechanism to that of the subsampled mechanism.

    Both tests reject on the same event {L > ε} of the privacy loss L, and have the same false positive rate. The
    threshold ε becomes ε' = log(1 + q (e^ε − 1)). The bounds on log E_γ, the hockey-stick divergence, become those of
    the subsampled pair.

    Args:
        test: the test of the mechanism without subsampling.
        size: the false positive rate, in (0, 1).
        rate: inclusion probability q, in (0, 1].

    Returns:
        The test of the subsampled mechanism, with a width that is adapted to the new threshold.
    """
    epsilon = amplified_epsilon(test.epsilon, rate)
    gamma = math.exp(min(epsilon, 700.0))  # the minimum keeps e^ε' finite

    # The steepness is the slope of the log of the false positive rate in the threshold. It changes by the factor
    # dε/dε' = γ'/(γ' − 1 + q), with γ' = e^ε'. Bounds are only computed for γ' − 1 ≥ `_LEAST_EXCESS` q, which keeps the
    # denominator above 0.
    least_denominator = -_LEAST_EXCESS * rate
    base_derivative = gamma / max(gamma - 1.0 + rate, least_denominator)
    steepness = test.steepness * base_derivative

    bounds = functools.partial(_drawn_bounds, test.log_delta, rate)
    return adapt_width(test._replace(epsilon=epsilon, log_delta=bounds, steepness=steepness), size)


def _drawn_bounds(base: Callable[[float], Interval], rate: float, epsilon: float) -> Interval:
    """Enclose log δ' of a subsampled pair at one ε', from bounds on the pair without subsampling.

    Let (P, Q) be the pair without subsampling, the base, and γ = 1 + (e^ε' − 1)/q. With the hockey-stick divergence
    E_γ:

        log δ' = log q + log E_γ(P‖Q).

    No bound is computed for γ ≤ 1/2, where the logarithm of γ loses its digits.

    Args:
        base: function from an ε to bounds on log E_γ(P‖Q) at γ = e^ε.
        rate: inclusion probability q, in (0, 1].
        epsilon: ε', of any sign, in nats.

    Returns:
        The bounds; (−∞, 0), which always hold, if none is computed.
    """
    excess = math.expm1(min(epsilon, _LARGE_EPSILON)) / rate  # γ − 1 for ε' up to the limit
    if not excess > _LEAST_EXCESS:  # also if it is not a number
        return Interval(-math.inf, 0.0)
    base_epsilon = _base_epsilon_at(epsilon, rate, excess)

    log_rate = math.log(rate)
    # Errors of ε, and of log q and the sum.
    pad = _ROUNDED * abs(base_epsilon)
    slack = _ROUNDED * (1.0 + abs(log_rate))
    # E_γ decreases with γ, so the argument is rounded up for the lower bound and down for the upper bound.
    lower = base(base_epsilon + pad).lower
    upper = base(base_epsilon - pad).upper
    return Interval(lower + log_rate - slack, min(upper + log_rate + slack, 0.0))


def _base_epsilon_at(epsilon: float, rate: float, excess: float) -> float:
    """Return the ε of the mechanism without subsampling for one ε' of the subsampled mechanism.

    It is log(1 + (e^ε' − 1)/q).

    Args:
        epsilon: ε', of any sign, in nats.
        rate: inclusion probability q, in (0, 1].
        excess: (e^x − 1)/q for x = min(ε', `_LARGE_EPSILON`); inf if it overflows.

    Returns:
        ε in nats.
    """
    # For a tiny q, the 1 in the logarithm is negligible.
    if excess == math.inf:
        return math.log(math.expm1(min(epsilon, _LARGE_EPSILON))) - math.log(rate) + max(epsilon - _LARGE_EPSILON, 0.0)
    if epsilon < _LARGE_EPSILON:
        return math.log1p(excess)
    return epsilon - math.log(rate) + math.log1p((rate - 1.0) * math.exp(-epsilon))
