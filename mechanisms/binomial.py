"""Binomial noise, the number of heads of N fair coins, as cpSGD adds it to integers (Agarwal et al. 2018)."""

from __future__ import annotations

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import WORD, Integers, RandomSource, Words, secure

MOST_TRIALS = 1 << 20
"""Largest number of coins. Each entry of an array takes a random word for every 64 coins."""


def centred_binomial(trials: int, shape: tuple[int, ...], source: RandomSource | None = None) -> Integers:
    """Draw independent integers Z − N/2, where Z is the number of heads of N fair coins.

    Args:
        trials: N, even, from 2 to 2^20.
        shape: shape of the array of draws.
        source: source of the random bits; the operating system if None.

    Returns:
        Integers from −N/2 to N/2, with exactly this distribution.

    Raises:
        InvalidInput: `trials` is odd or outside its range.
    """
    if not 2 <= trials <= MOST_TRIALS or trials % 2:
        raise InvalidInput.at("/trials", "is out of range", allowed=f"even, 2 to {MOST_TRIALS}")
    bits = source or secure()
    totals = np.full(shape, -trials // 2, dtype=np.int64)
    for first_trial in range(0, trials, WORD):
        unused_bits = max(WORD - (trials - first_trial), 0)
        totals += _count_set_bits(bits.words(shape) >> np.uint64(unused_bits))
    return totals


def _count_set_bits(words: Words) -> Integers:
    """Count the bits that are 1 in each word.

    The counts of 2, 4 and 8 bits are computed in parallel within the word. Then the counts of the eight octets are
    added. Source: Warren, Hacker's Delight, Figure 5-2.

    Args:
        words: unsigned integers of 64 bits, any shape.

    Returns:
        Integers from 0 to 64, of the same shape.
    """
    every_second_bit = np.uint64(0x5555555555555555)
    every_second_pair = np.uint64(0x3333333333333333)
    every_second_nibble = np.uint64(0x0F0F0F0F0F0F0F0F)

    # Each step adds the counts of neighbouring fields, which doubles the width of a field.
    pairs = words - ((words >> np.uint64(1)) & every_second_bit)
    nibbles = (pairs & every_second_pair) + ((pairs >> np.uint64(2)) & every_second_pair)
    octets = (nibbles + (nibbles >> np.uint64(4))) & every_second_nibble
    with np.errstate(over="ignore"):
        # The product modulo 2^64 holds the sum of all octets in its top octet.
        counts = (octets * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.asarray(counts).astype(np.int64)
