"""Binomial noise: how many of N fair bits are set. What cpSGD adds to integers (Agarwal et al. 2018)."""

from __future__ import annotations

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import WORD, Integers, RandomSource, Words, secure

MOST_TRIALS = 1 << 20
"""A word of random bits is drawn for every 64 of them and every entry."""


def centred_binomial(trials: int, shape: tuple[int, ...], source: RandomSource | None = None) -> Integers:
    """Independent Z − N/2, Z the number of heads of N fair coins; N is `trials`, even and at most 2^20.

    Raises:
        InvalidInput: `trials` is odd or outside its range.
    """
    if not 2 <= trials <= MOST_TRIALS or trials % 2:
        raise InvalidInput.at("/trials", "is out of range", allowed=f"even, 2 to {MOST_TRIALS}")
    bits, drawn = source or secure(), np.full(shape, -trials // 2, dtype=np.int64)
    for first in range(0, trials, WORD):
        words = bits.words(shape) >> np.uint64(max(WORD - (trials - first), 0))
        drawn += _set_bits(words)
    return drawn


def _set_bits(words: Words) -> Integers:
    """Of each word: sums of ever wider parts of it."""
    pairs = words - ((words >> np.uint64(1)) & np.uint64(0x5555555555555555))
    with np.errstate(over="ignore"):
        return _by_octets(pairs)


def _by_octets(pairs: Words) -> Integers:
    nibbles = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.asarray((octets * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)
