"""Compositions of Laplace mechanisms, with Gaussian ones among them or without: the contour engine, else the lattice.

A run of one kind is answered at any length, a list of different kinds where they are so many, or so noisy a Gaussian
is among them, that their transform decays. What the contour engine refuses the lattice composes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.composition.exact_laws import ROUNDED_SHIFT, lowered, raised
from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.facts import GaussianLaw, LaplaceLaw
from epsilond.accountants.curve.near_tests import NearTest, rated
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import PointwiseProfile
from epsilond.accountants.curve.search import PairSearch
from epsilond.accountants.engine import exact
from epsilond.accountants.engine.exact import NO_CERTIFICATE, SizedTest
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.numerics.special import FloatArray

_MANY, _WIDE = 48, 1e-3
"""Kinds beyond which the lattice has few cells for each, and a width of δ that is then less than its own."""
_ROUNDED = 4 * UNIT_ROUNDOFF
"""Relative error of a shift; a larger one moves ε by at most so much of the largest loss (certificate, A7)."""


@dataclass(frozen=True, eq=False)
class LaplaceSumProfile(PointwiseProfile):
    """A product of Laplace pairs, and a Gaussian one, which is the same in both orders.

    Guarantees: lower ≤ log δ ≤ upper at every ε ≥ 0, from whichever engine answers; what was asked before changes
    nothing. Tails are the lattice's, of a pair that dominates.
    """

    laws: tuple[tuple[Law, int], ...]
    moved: float
    """What the rounding of Laplace shifts may move ε by; that of Gaussian ones moves log δ, as of other exact laws."""
    widest: float
    fallback: Callable[[], Pair]

    log_infinite_mass: float = -math.inf

    @cached_property
    def behind(self) -> Pair:
        """The pair that answers where the contour engine refuses."""
        return self.fallback()

    @property
    def tail_accuracy(self) -> float:
        """Of the lattice's dominating pair."""
        return self.behind.forward.tail_accuracy

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Of the lattice's dominating pair."""
        return self.behind.forward.log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Return an enclosure of log δ at one ε."""
        try:
            upper = exact.log_delta(self.laws, epsilon - self.moved, widest=self.widest).upper
            lower = exact.log_delta(self.laws, epsilon + self.moved, widest=self.widest).lower
        except NO_CERTIFICATE:
            return self.behind.log_delta_bounds(epsilon)
        return Interval(lowered(min(lower, upper)), min(raised(upper), 0.0))

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the upper bound is at most `log_delta`: it costs little."""
        return self.upper_log_delta(epsilon) <= log_delta

    def enclose_epsilon(self, log_delta: float) -> Interval | None:
        """Enclose the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; None where the contour engine refuses."""
        try:
            slack = ROUNDED_SHIFT * (1.0 + abs(log_delta))
            lower, upper = exact.epsilon(self.laws, log_delta, slack=slack, widest=self.widest)
        except NO_CERTIFICATE:
            return None
        at_zero = upper == 0.0 and self.log_delta_bounds(0.0).upper <= log_delta
        return Interval(max(lower - self.moved, 0.0), 0.0 if at_zero else upper + self.moved)

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """For each size α in (0, 1) about the ε at which Q(S > ε) = α, and log δ around it, from either engine."""
        found = exact.thresholds(self.laws, [math.log(size) for size in sizes], widest=self.widest)
        if any(each is not None for each in found):
            tests = zip(found, sizes, strict=True)
            return [None if each is None else rated(self._near(each), size) for each, size in tests]
        return self.behind.forward.near_tests(sizes)

    def _near(self, found: SizedTest) -> NearTest:
        near, moved = found.log_delta, self.moved

        def bounds(epsilon: float) -> Interval:
            try:
                lower, upper = near(epsilon + moved).lower, near(epsilon - moved).upper
            except NO_CERTIFICATE:  # too far from where the nodes were laid
                return Interval(-math.inf, 0.0)
            return Interval(lowered(min(lower, upper)), min(raised(upper), 0.0))

        return NearTest(found.epsilon, bounds, found.width, found.steepness)


@dataclass(frozen=True)
class LaplaceSearch(PairSearch):
    """The search of a product of Laplace pairs: by the contour engine, and where that refuses by the fallback.

    Attributes:
        profiles: the profile of both directions.
    """

    profiles: tuple[LaplaceSumProfile]

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose ε(δ) by one of the two."""
        del near
        (profile,) = self.profiles
        enclosed = profile.enclose_epsilon(log_delta)
        return profile.behind.epsilon(log_delta) if enclosed is None else enclosed

    def upper_epsilon(self, log_delta: float, near: float) -> float:
        """Return the upper bound, which the fallback finds in less time than both."""
        del near
        (profile,) = self.profiles
        enclosed = profile.enclose_epsilon(log_delta)
        return profile.behind.upper_epsilon(log_delta) if enclosed is None else enclosed.upper

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return the lower bound likewise."""
        (profile,) = self.profiles
        enclosed = profile.enclose_epsilon(log_delta)
        return profile.behind.lower_epsilon(log_delta, near) if enclosed is None else enclosed.lower


def laplace_sum_pair(parts: Sequence[tuple[Pair, int]], fallback: Callable[[], Pair]) -> Pair | None:
    """Return the product of pairs that are all Laplace or Gaussian; None if one is not, or all are Gaussian.

    Args:
        parts: pairs, and how often each is run.
        fallback: makes a pair that encloses the product where the contour engine refuses.
    """
    counts: Counter[Law] = Counter()
    for pair, count in parts:
        if pair.gaussian_dp_mu is not None:
            counts[GaussianLaw(pair.gaussian_dp_mu)] += count
        elif pair.laplace_shift is not None:
            counts[LaplaceLaw(pair.laplace_shift)] += count
        else:
            return None
    shifts = [(law.shift, count) for law, count in counts.items() if isinstance(law, LaplaceLaw)]
    if not shifts:
        return None
    largest = math.fsum(shift * count for shift, count in shifts)
    widest = _WIDE if len(shifts) > _MANY else exact.WIDEST
    profile = LaplaceSumProfile(tuple(counts.items()), 1.01 * _ROUNDED * largest, widest, fallback)
    return Pair(profile, profile, parts=tuple(parts), special_search=LaplaceSearch((profile,)))
