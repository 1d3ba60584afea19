"""The least error of an attacker with a prior: the Bayes error of the test between two neighbours.

A test of P against Q with rates TPR and FPR errs with probability π (1 − TPR) + (1 − π) FPR, for the prior π of P.
With γ = (1 − π)/π the least error is π (1 − E_γ(P‖Q)), because E_γ is the largest TPR − γ FPR. For π > 1/2 it is
(1 − π) (1 − E_{1/γ}(Q‖P)). P may be either of two neighbours. With m = min(π, 1 − π) the least error is therefore:

    m (1 − δ(log((1 − m)/m))).

Here δ is the larger one of both directions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve


def bayes_error(curve: Curve, prior: float) -> Interval:
    """Return bounds on the least error probability of an attacker with a prior, over all tests and neighbours.

    The attacker guesses which of two neighbouring data sets was used, and knows their prior probabilities π and 1 − π.
    The least error probability is:

        m (1 − δ(ε))   at   ε = log((1 − m)/m),   m = min(π, 1 − π).

    Args:
        curve: the privacy curve of the mechanism.
        prior: prior probability π of one of two neighbours, in (0, 1).

    Returns:
        Lower and upper bounds on the probability of an error.
    """
    smaller = min(prior, 1.0 - prior)
    epsilon = max(math.log1p(-smaller) - math.log(smaller), 0.0)
    # δ decreases, so rounding ε down gives an upper bound on δ, and rounding it up a lower bound.
    epsilon_error = 8 * UNIT_ROUNDOFF * (1.0 + epsilon)  # of the two logarithms
    largest_log_delta = curve.log_delta(max(epsilon - epsilon_error, 0.0)).upper
    least_log_delta = curve.log_delta(epsilon + epsilon_error).lower

    # The largest δ gives the least error.
    rounding = 8 * UNIT_ROUNDOFF
    lower = -math.expm1(largest_log_delta) * smaller * (1.0 - rounding)
    upper = -math.expm1(least_log_delta) * smaller * (1.0 + rounding)
    return Interval(math.nextafter(max(lower, 0.0), 0.0), min(math.nextafter(upper, 1.0), smaller))
