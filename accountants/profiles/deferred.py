"""Profiles that are made at first use, because making them is expensive."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile

if TYPE_CHECKING:
    from epsilond.accountants.curve.near_tests import BestTests, NearTest
    from epsilond.accountants.curve.profile import EpsilonEstimate
    from epsilond.accountants.numerics.root_search import Guess
    from epsilond.accountants.numerics.special import FloatArray

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class DeferredProfile(Profile):
    """A privacy profile ε ↦ δ(ε) that is computed at its first use.

    It wraps the computed profile, and every method returns the result of that profile.

    Attributes:
        make: function without arguments that computes the profile.
    """

    make: Callable[[], Profile]

    @cached_property
    def made(self) -> Profile:
        """The wrapped profile."""
        return self.make()

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail of the wrapped profile, per unit of 1 + |log tail|."""
        return self.made.tail_accuracy

    @property
    def log_infinite_mass(self) -> float:
        """Log of the probability of an infinite loss of the wrapped profile."""
        return self.made.log_infinite_mass

    @property
    def lossy(self) -> bool:
        """True if the wrapped profile is known to have δ above 0 at ε = 0."""
        return self.made.lossy

    @property
    def supremum(self) -> float:
        """Largest loss of the wrapped profile, as far as it is known."""
        return self.made.supremum

    @property
    def span(self) -> float | None:
        """Span of the losses of the wrapped profile."""
        return self.made.span

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ elementwise by the wrapped profile."""
        return self.made.log_delta(epsilon)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the log tails of the wrapped profile."""
        return self.made.log_tails(epsilon)

    def delta_at_zero_by_tails(self) -> float:
        """Return δ(0) of the pair to which the tails of the wrapped profile belong."""
        return self.made.delta_at_zero_by_tails()

    def attained_log_tails(self, epsilon: FloatArray) -> Tails | None:
        """Return the attained log tails of the wrapped profile."""
        return self.made.attained_log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ at one ε by the wrapped profile."""
        return self.made.log_delta_bounds(epsilon)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound of the wrapped profile."""
        return self.made.upper_log_delta(epsilon)

    def lower_log_delta(self, epsilon: float) -> float:
        """Return the lower bound on log δ of the wrapped profile."""
        return self.made.lower_log_delta(epsilon)

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Return whether the wrapped profile proves log δ(ε) ≤ `log_delta`."""
        return self.made.is_at_most(epsilon, log_delta)

    def quick_upper_log_delta(self, epsilon: float) -> float:
        """Return the quick upper bound of the wrapped profile."""
        return self.made.quick_upper_log_delta(epsilon)

    def upper_log_deltas(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Return the upper bounds of the wrapped profile at several ε."""
        return self.made.upper_log_deltas(epsilons)

    @property
    def finds_best_tests(self) -> bool:
        """True if the wrapped profile computes best tests."""
        return self.made.finds_best_tests

    def best_tests(self, rates: Sequence[float]) -> BestTests | None:
        """Return the best tests of the wrapped profile."""
        return self.made.best_tests(rates)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Return the bounds of the wrapped profile at several ε, during a search."""
        return self.made.log_delta_bounds_in_search(epsilons, lower=lower)

    def exact_epsilon(self, log_delta: float) -> Interval | None:
        """Return the enclosure of ε(δ) in closed form of the wrapped profile."""
        return self.made.exact_epsilon(log_delta)

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Return the solution of the wrapped profile."""
        return self.made.solve(log_delta)

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """Return the tests of the wrapped profile."""
        return self.made.near_tests(sizes)

    def guess(self, log_delta: float) -> Guess:
        """Return the initial estimate of the wrapped profile."""
        return self.made.guess(log_delta)

    def likely_log_delta(self, epsilon: float) -> float:
        """Return the estimate of log δ(ε) of the wrapped profile."""
        return self.made.likely_log_delta(epsilon)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Return whether closed forms are likely to be the least in the wrapped profile."""
        return self.made.closed_decides(epsilon, share)

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Return whether log δ(ε) is likely to be at most `log_delta` in the wrapped profile."""
        return self.made.likely_meets(epsilon, log_delta)


@dataclass(frozen=True, eq=False)
class DeferredValue(Generic[Value]):
    """A function without arguments that computes its value at the first call and stores it.

    A pickle of the object omits the value, so that it is computed again after loading.

    Attributes:
        make: function without arguments that computes the value.
    """

    make: Callable[[], Value]

    def __call__(self) -> Value:
        """Return the value."""
        return self._value

    @cached_property
    def _value(self) -> Value:
        return self.make()

    def __reduce__(self) -> tuple[type[DeferredValue[Value]], tuple[Callable[[], Value]]]:
        """Pickle the function that makes the value."""
        return DeferredValue, (self.make,)


def _forward(make: Callable[[], Pair]) -> Profile:
    """Return the forward profile of the pair that a function makes."""
    return make().forward


def _backward(make: Callable[[], Pair]) -> Profile:
    """Return the backward profile of the pair that a function makes."""
    return make().backward


def deferred_pair(make: Callable[[], Pair]) -> Pair:
    """Return a pair of distributions with privacy profiles that are computed at the first use of one of them.

    Many searches need only upper bounds on δ. The profiles of a pair for lower bounds are then never computed.

    Args:
        make: function without arguments that returns the pair. It is called at most once.

    Returns:
        The pair; both of its profiles share one call of `make`.
    """
    stored_pair = DeferredValue(make)
    # Partial functions of named ones, because a lambda cannot be pickled.
    forward = functools.partial(_forward, stored_pair)
    backward = functools.partial(_backward, stored_pair)
    return Pair(DeferredProfile(forward), DeferredProfile(backward))
