"""Products of pairs whose laws are known exactly: the contour engine, with the lattice behind it.

Where the contour engine refuses, bounds for one large step are tried; where these are wide, the lattice composes the
same pairs from their tails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval, Tails
from epsilond.accountants.curve.near_tests import NearTest
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import PointwiseProfile
from epsilond.accountants.engine import exact
from epsilond.accountants.engine.exact import NO_CERTIFICATE, SizedTest
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.one_large_step import NARROW, NARROW_LOG_DELTA, OneLargeStep

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

Laws = tuple[tuple["NormalLaw", int], ...]
"""Laws of losses, and how often each is run."""

_BEYOND_DOUBLES = -800.0
"""log δ that no double holds: the lattice has no lower bound there."""
ROUNDED_SHIFT = 64 * UNIT_ROUNDOFF
"""A law is that of the float it was given. A shift that was itself rounded moves log δ by this times 1 + |log δ|."""


def raised(end: float) -> float:
    """An upper bound of log δ, with what a rounded shift may add."""
    return end + ROUNDED_SHIFT * (1.0 + abs(end)) if math.isfinite(end) else end


def lowered(end: float) -> float:
    """A lower bound of log δ, less what a rounded shift may take away."""
    return end - ROUNDED_SHIFT * (1.0 + abs(end)) if math.isfinite(end) else end


def _outward(near: Callable[[float], Interval], epsilon: float) -> Interval:
    """log δ on nodes that are given, with what a rounded shift may add or take away."""
    lower, upper = near(epsilon)
    return Interval(lowered(lower), min(raised(upper), 0.0))


def _near_test(found: SizedTest) -> NearTest:
    """A threshold with log δ around it."""
    return NearTest(found.epsilon, functools.partial(_outward, found.log_delta), found.width, found.steepness)


@dataclass(frozen=True, eq=False)
class ExactProfile(PointwiseProfile):
    """One order of a product of exact laws.

    Guarantees: lower ≤ log δ ≤ upper at every ε ≥ 0, from whichever engine answers; what was asked before changes
    nothing. Tails and infinite mass are the lattice's, of a pair that dominates.

    Attributes:
        laws: distributions of the losses, and how often each is run.
        fallback: makes the pair that answers where no other bound does; called twice it returns the same pair.
        is_backward: whether this is the backward direction of that pair.
    """

    laws: Laws
    fallback: Callable[[], Pair]
    is_backward: bool = False

    @property
    def behind(self) -> Profile:
        """The profile of the fallback in this direction."""
        pair = self.fallback()
        return pair.backward if self.is_backward else pair.forward

    @property
    def supremum(self) -> float:
        """An ε from which on δ is zero; math.inf if none is known."""
        return exact.supremum(self.laws)

    @property
    def log_infinite_mass(self) -> float:
        """Of the lattice's dominating pair."""
        return self.behind.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Of the lattice's dominating pair."""
        return self.behind.tail_accuracy

    @cached_property
    def rare(self) -> OneLargeStep:
        """Bounds for rare large losses, where the contour engine sees none of them."""
        return OneLargeStep.of(self.laws)

    @cached_property
    def unsampled(self) -> Pair:
        """The Gaussian pair that dominates in both orders: as if every contribution were drawn."""
        square = math.fsum(count * law.distance**2 for law, count in self.laws)
        return gaussian_pair(math.sqrt(square) * (1.0 + 8 * UNIT_ROUNDOFF))

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Of the lattice's dominating pair."""
        return self.behind.log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Return an enclosure of log δ at one ε."""
        return self.enclose(epsilon)

    def enclose_epsilon(self, log_delta: float) -> tuple[Interval, bool]:
        """Return an enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`, and whether it is narrow."""
        slack = ROUNDED_SHIFT * (1.0 + abs(log_delta))
        try:
            return exact.epsilon(self.laws, log_delta, slack=slack), True
        except NO_CERTIFICATE:
            found = self.rare.epsilon(log_delta - slack)
            return found, found.upper - found.lower <= NARROW * found.upper < math.inf

    def bound_log_delta(self, epsilon: float) -> float:
        """A quick upper bound of log δ(ε)."""
        try:
            bound = exact.upper_log_delta(self.laws, epsilon)
        except NO_CERTIFICATE:
            bound = self.rare.log_delta(epsilon).upper
        return raised(bound)

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Return whether a Chernoff bound is at most `log_delta`."""
        return self.bound_log_delta(epsilon) <= log_delta

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether a Chernoff bound tells so."""
        return self.is_at_most(epsilon, log_delta)

    def surely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Whether δ(ε) is at most the target, by a quick bound or, where that is too high, by the contour engine."""
        if self.is_at_most(epsilon, log_delta):
            return True
        try:
            return raised(exact.log_delta(self.laws, epsilon).upper) <= log_delta
        except NO_CERTIFICATE:
            return False

    def near_tests(self, sizes: Sequence[float]) -> list[NearTest | None]:
        """For each size α in (0, 1) about the ε, of any sign, at which Q(S > ε) = α, and log δ around it.

        None where the contour engine refuses.
        """
        found = exact.thresholds(self.laws, [math.log(size) for size in sizes])
        return [None if each is None else _near_test(each) for each in found]

    def enclose(self, epsilon: float) -> Interval:
        """Enclosure of log δ at one ε."""
        try:
            lower, upper = exact.log_delta(self.laws, epsilon)
        except NO_CERTIFICATE:
            lower, upper = self.rare.log_delta(epsilon)
            if not upper - lower <= NARROW_LOG_DELTA:
                bounds = self.behind.log_delta(np.asarray([epsilon]))
                known = min(float(bounds.upper[0]), self.unsampled.log_delta_bounds(epsilon).upper)
                return Interval(max(float(bounds.lower[0]), lowered(lower)), min(known, raised(upper)))
        return Interval(lowered(lower), min(raised(upper), 0.0))

    def is_beyond_doubles(self, epsilon: float) -> bool:
        """Return whether the contour engine refuses, and the lattice has no lower bound: δ is below every double."""
        if not self._normal_log_delta(epsilon) < _BEYOND_DOUBLES:
            return False
        try:
            exact.log_delta(self.laws, epsilon)
        except NO_CERTIFICATE:
            return self.rare.log_delta(epsilon).upper < _BEYOND_DOUBLES
        return False

    def _normal_log_delta(self, epsilon: float) -> float:
        """About log δ by the central limit: whether to look closer."""
        square = math.fsum(
            count * getattr(law, "rate", 1.0) ** 2 * math.expm1(min(law.distance**2, 700.0)) for law, count in self.laws
        )
        return -0.5 * epsilon * epsilon / max(square, 1e-300)
