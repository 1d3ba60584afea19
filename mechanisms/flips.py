"""Exact draws for whole arrays: events of probability e^−γ, and uniform integers.

A double near e^−γ decides nearly every event. If the random word is too near to it, the fraction γ gives integer bounds
on e^−γ, and further random bits are drawn until the event is decided. So floating point affects the speed and never the
result.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np

from epsilond.mechanisms.jumps import decay
from epsilond.mechanisms.randomness import WORD, Bools, Floats, Integers, Place, RandomSource

TOLERANCE = 2.0**-32
"""Relative distance from e^−γ within which a word is decided exactly; far above the error of the computed e^−γ."""


def exponential_flips(exponents: Floats, exact: Callable[[Place], Fraction], source: RandomSource) -> Bools:
    """Draw independent Bernoulli events, each with probability exactly e^−γ for its own γ.

    An approximation of γ decides almost every event. The rare random words too close to e^−γ are decided exactly.

    Args:
        exponents: approximations of γ ≥ 0, with an error of at most 2^−34 if γ < 50. If γ ≥ 50, it is enough that they
            are above 46, because the event then needs a random word of at most 8, which is decided exactly.
        exact: function that returns the exact γ at a place in the array.
        source: source of the random bits.

    Returns:
        An array of booleans, True where the event happens.
    """
    words = source.words(exponents.shape)
    numbers = words.astype(np.float64)
    thresholds = np.ldexp(np.exp(-exponents), WORD)  # e^−γ in units of 2^−64
    happens = np.asarray(numbers < thresholds)

    # The relative part of the tolerance covers the errors of γ and of `np.exp`, if the latter is at most 2^−34. Both
    # are relative errors of e^−γ. The absolute part, 8, is for the smallest words at large γ.
    is_unsure = np.abs(numbers - thresholds) <= TOLERANCE * thresholds + 8.0
    for place in map(tuple, np.argwhere(is_unsure).tolist()):
        happens[place] = is_below_exponential(int(words[place]), exact(place), source, place)
    return happens


def is_below_exponential(word: int, exponent: Fraction, source: RandomSource, place: Place) -> bool:
    """Decide exactly whether a uniform number in [0, 1) is below e^−γ.

    The first 64 bits are compared with bounds on e^−γ of the same precision. Until the comparison is certain, 64 bits
    are appended.

    Args:
        word: the first 64 bits of the uniform number.
        exponent: exact exponent γ ≥ 0.
        source: source of the further bits.
        place: place of the number in its array, from which the source may choose the bits.
    """
    bits = WORD
    value = word
    while True:
        low, high = exponential_bounds(exponent, bits)
        if value + 1 <= low:
            return True
        if value >= high:
            return False
        value = (value << WORD) | source.next_word(place)
        bits += WORD


def exponential_bounds(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Return a lower and an upper bound on e^−γ, in units of 2^−precision.

    The fraction γ is rounded up to a decimal number for the lower bound, and down for the upper bound.

    Args:
        exponent: exact exponent γ ≥ 0.
        precision: number of binary digits after the point.

    Returns:
        The lower and the upper bound, as integers.
    """
    # Decimal digits for the binary digits after the point and for the integer part of γ, with 10 digits of reserve.
    digits = math.ceil((precision + exponent.numerator.bit_length()) * math.log10(2.0)) + 10
    context = decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    numerator, denominator = Decimal(exponent.numerator), Decimal(exponent.denominator)

    context.rounding = decimal.ROUND_FLOOR
    lower_exponent = context.divide(numerator, denominator)
    context.rounding = decimal.ROUND_CEILING
    upper_exponent = context.divide(numerator, denominator)

    lower_bound, _ = decay(upper_exponent, precision)
    _, upper_bound = decay(lower_exponent, precision)
    return lower_bound, upper_bound


def uniform_integers(count: int, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Draw independent uniform integers from 0, …, count − 1.

    Words at or above the largest multiple of `count` up to 2^64 are drawn again, one at a time. If the source has a
    generator for each row, the new word comes from the generator of the row.

    Args:
        count: number of integers, from 1 to 2^62.
        shape: shape of the array of draws.
        source: source of the random bits.

    Returns:
        Integers with exactly the uniform distribution.
    """
    words = np.array(source.words(shape))
    # The words from 0 to the largest accepted one have every remainder equally often.
    multiples = (1 << WORD) // count
    largest_accepted = np.uint64(multiples * count - 1)
    for place in map(tuple, np.argwhere(words > largest_accepted).tolist()):
        word = int(words[place])
        while word > largest_accepted:
            word = source.next_word(place)
        words[place] = word
    remainders = words % np.uint64(count)
    return np.asarray(remainders.astype(np.int64))
