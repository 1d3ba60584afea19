"""Tests of about a given size, and what a profile may offer to those who look for the best one.

A test rejects where the loss exceeds an ε; its size is how often Q passes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve import Enclosure, Interval
    from epsilond.accountants.numerics.special import FloatArray


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


class UpperTest(NamedTuple):
    """Where a test of about the size asked has its ε, of any sign, and an upper end of log E_{e^ε}(P‖Q) there."""

    epsilon: float
    log_delta: float


@runtime_checkable
class FindsTests(Protocol):
    """A profile that finds tests of given sizes itself."""

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """For each size, None where there is none; or nothing at all."""


@runtime_checkable
class FindsUpperTests(Protocol):
    """A profile that does so with upper ends alone, for less."""

    def upper_tests(self, sizes: Sequence[float]) -> Sequence[UpperTest | None]:
        """For each size, None where there is none; or nothing at all."""


@runtime_checkable
class UpperEnds(Protocol):
    """A profile whose upper ends at several ε near one another cost what one of them does."""

    def upper_ends(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Upper ends of log δ: they may be higher than those of each ε by itself."""


@runtime_checkable
class Bounded(Protocol):
    """A profile of a loss that may be bounded."""

    @property
    def supremum(self) -> float:
        """An ε from which on δ is zero; math.inf if none is known."""


def supremum_of(profile: object) -> float:
    """An ε from which on a profile's δ is zero; math.inf if none is known."""
    return profile.supremum if isinstance(profile, Bounded) else math.inf


@runtime_checkable
class Searched(Protocol):
    """A profile that is quicker where many ε will be asked."""

    def log_delta_of_search(self, epsilon: FloatArray) -> Enclosure:
        """As `log_delta`, elementwise, where many ε will be asked: it may be wider."""


@runtime_checkable
class AtOne(Protocol):
    """A profile that is read at one ε without arrays."""

    def ends(self, epsilon: float) -> Interval:
        """`log_delta` at one ε."""
