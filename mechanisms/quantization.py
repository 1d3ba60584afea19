"""Rounding to a grid at random and without bias, for whole arrays, and what a client sends of a unit vector.

Random bits are compared with the exact probabilities; the few draws that 64 bits leave open take more.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.randomness import WORD, Floats, Integers, RandomSource, Words, is_below

MOST_QUANTIZATION_LEVELS = 1 << 40
SPLIT = float((1 << 27) + 1)
"""Veltkamp's constant: halves of 53-bit numbers multiply exactly."""
SMALLEST = 2.0**-100
"""Products below it have low parts that no 64 bits see."""


def stochastic_rounding(values: Floats, levels: int, source: RandomSource) -> Integers:
    """Each u in [−1, 1] to one of the two multiples of 1/levels around it, unbiased; the multiples are returned.

    A double is taken as the fraction that it is; levels ≤ 2^40. Source: Das et al., Algorithm 1, line 3.

    Raises:
        InvalidInput: a value is outside [−1, 1], or levels are.
    """
    if not 1 <= levels <= MOST_QUANTIZATION_LEVELS:
        raise InvalidInput.at(
            "/quantization_levels", "is out of range", allowed=f"≥ 1 and ≤ {MOST_QUANTIZATION_LEVELS}"
        )
    if not np.all(np.abs(values) <= 1.0):
        raise InvalidInput.at("/values", "is out of range", allowed="≥ -1 and ≤ 1")
    bits, sizes = source.words(values.shape), np.abs(values)
    floor, share = _floor_and_share(sizes, levels)
    upward = (bits < share).astype(np.int64)
    # The share in units of 2^−64 is known to two units: whoever falls near it is asked for more bits.
    near = (bits - share + np.uint64(1)) <= np.uint64(3)
    for place in map(tuple, np.argwhere(near).tolist()):
        floor[place], exact = divmod(Fraction(float(sizes[place])) * levels, 1)
        upward[place] = is_below(int(bits[place]), exact, source, place)
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


def quantized_messages(
    updates: Floats, *, levels: int, noise_levels: int, decay_rate: float, source: RandomSource
) -> Integers:
    """What clients send of unit vectors: rounded to the grid, with truncated noise on every coordinate.

    Integers from −(levels + noise_levels) to levels + noise_levels, in the shape of `updates`.
    """
    rounded = stochastic_rounding(updates, levels, source)
    return rounded + truncated_discrete_laplace(decay_rate, noise_levels, updates.shape, source)


def unit_vectors(updates: Floats) -> Floats:
    """Updates over their norms; zeros, and what is no number, as zeros. Coordinates are in [−1, 1] after rounding."""
    largest = np.max(np.abs(updates), axis=-1, keepdims=True)
    usable = (largest > 0.0) & np.isfinite(largest)
    scaled = np.where(usable, updates, 0.0) / np.where(usable, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.asarray(np.clip(scaled / np.maximum(norms, 1.0), -1.0, 1.0))
