"""The search of a product of pairs whose laws are known exactly, and the product itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from epsilond.accountants.composition.exact_laws import ExactProfile, Laws
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import NormalLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.search import PairSearch

_KEPT = 32
"""How many enclosures of log δ are kept."""


@dataclass(frozen=True)
class ExactSearch(PairSearch):
    """The search of a product of exact laws: by the contour engine, and where that refuses by the fallback.

    Attributes:
        profiles: the distinct directions.
        fallback: makes the pair that is searched where the contour engine refuses.
        known: the last enclosures of log δ, by ε.
    """

    profiles: tuple[ExactProfile, ...]
    fallback: Callable[[], Pair]
    known: dict[float, Interval] = field(default_factory=dict, compare=False, repr=False)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose the larger of both directions; the last few enclosures are kept."""
        enclosed = self.known.get(epsilon)
        if enclosed is None:
            enclosed = super().log_delta_bounds(epsilon)
            if len(self.known) >= _KEPT:
                self.known.clear()
            self.known[epsilon] = enclosed
        return enclosed

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of both, which one evaluation gives."""
        return self.log_delta_bounds(epsilon).upper

    def lower_log_delta(self, epsilon: float) -> float:
        """Return −∞ without an attempt of the lattice if both directions are far below every double."""
        if epsilon not in self.known and all(profile.is_beyond_doubles(epsilon) for profile in self.profiles):
            return -math.inf
        return self.log_delta_bounds(epsilon).lower

    def epsilon(self, log_delta: float, near: float) -> Interval:
        """Enclose the larger of both directions, with the fallback's bounds if one of them is known too roughly."""
        del near
        solved, all_narrow = self._solved(log_delta)
        if not all_narrow:
            rough = self.fallback().epsilon(log_delta)
            most = self.profiles[0].unsampled.epsilon(log_delta).upper
            upper = min(solved.upper, rough.upper, most)
            solved = Interval(min(max(solved.lower, rough.lower), upper), upper)
        return self._evaluated(solved, log_delta)

    def lower_epsilon(self, log_delta: float, near: float) -> float:
        """Return the lower bound, which spares the fallback the search for the upper one."""
        solved, all_narrow = self._solved(log_delta)
        if all_narrow:
            return self._evaluated(solved, log_delta).lower
        lower = max(solved.lower, self.fallback().lower_epsilon(log_delta, near))
        return self._above(Interval(lower, max(lower, solved.upper)), log_delta)

    def _solved(self, log_delta: float) -> tuple[Interval, bool]:
        """Return the larger of both directions by their own engine, and whether both are narrow."""
        larger, all_narrow = Interval(0.0, 0.0), True
        for place, profile in enumerate(self.profiles):
            if place and profile.surely_meets(larger.lower, log_delta):
                continue
            solved, narrow = profile.enclose_epsilon(log_delta)
            larger = Interval(max(larger.lower, solved.lower), max(larger.upper, solved.upper))
            all_narrow = all_narrow and narrow
        return larger, all_narrow

    def _evaluated(self, enclosed: Interval, log_delta: float) -> Interval:
        """Move both bounds outward until those of log δ, on nodes of its own, agree that they are on their sides."""
        lower, upper = enclosed
        width = min(upper - lower, 1e-3 * upper)
        pad = max(1e-13 * (1.0 + upper), 0.05 * width)
        while self.log_delta_bounds(upper).upper > log_delta:
            upper, pad = upper + pad, 4.0 * pad
        return Interval(self._above(enclosed, log_delta), upper)

    def _above(self, enclosed: Interval, log_delta: float) -> float:
        """Move the lower bound down likewise."""
        lower = enclosed.lower
        pad = max(1e-13 * (1.0 + lower), 0.05 * min(enclosed.upper - lower, 1e-3 * enclosed.upper))
        while lower > 0.0 and self.log_delta_bounds(lower).lower <= log_delta:
            lower, pad = max(lower - pad, 0.0), 4.0 * pad
        return lower


def exact_pair(laws: Sequence[tuple[NormalLaw, int]], fallback: Callable[[], Pair]) -> Pair:
    """Return the product of pairs that are known by their laws.

    Args:
        laws: the law of each pair, and how often it is run.
        fallback: makes a pair that encloses the product where the contour engine refuses; called twice it returns the
            same pair.
    """
    forward: Laws = tuple(laws)
    backward: Laws = tuple((law.reversed(), count) for law, count in forward)
    first = ExactProfile(forward, fallback)
    if backward == forward:
        return Pair(first, first, special_search=ExactSearch((first,), fallback))
    second = ExactProfile(backward, fallback, is_backward=True)
    return Pair(first, second, special_search=ExactSearch((first, second), fallback))
