"""Tests of about a given size, from which the search for the best one starts.

A test rejects where the loss exceeds an ε; its size is how often Q passes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

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
