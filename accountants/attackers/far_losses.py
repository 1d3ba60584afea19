"""Bounds on the large privacy losses that an integral for a Rényi divergence leaves out.

They come from a Gaussian pair that dominates the mechanism, from divergences at larger orders, or from a largest loss
(docs/attackers.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_normal_tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

_LOG_TAIL = -80.0
"""Logarithm of the tail that the integral leaves out, where E_Q[r^a] − 1 is above e^−60 for a useful divergence."""
_ADDED_ORDERS = np.geomspace(1e-2, 1e2, 17)
"""Larger orders at which divergences bound far losses, in units of the order, less the order."""
_LEAST_END = 1e-6
"""Least ε at which the integral ends, in nats."""


class FarLosses(NamedTuple):
    """Bounds on the privacy losses of a pair beyond the ε at which the integral for its Rényi divergence ends.

    The integral of a pair of distributions at order a is a (a − 1) ∫ e^{(a − 1) ε} E(ε) dε. Here E(ε) is the
    hockey-stick divergence of the pair at e^ε.

    Attributes:
        end: the ε at which the integral ends, in nats.
        log_tail: logarithm of a bound on the integral from there on.
        most: a known bound on the Rényi divergence, in nats.
        cap: function from ε to a further upper bound on log E(ε); None if there is none.
    """

    end: float
    log_tail: float
    most: float
    cap: Callable[[FloatArray], FloatArray] | None = None


def far_losses_of_gaussian(distance: float, order: float) -> FarLosses:
    """Bound the part of a pair's integral for the Rényi divergence beyond some ε, by those of a Gaussian pair.

    The integral is over ε, the privacy loss. The Gaussian pair is N(d, 1) against N(0, 1). At every ε its δ must be at
    least that of the pair, in both directions.

    Args:
        distance: distance d ≥ 0 of the means, in standard deviations.
        order: order a > 1 of the divergence.

    Returns:
        The ε at which the integral may end, the log of a bound on the rest, and the bound a d²/2 on the divergence.
    """
    log_moment = 0.5 * order * (order - 1.0) * distance * distance
    # Weighted by r^a, with the likelihood ratio r of the Gaussian pair, the log ratio is Gaussian with the mean
    # (a − 1/2) d². Beyond so many standard deviations, the weighted probability is below e^_LOG_TAIL.
    deviations = math.sqrt(2.0 * (log_moment - _LOG_TAIL))
    end = (order - 0.5) * distance * distance + deviations * distance
    most = 0.5 * order * distance * distance * (1.0 + 16 * UNIT_ROUNDOFF)  # rounded up
    # The deviations are lowered by more than their rounding error, so the tail is an upper bound.
    log_tail = log_moment + float(log_normal_tail(deviations * (1.0 - 1e-12)))
    return FarLosses(end, log_tail, most)


def far_losses_by_orders(divergence: Callable[[float], float], order: float) -> FarLosses | None:
    """Bound the part of the integral for a Rényi divergence beyond some ε, from divergences of larger orders.

    Let D_b be the divergence of an order b above a. The hockey-stick divergence E(ε) at e^ε is at most:

        (1 − 1/b)^{b − 1} e^{(b − 1)(D_b − ε)}/b.

    The integral of this bound from some ε on has a closed form. The b for which the integral may end first is used for
    the tail. The least of all these bounds is the further bound `cap` on log E(ε).

    Args:
        divergence: function from an order to an upper bound on the divergence in nats; math.inf if none is known.
        order: order a > 1.

    Returns:
        The bounds on the far losses; None if no divergence of a larger order is known.
    """
    larger_orders = [order + added for added in (order * _ADDED_ORDERS).tolist()]
    bounds = [(larger, divergence(larger)) for larger in larger_orders]
    finite_bounds = [(larger, value) for larger, value in bounds if math.isfinite(value)]
    if not finite_bounds:
        return None

    # For each order, the bound on log E is a line in ε.
    slopes = np.asarray([larger - 1.0 for larger, _ in finite_bounds])
    constants = np.asarray(
        [-math.log(larger) + (larger - 1.0) * math.log1p(-1.0 / larger) for larger, _ in finite_bounds]
    )
    constants = constants + slopes * np.asarray([value for _, value in finite_bounds])
    rounding = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(constants))  # of the sums of logarithms

    # The ε from which on the integral of the bound is e^_LOG_TAIL.
    decays = slopes + 1.0 - order
    log_factors = math.log(order) + math.log(order - 1.0) - np.log(decays)
    ends = (constants + rounding + log_factors - _LOG_TAIL) / decays
    end = max(float(ends.min()), _LEAST_END)

    def cap(epsilon: FloatArray) -> FloatArray:
        """Return the least bound on log E over the orders."""
        products = np.multiply.outer(epsilon, slopes)
        # Each line is rounded up by the errors of its constant and of the product.
        log_bounds = constants + rounding - products + 8 * UNIT_ROUNDOFF * products
        return np.asarray(np.min(log_bounds, axis=-1))

    most = divergence(order)
    # The end is moved outward by more than its rounding error.
    return FarLosses(end * (1.0 + 1e-9), _LOG_TAIL, most, cap)


def far_losses_of_bounded(largest: float, most: float, far: FarLosses | None) -> FarLosses | None:
    """Bound the part of the integral for a Rényi divergence beyond some ε, if the pair has a largest privacy loss.

    From the largest loss on, the hockey-stick divergences of both directions are zero, so that nothing is left out.

    Args:
        largest: the largest loss, in nats; math.inf if none is known.
        most: a known bound on the Rényi divergence, in nats.
        far: other bounds on the far losses, which are kept if they end the integral before the largest loss.

    Returns:
        The bounds. They are `far`, which may be None, if no positive largest loss is known or it does not shorten the
        integral.
    """
    end = max(largest, _LEAST_END)
    if largest == 0.0 or end == math.inf:
        return far
    if far is None:
        return FarLosses(end, -math.inf, most, None)
    if far.end <= end:
        return far
    return FarLosses(end, -math.inf, most, far.cap)
