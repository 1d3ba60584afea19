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

    The integers 1, …, m are divided into blocks. The first stage draws 0 or a block with a sign, and the second an
    integer in the block. Block b = 1, …, B has the t integers 1 + (b − 1)t + a with a = 0, …, t − 1. The last block may
    be shorter.

    Attributes:
        width: number t of integers in a block.
        blocks: number B of blocks.
        signed_block: sampler of the block number b with its sign, from −B to B; 0 is for the integer 0.
        within: sampler of a in a block before the last; None if t = 1.
        within_last: sampler of a in the last block; None if t = 1.
    """

    width: int
    blocks: int
    signed_block: Inversion
    within: Inversion | None
    within_last: Inversion | None


@functools.lru_cache(maxsize=8)
def noise_tables(decay_rate: float, noise_levels: int) -> NoiseTables:
    """Build the tables that draw an integer y, |y| ≤ m, with probability proportional to e^(−α|y|).

    For large m, a draw has two stages: first a block of about √m consecutive integers, then an integer in the block.
    The tables so stay small. They are kept for the last eight arguments.

    Args:
        decay_rate: decay rate α > 0, taken as the exact value of the double.
        noise_levels: largest absolute value m ≥ 1.
    """
    # For a small m, one table of all levels is small enough.
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
        decay_rate: decay rate α > 0, taken as the exact value of the double.
        width: number t of integers in a block.
        blocks: number B of blocks of positive integers.
        last_width: number of integers in the last block.
    """

    decay_rate: float
    width: int
    blocks: int
    last_width: int

    def of_levels(self, count: int, precision: int) -> IntegerBounds:
        """Return bounds on the weights e^(−αa) of the levels a = 0, 1, … of a block, in units of 2^−precision.

        Args:
            count: number of levels.
            precision: number of binary digits after the point.

        Returns:
            Lower and upper bounds, one for each level.
        """
        return powers(decay(Decimal(self.decay_rate), precision), count, precision)

    def of_signed_blocks(self, precision: int) -> IntegerBounds:
        """Return bounds on the weight of each block −B, …, B, in units of 2^−precision.

        B is `blocks` and t is `width`. Block 0 is the integer 0, of weight 1. Block b > 0 has the t integers from
        1 + (b − 1)t on, or fewer if it is the last one. Its weight is:

            e^(−α) · e^(−α(b − 1)t) · Σ_a e^(−αa),

        with the sum over a = 0, …, t − 1. Block −b has the negatives of the integers of block b, and the same weight.

        Args:
            precision: number of binary digits after the point, at least 1.

        Returns:
            Lower and upper bounds on the 2B + 1 weights, from block −B to block B.
        """
        decay_factor = decay(Decimal(self.decay_rate), precision)
        block_decay = decay(exact_product(self.decay_rate, self.width), precision)
        starts = powers(block_decay, self.blocks, precision)  # e^(−α(b − 1)t) for each b
        # The terms e^(−αa) of the sums over a full block and over the last one.
        full_block = self.of_levels(self.width, precision)
        last_block = self.of_levels(self.last_width, precision)

        low = _block_weights(starts.low, decay_factor.low, sum(full_block.low), sum(last_block.low), precision)
        rounded_down = _block_weights(
            starts.high, decay_factor.high, sum(full_block.high), sum(last_block.high), precision
        )
        # The products were rounded down by less than one unit, so one more is an upper bound.
        high = [weight + 1 for weight in rounded_down]

        weight_of_zero = 1 << precision
        signed_low = (*reversed(low), weight_of_zero, *low)
        signed_high = (*reversed(high), weight_of_zero, *high)
        return IntegerBounds(signed_low, signed_high)


def _block_weights(starts: Sequence[int], decay_factor: int, full_sum: int, last_sum: int, precision: int) -> list[int]:
    """Return the weight e^(−α(b − 1)t) · e^(−α) · Σ_a e^(−αa) of each block b = 1, …, B, rounded down.

    All numbers are in units of 2^−precision.

    Args:
        starts: e^(−α(b − 1)t) for each block.
        decay_factor: e^(−α).
        full_sum: sum of e^(−αa) over a full block, a = 0, …, t − 1.
        last_sum: the same sum over the last block, which may be shorter.
        precision: number of binary digits after the point.
    """
    sums = [full_sum] * (len(starts) - 1) + [last_sum]
    weights = []
    for start, block_sum in zip(starts, sums, strict=True):
        # The product of three numbers in units of 2^−precision has the unit 2^−(3 · precision).
        product = start * decay_factor * block_sum
        weights.append(product >> (2 * precision))
    return weights


def truncated_discrete_laplace(
    decay_rate: float, noise_levels: int, shape: tuple[int, ...], source: RandomSource
) -> Integers:
    """Draw independent integers on −m, …, m with probabilities proportional to e^(−α|y|).

    Random bits are compared with integer bounds on the cumulative probabilities, so that no probability is rounded.

    Args:
        decay_rate: decay rate α > 0, taken as the exact value of the double.
        noise_levels: largest absolute value m, from 0 to 2^34.
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

    # First stage: a block with a sign for each entry. Outcome 0 of the sampler is block −B.
    tables = noise_tables(decay_rate, noise_levels)
    signed_blocks = tables.signed_block.outcomes(source.words(shape), source.next_word) - tables.blocks
    if tables.within is None or tables.within_last is None:
        return signed_blocks  # each block is a single integer

    # Second stage: the offset of the integer in its block.
    words = source.words(shape)
    offsets = tables.within.outcomes(words, source.next_word)
    block_numbers = np.abs(signed_blocks)
    is_last = block_numbers == tables.blocks
    if is_last.any():
        # The last block may be shorter. The same words give the offsets in it.
        places = np.argwhere(is_last)

        def next_word_of_selected(index: tuple[int, ...]) -> int:
            """Draw further bits for an entry of the last block, given its index among these entries."""
            return source.next_word(tuple(places[index[0]]))

        offsets[is_last] = tables.within_last.outcomes(words[is_last], next_word_of_selected)
    first_integers = 1 + (block_numbers - 1) * tables.width
    # The sign of block 0 is 0, and so is the result.
    return np.asarray(np.sign(signed_blocks) * (first_integers + offsets))
