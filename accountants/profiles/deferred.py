"""Profiles that are made when they are first asked, because making them is expensive."""

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
    """A profile that `make` returns when a question is first asked. It answers every question as that profile does."""

    make: Callable[[], Profile]

    @cached_property
    def made(self) -> Profile:
        """The profile itself."""
        return self.make()

    @property
    def tail_accuracy(self) -> float:
        """As of the profile itself."""
        return self.made.tail_accuracy

    @property
    def log_infinite_mass(self) -> float:
        """As of the profile itself."""
        return self.made.log_infinite_mass

    @property
    def lossy(self) -> bool:
        """As of the profile itself."""
        return self.made.lossy

    @property
    def supremum(self) -> float:
        """As of the profile itself."""
        return self.made.supremum

    @property
    def span(self) -> float | None:
        """As of the profile itself."""
        return self.made.span

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Ask the profile itself."""
        return self.made.log_delta(epsilon)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Ask the profile itself."""
        return self.made.log_tails(epsilon)

    def log_delta_bounds(self, epsilon: float) -> Interval:
        """Ask the profile itself."""
        return self.made.log_delta_bounds(epsilon)

    def upper_log_delta(self, epsilon: float) -> float:
        """Ask the profile itself."""
        return self.made.upper_log_delta(epsilon)

    def lower_log_delta(self, epsilon: float) -> float:
        """Ask the profile itself."""
        return self.made.lower_log_delta(epsilon)

    def is_at_most(self, epsilon: float, log_delta: float) -> bool:
        """Ask the profile itself."""
        return self.made.is_at_most(epsilon, log_delta)

    def quick_upper_log_delta(self, epsilon: float) -> float:
        """Ask the profile itself."""
        return self.made.quick_upper_log_delta(epsilon)

    def upper_log_deltas(self, epsilons: Sequence[float]) -> Sequence[float]:
        """Ask the profile itself."""
        return self.made.upper_log_deltas(epsilons)

    @property
    def finds_best_tests(self) -> bool:
        """Ask the profile itself."""
        return self.made.finds_best_tests

    def best_tests(self, rates: Sequence[float]) -> BestTests | None:
        """Ask the profile itself."""
        return self.made.best_tests(rates)

    def log_delta_bounds_in_search(self, epsilons: Sequence[float], *, lower: bool) -> list[Interval]:
        """Ask the profile itself."""
        return self.made.log_delta_bounds_in_search(epsilons, lower=lower)

    def exact_epsilon(self, log_delta: float) -> Interval | None:
        """Ask the profile itself."""
        return self.made.exact_epsilon(log_delta)

    def solve(self, log_delta: float) -> EpsilonEstimate | None:
        """Ask the profile itself."""
        return self.made.solve(log_delta)

    def near_tests(self, sizes: Sequence[float]) -> Sequence[NearTest | None]:
        """Ask the profile itself."""
        return self.made.near_tests(sizes)

    def guess(self, log_delta: float) -> Guess:
        """Ask the profile itself."""
        return self.made.guess(log_delta)

    def likely_log_delta(self, epsilon: float) -> float:
        """Ask the profile itself."""
        return self.made.likely_log_delta(epsilon)

    def closed_decides(self, epsilon: float, share: float) -> bool:
        """Ask the profile itself."""
        return self.made.closed_decides(epsilon, share)

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """Ask the profile itself."""
        return self.made.likely_meets(epsilon, log_delta)


@dataclass(frozen=True, eq=False)
class DeferredValue(Generic[Value]):
    """A function without arguments whose value is made at the first call and kept. Its pickle has no value."""

    make: Callable[[], Value]

    def __call__(self) -> Value:
        """Return the value."""
        return self._value

    @cached_property
    def _value(self) -> Value:
        return self.make()

    def __reduce__(self) -> tuple[type[DeferredValue[Value]], tuple[Callable[[], Value]]]:
        """Pickle what makes the value."""
        return DeferredValue, (self.make,)


def _forward(make: Callable[[], Pair]) -> Profile:
    return make().forward


def _backward(make: Callable[[], Pair]) -> Profile:
    return make().backward


def deferred_pair(make: Callable[[], Pair]) -> Pair:
    """Return a pair of which both profiles are made when one of them is first asked.

    A search that reads only upper bounds never evaluates an attained pair, which then is not made at all.
    """
    made = DeferredValue(make)
    forward, backward = functools.partial(_forward, made), functools.partial(_backward, made)
    return Pair(DeferredProfile(forward), DeferredProfile(backward))
