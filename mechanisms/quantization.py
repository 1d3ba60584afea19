"""Unbiased stochastic rounding to a grid for whole arrays, and the integer messages that clients send of unit vectors.

Random bits are compared with the exact probabilities. The few draws that 64 bits do not decide take more bits.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.randomness import WORD, Floats, Integers, RandomSource, Words, is_below

MOST_QUANTIZATION_LEVELS = 1 << 40
"""Largest number of levels; the floor of a product, and its error in units of 2^−64, are then exact in a double."""
SPLIT = float((1 << 27) + 1)
"""Veltkamp's constant, which splits a double into two halves whose products are exact."""
SMALLEST = 2.0**-100
"""Size of products below which the rounding error is dropped; it is far below the last of 64 bits."""


def stochastic_rounding(values: Floats, levels: int, source: RandomSource) -> Integers:
    """Round each u in [−1, 1] to one of the two nearest multiples of 1/levels, without bias.

    Source: Das et al., Algorithm 1, line 3.

    Args:
        values: numbers u in [−1, 1], each read as the exact fraction that the double is.
        levels: number of grid points in (0, 1], from 1 to 2^40.
        source: source of the random bits.

    Returns:
        The rounded values in units of 1/levels.

    Raises:
        InvalidInput: a value is outside [−1, 1], or `levels` is out of range.

    Guarantees:
        The expectation of the rounded value is exactly u.
    """
    if not 1 <= levels <= MOST_QUANTIZATION_LEVELS:
        raise InvalidInput.at(
            "/quantization_levels", "is out of range", allowed=f"≥ 1 and ≤ {MOST_QUANTIZATION_LEVELS}"
        )
    if not np.all(np.abs(values) <= 1.0):
        raise InvalidInput.at("/values", "is out of range", allowed="≥ -1 and ≤ 1")

    # |u| · levels is rounded up with a probability that is its fractional part.
    bits = source.words(values.shape)
    sizes = np.abs(values)
    floor, fraction = _floor_and_fraction(sizes, levels)
    upward = (bits < fraction).astype(np.int64)

    # The fraction in units of 2^−64 is too small by less than two units. So words from one unit below it to two units
    # above it are decided exactly. The subtraction is modulo 2^64.
    is_unsure = (bits - fraction + np.uint64(1)) <= np.uint64(3)
    for place in map(tuple, np.argwhere(is_unsure).tolist()):
        exact_product = Fraction(float(sizes[place])) * levels
        floor[place], exact_fraction = divmod(exact_product, 1)
        upward[place] = is_below(int(bits[place]), exact_fraction, source, place)
    rounded_sizes = floor + upward
    return np.asarray(np.where(values < 0.0, -rounded_sizes, rounded_sizes))


def _floor_and_fraction(sizes: Floats, levels: int) -> tuple[Integers, Words]:
    """Return the floor of sizes · levels, and the fractional part in units of 2^−64.

    The exact product of two doubles is the sum of two doubles, the rounded product and its error (Dekker 1971).

    Args:
        sizes: numbers in [0, 1].
        levels: number of levels, at most 2^40.

    Returns:
        The floor, and the fractional part modulo 2^64 with an error of at most two units.
    """
    # The error of the rounded product follows from the products of the halves of both factors, which are exact.
    product = sizes * float(levels)
    high_size = _high_half(sizes)
    low_size = sizes - high_size
    high_levels = float(_high_half(np.float64(levels)))
    low_levels = float(levels) - high_levels
    error = (high_size * high_levels - product) + high_size * low_levels + low_size * high_levels
    error = error + low_size * low_levels
    error = np.where(product < SMALLEST, 0.0, error)

    # Add both fractional parts as unsigned integers, in units of 2^−64. A negative error is added modulo 2^64.
    floor = np.floor(product)
    remainder = product - floor
    fraction = np.floor(np.ldexp(remainder, WORD)).astype(np.uint64)
    signed_correction = np.floor(np.ldexp(error, WORD)).astype(np.int64)
    correction = signed_correction.view(np.uint64)
    is_below_integer = (remainder == 0.0) & (error < 0.0)  # the exact product is just below an integer
    return floor.astype(np.int64) - is_below_integer, fraction + correction


def _high_half(values: Floats | np.float64) -> Floats:
    """Return the leading half of the digits of each double, by Veltkamp's splitting.

    The rest of the double has the other half of its digits. Products of such halves are exact unless they underflow.

    Args:
        values: doubles of absolute value below 2^996, so that nothing overflows.

    Returns:
        The leading halves, in the shape of the values.
    """
    scaled = SPLIT * values
    return np.asarray(scaled - (scaled - values))


def quantized_messages(
    updates: Floats, *, levels: int, noise_levels: int, decay_rate: float, source: RandomSource
) -> Integers:
    """Draw the messages of clients: coordinates rounded to the grid, plus truncated discrete Laplace noise.

    Args:
        updates: vectors with coordinates in [−1, 1].
        levels: number of grid points in (0, 1], from 1 to 2^40.
        noise_levels: largest size m of the noise, from 0 to 2^34.
        decay_rate: α > 0 of the noise, with probabilities proportional to e^(−α|y|).
        source: source of the random bits; rounding reads it first.

    Returns:
        Integers from −(levels + noise_levels) to levels + noise_levels, in the shape of `updates`.

    Raises:
        InvalidInput: a parameter or a coordinate is out of range.
    """
    rounded = stochastic_rounding(updates, levels, source)
    noise = truncated_discrete_laplace(decay_rate, noise_levels, updates.shape, source)
    return rounded + noise


def unit_vectors(updates: Floats) -> Floats:
    """Divide each update, a vector along the last axis, by its ℓ2 norm.

    Zero vectors, and vectors with a coordinate that is not finite, become zero. All coordinates of the result are in
    [−1, 1], also after rounding.

    Args:
        updates: vectors, (…, d).

    Returns:
        Unit vectors or zeros, (…, d).
    """
    largest = np.max(np.abs(updates), axis=-1, keepdims=True)
    is_usable = (largest > 0.0) & np.isfinite(largest)
    # First divide by the largest coordinate, so that no square overflows or underflows.
    scaled = np.where(is_usable, updates, 0.0) / np.where(is_usable, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=-1, keepdims=True)
    # A zero vector has the norm 0; all others have a norm of at least 1.
    unit = scaled / np.maximum(norms, 1.0)
    return np.asarray(np.clip(unit, -1.0, 1.0))
