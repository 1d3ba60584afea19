"""Discrete Laplace and discrete Gaussian noise on all integers, for whole arrays, with exactly their distributions.

Source: Canonne, Kamath and Steinke 2020, Algorithms 1 to 3. Candidates are drawn for all entries at once, and again for
the entries with a rejected candidate. Parameters are read as the exact fractions that the doubles are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import exponential_flips, uniform_integers
from epsilond.mechanisms.randomness import Bools, Integers, RandomSource, SideBySide, seeded

LEAST_DECAY_RATE = 2.0**-40
"""Smallest α; blocks of ⌈1/α⌉ integers then fit easily in 62 bits."""
LEAST_NOISE_STD, MOST_NOISE_STD = 2.0**-20, 2.0**40
"""Range of σ. Its square is an exact fraction of moderate size, and draws are far below 2^63."""

Candidates = tuple[Integers, Bools]
"""Candidate draws, and which of them are accepted."""


def discrete_laplace(decay_rate: float, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Draw independent integers y with probabilities proportional to e^(−α|y|).

    The distribution is exact: it uses random bits and exact fractions, no floating-point probabilities.

    Args:
        decay_rate: decay rate α, finite and at least 2^−40, read as the exact fraction that the double is.
        shape: shape of the array of draws.
        source: source of the random bits.

    Returns:
        Integers of the shape `shape`, with exactly this distribution if the bits are fair.

    Raises:
        InvalidInput: α is outside its range.
    """
    if not LEAST_DECAY_RATE <= decay_rate < math.inf:
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="≥ 2^-40, finite")
    rate = Fraction(decay_rate)

    def draw(count: int, row_source: RandomSource) -> Integers:
        """Draw `count` integers with the random bits of one source."""
        return _draw_accepted(count, lambda missing: _laplace_candidates(rate, missing, row_source))

    return _draw_by_row(shape, source, draw)


def discrete_gaussian(noise_std: float, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Draw independent integers with probabilities proportional to e^(−y²/(2σ²)).

    Args:
        noise_std: the parameter σ, from 2^−20 to 2^40. The standard deviation is at most σ, and close to it for σ ≥ 1.
        shape: shape of the array of draws.
        source: source of the random bits.

    Returns:
        Integers with exactly this distribution.

    Raises:
        InvalidInput: σ is outside its range.

    Guarantees:
        Added to integers with ℓ2 sensitivity Δ, the noise gives Δ²/(2σ²)-zero-concentrated differential privacy
        (Canonne, Kamath and Steinke 2020, Theorem 4, applied to each coordinate). The privacy curve of the continuous
        Gaussian does not apply.
    """
    if not LEAST_NOISE_STD <= noise_std <= MOST_NOISE_STD:
        raise InvalidInput.at("/noise_std", "is out of range", allowed="≥ 2^-20 and ≤ 2^40")
    variance = Fraction(noise_std) ** 2

    def draw(count: int, row_source: RandomSource) -> Integers:
        """Draw `count` integers with the random bits of one source."""
        return _draw_accepted(count, lambda missing: _gaussian_candidates(variance, missing, row_source))

    return _draw_by_row(shape, source, draw)


def _draw_accepted(count: int, draw_candidates: Callable[[int], Candidates]) -> Integers:
    """Draw candidates until `count` of them are accepted, and return the accepted ones.

    Args:
        count: number of accepted candidates to return, at least 0.
        draw_candidates: function from a number of candidates to the candidates and the mask of the accepted ones.

    Returns:
        Accepted integers, (count,).
    """
    draws = np.empty(count, dtype=np.int64)
    drawn = 0
    while drawn < count:
        candidates, is_accepted = draw_candidates(count - drawn)
        accepted = candidates[is_accepted]
        draws[drawn : drawn + accepted.size] = accepted
        drawn += accepted.size
    return draws


def _laplace_candidates(rate: Fraction, count: int, source: RandomSource) -> Candidates:
    """Draw candidates for rejection sampling of the discrete Laplace distribution with rate α.

    A candidate is ±(U + tV) with t = ⌈1/α⌉ and a fair sign. U is uniform on 0, …, t − 1, and accepted with probability
    e^(−αU). V is the number of successes, of probability e^(−αt) each, before the first failure. The candidate −0 is
    rejected, because 0 would otherwise be twice as probable as it should be.

    Args:
        rate: exact decay rate α > 0.
        count: number of candidates.
        source: source of the random bits.

    Returns:
        The candidates, and the mask of the accepted ones, which have probabilities proportional to e^(−α|y|).
    """
    # U and its acceptance with probability e^(−αU).
    block = math.ceil(1 / rate)
    offsets = uniform_integers(block, (count,), source)
    approximate_exponents = np.asarray(float(rate) * offsets)
    accepted = exponential_flips(approximate_exponents, lambda place: rate * int(offsets[place]), source)

    # V counts the successes before the first failure. It matters for accepted candidates only.
    successes = np.zeros(count, dtype=np.int64)
    without_failure = np.flatnonzero(accepted)
    exponent = rate * block
    while without_failure.size:
        exponents = np.full(without_failure.size, float(exponent))
        succeeds = exponential_flips(exponents, lambda _: exponent, source)
        without_failure = without_failure[succeeds]
        successes[without_failure] += 1

    sizes = offsets + block * successes
    is_negative = source.flips(0.5, (count,))
    is_negative_zero = is_negative & (sizes == 0)
    values = np.where(is_negative, -sizes, sizes)
    return values, accepted & ~is_negative_zero


def _gaussian_candidates(variance: Fraction, count: int, source: RandomSource) -> Candidates:
    """Draw candidates for rejection sampling of the discrete Gaussian distribution with parameter σ.

    A candidate Y is discrete Laplace of rate 1/t with t = ⌊σ⌋ + 1. It is accepted with probability
    exp(−(|Y| − σ²/t)²/(2σ²)).

    Args:
        variance: exact square σ² of the parameter.
        count: number of candidates.
        source: source of the random bits.

    Returns:
        The candidates, and the mask of the accepted ones, which have probabilities proportional to exp(−y²/(2σ²)).
    """
    # Only accepted candidates of the discrete Laplace distribution are proposals here.
    block = math.isqrt(variance.numerator // variance.denominator) + 1
    values, is_proposed = _laplace_candidates(Fraction(1, block), count, source)
    places = np.flatnonzero(is_proposed)
    proposals = values[places]
    centre = variance / block

    def exact_exponent(place: tuple[int, ...]) -> Fraction:
        """Return (|Y| − σ²/t)²/(2σ²) of the proposal at a place."""
        return (abs(int(proposals[place])) - centre) ** 2 / (2 * variance)

    # The doubles decide most proposals, and the exact exponents the rest.
    exponents = np.square(np.abs(proposals) - float(centre)) / float(2 * variance)
    is_chosen = exponential_flips(exponents, exact_exponent, source)
    accepted = np.zeros(count, dtype=np.bool_)
    accepted[places[is_chosen]] = True
    return values, accepted


def _draw_by_row(
    shape: tuple[int, ...], source: RandomSource, draw: Callable[[int, RandomSource], Integers]
) -> Integers:
    """Draw an array of independent integers, row by row if the source has one generator for each row.

    Rejection sampling uses a varying number of bits, so rows with generators of their own cannot be drawn together.

    Args:
        shape: shape of the array.
        source: source of the random bits.
        draw: function from a number of integers and a source to the integers.

    Returns:
        Integers of the given shape.
    """
    if not isinstance(source, SideBySide):
        return draw(math.prod(shape), source).reshape(shape)
    row_shape = shape[1:]
    row_size = math.prod(row_shape)
    rows = [draw(row_size, seeded(generator)).reshape(row_shape) for generator in source.generators]
    return np.stack(rows)
