"""Pairs of a mechanism that runs on a batch, read off the pair of the mechanism itself.

A batch holds the record with probability q. With γ' = e^ε', γ = e^ε = 1 + (γ' − 1)/q,

    E_γ'((1 − q) Q + q P ‖ Q) = q E_γ(P‖Q) for γ' ≥ 1 − q,      {L' > ε'} = {L > ε},

so that ε'(δ') is where the base's δ is δ'/q, and a test of the drawn pair is one of the base, of the same size under Q.
A base of which every ε is dear is then searched in its own way, once, and not anew at each ε of another search.

*The other order is nowhere larger* where both orders of the base are one profile. It is q (1 − u) δ(ε' − log(1 − u))
with 1 − u = (1 − (1 − q) γ')/q, and δ falls: it is enough that γ'/(1 − u) ≥ γ, which says that q² γ' is at least
(γ' − 1 + q)(1 − (1 − q) γ'). The difference of the two is (1 − q)(γ' − 1)² ≥ 0.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Enclosure, Interval, Pair, upper_end_of
from epsilond.accountants.near_tests import NearTest, rated
from epsilond.accountants.numerics.crossing import Guess, closest, crossing
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

_PAD = 2.5e-11
"""How far beside the base's own ends, relative to ε', the first place is that is tried for a certified one."""
_ROUNDED = 32 * UNIT_ROUNDOFF
"""Relative error of the base's ε, for q e^ε' well above zero, and of log q per unit of 1 + |log q|."""
_LEAST = -0.5
"""The least (γ' − 1)/q at which a test is read: the base's ε loses its digits near −1."""


def drawn_epsilon(epsilon: float, rate: float) -> float:
    """ε' = log(1 + q (e^ε − 1)), to a few units in the last place; any ε, 0 < q ≤ 1.

    ε + log q would lose its digits where q e^ε is small.
    """
    if epsilon < 700.0:
        return math.log1p(rate * math.expm1(epsilon))
    half = math.exp(0.5 * min(epsilon, 1400.0))
    grown = rate * half * half
    return math.log1p(grown) if epsilon < 1400.0 and grown < math.inf else epsilon + math.log(rate)


@dataclass(frozen=True)
class DrawnPair(Pair):
    """A base pair on a batch that holds the record with probability q: ε(δ) is searched on the base.

    Either the law with the record, drawn or not, against the law without it, or a profile that bounds both orders.

    Attributes:
        base: of which `forward` is the amplified profile.
        rate: q.
    """

    base: Pair = field(kw_only=True, compare=False)
    rate: float = field(kw_only=True)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The larger of both orders, which is the forward one where both orders of the base are one profile."""
        if not self._one_order:
            return super().log_delta(epsilon)
        lower, upper = self.forward.log_delta(epsilon)
        return Enclosure(lower, np.minimum(upper, 0.0))

    def upper_end(self, epsilon: float) -> float:
        """The upper end at one ε, likewise."""
        if not self._one_order:
            return super().upper_end(epsilon)
        return min(upper_end_of(self.forward, epsilon), 0.0)

    def epsilon(self, log_delta: float) -> Interval:
        """Where the base's δ is as asked over q; both ends have themselves been evaluated.

        Where the base has two orders, its ε may be that of the order that is not drawn: no lower end is found then.
        """
        near = self.base.epsilon(log_delta - math.log(self.rate))
        lower = self._end(near.lower, log_delta, -1)
        upper = None if lower is None else self._end(near.upper, log_delta, 1)
        if upper is None or lower is None:
            return super().epsilon(log_delta)
        return Interval(min(lower, upper), upper)

    def upper_epsilon(self, log_delta: float) -> float:
        """The upper end alone."""
        if not self._one_order:
            return self.epsilon(log_delta).upper
        near = self.base.upper_epsilon(log_delta - math.log(self.rate))
        upper = self._end(near, log_delta, 1)
        return super().epsilon(log_delta).upper if upper is None else upper

    def lower_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """The lower end alone; the base is asked at ε of its own, so that `near` serves nothing."""
        near = self.base.lower_epsilon(log_delta - math.log(self.rate))
        lower = self._end(near, log_delta, -1)
        return super().epsilon(log_delta).lower if lower is None else lower

    @property
    def _one_order(self) -> bool:
        """Whether the base's ε is that of the forward order."""
        return self.base.symmetric

    def _end(self, base: float, log_delta: float, side: int) -> float | None:
        """A certified ε' on its side of the target, next to where the base's own end lies; None where none is found."""
        if base == 0.0:
            met = side < 0 or self.upper_end(0.0) <= log_delta
            return 0.0 if met else None
        if not 0.0 < base < math.inf:
            return None
        guess = Guess(drawn_epsilon(base, self.rate), 1.0)
        found = closest(self._reader(side), log_delta, guess, side * _PAD * guess.epsilon)
        if found is not None or not self._one_order:
            return found
        # The base's ends are those of another transform there.
        near = crossing(self._reader(side), log_delta, guess._replace(steepness=1.0 / guess.epsilon))
        if side > 0:
            return near.below if near.below < math.inf else None
        return near.above

    def _reader(self, side: int) -> Callable[[float], float]:
        """The end of log δ that certifies an end of ε'."""
        return self.upper_end if side > 0 else self.lower_end


def drawn_test(test: NearTest, size: float, rate: float) -> NearTest:
    """The test of a drawn pair of the same size under Q, from that of the base, with log E_γ' around it."""
    epsilon = drawn_epsilon(test.epsilon, rate)
    gamma = math.exp(min(epsilon, 700.0))
    # dε/dε' = γ'/(γ' − 1 + q).
    steepness = test.steepness * gamma / max(gamma - 1.0 + rate, -_LEAST * rate)
    ends = functools.partial(_drawn_ends, test.log_delta, rate)
    return rated(test._replace(epsilon=epsilon, log_delta=ends, steepness=steepness), size)


def _drawn_ends(base: Callable[[float], Interval], rate: float, epsilon: float) -> Interval:
    """log q + log E_γ(P‖Q) of any ε' well above log(1 − q); below nothing is said but that E ≤ 1."""
    excess = math.expm1(min(epsilon, 30.0)) / rate
    if not excess > _LEAST:
        return Interval(-math.inf, 0.0)
    if epsilon < 30.0:
        point = math.log1p(excess)
    else:
        point = epsilon - math.log(rate) + math.log1p((rate - 1.0) * math.exp(-epsilon))
    log_rate = math.log(rate)
    moved, slack = _ROUNDED * abs(point), _ROUNDED * (1.0 + abs(log_rate))
    lower, upper = base(point + moved).lower, base(point - moved).upper
    return Interval(lower + log_rate - slack, min(upper + log_rate + slack, 0.0))
