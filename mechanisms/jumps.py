"""Inversion of a distribution with finitely many outcomes, with integer bounds on its cumulative probabilities.

Let F_k be the cumulative probability of the outcomes 0, …, k, and u a uniform number. Inversion returns the outcome k
with F_{k−1} ≤ u < F_k. The first 64 bits of u decide the outcome unless they are also the first 64 bits of some F_k.
Then more bits of the same u are drawn.
"""

from __future__ import annotations

import decimal
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from epsilond.mechanisms.randomness import WORD, Integers, Place, Words


@dataclass(frozen=True)
class IntegerBounds:
    """Lower and upper integer bounds on a list of numbers, in units of 2^−precision.

    Attributes:
        low: lower bound on each number.
        high: upper bound on each number.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]


Weights = Callable[[int], IntegerBounds]
"""A function that returns bounds on the weights of all outcomes at a precision, in units of 2^−precision."""


class UnitBounds(NamedTuple):
    """Bounds on a number in [0, 1], in units of 2^−precision.

    Attributes:
        low: lower bound, at least 0.
        high: upper bound.
    """

    low: int
    high: int


def decay(rate: Decimal, precision: int) -> UnitBounds:
    """Return bounds on e^−rate, in units of 2^−precision.

    Args:
        rate: exponent, an exact decimal number of at least 0.
        precision: number of binary digits after the point.

    Returns:
        Integers `low` ≤ e^−rate · 2^precision ≤ `high`, at most three units apart.
    """
    unit = 1 << precision
    if rate == 0:
        return UnitBounds(unit, unit)
    # Decimal digits for the given number of binary digits, with 10 digits of reserve.
    digits = math.ceil(precision * math.log10(2.0)) + 10
    context = decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])

    # The power is correctly rounded and at most 1, so its error is far below one unit. `copy_negate` is exact, but a
    # minus sign would round the rate to the digits of the current context.
    power = context.exp(rate.copy_negate())
    power_in_units = context.multiply(power, Decimal(unit))
    rounded_down = int(power_in_units.to_integral_value(decimal.ROUND_FLOOR))
    # One unit on either side covers this error, and one more above covers the rounding down.
    return UnitBounds(max(rounded_down - 1, 0), rounded_down + 2)


def exact_product(rate: float, count: int) -> Decimal:
    """Return rate · count without rounding, as a decimal number; a double has fewer than 800 decimal digits."""
    context = decimal.Context(prec=1000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    return context.multiply(Decimal(rate), Decimal(count))


def powers(base: tuple[int, int], count: int, precision: int) -> IntegerBounds:
    """Return bounds on the powers x^0, …, x^(count − 1) of a number x in [0, 1].

    Args:
        base: lower and upper bound on x, in units of 2^−precision.
        count: number of powers, at least 1.
        precision: number of binary digits of the base and of the result.

    Returns:
        Lower and upper bounds on each power, in units of 2^−precision.
    """
    base_low, base_high = base
    low, high = [1 << precision], [1 << precision]
    for _ in range(count - 1):
        low.append(low[-1] * base_low >> precision)
        high.append(-(-high[-1] * base_high >> precision))  # the shift of a negative number rounds the product up
    return IntegerBounds(tuple(low), tuple(high))


def jumps(weights: Weights, bits: int) -> IntegerBounds:
    """Return bounds on the random words of `bits` bits at which inversion passes from one outcome to the next.

    They are the integers ⌊2^bits F_k⌋ for the cumulative probabilities F_k. The last one, which is 1, is left out.

    Args:
        weights: function from a number of binary digits to bounds on the weights of all outcomes. The weights need not
            sum to 1.
        bits: number of random bits.

    Returns:
        Lower and upper bounds, one fewer than the outcomes.
    """
    bounds = weights(bits + WORD)
    lower_sums = list(itertools.accumulate(bounds.low))
    upper_sums = list(itertools.accumulate(bounds.high))
    # A lower bound on F_k divides a lower bound on its weights by an upper bound on all weights.
    lower_total, upper_total = lower_sums[-1], upper_sums[-1]
    low = tuple((lower << bits) // upper_total for lower in lower_sums[:-1])
    high = tuple((upper << bits) // lower_total for upper in upper_sums[:-1])
    return IntegerBounds(low, high)


@dataclass(frozen=True)
class Inversion:
    """An exact sampler of a distribution on 0, 1, … by inversion of its cumulative probabilities.

    Attributes:
        weights: function from a number of binary digits to bounds on the weights of all outcomes.
        low: lower bound on ⌊2^64 F_k⌋ for each cumulative probability F_k.
        high: upper bound on it.
    """

    weights: Weights
    low: Words
    high: Words

    @classmethod
    def from_weights(cls, weights: Weights) -> Inversion:
        """Build the sampler of a distribution with given weights, which need not sum to 1.

        Args:
            weights: function from a number of binary digits to bounds on the weights of all outcomes.

        Returns:
            The sampler, with bounds on its cumulative probabilities for 64 random bits.
        """
        largest_word = (1 << WORD) - 1
        bounds = jumps(weights, WORD)
        low = [min(jump, largest_word) for jump in bounds.low]
        high = [min(jump, largest_word) for jump in bounds.high]
        # The appended number is for the last outcome, which has F = 1. No word is above it.
        low_words = np.array([*low, largest_word], dtype=np.uint64)
        high_words = np.array([*high, largest_word], dtype=np.uint64)
        return cls(weights, low_words, high_words)

    def outcomes(self, words: Words, next_word: Callable[[Place], int]) -> Integers:
        """Return the outcome 0, 1, … of each random word by inversion of the cumulative distribution.

        If 64 bits cannot decide between two outcomes, further bits are drawn until the comparison is certain.

        Args:
            words: the first 64 bits of uniform numbers, any shape.
            next_word: function that draws 64 further random bits of the number at a place in `words`.

        Returns:
            Outcomes, of the shape of `words`, with exactly the distribution of the weights.
        """
        # The outcome is the number of cumulative probabilities that are certainly below the uniform number.
        outcomes = np.array(np.searchsorted(self.high[:-1], words, side="left"), dtype=np.int64)
        # A word is undecided if it is between the bounds on the next cumulative probability.
        has_next = outcomes < len(self.high) - 1
        is_unsure = has_next & (self.low[outcomes] <= words)
        for place in map(tuple, np.argwhere(is_unsure).tolist()):
            draw_more_bits = functools.partial(next_word, place)
            outcomes[place] = self.resolve(int(words[place]), draw_more_bits)
        return outcomes

    def resolve(self, word: int, next_word: Callable[[], int]) -> int:
        """Return the outcome of a uniform number that 64 bits cannot decide.

        The outcome is the number of cumulative probabilities below the uniform number. In each pass, 64 bits are
        appended to the number, until its comparison with every cumulative probability is certain.

        Args:
            word: the first 64 bits of the uniform number.
            next_word: function that draws 64 further bits of the number.

        Returns:
            The outcome, numbered from 0.
        """
        bits = WORD
        value = word
        while True:
            value = (value << WORD) | next_word()
            bits += WORD
            bounds = jumps(self.weights, bits)
            certainly_below = sum(jump < value for jump in bounds.high)
            possibly_below = sum(jump <= value for jump in bounds.low)
            if certainly_below == possibly_below:
                return certainly_below
