"""Truncated discrete Laplace noise for whole arrays, with exactly its distribution.

Random bits are compared with integer bounds on the cumulative probabilities. The few draws that 64 bits do not decide
take more bits. No probability is rounded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.jumps import IntegerBounds, Inversion, decay, exact_product, powers
from epsilond.mechanisms.randomness import Integers, RandomSource

MOST_NOISE_LEVELS = 1 << 34
"""Largest m. The tables have about √m entries, a few megabytes."""
DIRECT = 1 << 12
"""Largest m with a table entry for every level. Above it, a block of levels is drawn first, then a level within it."""


@dataclass(frozen=True)
class NoiseTables:
    """Tables to draw an integer of the truncated discrete Laplace distribution on −m, …, m, in two stages.

    The integers 1, …, m are divided into blocks. The first stage draws 0 or a signed block, the second an integer in
    the block. Block b = 1, …, B has the t integers from 1 + (b − 1) t to bt. The last block may be shorter.
    """

    width: int
    blocks: int
    signed_block: Inversion
    """Distribution of sign · b, from −B to B; 0 is the level 0."""
    within: Inversion | None
    """Distribution of a in blocks before the last; None if t = 1."""
    within_last: Inversion | None
    """Distribution of a in the last block; None if t = 1."""


@functools.lru_cache(maxsize=8)
def noise_tables(decay_rate: float, noise_levels: int) -> NoiseTables:
    """Return the tables that draw an integer y, |y| ≤ m, with probability proportional to e^(−α|y|).

    For large m, a draw has two stages: first a block of consecutive integers, then a level within the block. With
    blocks of about √m integers, the tables stay small.

    Args:
        decay_rate: decay rate α > 0, read as the exact fraction that the double is.
        noise_levels: largest absolute value m ≥ 1.

    Returns:
        The tables. Equal arguments give the same object, as long as it is among the last eight results.
    """
    # Few levels need no blocks: one table of all levels is small enough.
    width = 1 if noise_levels <= DIRECT else math.isqrt(noise_levels)
    blocks = math.ceil(noise_levels / width)
    last_width = noise_levels - (blocks - 1) * width
    weights = _BlockWeights(decay_rate=decay_rate, width=width, blocks=blocks, last_width=last_width)
    within = within_last = None
    if width > 1:
        within = Inversion.from_weights(functools.partial(weights.of_levels, width))
        within_last = Inversion.from_weights(functools.partial(weights.of_levels, last_width))
    return NoiseTables(
        width=width,
        blocks=blocks,
        signed_block=Inversion.from_weights(weights.of_signed_blocks),
        within=within,
        within_last=within_last,
    )


@dataclass(frozen=True)
class _BlockWeights:
    """Sums of the weights e^(−α|y|) over blocks of consecutive integers y.

    Attributes:
        decay_rate: α > 0, read as the exact fraction that the double is.
        width: number t of integers in a block.
        blocks: number B of blocks of positive integers.
        last_width: number of integers in the last block.
    """

    decay_rate: float
    width: int
    blocks: int
    last_width: int

    def of_levels(self, count: int, precision: int) -> IntegerBounds:
        """Enclose the weights e^(−αa) of the levels a = 0, 1, … of a block, in units of 2^−precision.

        Args:
            count: number of levels.
            precision: number of binary digits after the point.
        """
        return powers(decay(Decimal(self.decay_rate), precision), count, precision)

    def of_signed_blocks(self, precision: int) -> IntegerBounds:
        """Return bounds on the weight of each block −B, …, B, in units of 2^−precision.

        Block 0 is the single level 0, of weight 1. Block b > 0 has the t integers from 1 + (b − 1)t, or fewer if it is
        the last one. Block −b has their negatives. The weight of a block is e^(−α) · e^(−α(b − 1)t) · (the sum of
        e^(−αa) over its levels a = 0, 1, …).

        Args:
            precision: number of binary digits after the point, at least 1.

        Returns:
            Lower and upper bounds on the 2B + 1 weights, from block −B to block B.
        """
        decay_factor = decay(Decimal(self.decay_rate), precision)
        starts = powers(decay(exact_product(self.decay_rate, self.width), precision), self.blocks, precision)
        full = self.of_levels(self.width, precision)
        last = self.of_levels(self.last_width, precision)
        low = _block_weights(starts.low, decay_factor.low, sum(full.low), sum(last.low), precision)
        rounded_down = _block_weights(starts.high, decay_factor.high, sum(full.high), sum(last.high), precision)
        # The products were rounded down, by less than one unit: add one for an upper bound.
        high = [weight + 1 for weight in rounded_down]
        weight_of_zero = 1 << precision
        signed_low = (*reversed(low), weight_of_zero, *low)
        signed_high = (*reversed(high), weight_of_zero, *high)
        return IntegerBounds(signed_low, signed_high)


def _block_weights(starts: Sequence[int], first: int, mass: int, last_mass: int, precision: int) -> list[int]:
    """Return the weight of each block, rounded down.

    The weight of block b is e^(−α(b − 1)t) · e^(−α) · (the sum of e^(−αa) over its levels).

    Args:
        starts: e^(−α(b − 1)t) for each block, in units of 2^−precision, as all arguments.
        first: e^(−α).
        mass: sum of e^(−αa) over a full block.
        last_mass: the same sum over the last block.
        precision: number of binary digits.

    Returns:
        Integers in units of 2^−precision, one per block.
    """
    masses = [mass] * (len(starts) - 1) + [last_mass]
    return [(start * first * total) >> (2 * precision) for start, total in zip(starts, masses, strict=True)]


def truncated_discrete_laplace(
    decay_rate: float, noise_levels: int, shape: tuple[int, ...], source: RandomSource
) -> Integers:
    """Draw independent integers on −m, …, m with probabilities proportional to e^(−α|y|).

    Args:
        decay_rate: α > 0, read as the exact fraction that the double is.
        noise_levels: m, from 0 to 2^34.
        shape: shape of the array of draws.
        source: source of the random bits.

    Returns:
        Integers with exactly this distribution.

    Raises:
        InvalidInput: a parameter is outside its range.
    """
    if not 0.0 < decay_rate < math.inf:
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="> 0")
    if not 0 <= noise_levels <= MOST_NOISE_LEVELS:
        raise InvalidInput.at("/noise_levels", "is out of range", allowed=f"≥ 0 and ≤ {MOST_NOISE_LEVELS}")
    if noise_levels == 0:
        return np.zeros(shape, dtype=np.int64)
    tables = noise_tables(decay_rate, noise_levels)
    blocks = tables.signed_block.outcomes(source.words(shape), source.next_word) - tables.blocks
    if tables.within is None or tables.within_last is None:
        return blocks  # a block has one level
    words = source.words(shape)
    offsets = tables.within.outcomes(words, source.next_word)
    is_last = np.abs(blocks) == tables.blocks
    if is_last.any():
        # The last block may have fewer levels. The same words give the offsets in it.
        places = np.argwhere(is_last)
        offsets[is_last] = tables.within_last.outcomes(
            words[is_last], lambda index: source.next_word(tuple(places[index[0]]))
        )
    return np.asarray(np.sign(blocks) * (1 + (np.abs(blocks) - 1) * tables.width + offsets))
