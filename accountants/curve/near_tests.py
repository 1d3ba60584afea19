"""Tests of about a requested size, from which the search for the best test starts.

A test rejects if the loss exceeds an ε. Its size is the probability of rejection under Q.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from epsilond.accountants.curve.enclosure import Interval


_WIDTH_FACTOR = 4.0
"""Multiple of the relative width of γ α + E_γ that counts as the width of a test when points are placed around it.

The points are then far enough apart for the chords between them to give the slope.
"""


class NearTest(NamedTuple):
    """A likelihood ratio test with a false positive rate near a given α, which rejects Q if the loss exceeds ε.

    The true positive rate of the best test at α is the least γ α + E_γ over γ = e^ε, with E_γ(P‖Q) the hockey-stick
    divergence.

    Attributes:
        epsilon: ε, of any sign, in nats.
        log_delta: encloses log E_γ(P‖Q) at any ε near `epsilon`.
        width: relative width of these enclosures, or a few times the relative width of γ α + E_γ if this is less.
        steepness: estimate of |d log Q(L > ε)/dε| at this ε, for the false positive rate Q(L > ε).
        bent: True if E_γ, as a function of γ, has a corner at γ = e^ε.
        expensive: True if evaluations for another test are expensive. This test is then used even if it is slightly
            less accurate.
    """

    epsilon: float
    log_delta: Callable[[float], Interval]
    width: float
    steepness: float
    bent: bool = False
    expensive: bool = False


class BestTest(NamedTuple):
    """The most powerful test of P against Q at a false positive rate, a test L > ε of the loss L.

    Attributes:
        true_positive_rate: bounds on the largest true positive rate.
        epsilon: approximate ε of the test, of any sign, in nats.
    """

    true_positive_rate: Interval
    epsilon: float


class BestTests(NamedTuple):
    """The most powerful tests of P against Q at several false positive rates.

    Attributes:
        by_rate: the test at each false positive rate; None if the search failed there.
        log_delta_at_zero: bounds on log δ(0) from the same work; −∞ to 0 if the work gives no close bounds.
    """

    by_rate: Mapping[float, BestTest | None]
    log_delta_at_zero: Interval


def adapt_width(test: NearTest, size: float) -> NearTest:
    """Return a test with a smaller width if its divergence is a small share of the bound on its power.

    The bound is γ α + E_γ, with the hockey-stick divergence E_γ at γ = e^ε. The width becomes a few times the relative
    width of the sum. Points around the test are then placed closer together.

    Args:
        test: the test L > ε of the privacy loss L.
        size: false positive rate α, in (0, 1).

    Returns:
        A copy of the test; the test itself if it has no lower bound on E_γ.
    """
    lower, upper = test.log_delta(test.epsilon)
    if not lower > -math.inf:
        return test
    # γ = e^ε, limited to the range of doubles, and the upper bound on E_γ.
    gamma = math.exp(min(test.epsilon, 700.0))
    divergence = math.exp(min(upper, 0.0))
    # The share of E_γ in the sum γ α + E_γ scales the width.
    share = divergence / (size * gamma + divergence)
    width = min(_WIDTH_FACTOR * share, 1.0) * (upper - lower)
    return test._replace(width=width)
