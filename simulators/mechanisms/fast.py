"""The samplers of `mechanisms` for whole arrays at a time, and as exact.

Random bits are compared with integer enclosures of the law's jumps; the few draws that 64 bits leave open take more.
No probability is rounded. Every repetition draws from its own generator and sees nothing of its neighbours.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.mechanisms.jumps import WORD, Ends, Integers, Inversion, Words, decay, powers, times
from epsilond.simulators.problems.problem import Floats

MOST_NOISE_LEVELS = 1 << 34
"""Tables grow as its root: a few megabytes."""
MOST_QUANTIZATION_LEVELS = 1 << 40
DIRECT = 1 << 12
"""Up to this m every level has its own jump; beyond, levels are drawn in blocks, then within the block."""
SPLIT = float((1 << 27) + 1)
"""Veltkamp's constant: halves of 53-bit numbers multiply exactly."""
SMALLEST = 2.0**-100
"""Products below it have low parts that no 64 bits see."""


def words(generators: Sequence[np.random.Generator], shape: tuple[int, ...]) -> Words:
    """64 random bits for each entry, row i from generator i: (len(generators), *shape)."""
    drawn = np.empty((len(generators), *shape), dtype=np.uint64)
    for row, generator in enumerate(generators):
        drawn[row] = generator.integers(0, (1 << WORD) - 1, endpoint=True, dtype=np.uint64, size=shape)
    return drawn


@dataclass(frozen=True)
class _More:
    """Further bits for an entry, from its repetition's generator."""

    generators: Sequence[np.random.Generator]

    def __call__(self, place: tuple[int, ...]) -> int:
        return int(words([self.generators[place[0]]], ())[0])


# Truncated discrete Laplace noise -----------------------------------------------------------------------------------
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

    def one_block(count: int, precision: int) -> Ends:
        return powers(decay(rate, precision), count, precision)

    def signed_blocks(precision: int) -> Ends:
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
        return Ends(low, high)

    def conditional(count: int) -> Inversion | None:
        return None if width == 1 else Inversion.of(functools.partial(one_block, count))

    return NoiseTables(width, blocks, Inversion.of(signed_blocks), conditional(width), conditional(rest))


def truncated_discrete_laplace(
    decay_rate: float, noise_levels: int, generators: Sequence[np.random.Generator], shape: tuple[int, ...]
) -> Integers:
    """Independent Y on −m, …, m with probabilities proportional to e^(−α|y|): (len(generators), *shape).

    α is `decay_rate` > 0, 0 ≤ m ≤ 2^34 is `noise_levels`.

    Raises:
        InvalidInput: a parameter is outside its range.
    """
    if not 0.0 < decay_rate < math.inf:
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="> 0")
    if not 0 <= noise_levels <= MOST_NOISE_LEVELS:
        raise InvalidInput.at("/noise_levels", "is out of range", allowed=f"≥ 0 and ≤ {MOST_NOISE_LEVELS}")
    if noise_levels == 0:
        return np.zeros((len(generators), *shape), dtype=np.int64)
    tables, more = noise_tables(decay_rate, noise_levels), _More(generators)
    block = tables.signed_block.outcomes(words(generators, shape), more) - tables.blocks
    if tables.within is None or tables.within_last is None:
        return block
    bits = words(generators, shape)
    inside = tables.within.outcomes(bits, more)
    in_last = np.abs(block) == tables.blocks
    if in_last.any():
        places = np.argwhere(in_last)
        inside[in_last] = tables.within_last.outcomes(bits[in_last], lambda place: more(tuple(places[place[0]])))
    return np.asarray(np.sign(block) * (1 + (np.abs(block) - 1) * tables.width + inside))


# Stochastic rounding ------------------------------------------------------------------------------------------------
def stochastic_rounding(values: Floats, levels: int, generators: Sequence[np.random.Generator]) -> Integers:
    """Each u in [−1, 1] to one of the two multiples of 1/levels around it, unbiased; the multiples are returned.

    `values` has one row per generator. A double is taken as the fraction that it is; levels ≤ 2^40. Source: Das et al.,
    Algorithm 1, line 3.

    Raises:
        InvalidInput: a value is outside [−1, 1], or levels are.
    """
    if not 1 <= levels <= MOST_QUANTIZATION_LEVELS:
        raise InvalidInput.at(
            "/quantization_levels", "is out of range", allowed=f"≥ 1 and ≤ {MOST_QUANTIZATION_LEVELS}"
        )
    if not np.all(np.abs(values) <= 1.0):
        raise InvalidInput.at("/values", "is out of range", allowed="≥ -1 and ≤ 1")
    bits, sizes = words(generators, values.shape[1:]), np.abs(values)
    floor, share = _floor_and_share(sizes, levels)
    upward = (bits < share).astype(np.int64)
    # The share in units of 2^−64 is known to two units: whoever falls near it is asked for more bits.
    near = (bits - share + np.uint64(1)) <= np.uint64(3)
    for place in map(tuple, np.argwhere(near).tolist()):
        floor[place], exact = divmod(Fraction(float(sizes[place])) * levels, 1)
        upward[place] = _below(int(bits[place]), exact, _More(generators), place)
    return np.asarray(np.where(values < 0.0, -(floor + upward), floor + upward))


def _floor_and_share(sizes: Floats, levels: int) -> tuple[Integers, Words]:
    """⌊us⌋ and ⌊2^64 (us − ⌊us⌋)⌋, the latter modulo 2^64 and to two units.

    The product of doubles is the rounded product and its error, both doubles (Dekker 1971).
    """
    product = sizes * float(levels)
    high_u, high_s = _high_half(sizes), float(_high_half(np.float64(levels)))
    low_u, low_s = sizes - high_u, float(levels) - high_s
    error = ((high_u * high_s - product) + high_u * low_s + low_u * high_s) + low_u * low_s
    error = np.where(product < SMALLEST, 0.0, error)
    floor = np.floor(product)
    rest = product - floor
    fraction = np.floor(np.ldexp(rest, WORD)).astype(np.uint64)
    correction = np.floor(np.ldexp(error, WORD)).astype(np.int64).view(np.uint64)
    borrowed = (rest == 0.0) & (error < 0.0)
    return floor.astype(np.int64) - borrowed, fraction + correction


def _high_half(values: Floats | np.float64) -> Floats:
    scaled = SPLIT * values
    return np.asarray(scaled - (scaled - values))


def _below(word: int, share: Fraction, more: _More, place: tuple[int, ...]) -> bool:
    """Whether a uniform number that begins with the bits of `word` is below `share`."""
    bits, value = WORD, word
    while True:
        scaled = share * (1 << bits)
        if value + 1 <= scaled:
            return True
        if value >= scaled:
            return False
        value, bits = value << WORD | more(place), bits + WORD


def quantized_messages(
    updates: Floats,
    *,
    levels: int,
    noise_levels: int,
    decay_rate: float,
    generators: Sequence[np.random.Generator],
) -> Integers:
    """What clients send of unit vectors: rounded to the grid, with truncated noise on every coordinate.

    One row per generator; integers from −(levels + noise_levels) to levels + noise_levels.
    """
    rounded = stochastic_rounding(updates, levels, generators)
    return rounded + truncated_discrete_laplace(decay_rate, noise_levels, generators, updates.shape[1:])
