"""Several dominating pairs of one mechanism, each kept for what is composed later.

At every ε the least bound holds. Under composition another one may win than did at one round, so compositions are
formed of each alternative by itself, and only then compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.curve import Pair
from epsilond.accountants.theorems.composition.minimum import BoundProfile, LeastProfile, sparing_epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve import Interval


@dataclass(frozen=True)
class AlternativePair(Pair):
    """A pair of least profiles, and the dominating pairs it is made of."""

    alternatives: tuple[Pair, ...] = ()

    def epsilon(self, log_delta: float) -> Interval:
        """As for every pair; with few evaluations where bounds are dear."""
        dear = all(isinstance(profile, BoundProfile) for pair in self.alternatives for profile in pair.orders())
        return sparing_epsilon(self, log_delta) if dear else super().epsilon(log_delta)


def least_of(pairs: Sequence[Pair]) -> Pair:
    """What several dominating pairs of one mechanism prove together."""
    if len(pairs) == 1:
        return pairs[0]
    forward = LeastProfile(tuple(pair.forward for pair in pairs))
    symmetric = all(pair.symmetric for pair in pairs)
    backward = forward if symmetric else LeastProfile(tuple(pair.backward for pair in pairs))
    return AlternativePair(forward, backward, alternatives=tuple(pairs))


def alternatives_of(pair: Pair) -> tuple[Pair, ...]:
    """The dominating pairs that are known: one, unless it is an `AlternativePair`."""
    return pair.alternatives if isinstance(pair, AlternativePair) else (pair,)
