"""Tests of about a given size, from which the search for the best one starts.

A test rejects where the loss exceeds an ε; its size is how often Q passes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from epsilond.accountants.curve.enclosure import Interval


_ROOM = 4.0
"""Points are laid as if γ α + E_γ were known so many times worse: chords between them then tell its slope."""


class NearTest(NamedTuple):
    """A test L > ε of about the size asked under Q.

    Attributes:
        epsilon: of any sign.
        log_delta: log E_{e^ε}(P‖Q), enclosed at any ε near that.
        width: relative width of the enclosures there, or a few times that of γ α + E_γ where this is less.
        steepness: about |d log Q(L > ε)/dε|.
        bent: whether E has a corner there, in γ.
        dear: whether nodes for another ε would be dear, so that these are read wherever they serve about as well.
    """

    epsilon: float
    log_delta: Callable[[float], Interval]
    width: float
    steepness: float
    bent: bool = False
    dear: bool = False


class BestTest(NamedTuple):
    """The best test at a false positive rate.

    Attributes:
        true_positive_rate: bounds of the largest true positive rate.
        epsilon: about the ε of the test L > ε that attains it, of any sign.
    """

    true_positive_rate: Interval
    epsilon: float


class BestTests(NamedTuple):
    """Best tests at several false positive rates.

    Attributes:
        by_rate: the test at each false positive rate; None where it was not found.
        log_delta_at_zero: bounds of log δ(0) from the same work; −∞ to 0 where that knows little of it.
    """

    by_rate: Mapping[float, BestTest | None]
    log_delta_at_zero: Interval


def rated(test: NearTest, size: float) -> NearTest:
    """The test with a few times the width of γ α + E_γ in place of that of E_γ, where that has a small share of it.

    Points around it are then laid closer.
    """
    lower, upper = test.log_delta(test.epsilon)
    if not lower > -math.inf:
        return test
    divergence = math.exp(min(upper, 0.0))
    share = divergence / (size * math.exp(min(test.epsilon, 700.0)) + divergence)
    return test._replace(width=min(_ROOM * share, 1.0) * (upper - lower))
