"""Events of probability e^−γ for whole arrays, decided exactly.

A double near e^−γ decides nearly every draw. Where the random word is too near to it to be sure, γ is taken as the
fraction that it is, e^−γ is enclosed by integers, and further random bits are drawn until the answer is certain. So
floating point decides how fast it goes and never what comes out.
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
"""Far above the relative error of e^−γ: see `exponential_flips`."""


def exponential_flips(exponents: Floats, exact: Callable[[Place], Fraction], source: RandomSource) -> Bools:
    """True with probability e^−γ, for each γ ≥ 0.

    `exact(place)` is γ itself. `exponents` may be off by 2^−34 where γ < 50, and must be above 46 where it is not: then
    no word but the first few is below 2^64 e^−γ, and these are never decided here. `exp` may be off by 2^−34 relative.
    """
    words = source.words(exponents.shape)
    numbers = words.astype(np.float64)
    scaled = np.ldexp(np.exp(-exponents), WORD)
    happens = np.asarray(numbers < scaled)
    unsure = np.abs(numbers - scaled) <= TOLERANCE * scaled + 8.0
    for place in map(tuple, np.argwhere(unsure).tolist()):
        happens[place] = is_below_exponential(int(words[place]), exact(place), source, place)
    return happens


def is_below_exponential(word: int, exponent: Fraction, source: RandomSource, place: Place) -> bool:
    """Whether a uniform number that begins with the bits of `word` is below e^−γ, exactly."""
    bits, value = WORD, word
    while True:
        low, high = exponential_ends(exponent, bits)
        if value + 1 <= low:
            return True
        if value >= high:
            return False
        value, bits = value << WORD | source.more(place), bits + WORD


def exponential_ends(exponent: Fraction, precision: int) -> tuple[int, int]:
    """e^−γ in units of 2^−precision, from below and above."""
    digits = math.ceil((precision + exponent.numerator.bit_length()) * math.log10(2.0)) + 10
    context = decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    ends = []
    for rounding in (decimal.ROUND_FLOOR, decimal.ROUND_CEILING):
        context.rounding = rounding
        ends.append(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    return decay(ends[1], precision)[0], decay(ends[0], precision)[1]


def below(count: int, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Uniform on 0, …, count − 1, exactly: words beyond the last whole multiple of `count` are drawn again.

    1 ≤ count ≤ 2^62. Of a source of several rows, each takes its own further words, one at a time.
    """
    words = np.array(source.words(shape))
    most = np.uint64((1 << WORD) // count * count - 1)
    for place in map(tuple, np.argwhere(words > most).tolist()):
        word = int(words[place])
        while word > most:
            word = source.more(place)
        words[place] = word
    return np.asarray((words % np.uint64(count)).astype(np.int64))
