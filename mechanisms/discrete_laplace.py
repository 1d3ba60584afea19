"""Truncated discrete Laplace noise for whole arrays, with exactly its law.

Random bits are compared with integer enclosures of the law's jumps; the few draws that 64 bits leave open take more.
No probability is rounded.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.jumps import IntegerBounds, Inversion, decay, powers, times
from epsilond.mechanisms.randomness import Integers, RandomSource

MOST_NOISE_LEVELS = 1 << 34
"""Tables grow as its root: a few megabytes."""
DIRECT = 1 << 12
"""Up to this m every level has its own jump; beyond, levels are drawn in blocks, then within the block."""


@dataclass(frozen=True)
class NoiseTables:
    """±(1 + (b − 1) t + a) in block b = 1, …, B at a = 0, …, t − 1, or 0; the last block has `rest` ≤ t levels."""

    width: int
    blocks: int
    signed_block: Inversion
    within: Inversion | None
    within_last: Inversion | None


@functools.lru_cache(maxsize=8)
def noise_tables(decay_rate: float, noise_levels: int) -> NoiseTables:
    """For e^(−α|y|) on |y| ≤ m, m ≥ 1; α is taken as the fraction that the double is."""
    rate = Decimal(decay_rate)
    width = 1 if noise_levels <= DIRECT else math.isqrt(noise_levels)
    blocks = -(-noise_levels // width)
    rest = noise_levels - (blocks - 1) * width

    def one_block(count: int, precision: int) -> IntegerBounds:
        return powers(decay(rate, precision), count, precision)

    def signed_blocks(precision: int) -> IntegerBounds:
        first = decay(rate, precision)
        inside, last = one_block(width, precision), one_block(rest, precision)
        starts = powers(decay(times(decay_rate, width), precision), blocks, precision)
        sides = []
        for up, start, whole, part, end in (
            (0, starts.low, sum(inside.low), sum(last.low), first[0]),
            (1, starts.high, sum(inside.high), sum(last.high), first[1]),
        ):
            masses = [*([whole] * (blocks - 1)), part]
            each = [one * end * mass >> 2 * precision for one, mass in zip(start, masses, strict=True)]
            sides.append([one + up for one in each])
        one = 1 << precision
        low, high = ((*reversed(side), one, *side) for side in sides)
        return IntegerBounds(low, high)

    def conditional(count: int) -> Inversion | None:
        return None if width == 1 else Inversion.of(functools.partial(one_block, count))

    return NoiseTables(width, blocks, Inversion.of(signed_blocks), conditional(width), conditional(rest))


def truncated_discrete_laplace(
    decay_rate: float, noise_levels: int, shape: tuple[int, ...], source: RandomSource
) -> Integers:
    """Independent Y on −m, …, m with probabilities proportional to e^(−α|y|), of that shape.

    α is `decay_rate` > 0, 0 ≤ m ≤ 2^34 is `noise_levels`.

    Raises:
        InvalidInput: a parameter is outside its range.
    """
    if not 0.0 < decay_rate < math.inf:
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="> 0")
    if not 0 <= noise_levels <= MOST_NOISE_LEVELS:
        raise InvalidInput.at("/noise_levels", "is out of range", allowed=f"≥ 0 and ≤ {MOST_NOISE_LEVELS}")
    if noise_levels == 0:
        return np.zeros(shape, dtype=np.int64)
    tables, more = noise_tables(decay_rate, noise_levels), source.more
    block = tables.signed_block.outcomes(source.words(shape), more) - tables.blocks
    if tables.within is None or tables.within_last is None:
        return block
    bits = source.words(shape)
    inside = tables.within.outcomes(bits, more)
    in_last = np.abs(block) == tables.blocks
    if in_last.any():
        places = np.argwhere(in_last)
        inside[in_last] = tables.within_last.outcomes(bits[in_last], lambda place: more(tuple(places[place[0]])))
    return np.asarray(np.sign(block) * (1 + (np.abs(block) - 1) * tables.width + inside))
