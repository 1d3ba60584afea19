"""Where a law over finitely many outcomes jumps, enclosed by integers to any precision.

Inversion takes the outcome k whose F_{k−1} ≤ u < F_k, F the cumulative probabilities and u uniform. Of u only the first
64 bits are drawn: they decide unless they are those of some F_k, and then more bits of the same u are.
"""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from epsilond.mechanisms.randomness import WORD, Integers, Words


@dataclass(frozen=True)
class IntegerBounds:
    """Numbers in units of 2^−precision, each between two integers."""

    low: tuple[int, ...]
    high: tuple[int, ...]


Law = Callable[[int], IntegerBounds]
"""The weights of the outcomes in their order, in units of 2^−precision, for a precision that is asked for."""


def decay(rate: Decimal, precision: int) -> tuple[int, int]:
    """e^−rate in units of 2^−precision, from below and above; rate ≥ 0."""
    if rate == 0:
        return 1 << precision, 1 << precision
    context = decimal.Context(
        prec=math.ceil(precision * math.log10(2.0)) + 10, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[]
    )
    # Correctly rounded, and not more than 1: the error is far below one unit. A minus sign would round the rate.
    power = context.exp(rate.copy_negate())
    scaled = int(context.multiply(power, Decimal(1 << precision)).to_integral_value(decimal.ROUND_FLOOR))
    return max(scaled - 1, 0), scaled + 2


def times(rate: float, count: int) -> Decimal:
    """rate · count, exactly: a double has fewer than 800 decimal digits."""
    return decimal.Context(prec=1000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN).multiply(
        Decimal(rate), Decimal(count)
    )


def powers(base: tuple[int, int], count: int, precision: int) -> IntegerBounds:
    """x^0, …, x^(count − 1) for a base x ≤ 1 between two ends."""
    low, high = [1 << precision], [1 << precision]
    for _ in range(count - 1):
        low.append(low[-1] * base[0] >> precision)
        high.append(-(-high[-1] * base[1] >> precision))
    return IntegerBounds(tuple(low), tuple(high))


def jumps(law: Law, bits: int) -> IntegerBounds:
    """⌊2^bits F_k⌋ for all outcomes but the last, from below and above."""
    weights = law(bits + WORD)
    lows, highs = (list(itertools.accumulate(ends)) for ends in (weights.low, weights.high))
    return IntegerBounds(
        tuple((low << bits) // highs[-1] for low in lows[:-1]),
        tuple((high << bits) // lows[-1] for high in highs[:-1]),
    )


@dataclass(frozen=True)
class Inversion:
    """A law that 64 random bits are turned into outcomes of."""

    law: Law
    low: Words
    high: Words

    @classmethod
    def of(cls, law: Law) -> Inversion:
        """With its jumps at 64 bits."""
        ends, most = jumps(law, WORD), (1 << WORD) - 1
        # The end that is appended is passed by no word.
        low, high = ([min(one, most) for one in side] for side in (ends.low, ends.high))
        return cls(law, np.array([*low, most], dtype=np.uint64), np.array([*high, most], dtype=np.uint64))

    def outcomes(self, words: Words, more: Callable[[tuple[int, ...]], int]) -> Integers:
        """The outcome 0, 1, … of each word; `more(place)` draws 64 further bits for the word at a place."""
        found = np.array(np.searchsorted(self.high[:-1], words, side="left"), dtype=np.int64)
        unsure = (found < len(self.high) - 1) & (self.low[found] <= words)
        for place in map(tuple, np.argwhere(unsure).tolist()):
            found[place] = self.refined(int(words[place]), lambda place=place: more(place))  # type: ignore[misc]
        return found

    def refined(self, word: int, more: Callable[[], int]) -> int:
        """The outcome of a word that may be a jump's own."""
        bits, value = WORD, word
        while True:
            value, bits = value << WORD | more(), bits + WORD
            ends = jumps(self.law, bits)
            passed, reached = sum(one < value for one in ends.high), sum(one <= value for one in ends.low)
            if passed == reached:
                return passed
